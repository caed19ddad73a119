# SPDX-License-Identifier: LGPL-2.1-or-later
"""The cases that every client goes through: a file of a client imports them all,
and names its clients in CLIENTS."""

import gc
import itertools
import queue
import resource
import sys
import threading

import pytest
from gi.repository import Mtl

from client import (ABSENT, COPIES, DTYPES, HOST, IGNORED, PACKED, PARTS, WORKS, Converts, Refuses,
                    matrix, part_of_view)
from dlpack_structs import LEGACY, VERSIONED, Producer, capsule_name, floats

OUT, INTO = "From views to the client", "From the client's arrays to views"
ASKS = "How the client asks"
DTYPES_OUT, DTYPES_INTO = "Element types of views", "Element types of the client's arrays"

CAPSULES = {"a legacy capsule": {}, "a versioned capsule": {"max_version": (1, 3)}}
# The keywords that its arrays may be asked with.
REQUESTS = {
    "`__dlpack__()`": {},
    "`__dlpack__(stream=None)`": {"stream": None},
    "`__dlpack__(stream=-1)`": {"stream": -1},
    "`__dlpack__(max_version=(1, 3))`": {"max_version": (1, 3)},
    "`__dlpack__(dl_device=(1, 0))`": {"dl_device": (1, 0)},
    "`__dlpack__(copy=False)`": {"copy": False},
    "`__dlpack__(copy=True)`": {"copy": True},
}
IMPORTS = {
    "`Mtl.from_dlpack(x, device=(1, 0))`": {"device": (1, 0)},
    "`Mtl.from_dlpack(x, copy=False)`": {"copy": False},
    "`Mtl.from_dlpack(x, copy=True)`": {"copy": True},
}
READ_ONLY = "read-only"

# The outcomes expected of a client that names no others.
DEFAULTS = {
    ("part out", "negative strides"): COPIES,
    ("keywords", "copy=True"): COPIES,
    ("request", "`__dlpack__(copy=True)`"): COPIES,
    ("import", "`Mtl.from_dlpack(x, copy=True)`"): COPIES,
}

CASES = {
    "part out": lambda client: PARTS,
    "part in": lambda client: PARTS,
    "capsule": lambda client: CAPSULES,
    "keywords": lambda client: client.keywords,
    "request": lambda client: REQUESTS,
    "import": lambda client: IMPORTS,
    "dtype out": lambda client: DTYPES,
    "dtype in": lambda client: [name for name in client.dtypes
                                if client.dtypes_out.get(name, WORKS) in (WORKS, COPIES)],
}


def expectation(client, kind, case):
    if kind == "dtype out":
        return client.dtypes_out.get(case, WORKS if case in client.dtypes else client.foreign_dtype)
    if kind == "dtype in":
        return client.dtypes_into.get(case, WORKS)
    expected = client.out if kind in ("part out", "capsule", "keywords") else client.into
    return expected.get(case, DEFAULTS.get((kind, case), WORKS))


def of_kind(kind):
    """The test runs for each client and each of these cases that it has."""

    def mark(function):
        function.kind = kind
        return function

    return mark


def only_for(applies):
    """The test runs for the clients that it applies to."""

    def mark(function):
        function.applies = applies
        return function

    return mark


def has_arrays(client):
    return client.into.get("all of it") != ABSENT


def asks(client):
    return client.asks is not None


def refused(expected, call):
    """Checks that a call that has to be refused is refused; False if it should work."""
    if not isinstance(expected, Refuses):
        return False
    with pytest.raises(expected.error, match=expected.match) as info:
        call()
    assert type(info.value) is expected.error
    return True


def check_memory(expected, size, ours, theirs):
    if size > 0:
        assert (ours == theirs) == (expected in (WORKS, IGNORED))


def check_take(client, expected, view, call):
    if refused(expected, call):
        return
    array = call()
    assert client.values(array) == view.tolist()
    check_memory(expected, view.size, view.get_address(), client.address(array))


@of_kind("part out")
def test_parts_of_views(client, case, record):
    expected = expectation(client, "part out", case)
    view = part_of_view(case, matrix())

    check_take(client, expected, view, lambda: client.take(view))
    record(client, OUT, case, expected)


@of_kind("part in")
def test_parts_of_its_arrays(client, case, record):
    expected = expectation(client, "part in", case)
    array = client.part(case)

    if not refused(expected, lambda: client.give(array)):
        view = client.give(array)
        assert view.tolist() == client.values(array)
        assert view.tolist() == part_of_view(case, matrix()).tolist()
        check_memory(expected, view.size, client.address(array), view.get_address())
    record(client, INTO, case, expected)


class Relay:
    """Passes a view on as a producer of its own type, whose capsules are of the
    form that it is told, or that it is asked for."""

    def __init__(self, view, force=None):
        self.view, self.force, self.asked = view, force, []

    def __dlpack_device__(self):
        return self.view.__dlpack_device__()

    def __dlpack__(self, **keywords):
        self.asked.append(keywords)
        capsule = self.view.__dlpack__(**keywords if self.force is None else self.force)
        self.name = capsule_name(capsule)
        return capsule


@of_kind("capsule")
def test_either_form_of_capsule(client, case, record):
    expected = expectation(client, "capsule", case)
    relay = Relay(matrix(), CAPSULES[case])

    check_take(client, expected, relay.view, lambda: client.take(relay))
    assert relay.name == (VERSIONED if CAPSULES[case] else LEGACY)
    record(client, OUT, case, expected)


@only_for(asks)
def test_what_it_asks_with(client, record):
    relay = Relay(matrix())
    client.take(relay)

    assert relay.asked == client.asks
    calls = [", ".join(f"{name}={value}" for name, value in sorted(keywords.items()))
             for keywords in relay.asked]
    record(client, ASKS, "calls", " then ".join(f"`__dlpack__({call})`" for call in calls))


@only_for(asks)
def test_whether_it_reads_the_exchange_api(client, record):
    class WithApi(Relay):
        __dlpack_c_exchange_api__ = Mtl.StridedView.__dlpack_c_exchange_api__

    exporter = WithApi(matrix())
    if client.reads_exchange_api:
        with pytest.raises(Exception, match="WithApi"):  # the functions know views only
            client.take(exporter)
        assert not exporter.asked
    else:
        client.take(exporter)
        assert exporter.asked
    record(client, ASKS, "C exchange API of a type",
           "used" if client.reads_exchange_api else "not used")


@of_kind("keywords")
def test_its_own_keywords(client, case, record):
    expected = expectation(client, "keywords", case)
    view = matrix()
    if "negative strides" in case:
        view = view[::-1]

    check_take(client, expected, view, lambda: client.take(view, **client.keywords[case]))
    record(client, OUT, case, expected)


@of_kind("request")
def test_how_its_arrays_may_be_asked_for(client, case, record):
    expected = expectation(client, "request", case)
    array = client.part("all of it")
    if not refused(expected, lambda: array.__dlpack__(**REQUESTS[case])):
        view = Mtl.from_dlpack(array.__dlpack__(**REQUESTS[case]))
        assert view.tolist() == matrix().tolist()
        check_memory(expected, view.size, client.address(array), view.get_address())
    record(client, INTO, case, expected)


@of_kind("import")
def test_importing_with_keywords(client, case, record):
    expected = expectation(client, "import", case)
    array = client.part("all of it")
    if not refused(expected, lambda: client.give(array, **IMPORTS[case])):
        view = client.give(array, **IMPORTS[case])
        assert view.tolist() == matrix().tolist()
        check_memory(expected, view.size, client.address(array), view.get_address())
    record(client, INTO, case, expected)


@only_for(lambda client: client.out.get(READ_ONLY) != ABSENT)
def test_read_only_views(client, record):
    expected = client.out.get(READ_ONLY, WORKS)
    view = matrix().as_read_only()

    if not refused(expected, lambda: client.take(view)):
        array = client.take(view)
        assert client.values(array) == view.tolist()
        assert (client.address(array) == view.get_address()) == (expected != COPIES)
        assert client.is_writable(array) == (expected != WORKS)
    record(client, OUT, READ_ONLY, expected)


@only_for(lambda client: client.into.get(READ_ONLY) != ABSENT)
def test_its_read_only_arrays(client, record):
    expected = client.into.get(READ_ONLY, WORKS)
    array = client.read_only(client.part("all of it"))

    if not refused(expected, lambda: client.give(array)):
        view = client.give(array)
        assert view.tolist() == matrix().tolist()
        assert view.is_read_only() == (expected == WORKS)
    record(client, INTO, READ_ONLY, expected)


def test_writes_are_seen_on_both_sides(client, record):
    view = matrix()
    array = client.take(view)
    shared = client.sees_writes()

    view[0, 0] = 70
    assert client.values(array)[0][0] == (70 if shared else 0)
    if client.writable:
        client.write(array, 80)
        assert view[0, 0] == (80 if shared else 70)
    record(client, OUT, "writes are seen", "both ways" if shared and client.writable
           else "by the client" if shared else "no: a copy")


@only_for(lambda client: has_arrays(client) and not client.constant)
def test_writes_to_its_arrays(client, record):
    array = client.part("all of it")
    view = client.give(array)
    shared = client.into.get("all of it", WORKS) == WORKS

    if client.writable:
        client.write(array, 90)
        assert view[0, 0] == (90 if shared else 0)
    view[0, 0] = 60
    assert client.values(array)[0][0] == (60 if shared else 90 if client.writable else 0)
    record(client, INTO, "writes are seen", "both ways" if shared and client.writable
           else "by the client" if shared else "no: a copy")


def delete_in_order(holders, order, expected, values):
    """Each that is left holds its elements, however many have gone."""
    for gone in order:
        holders[gone] = None
        gc.collect()
        junk = [matrix() for _ in range(10)]  # reuses memory that was freed too early
        for i, holder in enumerate(holders):
            if holder is not None:
                assert values[i](holder) == expected
        del junk


def holders_of(client, view):
    """The view, the client's array of it, and a view of that, if there is such."""
    array = client.take(view)
    holders, values = [view, array], [lambda v: v.tolist(), client.values]
    if has_arrays(client):
        holders.append(client.give(array))
        values.append(values[0])
    return holders, values


def test_every_order_of_deletion(client):
    def run(order):
        producer = Producer(floats(*range(24)), (4, 6), (6, 1))
        view = Mtl.from_dlpack(producer)
        holders, values = holders_of(client, view)
        expected = view.tolist()
        del view
        delete_in_order(holders, order, expected, values)
        assert producer.deleted == 1

    n = len(holders_of(client, matrix())[0])
    for order in itertools.permutations(range(n)):
        run(order)


def takes_back(client):
    """True if views of its arrays can go out to it: legacy tensors cannot be constant."""
    return not (client.constant and isinstance(client.out.get(READ_ONLY), Refuses))


@only_for(has_arrays)
def test_every_order_of_deletion_of_its_arrays(client):
    expected = matrix().tolist()
    for order in itertools.permutations(range(2 + takes_back(client))):
        array = client.part("all of it")
        view = client.give(array)
        holders = [array, view]
        if takes_back(client):
            holders.append(client.take(view))
        del array, view
        delete_in_order(holders, order, expected,
                        [client.values, lambda v: v.tolist(), client.values])


@only_for(lambda client: has_arrays(client) and not takes_back(client))
def test_views_of_its_arrays_go_back_as_copies(client):
    view = client.give(client.part("all of it"))

    with pytest.raises(BufferError, match="read-only"):
        client.take(view)
    assert client.values(client.take(view.copy())) == view.tolist()


def resident():
    """The most memory that the process has ever had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
        1 if sys.platform == "darwin" else 1024)


def test_memory_is_given_back(client):
    def exchange():
        view = Mtl.StridedView.new_filled(HOST, Mtl.DType.FLOAT32, [512, 512], 1)
        holders_of(client, view)

    for _ in range(20):
        exchange()
    before = resident()
    for _ in range(1000):
        exchange()
    assert resident() - before < 100 * 2**20  # 1000 MiB went through


def test_threads(client):
    """Arrays are made on some threads, and end on others."""
    made, failures = queue.Queue(maxsize=64), []
    shared = matrix()
    expected = shared.tolist()

    def make():
        try:
            for _ in range(200):
                own = matrix()
                for view in (own, shared):
                    made.put(holders_of(client, view))
        except Exception as error:
            failures.append(error)
        made.put(None)

    def end():
        while (item := made.get()) is not None:
            try:
                holders, values = item
                for holder, value in zip(holders, values):
                    assert value(holder) == expected
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=target) for target in [make, end] * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@of_kind("dtype out")
def test_element_types(client, case, record):
    expected = expectation(client, "dtype out", case)
    view = matrix(case, (2, 8))

    if not refused(expected, lambda: client.take(view)):
        array = client.take(view)
        if isinstance(expected, Converts):
            numbers = matrix().to_dtype(Mtl.DType.from_string(case))
            assert client.dtype_of(array) == client.dtypes[expected.name]
            assert client.values(client.take(numbers)) == matrix().tolist()
        else:
            assert client.dtype_of(array) == client.dtypes.get(case, case)
            assert (client.address(array) == view.get_address()) == (expected == WORKS)
            if expected == COPIES and case in PACKED:  # as a byte for each
                assert client.values(array) == view.tolist()
            else:
                assert client.bytes_of(array, view.nbytes) == bytes(view.get_buffer())
    record(client, DTYPES_OUT, case, expected)


@of_kind("dtype in")
def test_element_types_of_its_arrays(client, case, record):
    expected = expectation(client, "dtype in", case)
    array = client.clone(client.take(matrix(case, (2, 8))))

    if not refused(expected, lambda: client.give(array)):
        view = client.give(array)
        assert view.dtype.name == case and view.shape == (2, 8)
        assert bytes(view.get_buffer()) == bytes(matrix(case, (2, 8)).get_buffer())
        check_memory(expected, view.size, client.address(array), view.get_address())
    record(client, DTYPES_INTO, case, expected)
