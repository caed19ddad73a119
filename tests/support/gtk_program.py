# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs of GTK's on a screen of their own, which nobody sees.

What drive-gtk.py and drive-gtk.js take on a line, as JSON: an empty line, or
  ["click", name]          a button, by its text or its tooltip
  ["type", text]           into the entry for searches
  ["select", row]          of the list
  ["spin", number, value]  the nth button for numbers
  ["scroll", down, right]  the picture, to these pixels
  ["point", x, y]          at a pixel of the picture
  ["save", path]           the picture, as PNG, if there is one
and drive-gtk.py also
  ["activate", action, value]  an action of the window or the program
  ["choose", number, row]  of the nth list that drops down
  ["drop", path…]          files onto the window
  ["resize", width, height]
  ["respond", response]    to the dialog for files
  ["pauses"]               begin to measure how long the main loop was away
and answer with what the window then shows: {"title", "texts", "picture", …}.
"""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import gi
import numpy as np

gi.require_version('GdkPixbuf', '2.0')
from gi.repository import GdkPixbuf  # noqa: E402

DRIVERS = pathlib.Path(__file__).resolve().parents[1] / 'docs' / 'examples'

import tensor_files  # noqa: E402
from complaints import QUIET_ENVIRONMENT, find_complaints  # noqa: E402

LIMIT = 30                  # seconds, for what should take milliseconds
WIDTH, HEIGHT = 1280, 800


def write_safetensors(path, tensors):
    """tensors: {name: (dtype, array)}; bytes of types that NumPy lacks as integers."""
    entries, data = tensor_files.lay_out(
        {name: (dtype, array.shape, np.ascontiguousarray(array).tobytes())
         for name, (dtype, array) in tensors.items()})
    tensor_files.write_safetensors(path, entries, data)


def load_picture(path):
    """[height, width, red green blue]"""
    pixbuf = GdkPixbuf.Pixbuf.new_from_file(str(path))
    rows = np.frombuffer(pixbuf.get_pixels(), np.uint8)
    rows = np.lib.stride_tricks.as_strided(
        rows, (pixbuf.get_height(), pixbuf.get_width(), 3),
        (pixbuf.get_rowstride(), pixbuf.get_n_channels(), 1))
    return rows.astype(int)


class Screen:
    """An X server whose pixels are in a file."""

    def __init__(self, folder):
        readable, writable = os.pipe()
        self.server = subprocess.Popen(
            ['Xvfb', '-displayfd', str(writable), '-fbdir', str(folder), '-nolisten', 'tcp',
             '-screen', '0', f'{WIDTH}x{HEIGHT}x24'], pass_fds=[writable],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(writable)
        with open(readable) as display:
            self.display = ':' + display.readline().strip()
        self.path = folder / 'Xvfb_screen0'

    @staticmethod
    def is_available():
        return shutil.which('Xvfb') is not None

    def get_pixels(self):
        """The pixels on the screen now.

        They are the end of the file. Its header is not asked where they begin: the server
        writes it anew when a window has a colormap, and it is wrong for a moment.
        """
        data = self.path.read_bytes()
        pixels = np.frombuffer(data[-4 * WIDTH * HEIGHT:], '<u4').reshape(HEIGHT, WIDTH, 1)
        return (pixels >> np.array([16, 8, 0], np.uint32) & 255).astype(int)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()


def get_environment(screen, folder, **variables):
    environment = {**os.environ, **QUIET_ENVIRONMENT, 'DISPLAY': screen.display,
                   'GDK_BACKEND': 'x11', 'GSK_RENDERER': 'cairo', 'GSETTINGS_BACKEND': 'memory',
                   'HOME': str(folder), 'LC_ALL': 'C.UTF-8', **variables}
    for kind in ('CONFIG', 'STATE', 'DATA', 'CACHE'):
        environment[f'XDG_{kind}_HOME'] = str(folder / kind.lower())
    return environment


class Program:
    """A program that runs on a screen, and is told what to do."""

    def __init__(self, screen, folder, language, path, *arguments, **variables):
        self.screen, self.folder = screen, folder
        self.errors = open(folder / 'errors', 'w+')
        self.process = subprocess.Popen(
            [*self.get_command(folder, language, path), *map(str, arguments)],
            env=get_environment(screen, folder, **variables),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, encoding='utf-8')

    @staticmethod
    def get_command(folder, language, path):
        if language == 'python':
            return [sys.executable, DRIVERS / 'drive-gtk.py', path]
        main = folder / 'main.js'
        main.write_text(f"import '{(DRIVERS / 'drive-gtk.js').as_uri()}';\n"
                        f"import '{pathlib.Path(path).resolve().as_uri()}';\n")
        return ['gjs', '-m', main]

    def ask(self, *action):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write((json.dumps(action) if action else '') + '\n')
            self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f'the program has ended:\n{self.read_errors()}'
        return json.loads(answer)

    def wait(self, condition, what):
        """Waits until the condition holds of what the window shows, and returns that."""
        deadline = time.monotonic() + LIMIT
        while not condition(shown := self.ask()):
            assert time.monotonic() < deadline, (
                f'not within {LIMIT} s: {what}, but {shown["texts"][-16:]}, {shown.get("picture")}')
        return shown

    def is_seen(self, shown):
        """True if the screen has the picture where it lies."""
        picture = self.save_picture()
        if picture is None:
            return False
        height, width = picture.shape[:2]
        top, left = map(int, shown['picture']['on_window'])
        seen = self.screen.get_pixels()[top:top + height, left:left + width]
        return np.array_equal(seen, picture)

    def save_picture(self):
        """None if there is none now."""
        path = self.folder / 'picture.png'
        path.unlink(missing_ok=True)
        self.ask('save', str(path))
        return load_picture(path) if path.exists() else None

    def read_errors(self):
        self.errors.seek(0)
        return self.errors.read()

    def close(self):
        """The exit status, and what it had to complain of."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            status = self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self.process.stdout.close()
        complaints = self.read_errors()
        self.errors.close()
        return status, complaints


class LiveProgram:
    """A program without controls, whose window shows what changes by itself."""

    def __init__(self, screen, folder, *command):
        self.screen, self.command = screen, [*map(str, command)]
        self.environment = get_environment(screen, folder)

    def run(self, *arguments):
        """Runs the program to its end, and returns its output."""
        result = subprocess.run([*self.command, *map(str, arguments)], env=self.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT,
                                encoding='utf-8')
        assert result.returncode == 0 and find_complaints(result.stderr) == [], result
        return result.stdout

    def wait_for(self, is_shown, *arguments):
        """Runs the program until the pixels of the screen are right."""
        process = subprocess.Popen([*self.command, *map(str, arguments)], env=self.environment,
                                   stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + LIMIT
            while not is_shown(self.screen.get_pixels()):
                assert process.poll() is None, 'the program has ended'
                assert time.monotonic() < deadline, f'not shown within {LIMIT} s'
                time.sleep(0.02)
        finally:
            process.terminate()
            process.wait()


class Session:
    """A program that is used, and then closed: it must not complain."""

    def __init__(self, start, *arguments, **variables):
        self.program = start(*arguments, **variables)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        status, complaints = self.program.close()
        if kind is None:
            lines = find_complaints(complaints)
            assert status == 0 and lines == [], (status, lines)

    def wait_for_text(self, text):
        return self.program.wait(
            lambda shown: any(text in line for line in shown.get('texts', ())), text)
