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
from gi.repository import Gst, GstApp  # noqa: E402, F401

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python" / "torch_video.py"
FRAMES = 4
WIDTH, HEIGHT = 320, 240


def decode(path):
    """[frame, row, column]"""
    Gst.init(None)
    pipeline = Gst.parse_launch("filesrc name=file ! oggdemux ! theoradec ! videoconvert"
                                " ! video/x-raw, format=GRAY8 ! appsink name=frames sync=false")
    pipeline.get_by_name("file").set_property("location", str(path))
    pipeline.set_state(Gst.State.PLAYING)
    frames = []
    while (sample := pipeline.get_by_name("frames").pull_sample()) is not None:
        frames.append(sample.get_buffer().extract_dup(0, WIDTH * HEIGHT))
    pipeline.set_state(Gst.State.NULL)
    return [np.frombuffer(frame, np.uint8).reshape(HEIGHT, WIDTH) for frame in frames]


def test_edges(tmp_path):
    path = tmp_path / "edges.ogg"
    subprocess.run([sys.executable, EXAMPLE, "--frames", str(FRAMES), path], check=True)

    # Of a white ball on black, 40 pixels wide, only the edge is left.
    frames = decode(path)
    assert len(frames) == FRAMES
    for frame in frames:
        rows, columns = np.nonzero(frame > 128)
        middle = frame[(rows.min() + rows.max()) // 2, columns.min():columns.max() + 1] > 128
        assert 35 < np.ptp(rows) < 50 and 35 < np.ptp(columns) < 50
        assert middle[:2].any() and middle[-2:].any() and not middle[10:-10].any()
