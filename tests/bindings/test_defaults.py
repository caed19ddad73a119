#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the files that are made from the table of defaults:
test_defaults.py TABLE PROGRAM GIR… [VAPI…]

The program refuses names that the GIRs lack: each sample breaks one line of the table. The VAPIs
have each default, where Vala can have one.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

# Lines, what each becomes, and what the complaint has to name.
SAMPLES = [
    ('Device.get: ordinal = 0', 'Device.got: ordinal = 0', ['Mtl.Device.got']),
    ('Device.get: ordinal = 0', 'Device.get: ordinary = 0', ['Mtl.Device.get', 'ordinary',
                                                            'ordinal']),
    ('StridedLayout.narrow: step = 1', 'StridedLayout.narrow: start = 0', ['narrow', 'start']),
    ('StridedLayout.to_dense: order = Order.C', 'StridedLayout.to_dense: order = Order.D',
     ['Mtl.Order.D', 'to_dense']),
    ('StridedLayout.to_dense: order = Order.C', 'StridedLayout.to_dense: order = TensorFileMode.MAP',
     ['Mtl.Order', 'Mtl.TensorFileMode.MAP']),
    ('StridedLayout.to_dense: order = Order.C', 'StridedLayout.to_dense: order = null',
     ['to_dense', 'null']),
    ('[MtlGst]', '[MtlGst]\nbuffer_to_view: info = null', ['MtlGst.buffer_to_view']),
    ('view_from_buffer_tensor: flags = Gst.MapFlags.READ',
     'view_from_buffer_tensor: flags = StorageMode.HOST',
     ['Gst.MapFlags', 'MtlGst.StorageMode.HOST']),
    ('view_from_dmabuf: flags', 'view_from_dmabuf: written', ['written']),
    ('[MtlGtk on Linux]', '[MtlGkt on Linux]', ['MtlGkt']),
    ('texture_from_dmabuf: flags', 'texture_from_dmabufs: flags', ['texture_from_dmabufs']),
]

NUMBER = re.compile(r'-?[\d.]+(?:e-?\d+)?')


def check_samples(table, program, girs):
    text = pathlib.Path(table).read_text(encoding='utf-8')
    namespaces = {pathlib.Path(gir).name.partition('-')[0] for gir in girs}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'defaults.ini'
        for right, wrong, names in SAMPLES:
            assert text.count(right) == 1, right
            section = re.findall(r'^\[(\w+).*\]$', text[:text.index(right) + 1] + '\n' + right,
                                 re.MULTILINE)[-1]
            if section not in namespaces:
                continue
            path.write_text(text.replace(right, wrong), encoding='utf-8')
            result = subprocess.run([program, 'gjs', path, path.with_suffix('.js'), *girs],
                                    capture_output=True, text=True)
            if result.returncode == 0 or not all(name in result.stderr for name in names):
                yield f'{wrong!r} is not refused by {", ".join(names)}: {result.stderr!r}'


def entries_of(table):
    """Yields (namespace, function, {parameter: value})."""
    namespace, pending = None, ''
    for line in pathlib.Path(table).read_text(encoding='utf-8').splitlines():
        if line.startswith('['):
            namespace = line.strip('[]').partition(' ')[0]
        elif line and not line.startswith('#') and namespace != 'everywhere':
            pending += line
            if not line.endswith(','):
                function, _, items = pending.partition(':')
                yield namespace, function, dict(item.strip().split(' = ')
                                                for item in items.split(','))
                pending = ''


def declarations_of(vapi):
    """Returns the arguments of each function, by class and name as in C."""
    found, owner = {}, ''
    for line in pathlib.Path(vapi).read_text(encoding='utf-8').splitlines():
        line = re.sub(r'\[CCode \([^)]*\)\] ?', '', line.strip())
        opened = re.match(r'public (?:\w+ )*class (\w+)', line)
        owner = opened[1] if opened else '' if line == '}' and not owner else owner
        called = re.match(r'public [^=]*?([\w.@]+) \((.*)\)[^)]*;$', line)
        if called:
            before, _, name = called[1].replace('@', '').rpartition('.')
            if not before and name == owner:
                name = 'new'
            # Constructors lose “new_”.
            for name in (name, f'new_{name}') if before else (name,):
                found.setdefault((owner, name), called[2])
                found.setdefault(('', name), called[2])
    return found


def check_vapi(table, namespace, vapi):
    declarations = declarations_of(vapi)
    n_checked = 0
    for entry, function, defaults in entries_of(table):
        if entry != namespace:
            continue
        owner, _, name = function.rpartition('.')
        arguments = declarations.get((owner, name))
        if arguments is None:
            yield f'{vapi}: no {function}'
            continue
        for parameter, value in defaults.items():
            after = arguments.partition(f' {parameter}')[2]
            expected = value.replace('GstVideo.Video', 'Gst.Video.')
            if re.fullmatch(r'[A-Z]\w+\.[A-Z]+', expected):
                expected = f'{namespace}.{expected}'
            written = re.match(r' = ([^,]+)', after)
            same = written and (written[1] == expected or NUMBER.fullmatch(written[1])
                                and NUMBER.fullmatch(expected)
                                and float(written[1]) == float(expected))
            # In Vala, results that are stored are arguments that cannot be left out.
            if not same and not re.search(r'\bout ', after):
                yield f'{vapi}: {function} has {written and written[1]} for {parameter}, ' \
                      f'not {expected}'
            n_checked += bool(same)
    print(f'{vapi}: {n_checked} defaults')


def main(table, program, *paths):
    girs = [path for path in paths if path.endswith('.gir')]
    wrong = list(check_samples(table, program, girs))
    for path in paths:
        if path.endswith('.vapi'):
            name = pathlib.Path(path).name.removesuffix('-1.vapi').split('-')
            wrong += check_vapi(table, 'Mtl' + ''.join(part.title() for part in name[1:]), path)
    print(*wrong, sep='\n')
    return len(wrong) > 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
