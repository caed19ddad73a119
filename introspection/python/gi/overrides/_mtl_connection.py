# SPDX-License-Identifier: LGPL-2.1-or-later
"""Connections that pass tensors: over sockets of Python, with entries of Python's values."""

import functools
import numbers
import os
import reprlib
from collections.abc import Mapping

from gi.repository import Gio, GLib

from ..module import get_introspection_module
from ._mtl_asview import view_of_values
from ._mtl_errors import raising

Mtl = get_introspection_module("Mtl")

_new_socket = raising(Gio.Socket.new_from_fd)


def _as_socket(socket):
    """A Gio.Socket, or one for a duplicate of the descriptor of a socket of Python."""
    if isinstance(socket, Gio.Socket):
        return socket
    try:
        fileno = socket.fileno
    except AttributeError:
        raise TypeError(f"the socket must be a socket.socket or a Gio.Socket, not "
                        f"{type(socket).__name__}") from None
    fd = os.dup(fileno())
    try:
        return _new_socket(fd)
    except BaseException:
        os.close(fd)
        raise


# The entries that come with a tensor


def _variant_of(value):
    """The GVariant of a value."""
    if isinstance(value, GLib.Variant):
        return value
    if isinstance(value, bool):
        return GLib.Variant.new_boolean(value)
    if isinstance(value, str):
        return _text_variant_of(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return GLib.Variant.new_from_bytes(GLib.VariantType("ay"), GLib.Bytes.new(bytes(value)),
                                           True)
    if isinstance(value, (list, tuple)):
        return _list_variant_of(value)
    if isinstance(value, Mapping):
        return extras_of(value)
    return _number_variant_of(value)


def _text_variant_of(text):
    if "\0" in text:
        raise ValueError(f"text of an entry cannot contain a NUL: {text!r}")
    return GLib.Variant.new_string(text)


def _number_variant_of(value):
    if isinstance(value, numbers.Integral):
        if not -2**63 <= value < 2**64:
            raise ValueError(f"{value} does not fit in 64 bits")
        return GLib.Variant("x" if value < 2**63 else "t", int(value))
    if isinstance(value, numbers.Real):
        return GLib.Variant.new_double(float(value))
    raise TypeError(f"an entry cannot be a {type(value).__name__}: use a number, text, bytes, a "
                    "list, a dictionary or a GLib.Variant")


def _list_variant_of(values):
    items = list(map(_variant_of, values))
    kinds = {item.get_type_string() for item in items}
    if len(kinds) == 1:
        return GLib.Variant.new_array(None, items)
    return GLib.Variant.new_array(GLib.VariantType("v"), list(map(GLib.Variant.new_variant, items)))


def extras_of(entries):
    """A GVariant of the type a{sv} for a mapping."""
    if isinstance(entries, GLib.Variant) and entries.get_type_string() == "a{sv}":
        return entries
    if not isinstance(entries, Mapping):
        raise TypeError("the entries must be a mapping, or a GLib.Variant of the type a{sv}, not "
                        f"{reprlib.repr(entries)}")
    pairs = [GLib.Variant.new_dict_entry(_name_variant_of(name),
                                         GLib.Variant.new_variant(_variant_of(value)))
             for name, value in entries.items()]
    return GLib.Variant.new_array(GLib.VariantType("{sv}"), pairs)


def _name_variant_of(name):
    if not isinstance(name, str):
        raise TypeError(f"the name of an entry must be a str, not {type(name).__name__}")
    return _text_variant_of(name)


def _value_of(variant):
    """The value of a GVariant: the opposite of _variant_of()."""
    kind = variant.get_type_string()
    if kind == "ay":
        return variant.get_data_as_bytes().get_data() or b""
    if kind[0] not in "av(m{":
        return variant.unpack()
    children = [variant.get_child_value(i) for i in range(variant.n_children())]
    if kind == "v":
        return _value_of(children[0])
    if kind.startswith("a{"):
        return {_value_of(child.get_child_value(0)): _value_of(child.get_child_value(1))
                for child in children}
    values = list(map(_value_of, children))
    if kind[0] == "m":
        return values[0] if values else None
    return values if kind[0] == "a" else tuple(values)


def _with_entries(receive):
    @functools.wraps(receive)
    def received(*args, **keywords):
        view, extras = receive(*args, **keywords)
        return view, {} if extras is None else _value_of(extras)

    return received


# Methods


def _make_init(construct):
    def __init__(self, socket, flags=Mtl.TensorPeerFlags.NONE, **properties):
        construct(self, socket=_as_socket(socket), flags=flags, **properties)

    return __init__


def _iter(self):
    """Yields what receive() returns, until the peer closes the connection."""
    while True:
        try:
            received = self.receive()
        except BrokenPipeError:
            return
        yield received


async def _aiter(self):
    """Yields what receive_async() returns, until the peer closes the connection."""
    while True:
        try:
            received = await self.receive_async()
        except BrokenPipeError:
            return
        yield received


def _close(self):
    """Ends the connection for both sides, at once, also for a thread or a task that waits in it.
    Its descriptor is closed when the object ends. Received views can still be used."""
    socket = self.get_socket()
    try:
        if socket is not None:
            socket.shutdown(True, True)
    except GLib.Error:
        pass  # the peer was faster


# The converters of functions, by name.
CONVERTERS = {name: {"StridedView": view_of_values, "Variant": extras_of, "Socket": _as_socket}
              for name in ("new", "send", "send_async")}


def install():
    cls = Mtl.TensorConnection
    cls.__init__ = _make_init(cls.__init__)
    cls.receive = _with_entries(cls.receive)
    cls.receive_finish = _with_entries(cls.receive_finish)
    cls.close = _close
    cls.__iter__ = _iter
    cls.__aiter__ = _aiter
    cls.__enter__ = lambda self: self
    cls.__exit__ = lambda self, *exception: self.close()
