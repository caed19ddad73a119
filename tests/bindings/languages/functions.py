# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes programs that call each function of the GIR once, in Lua, Ruby and Perl.

A program begins with prelude.lua, prelude.rb or prelude.pl, which make the objects and print what
the functions return. Parameters of the same name mean the same in most functions.
"""

import collections
import xml.etree.ElementTree as ElementTree

CORE = '{http://www.gtk.org/introspection/core/1.0}'

Enum = collections.namedtuple('Enum', 'nick')
Made = collections.namedtuple('Made', 'name')  # by a function of the prelude
PROGRESS = Made('progress')
NO_FLAGS = Made('no_flags')

OBJECTS = {'Buffer': 'buffer', 'Device': 'host', 'DlpackTensor': 'tensor', 'Event': 'event',
           'Statistics': 'statistics', 'StridedLayout': 'layout', 'StridedView': 'view',
           'TensorFile': 'file_of_tensors', 'TensorFileBuilder': 'builder',
           'TensorFileEntry': 'entry'}
OTHER_OBJECTS = {'StridedView.select_imaginary': 'complex_view'}

ARGUMENTS = {
    'address': 0, 'alignment': 64, 'atol': 1e-8, 'axes': [1, 0], 'axis': 1, 'axis_a': 0,
    'axis_b': 1, 'buffer': Made('buffer'), 'byte_offset': 0, 'byte_strides': [12, 4],
    'bytes': Made('bytes'), 'cancellable': None, 'checks': NO_FLAGS, 'device': Made('host'),
    'device_type': Enum('cpu'), 'dtype': Enum('int32'), 'element': Made('element'),
    'file': Made('saved'), 'first': 0, 'flags': NO_FLAGS, 'format': Enum('safetensors'),
    'high': 10, 'im': 0, 'index': 1, 'indices': [1, 2], 'io_priority': 0, 'item_bits': 32,
    'key': 'key', 'last': 1, 'layout': Made('layout'), 'low': 0, 'mask': 2, 'max_item_bits': 64,
    'max_items': 3, 'max_size': 1000, 'mode': Enum('read'), 'n_bins': 5, 'n_threads': 2,
    'name': 'a', 'offset': 0, 'order': Enum('c'), 'ordinal': 0, 'other': Made('view'),
    'pattern': '*', 'progress': PROGRESS, 're': 5, 'rtol': 1e-5,
    'scale': 2, 'self': Enum('float32'), 'shape': [2, 3], 'size': 24, 'source': Made('view'),
    'source_offset': 0, 'start': 0, 'reduction': Enum('mean'), 'step': 1, 'stop': 2,
    'storage_mode': Enum('host'), 'strides': [3, 1], 'string': ':, -1', 'sync': False,
    'tensor': Made('tensor'), 'timeout': 1000, 'usage': Made('usage'), 'value': 7,
    'values': [1, 2, 3, 4, 5, 6], 'view': Made('view'), 'views': [Made('view')],
}

OTHER_ARGUMENTS = {
    'Buffer.copy_from.source': Made('other_buffer'),
    'Buffer.copy_from_async.source': Made('other_buffer'), 'Buffer.equal.other': Made('buffer'),
    'Buffer.fill.pattern': Made('element'), 'Buffer.fill_async.pattern': Made('element'),
    'Buffer.new_mapped.size': 8, 'Buffer.new_mapped_async.size': 8,
    'DType.from_string.name': 'f32', 'Device.supports_storage_mode.mode': Enum('host'),
    'Event.wait.value': 0, 'Event.wait_async.value': 0,
    'StridedLayout.equal.other': Made('layout'),
    'StridedLayout.squeeze_axes.axes': [], 'StridedLayout.unsqueeze.axes': [0],
    'StridedView.new_from_metal_tensor.tensor': 0,
    'StridedView.new_from_variant.values': Made('variant'), 'StridedView.squeeze_axes.axes': [],
    'StridedView.unsqueeze.axes': [0],
    'TensorFileBuilder.add.name': 'b', 'TensorFileBuilder.add_converted.name': 'c',
    'TensorFileBuilder.set_metadata.value': 'text',
    'TensorFileBuilder.set_order.order': Enum('added'),
    'TensorFileBuilder.write.file': Made('new_file'),
    'TensorFileBuilder.write_async.file': Made('new_file'),
    'TensorFileBuilder.write_shards.index': Made('new_index'),
    'TensorFileBuilder.write_shards_async.index': Made('new_index'),
}

# The syntax of values and calls in each language. {finish} is the name of the second function.
LUA = {
    'list': '{%s}', 'none': 'nil', 'false': 'false', 'enum': lambda nick: f"'{nick.upper()}'",
    'made': '%s()', 'progress': 'progress',
    'separator': '.',
    'method': "check('{label}', function () return {object}():{name}({arguments}) end)",
    'function': "check('{label}', function () return Mtl{owner}.{name}({arguments}) end)",
    'method async': "wait('{label}', {object}(), '{name}', '{finish}', {arguments})",
    'function async': "wait('{label}', '{owner}', '{name}', '{finish}', {arguments})",
}
LUA['constructor'] = LUA['function']
RUBY = {
    'list': '[%s]', 'none': 'nil', 'false': 'false', 'enum': lambda nick: f':{nick}', 'made': '%s',
    'progress': '&PROGRESS', 'separator': '::',
    'method': "check('{label}') {{ call({object}, '{name}', {arguments}) }}",
    'function': "check('{label}') {{ call(Mtl{owner}, '{name}', {arguments}) }}",
    'constructor': "check('{label}') {{ construct(Mtl{owner}, '{name}', {arguments}) }}",
    'method async': "wait('{label}', {object}, '{name}', '{finish}', {arguments})",
    'function async': "wait('{label}', Mtl{owner}, '{name}', '{finish}', {arguments})",
}
PERL = {
    'list': '[%s]', 'none': 'undef', 'false': '0', 'enum': lambda nick: f"'{nick}'",
    'made': '%s()', 'progress': '$progress, undef', 'separator': '::',
    'method': "check('{label}', sub {{ {object}()->{name}({arguments}) }});",
    'function': "check('{label}', sub {{ Mtl{owner}::{name}({arguments}) }});",
    'constructor': "check('{label}', sub {{ Mtl{owner}->{name}({arguments}) }});",
    'method async': "wait_for('{label}', {object}(), '{name}', '{finish}', {arguments});",
    'function async': "wait_for('{label}', '{owner}', '{name}', '{finish}', {arguments});",
}
LANGUAGES = {'lua': LUA, 'rb': RUBY, 'pl': PERL}


def write_value(value, language):
    if value == PROGRESS:
        return language['progress']
    if isinstance(value, Enum):
        return language['enum'](value.nick)
    if isinstance(value, Made):
        return language['made'].replace('%s', value.name)
    if isinstance(value, list):
        return language['list'].replace('%s', ', '.join(write_value(item, language)
                                                        for item in value))
    if value is None:
        return language['none']
    return language['false'] if value is False else repr(value)


def arguments_of(owner, name, function):
    """Returns the values of the parameters that bindings have. A callback has data, and an array
    a length, that they have not; the result of an asynchronous function is for wait()."""
    parameters = function.findall(f'{CORE}parameters/{CORE}parameter')
    hidden = {int(parameter.get(key)) for parameter in parameters for key in ('closure', 'destroy')
              if parameter.get(key) and parameter.get('scope')}
    hidden |= {int(array.get('length')) for parameter in parameters
               for array in parameter.findall(CORE + 'array') if array.get('length')}
    for index, parameter in enumerate(parameters):
        if index not in hidden and parameter.get('direction') != 'out' \
                and parameter.get('scope') != 'async':
            key = parameter.get('name')
            path = f'{owner}.{name}.{key}'
            yield OTHER_ARGUMENTS[path] if path in OTHER_ARGUMENTS else ARGUMENTS[key]


def functions_of(gir):
    """Returns (class or '', function) for all that bindings see."""
    namespace = ElementTree.parse(gir).getroot().find(CORE + 'namespace')
    kinds = [CORE + kind for kind in ('constructor', 'method', 'function')]
    for element in namespace:
        owned = element.tag in (CORE + 'class', CORE + 'enumeration')
        for function in element if owned else [element]:
            if function.tag in kinds and function.get('introspectable') != '0' \
                    and not function.get('shadowed-by') and not function.get('moved-to'):
                yield element.get('name') if owned else '', function


def have_results(gir):
    """Returns the labels of the functions that return something."""
    return {f'{owner}.{function.get("shadows") or function.get("name")}'
            for owner, function in functions_of(gir)
            if function.find(f'{CORE}return-value/{CORE}type[@name="none"]') is None}


def write_calls(gir, suffix):
    """Returns the lines of a program. Functions that finish are called by wait()."""
    language = LANGUAGES[suffix]
    for owner, function in functions_of(gir):
        name = function.get('shadows') or function.get('name')
        if name.endswith('_finish') or name == 'quark':
            continue
        kind = function.tag.replace(CORE, '')
        values = [write_value(value, language) for value in arguments_of(owner, name, function)]
        yield language[kind + (' async' if name.endswith('_async') else '')].format(
            label=f'{owner}.{name}', owner=language['separator'] * bool(owner) + owner, name=name,
            object=OTHER_OBJECTS.get(f'{owner}.{name}', OBJECTS.get(owner)),
            arguments=', '.join(values), finish=name.replace('_async', '_finish')
        ).replace(', )', ')')
