# SPDX-License-Identifier: LGPL-2.1-or-later
"""The memory that the library holds, which Python's reference counts release at once."""

from gi.repository import Mtl

MIB = 1 << 20


def test_memory_is_released_with_its_last_view():
    before = Mtl.get_allocated_size()
    view = Mtl.StridedView.new_zeros(None, Mtl.DType.FLOAT32, [MIB])
    row = view[:10]

    assert Mtl.get_allocated_size() == before + 4 * MIB
    del view
    assert Mtl.get_allocated_size() == before + 4 * MIB
    del row
    assert Mtl.get_allocated_size() == before


def test_a_loop_holds_no_more_than_its_last_views():
    before = Mtl.get_allocated_size()

    for i in range(100):
        view = Mtl.StridedView.new_filled(None, Mtl.DType.FLOAT32, [MIB], i)
        view.note = view[:5]  # Python adds a dictionary to the object
        doubled = view.to_dtype(Mtl.DType.FLOAT64)
        memoryview(doubled)
        # The views of the last round end as those of this one replace them.
        assert Mtl.get_allocated_size() <= before + 2 * 12 * MIB
    del view, doubled
    assert Mtl.get_allocated_size() == before
