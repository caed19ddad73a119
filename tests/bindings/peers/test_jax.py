# SPDX-License-Identifier: LGPL-2.1-or-later
"""JAX, whose arrays cannot be written to."""

import jax
import jax.numpy as jnp
import pytest
from gi.repository import Mtl

from cases import *  # noqa: F403
from client import COPIES, DTYPES, IGNORED, PACKED, Client, Refuses

jax.config.update("jax_enable_x64", True)

STRIDED = Refuses(jax.errors.JaxRuntimeError, "compact")


class Jax(Client):
    name = "JAX"
    version = jax.__version__
    asks = [{"stream": None}]
    writable = False
    out = {"rows with gaps": STRIDED, "every other element": STRIDED, "strides of 0": STRIDED,
           # not aligned to 64 bytes
           "a part at an offset": COPIES, "no dimensions": COPIES,
           "a versioned capsule": Refuses(jax.errors.JaxRuntimeError, "dltensor_versioned"),
           "read-only": Refuses(BufferError, "read-only"), "copy=True": IGNORED}
    constant = True
    into = {"`__dlpack__(stream=-1)`": Refuses(jax.errors.JaxRuntimeError, "for GPU")}
    keywords = {"device=cpu": {"device": jax.devices("cpu")[0]}, "copy=False": {"copy": False},
                "copy=True": {"copy": True}}
    dtypes = {name: name for name in DTYPES if hasattr(jnp, name) and name not in PACKED}
    dtypes_out = PACKED
    foreign_dtype = Refuses(jax.errors.JaxRuntimeError)

    def take(self, exporter, **keywords):
        return jax.dlpack.from_dlpack(exporter, **keywords)

    def address(self, array):
        return array.unsafe_buffer_pointer()

    def clone(self, array):
        return jnp.array(array, copy=True)

    def broadcast(self, array):
        return jnp.broadcast_to(array[0], (3, 6))

    def read_only(self, array):
        return array  # as they all are


CLIENTS = [Jax()]


@pytest.mark.parametrize("name", CLIENTS[0].dtypes)
def test_its_arrays_are_constant(name):
    """They are read-only as buffers, too."""
    array = jnp.ones(4, name)
    for part in (array, array[1:3], array[0], array[4:], array.reshape(2, 2).T):
        for view in (Mtl.from_dlpack(part), Mtl.asview(part), Mtl.from_dlpack(part, copy=False),
                     Mtl.from_dlpack(part, device=(1, 0))):
            assert view.is_read_only() and view.get_buffer().is_read_only()
            with pytest.raises(ValueError, match="read-only"):
                view.fill_double(0)
    assert (array == 1).all()
    copy = Mtl.from_dlpack(array, copy=True)
    copy.fill_double(0)
    assert (array == 1).all()
