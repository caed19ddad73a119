# SPDX-License-Identifier: LGPL-2.1-or-later
"""Code that loads the slice that is shown."""

import json


def slices_of(choice):
    """The index as code, in NumPy's notation, which JavaScript takes as a text."""
    return ', '.join(':' if part == slice(None) else str(part) for part in choice.get_index())


def is_whole(choice):
    return not choice.get_hidden()


def permutation_of(choice):
    order = choice.get_order()
    return order if order != sorted(order) else None


def to_python(file, name, choice):
    path = file.get_path()
    what = repr(path) if path is not None else f'Gio.File.new_for_uri({file.get_uri()!r})'
    lines = ['import gi', '', "gi.require_version('Mtl', '1')",
             'from gi.repository import Mtl' if path is not None else
             'from gi.repository import Gio, Mtl', '',
             f'tensors = Mtl.load({what})', f'view = tensors[{name!r}]']
    if not is_whole(choice):
        lines[-1] += f'[{slices_of(choice)}]'
    if (order := permutation_of(choice)) is not None:
        lines[-1] += f'.permute({", ".join(map(str, order))})'
    return '\n'.join(lines) + '\n'


def is_text(path):
    """Checks for valid UTF-8, as JavaScript has no other texts."""
    return path is not None and not any('\ud800' <= character <= '\udfff' for character in path)


def to_javascript(file, name, choice):
    path = file.get_path() if is_text(file.get_path()) else None
    what = (f'new_for_path({json.dumps(path)})' if path is not None else
            f'new_for_uri({json.dumps(file.get_uri())})')
    lines = ["import Gio from 'gi://Gio';", "import Mtl from 'gi://Mtl?version=1';", '',
             f'const tensors = Mtl.TensorFile.open(Gio.File.{what});',
             f'const view = tensors.get({json.dumps(name)})']
    if not is_whole(choice):
        lines[-1] += f'.slice({json.dumps(slices_of(choice))})'
    if (order := permutation_of(choice)) is not None:
        lines[-1] += f'.permute({json.dumps(order)})'
    lines[-1] += ';'
    return '\n'.join(lines) + '\n'
