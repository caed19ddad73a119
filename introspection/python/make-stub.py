#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""make-stub.py TABLE GIR OVERRIDES OUTPUT

Writes type hints for a namespace. Most are derived from the GIR, as PyGObject
uses it. Hand-written hints of the override replace them or are added to them.
Both get the defaults of the table.
"""

import ast
import functools
import itertools
import pathlib
import re
import sys
import textwrap
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from defaults import CORE, Library, Member, Table, check  # noqa: E402

BASIC = {"gboolean": "bool", "gdouble": "float", "utf8": "str", "none": "None",
         "gpointer": "object", "GLib.Quark": "int", "GLib.DestroyNotify": "Callable[..., None]",
         "Gio.AsyncReadyCallback": "Callable[..., object]",
         "Gio.FileProgressCallback": "Callable[..., object]"}
INTEGERS = {"gint", "guint", "gint64", "guint64", "gsize", "GLib.TimeSpan"}


# The override converts arguments of these types.
ACCEPTED = {"DType": "_DType", "Gio.File": "_Path", "Mtl.DType": "_DType",
            "Mtl.StorageMode": "Mtl.StorageMode | str", "Mtl.StridedView": "Any",
            "Sequence[Mtl.StridedView]": "Iterable[Any]", "GstAudio.AudioInfo": "_AudioInfo",
            "GstVideo.VideoInfo": "_VideoInfo"}


def accepted(parameter, enumerations):
    """The hint of an argument."""
    hint = type_of(parameter)
    if parameter.get("name") == "shape":
        return "_Shape"
    if hint in enumerations:
        return f"{hint} | str"
    return ACCEPTED.get(hint, hint)


def type_of(element, direction="in"):
    array = element.find(CORE + "array")
    if array is not None:
        item = type_of(array)
        return f"Sequence[{item}]" if direction == "in" else f"list[{item}]"
    kind = element.find(CORE + "type")
    name = kind.get("name")
    if name == "GLib.List":
        return f"list[{type_of(kind)}]"
    if name in INTEGERS:
        return "int"
    return BASIC.get(name, name)


def first_paragraph(element):
    doc = element.find(CORE + "doc")
    if doc is None:
        return None
    text = " ".join(doc.text.partition("\n\n")[0].split())
    text = re.sub(r"\[\w+@(?:\w+\.)?([^\]]+)\]", r"`\1`", text)
    return re.sub(r"[%@#](\w+)", r"\1", text).replace("NULL", "None").replace("\\", "\\\\")


def docstring(element, indent):
    text = first_paragraph(element)
    return "" if text is None else f'\n{indent}    """{text}"""'


class Function:
    """A callable of the GIR, with the signature that PyGObject gives it."""

    namespace = None
    enumerations = frozenset()
    defaults_of = None

    def __init__(self, element, owner=None, finish=None):
        self.element = element
        self.finish = finish and Function(finish)
        self.owner = owner
        self.kind = element.tag.rpartition("}")[2]
        self.name = element.get("shadows") or element.get("name")
        if self.kind == "virtual-method":
            self.name = f"do_{self.name}"
        found = element.find(CORE + "parameters")
        self.parameters = [] if found is None else found.findall(CORE + "parameter")

    def hidden(self):
        """Returns the indexes of the parameters that Python does not see: the lengths of arrays
        and the destroy functions of callbacks."""
        result = self.element.find(CORE + "return-value")
        hidden = {int(place) for holder in [result, *self.parameters]
                  for array in [holder.find(CORE + "array")] if array is not None
                  for place in [array.get("length")] if place is not None}
        return hidden | {int(parameter.get("destroy")) for parameter in self.parameters
                         if parameter.get("destroy")}

    def arguments(self):
        hidden = self.hidden()
        shown = [parameter for i, parameter in enumerate(self.parameters)
                 if i not in hidden and parameter.get("direction") != "out"]
        arguments, may_be_left_out = [], True
        # Virtual functions are called by the library.
        is_called = (self.owner or self.namespace != "Mtl") and self.kind != "virtual-method"
        full_name = f"{self.owner}.{self.name}" if self.owner else self.name
        defaults = self.defaults_of(full_name, [
            parameter.get("name") for parameter in shown
            if not parameter.get("name").endswith("_data")]) if is_called else {}
        for parameter in reversed(shown):
            name = parameter.get("name")
            hint = accepted(parameter, self.enumerations) if is_called else type_of(parameter)
            if name == "progress_data" and self.finish:
                continue
            if name.endswith("_data"):
                arguments.insert(0, f"*{name}: object")
                continue
            optional = parameter.get("nullable") == "1"
            # PyGObject has defaults for the last parameters that can be None.
            is_last = not any(other.get("name") in defaults for other in
                              shown[shown.index(parameter) + 1:])
            may_be_left_out &= name in defaults or optional and is_last
            hint += " | None" if optional and hint != "object" else ""
            default = f" = {written(defaults.get(name))}" if may_be_left_out else ""
            arguments.insert(0, f"{name}: {hint}{default}")
        return arguments

    def result(self):
        if self.finish:
            return f"Awaitable[{self.finish.result()}]"
        hidden = self.hidden()
        values = [self.element.find(CORE + "return-value")] + [
            parameter for i, parameter in enumerate(self.parameters)
            if i not in hidden and parameter.get("direction") == "out"]
        results = [type_of(value, "out") + (" | None" if value.get("nullable") == "1" else "")
                   for value in values]
        if results[0] == "None":
            del results[0]
        if len(results) > 1:
            return f"tuple[{', '.join(results)}]"
        return results[0] if results else "None"

    def write(self, indent):
        is_method = self.kind in ("method", "virtual-method")
        arguments = ["self"] * is_method + self.arguments()
        decorator = f"{indent}@staticmethod\n" if indent and not is_method else ""
        doc = docstring(self.element, indent)
        if self.finish:
            same = self.name.removesuffix("_async")
            doc = f'\n{indent}    """Does the same as {same}(): awaited, or with a callback."""'

        def definition(arguments, decorator):
            return (f"{decorator}{indent}def {self.name}({', '.join(arguments)}) -> "
                    f"{self.result()}:{doc or ' ...'}\n")

        if self.owner is None or len(arguments) < 2 or not arguments[0].startswith("device:"):
            return definition(arguments, decorator)
        # A device that comes first can be left out.
        overload = f"{indent}@overload\n{decorator}"
        return definition(arguments, overload) + definition(arguments[1:], overload)


def functions_of(element, owner=None):
    finish = {child.get("name"): child for child in element if child.tag != CORE + "property"}
    for kind in ("constructor", "function", "method", "virtual-method"):
        for child in element.findall(CORE + kind):
            if child.get("introspectable") != "0" and not child.get("shadowed-by"):
                name, suffix, _ = child.get("name").partition("_async")
                yield Function(child, owner, suffix and finish.get(f"{name}_finish"))


def write_props(element, parent):
    """Writes a class for the attributes of `props`. PyGObject has none, but type checkers need
    it."""
    lines = []
    for prop in element.findall(CORE + "property"):
        name, hint = prop.get("name").replace("-", "_"), type_of(prop)
        if prop.get("writable") == "1" and prop.get("construct-only") != "1":
            lines.append(f"        {name}: {hint}")
        else:
            lines += ["        @property", f"        def {name}(self) -> {hint}: ..."]
    if lines:
        lines = [f"    class Props({parent}.Props):", *lines,
                 "    @property", "    def props(self) -> Props: ..."]
    return lines


def written(default):
    """The default of an argument, as hints have it."""
    return "..." if isinstance(default, Member) else repr(default)


def functions_in(tree, owner=None):
    """Yields the functions of hand-written hints, with the names of their classes."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield owner, node
        elif isinstance(node, (ast.ClassDef, ast.If)):
            yield from functions_in(node, getattr(node, "name", None))


def with_defaults(text, defaults_of):
    """Returns hand-written hints with the defaults of the table."""
    lines, places = text.splitlines(keepends=True), []
    for owner, node in functions_in(ast.parse(text)):
        name = f"{owner}.{node.name}" if owner else node.name
        arguments = node.args.args
        defaults = defaults_of(name, [argument.arg for argument in arguments])
        if len(node.args.defaults) > len(defaults):
            continue  # Python has more
        if node.args.defaults:
            sys.exit(f"{name}: its defaults are those of the table, and are not written here")
        places += [(argument.end_lineno - 1, argument.end_col_offset, defaults[argument.arg])
                   for argument in arguments if argument.arg in defaults]
    for line, column, value in sorted(places, key=lambda place: place[:2], reverse=True):
        lines[line] = f"{lines[line][:column]} = {written(value)}{lines[line][column:]}"
    return "".join(lines)


class Overrides:
    """The hand-written hints, by class and name, and the interfaces of classes. Classes that only
    the hints have are named _Like_This, and are part of the head."""

    def __init__(self, path, defaults_of):
        with open(path, encoding="utf-8") as file:
            self.text = with_defaults(file.read(), defaults_of)
        lines = self.text.splitlines(keepends=True)
        self.head, self.members, self.functions, self.bases = [], {}, {}, {}
        for node in ast.parse(self.text).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                members = self.members.setdefault(node.name, {})
                self.bases[node.name] = [ast.unparse(base) for base in node.bases]
                for member in node.body:
                    self.add(members, member, lines)
            elif isinstance(node, ast.FunctionDef):
                self.add(self.functions, node, lines)
            elif isinstance(node, ast.If):  # functions that only a platform has
                names = [function.name for function in node.body]
                self.functions.update(dict.fromkeys(names, ""))
                self.functions[names[0]] = "".join(lines[node.lineno - 1:node.end_lineno])
            else:
                self.head += lines[node.lineno - 1:node.end_lineno]

    @staticmethod
    def add(members, node, lines):
        if isinstance(node, ast.For):  # the same for each of several words
            for word, item in itertools.product(ast.literal_eval(node.iter.func.value).split(),
                                                node.body):
                text = textwrap.indent(textwrap.dedent(text_of(item, lines)), "    ")
                members[item.name.replace(node.target.id, word)] = text.replace(node.target.id, word)
            return
        name = node.target.id if isinstance(node, ast.AnnAssign) else node.name
        members[name] = members.get(name, "") + text_of(node, lines)


def text_of(node, lines):
    first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))])
    return "".join(lines[first - 1:node.end_lineno])


def value_of(constant):
    value = constant.get("value")
    return repr(value) if type_of(constant) == "str" else value


def parent_of(element):
    parent = element.get("parent")
    return parent if "." in parent else f"GObject.{parent}"


def write_class(element, overrides, base):
    name = element.get("name")
    own = overrides.members.get(name, {})
    # PyGObject's enumerations and classes that only the library derives from have no subclasses.
    is_final = base in ("GObject.GEnum", "GObject.GFlags") or element.get("abstract") == "1"
    final = "@final\n" if is_final else ""
    bases = ", ".join([base, *overrides.bases.get(name, [])])
    parts = [f"{final}class {name}({bases}):",
             docstring(element, "").removeprefix("\n") or "    ..."]
    for member in element.findall(CORE + "member"):
        parts.append(f"    {member.get('name').upper()} = {member.get('value')}")
    parts += write_props(element, base)
    parts += [function.write("    ").rstrip("\n") for function in functions_of(element, name)
              if function.name not in own]
    parts += [text.rstrip("\n") for text in own.values()]
    return "\n".join(parts) + "\n"


def main(table, gir, overrides_path, output):
    namespace = ElementTree.parse(gir).getroot().find(CORE + "namespace")
    table = Table(table)
    check(table, [Library(gir)])
    defaults_of = functools.partial(table.defaults_of, namespace.get("name"))
    Function.defaults_of = staticmethod(defaults_of)  # a method in Python 3.14
    overrides = Overrides(overrides_path, defaults_of)
    Function.namespace = namespace.get("name")
    Function.enumerations = {element.get("name")
                             for element in namespace.findall(CORE + "enumeration")
                             if element.get("name") != "DType"}
    parts = ["# Written by make-stub.py.\n", "".join(overrides.head)]
    for kind, base in (("enumeration", "GObject.GEnum"), ("bitfield", "GObject.GFlags")):
        parts += [write_class(element, overrides, base)
                  for element in namespace.findall(CORE + kind)
                  if element.get("introspectable") != "0"]
    parts += [write_class(element, overrides, parent_of(element))
              for element in namespace.findall(CORE + "class")]
    parts += [function.write("") for function in functions_of(namespace)
              if function.name not in overrides.functions]
    parts += overrides.functions.values()
    parts += [f"{element.get('name')}: Final = {value_of(element)}\n"
              for element in namespace.findall(CORE + "constant")
              if element.get("introspectable") != "0"]
    with open(output, "w", encoding="utf-8") as file:
        file.write("\n".join(parts))


if __name__ == "__main__":
    main(*sys.argv[1:])
