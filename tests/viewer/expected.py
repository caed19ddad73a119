# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tensors, and what pictures of them have to be, computed with NumPy."""

import numpy as np

RAMP = np.array([[16, 22, 61], [35, 61, 132], [31, 122, 149], [67, 178, 132], [179, 217, 85],
                 [255, 242, 161]], float)
NAN, INFINITE = (224, 27, 36), (192, 97, 203)
N_STEPS = 254

random = np.random.default_rng(8)
NORMAL = random.normal(size=(90, 70)).astype('f4')
ODD = NORMAL.copy()
ODD[3, 5:9], ODD[10:20, 0], ODD[40, 40] = np.nan, np.inf, -np.inf
LARGE = (np.add.outer(np.arange(2400) ** 2 // 977, np.arange(1800) * 3) % 251).astype('u1')
LARGE[1, 1] = 255           # in no sample
EXTREME = np.array([[-1.7e308, 1.7e308, 0], [np.nan, np.inf, 1e308]])
PHOTO = np.stack([np.add.outer(np.arange(30), np.arange(40)) * part for part in (1, 2, 3)],
                 axis=-1).astype('u1')

TENSORS = {
    'layers.10.weight': ('F32', NORMAL + 1),
    'layers.2.weight': ('F32', NORMAL),
    'half': ('F16', NORMAL.astype('f2')),
    'brain': ('BF16', (NORMAL.view('u4') >> 16).astype('u2')),
    'eight.bits': ('F8_E5M2', (NORMAL.astype('f2').view('u2') >> 8).astype('u1')),
    'wide': ('F64', NORMAL.astype('f8') * 1e30),
    'extreme': ('F64', EXTREME),
    'counts': ('I64', np.arange(-250, 250).reshape(20, 25)),
    'mask': ('BOOL', np.tri(40, 21, dtype=bool)),
    'odd': ('F32', ODD),
    'constant': ('F32', np.full((4, 5), 2.5, 'f4')),
    'nothing.known': ('F32', np.full((3, 3), np.nan, 'f4')),
    'slices': ('F32', random.normal(size=(5, 1, 3, 24, 16)).astype('f4')),
    'strip': ('F32', random.normal(size=(48, 40, 6)).astype('f4')),
    'photo': ('U8', PHOTO),
    'photo.floats': ('F32', np.dstack([PHOTO, np.full((30, 40), 128)]).astype('f4') / 255),
    'photo.grey': ('U16', (PHOTO[..., :1].astype('u2') * 100 + 50)),
    'layers.0.bias': ('F32', NORMAL[0, :50]),
    'scalar': ('F32', np.array(-7.25, 'f4')),
    'empty': ('F32', np.zeros((0, 4), 'f4')),
    'large': ('U8', LARGE),
    'st*r?': ('F32', NORMAL[:9, :9]),
    'a\nb\x1b[31m\x7f\u202ec <b>é</b>': ('I32', np.arange(12, dtype='i4').reshape(3, 4)),
}
# The names in the order of people, not of codes. Case does not matter, and digits come after other
# beginnings.
NAMES = ['a\nb\x1b[31m\x7f\u202ec <b>é</b>', 'brain', 'constant', 'counts', 'eight.bits', 'empty',
         'extreme', 'half', 'large', 'layers.0.bias', 'layers.2.weight', 'layers.10.weight',
         'mask', 'nothing.known', 'odd', 'photo', 'photo.floats', 'photo.grey', 'scalar',
         'slices', 'st*r?', 'strip', 'wide']
DTYPES = {'F32': 'float32', 'F16': 'float16', 'BF16': 'bfloat16', 'F8_E5M2': 'float8_e5m2',
          'F64': 'float64', 'I64': 'int64', 'BOOL': 'bool', 'U8': 'uint8', 'U16': 'uint16',
          'I32': 'int32'}


def get_values(name):
    dtype, array = TENSORS[name]
    if dtype == 'BF16':
        return (array.astype('u4') << 16).view('f4')
    if dtype == 'F8_E5M2':
        return (array.astype('u2') << 8).view('f2').astype('f4')
    return array if dtype == 'F64' else array.astype('f4')


def get_share(values, low, high):
    """Returns the place in the range, from 0 to 1."""
    values = np.where(np.isfinite(values), values, low).astype('f16')
    return np.clip((values - low) / (np.longdouble(high) - low), 0, 1).astype(float) \
        if high > low else np.zeros(values.shape)


def get_scale(values):
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)


def get_picture(values, factor=1, scale_of=None):
    """[rows, columns, red green blue], of 254 steps."""
    low, high = get_scale(values if scale_of is None else scale_of)
    steps = np.round(get_share(values, low, high) * (N_STEPS - 1)) / (N_STEPS - 1)
    colors = np.stack([np.interp(steps * 5, np.arange(6), channel) for channel in RAMP.T],
                      axis=-1).round()
    colors[np.isnan(values)] = NAN
    colors[np.isinf(values)] = INFINITE
    return colors.repeat(factor, 0).repeat(factor, 1)


def get_image(values, factor, low, high):
    """Returns the picture of one channel or three."""
    channels = np.round(get_share(values, low, high) * 255)
    return np.broadcast_to(channels, (*values.shape[:2], 3)).repeat(factor, 0).repeat(factor, 1)


def differ(picture, expected):
    """A step more or less is in how the numbers are rounded."""
    if picture.shape != expected.shape:
        return f'a picture of {picture.shape}, not of {expected.shape}'
    n_others = (abs(picture - expected) > 3).any(axis=-1).sum()
    return f'{n_others} of {expected.size // 3} pixels are others' if n_others else ''
