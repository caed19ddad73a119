#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the rules for names and parameters that CONTRIBUTING.md lists: test_signatures.py GIR…

SAMPLES breaks each rule once.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree

CORE = '{http://www.gtk.org/introspection/core/1.0}'
C = '{http://www.gtk.org/introspection/c/1.0}'
GLIB = '{http://www.gtk.org/introspection/glib/1.0}'

CALLABLES = ('function', 'method', 'constructor')
# Parameters that only the asynchronous variant has.
PROGRESS = ('progress', 'progress_data', 'progress_destroy')
ASYNC = {'io_priority', *PROGRESS, 'callback', 'user_data'}
# These come first, in this order, unless the constructor is named for its source.
FIRST = ('file', 'device', 'dtype', 'size', 'shape', 'storage_mode')
# A setter has the type of its property.
BOOLEANS = re.compile(r'(^|_)set_')
# GLib's own names for shared and immutable objects, g_mapped_file_get_bytes (), and for values,
# g_key_file_get_double_list ().
SHARED = re.compile(r'_get_(bytes|doubles|int64s)$')


class Function:
    def __init__(self, element, owner):
        self.name = element.get(C + 'identifier')
        self.kind = element.tag.replace(CORE, '')
        self.owner = owner
        self.throws = element.get('throws') == '1'
        self.result = element.find(CORE + 'return-value')
        inputs = element.findall(f'{CORE}parameters/{CORE}parameter')
        self.outputs = [one.get('name') for one in inputs if one.get('direction') == 'out']
        self.inputs = {one.get('name'): type_of(one) for one in inputs
                       if one.get('direction', 'in') == 'in'}

    def arguments(self):
        """The inputs that an operation has in both of its variants."""
        return [name for name in self.inputs if name not in ASYNC | {'cancellable'}]


def type_of(element):
    kind = element.find(CORE + 'type')
    return '' if kind is None else kind.get('name') or ''


def functions_of(namespace):
    functions = {}
    for owner in (namespace, *namespace):
        for kind in CALLABLES:
            for element in owner.findall(CORE + kind):
                if not element.get('moved-to'):
                    function = Function(element, owner)
                    functions[function.name] = function
    return functions


def faults_of_variants(function, functions):
    """An operation that may take long has a cancellable and an asynchronous variant, or neither."""
    base = re.sub(r'_(async|finish)$', '', function.name)
    names = {ending: f'{base}_{ending}' for ending in ('async', 'finish')}
    plain = functions.get(base)
    if function.name.endswith('_async'):
        if plain is None:
            yield 'has no synchronous variant'
        elif plain.arguments() != function.arguments():
            yield f'takes {function.arguments()}, and {base} {plain.arguments()}'
        elif 'cancellable' not in plain.inputs:
            yield f'can be cancelled, and {base} cannot'
        if names['finish'] not in functions:
            yield f'has no {names["finish"]}'
        trio = [name for name in function.inputs if name in PROGRESS]
        if trio and trio != list(PROGRESS):
            yield f'takes only {trio} of {PROGRESS}'
    elif function.name.endswith('_finish'):
        if names['async'] not in functions:
            yield f'has no {names["async"]}'
    elif 'cancellable' in function.inputs and names['async'] not in functions:
        yield 'can be cancelled, and has no asynchronous variant'


def faults_of_parameters(function):
    names = list(function.inputs)
    made_from = re.search(r'_(?:new_)?(?:from|for|with)_', function.name)
    places = [names.index(name) for name in FIRST if name in names]
    if function.kind == 'constructor' and not made_from and places != sorted(places):
        yield f'takes {names}: the order is {FIRST}'
    for name, kind in function.inputs.items():
        if kind == 'gboolean' and not BOOLEANS.search(function.name):
            yield f'takes the boolean {name}: use flags or an enumeration'
        if name == 'byte_strides' and not re.search(r'_with_byte_strides$|_for_data$',
                                                    function.name):
            yield 'takes strides in bytes, and its name does not say so'
        if name.endswith('timeout') and kind != 'GLib.TimeSpan':
            yield f'takes a timeout of type {kind}: use GTimeSpan'
    if 'destroy' in names and 'user_data' in names \
            and names.index('destroy') > names.index('user_data'):
        yield 'takes user_data before destroy, unlike GLib'
    if 'cancellable' in names:
        after = names[names.index('cancellable') + 1:]
        if set(after) - (ASYNC - {'io_priority'}):
            yield f'takes {after} after the cancellable'
        if 'io_priority' in names and names.index('io_priority') + 1 != names.index('cancellable'):
            yield 'takes the priority elsewhere than before the cancellable'


def faults_of_name(function):
    name = function.name
    transfer = function.result.get('transfer-ownership')
    if name.endswith('_full'):
        yield 'is a second form: one function takes all arguments'
    if re.search(r'_get_', name) and 'cancellable' in function.inputs:
        yield 'is a getter that takes long: name it for what it does'
    if re.search(r'_get_', name) and transfer != 'none' and not function.inputs \
            and not SHARED.search(name):
        yield f'is a getter with (transfer {transfer}): name it dup_…'
    if re.search(r'_dup_(?!fd$)', name) and transfer != 'full' and not name.endswith('_async'):
        yield f'makes a duplicate with (transfer {transfer})'
    if re.search(r'_(lookup|has)_', name) and function.throws:
        yield 'has an error: what is not there is NULL or FALSE'


def faults_of_conversion(function):
    """Conversions of the bridges are named a_from_b () for their result and their source."""
    if function.kind != 'function' or 'self' in function.inputs:
        return
    made, _, source = function.name.partition('_from_')
    result = type_of(function.result)
    if '_to_' in function.name:
        yield 'makes b of a: name it b_from_a'
    elif source and result != 'gboolean' and not result.lower().endswith(made.split('_')[-1]):
        yield f'makes a {result}: its name says otherwise'


def faults_of_class(element, records):
    record = records.get(element.get(GLIB + 'type-struct'))
    if record is not None and record.findall(f'{CORE}field/{CORE}callback'):
        yield 'has virtual functions that are public'
    if element.get('final') != '1' and element.get('abstract') != '1':
        yield 'can be derived from'


def faults_of(namespace, patterns=()):
    functions = functions_of(namespace)
    records = {one.get('name'): one for one in namespace.findall(CORE + 'record')}
    for function in functions.values():
        for fault in (*faults_of_variants(function, functions), *faults_of_parameters(function),
                      *faults_of_name(function), *faults_of_conversion(function)):
            yield f'{function.name}: {fault}'
    for element in namespace.findall(CORE + 'class'):
        for fault in faults_of_class(element, records):
            yield f'{element.get("name")}: {fault}'


SAMPLE = f'''
<namespace xmlns="{CORE[1:-1]}" xmlns:c="{C[1:-1]}" xmlns:glib="{GLIB[1:-1]}" name="Mtl">
  <class name="Thing" final="1" glib:type-struct="ThingClass">
    <constructor name="new" c:identifier="mtl_thing_new">
      <return-value transfer-ownership="full"><type name="Thing"/></return-value>
      <parameters><parameter name="device"><type name="Device"/></parameter>
        <parameter name="shape"><array/></parameter>
        <parameter name="storage_mode"><type name="StorageMode"/></parameter></parameters>
    </constructor>
    <constructor name="new_for_data" c:identifier="mtl_thing_new_for_data">
      <return-value transfer-ownership="full"><type name="Thing"/></return-value>
      <parameters><parameter name="data"><type name="gpointer"/></parameter>
        <parameter name="device"><type name="Device"/></parameter>
        <parameter name="destroy"><type name="GLib.DestroyNotify"/></parameter>
        <parameter name="user_data"><type name="gpointer"/></parameter></parameters>
    </constructor>
    <method name="get_name" c:identifier="mtl_thing_get_name">
      <return-value transfer-ownership="none"><type name="utf8"/></return-value>
    </method>
    <method name="lookup_part" c:identifier="mtl_thing_lookup_part">
      <return-value transfer-ownership="full"><type name="Thing"/></return-value>
      <parameters><parameter name="name"><type name="utf8"/></parameter></parameters>
    </method>
    <method name="set_sync" c:identifier="mtl_thing_set_sync">
      <return-value transfer-ownership="none"><type name="none"/></return-value>
      <parameters><parameter name="sync"><type name="gboolean"/></parameter></parameters>
    </method>
    <method name="load" c:identifier="mtl_thing_load" throws="1">
      <return-value transfer-ownership="full"><type name="Thing"/></return-value>
      <parameters><parameter name="name"><type name="utf8"/></parameter>
        <parameter name="timeout"><type name="GLib.TimeSpan"/></parameter>
        <parameter name="cancellable"><type name="Gio.Cancellable"/></parameter></parameters>
    </method>
    <method name="load_async" c:identifier="mtl_thing_load_async">
      <return-value transfer-ownership="none"><type name="none"/></return-value>
      <parameters><parameter name="name"><type name="utf8"/></parameter>
        <parameter name="timeout"><type name="GLib.TimeSpan"/></parameter>
        <parameter name="io_priority"><type name="gint"/></parameter>
        <parameter name="cancellable"><type name="Gio.Cancellable"/></parameter>
        <parameter name="progress"><type name="Gio.FileProgressCallback"/></parameter>
        <parameter name="progress_data"><type name="gpointer"/></parameter>
        <parameter name="progress_destroy"><type name="GLib.DestroyNotify"/></parameter>
        <parameter name="callback"><type name="Gio.AsyncReadyCallback"/></parameter>
        <parameter name="user_data"><type name="gpointer"/></parameter></parameters>
    </method>
    <method name="load_finish" c:identifier="mtl_thing_load_finish" throws="1">
      <return-value transfer-ownership="full"><type name="Thing"/></return-value>
      <parameters><parameter name="result"><type name="Gio.AsyncResult"/></parameter></parameters>
    </method>
  </class>
  <function name="thing_from_text" c:identifier="mtl_thing_from_text">
    <return-value transfer-ownership="full"><type name="Mtl.Thing"/></return-value>
  </function>
  <record name="ThingClass" glib:is-gtype-struct-for="Thing">
    <field name="parent_class"><type name="GObject.ObjectClass"/></field>
  </record>
</namespace>'''

CALL = '<field name="call"><callback name="call"/></field></record>'
# Changes of the sample, and the fault that a rule finds then: text, its replacement, the fault.
SAMPLES = [
    ('mtl_thing_load_async', 'mtl_thing_read_async', 'load: can be cancelled, and has no async'),
    ('mtl_thing_load_async', 'mtl_thing_read_async', 'read_async: has no synchronous variant'),
    ('mtl_thing_load_finish', 'mtl_thing_end', 'load_async: has no mtl_thing_load_finish'),
    ('mtl_thing_load_finish', 'mtl_thing_read_finish', 'read_finish: has no mtl_thing_read_async'),
    ('mtl_thing_get_name', 'mtl_thing_get_name_full', 'get_name_full: is a second form'),
    ('"timeout"', '"limit"', "load_async: takes ['name', 'timeout']"),
    ('<parameter name="progress_data"><type name="gpointer"/></parameter>', '', 'takes only'),
    ('<parameter name="timeout"><type name="GLib.TimeSpan"/></parameter>', '', 'load_async: takes'),
    ('"GLib.TimeSpan"', '"gint64"', 'load: takes a timeout of type gint64'),
    ('name="shape"', 'name="file"', 'new: takes'),
    ('name="destroy"', 'name="freed"', None),
    ('name="device"><type name="Device"/></parameter>\n        <parameter name="destroy"',
     'name="user_data"><type name="gpointer"/></parameter>\n        <parameter name="destroy"',
     'new_for_data: takes user_data before destroy'),
    ('mtl_thing_load"', 'mtl_thing_get_load"', 'is a getter that takes long'),
    ('<return-value transfer-ownership="none"><type name="utf8"/>',
     '<return-value transfer-ownership="full"><type name="utf8"/>', 'name it dup_'),
    ('mtl_thing_get_name', 'mtl_thing_dup_name', 'makes a duplicate with (transfer none)'),
    ('"mtl_thing_lookup_part"', '"mtl_thing_lookup_part" throws="1"', 'lookup_part: has an error'),
    ('mtl_thing_set_sync', 'mtl_thing_sync', 'sync: takes the boolean sync'),
    ('name="shape"', 'name="byte_strides"', 'new: takes strides in bytes'),
    ('mtl_thing_from_text', 'mtl_text_to_thing', 'text_to_thing: makes b of a'),
    ('mtl_thing_from_text', 'mtl_text_from_thing', 'text_from_thing: makes a Mtl.Thing'),
    ('final="1"', '', 'Thing: can be derived from'),
    ('</record>', CALL, 'Thing: has virtual functions'),
]


def faults_of_rules():
    """Returns the rules that do not find their faults in the samples."""
    faults = list(faults_of(ElementTree.fromstring(SAMPLE)))
    for text, replacement, expected in SAMPLES:
        changed = SAMPLE.replace(text, replacement, 1)
        found = list(faults_of(ElementTree.fromstring(changed)))
        if expected is None:
            if found:
                faults.append(f'{replacement} is no fault: {found}')
        elif changed == SAMPLE or not any(expected in fault for fault in found):
            faults.append(f'“{expected}” is not found: {found}')
    return faults


def main(*girs):
    faults = faults_of_rules()
    n_seen = 0
    for gir in girs:
        namespace = ElementTree.parse(gir).getroot().find(CORE + 'namespace')
        n_seen += len(functions_of(namespace))
        faults += faults_of(namespace)
    if n_seen < 250:
        faults.append(f'only {n_seen} functions in {girs}')
    print(*faults, f'{n_seen} functions, {len(faults)} faults', sep='\n')
    return len(faults) > 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
