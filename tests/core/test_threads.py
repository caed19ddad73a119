# SPDX-License-Identifier: LGPL-2.1-or-later
"""Eight threads draw what they do with views, layouts, buffers and lists that they share, with
NumPy's arrays as the model. Each element always has the same number, so that whatever one thread
reads is right however far the others are; but a view may have been closed, and is empty then."""

import contextlib
import os
import random
import subprocess
import sys
import sysconfig
import threading
import time

import numpy as np
import pytest
from gi.repository import Mtl

import conftest
from conftest import SEED

N_THREADS = 8
N_SLOTS = 24
TYPES = ["uint8", "int16", "float32", "float64", "complex64"]
HAS_GIL = getattr(sys, "_is_gil_enabled", lambda: True)()


def new_pair(rng):
    shape = [rng.randrange(1, 6) for _ in range(rng.randrange(1, 4))]
    if rng.random() < 0.1:  # enough for a copy to release the lock
        shape = [rng.randrange(100, 200), rng.randrange(200, 300)]
    array = (np.arange(np.prod(shape)) % 100).reshape(shape).astype(rng.choice(TYPES))
    how = rng.randrange(4)
    if how == 0:
        return Mtl.asview(array), array
    if how == 1:
        return Mtl.from_dlpack(array), array
    if how == 2:
        return Mtl.asview(memoryview(array)), array
    return Mtl.asview(array).copy(), array


def closed(view):
    """It, or what it was derived from: the models have elements."""
    return 0 in view.shape


def check(view, found, expected):
    assert found == expected or closed(view), (found, expected)


# Derived views


def draw_slice(rng, shape):
    return tuple(slice(start := rng.randrange(extent), rng.randrange(start, extent) + 1)
                 for extent in shape)


def derive(rng, view, array):
    kind = rng.randrange(6)
    if kind == 0:
        index = draw_slice(rng, array.shape)
        return view[index], array[index]
    if kind == 1:
        return view.T, array.T
    if kind == 2:
        axis = rng.randrange(array.ndim)
        return view.flip(axis), np.flip(array, axis)
    if kind == 3 and array.ndim < 6:
        return view.unsqueeze(0), array[None]
    if kind == 4:
        return view.permute(*range(array.ndim)[::-1]), array.T
    return Mtl.asview(np.asarray(view)), array


# Reading, writing, passing on


def read_attributes(rng, view, array):
    check(view, view.shape, array.shape)
    check(view, view.ndim, array.ndim)
    check(view, view.size, array.size)
    check(view, view.nbytes, array.nbytes)
    strides = zip(array.shape, view.strides, array.strides)
    assert closed(view) or all(extent == 1 or ours * array.itemsize == theirs
                               for extent, ours, theirs in strides)


def read_elements(rng, view, array):
    check(view, view.tolist(), array.tolist())
    check(view, bytes(view), array.tobytes())
    check(view, memoryview(view).tobytes(), array.tobytes())
    index = tuple(rng.randrange(extent) for extent in array.shape)
    check(view, view[index], array[index])
    check(view, view.item(*index), array[index])


def copy(rng, view, array):
    check(view, view.copy().tolist(), array.tolist())
    check(view, view.astype("float64" if array.dtype.kind != "c" else "complex128").tolist(),
          array.tolist())


def pass_on(rng, view, array):
    take = rng.choice((np.asarray, np.from_dlpack, Mtl.from_dlpack, Mtl.asview))
    check(view, take(view).tolist(), array.tolist())


def write(rng, view, array):
    if not view.is_read_only() and view.shape == array.shape:
        view[...] = rng.choice((array, view, array.tolist() if array.size < 100 else array))


def call_by_pygobject(rng, view, array):
    check(view, view.dtype.name, array.dtype.name)
    check(view, view.get_volume(), array.size)
    check(view, view.props.n_dims, array.ndim)
    check(view, Mtl.array(view, device="cpu").tolist(), array.tolist())
    layout = view.layout
    again = view.layout
    if not closed(view):
        assert layout == again and hash(layout) == hash(again) and layout.shape == array.shape
    assert not view.array_equal(Mtl.zeros(7, device="cpu"))
    memory = bytes(view.get_buffer())
    assert closed(view) or len(memory) >= array.itemsize


def close(rng, view, array):
    with contextlib.suppress(BufferError):  # in use
        view.close()
    check(view, view.shape, array.shape)


READING = [read_attributes, read_attributes, read_elements, copy, pass_on, write]
# PyGObject needs the GIL for what the compiled module leaves to it.
if HAS_GIL:
    READING.append(call_by_pygobject)


# Lists that change


def read_list(rng, numbers):
    """Others make it longer and shorter, of items that are alike."""
    try:
        view = Mtl.array(numbers)
    except ValueError:  # the lengths differed meanwhile
        return
    assert all(row == [1, 2, 3] for row in view.tolist()) or view.size == 0


def change_list(rng, numbers):
    if len(numbers) > 20:
        del numbers[rng.randrange(1, 10):]
    numbers.append([1, 2, 3])


class Work:
    def __init__(self):
        rng = random.Random(f"{SEED} shared")
        self.slots = [new_pair(rng) for _ in range(N_SLOTS)]
        self.numbers = [[1, 2, 3]]
        self.layouts = [Mtl.StridedLayout((2, 3))] * 4
        self.errors, self.n_done = [], [0] * N_THREADS
        self.start = threading.Barrier(N_THREADS)
        self.deadline = time.monotonic() + conftest.SECONDS

    def do_one(self, rng):
        kind = rng.random()
        view, array = rng.choice(self.slots)
        if kind < 0.15:
            self.slots[rng.randrange(N_SLOTS)] = new_pair(rng)
        elif kind < 0.2:
            close(rng, view, array)
        elif kind < 0.25:
            rng.choice((read_list, change_list))(rng, self.numbers)
        elif kind < 0.3:
            layout = rng.choice(self.layouts)
            assert layout.size == 6 and layout.T.T == layout == layout.unsqueeze(0).squeeze()
            self.layouts[rng.randrange(4)] = rng.choice((layout.T, Mtl.StridedLayout([2, 3])))
        else:
            try:
                if kind < 0.5:
                    self.slots[rng.randrange(N_SLOTS)] = derive(rng, view, array)
                else:
                    rng.choice(READING)(rng, view, array)
            except Exception:  # an empty view of bytes takes no complex numbers, and has no index
                if not closed(view):
                    raise

    def run(self, number):
        rng = random.Random(f"{SEED} {number}")
        self.start.wait()
        try:
            # Threads that had no turn have one when the others are done.
            while not self.errors and (self.n_done[number] < 10
                                       or time.monotonic() < self.deadline):
                self.do_one(rng)
                self.n_done[number] += 1
        except BaseException as error:
            self.errors.append(error)


@pytest.fixture
def quick_turns():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def test_what_eight_threads_share(quick_turns):
    work = Work()
    threads = [threading.Thread(target=work.run, args=[number]) for number in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    conftest.NOTES.append(f"{sum(work.n_done)} operations in {N_THREADS} threads that share views, "
                          f"with{'' if HAS_GIL else 'out'} the GIL")
    for error in work.errors:
        raise error
    assert all(work.n_done)


class Closing:
    """Five threads read the views that three make and close. With this many axes, a view allocates
    memory for its shape."""

    def __init__(self):
        self.array = np.arange(4096.0).reshape((2,) * 12)
        self.strides = tuple(stride // 8 for stride in self.array.strides)
        self.shared = Mtl.asview(self.array).copy()
        self.wrong, self.n_closed = [], 0
        self.start = time.monotonic()

    def goes_on(self):
        """True at least once, on a busy machine too."""
        seconds = conftest.SECONDS / 2 if self.n_closed else 60
        return not self.wrong and time.monotonic() < self.start + seconds

    def read(self):
        while self.goes_on():
            view = self.shared
            for _ in range(100):
                shape, strides = view.shape, view.strides
                if shape not in (self.array.shape, (0,)) or strides not in (self.strides, (1,)):
                    self.wrong.append((shape, strides))
            if bytes(view) not in (self.array.tobytes(), b""):
                self.wrong.append("bytes")

    def close(self):
        while self.goes_on():
            view = self.shared = Mtl.asview(self.array).copy()
            with contextlib.suppress(BufferError):  # in use
                self.n_closed += view.close() and closed(view)


def test_closing_what_others_read(quick_turns):
    work = Closing()
    threads = [threading.Thread(target=function) for function in 5 * [work.read] + 3 * [work.close]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not work.wrong and work.n_closed > 0


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="This Python has a GIL")
def test_the_gil_is_asked_for():
    """Unless the environment says that it must not be."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    program = ("import sys, gi; gi.require_version('Mtl', '1'); from gi.repository import Mtl; "
               "print(sys._is_gil_enabled())")
    result = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True,
                            text=True, timeout=60)
    assert result.stdout == "True\n", result.stderr
