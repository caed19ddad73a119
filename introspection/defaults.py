#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""defaults.py python TABLE OUTPUT
defaults.py gjs TABLE OUTPUT GIR…
defaults.py vala TABLE OUTPUT METADATA GIR…

Writes what a language needs of the table of arguments that can be left out. The table is compared
with the GIRs: what they do not have is an error. For Vala, the first GIR is described, and its
hand-written metadata come first.
"""

import configparser
import json
import re
import sys
import xml.etree.ElementTree as ElementTree

CORE = "{http://www.gtk.org/introspection/core/1.0}"
MEMBER = re.compile(r"(?:(\w+)\.)?(\w+)\.([A-Z]\w*)")
NAMESPACES = {"Mtl", "MtlGst", "MtlGtk", "MtlPixbuf"}
CONSTANTS = {"null": None, "true": True, "false": False}


class Member(str):
    """A member of an enumeration: Namespace.Enumeration.MEMBER."""


def value_of(text, namespace):
    if text in CONSTANTS:
        return CONSTANTS[text]
    found = MEMBER.fullmatch(text)
    if found:
        return Member(".".join([found[1] or namespace, found[2], found[3]]))
    return float(text) if "e" in text or "." in text else int(text)


class Table:
    """The defaults by namespace, function and parameter."""

    def __init__(self, path):
        parser = configparser.ConfigParser(delimiters=(":", "="), interpolation=None)
        parser.optionxform = str
        with open(path, encoding="utf-8") as file:
            parser.read_file(file)
        self.functions, self.partial = {}, []
        self.everywhere = {name: value_of(text, "")
                           for name, text in parser["everywhere"].items()}
        for section in parser.sections():
            if section == "everywhere":
                continue
            namespace, _, is_partial = section.partition(" on ")
            if namespace not in NAMESPACES:
                complain(f"there is no namespace {namespace}")
            functions = self.functions.setdefault(namespace, {})
            for name, text in parser[section].items():
                items = [item.split("=") for item in text.replace("\n", " ").split(",")]
                functions[name] = {parameter.strip(): value_of(value.strip(), namespace)
                                   for parameter, value in items}
            if is_partial:
                self.partial.append((namespace, set(parser[section])))

    def defaults_of(self, namespace, name, parameters):
        """The defaults of a function's last parameters, in order."""
        functions = self.functions.get(namespace, {})
        known = {**self.everywhere, **functions.get(name.removesuffix("_async"), {}),
                 **functions.get(name, {})}
        found = {}
        for parameter in reversed(parameters):
            if parameter not in known:
                break
            found[parameter] = known[parameter]
        return dict(reversed(found.items()))


class Parameter:
    def __init__(self, element, namespace):
        array = element.find(CORE + "array")
        kind = (element if array is None else array).find(CORE + "type")
        self.name = element.get("name")
        self.is_array, self.is_out = array is not None, element.get("direction") == "out"
        self.is_nullable = element.get("nullable") == "1"
        self.type = None if kind is None else kind.get("name")
        if self.type is not None and self.type[0].isupper() and "." not in self.type:
            self.type = f"{namespace}.{self.type}"


class Function:
    """A callable with the parameters that languages show: neither the lengths of arrays nor the
    data of callbacks."""

    def __init__(self, element, namespace, owner=None):
        self.namespace, self.owner = namespace, owner
        self.name = element.get("shadows") or element.get("name")
        self.symbol = element.get("name")
        self.is_method = element.tag == CORE + "method" and owner is not None
        self.full_name = f"{owner}.{self.name}" if owner else self.name
        found = element.find(CORE + "parameters")
        elements = [] if found is None else found.findall(CORE + "parameter")
        holders = [element.find(CORE + "return-value"), *elements]
        arrays = [array for holder in holders for array in holder.findall(CORE + "array")]
        hidden = {int(place) for place in [
            *(array.get("length") for array in arrays),
            *(child.get(key) for child in elements for key in ("closure", "destroy"))]
            if place is not None}
        self.has_array = bool(arrays)
        self.parameters = [Parameter(child, namespace) for i, child in enumerate(elements)
                           if i not in hidden]
        self.passed = [parameter for parameter in self.parameters if not parameter.is_out]


class Library:
    """The functions and the enumerations of a GIR."""

    def __init__(self, path):
        root = ElementTree.parse(path).getroot().find(CORE + "namespace")
        self.namespace = root.get("name")
        self.functions, self.enumerations = {}, {}
        for owner in [root, *(child for kind in ("class", "enumeration", "bitfield")
                              for child in root.findall(CORE + kind))]:
            name = None if owner is root else owner.get("name")
            if owner.find(CORE + "member") is not None:
                self.enumerations[f"{self.namespace}.{name}"] = [
                    member.get("name").upper() for member in owner.findall(CORE + "member")]
            for kind in ("constructor", "function", "method"):
                for element in owner.findall(CORE + kind):
                    if element.get("introspectable") != "0" and not element.get("shadowed-by"):
                        function = Function(element, self.namespace, name)
                        self.functions[function.full_name] = function


def complain(message):
    sys.exit(f"defaults.ini: {message}")


def check(table, libraries):
    """Ends the program if the table has what the libraries do not."""
    members = {name: found for library in libraries
               for name, found in library.enumerations.items()}
    for library in libraries:
        missing = {name for namespace, names in table.partial if namespace == library.namespace
                   and not names & library.functions.keys() for name in names}
        for name, defaults in table.functions.get(library.namespace, {}).items():
            full_name = f"{library.namespace}.{name}"
            if name in missing:
                continue
            if name not in library.functions:
                complain(f"there is no {full_name}")
            for function in (name, f"{name}_async"):
                if function in library.functions:
                    check_function(table, library.functions[function], defaults, members)


def check_function(table, function, defaults, members):
    full_name = f"{function.namespace}.{function.full_name}"
    names = [parameter.name for parameter in function.passed]
    optional = table.defaults_of(function.namespace, function.full_name, names)
    for name, value in defaults.items():
        if name not in names:
            complain(f"{full_name} has no {name}; its parameters are {', '.join(names)}")
        if name not in optional:
            complain(f"{full_name} has {name} before others that cannot be left out")
        parameter = function.passed[names.index(name)]
        if value is None and not parameter.is_nullable:
            complain(f"{full_name} does not take null for {name}")
        if isinstance(value, Member):
            enumeration, _, member = value.rpartition(".")
            if enumeration != parameter.type:
                complain(f"{full_name} takes a {parameter.type} for {name}, not {value}")
            if enumeration in members and member not in members[enumeration]:
                complain(f"there is no {value}, of {full_name}")


# Python


def write_python(table, output):
    functions = {f"{namespace}.{name}": {parameter: str(value) if isinstance(value, Member)
                                         else value for parameter, value in defaults.items()}
                 for namespace, named in table.functions.items()
                 for name, defaults in named.items()}
    lines = [f"    {name!r}: {defaults!r},\n" for name, defaults in functions.items()]
    with open(output, "w", encoding="utf-8") as file:
        file.write('"""Written by defaults.py."""\n\n'
                   f"EVERYWHERE = {table.everywhere!r}\n\n"
                   f"FUNCTIONS = {{\n{''.join(lines)}}}\n")


# JavaScript

# The converters of mtldl/arguments.js, by type.
NUMBERS = {"gint": "int32", "guint": "uint32", "guint32": "uint32", "gint64": "int64",
           "GLib.TimeSpan": "int64",
           "guint64": "uint64", "gsize": "uint64", "gdouble": "double"}
CONVERTERS = {**NUMBERS, "gboolean": "boolean", "utf8": "text", "GLib.Bytes": "bytes",
              "Gio.File": "file", "Mtl.DType": "dtype", "Mtl.StridedView": "view",
              "Gdk.MemoryFormat": "int32", "cairo.Format": "int32"}
# Enumerations of other GIRs, whose members can be named as those of our own.
ENUMERATIONS = {"Gst.MapFlags", "GstVideo.VideoFormat"}
# gjs checks these itself, but leaks the arrays of a call that it refuses.
CHECKED = {"Gio.Cancellable": "cancellable", "Gio.AsyncResult": "result",
           "Gio.FileProgressCallback": "callback"}


def converter_of(parameter, function, enumerations):
    kind = CONVERTERS.get(parameter.type)
    if parameter.type in enumerations:
        kind = kind or parameter.type
    if function.has_array:
        kind = kind or CHECKED.get(parameter.type)
    if parameter.is_array:
        return "views" if kind == "view" else f"{kind}[]" if parameter.type in NUMBERS else "-"
    if parameter.type == "Mtl.Device":
        return "nullable-device" if parameter.is_nullable else "device"
    if parameter.is_nullable and kind in ("text", "view"):
        return f"nullable-{kind}"
    return kind or "-"


def in_javascript(value):
    return f"gi.{value}" if isinstance(value, Member) else json.dumps(value)


def signatures_of(table, library, enumerations):
    """Yields the owner, the name, the converters and the defaults of each function that takes
    arguments."""
    for function in library.functions.values():
        passed = function.passed
        # gjs itself adds the callback of asynchronous functions, which return a promise then.
        if function.name.endswith("_async"):
            passed = passed[:-1]
        converters = [converter_of(parameter, function, enumerations) for parameter in passed]
        defaults = table.defaults_of(library.namespace, function.full_name,
                                     [parameter.name for parameter in passed])
        if converters:
            owner = (function.owner or "") + ".prototype" * function.is_method
            yield owner, function.name, " ".join(converters), defaults.values()


def write_gjs(table, output, libraries):
    enumerations = ENUMERATIONS.union(*(library.enumerations for library in libraries))
    parts = ["/* Written by defaults.py. */\n"]
    for library in libraries:
        parts.append(f"var {library.namespace} = gi => [\n")
        for owner, name, converters, defaults in signatures_of(table, library, enumerations):
            values = "".join(f", {in_javascript(value)}" for value in defaults)
            parts.append(f"    ['{owner}', '{name}', '{converters}'{values}],\n")
        parts.append("];\n")
    with open(output, "w", encoding="utf-8") as file:
        file.write("".join(parts))


# Vala

def in_vala(value):
    if isinstance(value, Member):
        return value.replace("GstVideo.Video", "Gst.Video.")  # another name for the namespace
    return json.dumps(value)


def skipped_by(metadata):
    """The methods that the hand-written metadata leave out, with their class."""
    owner, methods = None, set()
    for line in metadata.splitlines():
        selector, _, arguments = line.strip().partition(" ")
        if not line.startswith("\t"):
            owner = selector
        elif arguments == "skip":
            methods.add(owner + selector)
    return methods


def write_vala(table, output, metadata, library):
    with open(metadata, encoding="utf-8") as file:
        parts = [file.read(), "\n// Written by defaults.py.\n"]
    skipped = skipped_by(parts[0])
    for function in library.functions.values():
        symbol = ".".join(filter(None, [function.owner, function.symbol]))
        if symbol in skipped:
            continue
        # Vala counts results that are stored as arguments, too.
        names = [parameter.name for parameter in function.parameters]
        for name, value in table.defaults_of(library.namespace, function.full_name, names).items():
            if name != "callback":
                parts.append(f"{symbol}.{name} default={in_vala(value)}\n")
    with open(output, "w", encoding="utf-8") as file:
        file.write("".join(parts))


def main(language, table, output, *paths):
    table = Table(table)
    if language == "python":
        return write_python(table, output)
    metadata, girs = (paths[0], paths[1:]) if language == "vala" else (None, paths)
    libraries = [Library(path) for path in girs]
    check(table, libraries)
    if language == "gjs":
        write_gjs(table, output, libraries)
    else:
        write_vala(table, output, metadata, libraries[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
