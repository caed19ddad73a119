# SPDX-License-Identifier: LGPL-2.1-or-later
"""Views as MPI's derived datatypes. mpi4py is imported by who asks for one."""

from ..module import get_introspection_module

Mtl = get_introspection_module("Mtl")

# MPI counts in a C int.
_MAX_COUNT = 2**31 - 1

_ELEMENTS = {
    Mtl.DType.BOOL: "C_BOOL",
    Mtl.DType.INT8: "INT8_T",
    Mtl.DType.INT16: "INT16_T",
    Mtl.DType.INT32: "INT32_T",
    Mtl.DType.INT64: "INT64_T",
    Mtl.DType.UINT8: "UINT8_T",
    Mtl.DType.UINT16: "UINT16_T",
    Mtl.DType.UINT32: "UINT32_T",
    Mtl.DType.UINT64: "UINT64_T",
    Mtl.DType.FLOAT32: "FLOAT",
    Mtl.DType.FLOAT64: "DOUBLE",
    Mtl.DType.COMPLEX64: "C_FLOAT_COMPLEX",
    Mtl.DType.COMPLEX128: "C_DOUBLE_COMPLEX",
}


def _merge_axes(view):
    """The fewest (extent, stride in bytes) that walk the same elements in the
    same order."""
    axes = []
    for extent, stride in zip(view.shape, view.strides):
        stride *= view.itemsize
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
    """The type again and again. What is too much for one count goes into blocks
    and a rest."""
    # Open MPI (4.1, 5.0) takes single bytes that Create_hvector() puts in reverse
    # for a forward run, but not these.
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
    """The elements of a view as a type of MPI's, to be sent or received where they lie.

    The type counts from the first byte of view.get_buffer(), which is the
    buffer to pass with it: comm.Send([view.get_buffer(), 1, datatype], dest).
    It is committed, and is freed with Free().

    Raises NotImplementedError where an element is part of a byte, and
    BufferError where the host does not reach the memory.
    """
    if not isinstance(view, Mtl.StridedView):
        raise TypeError(f"{type(view).__name__} is no view")
    if view.get_item_bits() % 8:
        raise NotImplementedError(f"MPI has no elements of {view.get_item_bits()} bits")
    if not view.is_host_accessible():
        raise BufferError("MPI reads the host's memory, which this view does not lie in")

    from mpi4py import MPI

    if view.dtype in _ELEMENTS:
        datatype = getattr(MPI, _ELEMENTS[view.dtype])
    else:
        datatype = MPI.BYTE.Create_contiguous(view.itemsize)

    first = view.get_byte_offset() + view.get_offset() * view.itemsize
    for extent, stride in reversed(_merge_axes(view)):
        inner, datatype = datatype, _repeat(datatype, extent, stride)
        _free(inner)
    inner, datatype = datatype, datatype.Create_struct([1], [first], [datatype])
    _free(inner)
    return datatype.Commit()
