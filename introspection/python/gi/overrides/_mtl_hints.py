# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names that other libraries have, and what to use in their place."""

import sys

from ..module import get_introspection_module

Mtl = get_introspection_module("Mtl")


def _converts(name):
    return f"view.astype({name!r}) converts the elements"


# Those of NumPy's arrays, of PyTorch's and JAX's, and of safetensors' slices.
OF_VIEWS = {
    "__array_namespace__": "numpy.asarray(view) has a namespace; results are arrays, not views",
    "base": "view.get_buffer() is what holds the memory, and other.overlaps(view) compares it",
    "bfloat16": _converts("bfloat16"),
    "bool": _converts("bool"),
    "clone": "view.copy() has memory of its own",
    "contiguous": "view.to_contiguous() is the view itself, or a copy",
    "cpu": "view.to_device('cpu') copies the elements to the host",
    "cuda": "view.to_device(device) copies the elements to a Mtl.Device",
    "double": _converts("float64"),
    "dump": "use Mtl.save(), or pickle",
    "dumps": "use bytes(view), or pickle",
    "expand": "view.broadcast_to(shape) repeats elements",
    "float": _converts("float32"),
    "get_slice": "view[1:3] is a part of the view, without a copy",
    "getfield": "view.reinterpret() has the same bytes as another type",
    "half": _converts("float16"),
    "int": _converts("int32"),
    "long": _converts("int64"),
    "numel": "view.size is the number of elements",
    "numpy": "numpy.asarray(view) is an array of the same memory",
    "ptp": "use view.max() - view.min()",
    "resize": "a view keeps its shape: view.reshape() returns another view, and numpy.resize() an "
              "array",
    "setfield": "assign to a part of view.reinterpret()",
    "setflags": "view.as_read_only() returns a view that cannot be written",
    "short": _converts("int16"),
    "to": "view.astype(dtype) converts the elements, and view.to_device(device) copies them to "
          "another device",
    "type": "view.astype(dtype) converts the elements, and view.dtype is their type",
}

# Those of safetensors' and NumPy's open files.
OF_FILES = {
    "files": "list(file) has the names of the tensors",
    "get_slice": "file[name][1:3] is a part of a tensor, of which no more is read",
    "get_tensor": "file[name] is a view of the tensor",
}

# Those of NumPy, PyTorch and safetensors.
OF_THE_MODULE = {
    "as_tensor": "Mtl.asview(x) is a view of x, and Mtl.array(x) a copy",
    "asanyarray": "Mtl.asview(x) is a view of x, and Mtl.array(x) a copy",
    "asarray": "Mtl.asview(x) is a view of x, and Mtl.array(x) a copy",
    "concatenate": "numpy.concatenate() takes views",
    "empty_like": "Mtl.empty(view.shape, view.dtype) makes a tensor",
    "from_numpy": "Mtl.asview(array) is a view of the array",
    "frombuffer": "Mtl.asview(buffer) is a view of the buffer",
    "full_like": "Mtl.full(view.shape, value, view.dtype) makes a tensor",
    "linspace": "Mtl.asview(numpy.linspace(…)) is a view of NumPy's",
    "load_file": "Mtl.load(path) opens a file",
    "ndarray": "Mtl.StridedView is the class, and Mtl.array() makes one",
    "ones_like": "Mtl.ones(view.shape, view.dtype) makes a tensor",
    "open": "Mtl.load(path) opens a file",
    "safe_open": "Mtl.load(path) opens a file",
    "save_file": "Mtl.save(path, tensors) writes a file",
    "stack": "Mtl.array([view, view]) stacks views",
    "tensor": "Mtl.array(values) makes a tensor",
    "Tensor": "Mtl.StridedView is the class, and Mtl.array() makes one",
    "zeros_like": "Mtl.zeros(view.shape, view.dtype) makes a tensor",
}


def _hint(what, name, hint):
    def getter(self):
        raise AttributeError(f"{what} have no {name}: {hint}")

    return property(getter, doc=f"{what} have no {name}: {hint}.".capitalize())


def _hint_in_module():
    """PyGObject makes a class for each of its modules, unless the override is imported by itself."""
    if "gi.repository.Mtl" not in sys.modules:
        return
    cls = type(sys.modules["gi.repository.Mtl"])
    look_up = cls.__getattr__

    def module_getattr(self, name):
        hint = OF_THE_MODULE.get(name)
        if hint is not None:
            raise AttributeError(f"Mtl has no {name}: {hint}")
        return look_up(self, name)

    cls.__getattr__ = module_getattr


def install():
    for cls, what, hints in ((Mtl.StridedView, "views", OF_VIEWS),
                             (Mtl.TensorFile, "files", OF_FILES)):
        for name, hint in hints.items():
            setattr(cls, name, _hint(what, name, hint))
    _hint_in_module()
