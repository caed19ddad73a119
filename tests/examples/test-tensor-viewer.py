#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Uses an example that shows files of tensors: test-tensor-viewer.py LANGUAGE PROGRAM

On a screen that nobody sees, with buttons and entries as a user has them. What
the pictures have to be is computed here, with NumPy.
"""

import pathlib
import sys
import tempfile

import numpy as np
from gtk_program import HEIGHT, WIDTH, Program, Screen, write_safetensors

RAMP = np.array([[16, 22, 61], [35, 61, 132], [31, 122, 149], [67, 178, 132], [179, 217, 85],
                 [255, 242, 161]], float)
NAN, INFINITE = (224, 27, 36), (192, 97, 203)

random = np.random.default_rng(8)
NORMAL = random.normal(size=(90, 70)).astype('f4')
ODD = NORMAL.copy()
ODD[3, 5:9], ODD[10:20, 0], ODD[40, 40] = np.nan, np.inf, -np.inf
LARGE = (np.add.outer(np.arange(2400) ** 2 // 977, np.arange(1800) * 3) % 251).astype('u1')

TENSORS = {
    'layers.0.weight': ('F32', NORMAL),
    'half': ('F16', NORMAL.astype('f2')),
    'brain': ('BF16', (NORMAL.view('u4') >> 16).astype('u2')),
    'eight.bits': ('F8_E5M2', (NORMAL.astype('f2').view('u2') >> 8).astype('u1')),
    'wide': ('F64', NORMAL.astype('f8') * 1e30),
    'counts': ('I64', np.arange(-250, 250).reshape(20, 25)),
    'mask': ('BOOL', np.tri(40, 21, dtype=bool)),
    'odd': ('F32', ODD),
    'constant': ('F32', np.full((4, 5), 2.5, 'f4')),
    'nothing.known': ('F32', np.full((3, 3), np.nan, 'f4')),
    'slices': ('F32', random.normal(size=(5, 1, 3, 24, 16)).astype('f4')),
    'layers.0.bias': ('F32', NORMAL[0, :50]),
    'scalar': ('F32', np.array(-7.25, 'f4')),
    'empty': ('F32', np.zeros((0, 4), 'f4')),
    'large': ('U8', LARGE),
    'a\nb\x1b[31m\x7f\u202ec <b>é</b>': ('I32', np.arange(12, dtype='i4').reshape(3, 4)),
}
NAMES = list(TENSORS)
DTYPES = {'F32': 'float32', 'F16': 'float16', 'BF16': 'bfloat16', 'F8_E5M2': 'float8_e5m2',
          'F64': 'float64', 'I64': 'int64', 'BOOL': 'bool', 'U8': 'uint8', 'I32': 'int32'}


def get_values(name):
    dtype, array = TENSORS[name]
    if dtype == 'BF16':
        return (array.astype('u4') << 16).view('f4')
    if dtype == 'F8_E5M2':
        return (array.astype('u2') << 8).view('f2').astype('f4')
    return array.astype('f4')


def get_colors(values, low, high):
    """[rows, columns, red green blue], of 256 steps."""
    share = (values.astype(float) - low) / (high - low) if high > low else np.zeros(values.shape)
    steps = np.clip(np.floor(np.where(np.isfinite(values), share, 0) * 256), 0, 255)
    colors = np.stack([np.interp(steps / 255 * 5, np.arange(6), channel) for channel in RAMP.T],
                      axis=-1)
    colors[np.isnan(values)] = NAN
    colors[np.isinf(values)] = INFINITE
    return colors.round()


def get_picture(values, factor=1, scale_of=None):
    scale_of = values if scale_of is None else scale_of
    finite = scale_of[np.isfinite(scale_of)]
    low, high = (finite.min(), finite.max()) if finite.size else (np.nan, np.nan)
    colors = get_colors(values, float(low), float(high))
    return colors.repeat(factor, 0).repeat(factor, 1)


def differ(picture, expected):
    """A step more or less is in how the numbers are rounded."""
    if picture.shape != expected.shape:
        return f'a picture of {picture.shape}, not of {expected.shape}'
    n_others = (abs(picture - expected) > 3).any(axis=-1).sum()
    return f'{n_others} of {expected.size // 3} pixels are others' if n_others else ''


def get_rows(shown):
    """What the list has, a row each."""
    cells = shown['texts'][shown['texts'].index('Size') + 1:]
    return [cells[i:i + 4] for i in range(0, 4 * len(NAMES), 4)]


def get_numbers(shown):
    """The scale's, from the greatest on."""
    end = shown['texts'].index('NaN')
    return shown['texts'][end - 3:end]


def get_heading(name):
    dtype, array = TENSORS[name]
    shape = ' × '.join(map(str, array.shape)) or 'scalar'
    return f'{name}  {DTYPES[dtype]}, {shape}'


class Viewer:
    """The example, showing a file."""

    def __init__(self, start, *arguments):
        self.program = start(*arguments)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        status, complaints = self.program.close()
        if kind is None:
            # The one thing that is missing here is not the example's.
            lines = [line for line in complaints.splitlines()
                     if line and 'Unable to acquire session bus' not in line]
            assert status == 0 and lines == [], (status, lines)

    def do(self, *action):
        self.program.ask(*action)

    def choose(self, name):
        self.do('select', NAMES.index(name))

    def wait_for_text(self, text):
        return self.program.wait(lambda shown: any(text in line for line in shown['texts']), text)

    def wait_for_picture(self, expected):
        self.program.wait(lambda shown: 'picture' in shown and not differ(
            self.program.save_picture(), expected), 'the right picture')
        return self.program.ask()

    def check_tensor(self, name, factor):
        self.choose(name)
        self.wait_for_text(get_heading(name))
        return self.wait_for_picture(get_picture(get_values(name), factor))


def check_list(start, path):
    with Viewer(start, path) as viewer:
        shown = viewer.wait_for_text('layers.0.weight')
        assert shown['title'] == 'model.safetensors', shown
        rows = get_rows(shown)
        for (name, (dtype, array)), row in zip(TENSORS.items(), rows):
            if name != NAMES[-1]:
                assert row[0] == name, row
            assert row[1] == DTYPES[dtype], row
            assert row[2] == (' × '.join(map(str, array.shape)) or 'scalar'), row
        assert rows[0][3].split() == ['24.6', 'KiB'], rows[0]
        assert rows[NAMES.index('scalar')][3].split() == ['4', 'bytes'], rows


def check_names_are_harmless(start, path):
    with Viewer(start, path) as viewer:
        row = get_rows(viewer.wait_for_text('layers.0.weight'))[-1]
        assert row[0] == r'a\u000ab\u001b[31m\u007f\u202ec <b>é</b>', row
        viewer.choose(NAMES[-1])
        viewer.wait_for_text(row[0] + '  int32, 3 × 4')


def check_filter(start, path):
    with Viewer(start, path) as viewer:
        viewer.wait_for_text('layers.0.weight')
        viewer.do('type', 'LAYERS')
        shown = viewer.program.wait(lambda shown: 'half' not in shown['texts'], 'two rows')
        cells = shown['texts'][shown['texts'].index('Size') + 1:]
        assert cells[0] == 'layers.0.weight' and cells[4] == 'layers.0.bias', cells
        viewer.do('type', 'layers.1')
        viewer.wait_for_text('No tensor is selected.')
        viewer.do('type', 'brain')
        viewer.wait_for_picture(get_picture(get_values('brain'), 4))


def check_dtypes(start, path):
    with Viewer(start, path) as viewer:
        for name, factor in {'layers.0.weight': 4, 'half': 4, 'brain': 4, 'eight.bits': 4,
                             'wide': 4, 'counts': 16, 'mask': 8}.items():
            shown = viewer.check_tensor(name, factor)
            high, middle, low = map(float, get_numbers(shown))
            values = get_values(name)
            assert np.allclose([low, high], [values.min(), values.max()], rtol=1e-3), name
            assert np.isclose(middle, (low + high) / 2, rtol=1e-3, atol=1e-3 * high), name


def check_no_numbers(start, path):
    with Viewer(start, path) as viewer:
        viewer.check_tensor('odd', 4)
        picture = viewer.program.save_picture()[2::4, 2::4]
        assert (picture[3, 5] == NAN).all(), picture[3, 5]
        assert (picture[10, 0] == INFINITE).all() and (picture[40, 40] == INFINITE).all()
        viewer.check_tensor('constant', 64)
        shown = viewer.check_tensor('nothing.known', 64)
        assert get_numbers(shown) == ['–'] * 3, shown


def check_slices(start, path):
    values = get_values('slices')
    with Viewer(start, path) as viewer:
        viewer.choose('slices')
        viewer.wait_for_picture(get_picture(values[0, 0, 0], 16))
        texts = viewer.program.ask()['texts']
        assert [text for text in texts if 'Axis' in text] == ['Axis 0', 'Axis 2'], texts
        viewer.do('spin', 0, 4)
        viewer.wait_for_picture(get_picture(values[4, 0, 0], 16))
        viewer.do('spin', 1, 2)
        viewer.wait_for_picture(get_picture(values[4, 0, 2], 16))
        viewer.do('point', 5 * 16 + 7, 20 * 16)
        viewer.wait_for_text('[4, 0, 2, 20, 5] = ' + str(values[4, 0, 2, 20, 5]))


def check_few_axes(start, path):
    with Viewer(start, path) as viewer:
        bias = get_values('layers.0.bias')
        viewer.choose('layers.0.bias')
        viewer.wait_for_picture(get_picture(np.tile(bias, (len(bias) // 8, 1)), 8))
        viewer.do('point', 8 * 11, 3)
        viewer.wait_for_text('[11] = ' + str(bias[11]))

        viewer.choose('scalar')
        viewer.wait_for_picture(get_picture(get_values('scalar').reshape(1, 1), 64))
        viewer.do('point', 1, 1)
        viewer.wait_for_text('[] = -7.25')

        viewer.choose('empty')
        viewer.wait_for_text('This tensor has no elements.')


def check_large(start, path):
    values = get_values('large')
    with Viewer(start, path) as viewer:
        viewer.choose('large')
        sample = values[::5, ::4]
        shown = viewer.wait_for_picture(get_picture(values[::8, ::8], scale_of=sample))
        assert '1 : 8' in shown['texts'], shown
        assert get_numbers(shown)[0] == f'≈ {sample.max():.0f}', shown

        for zoom in ('1 : 4', '1 : 2', '1 : 1', '2 : 1'):
            viewer.do('click', 'Zoom in')
            viewer.wait_for_text(zoom)
        viewer.do('scroll', 1001, 2502)
        shown = viewer.program.wait(
            lambda shown: shown['picture']['place'] == [1000, 2502], 'the part at 1000, 2502')
        assert shown['picture']['whole'] == [4800, 3600], shown
        height, width = shown['picture']['size']
        assert 0 < height < HEIGHT and 0 < width < WIDTH, shown
        part = values[500:500 + height // 2, 1251:1251 + width // 2]
        viewer.wait_for_picture(get_picture(part, 2, scale_of=sample))

        viewer.do('click', 'Zoom out')
        viewer.wait_for_text('1 : 1')
        viewer.do('click', 'Fit the window')
        viewer.wait_for_picture(get_picture(values[::8, ::8], scale_of=sample))


def check_middle(start, path):
    """It stays where it is when the picture grows."""
    def is_in_the_middle(shown):
        picture = shown['picture']
        middles = [place + size / 2 for place, size in zip(picture['place'], picture['size'])]
        return picture['whole'] == [1440, 1120] and np.allclose(middles, [720, 560], atol=16)

    with Viewer(start, path) as viewer:
        viewer.check_tensor('layers.0.weight', 4)
        viewer.do('click', 'Zoom in')
        viewer.do('click', 'Zoom in')
        viewer.program.wait(is_in_the_middle, 'the middle of 1440 × 1120 pixels')


def check_screen(start, path):
    with Viewer(start, path) as viewer:
        viewer.check_tensor('odd', 4)
        viewer.program.wait(viewer.program.is_seen, 'the picture on the screen')


def check_bad_file(start, path, part):
    with Viewer(start, path) as viewer:
        shown = viewer.wait_for_text(part)
        assert 'picture' not in shown and 'float32' not in shown['texts'], shown


def check_bad_tensor(start, path):
    with Viewer(start, path) as viewer:
        shown = viewer.wait_for_text('2^63')
        assert 'picture' not in shown and 'uint8' in shown['texts'], shown


def check_no_file(start):
    with Viewer(start) as viewer:
        viewer.wait_for_text('Open a safetensors, .npy or .npz file.')
        assert 'Open…' in viewer.program.ask()['texts']


def make_files(folder):
    path = folder / 'model.safetensors'
    write_safetensors(path, TENSORS)
    (folder / 'cut').write_bytes(path.read_bytes()[:-1])
    (folder / 'text').write_text('no tensors here\n' * 9)
    write_safetensors(folder / 'nothing', {})
    np.save(folder / 'array.npy', NORMAL)
    with open(folder / 'long.npy', 'wb') as file:
        np.lib.format.write_array_header_1_0(
            file, {'descr': '|u1', 'fortran_order': False, 'shape': (2 ** 34,)})
        file.truncate(file.tell() + 2 ** 34)    # of which nothing is on the disk
    return path


def check_npy(start, path):
    with Viewer(start, path) as viewer:
        viewer.wait_for_text('(no name)')
        viewer.wait_for_picture(get_picture(NORMAL, 4))


def get_checks(start, folder):
    path = make_files(folder)
    return {
        'list': lambda: check_list(start, path),
        'names of strangers': lambda: check_names_are_harmless(start, path),
        'filter': lambda: check_filter(start, path),
        'element types': lambda: check_dtypes(start, path),
        'NaN and infinity': lambda: check_no_numbers(start, path),
        'slices': lambda: check_slices(start, path),
        'one axis, none, no elements': lambda: check_few_axes(start, path),
        'a large matrix': lambda: check_large(start, path),
        'the middle of what is enlarged': lambda: check_middle(start, path),
        'the screen': lambda: check_screen(start, path),
        '.npy': lambda: check_npy(start, folder / 'array.npy'),
        'an axis too long for a stripe': lambda: check_bad_tensor(start, folder / 'long.npy'),
        'no file': lambda: check_no_file(start),
        'a file of nothing': lambda: check_bad_file(start, folder / 'nothing', 'no tensors'),
        'a cut file': lambda: check_bad_file(start, folder / 'cut', 'cut'),
        'another file': lambda: check_bad_file(start, folder / 'text', 'text'),
        'a missing file': lambda: check_bad_file(start, folder / 'none', 'none'),
        'a folder': lambda: check_bad_file(start, folder, str(folder)),
    }


def main(language, program):
    if not Screen.is_available():
        print('1..0 # SKIP Xvfb is not installed')
        return 0

    with tempfile.TemporaryDirectory() as name, Screen(pathlib.Path(name)) as screen:
        folder = pathlib.Path(name)

        def start(*arguments):
            return Program(screen, folder, language, program, *arguments)

        checks = get_checks(start, folder)
        n_failed = 0
        print(f'1..{len(checks)}', flush=True)
        for number, (what, check) in enumerate(checks.items(), 1):
            try:
                check()
                print(f'ok {number} {what}', flush=True)
            except AssertionError as error:
                n_failed += 1
                print(f'not ok {number} {what}')
                print('\n'.join(f'# {line}' for line in str(error).splitlines()), flush=True)
    return 1 if n_failed else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
