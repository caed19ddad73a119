# SPDX-License-Identifier: LGPL-2.1-or-later
"""The streams of CUDA and ROCm, whose memory is passed on and never touched if there is no driver."""

import pytest
from gi.repository import Mtl

from conftest import zeros
from dlpack_structs import Producer, capsule_name, floats, managed_of
from says import says
from test_exchange_import import exchanging

CUDA, PINNED, ROCM, ROCM_HOST, MANAGED, ONEAPI = 2, 3, 10, 11, 13, 14
POINTER = 0x7f0000000000  # never read
HANDLE = 0x55d5c0ffee00
V1 = {"max_version": (1, 3)}

CUDA_STREAMS = [None, -1, 1, 2, 3, HANDLE, 2**63, 2**64 - 1]
ROCM_STREAMS = [None, -1, 0, 3, HANDLE, 2**64 - 1]
NO_STREAMS = [None, -1]
# Consumers of CUDA send their streams for the host's memory, too.
OF_CUDA = [CUDA, MANAGED, 1, PINNED]
ALLOWED = {**dict.fromkeys(OF_CUDA, CUDA_STREAMS), ROCM: ROCM_STREAMS,
           **dict.fromkeys([ROCM_HOST, ONEAPI, 77], NO_STREAMS)}
REFUSED = {**dict.fromkeys(OF_CUDA, [0, -2, -2**63, 2**64, 10**5000]),
           ROCM: [1, 2, -2, 2**64, -10**5000]}


class Records(Producer):
    """A producer that records the calls in order."""

    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self.asked = []

    def __dlpack_device__(self):
        self.asked.append("device")
        return super().__dlpack_device__()

    def __dlpack__(self, **keywords):
        self.asked.append(keywords)
        return super().__dlpack__()


def memory_of(kind, ordinal=0):
    if kind in (1, PINNED, ROCM_HOST, MANAGED):
        return Producer(floats(*range(12)), (4, 3), device=(kind, ordinal))
    return Producer(POINTER, (4, 3), device=(kind, ordinal))


def refusals():
    for kind in ALLOWED:
        for stream in REFUSED.get(kind, [0, 1, 2, HANDLE, -2, 2**70]):
            yield kind, stream


@pytest.mark.parametrize("version", [{}, V1])
@pytest.mark.parametrize("kind, stream", [(kind, stream) for kind, streams in ALLOWED.items()
                                          for stream in streams])
def test_streams_that_the_array_api_allows(kind, stream, version):
    producer = memory_of(kind)
    view = Mtl.from_dlpack(producer)[1:]
    capsule = view.__dlpack__(stream=stream, **version)
    tensor = managed_of(capsule).dl_tensor

    assert (tensor.device_type, tensor.device_id) == (kind, 0)
    assert tensor.data + tensor.byte_offset == producer.managed.dl_tensor.data + 12
    again = Mtl.from_dlpack(capsule)
    assert again.__dlpack_device__() == (kind, 0) and again.shape == (3, 3)


@pytest.mark.parametrize("kind, stream", refusals(),
                         ids=lambda value: str(value) if abs(value) < 2**70 else "enormous")
def test_streams_that_it_does_not(kind, stream):
    view = Mtl.from_dlpack(memory_of(kind))
    ways = {**dict.fromkeys(OF_CUDA, (None, -1, 1, 2)), ROCM: (None, -1, 0)}
    if stream == 0 and kind in OF_CUDA:
        ways[kind] = 1, 2
    number = stream if abs(stream) < 2**80 else "stream"
    way = ways.get(kind, (None, -1))
    with pytest.raises(BufferError, match=says(number, f"({kind}, 0)", *way)):
        view.__dlpack__(stream=stream)


def test_memory_of_the_tests_device():
    """The memory is the host's, or Metal's."""
    view = zeros("float32", (4, 3))
    allowed = ALLOWED.get(view.__dlpack_device__()[0], NO_STREAMS)
    for stream in allowed:
        assert managed_of(view.__dlpack__(stream=stream, **V1)).dl_tensor.ndim == 2
    for stream in {0, 1, 2, HANDLE}.difference(allowed):
        with pytest.raises(BufferError, match=says(stream)):
            view.__dlpack__(stream=stream, **V1)


@pytest.mark.parametrize("stream", [1.0, "1", b"1", (1,), object()])
def test_a_stream_is_an_integer(stream):
    for kind in (1, CUDA):
        with pytest.raises(TypeError, match=says("stream", None)):
            Mtl.from_dlpack(memory_of(kind)).__dlpack__(stream=stream)


def test_the_streams_are_those_of_the_device_that_is_asked_for():
    managed = Mtl.from_dlpack(memory_of(MANAGED))

    for stream in (-1, 1, HANDLE):
        capsule = managed.__dlpack__(stream=stream, dl_device=(1, 0))
        assert managed_of(capsule).dl_tensor.device_type == 1
    with pytest.raises(BufferError, match=says(0, "(1, 0)")):
        managed.__dlpack__(stream=0, dl_device=(1, 0))
    view = Mtl.from_dlpack(memory_of(CUDA, 3))
    assert view.__dlpack__(stream=HANDLE, dl_device=(2, 3))
    with pytest.raises(BufferError, match=says(0, "(2, 3)")):
        view.__dlpack__(stream=0, dl_device=(2, 3))


def test_a_buffer_takes_them_too():
    buffer = Mtl.from_dlpack(memory_of(CUDA)).get_buffer()

    assert buffer.__dlpack__(stream=HANDLE)
    with pytest.raises(BufferError, match=says("stream", 0)):
        buffer.__dlpack__(stream=0)


@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.parametrize("kind, stream", [(CUDA, 1), (MANAGED, 1), (ROCM, 0)])
def test_the_legacy_default_stream_is_asked_for(kind, stream, legacy):
    producer = Records(POINTER, (4,), device=(kind, 1), legacy=legacy)
    view = Mtl.from_dlpack(producer)

    # The first tensor told of the device.
    assert producer.asked == [V1, {**V1, "stream": stream}] and producer.deleted == 1
    assert view.__dlpack_device__() == (kind, 1)
    del view
    assert producer.deleted == 2


@pytest.mark.parametrize("kind", [1, PINNED, ROCM_HOST, ONEAPI, 77])
def test_no_stream_for_other_memory(kind):
    producer = Records(floats(1, 2), (2,), device=(kind, 0))
    Mtl.from_dlpack(producer)
    Mtl.from_dlpack(producer, copy=False)
    Mtl.asview(producer)

    assert producer.asked == [V1, {**V1, "copy": False}, V1] and producer.deleted == 3


def test_the_exchange_api_knows_the_device():
    class Own(Records, exchanging()):
        pass

    producer = Own(POINTER, (4,), device=(CUDA, 0))
    Mtl.from_dlpack(producer)

    assert producer.exchanges == 1 and producer.asked == [{**V1, "stream": 1}]
    assert producer.deleted == 2


def test_copies_are_not_made_twice():
    """Nor does a copy of the host's memory get a stream."""
    for kind, sent in ((CUDA, {"stream": 1}), (ROCM, {"stream": 0}), (1, {}), (PINNED, {})):
        producer = Records(floats(1), (1,), device=(kind, 0), flags=2)
        Mtl.from_dlpack(producer, copy=True)

        assert producer.asked == ["device", {**V1, "copy": True, **sent}]

        class Own(Records, exchanging()):
            pass

        producer = Own(floats(1), (1,), device=(kind, 0), flags=2)
        Mtl.from_dlpack(producer, copy=True)
        assert producer.asked == [{**V1, "copy": True, **sent}] and producer.exchanges == 1


def test_a_copy_that_the_producer_refuses():
    class Refuses(Records):
        def __dlpack__(self, **keywords):
            capsule = super().__dlpack__(**keywords)
            if "copy" in keywords:
                raise BufferError("no copies")
            return capsule

    producer = Refuses(floats(1), (1,), device=(MANAGED, 0))
    assert Mtl.from_dlpack(producer, copy=True).tolist() == [1]
    assert producer.asked == ["device", {**V1, "copy": True, "stream": 1}, {**V1, "stream": 1}]


@pytest.mark.parametrize("source, target, asked", [
    (CUDA, (CUDA, 0), ["device", {**V1, "dl_device": (CUDA, 0), "stream": 1}]),
    (ROCM, (ROCM, 0), ["device", {**V1, "dl_device": (ROCM, 0), "stream": 0}]),
    # The target of a copy of host memory has streams, but the producer has none.
    (1, (CUDA, 0), ["device", {**V1, "dl_device": (CUDA, 0)}]),
    (CUDA, (1, 0), [{**V1, "dl_device": (1, 0)}]),
    (1, (1, 0), [{**V1, "dl_device": (1, 0)}]),
])
def test_another_device_may_be_asked_for(source, target, asked):
    class Brings(Records):
        def __dlpack_device__(self):
            super().__dlpack_device__()
            return source, 0

    producer = Brings(floats(1), (1,), device=target)
    assert Mtl.from_dlpack(producer, device=target).__dlpack_device__() == target
    assert producer.asked == asked


@pytest.mark.parametrize("answer", [AttributeError, ValueError, None, (2,), ("2", 0), (2**70, 0),
                                    (-1, 0), [2, 0]])
def test_a_producer_that_does_not_name_its_device(answer):
    class Silent(Records):
        def __dlpack_device__(self):
            if isinstance(answer, type):
                raise answer("no device")
            return answer

    producer = Silent(floats(1), (1,), flags=2)
    assert Mtl.from_dlpack(producer, copy=True).tolist() == [1]
    assert producer.asked == [{**V1, "copy": True}]


def test_what_ends_a_program_is_no_device():
    class Interrupts(Records):
        def __dlpack_device__(self):
            raise KeyboardInterrupt("now")

    producer = Interrupts(floats(1), (1,))
    with pytest.raises(KeyboardInterrupt, match="now"):
        Mtl.from_dlpack(producer, copy=True)
    assert not producer.asked


def test_older_producers_know_fewer_keywords():
    class Stream(Producer):  # as in the protocol's first version
        def __dlpack__(self, stream="none"):
            asked.append(stream)
            return self.capsule()

    class Nothing(Producer):
        def __dlpack__(self):
            asked.append("nothing")
            return self.capsule()

    class NoStream(Producer):
        def __dlpack__(self, max_version=None):
            asked.append(max_version)
            return self.capsule()

    for cls, calls in ((Stream, ["none", 1]), (Nothing, ["nothing", "nothing"]),
                       (NoStream, [(1, 3), None])):
        asked = []
        producer = cls(POINTER, (4,), device=(CUDA, 0), legacy=True)
        assert Mtl.from_dlpack(producer).__dlpack_device__() == (CUDA, 0)
        assert asked == calls and producer.deleted == 2
        asked = []
        assert Mtl.from_dlpack(cls(floats(1), (1,), legacy=True)).tolist() == [1]
        assert asked == calls[:1]


def test_a_producer_that_refuses_the_stream():
    """Its work cannot be waited for, so nothing comes in."""
    class Refuses(Records):
        def __dlpack__(self, **keywords):
            capsule = super().__dlpack__(**keywords)
            if "stream" in keywords:
                raise BufferError("not in this stream")
            return capsule

    producer = Refuses(POINTER, (4,), device=(CUDA, 0))
    with pytest.raises(BufferError, match="not in this stream"):
        Mtl.from_dlpack(producer)
    assert producer.deleted == 1  # the other is still in its capsule


def test_a_bare_capsule_is_taken_as_it_is():
    producer = Records(POINTER, (4,), device=(CUDA, 0))
    view = Mtl.from_dlpack(producer.capsule())

    assert view.__dlpack_device__() == (CUDA, 0) and not producer.asked


def test_a_view_of_a_view():
    """Views are producers too, and take the stream that they send."""
    for kind in (CUDA, MANAGED, ROCM):
        producer = Records(POINTER, (4,), device=(kind, 2))
        view = Mtl.from_dlpack(Mtl.from_dlpack(producer))
        assert view.__dlpack_device__() == (kind, 2)


class Consumer:
    """Sends what PyTorch and CuPy do: their current stream, and 1 for the default one."""

    def __init__(self, current):
        self.stream = current or 1

    def take(self, exporter):
        kind, _ = exporter.__dlpack_device__()
        keywords = {"stream": self.stream} if kind in (CUDA, MANAGED) else {}
        return exporter.__dlpack__(max_version=(1, 0), **keywords)


@pytest.mark.parametrize("current, sent", [(0, 1), (1, 1), (2, 2), (HANDLE, HANDLE)])
def test_there_and_back(current, sent):
    producer = Records(POINTER, (4, 3), device=(CUDA, 1))
    view = Mtl.from_dlpack(producer)
    capsule = Consumer(current).take(view[::2])


    assert capsule_name(capsule) == b"dltensor_versioned"
    assert Consumer(current).stream == sent
    back = Mtl.from_dlpack(capsule)
    del view, capsule
    assert back.strides == (6, 1) and back.shape == (2, 3)
    tensor = managed_of(back.__dlpack__(stream=sent)).dl_tensor
    assert (tensor.data, tensor.device_type, tensor.device_id) == (POINTER, CUDA, 1)
    assert producer.deleted == 1  # the tensor that told of the device
    del back, tensor
    assert producer.deleted == 2
