# SPDX-License-Identifier: LGPL-2.1-or-later
import gi
import pytest
from gi.repository import Gio, GLib, Mtl

from conftest import HOST, METAL, error_code
from says import says


def test_host():
    host = HOST

    assert Mtl.Device.get(Mtl.DeviceType.CPU, 0) is host
    assert host.get_device_type() == host.props.device_type == Mtl.DeviceType.CPU
    assert host.get_ordinal() == 0
    assert host.get_name() == "Host"
    assert host.is_host_accessible() and host.props.host_accessible
    assert host.has_unified_memory() and host.props.unified_memory
    assert host.get_max_buffer_size() >= 2**31 - 1
    assert host.get_page_size() in (4096, 16384, 65536)
    assert host.get_memory_size() > 2**28 and host.get_uuid() is None
    assert host.supports_storage_mode(Mtl.StorageMode.HOST)
    assert host.supports_storage_mode("default")
    assert not host.supports_storage_mode(Mtl.StorageMode.PRIVATE)
    assert host.synchronize(None)


def test_no_other_kinds_of_devices():
    with pytest.raises(TypeError, match="abstract"):
        Mtl.Device()
    with pytest.raises(TypeError, match="derived"):
        class Other(Mtl.Device):
            pass
    assert not hasattr(Mtl, "DeviceClass")


def test_list():
    assert Mtl.Device.list() == [HOST, *METAL]
    assert Mtl.Device.get_default() in (METAL or [HOST])
    for device in Mtl.Device.list():
        pair = device.get_device_type(), device.get_ordinal()
        assert Mtl.Device.get(*pair) is device
        assert device.has_unified_memory() == device.props.unified_memory
    assert [device.get_ordinal() for device in METAL] == list(range(len(METAL)))


def synchronize(device, cancellable=None):
    """Calls the asynchronous function, and returns the result from a main loop."""
    loop, results = GLib.MainLoop(), []

    def done(source, result):
        assert source is device
        results.append(result)
        loop.quit()

    device.synchronize_async(cancellable, done)
    assert not results  # it does not call back before the loop runs
    loop.run()
    return device.synchronize_finish(results[0])


def test_synchronize():
    for device in Mtl.Device.list():
        assert device.synchronize(None) and synchronize(device)


def test_absent_device():
    with pytest.raises(NotImplementedError, match=says("(2, 3)")) as info:
        Mtl.Device.get(Mtl.DeviceType.CUDA, 3)
    assert error_code(info) == Mtl.Error.NOT_SUPPORTED
    with pytest.raises(ValueError, match=says("(0, 3)")) as info:
        Mtl.Device.get(Mtl.DeviceType.UNKNOWN, 3)
    assert error_code(info) == Mtl.Error.INVALID_ARGUMENT


def test_cancelling_stays_a_glib_error():
    cancellable = Gio.Cancellable()
    cancellable.cancel()
    for device in Mtl.Device.list():
        for call in (Mtl.Device.synchronize, synchronize):
            with pytest.raises(GLib.Error) as info:
                call(device, cancellable)
            assert info.value.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED)


def test_version():
    assert (Mtl.MAJOR_VERSION, Mtl.MINOR_VERSION) >= (1, 0)
    assert gi.get_required_version("Mtl") == "1"
