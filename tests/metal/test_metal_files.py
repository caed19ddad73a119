# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files of tensors in memory of Metal's, on the real device or on the double."""

import numpy as np
import pytest
from gi.repository import Mtl

from conftest import HOST, METAL

VALUES = np.arange(20, dtype="f4").reshape(4, 5)
MODES = [mode for mode in (Mtl.StorageMode.SHARED, Mtl.StorageMode.MANAGED,
                           Mtl.StorageMode.PRIVATE) if METAL[0].supports_storage_mode(mode)]


@pytest.fixture(params=METAL, ids=Mtl.Device.get_name)
def device(request):
    return request.param


@pytest.mark.parametrize("file_mode", [Mtl.TensorFileMode.MAP, Mtl.TensorFileMode.READ])
def test_load(tmp_path, device, file_mode):
    Mtl.save(tmp_path / "file", {"a": VALUES, "b": VALUES.T, "empty": np.zeros((0, 2))})
    file = Mtl.load(tmp_path / "file", mode=file_mode, device=device)

    for view in file.values():
        assert view.get_device() is device
        assert view.get_buffer().get_storage_mode() == Mtl.StorageMode.SHARED
    assert file["b"].tolist() == VALUES.T.tolist()
    # The GPU copies, as it alone reaches the copy.
    assert file["a"].to_device(device, Mtl.StorageMode.PRIVATE).tolist() == VALUES.tolist()


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value_nick)
def test_save(tmp_path, device, mode):
    view = Mtl.asview(VALUES).to_device(device, mode)
    Mtl.save(tmp_path / "file", {"whole": view, "turned": view.T, "reversed": view[::-1, ::2]})
    file = Mtl.load(tmp_path / "file")

    assert file["whole"].get_device() is HOST
    assert file["whole"].tolist() == VALUES.tolist()
    assert file["turned"].tolist() == VALUES.T.tolist()
    assert file["reversed"].tolist() == VALUES[::-1, ::2].tolist()
