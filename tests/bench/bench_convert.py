# SPDX-License-Identifier: LGPL-2.1-or-later
"""Conversions against the same ones of NumPy and PyTorch: GB/s of bytes read and written, on one
thread, the best of several rounds taken in turn, and ratios."""

import sys
import time

import gi

gi.require_version("Mtl", "1")

import ml_dtypes  # noqa: E402, F401: NumPy's floats of 16 bits and fewer
import numpy as np  # noqa: E402
import torch  # noqa: E402
from gi.repository import Mtl  # noqa: E402

COMMON = [(source, target)
          for other in ("float16", "bfloat16", "float64", "uint8", "int8", "uint16", "int16",
                        "int32", "int64", "bool")
          for source, target in (("float32", other), (other, "float32"))]
OTHERS = [("float64", "float16"), ("float16", "bfloat16"), ("bfloat16", "float16"),
          ("int64", "float16"), ("float64", "int64"), ("float64", "int32"), ("int64", "float64"),
          ("int64", "int32"), ("int32", "int64"), ("uint8", "int16"), ("int32", "uint8"),
          ("bool", "int64"), ("int64", "bool"), ("uint8", "bool"), ("float16", "bool"),
          ("complex64", "complex128"), ("complex128", "complex64"), ("float32", "complex64"),
          ("float32", "float8_e4m3fn"), ("float8_e4m3fn", "float32"),
          ("bfloat16", "float8_e4m3fn"), ("float8_e4m3fn", "bfloat16"),
          ("float32", "float8_e5m2"), ("float8_e5m2", "float32"),
          ("float32", "float8_e8m0fnu"), ("float8_e8m0fnu", "float32"),
          ("float32", "float6_e3m2fn"), ("float6_e3m2fn", "float32"),
          ("float32", "float4_e2m1fn"), ("float4_e2m1fn", "float32"),
          ("float4_e2m1fn", "bfloat16"), ("float32", "int4"), ("int4", "float32"),
          ("int4", "int8"), ("uint2", "float32")]
SIZES = (64 * 1024, 16 * 1024 * 1024)
SECONDS = 0.3


def best_of(calls, seconds=SECONDS):
    """Returns the least time of each call."""
    best = dict.fromkeys(calls, float("inf"))
    for call in calls.values():
        call()
    end = time.perf_counter() + seconds * len(calls)
    while time.perf_counter() < end:
        for name, call in calls.items():
            for _ in range(3):
                begin = time.perf_counter()
                call()
                best[name] = min(best[name], time.perf_counter() - begin)
    return best


def new_view(name, n):
    return Mtl.StridedView.new_zeros(None, Mtl.DType.from_string(name), [n])


def as_tensor(view):
    """Returns a tensor of the view's memory. PyTorch converts no numbers of fewer than 8 bits."""
    dtype = getattr(torch, view.dtype.name, None) if view.layout.get_item_bits() % 8 == 0 else None
    if dtype is None:
        return None
    memory = np.asarray(view.reinterpret(Mtl.DType.UINT8))
    return torch.from_numpy(memory).view(dtype)


def as_array(view):
    """Returns an array of the view's memory; NumPy gets packed elements as a copy only."""
    return np.asarray(view) if view.layout.get_item_bits() % 8 == 0 else None


def fill(view, rng):
    """Numbers that all types have."""
    values = rng.integers(0, 2 if view.dtype.name == "bool" else 100, view.size)
    view.copy_from(Mtl.asview(values))


def get_calls(source, target, n, rng):
    from_view, to_view = new_view(source, n), new_view(target, n)
    fill(from_view, rng)
    calls = {"mtldl": lambda: to_view.copy_from(from_view)}

    from_array, to_array = as_array(from_view), as_array(to_view)
    if from_array is not None and to_array is not None:
        calls["NumPy"] = lambda: np.copyto(to_array, from_array, casting="unsafe")

    from_tensor, to_tensor = as_tensor(from_view), as_tensor(to_view)
    if from_tensor is not None and to_tensor is not None:
        calls["torch"] = lambda: to_tensor.copy_(from_tensor)

    return calls, from_view.nbytes + to_view.nbytes


def show(source, target, n, rng):
    calls, size = get_calls(source, target, n, rng)
    speed = {name: size / seconds / 1e9 for name, seconds in best_of(calls).items()}
    columns = [f"{speed['mtldl']:8.1f}"]
    for name in ("torch", "NumPy"):
        columns += [f"{speed[name]:8.1f}{speed['mtldl'] / speed[name]:7.2f}" if name in speed
                    else f"{'-':>8}{'-':>7}"]
    label = f"{n // 1024} Ki" if n < 2**20 else f"{n // 2**20} Mi"
    print(f"{source + ' -> ' + target:32}{label:>8}{''.join(columns)}", flush=True)


def main():
    torch.set_num_threads(1)
    Mtl.set_max_threads(1)
    pairs = [pair for pair in COMMON + OTHERS
             if not sys.argv[1:] or any(word in pair for word in sys.argv[1:])]
    rng = np.random.default_rng(1)
    print(f"{'GB/s in and out, one thread':32}{'n':>8}{'mtldl':>8}{'torch':>8}{'x':>7}"
          f"{'NumPy':>8}{'x':>7}")
    for source, target in pairs:
        for n in SIZES:
            show(source, target, n, rng)


if __name__ == "__main__":
    main()
