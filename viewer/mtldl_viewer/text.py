# SPDX-License-Identifier: LGPL-2.1-or-later
"""Texts about tensors. Names come from strangers' files."""

import math
import re
import unicodedata
from gettext import gettext as _
from gettext import ngettext

from gi.repository import GLib

MAX_LENGTH = 200


def printable(text, limit=MAX_LENGTH):
    """Makes a text fit for display: on one line, and not too long."""
    shown = ''.join(character if character.isprintable() else f'\\u{ord(character):04x}'
                    for character in text[:limit])
    return shown + '…' if len(text) > limit else shown


def name_of(entry):
    """The array of a .npy file has the name of the file."""
    if entry.name:
        return printable(entry.name)
    name = entry.get_file().get_basename() or ''
    return printable(name.removesuffix('.npy')) or _('(no name)')


def natural_key(name):
    """Sorts layer.2 before layer.10."""
    return [_number_key(digits) if digits else (-1, text.casefold())
            for digits, text in re.findall(r'(\d+)|(\D+)', name)]


def _number_key(digits):
    """Its length and its digits, in the order of the numbers: Python refuses to read thousands of
    digits as an integer."""
    ascii_digits = ''.join(str(unicodedata.digit(digit)) for digit in digits).lstrip('0')
    return len(ascii_digits), ascii_digits


def shape_of(shape):
    return ' × '.join(map(str, shape)) or _('scalar')


def size_of(n_bytes):
    return GLib.format_size_full(n_bytes, GLib.FormatSizeFlags.IEC_UNITS)


def summary_of(entry):
    """The shape of a tensor that cannot be loaded may be unknown."""
    shapes = [shape_of(entry.shape)] if entry.shape or entry.error is None else []
    return ' · '.join((printable(entry.type_name), *shapes, size_of(entry.nbytes)))


def number(value):
    """A number of a scale, or of statistics, in few digits."""
    if isinstance(value, complex):
        return f'{value:.6g}'
    if math.isnan(value):
        return '–'
    return str(value) if isinstance(value, int) else f'{value:.6g}'


def count(value):
    return f'{value:n}'


def tensors(n_tensors):
    return ngettext('{} tensor', '{} tensors', n_tensors).format(n_tensors)


def message_of(error):
    # The text of an OSError without its number.
    told = getattr(error, 'message', None) or getattr(error, 'strerror', None) or str(error)
    return printable(told, 1000)
