# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes MPI's derived datatypes of views. mpi4py is only imported when one is made."""

from ..module import get_introspection_module

Mtl = get_introspection_module("Mtl")

# MPI counts in a C int.
_MAX_COUNT = 2**31 - 1

_ELEMENTS = {
    "bool": "C_BOOL",
    "int8": "INT8_T",
    "int16": "INT16_T",
    "int32": "INT32_T",
    "int64": "INT64_T",
    "uint8": "UINT8_T",
    "uint16": "UINT16_T",
    "uint32": "UINT32_T",
    "uint64": "UINT64_T",
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "complex64": "C_FLOAT_COMPLEX",
    "complex128": "C_DOUBLE_COMPLEX",
}


def _merge_axes(view, size):
    """Returns the shortest list of (extent, stride in bytes) that visits the
    same elements in the same order. The last axis is that of the numbers of
    this size in each element."""
    axes = []
    all_axes = [(extent, stride * view.itemsize)
                for extent, stride in zip(view.shape, view.strides)]
    for extent, stride in [*all_axes, (view.itemsize // size, size)]:
        if extent == 1:
            continue
        if axes and axes[-1][1] == extent * stride:
            axes[-1] = (axes[-1][0] * extent, stride)
        else:
            axes.append((extent, stride))
    return axes


def _free(datatype):
    if not datatype.is_predefined:
        datatype.Free()


def _repeat(datatype, extent, stride):
    """Repeats the type. If the extent is too large for one count, it is split
    into blocks and a rest."""
    # Open MPI (4.1, 5.0) mistakes single bytes that Create_hvector() puts in
    # reverse order for a forward run. It does not do so with resized types.
    spaced = datatype.Create_resized(0, stride)
    if extent <= _MAX_COUNT:
        row = spaced.Create_contiguous(extent)
        spaced.Free()
        return row

    n_blocks, n_rest = divmod(extent, _MAX_COUNT)
    block = spaced.Create_contiguous(_MAX_COUNT)
    blocks = _repeat(block, n_blocks, _MAX_COUNT * stride)
    rest = spaced.Create_contiguous(n_rest)
    both = datatype.Create_struct([1, 1], [0, n_blocks * _MAX_COUNT * stride], [blocks, rest])
    for part in (spaced, block, blocks, rest):
        part.Free()
    return both


def mpi_datatype(view):
    """An MPI datatype for the elements of a view, which sends or receives them in place.

    The type starts at the first byte of view.get_buffer(). Pass that buffer
    with it: comm.Send([view.get_buffer(), 1, datatype], dest). The type is
    committed; free it with Free().

    Raises NotImplementedError if an element is not a whole number of
    bytes, and BufferError if the host cannot access the memory.
    """
    if not isinstance(view, Mtl.StridedView):
        raise TypeError(f"{type(view).__name__} is not a view")
    if view.layout.get_item_bits() % 8:
        raise NotImplementedError(f"MPI has no elements of {view.layout.get_item_bits()} bits")
    if not view.is_host_accessible():
        raise BufferError("MPI needs host memory, and the host cannot access this view's")

    from mpi4py import MPI

    # Vectors have several numbers; what MPI has no name for is bytes.
    datatype = getattr(MPI, _ELEMENTS.get(view.dtype.name, "BYTE"))
    first = view.get_byte_offset() + view.layout.get_offset() * view.itemsize
    for extent, stride in reversed(_merge_axes(view, datatype.Get_size())):
        inner, datatype = datatype, _repeat(datatype, extent, stride)
        _free(inner)
    inner, datatype = datatype, datatype.Create_struct([1], [first], [datatype])
    _free(inner)
    return datatype.Commit()
