# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every integer argument with integers beyond its range and with other objects: an exception names
the value that was given, and nothing is clamped or truncated."""

import enum

import numpy as np
import pytest
from gi.repository import Gio, GLib, Mtl

from conftest import HOST, iota

DType, Layout, View = Mtl.DType, Mtl.StridedLayout, Mtl.StridedView


class Kind(enum.Enum):
    """The kind of an argument. The value is the exception for an integer out of range."""
    AXIS = IndexError
    INDEX = IndexError, "index"
    OTHER = ValueError


class Raises:
    def __index__(self):
        raise RuntimeError("index")


class Is:
    """An integer that is not an int."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


class Target:
    def __init__(self, folder):
        self.view = iota(2, 3, dtype="int16")
        self.layout = Layout((2, 3), itemsize=2)
        self.buffer = Mtl.Buffer.new(HOST, 64, Mtl.StorageMode.HOST)
        self.event = Mtl.Event.new(HOST)
        self.builder = Mtl.TensorFileBuilder.new()
        self.file = Gio.File.new_for_path(str(folder / "a"))
        self.folder = folder


BYTES = GLib.Bytes.new(bytes(24))
AXES = {
    "flip": lambda o, x: o.flip(x), "flip(axis=)": lambda o, x: o.flip(axis=x),
    "permute": lambda o, x: o.permute(x, 0), "permute([])": lambda o, x: o.permute([x, 0]),
    "transpose": lambda o, x: o.transpose(0, x), "unsqueeze": lambda o, x: o.unsqueeze(x),
    "unsqueeze([])": lambda o, x: o.unsqueeze([x]), "squeeze": lambda o, x: o.squeeze(x),
    "squeeze_axes": lambda o, x: o.squeeze_axes([x]), "select": lambda o, x: o.select(x, 0),
    "flatten": lambda o, x: o.flatten(x, 1), "flatten to": lambda o, x: o.flatten(0, x),
    "swap_axes": lambda o, x: o.swap_axes(x, 0), "swap_axes with": lambda o, x: o.swap_axes(0, x),
    "narrow": lambda o, x: o.narrow(x, 0, 1, 1), "get_extent": lambda o, x: o.get_extent(x),
}
INDICES = {
    "[]": lambda o, x: o[x], "[..., x]": lambda o, x: o[..., x], "[0, x]": lambda o, x: o[0, x],
    "select": lambda o, x: o.select(0, x),
}
OTHERS = {
    "reshape": lambda o, x: o.reshape(x), "reshape([])": lambda o, x: o.reshape([2, x]),
    "broadcast_to": lambda o, x: o.broadcast_to(x, 2, 3),
    "narrow from": lambda o, x: o.narrow(0, x, 1, 1),
    "narrow by": lambda o, x: o.narrow(0, 0, 1, step=x),
}
CALLS = {}
for _names, _kind in ((AXES, Kind.AXIS), (INDICES, Kind.INDEX), (OTHERS, Kind.OTHER)):
    for _name, _call in _names.items():
        CALLS[f"view.{_name}"] = _kind, lambda t, x, call=_call: call(t.view, x)
        CALLS[f"layout.{_name}"] = _kind, lambda t, x, call=_call: call(t.layout, x)


def add(kind, **calls):
    for name, call in calls.items():
        CALLS[name] = kind, call


add(Kind.AXIS,
    layout_get_stride=lambda t, x: t.layout.get_stride(x),
    layout_max_bits_axis=lambda t, x: t.layout.get_max_compatible_item_bits(32, 0, x),
    repack_axis=lambda t, x: t.layout.repack(8, axis=x),
    new_dense_for_axes=lambda t, x: Layout.new_dense_for_axes([2, 3], [0, x], 8))
add(Kind.INDEX,
    item=lambda t, x: t.view.item(0, x), item_of_tuple=lambda t, x: t.view.item((x, 0)),
    set_item=lambda t, x: t.view.__setitem__((0, x), 1),
    set_row=lambda t, x: t.view.__setitem__(x, [1, 2, 3]),
    get_double=lambda t, x: t.view.get_double([x, 0]),
    get_int64=lambda t, x: t.view.get_int64([x, 0]),
    get_uint64=lambda t, x: t.view.get_uint64(indices=(0, x)),
    get_complex=lambda t, x: t.view.get_complex([x, 0]),
    set_double=lambda t, x: t.view.set_double([x, 0], 1),
    set_int64=lambda t, x: t.view.set_int64([x, 0], 1),
    set_uint64=lambda t, x: t.view.set_uint64([x, 0], 1),
    set_complex=lambda t, x: t.view.set_complex([x, 0], 1, 0))
add(Kind.OTHER,
    reinterpret=lambda t, x: t.view.reinterpret(x),
    layout_flatten_mask=lambda t, x: t.layout.flatten_mask(x),
    copy_order=lambda t, x: t.view.copy(x), astype_order=lambda t, x: t.view.astype("int8", x),
    set_int64_value=lambda t, x: t.view.set_int64([0, 0], x),
    set_uint64_value=lambda t, x: t.view.set_uint64([0, 0], x),
    format=lambda t, x: t.view.format(x),
    new_view=lambda t, x: View.new(t.buffer, t.layout, DType.INT16, x),
    new_zeros=lambda t, x: View.new_zeros(HOST, DType.INT8, [2, x]),
    new_empty=lambda t, x: View.new_uninitialized(HOST, DType.INT8, (2, x)),
    new_full=lambda t, x: View.new_filled(HOST, DType.INT8, [2, x], 1),
    new_from_doubles=lambda t, x: View.new_from_doubles([1], DType.INT8, [x]),
    new_from_bytes=lambda t, x: View.new_from_bytes(BYTES, DType.INT8, [x]),
    new_from_bytes_strides=lambda t, x: View.new_from_bytes_with_byte_strides(BYTES, DType.INT8,
                                                                              [2, 3], [x, x]),
    layout_shape=lambda t, x: Layout([2, x]), layout_strides=lambda t, x: Layout([2, 3], (x, x)),
    layout_itemsize=lambda t, x: Layout([2], itemsize=x),
    layout_new_bits=lambda t, x: Layout.new([2], None, x),
    layout_new_dense=lambda t, x: Layout.new_dense([x], Mtl.Order.C, 8),
    layout_new_dense_bits=lambda t, x: Layout.new_dense([2], Mtl.Order.C, item_bits=x),
    layout_with_byte_strides=lambda t, x: Layout.new_with_byte_strides([2, x], None, 8),
    repack=lambda t, x: t.layout.repack(x), to_dense=lambda t, x: t.layout.to_dense(x),
    layout_max_bits=lambda t, x: t.layout.get_max_compatible_item_bits(x),
    layout_address=lambda t, x: t.layout.get_max_compatible_item_bits(32, x),
    new_buffer=lambda t, x: Mtl.Buffer.new(HOST, x, Mtl.StorageMode.HOST),
    new_uninitialized=lambda t, x: Mtl.Buffer.new_uninitialized(HOST, x, Mtl.StorageMode.HOST),
    buffer_slice=lambda t, x: t.buffer.slice(x, 1),
    buffer_slice_of=lambda t, x: t.buffer.slice(0, x),
    buffer_dup_bytes=lambda t, x: t.buffer.dup_bytes(x, 1),
    buffer_get_bytes=lambda t, x: t.buffer.get_bytes(0, x),
    buffer_set_bytes=lambda t, x: t.buffer.set_bytes(x, BYTES),
    buffer_fill=lambda t, x: t.buffer.fill(x, 1, BYTES),
    buffer_did_modify=lambda t, x: t.buffer.did_modify(x, 1),
    buffer_copy_from=lambda t, x: t.buffer.copy_from(x, t.buffer, 0, 1),
    buffer_copy_from_size=lambda t, x: t.buffer.copy_from(0, t.buffer, 0, x),
    get_device=lambda t, x: Mtl.Device.get(Mtl.DeviceType.CPU, x),
    signal=lambda t, x: t.event.signal(x), wait=lambda t, x: t.event.wait(0, x, None),
    set_alignment=lambda t, x: t.builder.set_alignment(x),
    write_shards=lambda t, x: t.builder.write_shards(t.file, x, None, None),
    save_alignment=lambda t, x: Mtl.save(t.folder / "a.safetensors", {"a": t.view}, alignment=x),
    max_threads=lambda t, x: Mtl.set_max_threads(x))

ALLOCATING = ("new_zeros", "new_empty", "new_full", "new_buffer", "new_uninitialized")
HUGE = [10**30, -10**30, 2**64, -2**63 - 1, Is(10**30), 2**10000]


@pytest.fixture
def target(tmp_path):
    yield Target(tmp_path)
    Mtl.set_max_threads(0)


def call(name, target, value):
    """Returns the exception, or None."""
    try:
        CALLS[name][1](target, value)
    except Exception as error:
        return error
    return None


def digits(value):
    value = value.value if isinstance(value, Is) else value
    return str(value) if abs(value) < 10**4000 else "digits"


@pytest.mark.parametrize("name", CALLS)
def test_integers_beyond_64_bits(name, target):
    expected = CALLS[name][0].value
    for value in HUGE:
        error = call(name, target, value)
        assert isinstance(error, expected), (value, error)
        assert digits(value) in str(error), value
    assert target.view.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("name", CALLS)
def test_integers_beyond_32_bits(name, target):
    """They are refused with their name, or work as they are."""
    for value in (2**31, -2**31 - 1, 2**32, 2**32 + 1, 2**63, np.int64(2**31), np.uint64(2**63)):
        if name in ALLOCATING and value > 0:
            continue  # there may be so much memory
        error = call(name, target, value)
        if error is not None:
            assert isinstance(error, (IndexError, ValueError, MemoryError, NotImplementedError))
            assert "2147483647" not in str(error).replace("to 2147483647", "")
        elif CALLS[name][0] != Kind.OTHER:
            pytest.fail(f"{name} takes {value}")
    if CALLS[name][0] == Kind.AXIS:
        assert "2147483648" in str(call(name, target, 2**31))
        assert "-2147483649" in str(call(name, target, -2**31 - 1))


# A string may be the name of an order or an element type.
NAMED = {"copy_order", "astype_order", "to_dense", "reinterpret"}


@pytest.mark.parametrize("name", CALLS)
def test_what_is_not_an_integer(name, target):
    for value in (1.0, 1.5, np.float64(1), 1j, "1", object()):
        error = call(name, target, value)
        is_name = name in NAMED and isinstance(value, str)
        assert isinstance(error, ValueError if is_name else TypeError), (value, error)
    with pytest.raises(RuntimeError, match="index"):
        CALLS[name][1](target, Raises())


def test_exceptions_of_other_types_stay():
    class Other(TypeError):
        def __init__(self, text, more):
            super().__init__(text)
            self.more = more

    class RaisesOther:
        def __index__(self):
            raise Other("no", 5)

    with pytest.raises(Other, match="^no$") as info:
        View.new_zeros(HOST, DType.INT8, [RaisesOther()])
    assert info.value.more == 5


@pytest.mark.parametrize("name", CALLS)
def test_other_integers_count_as_int(name, target):
    for others, value in (((np.int64(1), np.uint8(1), Is(1)), 1), ((np.int64(7), Is(7)), 7),
                          ((np.int8(-1), Is(-1)), -1)):
        expected = call(name, target, value)
        for other in others:
            error = call(name, target, other)
            assert type(error) is type(expected), (other, error, expected)
            if isinstance(error, Exception) and "order" not in name:
                assert str(error) == str(expected)


def test_items_of_a_subclass_are_those_it_shows(target):
    """Not those it holds: PyGObject asks for them one by one."""
    for base in (list, tuple):
        for item, exception in ((10**5000, IndexError), (1.5, TypeError), ("1", TypeError)):
            class Other(base):
                def __getitem__(self, i):
                    return item

                def __iter__(self):
                    return iter([item] * len(self))

            for name in ("get_double", "get_int64", "get_complex"):
                with pytest.raises(exception):
                    getattr(target.view, name)(Other([1, 1]))
            with pytest.raises((ValueError, TypeError)):
                View.new_zeros(HOST, DType.INT8, Other([1]))


def test_true_is_1(target):
    for name in CALLS:
        if not name.endswith((".[]", ".[0, x]", ".[..., x]", "set_item", "set_row")):
            assert type(call(name, target, True)) is type(call(name, target, 1)), name


def test_slices_are_cut_as_pythons(target):
    array = np.arange(6).reshape(2, 3)
    for value in (2**31, 2**63, 10**30, -10**30, Is(10**30), np.uint64(2**63)):
        for key in (slice(value), slice(value, None), slice(None, None, value), (0, slice(value))):
            assert target.view[key].tolist() == array[key].tolist()
            assert target.layout[key].shape == array[key].shape
    for wrong in (1.0, "1", Raises()):
        with pytest.raises((TypeError, RuntimeError)):
            target.view[:wrong]


def test_members_of_enumerations(target):
    for wrong in (1.5, 1.0, "1", 10**30, 2**31, -1, None, "X"):
        for ask in (lambda: target.view.is_contiguous(wrong), lambda: target.view.to_dtype(wrong),
                    lambda: target.layout.is_contiguous(wrong),
                    lambda: Layout.new_dense([2], wrong), lambda: View.new_zeros(HOST, wrong, [1]),
                    lambda: Mtl.Buffer.new(HOST, 1, wrong), lambda: Mtl.load("a", mode=wrong)):
            with pytest.raises((TypeError, ValueError, OverflowError)):
                ask()


@pytest.mark.parametrize("pair, exception", [
    ((1, 10**30), BufferError), ((10**30, 0), BufferError), ((-10**30, 0), BufferError),
    ((1, 2**32), BufferError), ((2**32 + 1, 0), BufferError), ((1, -1), BufferError),
    ((-1, 0), BufferError), ((0, 0), BufferError), ((99, 0), BufferError),
    ((1, 2**31 - 1), BufferError),
    ((1.0, 0), TypeError), ((1, 0.0), TypeError), (("1", 0), TypeError), ((1,), TypeError),
    ((), TypeError), ((1, 0, 0), TypeError), ([1, 0], TypeError), (1.5, TypeError),
    (1, TypeError), ((None, 0), TypeError), ((Raises(), 0), RuntimeError),
])
def test_what_is_no_device_of_the_memory(pair, exception):
    view = iota(3)
    for ask in (lambda: view.__dlpack__(dl_device=pair), lambda: Mtl.from_dlpack(view, device=pair),
                lambda: view.get_buffer().__dlpack__(dl_device=pair, max_version=(1, 0))):
        with pytest.raises(exception) as info:
            ask()
        assert exception is RuntimeError or str(pair) in str(info.value)
    # NumPy before 2.4 has an exception of its own.
    with pytest.raises((exception, ValueError)):
        Mtl.from_dlpack(np.zeros(3), device=pair)


def test_pairs_with_too_many_digits_to_print():
    with pytest.raises(BufferError, match="DLPack"):
        Mtl.from_dlpack(iota(3), device=(10**5000, 0))
    with pytest.raises(BufferError, match="DLPack"):
        iota(3).__dlpack__(dl_device=(1, -10**5000))
    with pytest.raises(ValueError, match="max_version"):
        iota(3).__dlpack__(max_version=(-10**5000, 0))


@pytest.mark.parametrize("version, name", [
    ((10**30, 0), "dltensor_versioned"), ((1, 10**30), "dltensor_versioned"),
    ((2**31, 2**63), "dltensor_versioned"), ((0, 10**30), "dltensor"), ((0, 0), "dltensor"),
    ((Is(1), np.int8(0)), "dltensor_versioned"),
])
def test_versions(version, name):
    assert f'"{name}"' in repr(iota(3).__dlpack__(max_version=version))


@pytest.mark.parametrize("version, exception", [
    ((-1, 0), ValueError), ((1, -1), ValueError), ((-10**30, 0), ValueError), ((1.0, 0), TypeError),
    (("1", "0"), TypeError), ((1,), TypeError), ((1, 0, 0), TypeError), ([1, 0], TypeError),
    (1, TypeError), ("1.0", TypeError), ((1, Raises()), RuntimeError),
])
def test_what_is_no_version(version, exception):
    with pytest.raises(exception) as info:
        iota(3).__dlpack__(max_version=version)
    if exception is not RuntimeError:
        assert "max_version" in str(info.value) and str(version) in str(info.value)
