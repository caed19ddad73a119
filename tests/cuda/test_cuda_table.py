# SPDX-License-Identifier: LGPL-2.1-or-later
"""The table of docs/cuda.md that says which requests get a tensor in place, a copy or an error: each
cell is tried, by Python's protocol and by the function of the other languages."""

import pathlib

import numpy as np
import pytest
from gi.repository import Mtl

import cuda_driver as cuda
from conftest import HOST, error_code
from dlpack_structs import managed_of
from says import says

GUIDE = pathlib.Path(__file__).parents[2] / "docs" / "cuda.md"
COLUMNS = [None, "a GPU", (1, 0), (3, 0), (13, 0)]
COPIES = {"as needed": None, "always": True, "never": False}
IS_COPIED = 2
GPU = Mtl.Device.get(Mtl.DeviceType.CUDA, 0)
FLAGS = {None: Mtl.DlpackFlags.NONE, True: Mtl.DlpackFlags.COPY, False: Mtl.DlpackFlags.NEVER_COPY}
PLACES = {"HOST": (1, 0), "PRIVATE": (2, 0), "SHARED": (3, 0), "MANAGED": (13, 0)}


def rows():
    """The mode, the copy, and a cell for each column."""
    text = GUIDE.read_text().partition("| mode | copy |")[2].partition("\n\n")[0]
    mode = ""
    for line in text.splitlines()[2:]:
        first, copy, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        mode = first.strip("`") or mode
        yield mode, COPIES[copy], cells


def cases():
    for mode, copy, cells in rows():
        for column, cell in zip(COLUMNS, cells, strict=True):
            if column != "a GPU":
                yield mode, copy, column, cell
                continue
            own, _, other = cell.partition("; another GPU: ")
            yield mode, copy, (2, 0), own
            yield mode, copy, (2, 1), other or own


def marked(mode, copy, target, cell):
    return pytest.param(mode, copy, target, cell, marks=[cuda.two_gpus] * (target == (2, 1)),
                        id=f"{mode}-{copy}-{target or 'any'}")


CASES = [marked(*case) for case in cases()]


def view_of(mode):
    array = np.arange(20, dtype=np.float32).reshape(4, 5)
    view = Mtl.asview(array).to_device(HOST if mode == "HOST" else GPU, mode.lower())
    return view[1:, 1:]


def device_at(place):
    return place and Mtl.Device.get(Mtl.DeviceType(place[0]), place[1])


def mode_of(view):
    return view.get_buffer().get_storage_mode().value_nick.upper()


def test_the_table_has_all_cases():
    assert len(CASES) == 4 * 3 * 6


@pytest.mark.parametrize("mode, copy, target, cell", CASES)
def test_cell(mode, copy, target, cell):
    view = view_of(mode)
    result, _, detail = cell.partition(", ")
    asked = {"copy": copy, "dl_device": target, "max_version": (1, 0)}
    arguments = FLAGS[copy], target and Mtl.Device.get(Mtl.DeviceType(target[0]), target[1])

    if result == "`NEEDS_COPY`":
        values = says(str(view.__dlpack_device__()), str(target))
        for error, export in ((BufferError, lambda: view.__dlpack__(**asked)),
                              (ValueError, lambda: view.export_dlpack(*arguments))):
            with pytest.raises(error, match=values) as info:
                export()
            assert error_code(info) == Mtl.Error.NEEDS_COPY
        return

    exported, tensor = managed_of(view.__dlpack__(**asked)), view.export_dlpack(*arguments)
    views = [Mtl.from_dlpack(exported.capsule), Mtl.StridedView.new_from_dlpack(tensor)]
    place = exported.dl_tensor.device_type, exported.dl_tensor.device_id
    assert place == (target or PLACES[mode])
    if result == "in place":
        assert detail.strip("`") in ("", str(place), f"({place[0]}, n)")
        assert exported.flags == 0 and not tensor.is_copied()
        assert [other.get_address() for other in views] == [view.get_address()] * 2
    else:
        assert result == "copy" and exported.flags == IS_COPIED and tensor.is_copied()
        assert [mode_of(other) for other in views] == [detail.strip("`")] * 2

    views.append(Mtl.from_dlpack(view, device=target, copy=copy))
    numbers = view.tolist()
    for other in views:
        assert other.tolist() == view.tolist()
        other.fill(9)
        assert view.tolist() == (other.tolist() if result == "in place" else numbers)
