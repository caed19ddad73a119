# SPDX-License-Identifier: LGPL-2.1-or-later
"""Odd safetensors files: at the edges of the format, or beyond them.

verdicts.csv says of each whether safetensors opens it, whether mtldl does, with the
values that its message has to say where it does not, and why where the two differ.
"""

import csv
import struct
from pathlib import Path
from typing import NamedTuple

VERDICTS = Path(__file__).parent / "verdicts.csv"
SUFFIX = ".safetensors"

# The largest header that the format allows.
LIMIT = 100_000_000


class Case(NamedTuple):
    name: str
    what: str
    content: bytes


class Verdict(NamedTuple):
    case: str
    what: str
    safetensors: str
    mtldl: str
    values: str
    why: str


def with_prefix(header, data=b"", size=None):
    header = header if isinstance(header, bytes) else header.encode()
    return struct.pack("<Q", len(header) if size is None else size) + header + data


def entry(dtype='"F32"', shape="[2]", offsets="[0,8]", more=""):
    return f'{{"dtype":{dtype},"shape":{shape},"data_offsets":{offsets}{more}}}'


def one(description, data):
    """A file of one tensor, “a”, described so."""
    return with_prefix(f'{{"a":{description}}}', data)


A = entry()
B = entry(offsets="[8,16]")
DATA = bytes(8)


def good_cases():
    yield "ok", "", one(A, DATA)
    yield "ok-empty-object", "no tensors", with_prefix("{}")
    yield "ok-metadata-only", "", with_prefix('{"__metadata__":{"k":"v"}}')
    yield "ok-metadata-empty", "", with_prefix(f'{{"__metadata__":{{}},"a":{A}}}', DATA)
    yield "ok-two", "", with_prefix(f'{{"a":{A},"b":{B}}}', DATA * 2)
    yield ("ok-order-reversed", "the order of the header is not that of the data",
           with_prefix(f'{{"b":{B},"a":{A}}}', DATA * 2))
    yield ("ok-fields-order", "data_offsets first",
           one('{"data_offsets":[0,8],"shape":[2],"dtype":"F32"}', DATA))
    yield "ok-scalar", "", one(entry(shape="[]", offsets="[0,4]"), bytes(4))
    yield "ok-zero-size", "", one(entry(shape="[0]", offsets="[0,0]"), b"")
    empty = entry(shape="[3,0]", offsets="[8,8]")
    yield ("ok-zero-size-between", "",
           with_prefix(f'{{"a":{A},"z":{empty},"b":{B}}}', DATA * 2))
    yield "ok-spaces-8", "padded to 8 bytes", with_prefix(f'{{"a":{A}}}' + " " * 7, DATA)
    yield ("ok-spaces-16384", "padded so that the data begins on a page of 16 KiB",
           with_prefix(f'{{"a":{A}}}'.ljust(16376), DATA))
    yield ("ok-trailing-newlines-tabs", "padded with other white space",
           with_prefix(f'{{"a":{A}}}\n\t\r ', DATA))
    yield ("ok-inner-whitespace", "",
           with_prefix('{\n "a" : { "dtype" :\t"F32", "shape" : [ 2 ], '
                       '"data_offsets" : [ 0 , 8 ] }\n}', DATA))
    yield "ok-name-empty", "an empty name", with_prefix(f'{{"":{A}}}', DATA)
    yield "ok-name-utf8", "", with_prefix(f'{{"é漢😀":{A}}}', DATA)
    yield ("ok-name-escapes", "",
           with_prefix(r'{"\u00e9\n\"\\\/\ud83d\ude00":%s}' % A, DATA))
    yield ("ok-escaped-keys", "the name of a field with an escape",
           with_prefix(r'{"a":{"d\u0074ype":"F32","shape":[2],"data_offsets":[0,8]}}', DATA))
    yield ("ok-escaped-metadata-key", "__metadata__ with an escape",
           with_prefix(r'{"\u005f_metadata__":{"k":"v"}}'))
    for dtype, bits in (("BOOL", 8), ("F4", 4), ("F6_E2M3", 6), ("F6_E3M2", 6), ("F8_E4M3", 8),
                        ("F8_E5M2", 8), ("F8_E8M0", 8), ("F8_E4M3FNUZ", 8), ("F8_E5M2FNUZ", 8),
                        ("I8", 8), ("I16", 16), ("U16", 16), ("F16", 16), ("BF16", 16),
                        ("U32", 32), ("C64", 64), ("I64", 64), ("U64", 64), ("F64", 64)):
        size = 4 * bits // 8
        yield f"ok-dtype-{dtype}", "", one(entry(f'"{dtype}"', "[4]", f"[0,{size}]"), bytes(size))
    yield ("bool-byte-2", "a bool that is neither 0 nor 1",
           one(entry('"BOOL"', "[1]", "[0,1]"), b"\2"))
    for n in (64, 65, 1000):
        yield (f"dims-{n}", f"{n} dimensions",
               one(entry('"U8"', "[" + ",".join("1" * n) + "]", "[0,1]"), b"\0"))


def frame_cases():
    yield "file-empty", "no bytes", b""
    yield "file-7-bytes", "7 bytes", b"\2\0\0\0\0\0\0"
    yield "header-0", "a header of no bytes", with_prefix("")
    yield "header-past-end", "a header of one byte more than there is", with_prefix("{}", size=3)
    yield "header-u64-max", "a header of 2⁶⁴ − 1 bytes", with_prefix("{}", size=2**64 - 1)
    yield "header-2^63", "a header of 2⁶³ bytes", with_prefix("{}", size=2**63)
    yield ("header-100000001", "a header above the limit, in a short file",
           with_prefix("{}", size=LIMIT + 1))
    yield ("header-100000000-short", "a header at the limit, in a short file",
           with_prefix("{}", size=LIMIT))
    yield "header-100000000", "a header at the limit, whole", with_prefix("{}".ljust(LIMIT))
    yield ("header-100000001-whole", "a header above the limit, whole",
           with_prefix("{}".ljust(LIMIT + 1)))
    text = f'{{"a":{A}}}'
    yield "header-leading-space", "a space before “{”", with_prefix(" " + text, DATA)
    yield "header-leading-newline", "a line feed before “{”", with_prefix("\n" + text, DATA)
    yield "header-bom", "a byte order mark before “{”", with_prefix("\ufeff" + text, DATA)
    yield "header-trailing-nul", "padded with NUL", with_prefix(text + "\0\0", DATA)
    yield "header-trailing-garbage", "something after it", with_prefix(text + "x", DATA)
    yield "header-two-objects", "a second object after it", with_prefix(text + "{}", DATA)
    yield "header-trailing-formfeed", "padded with a form feed", with_prefix(text + "\f", DATA)
    for name, header in (("array", "[]"), ("null", "null"), ("string", '"a"'),
                         ("spaces-only", "   ")):
        yield f"header-{name}", "no object", with_prefix(header)
    yield "header-cut", "no closing brace", with_prefix(text[:-1], DATA)
    yield "header-utf16", "", with_prefix('{"a":1}'.encode("utf-16-le"))


def data_cases():
    yield "data-short", "cut by one byte", one(A, bytes(7))
    yield "data-none", "cut after the header", one(A, b"")
    yield "data-long", "one byte after the last tensor", one(A, bytes(9))
    yield "data-without-tensors", "data of no tensor", with_prefix("{}", DATA)
    yield "hole-front", "", one(entry(offsets="[4,12]"), bytes(12))
    between, overlapping = entry(offsets="[9,17]"), entry(offsets="[4,12]")
    yield "hole-middle", "", with_prefix(f'{{"a":{A},"b":{between}}}', bytes(17))
    yield "overlap", "", with_prefix(f'{{"a":{A},"b":{overlapping}}}', bytes(12))
    yield ("overlap-same", "two names for the same bytes (tied weights)",
           with_prefix(f'{{"a":{A},"b":{A}}}', DATA))
    yield "offsets-reversed", "", one(entry(offsets="[8,0]"), DATA)
    yield "offsets-past-end", "", one(entry(shape="[4]", offsets="[0,16]"), DATA)
    yield "size-too-small", "", one(entry(shape="[1]"), DATA)
    yield "size-too-large", "", one(entry(shape="[3]"), DATA)
    yield "f4-odd", "12 bits in 1 byte", one(entry('"F4"', "[3]", "[0,1]"), bytes(1))
    yield "f4-odd-rounded-up", "12 bits in 2 bytes", one(entry('"F4"', "[3]", "[0,2]"), bytes(2))
    yield "f6-partial", "18 bits in 2 bytes", one(entry('"F6_E2M3"', "[3]", "[0,2]"), bytes(2))
    for name, what, shape in (
            ("shape-overflow", "2⁶⁴ elements", "[4294967296,4294967296]"),
            ("shape-overflow-bits", "2⁶¹ elements of 32 bits", "[2305843009213693952]"),
            ("shape-overflow-then-0", "a zero after what overflows", "[4294967296,4294967296,0]"),
            ("shape-0-then-huge", "a zero before what would overflow",
             "[0,4294967296,4294967296]"),
            ("shape-u64-max-0", "an extent of 2⁶⁴ − 1 beside a zero", "[0,18446744073709551615]"),
            ("shape-2^63-0", "an extent of 2⁶³ beside a zero", "[0,9223372036854775808]")):
        yield name, what, one(entry(shape=shape, offsets="[0,0]"), b"")
    yield "offset-u64-max", "", one(entry(offsets="[0,18446744073709551615]"), DATA)
    yield "offset-2^64", "", one(entry(offsets="[0,18446744073709551616]"), DATA)


def number_cases():
    for name, number in (("float", "2.0"), ("exponent", "2e0"), ("negative", "-2"),
                         ("leading-zero", "02"), ("plus", "+2"), ("hex", "0x2"),
                         ("string", '"2"'), ("null", "null"), ("nan", "NaN"), ("nested", "[2]"),
                         ("300-digits", "1" * 300)):
        what = "300 digits" if name == "300-digits" else f"{number} as an extent"
        yield f"num-{name}", what, one(entry(shape=f"[{number}]"), DATA)
    yield "num-minus-zero", "-0 as an extent", one(entry(shape="[-0]", offsets="[0,0]"), b"")
    yield ("num-octal-8", "010 as an extent, and data for 8",
           one(entry(shape="[010]", offsets="[0,32]"), bytes(32)))
    yield "num-true", "true as an extent", one(entry(shape="[true]", offsets="[0,4]"), bytes(4))


def entry_cases():
    for name, what, description in (
            ("entry-null", "", "null"),
            ("entry-string", "", '"F32"'),
            ("entry-empty", "no fields", "{}"),
            ("entry-array", "the fields as an array", '["F32",[2],[0,8]]'),
            ("entry-no-dtype", "", '{"shape":[2],"data_offsets":[0,8]}'),
            ("entry-no-shape", "", '{"dtype":"F32","data_offsets":[0,8]}'),
            ("entry-no-offsets", "", '{"dtype":"F32","shape":[2]}'),
            ("entry-extra-field", "an unknown field", entry(more=',"x":[1,{"y":null}]')),
            ("entry-extra-dup", "an unknown field twice", entry(more=',"x":1,"x":2')),
            ("entry-dup-field", "a known field twice", entry(more=',"dtype":"F32"')),
            ("entry-shape-null", "", entry(shape="null")),
            ("entry-shape-object", "", entry(shape="{}")),
            ("entry-offsets-1", "one offset", entry(offsets="[0]")),
            ("entry-offsets-3", "three offsets", entry(offsets="[0,8,8]")),
            ("entry-offsets-object", "", entry(offsets='{"0":0,"1":8}')),
            ("dtype-unknown", "a dtype that is not known, F128", entry('"F128"')),
            ("dtype-lower", "a dtype in lower case", entry('"f32"')),
            ("dtype-torch-name", "a dtype by its name in PyTorch", entry('"float32"')),
            ("dtype-null", "", entry("null")),
            ("dtype-number", "the dtype by its number in the library", entry("17")),
            ("dtype-map", "the dtype as an object", entry('{"F32":null}')),
            ("dtype-empty", "an empty dtype", entry('""')),
            ("dtype-escaped", "the dtype with an escape", entry(r'"F\u00332"'))):
        yield name, what, one(description, DATA)


def duplicate_cases():
    yield "dup-same", "a name twice, described alike", with_prefix(f'{{"a":{A},"a":{A}}}', DATA)
    yield ("dup-other-range", "a name twice, for two ranges",
           with_prefix(f'{{"a":{A},"a":{B}}}', DATA * 2))
    wrong, other = entry(offsets="[4,12]"), entry('"I32"')
    yield ("dup-first-wrong", "a name twice, of which only the last is right",
           with_prefix(f'{{"a":{wrong},"a":{A}}}', DATA))
    yield ("dup-first-other-dtype", "a name twice, with two dtypes",
           with_prefix(f'{{"a":{other},"a":{A}}}', DATA))
    yield ("dup-escaped", "a name twice, once with an escape",
           with_prefix(r'{"a":%s,"\u0061":%s}' % (A, A), DATA))
    yield ("dup-metadata", "__metadata__ twice",
           with_prefix('{"__metadata__":{"k":"1"},"__metadata__":{"k":"2"},"a":%s}' % A, DATA))
    yield ("dup-metadata-key", "a key of __metadata__ twice",
           with_prefix('{"__metadata__":{"k":"1","k":"2"},"a":%s}' % A, DATA))
    yield ("dup-nfc-nfd", "two names that are one when normalised",
           with_prefix(r'{"é":%s,"e\u0301":%s}' % (A, B), DATA * 2))


def metadata_cases():
    for name, value in (("null", "null"), ("number-value", '{"k":1}'),
                        ("null-value", '{"k":null}'), ("nested", '{"k":{"x":"y"}}'),
                        ("array", "[]"), ("string", '"x"')):
        yield (f"meta-{name}", f"__metadata__ is {value}",
               with_prefix(f'{{"__metadata__":{value},"a":{A}}}', DATA))
    yield "meta-is-tensor", "a tensor of that name", with_prefix(f'{{"__metadata__":{A}}}', DATA)
    yield "meta-last", "", with_prefix('{"a":%s,"__metadata__":{"k":"v"}}' % A, DATA)
    yield ("meta-long", "a value of 100,000 bytes",
           with_prefix('{"__metadata__":{"k":"%s"},"a":%s}' % ("x" * 100000, A), DATA))


def string_cases():
    for name, what, text in (
            ("str-nul-escape", "U+0000 in a name", r"a\u0000b"),
            ("str-nul-raw", "a NUL in a name", "a\0b"),
            ("str-control-raw", "a line feed in a name", "a\nb"),
            ("str-del-raw", "U+007F in a name", "a\x7fb"),
            ("str-surrogate-high", "the first half of a pair", r"\ud800"),
            ("str-surrogate-low", "the second half of a pair", r"\udc00"),
            ("str-surrogate-swapped", "the halves of a pair the wrong way round", r"\udc00\ud800"),
            ("str-bad-escape", "", r"\x41"),
            ("str-bad-hex", "", r"\u00g0"),
            ("utf8-noncharacter", "U+FFFF in a name", "\uffff"),
            ("name-slash-dots", "a name that would be a path", "../../etc/x")):
        yield name, what, with_prefix(f'{{"{text}":{A}}}', DATA)
    yield ("str-nul-escape-metadata", "U+0000 in the metadata",
           with_prefix(r'{"__metadata__":{"k":"\u0000"},"a":%s}' % A, DATA))
    yield ("str-nul-two-names", "two names that are the same up to U+0000",
           with_prefix(r'{"a\u0000x":%s,"a\u0000y":%s}' % (A, B), DATA * 2))
    yield "str-single-quotes", "", with_prefix(f"{{'a':{A}}}", DATA)
    yield "str-unquoted", "", with_prefix(f"{{a:{A}}}", DATA)
    for name, what, text in (
            ("utf8-invalid", "", b"\xff"),
            ("utf8-overlong", "“/” in two bytes", b"\xc0\xaf"),
            ("utf8-surrogate", "half of a pair, as CESU-8 has it", b"\xed\xa0\x80"),
            ("utf8-above-10ffff", "", b"\xf4\x90\x80\x80"),
            ("utf8-cut", "two bytes of three", b"\xe6\xbc")):
        yield name, what, with_prefix(b'{"' + text + b'":' + A.encode() + b"}", DATA)


def grammar_cases():
    for name, header in (
            ("trailing-comma", f'{{"a":{A},}}'),
            ("trailing-comma-array", '{"a":%s}' % entry(shape="[2,]")),
            ("leading-comma", f'{{,"a":{A}}}'),
            ("missing-colon", f'{{"a" {A}}}'),
            ("comment-c", f'{{/* x */"a":{A}}}'),
            ("comment-line", f'{{"a":{A}// x\n}}'),
            ("comment-hash", f'{{# x\n"a":{A}}}'),
            ("var", f'var x = {{"a":{A}}};'),
            ("semicolon", f'{{"a":{A}}};'),
            ("literal-case", f'{{"a":{A},"__metadata__":NULL}}')):
        yield f"json-{name}", "", with_prefix(header, DATA)
    yield "json-missing-comma", "", with_prefix(f'{{"a":{A} "b":{B}}}', DATA * 2)
    yield "json-tensor-true", "", with_prefix('{"a":true}')
    for n in (100, 125, 126, 2000, 3000, 1_000_000):
        yield (f"depth-{n}", f"{n} arrays in each other in an unknown field",
               one(entry(more=',"x":' + "[" * n + "]" * n), DATA))
    yield ("depth-open-1000000", "1000000 arrays in each other that are never closed",
           one(entry(more=',"x":' + "[" * 1_000_000), DATA))


def cases():
    for group in (good_cases, frame_cases, data_cases, number_cases, entry_cases,
                  duplicate_cases, metadata_cases, string_cases, grammar_cases):
        for case in group():
            yield Case(*case)


def verdicts():
    """Returns the verdicts by the names of the cases."""
    with open(VERDICTS, newline="", encoding="utf-8") as file:
        return {row["case"]: Verdict(**row) for row in csv.DictReader(file)}
