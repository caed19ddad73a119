#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks where the library may run out of memory: test_allocations.py

GLib ends the program if one of its allocations fails. That is fine for small memory, but if a
caller or a file decides the size, the memory has to come from g_try_…(), malloc() or mmap(), so
that a failure is an error. allocations.txt lists the other calls that compute a size or make
something grow, with the reasons.
"""

import collections
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LIST = Path(__file__).with_name('allocations.txt')

FOLDERS = ['mtldl', 'bridges', 'introspection/python']

# Calls that end the program.
ABORTING = re.compile(r'''\b(?:
    g_new0? | g_renew | g_malloc0?(?:_n)? | g_realloc(?:_n)? | g_memdup2? | g_aligned_alloc\w*
    | g_newa0? | g_alloca0? | alloca | g_slice_(?:alloc|copy|new|dup)\w*
    | g_(?:atomic_)?rc_box_(?:alloc|dup|new)\w* | g_ref_string_new\w*
    | g_str(?:dup\w* | ndup | nfill | concat | join\w* | split\w* | escape | compress)
    | g_build_\w+ | g_strv_builder_add\w* | g_utf8_str(?:up|down|reverse)
    | g_(?:string|byte_array|array|ptr_array)_(?:new|sized_new|append|prepend|insert|add|
                                                 set_size|overwrite|printf|extend|copy)\w*
    | g_string_v?printf | g_(?:hash_table|tree)_(?:insert|replace|add|get_keys|get_values)\w*
    | g_s?list_(?:append|prepend|insert|copy)\w* | g_queue_(?:push|insert|copy)\w*
    | g_bytes_new | g_variant_new\w* | g_variant_builder_add\w*
    | g_value_set_string | g_pattern_spec_new
  )(?=\ \()''', re.VERBOSE)
# Calls that report a failure.
TRYING = re.compile(r'\b(?:g_try_\w+|malloc|calloc|realloc|aligned_alloc|mmap|PyMem_\w*New)(?= \()')

CONSTANT = re.compile(r'[A-Z][A-Z0-9_]*|\d+|sizeof\b.*|NULL|"(?:[^"\\]|\\.)*"')

Call = collections.namedtuple('Call', 'path function name')


def without_comments(text):
    """Replaces comments by spaces."""
    return re.sub(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"',
                  lambda m: m[0] if m[0][0] == '"' else re.sub(r'[^\n]', ' ', m[0]), text,
                  flags=re.DOTALL)


def arguments_of(text, begin):
    """Returns the arguments of a call whose parenthesis opens at begin."""
    arguments, depth, start = [], 0, begin + 1
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|[(),]', text[begin:]):
        at = begin + match.start()
        if match[0] == '(':
            depth += 1
        elif match[0] == ')':
            depth -= 1
        if depth == 0 or (depth == 1 and match[0] == ','):
            arguments.append(' '.join(text[start:at].split()))
            start = at + 1
        if depth == 0:
            return arguments
    return arguments


def is_fixed(name, arguments):
    """True if a call always allocates the same size, and makes nothing grow."""
    if name.startswith(('g_new', 'g_slice_new')):
        arguments = arguments[1:]
    elif name in ('g_memdup2', 'g_strdup', 'g_string_new', 'g_malloc', 'g_malloc0'):
        arguments = arguments[-1:]
    elif re.fullmatch(r'g_ptr_array_new\w*', name):
        return True
    else:
        return False
    return all(CONSTANT.fullmatch(argument) for argument in arguments)


def functions_of(text):
    """Returns where functions and macros begin, and their names."""
    return [(match.start(), match[1] or match[2])
            for match in re.finditer(r'^(?:#\s*define (\w+)|(\w+) \()', text, re.MULTILINE)]


def calls_in(path, text):
    """Returns the calls of a source: those that report a failure, of a fixed size, and others."""
    text = without_comments(text)
    functions = functions_of(text)
    trying, fixed, others = [], [], []
    for match in re.finditer(f'{TRYING.pattern}|(?P<aborting>(?x:{ABORTING.pattern}))', text):
        function = [name for at, name in functions if at <= match.start()][-1:] or ['']
        call = Call(path, function[0], match[0])
        if call.name == call.function:
            continue
        if not match['aborting']:
            trying.append(call)
        elif is_fixed(match[0], arguments_of(text, match.end() + 1)):
            fixed.append(call)
        else:
            others.append(call)
    return trying, fixed, others


def read_list():
    """Returns the calls that may end the program, with the reasons."""
    reasons, reason = {}, None
    for line in LIST.read_text().splitlines():
        if line.startswith('  '):
            path, function, *names = line.split()
            for name in names:
                reasons[Call(path, function, name)] = reason
        elif line and not line.startswith('#'):
            reason = line
    return reasons


def sources():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob('*')):
            if path.suffix in ('.c', '.h', '.m'):
                yield path.relative_to(ROOT).as_posix(), path.read_text()


def check_checks():
    text = '''
static void
work (void)
{
  /* g_new (int, n) */
  a = g_new (Thing, 1);
  b = g_strdup ("fixed");
  c = g_new (int, f (n, 2));
  g_string_append (string, text);
  d = g_try_new (int, n);
}
'''
    trying, fixed, others = calls_in('x.c', text)
    assert [call.name for call in trying] == ['g_try_new'], trying
    assert [call.name for call in fixed] == ['g_new', 'g_strdup'], fixed
    assert others == [Call('x.c', 'work', 'g_new'), Call('x.c', 'work', 'g_string_append')], others


def main():
    check_checks()
    reasons, found = read_list(), set()
    counts = collections.defaultdict(lambda: [0, 0, 0])
    for path, text in sources():
        folder = path.rpartition('/')[0]
        trying, fixed, others = calls_in(path, text)
        for i, calls in enumerate((trying, fixed, others)):
            counts[folder][i] += len(calls)
        found |= set(others)

    print('| folder | may fail | fixed size | listed |\n|---|---|---|---|')
    for folder, numbers in counts.items():
        if any(numbers):
            print(f'| {folder}/ | {" | ".join(map(str, numbers))} |')
    for call in sorted(found - set(reasons)):
        print(f'{call.path}: {call.function}() calls {call.name}(), which ends the program if '
              f'there is no memory. Use g_try_…(), or list it in {LIST.name} with the reason')
    for call in sorted(set(reasons) - found):
        print(f'{LIST.name} lists {call.name}() in {call.function}() of {call.path}, which is gone')
    return found != set(reasons)


if __name__ == '__main__':
    sys.exit(main())
