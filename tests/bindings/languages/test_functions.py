# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls each function of the GIR from Lua, Ruby and Perl: they return the same, or say the same
about what went wrong. The bindings were written apart, so each checks the others.
"""

import pathlib

from conftest import need, run
from functions import have_results, write_calls

HERE = pathlib.Path(__file__).parent

PROGRAMS = {'lua': 'lua5.3', 'pl': 'perl', 'rb': 'ruby'}

# These are missing, as docs/other-languages.md says of Ruby …
RUBY_LACKS = {'StridedLayout.flatten_mask', 'StridedView.new_from_variant',
              'TensorFile.load_views', 'TensorFile.load_views_async'}

# … and of Perl.
PERL_LACKS = {'TensorFileEntry.get_error'}

# Addresses, sizes and memory that is not set; lgi leaves out a TRUE before other results.
DIFFER = {'Buffer.hash', 'StridedView.get_address', 'StridedView.get_complex', 'StridedView.hash',
          'StridedView.new_uninitialized', 'StridedView.new_zeros_like', '.get_allocated_size'}

FAIL = {'StridedView.new_from_metal_tensor', 'StridedView.to_metal_tensor'}


def results_of(gir, suffix, folder):
    """Returns {function: what it printed}. Lua writes enumerations in capitals."""
    program = folder / f'functions.{suffix}'
    prelude = (HERE / f'prelude.{suffix}').read_text(encoding='utf-8')
    calls = list(write_calls(gir, suffix))
    program.write_text(prelude + '\n'.join(calls) + '\n', encoding='utf-8')
    lines = run(folder, PROGRAMS[suffix], str(program)).lower().splitlines()
    assert len(lines) == len(calls) > 200
    return {call.split("'")[1]: line.partition(': ')[2] for call, line in zip(calls, lines)}


def test_functions(gir, tmp_path):
    need(*PROGRAMS.values())
    lua, perl, ruby = (results_of(gir, suffix, tmp_path) for suffix in PROGRAMS)
    results = have_results(gir)

    assert {name for name in lua if lua[name].startswith(('error', 'raised'))} == FAIL
    assert {name for name in perl if perl[name].startswith(('error', 'raised'))} \
        == FAIL | PERL_LACKS
    assert {name for name in ruby if ruby[name].startswith(('error', 'raised'))} \
        == FAIL | RUBY_LACKS
    for name in (results | FAIL) & lua.keys() - DIFFER:
        assert perl[name] == lua[name] or name in PERL_LACKS, name
        assert ruby[name] == lua[name] or name in RUBY_LACKS, name
