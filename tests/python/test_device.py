# SPDX-License-Identifier: LGPL-2.1-or-later
import gi
import pytest
from gi.repository import Gio, GLib, Mtl

from conftest import error_code


def test_host():
    host = Mtl.Device.get_host()

    assert Mtl.Device.get_default() is host
    assert Mtl.Device.list() == [host]
    assert Mtl.Device.get(Mtl.DeviceType.CPU, 0) is host
    assert host.get_device_type() == host.props.device_type == Mtl.DeviceType.CPU
    assert host.get_device_ordinal() == 0
    assert host.get_name() == "Host"
    assert host.get_registry_id() == 0
    assert host.is_host_accessible() and host.props.host_accessible
    assert host.get_max_buffer_size() >= 2**31 - 1
    assert host.get_page_size() in (4096, 16384, 65536)
    assert host.supports_storage_mode(Mtl.StorageMode.HOST)
    assert not host.supports_storage_mode(Mtl.StorageMode.PRIVATE)
    assert host.synchronize(None)


def test_absent_device():
    with pytest.raises(NotImplementedError, match=r"\(2, 3\)") as info:
        Mtl.Device.get(Mtl.DeviceType.CUDA, 3)
    assert error_code(info) == Mtl.Error.NOT_SUPPORTED


def test_cancelling_stays_a_glib_error():
    cancellable = Gio.Cancellable()
    cancellable.cancel()
    with pytest.raises(GLib.Error) as info:
        Mtl.Device.get_host().synchronize(cancellable)
    assert info.value.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED)


def test_version():
    assert (Mtl.MAJOR_VERSION, Mtl.MINOR_VERSION) >= (1, 0)
    assert gi.get_required_version("Mtl") == "1"
