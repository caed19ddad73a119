#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""take-screenshot.py LANGUAGE PROGRAM OUT.png

What a user sees of an example that shows files of tensors.
"""

import pathlib
import struct
import sys
import tempfile
import zlib

import numpy as np
from gtk_program import Program, Screen, write_safetensors

SIZE = 128
SELECTED = 'encoder.position.weight'


def make_positions(n_positions, base):
    """Sines and cosines of ever longer waves, as transformers tell positions by."""
    waves = np.outer(np.arange(n_positions) / 2, base ** -np.linspace(0, 1, SIZE // 2))
    return np.hstack([np.sin(waves), np.cos(waves)])


def make_model():
    random = np.random.default_rng(1)
    positions = np.stack([make_positions(115, base) for base in (1000, 25)])
    model = {'encoder.embedding.weight': ('BF16', np.zeros((8000, SIZE), 'u2')),
             SELECTED: ('F16', positions.astype('f2'))}
    shapes = {'attention.qkv.weight': (3, SIZE, SIZE), 'attention.qkv.bias': (3, SIZE),
              'mlp.weight': (SIZE, 4 * SIZE), 'norm.weight': (SIZE,)}
    for layer in range(3):
        for part, shape in shapes.items():
            values = random.normal(size=shape).astype('f4')
            model[f'encoder.layers.{layer}.{part}'] = ('F32', values)
    model['encoder.steps'] = ('I64', np.array(120000))
    return model


def save(pixels, path):
    """Without a filter for rows, as GdkPixbuf has them, a PNG of even areas is smaller."""
    rows, columns = (1 + np.argwhere(pixels.any(axis=-1)).max(axis=0)).tolist()
    lines = np.zeros((rows, 1 + 3 * columns), np.uint8)
    lines[:, 1:] = pixels[:rows, :columns].reshape(rows, -1)
    chunks = {b'IHDR': struct.pack('>IIBBBBB', columns, rows, 8, 2, 0, 0, 0),
              b'IDAT': zlib.compress(lines.tobytes(), 9), b'IEND': b''}
    pathlib.Path(path).write_bytes(b'\x89PNG\r\n\x1a\n' + b''.join(
        struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
        for kind, data in chunks.items()))


def main(language, path, out):
    model = make_model()
    with tempfile.TemporaryDirectory() as name, Screen(pathlib.Path(name)) as screen:
        folder = pathlib.Path(name)
        write_safetensors(folder / 'model.safetensors', model)
        program = Program(screen, folder, language, path, folder / 'model.safetensors')

        program.ask('select', list(model).index(SELECTED))
        program.wait(lambda shown: shown.get('picture', {}).get('size') == [460, 512],
                     'the picture')
        first = program.save_picture()
        program.ask('spin', 0, 1)
        program.wait(lambda shown: (program.save_picture() != first).any(), 'the next slice')
        program.ask('point', 300, 200)
        program.wait(program.is_seen, 'it on the screen')
        pixels = screen.get_pixels()
        program.close()
    save(pixels, out)


if __name__ == '__main__':
    main(*sys.argv[1:])
