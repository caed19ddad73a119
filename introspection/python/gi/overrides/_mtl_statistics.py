# SPDX-License-Identifier: LGPL-2.1-or-later
"""Statistics have attributes, and their extremes are numbers as the elements are."""

import math

NAMES = ("dtype", "count", "minimum", "maximum", "mean", "deviation", "n_nans", "n_infinities",
         "n_zeros")


def _extreme(name, doc):
    def get(self):
        value = getattr(self, f"get_{name}")()
        kind = self.get_dtype().value_nick
        if math.isnan(value):
            return value
        if kind == "bool":
            return value != 0
        if kind.startswith("int"):
            return getattr(self, f"get_{name}_int64")()
        if kind.startswith("uint"):
            return getattr(self, f"get_{name}_uint64")()
        return value

    return property(get, doc=doc)


def _mean(self):
    mean = self.get_complex_mean()
    is_complex = self.get_dtype().value_nick.startswith("complex")
    return complex(mean.re, mean.im) if is_complex else mean.re


def _repr(self):
    values = " ".join(f"{name}={getattr(self, name)}" for name in NAMES)
    return f"<Mtl.Statistics {values}>"


def install(cls):
    for name in NAMES:
        getter = getattr(cls, f"get_{name}")
        setattr(cls, name, property(lambda self, getter=getter: getter(self), doc=getter.__doc__))
    cls.minimum = _extreme("minimum", "The least finite element; NaN if there is none.")
    cls.maximum = _extreme("maximum", "The greatest finite element; NaN if there is none.")
    cls.mean = property(_mean, doc="The mean of the finite elements; NaN if there is none.")
    cls.__repr__ = _repr
    cls.__str__ = lambda self: self.to_string()
