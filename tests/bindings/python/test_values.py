# SPDX-License-Identifier: LGPL-2.1-or-later
"""Objects that cannot be viewed, and functions that only read their elements: these take what NumPy
makes of them. Mtl.asview() refuses to copy them."""

import array
import ctypes
import operator
import sys

import numpy as np
import pytest
from gi.repository import Mtl

from dlpack_structs import Producer
from says import says

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

SWAPPED = ">" if sys.byteorder == "little" else "<"


class OnlyInterface:
    def __init__(self, array, **changes):
        self.__array_interface__ = {**array.__array_interface__, **changes}
        self.array = array


class OnlyArray:
    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


class Failing:
    """Raises any exception where it exports memory, and returns an array elsewhere."""

    def __init__(self, array, error=RuntimeError("no DLPack today")):
        self.array, self.error = array, error

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **keywords):
        # A new one each time: an exception keeps the frames that it has passed.
        raise type(self.error)(*self.error.args)

    def __array__(self, dtype=None, copy=None):
        return self.array


# Containers of an array that cannot be viewed itself.
CONTAINERS = {
    "array": lambda x: x,
    "memoryview": memoryview,
    "interface": OnlyInterface,
    "__array__": OnlyArray,
    "failing": Failing,
    "masked": np.ma.array,
    "read-only": lambda x: np.broadcast_to(x, x.shape),
}


def swapped(array):
    return array.astype(array.dtype.newbyteorder(SWAPPED))


def field(array):
    """A field of packed records, whose strides are no multiple of its size."""
    records = np.zeros(array.shape, [("a", "i1"), ("b", array.dtype), ("c", "i2")])
    records["b"] = array
    return records["b"]


def unaligned(array):
    memory = np.zeros(array.nbytes + 1, "u1")
    memory[1:] = np.frombuffer(array.tobytes(), "u1")
    return memory[1:].view(array.dtype).reshape(array.shape)


def objects(array):
    return array.astype(object)


def long_double(array):
    return array.astype("G" if array.dtype.kind == "c" else "g")


NUMBERS = np.array([[1, 0, 3], [2, 1, 1]])

# An array of each kind with the numbers above.
UNVIEWABLE = {
    "swapped f4": swapped(NUMBERS.astype("f4")),
    "swapped i8": swapped(NUMBERS.astype("i8")),
    "swapped u2": swapped(NUMBERS.astype("u2")),
    "swapped c16": swapped(NUMBERS.astype("c16")),
    "swapped f2": swapped(NUMBERS.astype("f2")),
    "swapped and reversed": swapped(NUMBERS.astype("f8"))[::-1, ::-1][::-1, ::-1],
    "field": field(NUMBERS.astype("f4")),
    "field i8": field(NUMBERS.astype("i8")),
    "swapped field": field(swapped(NUMBERS.astype("f8"))),
    "long double": long_double(NUMBERS),
    "complex long double": long_double(NUMBERS.astype("c16")),
    "swapped long double": swapped(long_double(NUMBERS)),
}


def cannot_be_viewed(x):
    with pytest.raises(BufferError):
        Mtl.asview(x)


def readers():
    """Functions that read x, of the shape above, and what they do with NumPy's array."""
    def assign(x):
        view = Mtl.zeros((2, 3), "f8")
        view[...] = x
        return view

    def assign_row(x):
        view = Mtl.zeros((4, 2, 3), "f8")
        view[1] = x
        return view[1]

    def assign_at(x):
        view = Mtl.zeros((2, 3), "f8")
        view[[1, 0]] = x
        return view[[1, 0]]

    def copy_from(x):
        view = Mtl.zeros((2, 3), "f8")
        assert view.copy_from(x) is True
        return view

    def copy_scaled_from(x):
        view = Mtl.zeros((2, 3), "f8")
        view.copy_scaled_from(x, 1)
        return view

    def real(x):
        view = Mtl.zeros((2, 3), "c16")
        view.real = x
        return view.real

    def operation(function):
        return lambda x: Mtl.array(function(Mtl.ones((2, 3), "f8"), x) - 1)

    def in_place(x):
        view = same = Mtl.zeros((2, 3), "f8")
        view += x
        assert view is same
        return view

    return {
        "array": Mtl.array,
        "array of a type": lambda x: Mtl.array(x, "f8"),
        "array of a list": lambda x: Mtl.array([x, x])[1],
        "array of mixed rows": lambda x: Mtl.array([x, NUMBERS.tolist()])[0],
        "asview of a type": lambda x: Mtl.asview(x, "f8"),
        "assign": assign, "assign row": assign_row, "assign at": assign_at,
        "copy_from": copy_from, "copy_scaled_from": copy_scaled_from, "real": real,
        "full": lambda x: Mtl.full((2, 3), x, "f8"),
        "+": operation(operator.add), "+=": in_place,
    }


READERS = readers()


def kinds():
    for kind, x in UNVIEWABLE.items():
        for container, contain in CONTAINERS.items():
            try:
                yield pytest.param(contain(x), id=f"{kind}, {container}")
            except (ValueError, BufferError):
                pass  # an older NumPy has no such buffer


@pytest.fixture(params=kinds())
def unviewable(request):
    return request.param


@pytest.mark.parametrize("name", READERS)
@pytest.mark.filterwarnings("ignore::numpy.ComplexWarning" if hasattr(np, "ComplexWarning")
                            else "ignore::numpy.exceptions.ComplexWarning")
def test_readers_take_what_numpy_makes(unviewable, name):
    cannot_be_viewed(unviewable)
    is_complex = np.asarray(unviewable).dtype.kind == "c"
    if is_complex and name == "+=":
        with pytest.raises(TypeError):  # as NumPy does

            READERS[name](unviewable)
        return
    assert np.array_equal(np.asarray(READERS[name](unviewable)), NUMBERS)


def test_types_stay_as_near_as_possible(unviewable):
    dtype = np.asarray(unviewable).dtype.newbyteorder("=")
    nearest = {"g": "f8", "G": "c16"}.get(dtype.char, dtype)
    assert Mtl.array(unviewable).dtype == nearest
    assert Mtl.array([unviewable])[0].dtype == nearest


def test_comparisons_and_membership(unviewable):
    view = Mtl.array(NUMBERS, "f8")
    assert (view == unviewable).all() and not (view != unviewable).any()
    assert view.array_equal(unviewable) and view.all_close(unviewable)
    assert not view[::-1].array_equal(unviewable)
    assert unviewable in Mtl.array([NUMBERS + 1, NUMBERS], "f8")
    assert unviewable not in Mtl.array([NUMBERS + 1, NUMBERS + 2], "f8")


def test_save(unviewable, tmp_path):
    Mtl.save(tmp_path / "a.npy", unviewable)
    assert np.array_equal(np.load(tmp_path / "a.npy"), NUMBERS)
    if np.asarray(unviewable).dtype.kind != "c":
        Mtl.save(tmp_path / "a.safetensors", {"x": unviewable, "y": [unviewable]})
        tensors = Mtl.load(tmp_path / "a.safetensors")
        assert tensors["x"].tolist() == NUMBERS.tolist() == tensors["y"][0].tolist()


@pytest.mark.parametrize("contain", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("dtype", [SWAPPED + "i2", SWAPPED + "i8", SWAPPED + "u4"])
def test_indices(contain, dtype):
    indices = contain(np.array([2, 0, 1], dtype))
    values = np.arange(3.0) * 10
    view = Mtl.array(values)
    assert view[indices].tolist() == [20, 0, 10]
    view[indices] = [1, 2, 3]
    assert view.tolist() == [2, 3, 1]
    assert Mtl.array(NUMBERS)[1, indices].tolist() == NUMBERS[1, [2, 0, 1]].tolist()


def test_single_numbers():
    for x in (np.array(3, SWAPPED + "i4"), np.array([3], SWAPPED + "f8"), np.longdouble(3),
              field(np.array(3.0)), OnlyArray(np.array(3, SWAPPED + "u2")), Failing(np.array(3.0))):
        view = Mtl.zeros(2)
        view.fill(x)
        assert view.tolist() == [3, 3]
        view[1] = np.asarray(x).reshape(()) + 1
        assert view.tolist() == [3, 4]
        assert Mtl.array(x).item() == 3 and Mtl.full(2, x).tolist() == [3, 3]
        assert x in view or np.asarray(x).ndim


def test_copy_from_takes_what_assignments_take():
    view = Mtl.zeros((2, 3), "i2")
    for source in (7, 7.9, [[7, 7, 7]] * 2, [7, 7, 7], np.full(3, 7), np.int8(7),
                   array.array("d", [7] * 3), (7 for _ in range(3)), [np.full(3, 7)] * 2,
                   Mtl.full(3, 7), (ctypes.c_int * 3)(7, 7, 7), memoryview(bytes([7, 7, 7])),
                   Producer((ctypes.c_float * 3)(7, 7, 7), (3,), (1,))):
        view[...] = 0
        assert view.copy_from(source) is True
        assert view.tolist() == [[7] * 3] * 2
    for wrong, kind in ((70000, ValueError), ([1, 2, 70000], ValueError), ("text", TypeError),
                        (None, TypeError), ([1, 2], ValueError), (np.zeros(4), ValueError)):
        with pytest.raises(kind):
            view.copy_from(wrong)
        assert view.tolist() == [[7] * 3] * 2
    with pytest.raises(ValueError, match="read-only"):
        view.as_read_only().copy_from(1)


# Drawn at random


def draw_shape(rng):
    return tuple(rng.choice((0, 1, 1, 2, 3, 4, 5)) for _ in range(rng.randrange(5)))


def draw_layout(rng, x):
    """The elements of x at other places."""
    for _ in range(rng.randrange(3)):
        way = rng.randrange(5)
        if way == 0:
            x = field(x)
        elif way == 1:
            x = unaligned(x)
        elif way == 2 and x.ndim:
            axis = rng.randrange(x.ndim)
            x = np.flip(np.flip(x, axis).copy(), axis)
        elif way == 3 and x.ndim:
            spread = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
            spread[..., ::2] = x
            x = spread[..., ::2]
        else:
            x = x.T.copy().T
    return x


CODES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "g", "c8", "c16",
         "G"]
ADDED = [] if ml_dtypes is None else ["bfloat16", "float8_e4m3fn", "int4", "uint4", "uint2",
                                      "float4_e2m1fn",
                                      "float6_e2m3fn", "float8_e8m0fnu"]


def draw_array(rng):
    shape = draw_shape(rng)
    if ADDED and rng.random() < 0.2:
        dtype = np.dtype(getattr(ml_dtypes, rng.choice(ADDED)))
        numbers = np.array([rng.choice((1, 2)) for _ in range(int(np.prod(shape)))], "f4")
        x = numbers.astype(dtype).reshape(shape)
    else:
        dtype = np.dtype(rng.choice(CODES))
        numbers = [rng.randrange(0, 100) for _ in range(int(np.prod(shape)))]
        x = np.array(numbers, "f8").astype(dtype).reshape(shape)
    if rng.random() < 0.6:
        x = swapped(x)
    return draw_layout(rng, x)


def draw_object(rng, x):
    """The array in a container, or in several."""
    way = rng.randrange(9)
    if way == 0 and x.dtype.isbuiltin == 1:
        return memoryview(x)
    if way == 1 and x.dtype.isbuiltin == 1:
        return OnlyInterface(x)
    if way == 2:
        return OnlyArray(x)
    if way == 3:
        return Failing(x, rng.choice((RuntimeError("a"), ValueError("b"), BufferError("c"),
                                      KeyError("d"),
                                      OSError(5, "e"), AssertionError(), MemoryError())))
    if way == 4:
        x = np.broadcast_to(x, x.shape)
    if way == 5:
        return np.ma.array(x) if x.dtype.isbuiltin == 1 else x
    if way == 6:
        return Failing(OnlyArray(x).array.view())
    return x


def test_random_objects(rng, cases):
    n_views = n_copies = 0
    for _ in range(min(cases, 4000)):
        x = draw_array(rng)
        given = draw_object(rng, x)
        note = (type(given), x.dtype, x.shape, x.strides)
        is_complex = x.dtype.kind == "c"
        expected = np.array(x).astype("c16" if is_complex else "f8")
        dtype = "complex128" if is_complex else "float64"

        try:
            view = Mtl.asview(given)
            n_views += 1
            assert view.shape == x.shape, note
            assert np.array_equal(np.asarray(view.astype(dtype)), expected), note
        except BufferError as error:
            n_copies += 1
            assert error.__cause__ is not None, note

        for view in (Mtl.array(given), Mtl.array(given, dtype), Mtl.asview(given, dtype)):
            assert view.shape == x.shape, note
            assert np.array_equal(np.asarray(view.astype(dtype)), expected), note
        written = Mtl.zeros(x.shape, dtype)
        written[...] = given
        assert np.array_equal(np.asarray(written), expected), note
        written.fill(0)
        written.copy_from(given)
        assert np.array_equal(np.asarray(written), expected), note
        assert written.array_equal(given), note
        assert (written == Mtl.array(given).astype(dtype)).all(), note
        stacked = Mtl.array([given, given], dtype)
        assert np.array_equal(np.asarray(stacked), np.array([expected, expected])), note
        assert given in stacked, note
    assert n_views > 100 and n_copies > 100


# Numbers that are objects, and what is none


def test_objects_that_are_numbers():
    from decimal import Decimal
    from fractions import Fraction

    for values, dtype in (([1, 2, 3], "i8"), ([1, 2.5, 3], "f8"), ([True, False], "?"),
                          ([2**63, 1], "u8"),
                          ([1j, 2], "c16"), ([Fraction(1, 2), Decimal("1.5")], "f8"), ([], "f8"),
                          ([np.float32(1.5), 2], "f8")):
        x = np.array(values, object)
        cannot_be_viewed(x)
        view = Mtl.array(x)
        assert view.dtype == dtype
        assert view.tolist() == [view.dtype.dtype.type(v).item() for v in values]
    assert Mtl.array(np.zeros((2, 0, 3), object)).shape == (2, 0, 3)
    assert Mtl.array(np.array([[1, 2], [3, 4]], object).T).tolist() == [[1, 3], [2, 4]]
    view = Mtl.zeros(3, "u1")
    view[...] = np.array([1, 2, 3], object)
    assert view.tolist() == [1, 2, 3]
    for wrong in ([None], ["a"], [1, None], [[1], [1, 2]], [{}]):
        x = np.empty(len(wrong), object)
        x[:] = wrong
        with pytest.raises((TypeError, ValueError)):
            Mtl.array(x)


NO_NUMBERS = {
    "dates": (np.array(["2020-01-01"], "M8[D]"), "astype('int64')"),
    "durations": (np.array([3], "m8[s]"), "astype('int64')"),
    "text": (np.array(["1", "2"]), "astype(float)"),
    "byte strings": (np.array([b"1", b"2"]), "tobytes()"),
    "raw bytes": (np.zeros(3, "V16"), "tobytes()"),
    "records": (np.zeros(3, [("a", "i1"), ("b", "f4")]), "x['a']"),
    "a record": (np.zeros((), [("a", "i1")]), "x['a']"),
}


@pytest.mark.parametrize("x, advice", NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_what_is_no_number(x, advice, tmp_path):
    view = Mtl.zeros(x.shape)
    for call in (Mtl.asview, Mtl.array, lambda x: Mtl.asview(x, "f4"),
                 lambda x: view.__setitem__(..., x),
                 lambda x: view.copy_from(x), lambda x: Mtl.save(tmp_path / "a.npy", x),
                 lambda x: Mtl.array([x]), lambda x: Mtl.full(x.shape, x), lambda x: x in view):
        with pytest.raises(BufferError) as info:
            call(x)
        assert advice in str(info.value)
    assert not view.any() and not list(tmp_path.iterdir())
    for container in (OnlyArray(x), Failing(x)):
        with pytest.raises(BufferError):
            Mtl.array(container)
    for scalar in x.reshape(-1):
        if not isinstance(scalar, (str, bytes)):
            with pytest.raises(BufferError):
                Mtl.array(scalar)


def test_objects_of_ctypes():
    for x, numbers in (((ctypes.c_int32.__ctype_be__ * 3)(1, 2, 3), [1, 2, 3]),
                       ((ctypes.c_double.__ctype_be__ * 2 * 2)((1, 2), (3, 4)), [[1, 2], [3, 4]]),
                       ((ctypes.c_longdouble * 2)(1, 2), [1, 2]), (ctypes.c_longdouble(3), 3),
                       (ctypes.c_uint16.__ctype_be__(7), 7)):
        cannot_be_viewed(x)
        assert Mtl.array(x).tolist() == numbers and Mtl.asview(x, "i4").tolist() == numbers
        assert Mtl.zeros(np.shape(numbers)).copy_from(x)
    for x in ((ctypes.c_wchar * 2)("a", "b"), (ctypes.c_void_p * 2)(), array.array("u", "ab")):
        with pytest.raises(BufferError):
            Mtl.array(x)


@pytest.mark.skipif(not hasattr(np, "dtypes") or not hasattr(np.dtypes, "StringDType"),
                    reason="NumPy has no StringDType")
def test_texts_of_any_length():
    x = np.array(["1", "long" * 100], np.dtypes.StringDType())
    for call in (Mtl.asview, Mtl.array, lambda x: Mtl.zeros(2).copy_from(x)):
        with pytest.raises(BufferError, match=says("astype(float)")):
            call(x)


# Reasons


def test_the_true_reason_comes_first():
    for x, advice in (
            (swapped(np.arange(3.0)), "x.astype(x.dtype.newbyteorder('='))"),
            (np.broadcast_to(swapped(np.arange(3.0)), (2, 3)), "newbyteorder"),
            (field(np.arange(3.0)), "x.copy()"),
            (long_double(np.arange(3.0)), "x.astype('float64')")):
        with pytest.raises(BufferError) as info:
            Mtl.asview(x)
        message = str(info.value)
        assert advice in message and "Mtl.array(x)" in message and "DLPack" in message
        assert Mtl.asview(eval(advice)).tolist() == x.tolist() if "(" in advice else True
        assert Mtl.array(x).tolist() == x.tolist()
        # Each way's own exception is kept.
        chain, error = [], info.value
        while error is not None:
            chain.append(str(error))
            error = error.__cause__ or error.__context__
        n_ways = sum(text in message for text in chain[1:])
        assert n_ways == 2


def test_each_way_has_its_reason():
    class Refuses(Failing):
        @property
        def __array_interface__(self):
            raise OSError("no interface today")

        def __array__(self, dtype=None, copy=None):
            raise ArithmeticError("no array today")

    with pytest.raises(BufferError) as info:
        Mtl.asview(Refuses(None))
    for text in ("Refuses", "no DLPack today", "no interface today", "no array today"):
        assert text in str(info.value)
    with pytest.raises(BufferError, match="no array today"):
        Mtl.array(Refuses(None))


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_ends_a_program_is_no_refusal(error):
    for call in (Mtl.asview, Mtl.array, lambda x: Mtl.zeros(3).copy_from(x)):
        with pytest.raises(error):
            call(Failing(np.arange(3), error()))


@pytest.mark.parametrize("error", [RuntimeError, ValueError, TypeError, OSError, MemoryError,
                                   RecursionError])
def test_any_failure_leads_to_the_next_way(error):
    values = np.arange(3.0)
    view = Mtl.asview(Failing(values, error("not today")))
    assert view.tolist() == [0, 1, 2] and view.get_address() == values.ctypes.data


def test_nothing_is_kept_by_refusals():
    import gc
    import weakref

    class Array(np.ndarray):
        pass

    gc.collect()
    gc.disable()
    try:
        for make in (lambda: swapped(np.arange(3.0)).view(Array),
                     lambda: np.array([None]).view(Array),
                     lambda: np.broadcast_to(np.arange(3.0), (2, 3)).view(Array)):
            x = make()
            gone = weakref.ref(x)
            for call in (Mtl.asview, Mtl.array):
                try:
                    call(x)
                except (BufferError, TypeError):
                    pass
            del x
            assert gone() is None
    finally:
        gc.enable()


# Masks


def masked(**keywords):
    return np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False], **keywords)


def test_masks_are_not_lost(tmp_path):
    view = Mtl.zeros(3)
    for x in (masked(), masked().view(), masked(dtype=SWAPPED + "f4"),
              np.ma.array([[1, 2]], mask=True),
              np.ma.masked, np.ma.array(3, mask=True), OnlyArray(masked()), [masked(), [1, 2, 3]],
              [[1, 2, 3], masked()], (1, np.ma.masked, 3), [[1, np.ma.masked]],
              np.ma.masked_array(np.arange(3), np.arange(3) > 1)):
        calls = [Mtl.asview, Mtl.array, lambda x: Mtl.asview(x, "f4"), lambda x: view.copy_from(x),
                 lambda x: view.__setitem__(..., x), lambda x: Mtl.save(tmp_path / "a.npy", x)]
        if not isinstance(x, (list, tuple)):
            calls += [lambda x: x in view, lambda x: view[x], lambda x: view.fill(x)]
        if isinstance(x, np.ndarray):
            calls += [Mtl.from_dlpack, lambda x: Mtl.from_dlpack(x, copy=True),
                      lambda x: operator.iadd(view, x), lambda x: view.array_equal(x)]
        for call in calls:
            with pytest.raises(BufferError, match=says("x.filled(value)")):
                call(x)
        assert not view.any()


def test_arrays_without_masked_elements_are_their_data():
    data = np.arange(3.0)
    for x in (np.ma.array(data), np.ma.array(data, mask=[False] * 3),
              np.ma.array(data, mask=False)):
        view = Mtl.asview(x)
        assert view.get_address() == data.ctypes.data and view.tolist() == [0, 1, 2]
        assert Mtl.array([x, x]).tolist() == [[0, 1, 2]] * 2
        assert Mtl.asview(x.filled(7)).tolist() == [0, 1, 2]
    assert Mtl.asview(masked().filled(7)).tolist() == [1, 7, 3]
    assert Mtl.asview(masked()[::2]).tolist() == [1, 3]


# Other libraries


def test_types_of_ml_dtypes():
    pytest.importorskip("ml_dtypes")
    for name in ("bfloat16", "float8_e5m2", "float8_e4m3fn", "int4", "uint2", "float4_e2m1fn",
                 "complex32",
                 "int1", "uint1", "bcomplex32"):
        if not hasattr(ml_dtypes, name):
            continue
        x = np.array([0, 1, 1, 0]).astype(getattr(ml_dtypes, name))
        for part in (x, swapped(x), field(x), x[::-1], x.reshape(2, 2).T, x[:0], x[1]):
            view = Mtl.array(part)
            assert view.shape == part.shape
            assert np.array_equal(np.asarray(view.astype("c16")), np.asarray(part).astype("c16"))
        expected = [-v if name == "int1" else v for v in (0, 1, 1, 0)]
        assert Mtl.array([swapped(x)], "f4").tolist() == [expected]


def test_swapped_types_of_ml_dtypes_are_no_views():
    pytest.importorskip("ml_dtypes")
    x = np.array([1, 2, 3]).astype(ml_dtypes.bfloat16)
    cannot_be_viewed(swapped(x))
    assert Mtl.asview(swapped(x).astype(x.dtype)).tolist() == [1, 2, 3]
    with pytest.raises(BufferError, match="newbyteorder"):
        Mtl.asview(swapped(x))


@pytest.mark.parametrize("name", ["int4", "uint4", "int2", "uint2"])
def test_jax_has_types_without_dlpack(name):
    jnp = pytest.importorskip("jax.numpy")
    x = jnp.ones(3, name)
    for view in (Mtl.asview(x), Mtl.array(x), Mtl.asview(x, "f4"), Mtl.array([x])[0]):
        assert view.tolist() == [1, 1, 1]
    assert Mtl.asview(x).dtype == name
    view = Mtl.zeros(3)
    view[...] = x
    assert view.tolist() == [1, 1, 1] and view.copy_from(x) and x in Mtl.ones((2, 3))
    assert Mtl.array([10, 20])[x].tolist() == [20, 20, 20]
    view = same = Mtl.ones(3)
    view += jnp.ones(3)
    assert view is same and view.tolist() == [2, 2, 2]


@pytest.mark.parametrize("kind", ["swapped f4", "field", "long double"])
def test_in_the_background(kind):
    import asyncio

    async def copy():
        view = Mtl.zeros((2, 3))
        assert await view.copy_from_async(UNVIEWABLE[kind])
        assert view.tolist() == NUMBERS.tolist()
        assert await view.copy_scaled_from_async(UNVIEWABLE[kind], 2)
        assert view.tolist() == (2 * NUMBERS).tolist()
        assert await view.copy_from_async(3) and await view.copy_from_async([1, 2, 3])
        assert view.tolist() == [[1, 2, 3]] * 2
        with pytest.raises(ValueError, match=says(300)):
            await Mtl.zeros(3, "u1").copy_from_async([1, 2, 300])

    asyncio.run(copy())


def test_what_only_has_dlpack():
    memory = (ctypes.c_float * 3)(1, 2, 3)
    x = Producer(memory, (3,), (1,))
    view = Mtl.array([1, 2, 4], "f4")
    assert (view + Producer(memory, (3,), (1,))).tolist() == [2, 4, 7]
    assert (view == x).tolist() == [True, True, False]
    assert (Producer(memory, (3,), (1,)) - view).tolist() == [0, 0, -1]
    view += Producer(memory, (3,), (1,))
    assert view.tolist() == [2, 4, 7]
    indices = Producer((ctypes.c_int32 * 2)(2, 0), (2,), (1,), 0)
    assert view[indices].tolist() == [7, 2]


# __array_interface__


@pytest.mark.parametrize("shape, strides", [
    ((1, 3), (5, 4)), ((1, 3), (-7, 4)), ((3, 1), (4, 1)), ((3, 1), (4, 2**62)), ((1, 1), (3, 5)),
    ((0, 3), (12, 5)), ((3, 0), (7, 9)), ((0,), (1,)), ((1,), (2**64,)),
    ((1, 0, 3), (2**70, 3, -1))])
def test_strides_that_do_not_matter(shape, strides):
    data = np.arange(3.0, dtype="f4")
    view = Mtl.asview(OnlyInterface(data, shape=shape, strides=strides))
    assert view.shape == shape
    count = int(np.prod(shape))
    assert view.tolist() == data[:count].reshape(shape).tolist()
    assert view.copy().strides == Mtl.zeros(shape).strides


def test_numpys_arrays_have_such_strides():
    for x in (field(np.arange(3.0))[:1], field(np.arange(3.0))[1:1],
              field(np.arange(6.0).reshape(2, 3))[:1, 2:]):
        assert Mtl.asview(x).tolist() == x.tolist()
        assert Mtl.asview(OnlyInterface(x)).tolist() == x.tolist()


def test_interfaces_that_numpy_can_read():
    for x in (swapped(np.arange(6, dtype="i4")).reshape(2, 3), field(np.arange(6.0).reshape(2, 3)),
              long_double(np.arange(3)), swapped(np.arange(3.0))[::-1], field(np.arange(0.0))):
        given = OnlyInterface(x)
        if x.size:
            cannot_be_viewed(given)
        assert Mtl.array(given).tolist() == x.tolist()
    memory = swapped(np.arange(4, dtype="u2")).tobytes()
    given = OnlyInterface(np.zeros(1), shape=(2,), typestr=SWAPPED + "u2", data=memory, offset=2,
                          strides=None)
    assert Mtl.array(given).tolist() == [1, 2]


@pytest.mark.parametrize("changes", [
    {"data": (0, False)}, {"data": (2**64 - 8, False)}, {"strides": (2**62, 8), "data": bytes(48)},
    {"shape": (2**40, 2**40)}, {"shape": (-1, 3)}, {"typestr": "|O8"},
    {"mask": np.zeros((2, 3), bool)}, {"data": bytes(47)},
    {"strides": (24,)}, {"shape": None}, {"typestr": 3}])
def test_interfaces_that_are_wrong_stay_wrong(changes):
    x = swapped(np.arange(6.0).reshape(2, 3))
    with pytest.raises(BufferError):
        Mtl.array(OnlyInterface(x, **changes))


def test_what_needs_numpy_is_refused_without_it():
    import subprocess

    program = """
import sys
sys.modules["numpy"] = None
import ctypes
import gi
gi.require_version("Mtl", "1")
from gi.repository import Mtl

for function in (Mtl.asview, Mtl.array):
    try:
        function((ctypes.c_int32.__ctype_be__ * 3)(1, 2, 3))
    except BufferError:
        pass
    else:
        raise AssertionError
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, b"")
