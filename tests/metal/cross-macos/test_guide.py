# SPDX-License-Identifier: LGPL-2.1-or-later
"""The code that docs/metal.md marks as cross-built compiles for macOS, without a warning."""

import re

import pytest

from blocks import read_blocks
from test_binaries import BUILDS, COMMANDS, ROOT, compile_like, each_build, with_source

GUIDE = ROOT / "docs" / "metal.md"
BLOCKS = [text for _, language, text in read_blocks(GUIDE) if language == "objc"]
PROGRAM = """
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include <CoreVideo/CoreVideo.h>
#include <mtldl/mtldl.h>
%s
"""
PART = """
id<MTLBuffer> find (MtlStridedView *view, gsize *place);
id<MTLBuffer> find (MtlStridedView *view, gsize *place)
{
  %s
  *place = first;
  return memory;
}
"""
USE = """
MtlStridedView *use (MtlDevice *device, CVPixelBufferRef pixels, GError **error);
MtlStridedView *use (MtlDevice *device, CVPixelBufferRef pixels, GError **error)
{
  return view_pixels (device, pixels, error);
}
"""


def block_with(part):
    (block,) = [block for block in BLOCKS if part in block]
    return block


PROGRAMS = {
    "kernel": PART % block_with("gsize first"),
    "pixels": block_with("CVPixelBuffer") + USE,
}


def compile_program(cpu, text, folder):
    path = folder / "guide.m"
    path.write_text(PROGRAM % text)
    arguments, cwd = with_source(cpu, path)
    command = [*arguments[:-1], f"-I{BUILDS[cpu]}/mtldl/include", arguments[-1]]
    command = [word for word in command if word != "-DMTLDL_COMPILATION"]
    return compile_like((command, cwd), folder)


@pytest.mark.parametrize("name", PROGRAMS)
@each_build
def test_guide(cpu, name, tmp_path):
    status, text = compile_program(cpu, PROGRAMS[name], tmp_path)
    assert text == "" and status == 0


@each_build
def test_mistakes_are_noticed(cpu, tmp_path):
    text = PROGRAMS["pixels"].replace("strides, 3, 8, error", "strides, 3, error")
    assert compile_program(cpu, text, tmp_path)[0] == 1


def test_marks():
    """Each recipe begins with its marks."""
    recipes = GUIDE.read_text().partition("\n## Recipes\n")[2].partition("\n## ")[0]
    texts = re.split(r"^### (.*)\n\n", recipes, flags=re.MULTILINE)[1:]
    assert len(texts) > 10
    for title, text in zip(texts[::2], texts[1::2]):
        assert re.match("(Double|Cross-built|Source)[,;.]", text), title


def test_example_is_built():
    assert all("examples/objc/kernel.m" in COMMANDS[cpu] for cpu in BUILDS)
