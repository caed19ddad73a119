# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls from Python against the same calls of the peers: nanoseconds, the best
of several rounds taken in turn, and their ratio.
"""

import time

import gi

gi.require_version("Mtl", "1")

import numpy as np  # noqa: E402
import torch  # noqa: E402
from gi.repository import Mtl  # noqa: E402

ROUNDS = 60
CALLS = 5000


def measure(*calls):
    """The best of each; in turn, so that what slows the machine slows all."""
    best = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for i, call in enumerate(calls):
            repeat = range(CALLS)
            start = time.perf_counter()
            for _ in repeat:
                call()
            best[i] = min(best[i], (time.perf_counter() - start) / CALLS)
    return [seconds * 1e9 for seconds in best]


def main():
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    view = Mtl.asview(np.arange(24, dtype=np.float32).reshape(2, 3, 4)).copy()
    tensor = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
    rows = [
        ("np.from_dlpack(view)", lambda: np.from_dlpack(view),
         "np.from_dlpack(ndarray)", lambda: np.from_dlpack(array), 1.2),
        ("Mtl.from_dlpack(ndarray)", lambda: Mtl.from_dlpack(array),
         "torch.from_dlpack(ndarray)", lambda: torch.from_dlpack(array), 1.0),
        ("view.permute(2, 0, 1)", lambda: view.permute(2, 0, 1),
         "torch", lambda: tensor.permute(2, 0, 1), 1.0),
        ("view[0:2, 1, ::2]", lambda: view[0:2, 1, ::2],
         "torch", lambda: tensor[0:2, 1, ::2], 1.0),
        ("view.reshape(6, 4)", lambda: view.reshape(6, 4),
         "torch", lambda: tensor.reshape(6, 4), 1.0),
        ("view[1, 1, 1]", lambda: view[1, 1, 1], "ndarray", lambda: array[1, 1, 1], None),
        ("view.shape", lambda: view.shape, "torch", lambda: tensor.shape, None),
        ("memoryview(view)", lambda: memoryview(view),
         "ndarray", lambda: memoryview(array), None),
        ("np.asarray(view)", lambda: np.asarray(view),
         "memoryview", lambda m=memoryview(array): np.asarray(m), None),
    ]
    print(f"{'call':26} {'ns':>7}  {'peer':26} {'ns':>7}  {'ratio':>5}  goal")
    for name, call, peer, peer_call, goal in rows:
        ours, theirs = measure(call, peer_call)
        print(f"{name:26} {ours:7.0f}  {peer:26} {theirs:7.0f}  {ours / theirs:5.2f}"
              f"  {'' if goal is None else f'<= {goal}'}")


if __name__ == "__main__":
    main()
