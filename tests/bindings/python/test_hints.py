# SPDX-License-Identifier: LGPL-2.1-or-later
"""The type hints: everything that they say is there, and the code in Python for users agrees with
them."""

import itertools
import os
import pathlib
import pydoc
import subprocess
import sys

import pytest
from blocks import read_blocks
from gi.repository import Mtl

pytest.importorskip("mypy", reason="mypy is among the pinned peers only")

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[2]


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """A function that runs mypy on files, which reads the hints of others once."""
    cache = tmp_path_factory.mktemp("mypy")
    return lambda *files: subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", HERE / "mypy.ini", "--cache-dir", cache,
         *files], capture_output=True, text=True, timeout=300)


def find_hints():
    """Returns the hints beside the override: installations and builds have them there."""
    path = pathlib.Path(sys.modules["gi.overrides.Mtl"].__file__).parents[2]
    return path / "gi-stubs" / "repository" / "Mtl.pyi"


def find_namespaces():
    """Returns the namespaces of the library, and of the bridges that this build has."""
    return sorted(path.stem for path in find_hints().parent.glob("Mtl*.pyi"))


def run_stubtest(*namespaces, **kwargs):
    return subprocess.run([sys.executable, HERE / "run_stubtest.py", *namespaces],
                          capture_output=True, text=True, timeout=300, **kwargs)


def test_hints_match_what_is_there():
    namespaces = find_namespaces()
    assert "Mtl" in namespaces
    result = run_stubtest(*namespaces)
    assert result.returncode == 0, result.stdout + result.stderr


MISMATCHES = {
    "Mtl": [
        ("def flip(self, axis: int)", "def flip(self, axe: int)", "StridedView.flip"),
        ("def is_dense(", "def is_thick(", "is_dense"),
        ("def synchronize(self, cancellable: Gio.Cancellable | None = None)",
         "def synchronize(self, cancellable: Gio.Cancellable | None)",
         '"cancellable"'),
        ("def asview(x: Any,", "def asview(y: Any,", "Mtl.asview"),
    ],
    "MtlGtk": [
        ("def view_from_texture(texture:", "def view_from_texture(picture:",
         "view_from_texture"),
        ("def get_texture(", "def get_picture(", "get_texture"),
        ("color_map: _ColorMap = ..., colors: Any = None,", "map: _ColorMap = ..., colors: Any,",
         "ViewPaintable.__init__"),
    ],
}


def test_hints_that_do_not_match_are_found(tmp_path):
    namespaces = [namespace for namespace in find_namespaces() if namespace in MISMATCHES]
    folder = tmp_path / "gi" / "repository"
    folder.mkdir(parents=True)
    for namespace in namespaces:
        text = find_hints().with_name(f"{namespace}.pyi").read_text()
        for right, wrong, _ in MISMATCHES[namespace]:
            assert right in text
            text = text.replace(right, wrong)
        (folder / f"{namespace}.pyi").write_text(text)
    result = run_stubtest(*namespaces, cwd=tmp_path,
                          env={**os.environ, "MYPYPATH": str(tmp_path)})
    assert result.returncode == 1
    for namespace in namespaces:
        for _, _, name in MISMATCHES[namespace]:
            assert name in result.stdout, result.stdout + result.stderr


def test_examples_and_guides(mypy, tmp_path):
    files = [*sorted((ROOT / "examples" / "python").glob("*.py")), ROOT / "examples" / "demo.py"]
    for guide in ("README.md", "docs/installation.md", "docs/getting-started.md", "docs/dlpack.md",
                  "docs/files.md", "docs/python.md"):
        path = tmp_path / (pathlib.Path(guide).stem.replace("-", "_") + ".py")
        path.write_text("\n".join(text for _, language, text in read_blocks(ROOT / guide)
                                  if language.partition("-")[0] == "python"))
        files.append(path)
    result = mypy(*files)
    assert result.returncode == 0, result.stdout + result.stderr


WRONG = {
    'view.nothing': "attr-defined",
    'Mtl.Event.new("a")': "arg-type",
    'view.get_shape().upper()': "attr-defined",
    'view.to_dtype(3.5)': "arg-type",
    'Mtl.zeros([2.5])': "list-item",
    'Mtl.from_dlpack(view, None)': "call-arg",
    'view.shape = (3,)': "misc",
    'view["a"]': "index",
    'view.copy("Z")': "arg-type",
    'view.fill_double_async(1, None, 3)': "arg-type",
    'view.props.lanes = 2': "misc",
    'view.props.nothing': "attr-defined",
    'view.is_read_only(0)': "call-arg",
    'view.resize(3)': "attr-defined",
    'view.T = view': "misc",
    'Mtl.DType.FLOAT65': "attr-defined",
    'Mtl.load("a", Mtl.TensorFileMode.MAP)': "call-arg",
    'Mtl.load("a")[0]': "index",
    'Mtl.save("a", {}, metadata=["b"])': "arg-type",
    'Mtl.zeros(3, "f4", None, True)': "call-arg",
    'Mtl.TensorConnection("socket")': "arg-type",
    'connection.send(view, [1])': "arg-type",
    'connection.receive()[1].nothing': "attr-defined",
}
RIGHT = ["view[..., None, ::2]", "memoryview(view)", "bytes(view.get_buffer())",
         "view.dtype.name.upper()", "view.T.connect('notify', print)", "len(Mtl.Device.list())",
         "Mtl.Event.new().wait_async(1, 5, None, print, 'data')", "view.item() + 1",
         "Mtl.StridedLayout([2, 3], itemsize=4)[1:].strides[0] + 1",
         "view.copy('F').copy(Mtl.Order.K).astype('int8').astype(float, copy=False).ndim + 1",
         "view.to_dtype('bf16').to_dtype(float), view.is_contiguous('F'), Mtl.Buffer.new(64)",
         "Mtl.StridedView.new_zeros('f4', 3), Mtl.StridedView.new_zeros(None, 'f4', [3])",
         "Mtl.zeros((2, 3)).T, Mtl.arange(6, dtype=int).reshape(2, 3), Mtl.array([1], float)",
         "Mtl.TensorFile.open('a')['b'].T, Mtl.load('a', mode='read')",
         "view.copy_from_async(view, None, print, print, 'data')",
         "view.to_dtype_async(view.dtype, progress=lambda done, total: done + total)",
         "Mtl.load(b'a', mode=Mtl.TensorFileMode.READ, device=None)['b'].T",
         "Mtl.load(Gio.File.new_for_path('a')).metadata['b'].upper()",
         "models: list[Gio.ListModel] = [Mtl.load('a')]",
         "{**Mtl.load('a'), 'b': view}, dict(Mtl.load('a').items())",
         "Mtl.save('a', {'b': [1]}, metadata={'c': 'd'}, order=Mtl.TensorFileOrder.ADDED)",
         "Mtl.set_max_threads(Mtl.get_max_threads() + 1)",
         "view.props.layout.props.n_dims + len(view.props.buffer.copy())",
         "view.export_dlpack().props.device.get_ordinal() + 1",
         "Mtl.TensorFile.open(Gio.File.new_for_path('a'), mode=Mtl.TensorFileMode.READ)['b'].T",
         "Mtl.load('a').load_views_async('b', io_priority=GLib.PRIORITY_LOW)",
         "Mtl.TensorFileBuilder().props.format = Mtl.TensorFileFormat.NPY",
         "view[[0, 1]].T, view[view > 3], view[[True], None, 1:], view[True]", "1 + view - view",
         "view[[0]] = view == 3", "view += 1", "view.real = 3", "complex(view), [1, 2][view]",
         "view.sum(axis=0, keepdims=True), view.flat[1:], view.flags['W'], view.mT.ravel('F')",
         "view.copy_from([1]), view.copy_from(3), view.array_equal([1]), view.all_close(2.5, atol=1)",
         "view.copy_scaled_from([1], 2), view.copy_from_async([1], None, print, print, 'data')",
         "Mtl.zeros(3, shared=True).T, Mtl.array([1], 'i2', None, shared=True).T",
         "Mtl.TensorConnection.new(Gio.Socket.new_from_fd(3)).props.max_views = 3",
         "connection.send([1], {'name': 'a', 'n': 3}), connection.receive()[1]['name']",
         "for received, extras in connection: received.T, extras['name']",
         "async def receive() -> int: return (await connection.receive_async())[0].ndim",
         "async def send() -> bool: return await connection.send_async(view, {'n': [1]})",
         "GLib.Bytes.get_size(view.get_bytes())", "min, max = view.layout.get_offset_bounds()"]


def check_mistakes(mypy, folder, head, wrong, right):
    path = folder / "program.py"
    path.write_text("\n".join([head, *wrong, *right]) + "\n")
    lines = [line for line in mypy(path).stdout.splitlines() if "error:" in line]

    assert len(lines) == len(wrong), "\n".join(lines)
    for number, code, line in zip(itertools.count(head.count("\n") + 2), wrong.values(), lines):
        assert f"program.py:{number}:" in line and line.endswith(f"[{code}]"), line


def test_mistakes_are_found(mypy, tmp_path):
    head = ("import socket\nfrom gi.repository import Gio, GLib, Mtl\nview = Mtl.asview([1])\n"
            "connection = Mtl.TensorConnection(socket.socket(), max_views=3)")
    check_mistakes(mypy, tmp_path, head, WRONG, RIGHT)


GST_HEAD = """
import numpy
from fractions import Fraction
from gi.repository import Gst, GstAudio, GstVideo, Mtl, MtlGst
caps = Gst.Caps.from_string('video/x-raw')
buffer = Gst.Buffer.new_allocate(None, 4, None)
video, audio = GstVideo.VideoInfo.new_from_caps(caps), GstAudio.AudioInfo.new_from_caps(caps)
"""
GST_WRONG = {
    "MtlGst.view_from_video_buffer(buffer, audio)": "arg-type",
    "MtlGst.map(buffer, 'RGB')": "arg-type",
    "MtlGst.view_from_buffer(buffer, 3.5, 4)": "arg-type",
    "MtlGst.video_caps_from_view([1], 3.5)": "arg-type",
    "MtlGst.Allocator.new(3)": "call-overload",
    "MtlGst.view_from_buffer_with_caps(buffer)": "call-arg",
    "MtlGst.map(buffer).nothing": "attr-defined",
}
GST_RIGHT = [
    "with MtlGst.map(buffer, video, Gst.MapFlags.READ | Gst.MapFlags.WRITE) as v: v[0] = 1",
    "with MtlGst.map(buffer, audio), MtlGst.map(buffer), MtlGst.map(buffer, caps, plane=1): pass",
    "MtlGst.view_from_buffer(buffer, 'u1', 4).T, MtlGst.view_from_buffer(buffer, numpy.uint8, [2])",
    "MtlGst.video_buffer_from_view(numpy.zeros(3), caps).get_size() + 1",
    "MtlGst.video_caps_from_view([1], 'RGB', Fraction(30000, 1001)).to_string().upper()",
    "MtlGst.video_caps_from_view([1], framerate=12.5, format=GstVideo.VideoFormat.RGB)",
    "layout, dtype = MtlGst.layout_from_caps(caps); layout.shape[0] + 1, dtype.name.upper()",
    "MtlGst.Allocator.new('shared').alloc(3), MtlGst.Allocator.new(None, Mtl.StorageMode.HOST)",
    "MtlGst.memory_get_buffer(buffer.peek_memory(0))[1] + 1"]


@pytest.mark.skipif(not find_hints().with_name("MtlGst.pyi").exists(),
                    reason="this build is without GStreamer")
def test_mistakes_with_gstreamer_are_found(mypy, tmp_path):
    check_mistakes(mypy, tmp_path, GST_HEAD, GST_WRONG, GST_RIGHT)


GTK_HEAD = """
import cairo
import numpy
from gi.repository import Gdk, Gio, Gtk, Mtl, MtlGtk
view = Mtl.zeros((2, 3, 4), 'u1')
texture, surface = Gdk.Texture.new_from_filename('a'), cairo.ImageSurface(cairo.Format.A8, 3, 2)
layout, paintable = Mtl.StridedLayout([2, 3], itemsize=4), MtlGtk.ViewPaintable()
"""
GTK_WRONG = {
    "MtlGtk.texture_from_view(view, 3.5)": "arg-type",
    "MtlGtk.texture_from_view(view).T": "attr-defined",
    "MtlGtk.view_from_texture(view)": "arg-type",
    "MtlGtk.download_texture(texture, 3.5)": "arg-type",
    "MtlGtk.download_texture_async(texture, callback=3)": "arg-type",
    "MtlGtk.download_texture_async(texture).T": "attr-defined",
    "MtlGtk.colorize(view, 'heat', '0', 1)": "arg-type",
    "MtlGtk.colorize_async()": "call-arg",
    "MtlGtk.ColorMap.GREEN": "attr-defined",
    "MtlGtk.memory_format_from_pixel('u1')": "call-arg",
    "MtlGtk.pixel_from_memory_format('R8G8B8')": "arg-type",
    "MtlGtk.surface_from_view(view, 'RGB24')": "arg-type",
    "MtlGtk.view_from_surface(texture)": "arg-type",
    "MtlGtk.view_from_dmabuf('a', 0, layout, 'u1')": "arg-type",
    "MtlGtk.texture_from_dmabuf(None, 3, 0, layout, 2.5)": "arg-type",
    "paintable.set_view(view, flags=Mtl.Order.C)": "arg-type",
    "paintable.set_color_map()": "call-arg",
    "MtlGtk.ViewPaintable(size=3)": "call-arg",
    "paintable.invalidate((0, 0, 1))": "arg-type",
    "paintable.props.error = None": "misc",
}
GTK_RIGHT = [
    "MtlGtk.texture_from_view(numpy.zeros((2, 3)), 'gray',"
    " MtlGtk.TextureFlags.ALLOW_COPY).get_width()",
    "MtlGtk.view_from_texture(MtlGtk.texture_from_view(view, MtlGtk.Channels.RGBA)).T",
    "MtlGtk.download_texture(texture, numpy.float32, 'rgba', cancellable=Gio.Cancellable()).T",
    "MtlGtk.download_texture_async(texture, 'f4', callback=lambda source, result: None)",
    "async def download() -> Mtl.StridedView: return await MtlGtk.download_texture_async(texture)",
    "async def color() -> int: return (await MtlGtk.colorize_async(view, 'gray', 0, 1)).ndim",
    "MtlGtk.colorize([[1, 2]], MtlGtk.ColorMap.HEAT, 0, 2.5).shape[0] + 1",
    "MtlGtk.colorize_async(view, 'gray', 0, 1, None, print, 'data')",
    "MtlGtk.memory_format_from_pixel(float, 'rgb', flags=MtlGtk.TextureFlags.NONE).value_nick + ''",
    "dtype, channels, flags = MtlGtk.pixel_from_memory_format(texture.get_format())",
    "dtype.name.upper(), MtlGtk.memory_format_from_pixel(dtype, channels, flags)",
    "MtlGtk.surface_from_view(view, cairo.Format.ARGB32).get_stride() + 1",
    "MtlGtk.check_surface([[1]], cairo.FORMAT_A8), MtlGtk.view_from_surface(surface).T",
    "MtlGtk.view_from_dmabuf(open('a'), 0, layout, 'u1', flags=Mtl.BufferFlags.NONE).T",
    "MtlGtk.texture_from_dmabuf(Gdk.Display.get_default(), 3, 0, layout, 'XR24').get_width() + 1",
    "paintable.set_view(numpy.zeros((2, 3)), 'gray', MtlGtk.TextureFlags.ALLOW_COPY)",
    "paintable.set_view(None), paintable.set_color_map('heat', 0, 1)",
    "paintable.set_color_map('none')",
    "MtlGtk.ViewPaintable(view=numpy.zeros((2, 3)), color_map='heat', high=5)",
    "paintable.invalidate(), paintable.invalidate((0, 0, 1, 1))",
    "paintable.invalidate(Gdk.Rectangle())",
    "paintable.get_view().T, paintable.props.view.T, paintable.get_texture().get_width() + 1",
    "Gtk.Picture.new_for_paintable(paintable), paintable.get_intrinsic_width() + 1"]


@pytest.mark.skipif(not find_hints().with_name("MtlGtk.pyi").exists(),
                    reason="this build is without GTK")
def test_mistakes_with_gtk_are_found(mypy, tmp_path):
    check_mistakes(mypy, tmp_path, GTK_HEAD, GTK_WRONG, GTK_RIGHT)


def test_help():
    for function, words in {
        Mtl.from_dlpack: "(x, /, *, device=None, copy=None)",
        Mtl.mpi_datatype: "view.get_buffer()", Mtl.StridedView.reshape: "(self, /, *shape, order='C', copy=None)",
        Mtl.StridedView.sum: "numpy.ndarray.sum()",
        Mtl.StridedView.swap_axes: "swap_axes(self, axis_a:int, axis_b:int) -> Mtl.StridedView",
        Mtl.StridedView.__dlpack__: "max_version=None",
        Mtl.StridedView.copy: "(self, /, order='C', cancellable=None)",
        Mtl.StridedView.astype: "(self, /, dtype, order='K', copy=True)",
        Mtl.load: "(path, *, mode=", Mtl.save: "(path, tensors, *, dtype=None, max_shard",
    }.items():
        assert words in pydoc.plain(pydoc.render_doc(function)), function
