# SPDX-License-Identifier: LGPL-2.1-or-later
"""The library as it is built for macOS, on Linux: nothing of it runs here, but what it exports,
loads and asks for can be read. MTL_MACOS_BUILDS names the builds, for arm64 and for x86-64,
MTL_BUILD that of this machine."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from binaries import is_binary, read_binary, read_references, references_of

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "packaging" / "install"))
from exports import read_exported_symbols  # noqa: E402

HERE = Path(os.environ["MTL_BUILD"]).resolve()
BUILDS = {cpu: Path(build).resolve() for cpu, build in zip(
    ("ARM64", "X86_64"), os.environ["MTL_MACOS_BUILDS"].split(":"))}
LIBRARIES = ["mtldl/libmtldl-1", "bridges/libmtldl-pixbuf-1"]
BRIDGE = "mtldl/devices/mtl-metal-bridge.m"

each_build = pytest.mark.parametrize("cpu", BUILDS)
each_library = pytest.mark.parametrize("library", LIBRARIES)


def read_commands(build):
    """Returns the command for each source, by its path in the tree: the arguments, and the
    folder."""
    commands = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        path = (Path(command["directory"]) / command["file"]).resolve()
        if path.is_relative_to(ROOT) and not path.is_relative_to(build):
            commands.setdefault(path.relative_to(ROOT).as_posix(), command)
    return {name: (shlex.split(command["command"]), command["directory"])
            for name, command in commands.items()}


COMMANDS = {cpu: read_commands(build) for cpu, build in BUILDS.items()}


def compile_like(command, folder, **variables):
    """Compiles, and gives the status and what the compiler says."""
    arguments, cwd = command
    result = subprocess.run([*arguments, "-fno-color-diagnostics", "-c", "-o", folder / "object"],
                            cwd=cwd, env={**os.environ, **variables}, capture_output=True,
                            text=True)
    return result.returncode, result.stderr


def without_output(arguments):
    """Returns a command's arguments without those for its output."""
    left, skip = [], False
    for argument in arguments:
        if not skip and argument not in ("-o", "-MF", "-MQ", "-MD", "-c"):
            left.append(argument)
        skip = not skip and argument in ("-o", "-MF", "-MQ")
    return left


@each_library
@each_build
def test_exports(cpu, library):
    """The exports are those on Linux: neither a function of Metal's own, nor one less."""
    here = read_exported_symbols(HERE / f"{library}.so")
    assert read_binary(BUILDS[cpu] / f"{library}.0.dylib").exports == here.keys()
    assert here


@each_library
@each_build
def test_install_name(cpu, library):
    """Installing replaces it by the path. Programs may be linked with any version 1."""
    binary = read_binary(BUILDS[cpu] / f"{library}.0.dylib")
    assert binary.install_name == f"@rpath/{Path(library).name}.0.dylib"
    assert binary.versions == ((1, 0, 0), (1, 0, 0))


@pytest.mark.parametrize("name", ["mtldl/libmtldl-1.0.dylib",
                                  "bridges/libmtldl-pixbuf-1.0.dylib", "cli/mtldl",
                                  "tests/metal/test-metal-wrap-real"])
@each_build
def test_references(cpu, name):
    """A class that an older system lacks keeps the library from being loaded; a selector that
    there is not ends the program."""
    seen = set(references_of(read_binary(BUILDS[cpu] / name)))
    listed = read_references()[name]
    assert len(listed) == len(set(listed))
    assert sorted(seen - set(listed)) == [] and sorted(set(listed) - seen) == []


@each_build
def test_binaries(cpu):
    """Each is for this processor and for macOS 12, and loads nothing of the machine that built
    it."""
    paths = [path for path in BUILDS[cpu].rglob("*")
             if path.is_file() and not path.is_symlink() and os.access(path, os.X_OK)
             and is_binary(path)]
    assert len(paths) > 60
    for path in paths:
        binary = read_binary(path)
        assert (binary.cpu, binary.platform, binary.release) == (cpu, "MACOS", (12, 0, 0)), path
        for library in binary.libraries:
            assert library.startswith(("@rpath/lib", "/usr/lib/lib", "/System/Library/")), path


@each_build
def test_metal_itself(cpu):
    """On a Mac the tests of the Metal device run over Metal as it is, and none of them over the
    double."""
    programs = {path.name for path in (BUILDS[cpu] / "tests" / "metal").glob("test-metal-*")
                if path.is_file()}
    assert len(programs) > 10
    for name in programs:
        # The search for layouts calls nothing of Metal.
        assert name.endswith("-real") or name == "test-metal-tensor-brute-force"
        binary = read_binary(BUILDS[cpu] / "tests" / "metal" / name)
        assert not any("double" in library for library in binary.libraries)
        assert not any(symbol.startswith("metal_double") for symbol in binary.imports)


# These use what only Linux has, or MPI, whose headers are each system's own.
LINUX_ALONE = ("tests/core/faults/", "tests/cuda/", "tests/processes/",
               "mtldl/devices/mtl-metal-device-none.c", "bridges/gtk/mtl-gtk-dmabuf.c",
               "tests/bridges/gst/test-gst-fd-memory.c", "tests/bridges/gtk/test-dmabuf",
               "tests/bench/bench-dbus.c", "tests/bench/bench-processes.c",
               "tests/bridges/mpi/", "tests/bench/bench-mpi.c", "examples/c/mpi_halo.c")


def left_over():
    """The sources that Meson cannot build for macOS here, for want of Python, GTK and GStreamer."""
    return sorted(name for name in read_commands(HERE)
                  if name not in COMMANDS["ARM64"] and not name.startswith(LINUX_ALONE))


def headers_for_macos(arguments, tree):
    """Yields the folders of headers for a command. Those of this machine are only for what is the
    same on all systems, or nearly so."""
    folders = [argument[2:] for argument in arguments if argument.startswith("-I")]
    for folder in folders:
        if not folder.startswith("/usr/"):
            yield f"-I{folder}"
        elif not re.search("glib-2[.]0|/python3|-linux-gnu$", folder):
            yield f"-isystem{folder}"
    yield from (f"-isystem{tree}/include/{name}" for name in ("glib-2.0", "glibconfig", "python"))


@pytest.mark.parametrize("name", left_over())
@each_build
def test_other_sources(cpu, name, tmp_path):
    """These compile without a warning, too, with the flags of the others."""
    flags, _ = COMMANDS[cpu]["mtldl/base/mtl-error.c"]
    arguments, folder = read_commands(HERE)[name]
    command = [*(flag for flag in without_output(flags)[:-1]
                 if not flag.startswith("-I") and flag != "-DMTLDL_COMPILATION"),
               *headers_for_macos(arguments, flags[1]),
               *(argument for argument in arguments if argument.startswith("-D")), arguments[-1]]
    status, text = compile_like((command, folder), tmp_path)
    assert status == 0, text


def with_source(cpu, path):
    """Compiles another file like the bridge."""
    arguments, folder = COMMANDS[cpu][BRIDGE]
    return [*without_output(arguments)[:-1], str(path)], folder


def with_sdk(command, sdk):
    arguments, folder = command
    return [*arguments[:3], sdk, *arguments[4:]], folder


PROGRAM = """
#import <Metal/Metal.h>
uint64_t ask (id<MTLBuffer> buffer);
uint64_t ask (id<MTLBuffer> buffer)
{
  %s
    return [buffer gpuAddress]; // which came with macOS 13
  return 0;
}
"""


@pytest.mark.parametrize("condition, sdk, said", [
    ("if (buffer != nil)", "26", "-Wunguarded-availability-new"),
    ("if (@available (macOS 13, *))", "26", ""),
    ("if (buffer != nil)", "12", "is unavailable"),
    ("if (@available (macOS 13, *))", "12", "is unavailable"),
])
@each_build
def test_what_is_newer(cpu, condition, sdk, said, tmp_path):
    """It is noticed that something is newer than macOS 12, and is not in its SDK."""
    path = tmp_path / "program.m"
    path.write_text(PROGRAM % condition)
    status, text = compile_like(with_sdk(with_source(cpu, path), sdk), tmp_path)
    assert (status, text != "") == ((1, True) if said else (0, False)), text
    assert said in text


NEW_CLASS = """
#import <Foundation/Foundation.h>
#include <os/availability.h>
%s
@interface MTLNew : NSObject
@end
id make (void);
id make (void)
{
  if (@available (macOS 26, *))
    return [[MTLNew alloc] init];
  return nil;
}
"""


@pytest.mark.parametrize("availability, strength", [("", ""),
                                                    ("API_AVAILABLE (macos (26.0))", "weak ")])
@each_build
def test_new_class(cpu, availability, strength, tmp_path):
    """A strong reference, which keeps a library from being loaded, is seen in it."""
    path, library = tmp_path / "program.m", tmp_path / "library.dylib"
    path.write_text(NEW_CLASS % availability)
    (compiler, tree, *_), _ = COMMANDS[cpu][BRIDGE]
    subprocess.run([compiler, tree, {"ARM64": "aarch64", "X86_64": "x86_64"}[cpu], "26", "-shared",
                    "-Wl,-undefined,dynamic_lookup", path, "-o", library, "-framework",
                    "Foundation"], check=True)
    assert f"{strength}class MTLNew" in references_of(read_binary(library))


def test_what_is_deprecated(tmp_path):
    """It is noticed what macOS 27 deprecates."""
    path = tmp_path / "program.m"
    path.write_text("#import <Metal/Metal.h>\nint mode = MTLStorageModeManaged;\n")
    command = with_source("ARM64", path)
    assert compile_like(command, tmp_path) == (0, "")
    status, text = compile_like(command, tmp_path, MTL_MACOS_RELEASE="27.0")
    assert status == 1 and "first deprecated in macOS 27.0" in text


def test_bridge_is_warned(tmp_path):
    """Only what concerns Managed memory may be deprecated in the bridge."""
    path = tmp_path / "bridge.m"
    path.write_text((ROOT / BRIDGE).read_text() + "BOOL is_low (id<MTLDevice> device);\n"
                    "BOOL is_low (id<MTLDevice> device) { return [device isLowPower]; }\n")
    (arguments, folder) = with_source("ARM64", path)
    command = [*arguments[:-1], f"-I{(ROOT / BRIDGE).parent}", arguments[-1]], folder
    assert compile_like(command, tmp_path) == (0, "")
    status, text = compile_like(command, tmp_path, MTL_MACOS_RELEASE="27.0")
    assert status == 1 and text.count("error:") == 1 and "isLowPower" in text


@pytest.mark.parametrize("sdk, release", [("12", "12.0"), ("26", "12.0"), ("26", "27.0")])
@each_build
def test_bridge(cpu, sdk, release, tmp_path):
    """The bridge compiles against either SDK, and for a later macOS alone."""
    command = with_sdk(with_source(cpu, ROOT / BRIDGE), sdk)
    assert compile_like(command, tmp_path, MTL_MACOS_RELEASE=release) == (0, "")
