#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_viewer.py PROGRAM TOOLKIT [CHECK…]: uses mtldl-viewer as a person does.

On a screen that nobody sees, with its buttons, actions, keys and lists. What
the pictures have to be is computed by expected.py, with NumPy.
"""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / 'support'))

import numpy as np
from expected import (DTYPES, INFINITE, LARGE, NAMES, NAN, NORMAL, PHOTO, TENSORS, differ,
                      get_image, get_picture, get_values)
from gtk_program import HEIGHT, LIMIT, WIDTH, Program, Screen, Session, write_safetensors

N_LARGE = 2 ** 28           # numbers of four bytes: a file of 1 GiB
FEW = {'statistics', 'axes', 'images', 'files', 'narrow', 'styles', 'nothing'}


class Viewer(Session):
    """The program, showing files."""

    def do(self, *action):
        return self.program.ask(*action)

    def wait(self, condition, what):
        return self.program.wait(condition, what)

    def select(self, name):
        self.wait_for_text(get_row(NAMES[0])[1])
        self.do('select', NAMES.index(name))

    def wait_for_picture(self, expected):
        def is_there(shown):
            picture = self.program.save_picture() if 'picture' in shown else None
            return picture is not None and not differ(picture, expected)

        self.wait(is_there, 'the right picture')
        return self.do()

    def check_tensor(self, name, factor):
        self.select(name)
        return self.wait_for_picture(get_picture(get_values(name), factor))


def get_row(name):
    """The two lines of the list; the size is not that of the file's type for small numbers."""
    dtype, array = TENSORS[name]
    shape = ' × '.join(map(str, array.shape)) or 'scalar'
    shown = ''.join(character if character.isprintable() else f'\\u{ord(character):04x}'
                    for character in name)
    return shown, f'{DTYPES[dtype]} · {shape} · '


def compute_statistics(shown):
    texts = shown['texts']
    titles = ['Elements', 'Minimum', 'Maximum', 'Mean', 'Deviation', 'NaN', 'Infinite', 'Zeros']
    begin = texts.index('Elements')
    assert texts[begin:begin + 16:2] == titles, texts
    return dict(zip(titles, texts[begin + 1:begin + 17:2]))


def get_scale_texts(shown):
    """The two numbers beside the colours."""
    texts = shown['texts']
    end = texts.index('infinite') - 1 if 'infinite' in texts else None
    return texts[end - 2:end] if end is not None else None


def check_nothing(start, folder):
    with Viewer(start) as viewer:
        shown = viewer.wait_for_text('Open a File')
        assert 'Open…' in shown['buttons'], shown
        assert not {'Zoom In', 'Zoom Out', 'Fit the Window', 'Statistics'} & set(shown['buttons'])
        assert set(shown['actions']) >= {'close'}, shown
        assert not {'zoom-in', 'zoom-out', 'zoom-fit', 'copy-python', 'copy-javascript', 'search',
                    'reload'} & set(shown['actions']), shown
        viewer.do('click', 'Open…')
        assert viewer.do()['choosing']
        viewer.do('respond', -6)
        assert not viewer.do()['choosing']
        viewer.do('activate', 'app.about')
        viewer.wait(lambda shown: any('About' in kind for kind in shown['kinds']), 'who made it')
        viewer.do('activate', 'app.shortcuts')
        viewer.wait(lambda shown: 'ShortcutsWindow' in shown['kinds'], 'the shortcuts')


def check_list(start, folder):
    with Viewer(start, folder / 'model.safetensors') as viewer:
        shown = viewer.wait_for_text('layers.10.weight')
        assert shown['title'] == 'model.safetensors', shown
        assert f'{len(TENSORS)} tensors · safetensors · ' in shown['texts'][-1], shown['texts'][-1]
        # Rows that are not seen have no widgets.
        texts = shown['texts'][1:shown['texts'].index('Rows')]
        assert len(texts) >= 20, texts
        for name, seen in zip(NAMES, zip(texts[::2], texts[1::2])):
            title, summary = get_row(name)
            assert seen[0] == title and seen[1].startswith(summary), (name, seen)
        assert texts[1].endswith(' · 48 bytes') and texts[3].endswith(' · 12.3\u00a0KiB'), texts

        viewer.do('type', 'WEIGHT layers')
        viewer.wait(lambda shown: 'layers.2.weight' in shown['texts']
                    and 'brain' not in shown['texts'], 'two rows')
        viewer.wait_for_picture(get_picture(get_values('layers.2.weight'), 4))
        viewer.do('type', 'layers.1.')
        viewer.wait_for_text('No Tensor')
        viewer.do('type', 'brain')
        viewer.wait_for_picture(get_picture(get_values('brain'), 4))
        # A name in which a pattern's characters are themselves.
        viewer.do('type', '')
        viewer.check_tensor('st*r?', 32)


def check_many(start, folder):
    """The names of a large model are searched while the window goes on."""
    path = folder / 'many.safetensors'
    write_safetensors(path, {f'layers.{layer}.x{part}': ('U8', np.full(3, part, 'u1'))
                             for layer in range(1000) for part in range(10)})
    with Viewer(start, path) as viewer:
        viewer.wait_for_text('layers.0.x0')
        viewer.do('type', 'X7 layers.99')
        viewer.wait(lambda shown: [text for text in shown['texts'] if text.startswith('layers.')
                                   and shown['texts'].count(text) == 1][:3] == [
            f'layers.{layer}.x7' for layer in (990, 991, 992)], 'what was searched')
        viewer.do('select', 2)
        viewer.wait(lambda shown: shown['texts'].count('layers.991.x7') == 2, 'its statistics')
        # The list stays as it was when the file is read again.
        viewer.do('activate', 'win.reload')
        time.sleep(0.3)
        viewer.wait(lambda shown: shown['texts'].count('layers.991.x7') == 2, 'the same tensor')
        viewer.do('type', 'nothing like that')
        viewer.wait_for_text('No Tensor')
        viewer.do('type', '')
        viewer.wait_for_text('layers.0.x1')


def check_numbers(start, folder):
    with Viewer(start, folder / 'model.safetensors') as viewer:
        for name, factor in {'layers.2.weight': 4, 'half': 4, 'brain': 4, 'eight.bits': 4,
                             'wide': 4, 'counts': 16, 'mask': 8, 'extreme': 64,
                             'constant': 64, 'nothing.known': 64}.items():
            shown = viewer.check_tensor(name, factor)
        assert get_scale_texts(shown) == ['–', '–'], shown
        viewer.check_tensor('odd', 4)
        picture = viewer.program.save_picture()[2::4, 2::4]
        assert (picture[3, 5] == NAN).all(), picture[3, 5]
        assert (picture[10, 0] == INFINITE).all() and (picture[40, 40] == INFINITE).all()

        viewer.select('layers.0.bias')
        bias = get_values('layers.0.bias')
        viewer.wait_for_picture(get_picture(np.tile(bias, (len(bias) // 8, 1)), 8))
        viewer.do('point', 8 * 11, 3)
        viewer.wait_for_text('[11] = ' + str(bias[11]))
        viewer.select('scalar')
        viewer.wait_for_picture(get_picture(get_values('scalar').reshape(1, 1), 64))
        viewer.do('point', 1, 1)
        viewer.wait_for_text('[] = -7.25')
        viewer.select('empty')
        shown = viewer.wait_for_text('This tensor has no elements.')
        assert 'zoom-in' not in shown['actions'] and 'picture' not in shown, shown


def check_statistics(start, folder):
    with Viewer(start, folder / 'model.safetensors') as viewer:
        for name, n_rows in {'odd': 90, 'counts': 20}.items():
            values = get_values(name)
            finite = values[np.isfinite(values)].astype(float)
            factor = {90: 4, 20: 16}[n_rows]
            viewer.check_tensor(name, factor)
            shown = viewer.wait(lambda shown: sum(shown['bars'] or [0]) == finite.size,
                                'the histogram')
            found = compute_statistics(shown)
            expected = {'Elements': values.size, 'Minimum': finite.min(), 'Maximum': finite.max(),
                        'Mean': finite.mean(), 'Deviation': finite.std(),
                        'NaN': np.isnan(values).sum(), 'Infinite': np.isinf(values).sum(),
                        'Zeros': (values == 0).sum()}
            for title, value in expected.items():
                assert np.isclose(float(found[title]), value, rtol=1e-5), (title, found, value)
            if name == 'odd':
                scale = list(map(float, get_scale_texts(shown)))
                assert np.allclose(scale, [finite.min(), finite.max()], rtol=1e-5), scale
            bars, _ = np.histogram(finite, 64)
            # An element on the border of two bars may be in either.
            assert abs(np.cumsum(bars) - np.cumsum(shown['bars'])).max() <= 2, shown['bars']


def check_axes(start, folder):
    slices, strip = get_values('slices'), get_values('strip')
    with Viewer(start, folder / 'model.safetensors') as viewer:
        # The last two axes.
        viewer.select('slices')
        viewer.wait_for_picture(get_picture(slices[0, 0, 0], 16))
        texts = viewer.do()['texts']
        assert [text for text in texts if text.startswith('Axis ')] == ['Axis 0', 'Axis 2'], texts
        viewer.do('spin', 0, 4)
        viewer.wait_for_picture(get_picture(slices[4, 0, 0], 16))
        viewer.do('spin', 1, 2)
        viewer.wait_for_picture(get_picture(slices[4, 0, 2], 16))
        viewer.do('point', 5 * 16 + 7, 20 * 16)
        viewer.wait_for_text('[4, 0, 2, 20, 5] = ' + str(slices[4, 0, 2, 20, 5]))
        viewer.do('choose', 0, 0)                                   # rows are axis 0
        viewer.wait_for_picture(get_picture(slices[:, 0, 2, 0, :], 32))

        # Not a strip, but the two that are long.
        viewer.select('strip')
        viewer.wait_for_picture(get_picture(strip[:, :, 0], 8))
        viewer.do('spin', 0, 5)
        viewer.wait_for_picture(get_picture(strip[:, :, 5], 8))
        viewer.do('choose', 0, 1)                                   # rows and columns change places
        viewer.wait_for_picture(get_picture(strip[:, :, 5].T, 8))
        viewer.do('point', 8 * 30 + 1, 8 * 20 + 1)
        viewer.wait_for_text('[30, 20, 5] = ' + str(strip[30, 20, 5]))
        viewer.do('choose', 1, 2)                                   # columns are axis 2
        viewer.wait_for_picture(get_picture(strip[0], 8))
        viewer.do('spin', 0, 47)
        viewer.wait_for_picture(get_picture(strip[47], 8))


def check_images(start, folder):
    with Viewer(start, folder / 'model.safetensors') as viewer:
        viewer.select('photo')
        viewer.wait_for_picture(get_image(PHOTO, 8, 0, 255))
        viewer.do('point', 8 * 7, 8 * 6)
        viewer.wait_for_text(f'[6, 7, :] = {PHOTO[6, 7]}')
        viewer.do('choose', 2, 0)                                   # no channels
        viewer.wait_for_picture(get_picture(PHOTO[..., 0], 8))
        viewer.do('choose', 2, 1)
        viewer.wait_for_picture(get_image(PHOTO, 8, 0, 255))
        viewer.select('photo.floats')
        viewer.wait_for_picture(get_image(get_values('photo.floats')[..., :3], 8, 0, 1))
        grey = get_values('photo.grey')
        viewer.select('photo.grey')
        viewer.wait_for_picture(get_image(grey, 8, grey.min(), grey.max()))


def check_large(start, folder):
    values = get_values('large')
    with Viewer(start, folder / 'model.safetensors') as viewer:
        viewer.select('large')
        # First the colours of a sample, and then exact ones.
        viewer.wait_for_picture(get_picture(values[::8, ::8], scale_of=values))
        shown = viewer.wait(lambda shown: compute_statistics(shown)['Maximum'] == '255', 'all elements')
        assert '1 : 8' in shown['texts'], shown
        assert not any('≈' in text for text in shown['texts']), shown
        viewer.wait(lambda shown: 'From a sample of the elements' not in shown['texts'], 'the end')

        for zoom in ('1 : 4', '1 : 2', '1 : 1', '2 : 1'):
            viewer.do('click', 'Zoom In')
            viewer.wait_for_text(zoom)
        viewer.do('scroll', 1001, 2502)
        shown = viewer.wait(
            lambda shown: shown['picture']['place'] == [1000, 2502], 'the part at 1000, 2502')
        assert shown['picture']['whole'] == [4800, 3600], shown
        height, width = shown['picture']['size']
        assert 0 < height < HEIGHT and 0 < width < WIDTH, shown
        part = values[500:500 + height // 2, 1251:1251 + width // 2]
        viewer.wait_for_picture(get_picture(part, 2, scale_of=values))
        viewer.do('point', 2600, 1100)
        viewer.wait_for_text(f'[550, 1300] = {LARGE[550, 1300]}')

        viewer.do('click', 'Zoom Out')
        viewer.wait_for_text('1 : 1')
        viewer.do('click', 'Fit the Window')
        viewer.wait_for_picture(get_picture(values[::8, ::8], scale_of=values))

        # The middle stays where it is when the picture grows.
        def is_in_the_middle(shown):
            picture = shown['picture']
            middles = [place + size / 2 for place, size in zip(picture['place'], picture['size'])]
            return picture['whole'] == [1440, 1120] and np.allclose(middles, [720, 560], atol=16)

        viewer.check_tensor('layers.2.weight', 4)
        viewer.wait(viewer.program.is_seen, 'the picture on the screen')
        viewer.do('click', 'Zoom In')
        viewer.do('click', 'Zoom In')
        viewer.wait(is_in_the_middle, 'the middle of 1440 × 1120 pixels')


def run_python(code, then, environment):
    return subprocess.run([sys.executable, '-c', code + then], capture_output=True, text=True,
                          env=environment, check=True).stdout


def run_javascript(code, then, folder):
    path = folder / 'code.js'
    path.write_text(code + then)
    return subprocess.run(['gjs', '-m', path], capture_output=True, text=True, check=True).stdout


def check_code(start, folder):
    cases = {'odd': ([], lambda values: values),
             'slices': ([('spin', 0, 3), ('choose', 0, 4)],
                        lambda values: values[3, 0, 0].T),
             'photo': ([], lambda values: values),
             'scalar': ([], lambda values: values),
             NAMES[0]: ([], lambda values: values)}
    # The path has what has to be quoted.
    path = folder / 'it\'s "one" é.safetensors'
    path.write_bytes((folder / 'model.safetensors').read_bytes())
    with Viewer(start, path) as viewer:
        for name, (actions, cut) in cases.items():
            viewer.select(name)
            viewer.wait(lambda shown: get_row(name)[0] in shown['texts']
                        and 'copy-python' in shown['actions'] and 'picture' in shown, name)
            for action in actions:
                viewer.do(*action)
            viewer.do('activate', 'win.copy-python')
            # GTK 4.18 sometimes reads its own clipboard as Latin-1.
            python = viewer.wait(lambda shown: ' é.safetensors' in (shown['clipboard'] or ''),
                                 'Python')['clipboard']
            viewer.do('click', 'JavaScript')
            javascript = viewer.wait(lambda shown: 'gi://Mtl' in shown['clipboard'],
                                     'JavaScript')['clipboard']
            expected = cut(get_values(name))

            shown = json.loads(run_python(
                python, 'import json\nprint(json.dumps([view.shape, view.to_dtype('
                'Mtl.DType.FLOAT64).tolist()]))\n', os.environ))
            assert tuple(shown[0]) == expected.shape, (python, shown[0])
            assert np.array_equal(np.array(shown[1], float), expected, equal_nan=True), python
            if shutil.which('gjs'):
                text = ('print(JSON.stringify([view.shape, view.toArray()], (key, value) =>\n'
                        '    typeof value === "bigint" ? Number(value) : value));\n')
                shown = json.loads(run_javascript(javascript, text, folder))
                assert tuple(shown[0]) == expected.shape, (javascript, shown[0])
                # JSON has neither NaN nor infinity.
                seen = np.array(shown[1], float)
                finite = np.isfinite(expected)
                assert np.array_equal(seen[finite], expected[finite]), javascript


def check_files(start, folder):
    """Opens files that cannot be opened, several, and dropped ones."""
    for name, part in {'cut': 'cut', 'text': 'text', 'none': 'none', '.': str(folder)}.items():
        with Viewer(start, folder / name) as viewer:
            shown = viewer.wait_for_text('This File Cannot Be Opened')
            assert any(part in text for text in shown['texts']), shown
            assert 'picture' not in shown and 'zoom-in' not in shown['actions'], shown
            assert 'reload' in shown['actions'], shown

    with Viewer(start, folder / 'nothing') as viewer:
        viewer.wait_for_text('There are no tensors in this file.')
        # A file that can be opened goes to another window, as this one has a file.
        viewer.do('drop', str(folder / 'array.npy'))
        shown = viewer.wait(lambda shown: 'array.npy' in shown.get('windows', ()), 'a window')
        assert sorted(shown['windows']) == ['array.npy', 'nothing'], shown
        viewer.wait_for_picture(get_picture(NORMAL, 4))
        assert 'array' in viewer.do()['texts'], viewer.do()
        # A file that cannot be opened is reported, and the picture stays.
        viewer.do('drop', str(folder / 'text'))
        shown = viewer.wait(lambda shown: any('text' in line and 'bytes' in line or 'text”' in line
                                              for line in shown['texts']), 'the message')
        assert len(shown['windows']) == 2 and 'picture' in shown, shown
        # A file that is shown already is not shown twice.
        viewer.do('drop', str(folder / 'array.npy'), str(folder / 'packed.npz'))
        shown = viewer.wait(lambda shown: 'packed.npz' in shown['windows'], 'a window')
        assert sorted(shown['windows']) == ['array.npy', 'nothing', 'packed.npz'], shown
        viewer.wait(lambda shown: shown['title'] == 'packed.npz', 'its window')
        viewer.wait_for_text('complex64 · 60 × 50')
        viewer.wait_for_picture(get_picture(NORMAL[:60, :50], 4))

    # Not while it is being opened, either.
    with Viewer(start, folder / 'packed.npz', folder / 'packed.npz') as viewer:
        viewer.do('drop', *[str(folder / 'array.npy')] * 3)
        viewer.wait(lambda shown: 'array.npy' in shown.get('windows', ()), 'a window')
        time.sleep(0.5)
        assert sorted(viewer.do()['windows']) == ['array.npy', 'packed.npz']

    with Viewer(start, folder / 'array.npy', folder / 'packed.npz', folder / 'none') as viewer:
        viewer.wait(lambda shown: sorted(shown.get('windows', ())) == [
            'array.npy', 'none', 'packed.npz'], 'three windows')


def check_folders(start, folder):
    """The only model in a folder, or the only file."""
    model = folder / 'model'
    model.mkdir()
    for number in (1, 2):
        write_safetensors(model / f'model-{number}.safetensors', {f'x{number}': ('F32', NORMAL)})
    index = model / 'model.safetensors.index.json'
    index.write_text(json.dumps({'weight_map': {
        f'x{number}': f'model-{number}.safetensors' for number in (1, 2)}}))
    with Viewer(start, model) as viewer:
        assert viewer.wait_for_picture(get_picture(NORMAL, 4))['title'] == index.name
    index.unlink()
    with Viewer(start, model) as viewer:
        viewer.wait_for_text('This File Cannot Be Opened')
    (model / 'model-2.safetensors').unlink()
    with Viewer(start, model) as viewer:
        shown = viewer.wait_for_picture(get_picture(NORMAL, 4))
        assert shown['title'] == 'model-1.safetensors'


def check_refused(start, folder):
    """Tensors that cannot be loaded are listed, and do not hide those that can."""
    with Viewer(start, folder / 'mixed.npz') as viewer:
        viewer.wait_for_text('<U3 · 2 · 24 bytes')
        shown = viewer.wait_for_text('This Cannot Be Shown')    # the first one
        assert 'file · 5 bytes' in shown['texts'], shown
        assert any('“<U3”' in text for text in shown['texts']), shown
        assert {'label', 'readme.txt'} <= set(shown['dimmed']), shown
        assert not {'x', 'y'} & set(shown['dimmed']), shown
        assert 'picture' not in shown and 'copy-python' not in shown['actions'], shown
        for row, factor in (2, 1), (3, -1):
            viewer.do('select', row)
            viewer.wait_for_picture(get_picture(factor * NORMAL, 4))
        viewer.do('select', 1)
        shown = viewer.wait_for_text('This Cannot Be Shown')
        assert 'picture' not in shown and 'Rows' not in shown['texts'], shown
        # Its row was that of a tensor that is dimmed.
        viewer.do('type', 'y')
        viewer.wait_for_picture(get_picture(-NORMAL, 4))
        assert 'y' not in viewer.do()['dimmed']

    # A model with a part missing.
    write_safetensors(folder / 'there.safetensors', {'x': ('F32', NORMAL)})
    index = folder / 'part.safetensors.index.json'
    index.write_text(json.dumps({'weight_map': {
        'gone': 'missing.safetensors', 'x': 'there.safetensors'}}))
    with Viewer(start, index) as viewer:
        shown = viewer.wait_for_text('This Cannot Be Shown')
        assert any('missing.safetensors' in text for text in shown['texts']), shown
        viewer.do('select', 1)
        viewer.wait_for_picture(get_picture(NORMAL, 4))


def check_long(start, folder):
    """Makes a tensor of 16 GiB of one axis; nothing of it is on the disk."""
    with Viewer(start, folder / 'long.npy') as viewer:
        viewer.wait(lambda shown: 'picture' in shown, 'a picture')
        viewer.do('activate', 'win.stop')
        viewer.wait_for_text('uint8 · 17179869184')


def check_changes(start, folder):
    path = folder / 'changing.npy'
    np.save(path, NORMAL)
    with Viewer(start, path) as viewer:
        viewer.wait_for_picture(get_picture(NORMAL, 4))
        np.save(folder / 'next.npy', -2 * NORMAL)
        os.replace(folder / 'next.npy', path)
        viewer.wait_for_text('The file has changed.')
        viewer.wait_for_picture(get_picture(NORMAL, 4))
        viewer.do('click', 'Reload')
        viewer.wait_for_picture(get_picture(-2 * NORMAL, 4))

        path.unlink()
        viewer.wait_for_text('The file was removed.')
        viewer.do('click', 'Zoom In')
        viewer.wait_for_text('8 : 1')
        np.save(path, NORMAL)
        viewer.do('activate', 'win.reload')
        viewer.wait_for_picture(get_picture(NORMAL, 4))

        # Reading past the new end would be the program's own end.
        os.truncate(path, 200)
        viewer.do('activate', 'win.zoom-in')
        viewer.wait_for_text('The file has become shorter')
        viewer.do('activate', 'win.reload')
        viewer.wait_for_text('This File Cannot Be Opened')


def check_shortened(start, folder):
    """Whatever is chosen after a file was cut is not read."""
    path = folder / 'shortened.safetensors'
    write_safetensors(path, {name: ('F32', NORMAL) for name in ('a', 'b', 'c')})
    size = path.stat().st_size
    with Viewer(start, path) as viewer:
        viewer.wait_for_picture(get_picture(NORMAL, 4))
        os.truncate(path, size - 2 * NORMAL.nbytes)
        viewer.wait_for_text('The file has become shorter')
        for row in (2, 1, 0):
            viewer.do('select', row)
            viewer.wait_for_text('The file has become shorter')

    # The files of a model are not watched.
    index = folder / 'parts.safetensors.index.json'
    members = [folder / f'part-{number}.safetensors' for number in (1, 2)]
    for number, member in enumerate(members):
        write_safetensors(member, {f'x{number}': ('F32', NORMAL)})
    index.write_text(json.dumps({'weight_map': {
        f'x{number}': member.name for number, member in enumerate(members)}}))
    with Viewer(start, index) as viewer:
        viewer.wait_for_picture(get_picture(NORMAL, 4))
        os.truncate(members[1], 4096)
        viewer.do('select', 1)
        viewer.wait_for_text('The file has become shorter')
        viewer.do('select', 0)
        viewer.wait_for_picture(get_picture(NORMAL, 4))


def check_closed(start, folder):
    """A window that was closed keeps nothing of its file."""
    paths = [folder / f'closed-{number}.npy' for number in range(4)]
    for path in paths:
        np.save(path, NORMAL)
    with Viewer(start, paths[0]) as viewer:
        viewer.wait_for_picture(get_picture(NORMAL, 4))
        maps = pathlib.Path(f'/proc/{viewer.program.process.pid}/maps')
        for path in paths[1:]:
            viewer.do('drop', str(path))
            viewer.wait(lambda shown: len(shown.get('windows', ())) == 2 and
                        path.name in shown['title'], 'the other window')
            viewer.wait_for_picture(get_picture(NORMAL, 4))
            assert str(path) in maps.read_text()
            viewer.do('activate', 'win.close')
            viewer.wait(lambda shown: len(shown.get('windows', ())) == 1, 'one window')
        deadline = time.monotonic() + LIMIT
        while any(str(path) in maps.read_text() for path in paths[1:]):
            assert time.monotonic() < deadline, 'the file is still mapped'
            viewer.do()
        viewer.wait_for_picture(get_picture(NORMAL, 4))


def read_giant(viewer, path):
    """Returns the longest time in which the window did not answer meanwhile, and the progress that
    it showed."""
    viewer.wait_for_text('Open a File')
    viewer.do('pauses')
    viewer.do('drop', str(path))
    seen = []
    viewer.wait(lambda shown: seen.extend(shown['progress']) or 'picture' in shown, 'a picture')
    shown = viewer.wait(lambda shown: seen.extend(shown['progress'])
                        or compute_statistics(shown)['Zeros'] == str(N_LARGE), 'all elements')
    return shown['pause'], seen


def check_background(start, folder):
    """The window goes on while a tensor is read, and memory does not grow with it."""
    path = folder / 'giant.npy'
    side = int(N_LARGE ** 0.5)
    with open(path, 'wb') as file:
        np.lib.format.write_array_header_1_0(
            file, {'descr': '<f4', 'fortran_order': False, 'shape': (side, side)})
        file.truncate(file.tell() + 4 * N_LARGE)
    with Viewer(start) as viewer:
        pause, seen = read_giant(viewer, path)
        status = pathlib.Path(f'/proc/{viewer.program.process.pid}/status').read_text()
        own = int(status.split('RssAnon:')[1].split()[0])
        assert own < 400 * 1024, f'{own} KiB'

        # Stopped, it keeps the sample. A busy machine may have read all before the click.
        for _ in range(10):
            viewer.do('activate', 'win.reload')
            viewer.wait(lambda shown: 'Stop Reading' in shown['buttons'], 'the button')
            viewer.do('click', 'Stop Reading', True)
            shown = viewer.do()
            if 'From a sample of the elements' in shown['texts']:
                break
        assert 'Stop Reading' not in shown['buttons'], shown
        assert 'From a sample of the elements' in shown['texts'], shown

    # It may also keep the window waiting, or read much between two looks, but not each time.
    for _ in range(3):
        if pause < 0.5 and any(0 < fraction < 1 for fraction in seen):
            break
        with Viewer(start) as viewer:
            pause, seen = read_giant(viewer, path)
    assert pause < 0.5, pause
    assert any(0 < fraction < 1 for fraction in seen), seen[-9:]
    path.unlink()


def check_narrow(start, folder):
    with Viewer(start, folder / 'model.safetensors') as viewer:
        viewer.check_tensor('layers.2.weight', 4)
        viewer.do('resize', 360, 640)
        shown = viewer.wait(lambda shown: shown['size'][0] <= 360
                            and 'Search tensors' in shown['texts']
                            and 'picture' not in shown, 'the list alone')
        assert 'Elements' not in shown['texts'], shown
        viewer.do('click', 'List of Tensors')
        viewer.wait(lambda shown: 'picture' in shown and 'Elements' not in shown['texts']
                    and shown['size'][0] <= 360, 'the picture alone')
        viewer.wait_for_picture(get_picture(NORMAL, 4))
        viewer.do('click', 'Statistics')
        shown = viewer.wait(lambda shown: 'Elements' in shown['texts'], 'the statistics')
        assert 'picture' not in shown and shown['size'][0] <= 360, shown
        viewer.do('click', 'List of Tensors')
        viewer.wait(lambda shown: 'Elements' not in shown['texts'], 'the list instead')
        viewer.do('resize', 1000, 640)
        viewer.wait(lambda shown: 'picture' in shown and 'Elements' in shown['texts'], 'all')


def check_state(start, folder):
    with Viewer(start, folder / 'array.npy') as viewer:
        viewer.wait_for_text('array')
        viewer.do('resize', 1010, 555)
        viewer.wait(lambda shown: shown['default_size'] == [1010, 555], 'the size')
        viewer.do('click', 'Statistics')
        viewer.do('activate', 'app.style', 'dark')
        viewer.do('activate', 'win.close')
    with Viewer(start) as viewer:
        viewer.wait(lambda shown: shown.get('default_size') == [1010, 555], 'the size')
        assert viewer.do()['style'] == 'dark', viewer.do()
        # Files that were opened before are listed.
        recent = viewer.do('recent')['recent']
        assert (folder / 'array.npy').as_uri() in recent, recent
        viewer.do('activate', 'app.open-uri', (folder / 'array.npy').as_uri())
        shown = viewer.wait_for_picture(get_picture(NORMAL, 2))
        assert 'Elements' not in shown['texts'], shown
        viewer.do('activate', 'app.style', 'default')
        viewer.do('click', 'Statistics')
        viewer.do('resize', 1100, 700)
        viewer.do('activate', 'win.close')


    # The state may have been written by others.
    state = folder / 'state' / 'mtldl-viewer' / 'state.ini'
    for text in ('[state]\nwidth=-5\nheight=0\nstyle=blue\nmaximized=maybe\n', '\0 nonsense'):
        state.write_text(text)
        with Viewer(start, folder / 'array.npy') as viewer:
            viewer.wait_for_text('array')
    state.unlink()


def check_styles(start, folder):
    with Viewer(start, folder / 'array.npy') as viewer:
        viewer.wait_for_picture(get_picture(NORMAL, 4))
        levels = {}
        for style in ('light', 'dark'):
            viewer.do('activate', 'app.style', style)
            time.sleep(0.5)
            levels[style] = np.median(viewer.program.screen.get_pixels()[150:600, 40:1000])
        assert levels['light'] > 200 and levels['dark'] < 80, levels
        viewer.do('activate', 'app.style', 'default')


# The keycode: with the name, xdotool presses Alt, too, where xkb-data is as new as 2.48.
F9 = '75'


def press(viewer, *keys):
    environment = {**os.environ, 'DISPLAY': viewer.program.screen.display}
    window = subprocess.run(['xdotool', 'search', '--onlyvisible', '--pid',
                             str(viewer.program.process.pid)], capture_output=True, text=True,
                            env=environment).stdout.split()[-1]
    subprocess.run(['xdotool', 'windowfocus', window, 'key', '--clearmodifiers', *keys], check=True,
                   env=environment)


def use_mouse(viewer, *words):
    environment = {**os.environ, 'DISPLAY': viewer.program.screen.display}
    subprocess.run(['xdotool', *map(str, words)], check=True, env=environment)


def check_keys(start, folder):
    if not shutil.which('xdotool'):
        return
    with Viewer(start, folder / 'model.safetensors') as viewer:
        viewer.check_tensor('layers.2.weight', 4)
        press(viewer, 'ctrl+plus')
        viewer.wait_for_text('8 : 1')
        press(viewer, 'ctrl+minus', 'ctrl+minus')
        viewer.wait_for_text('2 : 1')
        press(viewer, 'ctrl+0')
        viewer.wait_for_text('4 : 1')
        top, left = map(int, viewer.do()['picture']['on_window'])
        use_mouse(viewer, 'mousemove', left + 150, top + 202, 'keydown', 'ctrl', 'click', 4,
                  'keyup', 'ctrl')
        viewer.wait_for_text('8 : 1')
        # The element below the pointer has not changed.
        use_mouse(viewer, 'mousemove_relative', 1, 0)
        viewer.wait(lambda shown: any(f'[50, {column}]' in line for column in (37, 38)
                                      for line in shown['texts']), 'the element there')
        press(viewer, 'ctrl+0')
        viewer.wait_for_text('4 : 1')
        press(viewer, F9)
        viewer.wait(lambda shown: 'brain' not in shown['texts'], 'no list')
        press(viewer, 'ctrl+f')
        viewer.wait_for_text('brain')
        press(viewer, 'b', 'r', 'a', 'i')
        viewer.wait(lambda shown: 'half' not in shown['texts'], 'what was searched')
        press(viewer, 'ctrl+i')
        viewer.wait(lambda shown: 'Elements' not in shown['texts'], 'no statistics')
        press(viewer, 'alt+Return')
        viewer.wait_for_text('Elements')
        press(viewer, 'ctrl+shift+j')
        viewer.wait(lambda shown: 'gi://Mtl' in (shown['clipboard'] or ''), 'JavaScript')
        press(viewer, 'ctrl+shift+p')
        viewer.wait(lambda shown: 'gi.repository' in (shown['clipboard'] or ''), 'Python')
        press(viewer, 'ctrl+r')
        viewer.wait_for_picture(get_picture(get_values('brain'), 4))
        press(viewer, 'ctrl+o')
        viewer.wait(lambda shown: shown['choosing'], 'the dialog for files')
        viewer.do('respond', -6)
        press(viewer, 'ctrl+w')
        assert viewer.program.process.wait(LIMIT) == 0
    with Viewer(start, folder / 'array.npy', folder / 'packed.npz') as viewer:
        viewer.wait(lambda shown: len(shown.get('windows', ())) == 2, 'two windows')
        press(viewer, 'ctrl+q')
        assert viewer.program.process.wait(LIMIT) == 0


def make_files(folder):
    path = folder / 'model.safetensors'
    write_safetensors(path, TENSORS)
    (folder / 'cut').write_bytes(path.read_bytes()[:-1])
    (folder / 'text').write_text('no tensors here\n' * 9)
    write_safetensors(folder / 'nothing', {})
    np.save(folder / 'array.npy', NORMAL)
    np.savez_compressed(folder / 'packed.npz', packed=NORMAL[:60, :50].astype('c8'))
    np.savez(folder / 'mixed.npz', x=NORMAL, label=np.array(['cat', 'dog']), y=-NORMAL)
    with zipfile.ZipFile(folder / 'mixed.npz', 'a') as archive:
        archive.writestr('readme.txt', 'hello')
    with open(folder / 'long.npy', 'wb') as file:
        np.lib.format.write_array_header_1_0(
            file, {'descr': '|u1', 'fortran_order': False, 'shape': (2 ** 34,)})
        file.truncate(file.tell() + 2 ** 34)    # the disk has none of it


CHECKS = {name.removeprefix('check_'): check for name, check in list(globals().items())
          if name.startswith('check_')}


def main(program, toolkit, *names):
    if not Screen.is_available():
        print('1..0 # SKIP Xvfb is not installed')
        return 0
    if toolkit == 'adw' and subprocess.run(
            [sys.executable, '-c', 'import gi; gi.require_version("Adw", "1")'],
            capture_output=True).returncode:
        print('1..0 # SKIP libadwaita is not installed')
        return 0

    with tempfile.TemporaryDirectory() as name, Screen(pathlib.Path(name)) as screen:
        folder = pathlib.Path(name)
        make_files(folder)

        def start(*arguments, **variables):
            return Program(screen, folder, 'python', program, *arguments,
                           MTLDL_VIEWER_TOOLKIT=toolkit, **variables)

        # With GTK alone, only the checks run in which the toolkits differ.
        names = names or [name for name in CHECKS if toolkit == 'adw' or name in FEW]
        n_failed = 0
        print(f'1..{len(names)}', flush=True)
        for number, name in enumerate(names, 1):
            begin = time.monotonic()
            try:
                CHECKS[name](start, folder)
                print(f'ok {number} {name} # {time.monotonic() - begin:.1f} s', flush=True)
            except (AssertionError, subprocess.CalledProcessError) as error:
                n_failed += 1
                print(f'not ok {number} {name}')
                text = f'{error}\n{getattr(error, "stderr", None) or ""}'
                print('\n'.join(f'# {line}' for line in text.splitlines()), flush=True)
    return 1 if n_failed else 0


if __name__ == '__main__':
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main(*sys.argv[1:]))
