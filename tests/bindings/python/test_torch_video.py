# SPDX-License-Identifier: LGPL-2.1-or-later
"""The example in which PyTorch finds the edges in frames of a video."""

import pathlib
import subprocess
import sys

import gi
import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is among the pinned peers only")
try:
    gi.require_version("Gst", "1.0")
    gi.require_version("GstApp", "1.0")
    gi.require_version("MtlGst", "1")
except ValueError as error:
    pytest.skip(f"needs the bridge to GStreamer: {error}", allow_module_level=True)

EXAMPLE = pathlib.Path(__file__).resolve().parents[3] / "examples" / "python" / "torch_video.py"
FRAMES = 4
WIDTH, HEIGHT = 320, 240


# This runs in a process of its own, because Debian 12's GStreamer brings a libunwind, with which
# the exceptions of C++ libraries that are loaded later end the process: JAX, in other tests,
# throws.
DECODE = f"""
import sys
import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp
Gst.init(None)
pipeline = Gst.parse_launch("filesrc name=file ! oggdemux ! theoradec ! videoconvert"
                            " ! video/x-raw, format=GRAY8 ! appsink name=frames sync=false")
pipeline.get_by_name("file").set_property("location", sys.argv[1])
pipeline.set_state(Gst.State.PLAYING)
while (sample := pipeline.get_by_name("frames").pull_sample()) is not None:
    sys.stdout.buffer.write(sample.get_buffer().extract_dup(0, {WIDTH * HEIGHT}))
pipeline.set_state(Gst.State.NULL)
"""


def decode(path):
    """[frame, row, column]"""
    frames = subprocess.run([sys.executable, "-c", DECODE, path], check=True,
                            stdout=subprocess.PIPE).stdout
    return np.frombuffer(frames, np.uint8).reshape(-1, HEIGHT, WIDTH)


def test_edges(tmp_path):
    path = tmp_path / "edges.ogg"
    subprocess.run([sys.executable, EXAMPLE, "--frames", str(FRAMES), path], check=True)

    # Only the edge is left of a white ball on black, 40 pixels wide.
    frames = decode(path)
    assert len(frames) == FRAMES
    for frame in frames:
        rows, columns = np.nonzero(frame > 128)
        middle = frame[(rows.min() + rows.max()) // 2, columns.min():columns.max() + 1] > 128
        assert 35 < np.ptp(rows) < 50 and 35 < np.ptp(columns) < 50
        assert middle[:2].any() and middle[-2:].any() and not middle[10:-10].any()
