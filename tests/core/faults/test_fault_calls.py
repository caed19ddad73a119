# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: test_fault_calls.py LIBRARY NAME…: whether all that a library calls of the system
is among the names, or is known to have nothing to do with files and large memory."""

import re
import subprocess
import sys

OTHERS = set("""
    __cxa_finalize __errno_location __memcpy_chk __memmove_chk __memset_chk __register_atfork
    __stack_chk_fail fma free hypot ldexp memchr memcmp memcpy memmove memset nextafter qsort sqrt strchr
    strcmp strcspn strlen strncmp strrchr strstr strtol sysconf
""".split())

# A library that cannot be opened, or lacks functions, is no device: tests/cuda/ tries that.
OTHERS |= {"dlopen", "dlsym"}

# The compiler chooses between these.
GLIB_ALLOCATIONS = {"g_try_malloc", "g_try_malloc0", "g_try_malloc_n", "g_try_malloc0_n"}

# GLib's functions for files, and for users of sockets.
GLIB_FILE_CALLS = re.compile(
    r"g_(access|chdir|chmod|close|creat|dir_\w+|file_(?!get_|info_|new_for_|peek_)\w+|fopen|fsync|"
    r"lstat|mapped_file_\w+|mkdir\w*|mkstemp\w*|mkdtemp\w*|open|remove|rename|rmdir|stat|"
    r"socket_get_credentials|unlink|unix_(?!fd_list_(get_|new|peek_))\w+|utime|\w+_stream_\w+|"
    r"try_\w+)")


def read_imports(library):
    lines = subprocess.run(["nm", "-D", "--undefined-only", library], check=True, text=True,
                           capture_output=True).stdout.split("\n")
    return {line.split()[-1] for line in lines if line}


def main(library, *names):
    imports = read_imports(library)
    calls = {name.partition("@")[0] for name in imports if "@GLIBC" in name}
    calls |= {name for name in imports if GLIB_FILE_CALLS.fullmatch(name)}
    assert "open64" in calls, "the library opens files"

    left_out, not_called = calls - OTHERS - set(names), set(names) - calls - GLIB_ALLOCATIONS
    for name in sorted(left_out):
        print(f"{name} is called, and no test lets it fail: tests/core/faults/ has to know it")
    for name in sorted(not_called):
        print(f"{name} can fail in tests/core/faults/, and is never called")
    return bool(left_out or not_called)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
