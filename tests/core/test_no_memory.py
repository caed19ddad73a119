# SPDX-License-Identifier: LGPL-2.1-or-later
"""A lack of memory is a MemoryError: in processes that may only use a little more."""

import subprocess
import sys

import pytest

BEGIN = """
import resource, sys
from pathlib import Path
import gi
gi.require_version("Mtl", "1")
from gi.repository import Gio, Mtl

def limit(more):
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more,) * 2)

def assert_no_memory(call):
    try:
        call()
    except MemoryError:
        pass
    else:
        raise AssertionError("there was enough memory")

MIB = 2**20
folder = Path(sys.argv[1])
"""

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"),
                                reason="only Linux keeps to a limit of the address space")


def run(folder, script):
    result = subprocess.run([sys.executable, "-c", BEGIN + script, str(folder)],
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_metadata(tmp_path):
    run(tmp_path, """
builder = Mtl.TensorFileBuilder()
text = "x" * (60 * MIB)
limit(180 * MIB)
builder.set_metadata("key", text)
limit(50 * MIB)
path = Gio.File.new_for_path(str(folder / "file"))
assert_no_memory(lambda: builder.write(path, None, None))
assert not list(folder.iterdir())
""")


def test_many_tensors(tmp_path):
    run(tmp_path, """
builder = Mtl.TensorFileBuilder()
view = Mtl.StridedView.new_zeros(None, Mtl.DType.UINT8, [1])
for i in range(100_000):
    builder.add(str(i), view)
path = Gio.File.new_for_path(str(folder / "file"))
limit(2 * MIB)
assert_no_memory(lambda: builder.write(path, None, None))
assert not list(folder.iterdir())
""")


@pytest.mark.parametrize("call", [
    "Mtl.Buffer.new_mapped(path, None, 0, 4096 * MIB, None)",
    "tensors.load_view('x', None)",
    "tensors.load_views(None, None, None)",
])
def test_mapping(tmp_path, call):
    run(tmp_path, f"""
header = b'{{"x":{{"dtype":"U8","shape":[4294967296],"data_offsets":[0,4294967296]}}}}'
with open(folder / "file", "wb") as file:
    file.write(len(header).to_bytes(8, "little") + header)
    file.truncate(8 + len(header) + 4096 * MIB)
path = Gio.File.new_for_path(str(folder / "file"))
tensors = Mtl.TensorFile.open(path)
limit(1024 * MIB)
assert_no_memory(lambda: {call})
""")
