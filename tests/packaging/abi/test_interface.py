#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that nothing changed on which users rely: test_interface.py FOLDER VERSION GIR…

FOLDER has what they were promised. First, each kind of change is made to a sample.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / 'maintainer'))
from interface import (  # noqa: E402
    Interface, advice, compare, kept_path, read_gir, read_interface, read_kept, write_kept)

HEADER = '''
typedef enum { MTL_KIND_BIG = 1 } MtlKind;
typedef struct { void *parent_class; void (* grow) (void); void *padding[3]; } MtlThingClass;
typedef struct { int start; double stop; } MtlSlice;
'''

GIR = '''<repository xmlns="http://www.gtk.org/introspection/core/1.0"
  xmlns:c="http://www.gtk.org/introspection/c/1.0"
  xmlns:glib="http://www.gtk.org/introspection/glib/1.0">
<namespace name="Mtl" version="1" shared-library="libmtldl-1.so.0">
<class name="Thing" c:type="MtlThing" parent="GObject.Object" version="1.0">
  <implements name="Gio.ListModel"/>
  <method name="fit" c:identifier="mtl_thing_fit" version="1.0" throws="1">
    <return-value transfer-ownership="full"><type name="Thing" c:type="MtlThing*"/></return-value>
    <parameters>
      <instance-parameter name="self"><type name="Thing" c:type="MtlThing*"/></instance-parameter>
      <parameter name="sizes"><array length="1" c:type="const gint64*"><type name="gint64"/></array>
      </parameter>
      <parameter name="n"><type name="gint" c:type="gint"/></parameter>
      <parameter name="name" nullable="1"><type name="utf8" c:type="const char*"/></parameter>
      <parameter name="call" scope="call"><type name="Call" c:type="MtlCall"/></parameter>
    </parameters>
  </method>
  <virtual-method name="grow" version="1.0">
    <return-value><type name="none" c:type="void"/></return-value>
  </virtual-method>
  <property name="size" writable="1" version="1.0"><type name="guint64" c:type="guint64"/>
  </property>
  <glib:signal name="grown" when="last" version="1.0">
    <return-value><type name="none" c:type="void"/></return-value>
  </glib:signal>
</class>
<record name="ThingClass" c:type="MtlThingClass" version="1.0">
  <field name="parent_class"><type name="gpointer" c:type="void*"/></field>
  <field name="grow"><callback name="grow"/></field>
  <field name="padding" private="1"><array fixed-size="3"><type name="gpointer"/></array></field>
</record>
<record name="Slice" c:type="MtlSlice" version="1.0">
  <field name="start" writable="1"><type name="gint" c:type="int"/></field>
  <field name="stop" writable="1"><type name="gdouble" c:type="double"/></field>
</record>
<enumeration name="Kind" c:type="MtlKind" version="1.0">
  <doc>About it.</doc>
  <member name="big" value="1" c:identifier="MTL_KIND_BIG" glib:nick="big"/>
</enumeration>
<constant name="LIMIT" c:type="MTL_LIMIT" value="64" version="1.0"><type name="gint"/></constant>
<constant name="MINOR_VERSION" c:type="MTL_MINOR_VERSION" value="0" version="1.0">
  <type name="gint"/></constant>
</namespace></repository>'''

FIT = '''<method name="fit" c:identifier="mtl_thing_fit" version="1.0"'''
NEW = '''<method name="new" c:identifier="mtl_thing_new" version="%s"/>''' + FIT
BIG = '''<member name="big" value="1" c:identifier="MTL_KIND_BIG" glib:nick="big"/>'''
NEW_MEMBER = BIG + '''<member name="new" value="2" c:identifier="MTL_KIND_NEW">%s</member>'''
NEEDED = 'it has to be later than 1.0.0, and no later than 1.1.0'
STOP = '<field name="stop" writable="1"><type name="gdouble" c:type="double"/></field>'
METHOD = '<virtual-method name="grow" version="1.0">'
NEW_METHOD = '<virtual-method name="shrink" version="1.1"/>' + METHOD
FIELD = '<field name="grow"><callback name="grow"/></field>'
NEW_FIELD = FIELD + '<field name="shrink"><callback name="shrink"/></field>'

# Changes to the interface: text, its replacement, and what is said about it.
CHANGES = [
    ('name="fit" c:identifier="mtl_thing_fit"', 'name="x" c:identifier="mtl_x"',
     ['mtl_thing_fit is gone', f'mtl_x is new, with “Since: 1.0”: {NEEDED}']),
    ('"gint" c:type="gint"', '"gint64" c:type="gint64"',
     ['mtl_thing_fit(1 n) was “gint” and is “gint64”']),
    ('<parameter name="n">', '<parameter name="m">',
     ['mtl_thing_fit(1 m) is new in what 1.0.0 has already',
      'mtl_thing_fit(1 n) is gone: it was “gint”']),
    ('c:type="const gint64*"', 'c:type="gint64*"',
     ['mtl_thing_fit(0 sizes) was “const gint64* array length 1 of gint64” and is '
      '“gint64* array length 1 of gint64”']),
    (' nullable="1"', '', ['mtl_thing_fit(2 name) was “const char* as utf8, nullable” and is '
                           '“const char* as utf8”']),
    ('"full"', '"none"', ['mtl_thing_fit() was “MtlThing*, transfer full” and is “MtlThing*”']),
    ('scope="call"', 'scope="async"',
     ['mtl_thing_fit(3 call) was “MtlCall, scope call” and is “MtlCall, scope async”']),
    (' throws="1"', '', ['mtl_thing_fit was “method Thing.fit, throws, since 1.0” and is '
                         '“method Thing.fit, since 1.0”']),
    (FIT, FIT + ' introspectable="0"',
     ['mtl_thing_fit was “method Thing.fit, throws, since 1.0” and is '
      '“method Thing.fit, introspectable 0, throws, since 1.0”']),
    ('name="size" writable="1"', 'name="size"',
     ['MtlThing:size was “guint64, writable, since 1.0” and is “guint64, since 1.0”']),
    ('when="last"', 'when="first"', ['MtlThing::grown was “signal, when last, since 1.0” and is '
                                     '“signal, when first, since 1.0”']),
    ('value="1"', 'value="3"', ['MTL_KIND_BIG was “member big of MtlKind, 1, nick big, since 1.0” '
                                'and is “member big of MtlKind, 3, nick big, since 1.0”']),
    (BIG, '', ['MTL_KIND_BIG is gone']),
    ('value="64"', 'value="65"', ['MTL_LIMIT was “constant, gint, 64, since 1.0” and is '
                                  '“constant, gint, 65, since 1.0”']),
    ('<implements name="Gio.ListModel"/>', '', ['MtlThing Gio.ListModel is gone']),
    ('.so.0', '.so.1', ['Mtl-1 was “namespace of libmtldl-1.so.0” and is '
                        '“namespace of libmtldl-1.so.1”']),
    (FIT, NEW % '', [f'mtl_thing_new is new, without “Since:”: {NEEDED}']),
    (FIT, NEW % '1.0', [f'mtl_thing_new is new, with “Since: 1.0”: {NEEDED}']),
    (FIT, NEW % '1.2', [f'mtl_thing_new is new, with “Since: 1.2”: {NEEDED}']),
    (BIG, NEW_MEMBER % '', [f'MTL_KIND_NEW is new, with “Since: 1.0”: {NEEDED}']),
    (FIT, NEW % '1.1', []),
    (BIG, NEW_MEMBER % '<doc>It is new. Since: 1.1</doc>', []),
    (FIT, FIT + ' deprecated="1" deprecated-version="1.1"', []),
    ('value="0"', 'value="1"', []),
    ('name="padding"', 'name="reserved"', []),
    ('<implements ', '<implements name="Gio.Initable"/><implements ', []),
]

# Changes to structs, of which the compiler knows the layout in memory.
STRUCT_CHANGES = [
    ([('int start; double stop;', 'double stop; int start;')],
     ['MtlSlice.start was “int, writable, since 1.0, offset 0” and is '
      '“int, writable, since 1.0, offset 8”',
      'MtlSlice.stop was “double, writable, since 1.0, offset 8” and is '
      '“double, writable, since 1.0, offset 0”']),
    ([('double stop; }', 'double stop; int more; }')],
     ['MtlSlice was “record, since 1.0, size 16” and is “record, since 1.0, size 24”']),
    ([('BIG = 1', 'BIG = 1, MTL_KIND_MAX = 1L << 40')],
     ['MtlKind was “enumeration, since 1.0, size 4” and is “enumeration, since 1.0, size 8”']),
    ([(STOP, '')], ['MtlSlice.stop is gone']),
    ([('*padding[3];', '(* shrink) (void); void *padding[2];'), (METHOD, NEW_METHOD),
      (FIELD, NEW_FIELD)], []),
]


class Report:
    """Prints results in TAP."""

    def __init__(self):
        self.n = self.n_failed = 0

    def add(self, name, complaints):
        self.n += 1
        self.n_failed += bool(complaints)
        print(f'{"not ok" if complaints else "ok"} {self.n} - {name}')
        for complaint in complaints:
            print(f'# {complaint}')


def replace(text, old, new):
    assert old in text, old
    return text.replace(old, new, 1)


def unlike(seen, expected):
    return [] if seen == expected else [f'expected: {expected}', f'seen: {seen}']


class Sample:
    """Reads the interface of a header and its GIR."""

    def __init__(self, folder):
        self.header, self.gir = folder / 'sample.h', folder / 'Sample-1.gir'

    def read(self, header, gir, is_measured=False):
        self.header.write_text(header)
        self.gir.write_text(gir)
        interface = Interface(read_gir(self.gir))
        if is_measured:
            interface.measure([self.header.name], [f'-I{self.header.parent}'])
        return interface.lines


def check_changes(report, sample):
    kept = sample.read(HEADER, GIR)
    for old, new, complaints in CHANGES:
        name = complaints[0] if complaints else f'allowed: {new[:60]}'
        now = sample.read(HEADER, replace(GIR, old, new))
        report.add(name, unlike(compare('1.0.0', kept, '1.1.0', now), complaints))


def check_struct_changes(report, sample):
    kept = sample.read(HEADER, GIR, is_measured=True)
    for replacements, complaints in STRUCT_CHANGES:
        texts = [HEADER, GIR]
        for old, new in replacements:
            i = old not in texts[0]
            texts[i] = replace(texts[i], old, new)
        now = sample.read(*texts, is_measured=True)
        name = complaints[0] if complaints else f'allowed: {new[:60]}'
        report.add(name, unlike(compare('1.0.0', kept, '1.1.0', now), complaints))


def check_files(report, sample):
    """Checks that a written file is read again as it was, and an unknown element is not left
    out."""
    lines, path = sample.read(HEADER, GIR), sample.gir.with_suffix('.txt')
    write_kept(path, '1.0.0', lines)
    report.add('a file keeps all', unlike(read_kept(path), ('1.0.0', lines)))
    try:
        seen = sample.read(HEADER, replace(GIR, '<constant ', '<union name="x"/><constant '))
    except ValueError as error:
        seen = str(error)
    report.add('an unknown element is refused', unlike(seen, '<union> is not known here'))


def main(folder, version, *girs):
    report = Report()
    with tempfile.TemporaryDirectory() as scratch:
        sample = Sample(Path(scratch))
        check_changes(report, sample)
        check_struct_changes(report, sample)
        check_files(report, sample)

    for gir in girs:
        path = kept_path(folder, gir)
        complaints = compare(*read_kept(path), version, read_interface(gir))
        report.add(f'what {Path(gir).name} has is what users were promised',
                   complaints and [*complaints, *advice(path)])
    print(f'1..{report.n}')
    return report.n_failed > 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
