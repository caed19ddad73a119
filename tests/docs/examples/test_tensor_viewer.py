#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Uses the example in JavaScript that shows files of tensors: test_tensor_viewer.py PROGRAM

On a screen that nobody sees. What the pictures have to be is computed here,
with NumPy. The program mtldl-viewer has tests of its own.
"""

import pathlib
import sys
import tempfile

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / 'support'))
from gtk_program import Program, Screen, Session, write_safetensors  # noqa: E402

random = np.random.default_rng(8)
NORMAL = random.normal(size=(90, 70)).astype('f4')
ODD = NORMAL.copy()
ODD[3, 5:9] = np.nan

TENSORS = {
    'weight': ('F32', NORMAL),
    'brain': ('BF16', (NORMAL.view('u4') >> 16).astype('u2')),
    'counts': ('I64', np.arange(-250, 250).reshape(20, 25)),
    'mask': ('BOOL', np.tri(40, 21, dtype=bool)),
    'odd': ('F32', ODD),
    'constant': ('F32', np.full((4, 5), 2.5, 'f4')),
    'slices': ('F32', random.normal(size=(5, 1, 3, 24, 16)).astype('f4')),
    'bias': ('F32', NORMAL[0, :50]),
    'scalar': ('F32', np.array(-7.25, 'f4')),
    'large': ('F32', random.normal(size=(1030, 1500)).astype('f4')),
    'empty': ('F32', np.zeros((0, 4), 'f4')),
    'a\nb\x1b[31m\x7f\u202ec <b>é</b>': ('U8', np.arange(12, dtype='u1').reshape(3, 4)),
}
NAMES = list(TENSORS)


def get_picture(name):
    """[rows, columns], of greys."""
    dtype, array = TENSORS[name]
    values = (array.astype('u4') << 16).view('f4') if dtype == 'BF16' else array
    while values.ndim > 2:
        values = values[0]
    values = np.atleast_2d(values)
    down, right = (-(-extent // 512) for extent in values.shape)
    values = values[::down, ::right].astype(float)
    low, high = np.nanmin(values), np.nanmax(values)
    greys = np.round((values - low) / (high - low) * 255) if high > low else values * 0
    factor = max(1, 512 // max(values.shape))
    return np.nan_to_num(greys).repeat(factor, 0).repeat(factor, 1)


class Viewer(Session):
    """The example, showing a file."""

    def check_tensor(self, name, description):
        self.program.ask('select', NAMES.index(name))
        self.wait_for_text(description)
        picture = self.program.save_picture()
        expected = get_picture(name)
        assert picture.shape[:2] == expected.shape, (name, picture.shape, expected.shape)
        assert abs(picture - expected[..., np.newaxis]).max() <= 1, name


def check_pictures(start, path):
    with Viewer(start, path) as viewer:
        shown = viewer.wait_for_text('weight')
        assert shown['title'] == 'model.safetensors' and NAMES[0] in shown['texts'], shown
        for name, description in {
                'weight': 'float32, 90 × 70', 'brain': 'bfloat16, 90 × 70',
                'counts': 'int64, 20 × 25', 'mask': 'bool, 40 × 21', 'odd': 'float32, 90 × 70',
                'constant': 'float32, 4 × 5', 'slices': 'float32, 5 × 1 × 3 × 24 × 16',
                'bias': 'float32, 50', 'scalar': 'float32, scalar',
                'large': 'float32, 1030 × 1500'}.items():
            viewer.check_tensor(name, f'{name}  {description}')
        viewer.check_tensor(NAMES[-1], r'a\u000ab\u001b[31m\u007f\u202ec <b>é</b>  uint8, 3 × 4')
        viewer.program.wait(viewer.program.is_seen, 'the picture on the screen')
        viewer.program.ask('select', NAMES.index('empty'))
        viewer.wait_for_text('This tensor has no elements.')


def check_bad_file(start, path, part):
    with Viewer(start, path) as viewer:
        shown = viewer.wait_for_text(part)
        assert 'picture' not in shown and NAMES[0] not in shown['texts'], shown


def check_no_file(start):
    with Viewer(start) as viewer:
        shown = viewer.wait_for_text('Open a safetensors, .npy or .npz file.')
        assert 'Open…' in shown['texts'], shown


def get_checks(start, folder):
    path = folder / 'model.safetensors'
    write_safetensors(path, TENSORS)
    write_safetensors(folder / 'nothing', {})
    (folder / 'cut').write_bytes(path.read_bytes()[:-1])
    return {
        'pictures': lambda: check_pictures(start, path),
        'no file': lambda: check_no_file(start),
        'a file of nothing': lambda: check_bad_file(start, folder / 'nothing', 'no tensors'),
        'a cut file': lambda: check_bad_file(start, folder / 'cut', 'cut'),
        'a missing file': lambda: check_bad_file(start, folder / 'none', 'none'),
    }


def main(program):
    if not Screen.is_available():
        print('1..0 # SKIP Xvfb is not installed')
        return 0

    with tempfile.TemporaryDirectory() as name, Screen(pathlib.Path(name)) as screen:
        folder = pathlib.Path(name)

        def start(*arguments):
            return Program(screen, folder, 'gjs', program, *arguments)

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
