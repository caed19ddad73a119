# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs on a terminal."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios


def undo_ignored_signals():
    """Restores signals in a new program: nohup, and a shell's `&`, have it begin with some
    ignored."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Terminal:
    """A program whose input and output is a terminal, unless they are pipes."""

    def __init__(self, command, env=None, columns=100, cwd=None, **pipes):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
        ends = {"stdin": slave, "stdout": slave, "stderr": slave, **pipes}
        self.seen = b""
        self.process = subprocess.Popen(list(map(os.fspath, command)), start_new_session=True,
                                        env={**os.environ, "TERM": "xterm", **(env or {})},
                                        cwd=cwd, preexec_fn=undo_ignored_signals, **ends)
        os.close(slave)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Ends it so that it can clean up. A shell goes when its terminal does."""
        os.close(self.master)
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def type(self, text):
        os.write(self.master, text.encode())

    def read(self):
        """More of what it shows, b"" when it has ended."""
        ready, _, _ = select.select([self.master], [], [], 60)
        assert ready, self.seen
        try:
            more = os.read(self.master, 65536)
        except OSError: # Linux raises this once the terminal is closed everywhere else
            more = b""
        self.seen += more
        return more

    def read_until(self, text, begin=0):
        """Reads up to a text, and returns the output from a place on."""
        while text.encode() not in self.seen[begin:]:
            assert self.read(), self.seen
        return self.seen[begin:].decode()

    def read_all(self):
        while self.read():
            pass
        return self.seen.decode()


def show(command, **kwargs):
    """All that a program shows, and its status."""
    with Terminal(command, **kwargs) as terminal:
        text = terminal.read_all()
        return text.replace("\r\n", "\n"), terminal.process.wait(60)
