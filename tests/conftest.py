# SPDX-License-Identifier: LGPL-2.1-or-later
"""The memory of the tests' tensors, and the number of random cases.

Tensors are made on the default device. MTL_TEST_STORAGE_MODE, private say,
puts them into memory of that mode, and runs the tests that hold in memory of
every mode: those marked any_memory. Those run alone, too, where the host does
not reach the memory that a device has by default.
"""

import faulthandler
import importlib.util
import os
import random
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import gi

# Processes that tests start find what the tests share, too.
TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{TESTS}/support")
os.environ["PYTHONPATH"] = os.pathsep.join(
    [TESTS, f"{TESTS}/support", *filter(None, [os.environ.get("PYTHONPATH")])])
os.environ["LANGUAGE"] = "en"  # messages are compared
# Memory that tests say to be CUDA's is not, but for those of CUDA.
CUDA_LIBRARY = os.environ.setdefault("MTL_CUDA_LIBRARY", "")

gi.require_version("Mtl", "1")

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from gi._gi import Repository  # noqa: E402
from gi.repository import Gio, GLib, Mtl  # noqa: E402

NUMERIC = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
           "float16", "float32", "float64", "complex64", "complex128"]

# Also that of the processes that pytest may share the tests out to.
SEED = int(os.environ.setdefault("MTL_TEST_SEED", str(random.SystemRandom().randrange(2**32))))
CASES = int(os.environ.get("MTL_TEST_CASES", 50_000))
SECONDS = float(os.environ.get("MTL_TEST_SECONDS", 60))
NOTES = []

HOST = Mtl.Device.get_host()


def has_namespace(name):
    """Returns True if this build has a bridge, without loading it."""
    return "1" in Repository.get_default().enumerate_versions(name)


def call_apart(call):
    """Evaluates a call of a function of a test's module in a process of its own. Libraries of
    GStreamer and GTK bring what unwinds the stack in another way, and then JAX ends the process."""
    module = call.partition(".")[0]
    done = subprocess.run([sys.executable, "-c", f"import {module}\n{call}"],
                          cwd=os.path.dirname(sys.modules[module].__file__),
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def play_in_processes(play, cases):
    """Plays the cases in one or more processes. Returns the sums of what the calls return, and the
    seeds."""
    n_processes = min(os.cpu_count(), 1 + cases // 100_000)
    arguments = [(f"{SEED} {i}", -(-cases // n_processes), SECONDS) for i in range(n_processes)]
    with ProcessPoolExecutor(n_processes, get_context("spawn")) as others:
        parts = [others.submit(play, *each) for each in arguments[1:]]
        tallies = [play(*arguments[0]), *(part.result() for part in parts)]
    return (*map(sum, zip(*tallies)), ", ".join(f"“{seed}”" for seed, *_ in arguments))


DEFAULT = Mtl.Device.get_default()
METAL = [device for device in Mtl.Device.list()
         if device.get_device_type() == Mtl.DeviceType.METAL]
# The devices of the double of Metal.
DOUBLES = [word for word in os.environ.get("METAL_DOUBLE", "").split(",")
           if word in ("unified", "discrete")]

DEFAULT_MODE = {Mtl.DeviceType.CPU: Mtl.StorageMode.HOST,
                Mtl.DeviceType.CUDA: Mtl.StorageMode.PRIVATE,
                Mtl.DeviceType.METAL: Mtl.StorageMode.SHARED}[DEFAULT.get_device_type()]
_mode_name = os.environ.get("MTL_TEST_STORAGE_MODE")
STORAGE_MODE = getattr(Mtl.StorageMode, _mode_name.upper()) if _mode_name else DEFAULT_MODE
# The identity of the tensors' memory. What the host reaches of CUDA's has others than the GPU's.
DLPACK_DEVICE = (int(DEFAULT.get_device_type()), DEFAULT.get_ordinal())
if DLPACK_DEVICE[0] == 2:
    DLPACK_DEVICE = {Mtl.StorageMode.SHARED: (3, 0),
                     Mtl.StorageMode.MANAGED: (13, 0)}.get(STORAGE_MODE, DLPACK_DEVICE)

HAS_TORCH = importlib.util.find_spec("torch") is not None
collect_ignore = [name for name, wanted in (("metal/test_metal.py", METAL),
                                            ("metal/test_metal_files.py", METAL),
                                            ("metal/test_metal_double.py", DOUBLES),
                                            ("metal/test_torch_metal.py", METAL and HAS_TORCH),
                                            ("bench/test_cuda_benchmark.py", CUDA_LIBRARY),
                                            ("cuda/test_cuda.py", CUDA_LIBRARY),
                                            ("cuda/test_cuda_interface.py", CUDA_LIBRARY),
                                            ("cuda/test_cuda_streams.py", CUDA_LIBRARY))
                  if not wanted]


# A test that takes this long waits for something that does not happen. It ends its process with
# the stacks of all threads, and pytest-xdist reports it as failed and goes on.
LONGEST = max(400, 4 * SECONDS)  # seconds
_stderr = pytest.StashKey()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    faulthandler.dump_traceback_later(LONGEST, exit=True, file=item.config.stash[_stderr])
    yield
    faulthandler.cancel_dump_traceback_later()


def pytest_configure(config):
    config.stash[_stderr] = os.dup(2)  # while tests run, pytest captures this one
    config.addinivalue_line("markers", "any_memory: holds in memory of every storage mode")
    if DOUBLES and len(METAL) != len(DOUBLES):
        raise pytest.UsageError(f"METAL_DOUBLE={','.join(DOUBLES)} gives {len(METAL)} devices of "
                                "Metal: the library was not built over the double")
    if not DEFAULT.supports_storage_mode(STORAGE_MODE):
        raise pytest.UsageError(f"“{DEFAULT.get_name()}” has no {_mode_name} memory")


def pytest_collection_modifyitems(config, items):
    if STORAGE_MODE == DEFAULT_MODE != Mtl.StorageMode.PRIVATE:
        return
    left_out = [item for item in items if item.get_closest_marker("any_memory") is None]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def pytest_sessionfinish(session, exitstatus):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["notes"] = NOTES
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = int(os.environ.get("MTL_TEST_STATUS_SKIPPED", exitstatus))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    NOTES.extend(getattr(node, "workeroutput", {}).get("notes", []))


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"NumPy {np.__version__}; {CASES} random cases; again with "
                                f"MTL_TEST_SEED={SEED}")
    for note in NOTES:
        terminalreporter.write_line(note)
    terminalreporter.write_line(f"Memory of “{DEFAULT.get_name()}”, {STORAGE_MODE.value_nick}")


@pytest.fixture
def rng(request):
    return random.Random(f"{SEED} {request.node.name}")


@pytest.fixture
def cases():
    return CASES


@pytest.fixture(params=NUMERIC)
def dtype(request):
    """Each element type that NumPy has as well."""
    return request.param


def dtype_of(name):
    return Mtl.DType.from_string(name)


def place(view):
    """A copy of a view of the host's memory, where the tests' tensors lie; on
    the host the view itself."""
    return view.to_device(DEFAULT, STORAGE_MODE)


def tensor(values):
    """Shares the memory of a writable array if that is where tensors lie."""
    return place(Mtl.asview(values))


def zeros(name, shape):
    if STORAGE_MODE == DEFAULT_MODE:
        return Mtl.StridedView.new_zeros(None, dtype_of(name), list(shape))
    return place(Mtl.StridedView.new_zeros(HOST, dtype_of(name), list(shape)))


def iota(*shape, dtype="float32"):
    """0, 1, 2, … in that shape."""
    view = zeros(dtype, shape)
    view[...] = np.arange(np.prod(shape)).reshape(shape)
    return view


def new_buffer(size):
    return Mtl.Buffer.new(None, size, STORAGE_MODE)


def elements(view):
    """The elements as an array: of the same memory where the host reaches it."""
    if view.is_host_accessible():
        return np.asarray(view)
    return np.asarray(view.to_device(HOST, Mtl.StorageMode.HOST))


def first_byte(view):
    """Returns the place of the first element in its buffer."""
    return view.get_byte_offset() + view.layout.get_offset() * view.layout.get_item_bits() // 8


# An older one asks for no device.
NUMPY_ASKS_FOR_DEVICES = np.lib.NumpyVersion(np.__version__) >= "2.1.0"
# An older one makes every array read-only.
NUMPY_SAYS_WRITABLE = np.lib.NumpyVersion(np.__version__) >= "2.2.5"


class _OnCpu:
    """Stands between an exporter and a NumPy that cannot ask for the host's memory itself."""

    def __init__(self, exporter):
        self.exporter = exporter

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **keywords):
        return self.exporter.__dlpack__(dl_device=(1, 0), **keywords)


def from_dlpack(exporter):
    """Imports it with NumPy, which takes memory of the host only."""
    if NUMPY_ASKS_FOR_DEVICES:
        return np.from_dlpack(exporter, device="cpu")
    return np.from_dlpack(_OnCpu(exporter))


def cpu_capsule(view):
    """Returns a capsule of the host's memory, for consumers that cannot ask for it themselves."""
    return view.__dlpack__(dl_device=(1, 0), max_version=(1, 0))


def cancelled():
    cancellable = Gio.Cancellable()
    cancellable.cancel()
    return cancellable


def is_cancelled(info):
    return info.value.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED)


def error_code(info):
    """The MtlError behind a translated exception."""
    cause = info.value.__cause__
    assert isinstance(cause, GLib.Error) and cause.domain == "mtl-error-quark"
    return Mtl.Error(cause.code)
