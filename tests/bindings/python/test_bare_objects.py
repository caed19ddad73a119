# SPDX-License-Identifier: LGPL-2.1-or-later
"""Objects that a bare constructor makes are empty, whatever is done with them: each method and
property in turn, in a process of its own, where a critical message of GLib is a crash."""

import copy
import inspect
import itertools
import operator
import os
import subprocess
import sys

import gi

gi.require_version("Mtl", "1")

import pytest  # noqa: E402
import numpy  # noqa: E402, F401: views then have all that its arrays have
from gi.overrides._mtl_numpy import _INSTEAD  # noqa: E402
from gi.repository import Gio, GLib, GObject, Mtl  # noqa: E402

NAMES = [name for name in dir(Mtl)
         if isinstance(getattr(Mtl, name), type) and issubclass(getattr(Mtl, name), GObject.Object)
         and not getattr(Mtl, name).__gtype__.is_abstract()
         and name != "Stream"]  # the host has none

# Attributes that only say what to use instead, or that no view of the host has.
HINTS = {Mtl.StridedView: {*_INSTEAD, "__array_function__", "__cuda_array_interface__"}}

# Exceptions that an object may raise to refuse. An AttributeError is a mistake.
REFUSALS = (GLib.Error, TypeError, ValueError, IndexError, KeyError, BufferError,
            OverflowError, OSError, NotImplementedError, MemoryError, RuntimeError)

PROTOCOLS = [repr, str, hash, bool, len, iter, list, reversed, memoryview, bytes, int, float, dir,
             copy.copy, copy.deepcopy, lambda bare: bare == type(bare)(), lambda bare: bare[0],
             complex, operator.index, lambda bare: bare + 1, lambda bare: bare @ bare,
             lambda bare: operator.iadd(bare, 1), lambda bare: bare[[0]], lambda bare: bare[True],
             lambda bare: operator.setitem(bare, [0], 1),
             lambda bare: bare["x"], lambda bare: bare[...], lambda bare: 0 in bare,
             lambda bare: "x" in bare, lambda bare: operator.setitem(bare, 0, 1),
             lambda bare: operator.setitem(bare, ..., 1)]


def values_for(argument):
    """Some of the right type."""
    # PyGObject renamed it.
    info = (getattr(argument, "get_type_info", None) or argument.get_type)()
    tag = info.get_tag_as_string()
    if tag == "interface":
        interface = info.get_interface()
        if interface.get_name() == "File":
            return [Gio.File.new_for_path("/nonexistent/file")]
        if interface.get_namespace() == "Mtl":
            known = getattr(Mtl, interface.get_name(), None)
            if isinstance(known, type) and issubclass(known, GObject.Object):
                return [Mtl.Device.get_host() if known is Mtl.Device else known(), None]
            return [0]
        return [None]
    if tag == "array":
        return [[], None]
    if tag in ("utf8", "filename"):
        return [""]
    return [0]


def describe(function):
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    try:
        return [argument for argument in function.get_arguments()
                if argument.get_direction() != gi._gi.Direction.OUT]
    except AttributeError:  # a function in Python
        return None


def calls_of(cls, name):
    """Ways to call a method. PyGObject takes fewer arguments than C has, so the last ones are
    left out one after the other."""
    arguments = describe(getattr(cls, name))
    if arguments is None:
        for n in range(4):
            yield (0,) * n
            yield tuple(bare(cls) for _ in range(n))
        return
    for values in itertools.islice(itertools.product(*map(values_for, arguments)), 4):
        for n in range(len(values) + 1):
            yield values[:n]


def own_attributes(cls):
    for name in dir(cls):
        owner = next(base for base in cls.__mro__ if name in base.__dict__)
        if owner not in (GObject.Object, GObject.Object.__mro__[1], object):
            yield name


def attempt(what, function):
    # The last line is what the process died of.
    print(what, flush=True)
    try:
        return function()
    except REFUSALS as error:
        assert str(error) or isinstance(error, KeyError), what
    return None


NEED_ARGUMENTS = (Mtl.ExportedTensor, Mtl.TensorConnection, Mtl.TensorProxy)


def bare(cls):
    """Constructors that need arguments in Python do not need them in GObject."""
    return GObject.new(cls) if cls in NEED_ARGUMENTS else cls()


def use(cls):
    for i, function in enumerate(PROTOCOLS):
        attempt(f"PROTOCOLS[{i}]", lambda: function(bare(cls)))
    for prop in cls.list_properties():
        attempt(prop.name, lambda: bare(cls).get_property(prop.name))
    for name in own_attributes(cls):
        if name in HINTS.get(cls, ()):
            assert not hasattr(bare(cls), name), name
        elif (getattr(cls, name).__doc__ or "").startswith("Does the same as numpy.ndarray."):
            attempt(name, lambda: getattr(bare(cls), name)())  # NumPy decides on the arguments
        elif not callable(inspect.getattr_static(cls, name)) \
                and not isinstance(inspect.getattr_static(cls, name), staticmethod):
            attempt(name, lambda: getattr(bare(cls), name))
        elif not name.startswith("__") or name in ("__dlpack__", "__dlpack_device__"):
            for arguments in calls_of(cls, name):
                attempt(f"{name}{arguments}", lambda: getattr(bare(cls), name)(*arguments))


@pytest.mark.parametrize("name", NAMES)
def test_bare_object(name):
    done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True,
                          env={**os.environ, "G_DEBUG": "fatal-criticals"}, timeout=300)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, (lines[-1:], done.stderr[-2000:])
    assert len(lines) > len(PROTOCOLS)


def test_names():
    assert {"Buffer", "StridedLayout", "StridedView", "TensorFile", "TensorFileEntry",
            "TensorFileBuilder", "DlpackTensor", "Event", "Statistics", "ExportedTensor",
            "TensorConnection", "TensorProxy"} == set(NAMES)


if __name__ == "__main__":
    use(getattr(Mtl, sys.argv[1]))
