# SPDX-License-Identifier: LGPL-2.1-or-later
"""The GObject properties of layouts, views and tensors in transit: all are read-only, and have
the values that their getters give."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from gi._gi import Repository
from gi.repository import GObject, Mtl

from conftest import DEFAULT, iota, new_buffer, zeros
from dlpack_structs import Producer, floats

CORE = "{http://www.gtk.org/introspection/core/1.0}"
DType, Flags, Layout, View = Mtl.DType, Mtl.DlpackFlags, Mtl.StridedLayout, Mtl.StridedView


def read_getters():
    """The getter of each property, by class, as the GIR beside the typelib names it."""
    gir = Path(Repository.get_default().get_typelib_path("Mtl")).with_suffix(".gir")
    return {element.get("name"): {prop.get("name"): prop.get("getter")
                                  for prop in element.findall(CORE + "property")}
            for element in ElementTree.parse(gir).getroot().iter(CORE + "class")}


GETTERS = read_getters()


def consumed():
    tensor = iota(3).export_dlpack()
    Mtl.StridedView.new_from_dlpack(tensor)
    return tensor


def foreign():
    # A type without a name, on a device without a backend; it is never read.
    return Mtl.from_dlpack(Producer(0xdead0000, (4, 3), (3, 1), code=2, bits=24, device=(77, 5)))


OBJECTS = {
    "dense layout": lambda: Layout((2, 3), itemsize=4),
    "sliced layout": lambda: Layout((4, 6), itemsize=8)[1:3, ::2],
    "reversed layout": lambda: Layout((4, 6), itemsize=8)[::-1, -1],
    "empty layout": lambda: Layout((3, 0)),
    "repeating layout": lambda: Layout((1, 2)).broadcast_to(5, 2),
    "packed layout": lambda: Layout.new((7,), None, 4),
    "bare layout": Layout,
    "dense view": lambda: iota(4, 6),
    "sliced view": lambda: iota(4, 6)[1:3, ::2],
    "reversed view": lambda: iota(4, 6)[::-1, -1],
    "read-only view": lambda: iota(4, 6)[:, 2:].as_read_only(),
    "view of no dimensions": lambda: zeros("complex64", ()),
    "view of a part": lambda: View.new(new_buffer(64).slice(16, 32), Layout((3,), itemsize=2),
                                       DType.BFLOAT16, 4),
    "packed view": lambda: zeros("float4_e2m1fn", (8,))[3:],
    "padded view": lambda: Mtl.from_dlpack(Producer(floats(1), (4,), code=1, bits=4, flags=4)),
    "view of lanes": lambda: Mtl.from_dlpack(Producer(floats(1, 2), (1,), lanes=2)),
    "foreign view": foreign,
    "bare view": View,
    "tensor in transit": lambda: iota(3).export_dlpack(),
    "copied tensor": lambda: iota(3)[::-1].export_dlpack(Flags.COPY, Mtl.Device.get_host()),
    "read-only tensor": lambda: iota(3).as_read_only().export_dlpack(),
    "foreign tensor": lambda: foreign().export_dlpack(),
    "consumed tensor": consumed,
    "bare tensor": Mtl.DlpackTensor,
}


@pytest.fixture(params=OBJECTS.values(), ids=OBJECTS.keys())
def whole(request):
    return request.param()


@pytest.mark.any_memory
def test_properties_are_what_their_getters_give(whole):
    getters = GETTERS[type(whole).__name__]

    assert set(getters) == {spec.name for spec in GObject.list_properties(type(whole))}
    for name, getter in getters.items():
        value = whole.get_property(name)
        assert value == getattr(whole.props, name.replace("-", "_")), name
        assert value == getattr(whole, getter)(), name


@pytest.mark.any_memory
def test_properties_cannot_be_written(whole):
    for spec in GObject.list_properties(type(whole)):
        attribute, value = spec.name.replace("-", "_"), whole.get_property(spec.name)
        assert spec.flags & GObject.ParamFlags.READABLE
        assert not spec.flags & GObject.ParamFlags.WRITABLE
        with pytest.raises(TypeError, match=spec.name):
            whole.set_property(spec.name, value)
        with pytest.raises(TypeError, match=spec.name):
            setattr(whole.props, attribute, value)


@pytest.mark.any_memory
def test_properties_of_a_view():
    whole = iota(4, 6)
    view = whole[::-1, 1:].as_read_only()
    props = view.props

    assert (props.n_dims, props.volume) == (2, 20)
    assert props.dtype == DType.FLOAT32
    assert props.lanes == 1 and not props.padded and props.byte_offset == 0
    assert props.read_only and not whole.props.read_only
    assert props.buffer is view.get_buffer() and props.device is DEFAULT
    assert props.layout is view.layout is view.get_layout()
    layout = view.layout.props
    assert (layout.n_dims, layout.volume, layout.offset, layout.item_bits) == (2, 20, 19, 32)
    # The attributes are still those of Python.
    assert (view.dtype, view.shape, view.strides) == (props.dtype, (4, 5), (-6, 1))
    assert (view.ndim, view.size) == (props.n_dims, props.volume)


def test_properties_of_elements_and_devices_without_a_name():
    props = foreign().props

    assert (props.dtype, props.layout.props.item_bits) == (DType.OTHER, 24)
    assert props.device.props.device_type == Mtl.DeviceType.UNKNOWN
    assert props.device.props.ordinal == 5 and not props.host_accessible


def test_properties_of_tensors_in_transit():
    tensor = iota(3).as_read_only().export_dlpack(Mtl.DlpackFlags.NEVER_COPY)

    assert not tensor.props.copied and not tensor.props.consumed
    assert tensor.props.device is DEFAULT
    assert Mtl.StridedView.new_from_dlpack(tensor).props.read_only and tensor.props.consumed
