# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads libraries and programs of macOS."""

import dataclasses
import struct
from pathlib import Path

import lief

MAGIC = b"\xcf\xfa\xed\xfe"
# Zig's linker exports them from everything, Apple's from nothing or as no symbols of C.
OF_LINKER = {"_mh_dylib_header", "_mh_execute_header", "__dso_handle"}


@dataclasses.dataclass
class Binary:
    cpu: str
    install_name: str
    versions: tuple
    libraries: set
    platform: str
    release: tuple
    exports: set
    imports: dict  # {symbol: library}
    weak: set
    selectors: set


def is_binary(path):
    with open(path, "rb") as file:
        return file.read(4) == MAGIC


def read_selectors(binary):
    """Reads those that are sent, not those of methods and protocols that are only named."""
    references = binary.get_section("__DATA", "__objc_selrefs")
    if references is None:
        return set()

    names = binary.get_section("__TEXT", "__objc_methname")
    text = bytes(names.content)
    content = bytes(references.content)
    starts = (address - names.virtual_address
              for address, in struct.iter_unpack("<Q", content))
    return {text[start:text.index(b"\0", start)].decode() for start in starts}


def read_binary(path):
    binary = lief.MachO.parse(str(path)).at(0)
    imports, weak = {}, set()
    for symbol in binary.imported_symbols:
        info = symbol.binding_info if symbol.has_binding_info else None
        name = symbol.name.removeprefix("_")
        imports[name] = info.library.name if info and info.has_library else ""
        if info and info.weak_import:
            weak.add(name)

    own = [library for library in binary.libraries
           if library.command == lief.MachO.LoadCommand.TYPE.ID_DYLIB]
    return Binary(
        cpu=binary.header.cpu_type.name,
        install_name=own[0].name if own else "",
        versions=(tuple(own[0].current_version), tuple(own[0].compatibility_version))
            if own else (),
        libraries={library.name for library in binary.libraries if library not in own},
        platform=binary.build_version.platform.name,
        release=tuple(binary.build_version.minos),
        exports={symbol.name.removeprefix("_") for symbol in binary.exported_symbols}
            - OF_LINKER,
        imports=imports,
        weak=weak,
        selectors=read_selectors(binary),
    )


def references_of(binary):
    """Yields the names that have to be there when it is loaded or runs; weak ones may be
    missing."""
    yield from (f"library {name}" for name in binary.libraries)
    yield from (f"selector {name}" for name in binary.selectors)
    for name, library in binary.imports.items():
        strength = "weak " if name in binary.weak else ""
        if name.startswith("OBJC_CLASS_$_"):
            yield f"{strength}class {name.removeprefix('OBJC_CLASS_$_')}"
        elif library.startswith("/System/Library/"):
            yield f"{strength}name {name}"


def read_references():
    """Returns the references that are expected of each binary."""
    lists = {}
    for line in Path(__file__).with_name("references.txt").read_text().splitlines():
        if line.startswith("["):
            lists[line.strip("[]")] = listed = []
        elif line and not line.startswith("#"):
            listed.append(line)
    return lists
