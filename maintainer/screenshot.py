#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: ./run screenshot

Takes pictures in docs/ of mtldl-viewer: tensor-viewer.png, and -dark.png of a picture; and of the
examples: example-tensor-viewer.png, and the pictures that some read and save,
example-picture-before.png and example-picture.png; example-video.png and example-spectrum.png.
"""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / 'tests' / 'support'))

import numpy as np
import builds
from gtk_program import LiveProgram, Program, Screen, load_picture, write_safetensors

SIZE = 128
SELECTED = 'encoder.position.weight'
PICTURE = 'input.picture'


def make_positions(n_positions, base):
    """Sines and cosines of ever longer waves, as transformers tell positions by."""
    waves = np.outer(np.arange(n_positions) / 2, base ** -np.linspace(0, 1, SIZE // 2))
    return np.hstack([np.sin(waves), np.cos(waves)])


def make_picture():
    """Hills under a sky, as floats from 0 to 1."""
    down, right = np.mgrid[0:1:240j, 0:1:320j]
    picture = np.stack([0.45 + 0.5 * down, 0.6 + 0.25 * down, 0.95 - 0.3 * down], axis=-1)
    sun = np.hypot((right - 0.72) * 1.33, down - 0.42) < 0.1
    picture[sun] = 1, 0.93, 0.7
    for level, color in ((0.6, (0.35, 0.45, 0.6)), (0.75, (0.22, 0.36, 0.4)),
                         (0.88, (0.1, 0.22, 0.2))):
        hills = down > level + 0.08 * np.sin(right * 9 * level + 9 * level) * np.cos(right * 4)
        picture[hills] = color
    return picture.astype('f4')


def make_model():
    random = np.random.default_rng(1)
    positions = np.stack([make_positions(110, base) for base in (25, 1000)])
    model = {'encoder.embedding.weight': ('BF16', np.zeros((8000, SIZE), 'u2')),
             SELECTED: ('F16', positions.astype('f2')),
             PICTURE: ('F32', make_picture())}
    shapes = {'attention.qkv.weight': (3, SIZE, SIZE), 'attention.qkv.bias': (3, SIZE),
              'mlp.weight': (SIZE, 4 * SIZE), 'norm.weight': (SIZE,)}
    for layer in (0, 1, 10):
        for part, shape in shapes.items():
            values = random.normal(size=shape).astype('f4')
            model[f'encoder.layers.{layer}.{part}'] = ('F32', values)
    return model


def save(pixels, path):
    """Saves a PNG without a filter for rows, which GdkPixbuf uses: this is smaller for even
    areas."""
    rows, columns = (1 + np.argwhere(pixels.any(axis=-1)).max(axis=0)).tolist()
    lines = np.zeros((rows, 1 + 3 * columns), np.uint8)
    lines[:, 1:] = pixels[:rows, :columns].reshape(rows, -1)
    chunks = {b'IHDR': struct.pack('>IIBBBBB', columns, rows, 8, 2, 0, 0, 0),
              b'IDAT': zlib.compress(lines.tobytes(), 9), b'IEND': b''}
    pathlib.Path(path).write_bytes(b'\x89PNG\r\n\x1a\n' + b''.join(
        struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
        for kind, data in chunks.items()))


def take(program, path):
    program.wait(program.is_seen, 'it on the screen')
    time.sleep(1)       # until nothing moves any more
    save(program.screen.get_pixels(), path)


def take_viewer(program, out, names):
    def select(name):
        listed = [text for text in program.ask()['texts'] if text in names]
        program.ask('select', listed.index(name))
        # It is named in the list and beside the picture.
        program.wait(lambda shown: 'picture' in shown and shown['texts'].count(name) == 2, name)

    program.wait(lambda shown: 'picture' in shown, 'a picture')
    program.ask('resize', 1180, 700)
    select(SELECTED)
    program.ask('spin', 0, 1)
    program.ask('activate', 'win.zoom-fit')
    program.wait(lambda shown: shown['picture']['size'] == [440, 512], 'the whole picture')
    program.ask('point', 300, 200)
    take(program, out / 'tensor-viewer.png')

    select(PICTURE)
    program.ask('activate', 'app.style', 'dark')
    program.ask('activate', 'win.zoom-in')
    program.ask('activate', 'win.zoom-fit')
    take(program, out / 'tensor-viewer-dark.png')
    program.close()


def take_example(program, out, row):
    program.wait(lambda shown: 'picture' in shown, 'a picture')
    program.ask('select', row)
    program.wait(lambda shown: any(SELECTED + '  ' in text for text in shown['texts']), SELECTED)
    take(program, out / 'example-tensor-viewer.png')
    program.close()


def take_live(screen, folder, name, is_shown, path):
    """Takes the picture as soon as the window has what it should."""
    taken = []

    def take_if_shown(pixels):
        if is_shown(pixels):
            taken.append(pixels)
        return taken

    LiveProgram(screen, folder, sys.executable, ROOT / 'examples' / 'python' / name
                ).wait_for(take_if_shown)
    save(taken[0], path)


def has_bars(pixels):
    """True if the colors of the test video are there, at the top and further down."""
    return (np.ptp(pixels[[0, 300], :640], axis=-1).max(axis=-1) > 200).all()


def has_curve(pixels):
    """True if the curve of the spectrum is bright at the right."""
    return (pixels[:256, 325:328].max(axis=-1) > 200).any()


def change_picture(out):
    """Runs the examples with pictures."""
    before, after = out / 'example-picture-before.png', out / 'example-picture.png'
    save(np.round(make_picture() * 255).astype(np.uint8), before)
    subprocess.run([sys.executable, ROOT / 'examples' / 'python' / 'picture.py', before, after],
                   check=True)
    save(load_picture(after), after)


def main():
    builds.need('for the screenshots', '@build', '@demo', '@viewer')
    folder = builds.build()
    os.environ.update(builds.environment())
    viewer, out = folder / 'viewer' / 'mtldl-viewer', ROOT / 'docs'
    change_picture(out)
    with tempfile.TemporaryDirectory() as name, Screen(pathlib.Path(name)) as screen:
        folder = pathlib.Path(name)
        take_live(screen, folder, 'video.py', has_bars, out / 'example-video.png')
        take_live(screen, folder, 'spectrum.py', has_curve, out / 'example-spectrum.png')
        path = folder / 'model.safetensors'
        model = make_model()
        write_safetensors(path, model)
        take_example(Program(screen, folder, 'gjs', ROOT / 'examples' / 'gjs' / 'tensor-viewer.js',
                             path), out, list(model).index(SELECTED))
        take_viewer(Program(screen, folder, 'python', viewer, path), out, list(model))


if __name__ == '__main__':
    if sys.argv[1:]:
        sys.exit(__doc__)
    try:
        main()
    except builds.Failed:
        sys.exit(1)
