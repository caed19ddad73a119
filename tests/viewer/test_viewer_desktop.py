#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_viewer_desktop.py PROGRAM DESKTOP SERVICE METAINFO MIME

What desktops know mtldl-viewer and its files by, how it is started over D-Bus,
and what those get who do not see it.
"""

import configparser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / 'support'))

import numpy as np
from gtk_program import LIMIT, Screen, write_safetensors

ID = 'org.mtldl.Viewer'
KINDS = {'application/x-safetensors', 'application/x-safetensors-index+json', 'application/x-npy',
         'application/x-npz'}


class Skip(Exception):
    pass


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip(f'{program} is not installed')


def run(*command, **keywords):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True,
                            timeout=LIMIT, **keywords)
    assert result.returncode == 0, (command, result.stdout, result.stderr)
    return result.stdout


def read_keys(path):
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str
    parser.read(path)
    return next(dict(parser[section]) for section in parser.sections())


def check_names(files, folder):
    """The names are the same everywhere: D-Bus, the desktop and software centres go by them."""
    desktop, service = read_keys(files['desktop']), read_keys(files['service'])
    component = xml.etree.ElementTree.parse(files['metainfo']).getroot()
    assert files['desktop'].name == f'{ID}.desktop' and files['service'].name == f'{ID}.service'
    assert desktop['Icon'] == service['Name'] == component.find('id').text == ID
    assert desktop['DBusActivatable'] == 'true', desktop
    assert service['Exec'].endswith('/bin/mtldl-viewer --gapplication-service'), service
    assert component.find('launchable').text == files['desktop'].name
    kinds = {kind for kind in desktop['MimeType'].split(';') if kind}
    assert kinds == KINDS == {kind.text for kind in component.iter('mediatype')}
    icons = pathlib.Path(__file__).resolve().parents[2] / 'viewer/data/icons/hicolor'
    for icon in (f'scalable/apps/{ID}.svg', f'symbolic/apps/{ID}-symbolic.svg'):
        root = xml.etree.ElementTree.parse(icons / icon).getroot()
        assert root.attrib['viewBox'].split()[2] == root.attrib['width'], icon


def check_desktop_file(files, folder):
    need('desktop-file-validate')
    assert run('desktop-file-validate', files['desktop']) == ''


def check_metainfo(files, folder):
    need('appstreamcli')
    run('appstreamcli', 'validate', '--no-net', files['metainfo'])


def check_kinds_of_files(files, folder):
    """Files are recognised by names, and by first bytes if these are safe."""
    need('update-mime-database', 'gio')
    data = folder / 'mime-data'
    packages = data / 'mime' / 'packages'
    packages.mkdir(parents=True)
    shutil.copy(files['mime'], packages / f'{ID}.xml')
    shutil.copy('/usr/share/mime/packages/freedesktop.org.xml', packages)
    run('update-mime-database', data / 'mime')
    environment = {**os.environ, 'XDG_DATA_HOME': str(data), 'XDG_DATA_DIRS': str(data)}

    def kind_of(path):
        shown = run('gio', 'info', '-a', 'standard::content-type', path, env=environment)
        return shown.split('standard::content-type: ')[1].split()[0]

    write_safetensors(folder / 'a.safetensors', {'a': ('F32', np.zeros(3, 'f4'))})
    shutil.copy(folder / 'a.safetensors', folder / 'nameless')
    np.save(folder / 'a.npy', np.zeros(3))
    shutil.copy(folder / 'a.npy', folder / 'array')
    np.savez(folder / 'a.npz', np.zeros(3))
    (folder / 'a.safetensors.index.json').write_text('{"weight_map": {}}')
    (folder / 'a.json').write_text('{"weight_map": {}}')
    (folder / 'a.zip').write_bytes((folder / 'a.npz').read_bytes())
    expected = {'a.safetensors': 'application/x-safetensors',
                'nameless': 'application/x-safetensors',
                'a.npy': 'application/x-npy', 'array': 'application/x-npy',
                'a.npz': 'application/x-npz', 'a.zip': 'application/zip',
                'a.safetensors.index.json': 'application/x-safetensors-index+json',
                'a.json': 'application/json'}
    seen = {name: kind_of(folder / name) for name in expected}
    assert seen == expected, seen


class Session:
    """A bus with the services of the system, and the viewer's."""

    def __init__(self, files, folder, screen):
        services = folder / 'data' / 'dbus-1' / 'services'
        services.mkdir(parents=True)
        service = files['service'].read_text()
        command = service.split('Exec=')[1].split()[0]
        (services / files['service'].name).write_text(service.replace(command, files['program']))
        self.environment = {
            **os.environ, 'DISPLAY': screen.display, 'GDK_BACKEND': 'x11',
            'GSK_RENDERER': 'cairo', 'GSETTINGS_BACKEND': 'memory', 'HOME': str(folder),
            'XDG_DATA_DIRS': f'{folder / "data"}:/usr/local/share:/usr/share',
            'XDG_RUNTIME_DIR': str(folder), 'LC_ALL': 'C.UTF-8', 'GTK_A11Y': 'atspi'}
        self.bus = subprocess.Popen(['dbus-daemon', '--session', '--nofork', '--print-address'],
                                    env=self.environment, stdout=subprocess.PIPE, text=True,
                                    stderr=subprocess.DEVNULL)
        address = self.bus.stdout.readline().strip()
        self.environment['DBUS_SESSION_BUS_ADDRESS'] = address

    def call(self, path, method, *arguments):
        return run('gdbus', 'call', '--session', '--dest', ID, '--object-path', path, '--method',
                   method, *arguments, env=self.environment)

    def end(self):
        self.bus.terminate()
        self.bus.wait()
        self.bus.stdout.close()


def check_session(files, folder):
    """This runs in a process of its own, as the address of the bus is asked for once."""
    need('dbus-daemon', 'gdbus', 'Xvfb')
    if not any(pathlib.Path(name, 'at-spi-bus-launcher').exists()
               for name in ('/usr/libexec', '/usr/lib/at-spi2-core')):
        raise Skip('at-spi2-core is not installed')
    np.save(folder / 'first.npy', np.arange(200.0).reshape(20, 10))
    np.save(folder / 'second.npy', np.zeros((5, 5)))
    with Screen(folder) as screen:
        session = Session(files, folder, screen)
        try:
            # The bus starts the program.
            session.call('/org/mtldl/Viewer', 'org.freedesktop.Application.Open',
                         f"['{(folder / 'first.npy').as_uri()}']", '{}')
            # Another one hands its file over, and ends.
            begin = time.monotonic()
            run(files['program'], folder / 'second.npy', env=session.environment)
            assert time.monotonic() - begin < LIMIT / 2
            listed = session.call('/org/mtldl/Viewer', 'org.gtk.Actions.List')
            assert all(f"'{name}'" in listed for name in ('open', 'quit', 'about')), listed
            result = subprocess.run([sys.executable, __file__, '--accessibles'], text=True,
                                    capture_output=True, timeout=2 * LIMIT,
                                    env=session.environment)
            if result.returncode == 77:
                raise Skip(result.stdout.strip())
            assert result.returncode == 0, result.stdout + result.stderr
        finally:
            subprocess.run(['gdbus', 'call', '--session', '--dest', ID, '--object-path',
                            '/org/mtldl/Viewer', '--method', 'org.gtk.Actions.Activate', 'quit',
                            '[]', '{}'], env=session.environment, capture_output=True)
            session.end()


# Returns the windows as screen readers see them: run in the session.

def find_windows(atspi):
    desktop = atspi.get_desktop(0)
    for place in range(desktop.get_child_count()):
        application = desktop.get_child_at_index(place)
        if application is not None and 'mtldl' in (application.get_name() or '').lower():
            return [application.get_child_at_index(child)
                    for child in range(application.get_child_count())]
    return []


def walk(accessible):
    yield accessible
    for place in range(accessible.get_child_count()):
        child = accessible.get_child_at_index(place)
        if child is not None:
            yield from walk(child)


def wait(function, what):
    deadline = time.monotonic() + LIMIT
    while not (found := function()):
        assert time.monotonic() < deadline, f'not within {LIMIT} s: {what}'
        time.sleep(0.1)
    return found


def has_name(accessible):
    """GTK gives those without any the names of their classes."""
    return not (accessible.get_name() or 'Gtk').startswith(('Gtk', 'mtldl_viewer+'))


def visit_accessibles():
    import gi
    try:
        gi.require_version('Atspi', '2.0')
        from gi.repository import Atspi as atspi
    except (ValueError, ImportError):
        print('gir1.2-atspi-2.0 is not installed')
        return 77

    roles = atspi.Role
    named = {roles.PUSH_BUTTON, roles.TOGGLE_BUTTON, roles.SLIDER, roles.SPIN_BUTTON,
             roles.COMBO_BOX, roles.LIST, roles.ENTRY, roles.PROGRESS_BAR, roles.IMAGE}
    windows = wait(lambda: found if len(found := find_windows(atspi)) == 2 else None,
                   'two windows')
    names = sorted(window.get_name() for window in windows)
    assert names == ['first.npy', 'second.npy'], names
    window = next(window for window in windows if window.get_name() == 'first.npy')
    wait(lambda: any(part.get_name() == 'Zoom In' for part in walk(window)), 'the picture')

    seen, nameless = set(), []
    for part in walk(window):
        seen.add(part.get_name())
        # A combo box has a button inside.
        if part.get_role() in named and not has_name(part) \
                and part.get_parent().get_role() != roles.COMBO_BOX:
            nameless.append((part.get_role_name(), part.get_parent().get_name()))
    assert nameless == [], nameless
    assert {'Zoom In', 'Zoom Out', 'Fit the Window', 'Tensors', 'Search tensors', 'Main Menu',
            'List of Tensors', 'Statistics', 'Rows', 'Columns', 'Picture of the tensor',
            'Histogram', 'Scale of colours'} <= seen, seen

    # Pressed as by a person's aid.
    def find(name):
        return next((part for part in walk(window) if part.get_name() == name), None)

    def is_pressed(button):
        return button.get_state_set().contains(atspi.StateType.PRESSED) \
            or button.get_state_set().contains(atspi.StateType.CHECKED)

    button = find('Statistics')
    was_pressed = is_pressed(button)
    assert button.get_n_actions() > 0 and button.do_action(0)
    wait(lambda: is_pressed(button) != was_pressed, 'the button to be pressed')
    assert find('Zoom In').do_action(0)
    wait(lambda: find('32 : 1'), 'a larger picture')
    return 0


def check_terminal(files, folder):
    """Checks the output in a terminal, also without a display."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ('DISPLAY', 'WAYLAND_DISPLAY')} | {'HOME': str(folder)}

    def start(*arguments):
        return subprocess.run([sys.executable, files['program'], *arguments], text=True,
                              capture_output=True, env=environment, timeout=60)

    metainfo = read_version(files['metainfo'])
    for arguments, text in {('--version',): f'mtldl-viewer {metainfo}\n',
                            ('--help',): 'mtldl-viewer [OPTION…] [FILE…]'}.items():
        done = start(*arguments)
        assert done.returncode == 0 and text in done.stdout, done
    for arguments in ((), ('a.npy',)):
        done = start(*arguments)
        assert done.returncode == 1 and 'there is no display' in done.stderr, done
        assert 'Traceback' not in done.stderr and 'CRITICAL' not in done.stderr, done


def read_version(metainfo):
    return re.search(r'<release version="([^"]*)"', metainfo.read_text())[1]


CHECKS = {'names': check_names, 'in a terminal': check_terminal,
          'the desktop file': check_desktop_file, 'the metainfo': check_metainfo,
          'kinds of files': check_kinds_of_files, 'D-Bus and accessibility': check_session}


def main(program, desktop, service, metainfo, mime):
    files = {'program': program, 'desktop': pathlib.Path(desktop),
             'service': pathlib.Path(service), 'metainfo': pathlib.Path(metainfo),
             'mime': pathlib.Path(mime)}
    status = 0
    print(f'1..{len(CHECKS)}', flush=True)
    for number, (name, check) in enumerate(CHECKS.items(), 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(files, pathlib.Path(folder))
                print(f'ok {number} {name}', flush=True)
            except Skip as reason:
                print(f'ok {number} {name} # SKIP {reason}', flush=True)
            except (AssertionError, subprocess.TimeoutExpired) as error:
                status = 1
                print(f'not ok {number} {name}')
                print('\n'.join(f'# {line}' for line in str(error).splitlines()), flush=True)
    return status


if __name__ == '__main__':
    sys.exit(visit_accessibles() if sys.argv[1:] == ['--accessibles'] else main(*sys.argv[1:]))
