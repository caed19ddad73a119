# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls from Python against the same calls of the peers: nanoseconds, the best
of many rounds taken in turn, their ratio, and the most that it may be.
"""

import sys
import timeit

import gi

gi.require_version("Mtl", "1")

import numpy as np  # noqa: E402
import torch  # noqa: E402
import tvm_ffi  # noqa: E402
from gi.repository import Mtl  # noqa: E402

ROUNDS = 200
CALLS = 2000

# Our call, the peer's, the greatest ratio.
ROWS = [
    ("np.from_dlpack(view)", "np.from_dlpack(ndarray)", 1.05),
    ("torch.from_dlpack(view)", "torch.from_dlpack(tvm_tensor)", 1.0),
    ("tvm_ffi.from_dlpack(view)", "tvm_ffi.from_dlpack(tensor)", 1.1),
    ("Mtl.from_dlpack(ndarray)", "torch.from_dlpack(ndarray)", 0.6),
    ("Mtl.from_dlpack(tensor)", "np.from_dlpack(tensor)", 0.35),
    ("view[2:4, 1, ::2]", "tensor[2:4, 1, ::2]", 0.5),
    ("view.permute(2, 0, 1)", "tensor.permute(2, 0, 1)", 0.5),
    ("view.reshape(6, 20)", "tensor.reshape(6, 20)", 0.5),
    ("view[2:4, 1, ::2]", "ndarray[2:4, 1, ::2]", 4),
    ("view.permute(2, 0, 1)", "ndarray.transpose(2, 0, 1)", 4),
    ("view.reshape(6, 20)", "ndarray.reshape(6, 20)", 4),
    ("view[1, 1, 1]", "ndarray[1, 1, 1]", 1.5),
    ("view.shape", "tensor.shape", 1.0),
    ("memoryview(view)", "memoryview(ndarray)", 1.3),
    ("np.asarray(view)", "np.asarray(memory)", 1.3),
]


def subjects():
    """Returns the objects that the calls use, each with memory of its own."""
    def numbers():
        return np.arange(120, dtype=np.float32).reshape(6, 5, 4)

    view = Mtl.StridedView.new_zeros(Mtl.Device.get_host(), Mtl.DType.FLOAT32, [6, 5, 4])
    view[...] = numbers()
    return {"np": np, "torch": torch, "tvm_ffi": tvm_ffi, "Mtl": Mtl, "view": view,
            "ndarray": numbers(), "tensor": torch.from_numpy(numbers()),
            "tvm_tensor": tvm_ffi.from_dlpack(numbers()), "memory": memoryview(numbers())}


def measure(*statements, names=None):
    """The best of each, in seconds a call; in turn, so that what slows the
    machine slows all."""
    timers = [timeit.Timer(statement, globals=names) for statement in statements]
    best = [float("inf")] * len(timers)
    for _ in range(ROUNDS):
        for i, timer in enumerate(timers):
            best[i] = min(best[i], timer.timeit(CALLS) / CALLS)
    return best


def main():
    names = subjects()
    missed = 0
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}, PyTorch {torch.__version__}, "
          f"apache-tvm-ffi {tvm_ffi.__version__}")
    print(f"{'call':26} {'ns':>6}  {'peer':30} {'ns':>6}  {'ratio':>5}  {'at most':>7}")
    for call, peer, limit in ROWS:
        ours, theirs = measure(call, peer, names=names)
        over = ours / theirs > limit
        missed += over
        print(f"{call:26} {ours * 1e9:6.0f}  {peer:30} {theirs * 1e9:6.0f}  "
              f"{ours / theirs:5.2f}  {limit:7}{'  missed' if over else ''}", flush=True)
    print(f"{len(ROWS) - missed} of {len(ROWS)} within their limit")


if __name__ == "__main__":
    main()
