# SPDX-License-Identifier: LGPL-2.1-or-later
"""Imports through the C exchange API of the producer's type."""

import ctypes
import gc
import sys
import sysconfig
import weakref

import exchange_consumer
import hostile_producer
import pytest
from gi.repository import Mtl

from dlpack_structs import DELETER, ExchangeApi, Producer, api, floats
from says import says

FROM_OBJECT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))
KEPT = []
NAMES = ["__dlpack_c_exchange_api__", "__c_dlpack_exchange_api__"]


def capsule_of(export, major=1, prev_api=None, name=b"dlpack_exchange_api"):
    """Such an API, which like all of them lives for good."""
    table = ExchangeApi(major=major, minor=3, prev_api=prev_api,
                        managed_from=ctypes.cast(FROM_OBJECT(export),
                                                 dict(ExchangeApi._fields_)["managed_from"]))
    KEPT.append((table, export, table.managed_from))
    return api.PyCapsule_New(ctypes.addressof(table), name, None)


def give(exporter, out):
    """Acts as a type with such an API does, in C where it is a real one."""
    exporter.exchanges += 1
    exporter.alive.add(exporter)
    out[0] = ctypes.addressof(exporter.managed)
    return 0


class Exchanger(Producer):
    exchanges = 0
    calls = 0

    def __dlpack__(self, **keywords):
        self.calls += 1
        self.keywords = keywords
        return super().__dlpack__(**keywords)


def exchanging(name=NAMES[0], capsule=None, export=give):
    """A class of its own, as the tests change its attributes."""
    return type("Own", (Exchanger,), {name: capsule or capsule_of(export)})


@pytest.mark.parametrize("name", NAMES)
def test_the_types_api_is_taken(name):
    producer = exchanging(name)(floats(1, 2, 3), (3,))
    view = Mtl.from_dlpack(producer)

    assert view.tolist() == [1, 2, 3]
    assert (producer.exchanges, producer.calls, producer.deleted) == (1, 0, 0)
    view[0] = 9
    assert producer.memory[0] == 9
    del view
    assert producer.deleted == 1


def test_asview_takes_it_too():
    producer = exchanging()(floats(1), (1,))

    assert Mtl.asview(producer).tolist() == [1] and producer.exchanges == 1


@pytest.mark.parametrize("keywords, passed", [
    ({"copy": False}, {"copy": False}), ({"device": (1, 0)}, {"dl_device": (1, 0)}),
    ({"copy": True, "device": (1, 0)}, {"copy": True, "dl_device": (1, 0)})])
def test_what_it_cannot_be_asked_goes_the_protocols_way(keywords, passed):
    producer = exchanging()(floats(1), (1,))
    view = Mtl.from_dlpack(producer, **keywords)

    assert (producer.exchanges, producer.calls) == (0, 1)
    assert producer.keywords.items() >= passed.items()
    assert view.tolist() == [1]


def test_a_type_may_change():
    cls = exchanging()
    producers = [cls(floats(i), (1,)) for i in range(5)]

    views = [Mtl.from_dlpack(producers[0])]
    delattr(cls, NAMES[0])
    views.append(Mtl.from_dlpack(producers[1]))
    setattr(cls, NAMES[0], capsule_of(lambda exporter, out: give(producers[4], out)))
    views.append(Mtl.from_dlpack(producers[2]))
    setattr(cls, NAMES[0], None)
    views.append(Mtl.from_dlpack(producers[3]))
    assert [view.tolist() for view in views] == [[0], [1], [4], [3]]
    assert [producer.calls for producer in producers] == [0, 1, 0, 1, 0]


def test_a_base_may_change():
    cls = exchanging()
    sub = type("Sub", (cls,), {})
    first, second = (sub(floats(1), (1,)) for _ in range(2))

    Mtl.from_dlpack(first)
    delattr(cls, NAMES[0])
    Mtl.from_dlpack(second)
    assert (first.exchanges, first.calls) == (1, 0)
    assert (second.exchanges, second.calls) == (0, 1)


def test_an_instances_attribute_is_none_of_its_type():
    producer = Exchanger(floats(1), (1,))
    setattr(producer, NAMES[0], capsule_of(give))

    Mtl.from_dlpack(producer)
    assert (producer.exchanges, producer.calls) == (0, 1)


@pytest.mark.skipif(sysconfig.get_config_var("Py_GIL_DISABLED") == 1 and sys.version_info < (3, 14),
                    reason="Without a GIL, Python 3.13 keeps each class once there are threads")
def test_types_are_not_kept_alive():
    cls = exchanging()
    Mtl.from_dlpack(cls(floats(1), (1,)))
    reference = weakref.ref(cls)

    del cls
    gc.collect()
    assert reference() is None


def test_a_refusal_is_asked_again_in_python():
    capsule = exchange_consumer.refusing_api(RuntimeError)
    producer = exchanging(capsule=capsule)(floats(1), (1,))

    assert Mtl.from_dlpack(producer).tolist() == [1] and producer.calls == 1


def test_what_ends_a_program_is_no_refusal():
    capsule = exchange_consumer.refusing_api(KeyboardInterrupt)
    producer = exchanging(capsule=capsule)(floats(1), (1,))

    with pytest.raises(KeyboardInterrupt, match="refused"):
        Mtl.from_dlpack(producer)
    assert producer.calls == 0


def test_a_failure_without_an_exception():
    producer = exchanging(export=lambda exporter, out: -1)(floats(1), (1,))

    assert Mtl.from_dlpack(producer).tolist() == [1] and producer.calls == 1


def hostile(versions=((1, 3, True),), next_of_last=-1, name=NAMES[0]):
    """A producer whose type has such a list of structs, and counts how often it is asked in
    Python."""
    class Own(hostile_producer.Producer):
        calls = 0

        def __dlpack__(self, **keywords):
            self.calls += 1
            return self.capsule()

    setattr(Own, name, hostile_producer.exchange_api(list(versions), next_of_last))
    memory = floats(1, 2, 3)
    producer = Own(False, (1, 3), 0, ctypes.addressof(memory), (1, 0), 1, (2, 32, 1), (3,), None,
                   0, True, False)
    producer.memory = memory
    return producer


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("versions, next_of_last", [
    ([(1, 3, False)], -1),  # no function
    ([(2, 0, True)], -1), ([(2, 0, True)] * 3, 0), ([(2, 0, True)] * 3, 2),  # round in a circle
    ([(0, 9, True), (2**32 - 1, 0, True)], 0), ([(1, 3, False), (2, 0, False)], 0),
    ([(2**32 - 1 - i, 0, True) for i in range(100_000)], -1)])
def test_an_api_that_is_of_no_use(name, versions, next_of_last):
    producer = hostile(versions, next_of_last, name)

    assert Mtl.from_dlpack(producer).tolist() == [1, 2, 3]
    assert (producer.calls, producer.n_exported, producer.n_deleted) == (1, 1, 1)


def test_an_older_struct_with_the_function():
    producer = hostile([(2, 1, False), (1, 9, False), (1, 3, True)])

    assert Mtl.from_dlpack(producer).tolist() == [1, 2, 3]
    assert (producer.calls, producer.n_exported, producer.n_deleted) == (0, 1, 1)


@pytest.mark.parametrize("status, gives, exception, deleted", [
    (0, False, None, 0), (0, False, ValueError, 0), (0, True, ValueError, 1),
    (-1, False, None, 0), (-1, False, ValueError, 0), (7, False, None, 0),
    (-2**31, False, MemoryError, 0)])
def test_an_answer_that_contradicts_itself(status, gives, exception, deleted):
    """A tensor that came with an exception goes back, and __dlpack__() is asked."""
    producer = hostile()
    producer.status, producer.gives, producer.exception = status, gives, exception

    view = Mtl.from_dlpack(producer)
    assert view.tolist() == [1, 2, 3]
    assert (producer.calls, producer.n_exported, producer.n_deleted) == (1, 1 + gives, deleted)
    del view
    assert producer.n_deleted == 1 + deleted


@pytest.mark.parametrize("gives", [False, True])
@pytest.mark.parametrize("exception", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_does_so_with_success_too(gives, exception):
    producer = hostile()
    producer.gives, producer.exception = gives, exception

    with pytest.raises(exception, match="as told"):
        Mtl.from_dlpack(producer)
    assert (producer.calls, producer.n_exported, producer.n_deleted) == (0, gives, gives)


@pytest.mark.parametrize("attribute", [None, 3, "dlpack_exchange_api", object(), [1]])
def test_what_is_no_capsule_is_no_api(attribute):
    producer = hostile()
    for name in NAMES:
        setattr(type(producer), name, attribute)

    assert Mtl.from_dlpack(producer).tolist() == [1, 2, 3] and producer.calls == 1


@pytest.mark.parametrize("major, minor", [(2, 0), (3, 7)])
def test_an_exported_tensor_of_another_version(major, minor):
    producer = exchanging()(floats(1), (1,), version=(major, minor))

    with pytest.raises(BufferError, match=says(f"{major}.{minor}")):
        Mtl.from_dlpack(producer)
    assert (producer.exchanges, producer.calls, producer.deleted) == (1, 0, 1)


def test_an_api_of_another_version_leads_to_an_older_one():
    cls = exchanging()
    older = api.PyCapsule_GetPointer(getattr(cls, NAMES[0]), b"dlpack_exchange_api")
    setattr(cls, NAMES[0], capsule_of(lambda *unused: 1 / 0, major=2, prev_api=older))
    producer = cls(floats(1), (1,))

    assert Mtl.from_dlpack(producer).tolist() == [1] and producer.exchanges == 1
    setattr(cls, NAMES[0], capsule_of(lambda *unused: 1 / 0, major=2))
    producer = cls(floats(2), (1,))
    assert Mtl.from_dlpack(producer).tolist() == [2] and producer.calls == 1


def test_another_capsule_is_no_api():
    producer = exchanging(capsule=capsule_of(give, name=b"something_else"))(floats(1), (1,))

    assert Mtl.from_dlpack(producer).tolist() == [1]
    assert (producer.exchanges, producer.calls) == (0, 1)


@pytest.mark.parametrize("fields", [{"device": (2, 0)}, {"code": 5, "bits": 64}])
def test_devices_and_complex_numbers_go_the_protocols_way(fields):
    producer = exchanging()(floats(1, 2), (1,), **fields)

    Mtl.from_dlpack(producer)
    assert (producer.exchanges, producer.calls) == (1, 1)
    assert producer.deleted == 2  # the exchanged one, and the view's


@pytest.mark.parametrize("device_type", [-1, -2**31, 2**31 - 1])
@pytest.mark.parametrize("keywords", [{}, {"copy": True}, {"copy": False}, {"device": (2, 0)}])
def test_device_types_that_there_are_not(device_type, keywords):
    producer = exchanging()(floats(1), (1,), device=(device_type, 0))

    try:
        view = Mtl.from_dlpack(producer, **keywords)
        assert view.__dlpack_device__()[0] == device_type and not keywords.get("copy")
        del view
    except BufferError as error:
        assert str(error)
    assert producer.deleted == producer.exchanges + producer.calls


def test_a_tensor_without_a_deleter():
    producer = exchanging()(floats(1), (1,), deleter=False)

    assert Mtl.from_dlpack(producer).tolist() == [1]


def test_real_producers():
    view = Mtl.asview([1, 2, 3])

    assert Mtl.from_dlpack(view).get_address() == view.get_address()
    assert Mtl.from_dlpack(view[::-1]).tolist() == [3, 2, 1]
    assert Mtl.from_dlpack(view.as_read_only()).is_read_only()
