# SPDX-License-Identifier: LGPL-2.1-or-later
"""Layouts of three dimensions from Python against the same calls of the peers:
nanoseconds, the best of several rounds taken in turn, their ratio, and the most that it may
be.

cuda.core and PyTorch are measured where they are installed.
"""

import importlib.util
import math

import gi

gi.require_version("Mtl", "1")

import numpy as np  # noqa: E402
from gi.repository import Mtl  # noqa: E402

from bench_python import measure  # noqa: E402

Layout, Order = Mtl.StridedLayout, Mtl.Order

SHAPE, STRIDES = (2, 3, 4), (24, 4, 1)


def cuda_calls():
    from cuda.core._layout import _StridedLayout as Peer

    layout = Peer(SHAPE, STRIDES, 4)
    dense, transposed = Peer(SHAPE, None, 4), layout.permuted((2, 1, 0))

    def query(read):
        # The peer remembers what it was asked once.
        return lambda: read(Peer(SHAPE, STRIDES, 4))

    return {
        "construct": lambda: Peer(SHAPE, STRIDES, 4),
        "construct, by name": lambda: Peer(shape=SHAPE, strides=None, itemsize=4),
        "permute": lambda: layout.permuted((2, 0, 1)),
        "reshape": lambda: layout.reshaped((2, 12)),
        "slice": lambda: layout[0:2, 1, ::2],
        "broadcast": lambda: layout.broadcast_to((5, 2, 3, 4)),
        "repack": lambda: layout.repacked(8),
        "flatten": lambda: dense.flattened(),
        "dense": lambda: transposed.to_dense("K"),
        "construct + is_unique": query(lambda made: made.is_unique),
        "construct + offset bounds": query(lambda made: made.offset_bounds),
    }


def mtl_calls():
    layout = Layout(SHAPE, STRIDES, 4)
    dense, transposed, keep = Layout(SHAPE, itemsize=4), layout.T, Order.K
    return {
        "construct": lambda: Layout(SHAPE, STRIDES, 4),
        "construct, by name": lambda: Layout(shape=SHAPE, strides=None, itemsize=4),
        "permute": lambda: layout.permute((2, 0, 1)),
        "reshape": lambda: layout.reshape((2, 12)),
        "slice": lambda: layout[0:2, 1, ::2],
        "broadcast": lambda: layout.broadcast_to((5, 2, 3, 4)),
        "repack": lambda: layout.repack(64),
        "flatten": lambda: dense.flatten(0, -1),
        "dense": lambda: transposed.to_dense(keep),
        "construct + is_unique": lambda: Layout(SHAPE, STRIDES, 4).is_unique(),
        "construct + offset bounds": lambda: Layout(SHAPE, STRIDES, 4).get_offset_bounds(),
    }


def view_calls():
    view = Mtl.asview(np.zeros((2, 6, 4), np.float32))[:, :3]
    complex64 = Mtl.DType.COMPLEX64
    return {
        "permute": lambda: view.permute(2, 0, 1),
        "reshape": lambda: view.reshape(2, 12),
        "slice": lambda: view[0:2, 1, ::2],
        "broadcast": lambda: view.broadcast_to(5, 2, 3, 4),
        "shares memory": lambda: view.overlaps(view),
        "view as": lambda: view.reinterpret(complex64),
    }


def numpy_calls():
    array = np.zeros((2, 6, 4), np.float32)[:, :3]
    complex64 = np.dtype("complex64")
    return {
        "permute": lambda: array.transpose(2, 0, 1),
        "reshape": lambda: array.reshape(2, 12),
        "slice": lambda: array[0:2, 1, ::2],
        "broadcast": lambda: np.broadcast_to(array, (5, 2, 3, 4)),
        "shares memory": lambda: np.shares_memory(array, array),
        "view as": lambda: array.view(complex64),
    }


def torch_calls():
    import torch

    tensor = torch.zeros((2, 6, 4))[:, :3]
    complex64 = torch.complex64
    return {
        "permute": lambda: tensor.permute(2, 0, 1),
        "reshape": lambda: tensor.reshape(2, 12),
        "slice": lambda: tensor[0:2, 1, ::2],
        "broadcast": lambda: tensor.broadcast_to(5, 2, 3, 4),
        "view as": lambda: tensor.view(complex64),
    }


def compare(title, ours, peer_name, peers, limit=math.inf):
    """Returns the number of calls that take longer than they may."""
    missed = 0
    print(f"\n{title:26} {'ns':>7}  {peer_name:>10}  {'ratio':>5}"
          f"{f'  at most {limit}' if limit < math.inf else ''}")
    for name, peer in peers.items():
        mine, theirs = measure(ours[name], peer)
        over = mine / theirs > limit
        missed += over
        print(f"{name:26} {mine * 1e9:7.0f}  {theirs * 1e9:10.0f}  {mine / theirs:5.2f}"
              f"{'  missed' if over else ''}", flush=True)
    return missed


def main():
    missed = 0
    if importlib.util.find_spec("cuda") and importlib.util.find_spec("cuda.core"):
        missed += compare("Mtl.StridedLayout", mtl_calls(), "cuda.core", cuda_calls(), 3)
    if importlib.util.find_spec("torch"):
        missed += compare("Mtl.StridedView", view_calls(), "torch", torch_calls(), 1)
    compare("Mtl.StridedView", view_calls(), "numpy", numpy_calls())
    print(f"\n{missed} take longer than they may")


if __name__ == "__main__":
    main()
