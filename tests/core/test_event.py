# SPDX-License-Identifier: LGPL-2.1-or-later
"""Events order what threads, queues and libraries do."""

import errno
import threading
import time

import pytest
from gi.repository import Gio, GLib, Mtl

from conftest import DEFAULT, iota
from says import says

SECOND = 1_000_000  # in microseconds


@pytest.fixture(params=Mtl.Device.list(), ids=Mtl.Device.get_name)
def event(request):
    return Mtl.Event.new(request.param)


def later(function, *args):
    timer = threading.Timer(0.05, function, args)
    timer.start()
    return timer


def wait_in_loop(event, value, timeout, cancellable=None):
    """Waits asynchronously, and returns the result."""
    loop, results = GLib.MainLoop(), []

    def done(source, result):
        results.append(result)
        loop.quit()

    event.wait_async(value, timeout, cancellable, done)
    assert not results
    loop.run()
    return event.wait_finish(results[0])


def test_starts_at_0_and_only_grows(event):
    assert event.get_signaled_value() == event.props.signaled_value == 0
    for signaled, value in ((3, 3), (2, 3), (3, 3), (2**64 - 1, 2**64 - 1), (4, 2**64 - 1)):
        event.signal(signaled)
        assert event.get_signaled_value() == value


def test_is_of_a_device():
    for device in Mtl.Device.list():
        event = Mtl.Event.new(device)
        assert event.get_device() is event.props.device is device
        assert Mtl.Event(device=device).get_device() is device
    assert Mtl.Event.new(None).get_device() is Mtl.Event().get_device() is DEFAULT


def test_waits_for_what_is_reached(event):
    event.signal(5)

    for value in (0, 4, 5):
        assert event.wait(value, 0, None) and event.wait(value, -1, None)
        assert wait_in_loop(event, value, -1)


@pytest.mark.parametrize("wait", [Mtl.Event.wait, wait_in_loop])
def test_waits_until_it_is_reached(event, wait):
    timer = later(event.signal, 7)

    assert wait(event, 7, -1, None)
    assert event.get_signaled_value() == 7
    timer.join()


def test_the_loop_turns_while_it_waits(event):
    GLib.timeout_add(20, event.signal, 1)

    assert wait_in_loop(event, 1, 10 * SECOND)


@pytest.mark.parametrize("wait", [Mtl.Event.wait, wait_in_loop])
@pytest.mark.parametrize("timeout", [0, SECOND // 20])
def test_waits_no_longer_than_told(event, wait, timeout):
    event.signal(1)
    begin = time.monotonic()

    with pytest.raises(TimeoutError, match=says(2)) as info:
        wait(event, 2, timeout, None)
    assert info.value.errno == errno.ETIMEDOUT
    assert info.value.__cause__.matches(Gio.io_error_quark(), Gio.IOErrorEnum.TIMED_OUT)
    assert time.monotonic() - begin >= timeout / SECOND


@pytest.mark.parametrize("wait", [Mtl.Event.wait, wait_in_loop])
def test_waits_can_be_cancelled(event, wait):
    cancellable = Gio.Cancellable()
    timer = later(cancellable.cancel)

    with pytest.raises(GLib.Error) as info:
        wait(event, 1, -1, cancellable)
    assert info.value.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED)
    assert event.get_signaled_value() == 0
    timer.join()


def test_many_threads_wait(event):
    order, lock = [], threading.Lock()

    def work(value):
        event.wait(value, -1, None)
        with lock:
            order.append(value)
        event.signal(value + 1)

    threads = [threading.Thread(target=work, args=[value]) for value in (4, 2, 3, 1)]
    for thread in threads:
        thread.start()
    event.signal(1)
    for thread in threads:
        thread.join()
    assert order == [1, 2, 3, 4] and event.get_signaled_value() == 5
