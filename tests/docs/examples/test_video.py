#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs an example that filters a video: test_video.py COMMAND…

What has to be recorded and shown is computed here, from what GStreamer's test
source draws.
"""

import pathlib
import sys
import tempfile

import gi
import numpy as np

gi.require_version('Gst', '1.0')
gi.require_version('GstApp', '1.0')
gi.require_version('GstVideo', '1.0')
sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / 'support'))
from gi.repository import Gst, GstApp, GstVideo  # noqa: E402, F401
from gtk_program import LiveProgram, Screen  # noqa: E402

FRAMES = 5
SOURCE = 'videotestsrc num-buffers=1 ! video/x-raw, width=640, height=480'
STEADY_ROWS = 320           # those below them have noise
LOSS = 6                    # the codec's, in levels of 255, on average


def decode(source):
    """[frame, height, width, 3]"""
    pipeline = Gst.parse_launch(f'{source} ! videoconvert ! video/x-raw, format=RGB'
                                ' ! appsink name=frames sync=false')
    pipeline.set_state(Gst.State.PLAYING)
    frames = []
    while (sample := pipeline.get_by_name('frames').pull_sample()) is not None:
        info = GstVideo.VideoInfo.new_from_caps(sample.get_caps())
        buffer = sample.get_buffer()
        data = np.frombuffer(buffer.extract_dup(0, buffer.get_size()), np.uint8)
        frames.append(data.reshape(info.height, info.width, 3)[:STEADY_ROWS].astype(int))
    pipeline.set_state(Gst.State.NULL)
    return np.array(frames)


def get_expected():
    frame = decode(SOURCE)[0]
    half = frame.shape[1] // 2
    frame[:, :half] = 255 - frame[:, :half]
    return frame


def contains(screen, picture):
    """True if the picture is somewhere on the screen."""
    height, width = picture.shape[:2]
    within = screen[:screen.shape[0] - height + 1, :screen.shape[1] - width + 1]
    corners = np.argwhere((within == picture[0, 0]).all(axis=-1))
    for y in (0, height - 1):
        for x in range(0, width, 32):
            pixels = screen[corners[:, 0] + y, corners[:, 1] + x]
            corners = corners[(pixels == picture[y, x]).all(axis=-1)]
    return any(np.array_equal(screen[y:y + height, x:x + width], picture) for y, x in corners)


def check_recording(path, expected):
    frames = decode(f'filesrc location="{path}" ! oggdemux ! theoradec')
    assert len(frames) == FRAMES, len(frames)
    losses = np.abs(frames - expected).mean(axis=(1, 2, 3))
    assert (losses < LOSS).all(), losses


def main():
    if not Screen.is_available():
        print('1..0 # SKIP Xvfb is not installed')
        return

    Gst.init(None)
    expected = get_expected()
    with tempfile.TemporaryDirectory() as name, Screen(pathlib.Path(name)) as screen:
        folder = pathlib.Path(name)
        program = LiveProgram(screen, folder, *sys.argv[1:])

        path = folder / 'recording.ogg'
        printed = program.run('--frames', FRAMES, '--record', path)
        assert printed == f'{FRAMES} frames shown\n', printed
        check_recording(path, expected)

        program.wait_for(lambda pixels: contains(pixels, expected))
    print('1..2\nok 1 - recorded\nok 2 - shown')


if __name__ == '__main__':
    main()
