#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks what language bindings are made from: test_gir.py GIR…

Everything that bindings see has a description, and says since when it exists. Parameters and
results have what each generator of bindings needs: who owns them, whether they may be NULL, how
long arrays are, how long callbacks are used. SAMPLES breaks each rule once.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree

CORE = '{http://www.gtk.org/introspection/core/1.0}'
C = '{http://www.gtk.org/introspection/c/1.0}'
GLIB = '{http://www.gtk.org/introspection/glib/1.0}'

CALLABLES = {'function', 'method', 'constructor', 'virtual-method', 'callback', 'signal'}
# Elements with versions of their own. Members, parameters and results have that of the element that
# they are in.
VERSIONED = CALLABLES | {'class', 'interface', 'record', 'union', 'enumeration', 'bitfield',
                         'constant', 'alias', 'property'}
DESCRIBED = VERSIONED | {'member', 'parameter', 'return-value'}

# The scopes that all generators know: `forever` is newer.
SCOPES = {'call', 'async', 'notified'}

NULL = re.compile(r'\bNULL\b')
NUMBER = re.compile(r'^g(?:boolean|u?char|u?short|u?int\d*|u?long|s?size|float|double)$')
CALLBACK = re.compile(r'(?:Callback|Func|Notify)$')
NOTIFY = 'GLib.DestroyNotify'


def tag_of(element):
    return element.tag.replace(CORE, '').replace(GLIB, '')


def is_empty(element):
    """True for the class structure of a final class, which has only that of its parent."""
    return element.get(GLIB + 'is-gtype-struct-for') and len(element.findall(CORE + 'field')) == 1


def visible(parent, path=()):
    """Returns (element, its name, the elements around it) for all that bindings see."""
    for element in parent:
        tag = tag_of(element)
        if element.get('introspectable') == '0' or element.get('moved-to') or is_empty(element):
            continue
        name = '.'.join([around.get('name') for around in path if around.get('name')]
                        + [element.get('name') or tag])
        yield element, name, path
        # The functions in a class structure are described as the virtual functions of the class.
        if not element.get(GLIB + 'is-gtype-struct-for'):
            yield from visible(element, (*path, element))


def c_type_of(element):
    kind = element.find(CORE + 'type')
    return (element.find(CORE + 'array') if kind is None else kind).get(C + 'type') or ''


def may_be_null(element):
    """True if it is a pointer in C."""
    c_type = c_type_of(element)
    return '*' in c_type or c_type == 'gpointer' or is_callback(element)


def type_of(element):
    kind = element.find(CORE + 'type')
    return kind.get('name') or '' if kind is not None else ''


def is_number(element, namespace):
    """True if its type is a number, or an enumeration of the namespace."""
    enumerations = namespace.findall(CORE + 'enumeration') + namespace.findall(CORE + 'bitfield')
    name = type_of(element)
    return NUMBER.search(name) or name in [kind.get('name') for kind in enumerations]


def is_callback(element):
    return tag_of(element) == 'parameter' and CALLBACK.search(type_of(element)) is not None


def is_data(element, function):
    """True for the data of a callback."""
    parameters = function.findall(f'{CORE}parameters/{CORE}parameter')
    return any(parameters[int(other.get('closure'))] is element
               for other in parameters if other.get('closure'))


def faults_of_callback(element):
    if element.get('scope') not in SCOPES:
        yield f'has the scope {element.get("scope")}, not one of {", ".join(sorted(SCOPES))}'
    if type_of(element) != NOTIFY and not element.get('closure'):
        yield 'has no data: (closure)'
    if element.get('scope') == 'notified' and not element.get('destroy'):
        yield 'has nothing that frees its data: (destroy)'


def faults_of_value(element, function, namespace):
    """Yields the faults of a parameter or a result."""
    array = element.find(CORE + 'array')
    name = type_of(element)

    if element.find(CORE + 'varargs') is not None:
        yield 'is a variable list of arguments, which no binding has'
        return
    if not element.get('transfer-ownership'):
        yield 'does not say who owns it: (transfer)'
    if NULL.search(element.findtext(CORE + 'doc') or '') and may_be_null(element) \
            and not (element.get('nullable') or element.get('optional')):
        yield 'may be NULL by its description, but is not (nullable) or (optional)'
    if array is None and not name:
        yield 'has no known type'
    if name == 'gpointer' and tag_of(function) != 'virtual-method' \
            and not is_data(element, function):
        yield 'is a pointer to nobody knows what: use (skip) or a type'
    if is_number(element, namespace) and '*' in c_type_of(element) \
            and not element.get('direction'):
        yield 'is a pointer to a number: use (out), (inout) or (array)'
    if name in ('GLib.List', 'GLib.SList') and not element.findall(f'{CORE}type/*'):
        yield 'has elements of no type: (element-type)'
    if array is not None and not array.get(GLIB + 'name') and array.get('length') is None \
            and array.get('fixed-size') is None and array.get('zero-terminated') == '0':
        yield 'is an array of no length: (array length)'
    if is_callback(element):
        yield from faults_of_callback(element)


def faults_of(namespace):
    for element, name, path in visible(namespace):
        tag = tag_of(element)
        if tag in DESCRIBED and type_of(element) != 'none' \
                and not (element.findtext(CORE + 'doc') or '').strip():
            yield f'{name}: has no description'
        if tag in VERSIONED and not element.get('version'):
            yield f'{name}: does not say since when it exists'
        if tag in ('parameter', 'return-value'):
            function = path[-2] if tag == 'parameter' else path[-1]
            for fault in faults_of_value(element, function, namespace):
                yield f'{name}: {fault}'


SAMPLE = f'''
<namespace xmlns="{CORE[1:-1]}" xmlns:c="{C[1:-1]}" xmlns:glib="{GLIB[1:-1]}">
  <function name="f" version="1.0"><doc>It works.</doc>
    <return-value transfer-ownership="none"><type name="none" c:type="void"/></return-value>
    <parameters>
      <parameter name="self" transfer-ownership="none"><doc>an object</doc>
        <type name="Object" c:type="MtlObject*"/></parameter>
      <parameter name="other" transfer-ownership="none" nullable="1"><doc>one, or %NULL</doc>
        <type name="Object" c:type="MtlObject*"/></parameter>
      <parameter name="shape" transfer-ownership="none"><doc>extents</doc>
        <array length="3" zero-terminated="0" c:type="gint64*"><type name="gint64"/></array>
      </parameter>
      <parameter name="n" transfer-ownership="none"><doc>their number, not %NULL</doc>
        <type name="gsize" c:type="gsize"/></parameter>
      <parameter name="progress" transfer-ownership="none" scope="notified" closure="5" destroy="6">
        <doc>is called</doc><type name="Gio.FileProgressCallback"/></parameter>
      <parameter name="data" transfer-ownership="none"><doc>its data</doc>
        <type name="gpointer" c:type="gpointer"/></parameter>
      <parameter name="destroy" transfer-ownership="none" scope="async"><doc>frees it</doc>
        <type name="GLib.DestroyNotify" c:type="GDestroyNotify"/></parameter>
      <parameter name="list" transfer-ownership="none"><doc>a list</doc>
        <type name="GLib.List" c:type="GList*"><type name="Object"/></type></parameter>
    </parameters>
  </function>
</namespace>'''

# Changes to the sample, one or more for each rule: text, its replacement, the fault that is found.
SAMPLES = [
    ('<doc>It works.</doc>', '', 'f: has no description'),
    ('<doc>their number, not %NULL</doc>', '<doc> </doc>', 'f.n: has no description'),
    (' version="1.0"', '', 'since when'),
    ('name="n" transfer-ownership="none"', 'name="n"', 'f.n: does not say who'),
    (' nullable="1"', '', 'f.other: may be NULL'),
    ('<type name="gsize" c:type="gsize"/>', '<type c:type="va_list"/>', 'f.n: has no known type'),
    ('<type name="gsize" c:type="gsize"/>', '<varargs/>', 'f.n: is a variable list'),
    ('c:type="gsize"', 'c:type="gsize*"', 'f.n: is a pointer to a number'),
    (' length="3"', '', 'f.shape: is an array of no length'),
    ('<type name="Object"/></type>', '</type>', 'f.list: has elements of no type'),
    ('scope="notified"', 'scope="forever"', 'f.progress: has the scope forever'),
    ('scope="async"', '', 'f.destroy: has the scope None'),
    (' destroy="6"', '', 'f.progress: has nothing that frees'),
    (' closure="5"', '', 'f.progress: has no data'),
    (' closure="5"', ' closure="3"', 'f.data: is a pointer to nobody knows what'),
]


def faults_of_rules():
    """Returns the rules that do not find what they are for."""
    faults = list(faults_of(ElementTree.fromstring(SAMPLE)))
    for text, replacement, expected in SAMPLES:
        changed = SAMPLE.replace(text, replacement, 1)
        found = list(faults_of(ElementTree.fromstring(changed)))
        if changed == SAMPLE or not any(expected in fault for fault in found):
            faults.append(f'“{expected}” is not found: {found}')
    return faults


def main(*girs):
    faults = faults_of_rules()
    n_seen = 0
    for gir in girs:
        namespace = ElementTree.parse(gir).getroot().find(CORE + 'namespace')
        n_seen += len(list(visible(namespace)))
        faults += [f'{namespace.get("name")}.{fault}' for fault in faults_of(namespace)]
    if n_seen < 1000:
        faults.append(f'only {n_seen} elements in {girs}')
    print(*faults, f'{n_seen} elements, {len(faults)} faults', sep='\n')
    return len(faults) > 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
