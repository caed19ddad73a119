# SPDX-License-Identifier: LGPL-2.1-or-later
"""Declarations of Apple's headers, as PyObjC has written them down, and of our headers, as the
compiler reads them."""

import json
import re
import subprocess
import sys
import zipfile
from unittest import mock


class Metadata:
    """The metadata of the frameworks whose wheels are in a folder. What a method takes and returns
    is known by its selector, and often not by the class or protocol that has it."""

    def __init__(self, folder, **members):
        self.values, self.expressions, self.functions, self.structs = {}, {}, {}, {}
        self.constants, self.methods = set(), {}
        for package, member in members.items():
            wheel, = folder.glob(f"pyobjc_framework_{package}-*.whl")
            with zipfile.ZipFile(wheel) as archive:
                self._take(archive.read(f"{member}/_metadata.py"))

    def _take(self, program):
        objc = mock.MagicMock(arch="arm64")
        objc.registerMetaDataForSelector = self._take_method
        objc.createStructType = self._take_struct
        found = {"__name__": "metadata"}
        with mock.patch.dict(sys.modules, objc=objc):
            exec(program, found)
        for text in found.get("enums", "").strip("$").split("$"):
            name, _, value = text.partition("@")
            if re.fullmatch("-?[0-9]+", value):
                self.values[name] = int(value)
        self.expressions.update(found.get("expressions", {}))
        self.functions.update(found.get("functions", {}))
        self.constants.update(text.partition("@")[0]
                              for text in found.get("constants", "").strip("$").split("$"))

    def _take_method(self, owner, selector, info):
        self.methods.setdefault(selector.decode(), {})[owner.decode()] = info

    def _take_struct(self, name, encoding, fields, *_):
        self.structs[name.rpartition(".")[2]] = encoding.decode(), fields

    def value_of(self, name):
        """Returns the value of an enumerator or a macro, or None."""
        if name in self.expressions:
            return eval(self.expressions[name], {}, self.values)
        return self.values.get(name)


class Declarations:
    """The declarations of a header, and of those that it includes from a folder."""

    def __init__(self, compiler, header, folder, scratch):
        self.enumerators, self.variables, self.macros = [], [], []
        self.functions, self.structs, self.methods = {}, {}, {}
        self._compiler, self._header, self._scratch = compiler, header, scratch
        self._file = ""
        self._types = []
        for node in self._read_tree():
            self._follow(node.get("loc", {}))
            if self._file.startswith(str(folder)):
                getattr(self, f"_take_{node['kind']}", lambda node: None)(node)
            self._follow(node)
        self.macros = re.findall(r"^#define (MTL(?!_)\w+) ", header.read_text(), re.MULTILINE)
        self.encodings = self._encode()

    def _run(self, source, *arguments):
        path = self._scratch / "declarations.m"
        path.write_text(f'#import "{self._header}"\n{source}')
        return subprocess.run([*self._compiler, "-w", *arguments, path], cwd=self._scratch,
                              capture_output=True, text=True)

    def _read_tree(self):
        """Zig looks for an object file in vain."""
        result = self._run("", "-fsyntax-only", "-Xclang", "-ast-dump=json")
        return json.loads(result.stdout)["inner"]

    def _follow(self, node):
        """The tree names the file of a place where it is another than that of the place before,
        wherever that was."""
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            if key == "file":
                self._file = value
            elif key != "includedFrom" and isinstance(value, (dict, list)):
                self._follow(value)

    def _add_type(self, node):
        """Gives the number that the encoding of the type will have."""
        self._types.append(node["qualType"])
        return len(self._types) - 1

    def _take_EnumDecl(self, node):
        self.enumerators += [part["name"] for part in node.get("inner", [])
                             if part["kind"] == "EnumConstantDecl"]

    def _take_VarDecl(self, node):
        self.variables.append(node["name"])

    def _take_FunctionDecl(self, node):
        parts = node.get("inner", [])
        result = node["type"]["qualType"].partition(" (")[0]
        types = [{"qualType": result}, *(part["type"] for part in parts
                                         if part["kind"] == "ParmVarDecl")]
        is_retained = any(part["kind"] == "NSReturnsRetainedAttr" for part in parts)
        self.functions[node["name"]] = [self._add_type(kind) for kind in types], is_retained

    def _take_TypedefDecl(self, node):
        """A struct without a tag."""
        if node["type"]["qualType"].startswith("struct ") or node["type"].get(
                "desugaredQualType", "").startswith("struct "):
            self.structs[node["name"]] = self._add_type({"qualType": node["name"]})

    def _take_container(self, node):
        for part in node.get("inner", []):
            if part["kind"] != "ObjCMethodDecl":
                continue
            types = [part["returnType"], *(argument["type"] for argument in part.get("inner", [])
                                           if argument["kind"] == "ParmVarDecl")]
            self.methods[node["name"], part["name"]] = [self._add_type(kind) for kind in types]

    _take_ObjCProtocolDecl = _take_ObjCInterfaceDecl = _take_container

    def _encode(self):
        source = "".join(f"const char e{i}[] = @encode (__typeof__ ({kind}));\n"
                         for i, kind in enumerate(self._types))
        listing = self._scratch / "encodings.s"
        result = self._run(source.replace("instancetype", "id"), "-S", "-o", listing)
        if result.returncode != 0:
            raise ValueError(result.stderr)
        found = re.findall(r'^_e(\d+):.*\n\s*\.asciz\s+"(.*)"', listing.read_text(), re.MULTILINE)
        return [encoding for _, encoding in sorted((int(i), text) for i, text in found)]

    def wrong_values(self, values):
        """Gives those of the names that have other values for the compiler."""
        checks = "".join(f'_Static_assert ((long) {name} == {value}, "{name}");\n'
                         for name, value in values.items())
        result = self._run(checks, "-c", "-o", self._scratch / "values.o")
        wrong = re.findall(r"static assertion failed.*: (\w+)", result.stderr)
        if result.returncode != 0 and not wrong:
            raise ValueError(result.stderr)
        return wrong


QUALIFIERS = "rnNoORVA"
# PyObjC tells truth, text and numbers of a byte apart, and no block from an object.
SAME = [{"B", "Z", "c"}, {"C", "z"}, {"c", "z"}, {"@", "@?"}, {"*", "^t", "^c"}]


def plain(encoding):
    """One type, without tags of structs, qualifiers and places."""
    text = encoding.decode() if isinstance(encoding, bytes) else encoding
    return re.sub(r"\{[?\w]*=", "{", re.sub("[0-9]", "", text)).lstrip(QUALIFIERS)


def are_same(ours, theirs):
    ours, theirs = plain(ours), plain(theirs)
    return ours == theirs or any({ours, theirs} <= group for group in SAME)


def split(encodings):
    """A list of types that follow each other."""
    return re.findall(r"\^*(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|@\?|[@:#*?a-zA-Z])",
                      encodings.decode())
