# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random tensors and buffers of peers that follow the rules, go to their limits or break them.

What is right is derived here from the words of DLPack and PEP 3118, with Python's integers. The
memory of the elements ends where they do, at a page that traps.
"""

import ctypes
import mmap
import random
from types import SimpleNamespace

from drawn_layouts import Axes, dense_strides, draw_strides, happens, offset_bounds
from hostile_producer import Exporter, Producer, exchange_api, guarded_memory

READ_ONLY, IS_COPIED, PADDED = 1, 2, 4
HOSTS = {1, 3, 11, 13}
ADDRESSED = HOSTS | {2, 10, 14}
PAGE = mmap.PAGESIZE

ADDRESS = guarded_memory(PAGE)
CONTENTS = random.Random(1).randbytes(PAGE)
ctypes.memmove(ADDRESS, CONTENTS, PAGE)


def contents_are_kept():
    return ctypes.string_at(ADDRESS, PAGE) == CONTENTS


EXTREMES = [sign * (2**power + more) for sign in (1, -1) for power in (31, 40, 61, 62, 63)
            for more in (-2, -1, 0, 1) if -2**63 <= sign * (2**power + more) < 2**63]
LARGE = [number for number in EXTREMES if number > 0]
DTYPES = [(0, 8, 1), (1, 8, 1), (1, 16, 1), (0, 32, 1), (0, 64, 1), (2, 16, 1), (2, 32, 1),
          (2, 64, 1), (4, 16, 1), (5, 64, 1), (5, 128, 1), (6, 8, 1), (10, 8, 1), (17, 4, 1),
          (17, 4, 2), (15, 6, 1), (16, 6, 3), (0, 4, 1), (1, 2, 1), (1, 4, 2), (2, 32, 4),
          (3, 64, 1), (2, 80, 1), (99, 12, 5)]
AXES = Axes(steps=(1,) * 8 + (2, 3), gaps=(0, 0, 0, 1), flipped=0.15)
# Metal's is left out: where there is Metal, its tensors are no addresses.
DEVICES = [0, -1, 2, 3, 4, 7, 9, 10, 11, 12, 13, 14, 15, 17, 18, 20, 22, 99, 2**31 - 1, -2**31]


def volume_of(shape):
    volume = 1
    for extent in shape:
        volume *= extent
    return volume


def draw_layout(rng):
    """Axes in any order, some apart, some backwards, some repeated."""
    kind = rng.random()
    n_dims = rng.randrange(4) if kind < 0.93 else rng.randrange(4, 7) if kind < 0.98 else 64
    shape = []
    for axis in range(n_dims):
        shape.append(0 if rng.random() < 0.03 else
                     rng.randrange(1, 5) if n_dims < 4 else rng.randrange(1, 3) if axis < 4 else 1)
    repeated = [axis for axis in range(n_dims) if happens(rng, 0.05)]
    return shape, list(draw_strides(rng, shape, AXES, repeated))


# --- Tensors of DLPack


def draw_limit(rng, self):
    """Changes what may be changed."""
    kind = rng.randrange(7)
    axis = rng.randrange(self.ndim) if self.ndim else None
    if kind == 0:
        self.flags = rng.getrandbits(64)
    elif kind == 1:
        self.version = 1, rng.getrandbits(32)
    elif kind == 2:
        self.device = rng.choice(DEVICES), rng.choice((0, 1, -1, 2**31 - 1, -2**31))
    elif kind == 3:
        self.dtype = rng.randrange(256), rng.choice((1, 7, 255)), rng.choice((1, 3, 65535))
    elif kind == 4 and axis is not None:  # a stride that leads nowhere
        self.shape[axis], self.strides[axis] = 1, rng.choice(EXTREMES)
    elif kind == 5 and axis is not None:  # no elements, and whatever there is
        self.shape[rng.randrange(self.ndim)] = 2**63 - 1
        self.strides[rng.randrange(self.ndim)] = rng.choice(EXTREMES)
        self.shape[axis], self.byte_offset = 0, rng.getrandbits(64)
    elif kind == 6:
        self.byte_offset = rng.choice((1, 7, 4096, 2**40))


def draw_fault(rng, self):
    """Changes what may not be changed, or not as far."""
    kind = rng.randrange(10)
    axis = rng.randrange(len(self.shape)) if self.shape else None
    if kind == 0:
        self.ndim = rng.choice((-1, -2**31, -65))
    elif kind == 1:
        self.ndim = rng.choice((65, 66, 2**31 - 1, 2**20))
    elif kind == 2:
        self.has_shape = False
    elif kind == 3:
        self.is_misaligned = True
    elif kind == 4 and axis is not None:
        self.shape[axis] = rng.choice((-1, -3, -2**63, -2**62))
    elif kind == 5 and axis is not None:
        self.shape[axis] = rng.choice(LARGE)
        self.shape[rng.randrange(len(self.shape))] = rng.choice(LARGE)
    elif kind == 6 and axis is not None:
        self.shape[axis], self.strides[axis] = 2, rng.choice(EXTREMES)
    elif kind == 7:
        self.dtype = rng.choice(((2, 0, 1), (2, 32, 0), (0, 0, 0)))
    elif kind == 8:
        self.byte_offset = rng.choice((2**64 - 1, 2**64 - rng.randrange(1, 5000), 2**63,
                                       rng.getrandbits(64)))
    elif kind == 9:
        self.version = rng.choice((0, 2, 3, 2**32 - 1)), rng.randrange(4)


def draw_tensor(rng):
    shape, strides = draw_layout(rng)
    self = SimpleNamespace(
        shape=shape, strides=strides, ndim=len(shape), is_legacy=rng.random() < 0.3,
        version=(1, rng.randrange(4)), flags=rng.randrange(8), device=(1, 0),
        dtype=rng.choice(DTYPES), byte_offset=0, has_deleter=rng.random() > 0.05,
        has_shape=shape != [] or rng.random() < 0.5, has_strides=rng.random() < 0.8,
        is_misaligned=False, address=2**40, is_there=False)
    while rng.random() < 0.3:
        draw_limit(rng, self)
    while rng.random() < 0.3:
        draw_fault(rng, self)
    place_tensor(rng, self)
    return self


def describe_tensor(self):
    """Sets the attributes that follow from the fields of a tensor that is not malformed."""
    code, bits, lanes = self.dtype
    flags = 0 if self.is_legacy else self.flags
    self.is_padded = bool(flags & PADDED) and bits < 8
    self.is_read_only = bool(flags & READ_ONLY)
    self.is_copied = bool(flags & IS_COPIED)
    self.item_bits = (8 if self.is_padded else bits) * lanes
    self.all_strides = tuple(self.strides) if self.has_strides else dense_strides(self.shape)
    self.volume = volume_of(self.shape)


def judge_tensor(self):
    """Returns True if it may be taken, and True if it may be refused."""
    if not self.is_legacy and self.version[0] != 1:
        return False, True
    if not 0 <= self.ndim <= 64 or self.ndim > 0 and (not self.has_shape or self.is_misaligned):
        return False, True
    if any(extent < 0 for extent in self.shape) or 0 in self.dtype[1:]:
        return False, True
    describe_tensor(self)
    if self.volume == 0:
        return True, False
    low, high = offset_bounds(self.shape, self.all_strides)
    first, end = low * self.item_bits // 8, -(-(high + 1) * self.item_bits // 8)
    is_address = self.device[0] in ADDRESSED
    start = self.byte_offset + (self.address if is_address else 0)
    if (self.address == 0 or self.volume >= 2**63 or high - low >= 2**63 or high >= 2**63
            or first < -2**63 or end >= 2**63 or start + first < is_address
            or start + end > 2**64):
        return False, True
    # Here the library may have limits of its own.
    return True, (first < -2**59 or end > 2**59 or start + end >= 2**63
                  or self.byte_offset >= 2**62)


def place_tensor(rng, self):
    """If there are few elements, they are all that there is of the memory."""
    may_succeed, _ = judge_tensor(self)
    if may_succeed and self.volume > 0 and self.device[0] in HOSTS:
        low, high = offset_bounds(self.shape, self.all_strides)
        first, end = low * self.item_bits // 8, -(-(high + 1) * self.item_bits // 8)
        if end - first <= PAGE and self.volume * self.item_bits <= 8 * PAGE \
                and self.byte_offset <= 2**40:
            self.is_there = True
            self.origin = (PAGE - end if rng.random() < 0.7 else -first)
            self.address = (ADDRESS + self.origin - self.byte_offset) % 2**64
            return
    if rng.random() < 0.3:
        self.address = rng.choice((0, 2**64 - 1, 2**64 - rng.randrange(1, 5000)))


def elements_of(self):
    """The bytes of the elements in C order, without gaps."""
    offsets = [0]
    for extent, stride in zip(self.shape, self.all_strides):
        offsets = [offset + i * stride for offset in offsets for i in range(extent)]
    if self.item_bits % 8 == 0:
        size = self.item_bits // 8
        places = [self.origin + offset * size for offset in offsets]
        return b"".join([CONTENTS[place:place + size] for place in places])
    whole, mask, packed = int.from_bytes(CONTENTS, "little"), (1 << self.item_bits) - 1, 0
    for n, offset in enumerate(offsets):
        item = whole >> 8 * self.origin + offset * self.item_bits & mask
        packed |= item << n * self.item_bits
    return packed.to_bytes(-(-len(offsets) * self.item_bits // 8), "little")


class Plain(Producer):
    def __dlpack__(self, **keywords):
        return self.capsule()


class Old(Producer):
    def __dlpack__(self):
        return self.capsule()


class Exchanging(Plain):
    __dlpack_c_exchange_api__ = exchange_api([(1, 3, True)], -1)


class ExchangingAmongOthers(Plain):
    __c_dlpack_exchange_api__ = exchange_api([(2, 0, True), (1, 9, False), (1, 0, True)], 0)


class Useless(Plain):
    __dlpack_c_exchange_api__ = exchange_api([(2, 0, True), (1, 3, False)], 0)


CLASSES = [Plain, Plain, Old, Useless]
EXCHANGING_CLASSES = [Exchanging, ExchangingAmongOthers]


def new_producer(rng, self):
    classes = CLASSES if self.is_legacy else CLASSES + EXCHANGING_CLASSES
    producer = rng.choice(classes)(
        self.is_legacy, self.version, self.flags, self.address, self.device, self.ndim, self.dtype,
        tuple(self.shape) if self.has_shape else None,
        tuple(self.strides) if self.has_strides else None,
        self.byte_offset, self.has_deleter, self.is_misaligned)
    if isinstance(producer, tuple(EXCHANGING_CLASSES)) and rng.random() < 0.3:
        producer.status = rng.choice((0, -1, 5))
        producer.gives = producer.status == 0 and rng.random() < 0.5
        producer.exception = rng.choice((None, ValueError, BufferError, SystemError))
    return producer


# --- Buffers

FORMATS = {b"?": 6 << 8 | 8, b"b": 8, b"B": 1 << 8 | 8, b"c": 1 << 8 | 8, b"h": 16,
           b"<H": 1 << 8 | 16, b"=i": 32, b"@I": 1 << 8 | 32, b"q": 64, b"Q": 1 << 8 | 64,
           b"l": 64, b"n": 64, b"e": 2 << 8 | 16, b"f": 2 << 8 | 32, b"d": 2 << 8 | 64,
           b"Zf": 5 << 8 | 64, b"Zd": 5 << 8 | 128, None: 1 << 8 | 8}
WRONG_FORMATS = [b"", b"3i", b"T{i:a:}", b"x", b"w", b">i", b"O", b"\xff", b"i" * 300]


def draw_buffer(rng):
    shape, strides = draw_layout(rng)
    format_ = rng.choice(list(FORMATS))
    self = SimpleNamespace(
        shape=shape, ndim=len(shape), format=format_, itemsize=FORMATS[format_] % 256 // 8,
        readonly=rng.choice((0, 1, 7)), has_shape=True, has_strides=rng.random() < 0.8,
        suboffsets=None, address=2**40, is_there=False)
    self.strides = [stride * self.itemsize for stride in strides]
    self.length = None
    while rng.random() < 0.4:
        spoil_buffer(rng, self)
    if self.length is None:
        self.length = max(min(volume_of(self.shape) * self.itemsize, 2**63 - 1), -2**63)
    place_buffer(rng, self)
    return self


def spoil_buffer(rng, self):
    kind = rng.randrange(11)
    axis = rng.randrange(len(self.shape)) if self.shape else None
    if kind == 0:
        self.ndim = rng.choice((-1, -2**31, 65, 2**31 - 1))
    elif kind == 1:
        self.has_shape = False
    elif kind == 2 and axis is not None:
        self.shape[axis] = rng.choice((-1, -2**63, -2**62))
    elif kind == 3 and axis is not None:
        self.shape[axis] = rng.choice(LARGE)
    elif kind == 4 and axis is not None:  # far, or not a number of items
        self.shape[axis] = 2
        self.strides[axis] = rng.choice(EXTREMES) // self.itemsize * self.itemsize
    elif kind == 5 and axis is not None:
        self.strides[axis] = self.strides[axis] // 2 + 1
    elif kind == 6:
        self.format = rng.choice(WRONG_FORMATS)
    elif kind == 7:
        self.suboffsets = tuple(rng.choice((-1, 0, 8)) for _ in self.shape)
    elif kind == 8 and axis is not None:
        self.shape[axis], self.strides[axis] = rng.choice((0, 1)), rng.choice(EXTREMES)
    elif kind == 9:
        self.length = rng.choice((0, -1, -8, 16, 2**63 - 1, -2**63))
    elif kind == 10 and axis is not None:
        axes = range(len(self.shape))
        self.shape = [rng.choice((1, 2, 2**31, 2**62)) for _ in axes]
        self.strides = [rng.choice((-1, 1)) * 2**rng.randrange(3, 63) // self.itemsize
                        * self.itemsize for _ in axes]


def describe_buffer(self):
    """The shape, and the strides in bytes."""
    shape = self.shape
    if not self.has_shape:
        shape = [self.length // self.itemsize] if self.ndim == 1 else []
    strides = self.strides if self.has_strides else [
        stride * self.itemsize for stride in dense_strides(shape)]
    return shape, strides


def judge_buffer(self):
    """Returns True if it may be taken, and True if it may be refused."""
    if (not 0 <= self.ndim <= 64 or self.format not in FORMATS or self.length < 0
            or not self.has_shape and (self.ndim > 1 or self.length % self.itemsize)):
        return False, True
    shape, strides = describe_buffer(self)
    if any(extent < 0 for extent in shape):
        return False, True
    # All of them negative would mean the same as none at all.
    has_suboffsets = self.suboffsets is not None
    if has_suboffsets and any(suboffset >= 0 for suboffset in self.suboffsets):
        return False, True
    volume = volume_of(shape)
    fits = volume * self.itemsize < 2**63  # in the length: else there is no right one
    if fits and volume * self.itemsize != self.length and volume > 0:
        return False, True
    if volume == 0:
        return True, has_suboffsets or self.length != 0
    if any(extent > 1 and stride % self.itemsize for extent, stride in zip(shape, strides)):
        return False, True
    low, high = offset_bounds(shape, strides)
    if (self.address == 0 or volume >= 2**63 or high - low >= 2**63 or low < -2**63
            or high >= 2**63 or self.address + low < 1
            or self.address + high + self.itemsize > 2**64):
        return False, True
    return True, (has_suboffsets or not fits or low < -2**59 or high > 2**59
                  or self.address + high + self.itemsize >= 2**63)


def place_buffer(rng, self):
    may_succeed, _ = judge_buffer(self)
    if may_succeed:
        shape, strides = describe_buffer(self)
        low, high = offset_bounds(shape, strides)
        if volume_of(shape) > 0 and high - low + self.itemsize <= PAGE \
                and volume_of(shape) <= PAGE:
            self.is_there = True
            self.origin = (PAGE - high - self.itemsize if rng.random() < 0.7 else -low)
            self.address = ADDRESS + self.origin
            return
    if rng.random() < 0.3:
        self.address = rng.choice((0, 2**64 - 1, 2**64 - rng.randrange(1, 5000)))


def bytes_of(self):
    """Returns the bytes of the elements in C order, without gaps."""
    shape, strides = describe_buffer(self)
    places = [self.origin]
    for extent, stride in zip(shape, strides):
        places = [place + i * stride for place in places for i in range(extent)]
    return b"".join([CONTENTS[place:place + self.itemsize] for place in places])


def new_exporter(self):
    return Exporter(self.address, self.length, self.itemsize, self.readonly, self.ndim,
                    self.format, tuple(self.shape) if self.has_shape else None,
                    tuple(self.strides) if self.has_strides else None, self.suboffsets)


# --- Consumers

VERSIONS = [None, (0, 8), (1, 0), (1, 1), (1, 3), (1, 99), (2, 0), (2**31 - 1, 2**31 - 1)]
WANTED_DEVICES = [None, (1, 0), (1, 1), (2, 0), (99, -1), (-2**31, 2**31 - 1)]


def draw_request(rng):
    """Keywords of __dlpack__(), in any order."""
    values = {"max_version": rng.choice(VERSIONS), "copy": rng.choice((None, None, False, True)),
              "stream": rng.choice((None, -1)),
              "dl_device": rng.choice(WANTED_DEVICES[:2] * 3 + WANTED_DEVICES)}
    return {name: values[name] for name in rng.sample(sorted(values), rng.randrange(5))}


def expect_export(self, request):
    """Returns how the tensor goes out, if at all: as a copy or not, versioned or not, as
    docs/dlpack.md says of memory of the host."""
    version = request.get("max_version") or (0, 0)
    is_versioned, copy = version[0] >= 1, request.get("copy")
    is_here = request.get("dl_device") in (None, (1, 0))
    is_backwards = self.volume > 0 and any(
        extent > 1 and stride < 0 for extent, stride in zip(self.shape, self.all_strides))
    is_copy = copy is True or is_backwards
    goes_out = is_here and not (copy is False and is_copy)
    if not is_versioned:
        goes_out &= not self.is_padded and (not self.is_read_only or copy is True)
    if version < (1, 1):
        goes_out &= self.item_bits % 8 == 0
    return goes_out, is_copy, is_versioned


def bytes_at(self, address, strides):
    """The bytes of the elements in C order, from there. They are whole bytes."""
    offsets = [0]
    for extent, stride in zip(self.shape, strides):
        offsets = [offset + i * stride for offset in offsets for i in range(extent)]
    size = self.item_bits // 8
    return b"".join([ctypes.string_at(address + offset * size, size) for offset in offsets])
