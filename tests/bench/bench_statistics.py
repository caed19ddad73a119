# SPDX-License-Identifier: LGPL-2.1-or-later
"""Statistics and scaled copies against NumPy: microseconds, the best of several rounds taken in
turn, and what NumPy takes for the same relative to that. At the end, the worst ratio."""

import sys

import gi

gi.require_version("Mtl", "1")

import numpy as np  # noqa: E402
from bench_convert import best_of  # noqa: E402
from gi.repository import Mtl  # noqa: E402

TYPES = ["float32", "float64", "float16", "uint8", "int16", "int32", "int64", "bool"]
SIZES = [1000, 64 * 1024, 1024 * 1024, 64 * 1024 * 1024]
PICTURES = [(64, 64), (480, 640), (2160, 3840)]


def show(label, calls, worst):
    best = best_of(calls, 0.1)
    ratio = best["mtldl"] / best["NumPy"]
    print(f"{label:48}{best['mtldl'] * 1e6:12.1f}{best['NumPy'] * 1e6:12.1f}{ratio:9.3f}",
          flush=True)
    worst.append((ratio, label))


def of_statistics(array):
    view = Mtl.asview(array)

    def numpy():
        return array.min(), array.max(), array.mean(), array.std()

    return {"mtldl": view.compute_statistics, "NumPy": numpy}


def show_statistics(worst):
    rng = np.random.default_rng(1)
    for size in SIZES:
        for name in TYPES:
            n = max(size // np.dtype(name).itemsize, 1000) // 8 * 8
            array = (rng.random(n) * 100).astype(name)
            for layout, part in {"contiguous": array, "transposed": array.reshape(8, -1).T,
                                 "[::2]": array[::2],
                                 "[::-1, 1:]": array.reshape(-1, 8)[::-1, 1:]}.items():
                show(f"statistics, {name}, {n} elements, {layout}", of_statistics(part), worst)


def of_floats(pixels, floats):
    """Scales numbers from 0 to 255 to -0.5 to 0.5."""
    dest, source = Mtl.asview(floats), Mtl.asview(pixels)

    def numpy():
        np.multiply(pixels, np.float32(1 / 255), dtype=np.float32, out=floats)
        np.subtract(floats, np.float32(0.5), out=floats)

    return {"mtldl": lambda: dest.copy_scaled_from(source, 1 / 255, -0.5), "NumPy": numpy}


def of_pixels(floats, pixels):
    """Scales the numbers back, rounded and limited."""
    dest, source = Mtl.asview(pixels), Mtl.asview(floats)
    scaled = np.empty(floats.shape, np.float32)

    def numpy():
        np.multiply(floats, np.float32(255), out=scaled)
        np.add(scaled, np.float32(127.5), out=scaled)
        np.rint(scaled, out=scaled)
        np.clip(scaled, 0, 255, out=scaled)
        np.copyto(pixels, scaled, casting="unsafe")

    return {"mtldl": lambda: dest.copy_scaled_from(source, 255, 127.5), "NumPy": numpy}


def show_pictures(worst):
    rng = np.random.default_rng(1)
    for height, width in PICTURES:
        for n in (3, 4):
            pixels = rng.integers(0, 256, (height, width, n), np.uint8)
            rows = np.zeros(pixels.shape, np.float32)
            planes = np.zeros((n, height, width), np.float32)
            label = f"{height}x{width}x{n}"
            show(f"uint8 HWC -> float32 HWC, {label}", of_floats(pixels, rows), worst)
            show(f"uint8 HWC -> float32 CHW, {label}",
                 of_floats(pixels.transpose(2, 0, 1), planes), worst)
            show(f"float32 HWC -> uint8 HWC, {label}", of_pixels(rows, pixels.copy()), worst)
            show(f"float32 CHW -> uint8 HWC, {label}",
                 of_pixels(planes.transpose(1, 2, 0), pixels.copy()), worst)


def main():
    for n_threads in [int(word) for word in sys.argv[1:]] or [1, 2]:
        for title, run in {"statistics": show_statistics, "scaled copies": show_pictures}.items():
            worst = []
            Mtl.set_max_threads(n_threads)
            print(f"{f'{title}, threads: {n_threads}':48}{'mtldl, µs':>12}{'NumPy, µs':>12}"
                  f"{'ratio':>9}")
            run(worst)
            ratio, label = max(worst)
            mean = np.exp(np.mean([np.log(one) for one, _ in worst]))
            print(f"{title}, threads: {n_threads}: {mean:.3f} of NumPy's time in the geometric "
                  f"mean, at worst {ratio:.3f} ({label})")


if __name__ == "__main__":
    main()
