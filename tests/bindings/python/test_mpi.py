# SPDX-License-Identifier: LGPL-2.1-or-later
"""Views in MPI's messages, between processes that mpirun starts."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from gi.repository import Mtl

from conftest import SEED
from says import says, tells

pytest.importorskip("mpi4py", reason="mpi4py is among the pinned peers only")

HERE = pathlib.Path(__file__).parent
EXAMPLE = HERE.parents[2] / "examples" / "python" / "mpi_halo.py"

# Open MPI has to be told that it may run as root, in a container, and with more
# processes than there are cores, by the names of version 4 and of version 5.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


# The program of the Open MPI which mpi4py finds beside it, if it is installed there.
MPIRUN = shutil.which("mpirun", path=os.pathsep.join([os.path.dirname(sys.executable),
                                                      os.environ["PATH"]]))


def mpirun(n, *args):
    result = subprocess.run([MPIRUN, "-n", str(n), sys.executable, *map(str, args)],
                            capture_output=True, text=True, timeout=120,
                            env={**os.environ, **ENVIRONMENT})
    assert result.returncode == 0, f"{args}: {result.stdout}{result.stderr}"
    return result.stdout


def test_views_of_random_layouts():
    assert mpirun(2, HERE / "mpi_exchange.py", SEED, 500) == "right\n"


GUIDE = " ".join((HERE.parents[2] / "docs" / "python.md").read_text().split())

ERRORS = """
import gi
gi.require_version("Mtl", "1")
import numpy as np
from gi.repository import Mtl
from mpi4py import MPI

view = Mtl.array(np.arange(12.0).reshape(3, 4))
received = Mtl.zeros(12, "float64", device="cpu")
for part in (view[:, 2], view[::-1]):
    try:
        MPI.COMM_SELF.Sendrecv(part, 0, recvbuf=received, source=0)
    except BufferError as error:
        print(f"BufferError: {error}")
        print(f"BufferError: {error.__context__}")

for part in (view[:, 2], view[::-1], view.T):
    datatype = Mtl.mpi_datatype(part)
    MPI.COMM_SELF.Sendrecv([part.get_buffer(), 1, datatype], 0, recvbuf=received, source=0)
    datatype.Free()
    print(*received.tolist()[:np.asarray(part).size])
MPI.COMM_SELF.Sendrecv(view.T, 0, recvbuf=received, source=0)
print(*received.tolist())
"""


def test_the_errors_of_mpi4py_that_the_guide_names():
    """They are what users look for. With a type the same views are sent."""
    column, because, negative, _, *sent = mpirun(1, "-c", ERRORS).splitlines()
    numbers = np.arange(12.0).reshape(3, 4)

    assert f"raises `{column}`" in GUIDE and f"`{because}`" in GUIDE
    words = re.search("has negative strides.*consumers accept", negative)[0]
    assert f"`BufferError: … {words}`" in GUIDE
    expected = [numbers[:, 2], numbers[::-1], numbers.T, numbers]  # the last one without a type
    assert sent == [" ".join(map(str, array.ravel().tolist())) for array in expected]


WRONG_SUM = """
import gi
gi.require_version("Mtl", "1")
from gi.repository import Mtl
from mpi4py import MPI

ones = Mtl.ones(3, "bfloat16", device="cpu")
MPI.COMM_WORLD.Allreduce(MPI.IN_PLACE, ones)
if MPI.COMM_WORLD.rank == 0:
    print(*ones.tolist())
"""


def test_the_sum_of_small_floats_that_the_guide_warns_of():
    """MPI adds up the bytes 3f and 80."""
    bytes_of_sum = bytes((2 * byte) % 256 for byte in (0x80, 0x3f))
    [wrong] = np.frombuffer(bytes(2) + bytes_of_sum, "<f4")
    sums = [float(word) for word in mpirun(2, "-c", WRONG_SUM).split()]

    assert sums == [wrong] * 3
    assert f"1 + 1 is {wrong:.3g}".replace("e+", "e") in GUIDE


REDUCTION = """
import gi
gi.require_version("Mtl", "1")
from gi.repository import Mtl
from mpi4py import MPI

view = Mtl.ones(5, "bfloat16", device="cpu")
sums = view.astype("float32")
MPI.COMM_WORLD.Allreduce(MPI.IN_PLACE, sums)
view.copy_from(sums)
assert view.tolist() == [MPI.COMM_WORLD.size] * 5, view.tolist()
"""


def test_the_guides_reduction_of_small_floats():
    assert mpirun(3, "-c", REDUCTION) == ""


def heat(shape, n_steps):
    """The example's plate in one piece."""
    plate = np.zeros((shape[0] + 2, shape[1] + 2))
    plate[0] = 100
    for _ in range(n_steps):
        plate[1:-1, 1:-1] = (plate[:-2, 1:-1] + plate[2:, 1:-1]
                             + plate[1:-1, :-2] + plate[1:-1, 2:]) / 4
    return plate[1:-1, 1:-1]


@pytest.mark.parametrize("n", [1, 4, 6])
def test_halo_exchange(n, tmp_path):
    path = tmp_path / "plate.npy"
    output = mpirun(n, EXAMPLE, path)

    assert np.array_equal(np.load(path), heat((90, 70), 200))
    assert output.startswith(f"{n} processes, ")
    change = np.abs(heat((90, 70), 200) - heat((90, 70), 199)).max()
    assert tells(output, f"{change:.6f}", f"{heat((90, 70), 200).mean():.6f}")
    # The reference shows what four print.
    assert n != 4 or output == EXAMPLE.with_suffix(".txt").read_text()


LEAVES = """
import gi
gi.require_version("Mtl", "1")
from gi.repository import Mtl
from mpi4py import MPI
import numpy as np

for code, leaf in zip("?bhiqBHIQfdFD", (
        MPI.C_BOOL, MPI.INT8_T, MPI.INT16_T, MPI.INT32_T, MPI.INT64_T, MPI.UINT8_T, MPI.UINT16_T,
        MPI.UINT32_T, MPI.UINT64_T, MPI.FLOAT, MPI.DOUBLE, MPI.C_FLOAT_COMPLEX,
        MPI.C_DOUBLE_COMPLEX)):
    datatype = Mtl.mpi_datatype(Mtl.asview(np.zeros((3, 4), code))[:, 1::2])
    while not datatype.is_predefined:
        made_of = datatype.decode()[0]
        datatype = made_of if isinstance(made_of, MPI.Datatype) else made_of[0]
    assert datatype.name == leaf.name, (code, datatype.name, leaf.name)
"""


def test_elements_are_those_of_mpi(tmp_path):
    (tmp_path / "leaves.py").write_text(LEAVES)
    mpirun(1, tmp_path / "leaves.py")


def test_refusals():
    view = Mtl.StridedView.new_zeros(None, Mtl.DType.FLOAT4_E2M1FN, [8])
    with pytest.raises(NotImplementedError, match=says(4)):
        Mtl.mpi_datatype(view)
    with pytest.raises(TypeError, match="ndarray"):
        Mtl.mpi_datatype(np.zeros(3))
