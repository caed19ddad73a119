# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: scenarios.py SCENARIO [METHOD]: plays what two or more processes do with shared tensors, in
a process that has no other threads. The tests run this, and kill what is left of it.
"""

import concurrent.futures
import dataclasses
import multiprocessing
import os
import sys
import time

import gi

gi.require_version("Mtl", "1")

import numpy as np  # noqa: E402
from gi.repository import Mtl  # noqa: E402

SECONDS = float(os.environ.get("MTL_TEST_SECONDS", 60))
PATIENCE = 60


@dataclasses.dataclass
class Frame:
    number: int
    pixels: object
    parts: list


def is_shared(view):
    return view.get_buffer().is_interprocess()


def refuses_writes(view):
    try:
        view[...] = 0
    except ValueError:
        array = np.asarray(view)
        return view.is_read_only() and not array.flags.writeable
    return False


def describe(view):
    return np.asarray(view).tolist(), view.dtype.name, view.strides, is_shared(view), \
        refuses_writes(view)


def n_fds():
    return len(os.listdir("/proc/self/fd"))


def n_mappings():
    with open("/proc/self/maps") as maps:
        return sum("/memfd:mtldl" in line for line in maps)


def wait_for(condition):
    """Waits until it holds, as a descriptor is closed when its thread has its turn."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never holds"
        time.sleep(0.01)


# Other processes


def answer_pipe(pipe):
    """Describes what comes, and what it has kept."""
    kept = None
    while (message := pipe.recv()) is not None:
        if isinstance(message, str):
            pipe.send({"again": lambda: describe(kept), "back": lambda: kept,
                       "open": lambda: (n_fds(), n_mappings())}[message]())
        elif isinstance(message, Frame):
            pipe.send((message.number, describe(message.pixels),
                       [describe(part) for part in message.parts], n_mappings()))
        elif isinstance(message, list):
            pipe.send(len(message))
        else:
            kept = message
            pipe.send(describe(kept))
        del message


def answer_queue(views, answers):
    while (view := views.get(timeout=PATIENCE)) is not None:
        answers.put((describe(view), view))


def describe_argument(view, answers):
    answers.put(describe(view))


def send_and_end(pipe):
    pipe.send(Mtl.arange(5, shared=True))
    os._exit(0)


def total(view):
    return int(np.asarray(view).sum()), is_shared(view)


def double(view):
    result = Mtl.array(np.asarray(view) * 2, shared=True)
    return {"result": result}


class Child:
    """A process that ends with its context."""

    def __init__(self, method, target, *args):
        self.process = multiprocessing.get_context(method).Process(target=target, args=args,
                                                                   daemon=True)

    def __enter__(self):
        self.process.start()
        return self.process

    def __exit__(self, kind, error, traceback):
        if error is None:
            self.process.join(PATIENCE)
            assert self.process.exitcode is not None, "the child did not end"
        else:
            self.process.kill()


# The scenarios


def play_pipe(method):
    ours, theirs = multiprocessing.get_context(method).Pipe()
    view = Mtl.arange(12, dtype="i4", shared=True).reshape(3, 4)
    with Child(method, answer_pipe, theirs):
        for part in (view, view[1:, ::2], view.T, view[::-1], view[:1].broadcast_to(3, 4),
                     view[2:, 1], view.as_read_only()):
            ours.send(part)
            assert ours.recv() == (np.asarray(part).tolist(), "int32", part.strides, True, True)

        # The owner's later write is seen.
        ours.send(view)
        ours.recv()
        view[1, 2] = 70
        ours.send("again")
        assert ours.recv()[0] == [[0, 1, 2, 3], [4, 5, 70, 7], [8, 9, 10, 11]]

        # The receiver passes it on.
        ours.send("back")
        back = ours.recv()
        view[0, 0] = 50
        assert is_shared(back) and refuses_writes(back) and back[0, 0] == 50

        # All others are copied.
        ours.send(Mtl.array([[1, 2]], "i4"))
        assert ours.recv()[3:] == (False, False)
        ours.send(None)


def play_nested(method):
    ours, theirs = multiprocessing.get_context(method).Pipe()
    view = Mtl.arange(2000, shared=True)
    other = Mtl.ones(3, shared=True)
    with Child(method, answer_pipe, theirs):
        ours.send("open")
        before = ours.recv()[1]
        frame = Frame(3, view[:3], [view[10:12], other, Mtl.zeros(1), view[::-500]])
        ours.send(frame)
        number, pixels, parts, n = ours.recv()
        assert number == 3 and pixels == ([0, 1, 2], "int64", (1,), True, True)
        assert [part[0] for part in parts] == [[10, 11], [1, 1, 1], [0], [1999, 1499, 999, 499]]
        assert [part[3] for part in parts] == [True, True, False, True]
        assert n - before == 2, f"{n - before} mappings of two buffers"
        ours.send(None)


def play_queue(method):
    context = multiprocessing.get_context(method)
    views, answers = context.Queue(), context.Queue()
    view = Mtl.arange(6, dtype="u2", shared=True)
    with Child(method, answer_queue, views, answers):
        for part in (view, view[::2], view[:0], Mtl.zeros(2, "u2")):
            views.put(part)
            told, back = answers.get(timeout=PATIENCE)
            assert told[0] == part.tolist() == back.tolist()
            assert told[3] == is_shared(part) == is_shared(back)
        views.put(None)


def play_argument(method):
    context = multiprocessing.get_context(method)
    answers, view = context.Queue(), Mtl.arange(5, shared=True)
    with Child(method, describe_argument, view, answers):
        values, name, strides, shared, refused = answers.get(timeout=PATIENCE)
    assert values == [0, 1, 2, 3, 4] and shared
    # A forked child has the memory itself.
    assert refused == (method != "fork")
    assert view.tolist() == ([0] * 5 if method == "fork" else [0, 1, 2, 3, 4])


def play_pool(method):
    context = multiprocessing.get_context(method)
    views = [Mtl.full(1000, i, "i4", shared=True) for i in range(20)]
    with context.Pool(2) as pool:
        results = pool.map_async(total, views, chunksize=3).get(PATIENCE)
        assert results == [(1000 * i, True) for i in range(20)]
        made = pool.apply_async(double, (views[7],)).get(PATIENCE)["result"]
        assert is_shared(made) and refuses_writes(made) and made[999] == 14
        pool.close()
        pool.join()
    assert made[0] == 14  # the memory outlives its process


def play_executor(method):
    context = multiprocessing.get_context(method)
    views = [Mtl.full((10, 10), i, shared=True) for i in range(10)]
    with concurrent.futures.ProcessPoolExecutor(2, context) as executor:
        assert list(executor.map(total, views, timeout=PATIENCE)) == [
            (100 * i, True) for i in range(10)]
        made = executor.submit(double, views[3][::2]).result(PATIENCE)["result"]
        assert is_shared(made) and made.shape == (5, 10) and made[4, 9] == 6


def play_ended_sender(method):
    ours, theirs = multiprocessing.get_context(method).Pipe()
    with Child(method, send_and_end, theirs) as process:
        process.join(PATIENCE)
    try:
        ours.recv()
    except RuntimeError as error:
        assert isinstance(error.__cause__, OSError), repr(error.__cause__)
    else:
        raise AssertionError("memory came from nowhere")


def play_messages(method):
    """Nothing is left of 10,000 messages, or of as many as there is time for."""
    ours, theirs = multiprocessing.get_context(method).Pipe()
    view = Mtl.zeros((100, 100), shared=True)

    def count():
        ours.send("open")
        return n_fds(), n_mappings(), *ours.recv()

    def exchange():
        ours.send([view, view.T])
        ours.recv()
        ours.send(view)
        ours.recv()

    with Child(method, answer_pipe, theirs):
        for _ in range(20):
            exchange()
        before, end = count(), time.monotonic() + SECONDS
        for n in range(5000):
            exchange()
            if n > 50 and time.monotonic() > end:
                break
        wait_for(lambda: all(now <= then for now, then in zip(count(), before)))
        ours.send(None)
    print(f"{2 * n} messages")


def main(name, *arguments):
    globals()[f"play_{name}"](*arguments)
    print("ended well")


if __name__ == "__main__":
    main(*sys.argv[1:])
