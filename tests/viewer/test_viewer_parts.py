#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_viewer_parts.py PACKAGE-FOLDER: the viewer's modules, without any window."""

import itertools
import pathlib
import random
import sys
import tempfile

import numpy as np

sys.path.insert(0, sys.argv[1])

import expected  # noqa: E402
import mtldl_viewer  # noqa: E402, F401
from gi.repository import Gio, GLib, Mtl  # noqa: E402
from mtldl_viewer import axes, code, colors, text  # noqa: E402
from mtldl_viewer.background import Task  # noqa: E402

ROLES = ('rows', 'columns', 'channels')


def check_guesses():
    """Checks the axes that are shown if the user chooses none."""
    for shape, expected in {
            (): (None, None, None), (7,): (None, 0, None), (3, 4): (0, 1, None),
            (1024, 1024, 16): (0, 1, None), (5, 1, 3, 24, 16): (3, 4, None),
            (480, 640, 3): (0, 1, 2), (480, 640, 1): (0, 1, 2), (9, 480, 640, 4): (1, 2, 3),
            (480, 640, 2): (0, 1, None), (1000, 28, 28): (1, 2, None),
            (64, 3, 7, 7): (0, 3, None), (512, 512, 3, 3): (0, 1, None),
            (12, 512, 64): (1, 2, None), (1024, 1, 64): (0, 2, None), (5, 5, 5): (1, 2, None),
            (3, 480, 640): (1, 2, None), (1000, 3): (0, 1, None), (0, 4): (0, 1, None),
            (1,) * 64: (62, 63, None)}.items():
        choice = axes.guess(shape)
        seen = (choice.rows, choice.columns, choice.channels)
        assert seen == expected, (shape, seen, expected)


def check_choices():
    """However someone chooses, no axis has two roles, and there are rows and columns."""
    generator = random.Random(3)
    for _ in range(2000):
        shape = tuple(generator.choice((1, 2, 3, 4, 5, 40)) for _ in range(generator.randint(2, 5)))
        choice = axes.guess(shape)
        for _ in range(6):
            role = generator.choice(ROLES)
            offered = list(range(len(shape)))
            if role == 'channels':
                if len(shape) == 2:
                    continue
                offered = [None] + [axis for axis in offered if shape[axis] <= 4]
            axis = generator.choice(offered)
            choice = axes.choose(choice, role, axis, shape)
            shown = choice.get_shown()
            assert getattr(choice, role) == axis, (shape, role, axis, choice)
            assert len(set(shown)) == len(shown), (shape, choice)
            assert None not in (choice.rows, choice.columns), (shape, choice)
            assert choice.channels is None or shape[choice.channels] <= 4, (shape, choice)
            assert sorted(shown + choice.get_hidden()) == list(range(len(shape)))


def check_slices():
    """Each choice of axes, against NumPy, and the code for it."""
    array = np.arange(3 * 4 * 2 * 5, dtype='i4').reshape(3, 4, 2, 5)
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / 'a.npz')
        np.savez(path, **{'it\'s "a"\n': array})
        for picked in itertools.chain(itertools.permutations(range(4), 2),
                                      itertools.permutations(range(4), 3)):
            choice = axes.Choice(*picked, **({'channels': None} if len(picked) == 2 else {}),
                                 indices=[1, 3, 1, 4])
            moved = np.moveaxis(array, picked, range(len(picked)))
            hidden = [axis for axis in range(4) if axis not in picked]
            expected = moved[(..., *(choice.indices[axis] for axis in hidden))]
            part = axes.cut(Mtl.asview(array), choice)
            assert np.array_equal(np.asarray(part), expected), choice
            row, column = 1, expected.shape[1] - 1
            index = tuple(choice.get_element(row, column))
            assert np.array_equal(array[index], expected[row, column]), choice

            program = code.to_python(Gio.File.new_for_path(path), 'it\'s "a"\n', choice)
            names = {}
            exec(program, names)
            assert np.array_equal(np.asarray(names['view']), expected), program


def check_code_of_odd_names():
    """JavaScript's texts are Unicode, which the name of a file need not be."""
    choice = axes.guess((3, 4))
    file = Gio.File.new_for_path('/tmp/caf\udce9.npy')
    assert 'new_for_uri("file:///tmp/caf%E9.npy")' in code.to_javascript(file, '', choice)
    assert 'new_for_path("/tmp/caf\\u00e9.npy")' in code.to_javascript(
        Gio.File.new_for_path('/tmp/caf\u00e9.npy'), '', choice)


def run(begin):
    """Waits for what a task finds."""
    loop, found = GLib.MainLoop(), []

    def fail(error):
        found.append(error)
        loop.quit()

    def done(value):
        found.append(value)
        loop.quit()

    begin(Task(fail), done)
    if not found:
        loop.run()
    if isinstance(found[0], Exception):
        raise found[0]
    return found[0]


def check_steps():
    """The places of numbers at, beyond and beside the ends of the scale."""
    values = np.array([0, 1, 0.5, -3, 9, np.nan, np.inf, -np.inf, 3.4e38, -3.4e38], 'f4')
    expected = [0, 253, 126.5, 0, 253, 254, 255, 255, 253, 0]
    limits = bytes(min(step, 253) for step in range(256))
    types = {'f2': values[:8], 'f4': values, 'f8': np.append(values.astype('f8'), 1.7e308)}
    for dtype, numbers in types.items():
        view = Mtl.asview(numbers.astype(dtype))
        steps = run(lambda task, done: colors.read_bytes(
            task, view, colors.Scale(0, 1).get_factors(254), limits, done))
        assert np.allclose(list(steps), [*expected, 253][:len(numbers)]
                           if dtype == 'f8' else expected[:len(numbers)], atol=0.5), list(steps)
    for low, high in ((1e308, -1e308), (2.0, 2.0), (float('nan'), float('nan'))):
        assert colors.Scale(low, high).get_factors(254) == (0, 0)
    for low, high in ((-1.7e308, 1.7e308), (5e-324, 1e-320), (1e9, 1e9 + 1), (-3, 5)):
        factor, offset = colors.Scale(low, high).get_factors(254)
        assert np.isfinite([factor, offset]).all(), (low, high)
        if high > 1e-300:
            assert abs(low * factor + offset) < 0.01, (low, high)
            assert abs(high * factor + offset - 253) < 0.01, (low, high)


def check_pixels():
    """Heat maps as expected.py computes them, and squares."""
    for values in (expected.NORMAL, expected.ODD, expected.EXTREME):
        low, high = expected.get_scale(values)
        pixels = run(lambda task, done: colors.read_heat_map(
            task, Mtl.asview(values), colors.Scale(low, high), done))
        for factor in (1, 3):
            squares = colors.make_squares(pixels, factor)
            assert squares.is_read_only()
            seen = np.asarray(squares).astype(int)
            difference = expected.differ(seen, expected.get_picture(values, factor))
            assert not difference, difference


def check_failures():
    """An error goes to one function, and nothing comes after a cancellation."""
    pair = Mtl.asview(np.zeros(2))
    for source in (Mtl.asview(np.zeros(3)), None):
        try:
            run(lambda task, done: task.run(pair.copy_scaled_from_async,
                                            pair.copy_scaled_from_finish, done, source, 1.0))
        except (ValueError, TypeError):
            continue
        raise AssertionError(f'{source} was copied')
    called = []
    task = Task(called.append)
    view = Mtl.asview(np.zeros(1000))
    task.run(view.compute_statistics_async, view.compute_statistics_finish, called.append)
    task.cancel()
    loop = GLib.MainLoop()
    GLib.timeout_add(100, loop.quit)
    loop.run()
    assert called == [], called


def check_texts():
    names = ['b10', 'b9', 'a', 'b', 'B2', '10', '9', 'x2y10', 'x2y9', '', 'b٣']
    assert sorted(names, key=text.natural_key) == [
        '', 'a', 'b', 'B2', 'b٣', 'b9', 'b10', 'x2y9', 'x2y10', '9', '10'], \
        sorted(names, key=text.natural_key)
    # More digits than Python reads as an integer.
    names = ['t' + '1' * 5001, 't' + '0' * 10 + '9' * 5000, 't' + '9' * 5000, 't8']
    assert sorted(names, key=text.natural_key) == [names[3], *names[1:3], names[0]]
    assert text.printable('a\n\x1b\u202e' + 'é' * 300) == \
        'a\\u000a\\u001b\\u202e' + 'é' * 196 + '…'
    assert text.number(float('nan')) == '–' and text.number(2 ** 63) == str(2 ** 63)


CHECKS = [check_guesses, check_choices, check_slices, check_code_of_odd_names, check_steps,
          check_pixels, check_failures, check_texts]


def main():
    status = 0
    print(f'1..{len(CHECKS)}')
    for number, check in enumerate(CHECKS, 1):
        name = check.__name__.removeprefix('check_')
        try:
            check()
            print(f'ok {number} {name}')
        except AssertionError as error:
            status = 1
            print(f'not ok {number} {name}\n# {error}')
    return status


if __name__ == '__main__':
    sys.exit(main())
