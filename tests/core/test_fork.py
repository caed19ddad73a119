# SPDX-License-Identifier: LGPL-2.1-or-later
"""Children that are forked while other threads copy."""

import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "darwin",
                                reason="the system's frameworks do not work in forks")

PREAMBLE = """
import os, signal, sys, threading
import gi
gi.require_version("Mtl", "1")
from gi.repository import GLib, Mtl

Mtl.set_max_threads(8)
host = Mtl.Device.get_host()
N = 2 ** 21
source = Mtl.asview(bytes(range(256)) * (N // 256))
kept = Mtl.asview(bytearray(b"kept"))
event = Mtl.Event.new(host)
is_over = False

def work():
    return Mtl.StridedView.new_zeros(host, Mtl.DType.UINT8, [N])

def copy_often():
    copy = work()
    while not is_over:
        copy.copy_from(source)

def check():
    copy = work()
    copy.copy_from(source)
    assert bytes(copy[-300:]) == bytes(source[-300:])
    assert bytes(source[:1000].to_dtype(Mtl.DType.INT16)[::2]) == b"".join(
        (i % 256).to_bytes(2, sys.byteorder) for i in range(0, 1000, 2))
    assert Mtl.from_dlpack(copy)[257] == 1
    assert memoryview(copy)[258] == 2
    assert Mtl.asview(bytearray(b"abc")).tolist() == [97, 98, 99]
    copy[3] = 77
    assert copy[3] == 77
    value = event.get_signaled_value() + 1
    thread = threading.Thread(target=event.signal, args=(value,))
    thread.start()
    assert event.wait(value, -1, None)
    thread.join()

def check_async():
    context = GLib.MainContext.new()
    context.push_thread_default()
    copy, results = work(), []
    copy.copy_from_async(source, None, None, lambda view, result: results.append(result))
    while not results:
        context.iteration(True)
    context.pop_thread_default()
    assert copy.copy_from_finish(results[0]) and copy[257] == 1

def start_loads():
    threads = [threading.Thread(target=copy_often, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    return threads

def end_loads(threads):
    global is_over
    is_over = True
    for thread in threads:
        thread.join()

def begin_child():
    child = os.fork()
    if child == 0:
        signal.alarm(20)
    return child

def end_child(child):
    assert os.waitpid(child, 0)[1] == 0
"""

PROGRAMS = {
    "_exit": """
        threads = start_loads()
        for _ in range(25):
            child = begin_child()
            if child == 0:
                try:
                    check()
                    check_async()
                    os._exit(0)
                finally:
                    os._exit(1)
            end_child(child)
        end_loads(threads)
        """,
    "exit": """
        threads = start_loads()
        for _ in range(8):
            child = begin_child()
            if child == 0:
                check()
                sys.exit(0)
            end_child(child)
        end_loads(threads)
        """,
    "objects of the parent": """
        threads = start_loads()
        view, buffer = source[5:], Mtl.Buffer.new_uninitialized(None, 100, Mtl.StorageMode.HOST)
        child = begin_child()
        if child == 0:
            del source, kept, event, view, buffer
            sys.exit(0)
        end_child(child)
        end_loads(threads)
        assert bytes(kept) == b"kept" and view[0] == 5
        """,
    "after asynchronous calls": """
        check_async()
        child = begin_child()
        if child == 0:
            check_async()
            sys.exit(0)
        end_child(child)
        """,
    "multiprocessing": """
        import multiprocessing

        def sum_of(i):
            check()
            return sum(source[i * 10:(i + 1) * 10].tolist())

        threads = start_loads()
        with multiprocessing.get_context("fork").Pool(4, signal.alarm, (20,)) as pool:
            assert pool.map(sum_of, range(20)) == [sum(range(i * 10, i * 10 + 10))
                                                   for i in range(20)]
        end_loads(threads)
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_children(name):
    program = PREAMBLE + textwrap.dedent(PROGRAMS[name]) + "\nprint('ended well')\n"
    # GSlice has a lock that GLib does not make new.
    env = {**os.environ, "G_SLICE": "always-malloc"}
    result = subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", program],
                            env=env, capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stdout, result.stderr) == (0, "ended well\n", "")
