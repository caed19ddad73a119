# SPDX-License-Identifier: LGPL-2.1-or-later
"""nanobind, by an extension that is built here."""

import importlib.util
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import nanobind
import pytest
from gi.repository import Mtl

from cases import *  # noqa: F403
from client import DTYPES, Client, Refuses, matrix


def build():
    """Compiles the extension with nanobind's own sources, and gives it."""
    source = Path(__file__).with_name("nanobind_peer.cpp")
    headers = [nanobind.include_dir(), Path(nanobind.include_dir(), "../ext/robin_map/include"),
               sysconfig.get_path("include")]
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, f"nanobind_peer{sysconfig.get_config_var('EXT_SUFFIX')}")
        subprocess.run(["c++", "-std=c++17", "-fPIC", "-shared", "-fvisibility=hidden",
                        "-fno-strict-aliasing", *EXTENSION_FLAGS,
                        *(f"-I{path}" for path in headers), source,
                        Path(nanobind.source_dir(), "nb_combined.cpp"), "-o", library], check=True)
        spec = importlib.util.spec_from_file_location("nanobind_peer", library)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


# macOS finds Python's functions when the extension is loaded.
EXTENSION_FLAGS = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
peer = build()


class Nanobind(Client):
    version = nanobind.__version__
    slices = False
    into = {"`__dlpack__(copy=True)`": Refuses(BufferError, "copy=True")}
    dtypes = {name: name for name in DTYPES}

    def address(self, array):
        return peer.address(array)

    def values(self, array):
        return memoryview(array).tolist()

    def dtype_of(self, array):
        code, bits, lanes = peer.dtype(array)
        assert lanes == 1
        return Mtl.DType(code << 8 | bits).name


class Writable(Nanobind):
    """An argument that may be written to."""

    name = "nanobind"
    asks = [{"max_version": (1, 1)}]
    out = {"read-only": Refuses(TypeError, "incompatible")}

    def take(self, exporter, **keywords):
        return peer.take(exporter)

    def write(self, array, value):
        peer.set(array, 0, 0, value)

    def read_only(self, array):
        return peer.take_constant(Mtl.from_dlpack(array).as_read_only())


class Constant(Nanobind):
    """An argument marked nb::ro."""

    name = "nanobind, `nb::ro`"
    asks = [{}]
    writable = False
    constant = True

    def take(self, exporter, **keywords):
        return peer.take_constant(exporter)

    def is_writable(self, array):
        return not memoryview(array).readonly

    def read_only(self, array):
        return array


CLIENTS = [Writable(), Constant()]


def test_what_it_is_given_it_gives_back():
    view = matrix()
    assert peer.give_back(view) is view


def test_arguments_with_conditions():
    view = matrix()
    expected = sum(range(24))

    assert peer.sum(view) == peer.sum(view.as_read_only()) == expected
    assert peer.sum(view[::-1]) == expected  # the copy that goes out is in C order
    assert peer.sum(view[:0]) == 0
    for other in (view.T, view[:, ::2], view[0], view.to_dtype(Mtl.DType.FLOAT64)):
        with pytest.raises(TypeError, match="incompatible"):
            peer.sum(other)
    with pytest.raises(TypeError, match="incompatible"):
        peer.set(view.as_read_only(), 0, 0, 1)
