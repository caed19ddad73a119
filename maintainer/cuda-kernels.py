#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: cuda-kernels.py                 makes the PTX of the kernels for CUDA anew
       cuda-kernels.py --check         says if the files in the tree are up to date
       cuda-kernels.py --ptxas FOLDER  assembles them for every GPU that a ptxas below the folder
                                       knows, prints what they take, and fails if a kernel spills

The compiler is clang 19, or the one that CUDA_CLANG names; it needs nothing of NVIDIA's. All
drivers from CUDA 11.2 on take PTX 6.0 for sm_50. ptxas, which is in the wheel nvidia-cuda-nvcc, is
only needed to check.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / 'mtldl' / 'devices' / 'cuda-kernels'
CLANG = os.environ.get('CUDA_CLANG', 'clang-19')
COMMAND = [CLANG, '-x', 'cuda', '--cuda-device-only', '--cuda-gpu-arch=sm_50',
           '--cuda-feature=+ptx60', '-nocudainc', '-nocudalib', '-std=c++17', '-O2',
           '-ffp-contract=off', '-fno-unroll-loops', '-Wall', '-Wextra', '-Werror',
           '-Wno-unused-function', '-Wno-unused-variable', '-Wno-unknown-cuda-version', '-S']

# The most bytes of all files, and of the modules that a first copy, fill or conversion takes.
MOST = 2_600_000
MOST_AT_FIRST = 300_000

# Kernels that spill a register on some GPUs, and these
MAY_SPILL = {'tile_2': {70, 72}}


class Failed(Exception):
    pass


def pairs():
    """The conversions between common types, as the header lists them."""
    text = (FOLDER / 'mtl-cuda-parameters.h').read_text()
    text = text[text.index('#define MTL_CUDA_PAIRS_OF'):]
    with_real, _, plain = text.partition('#define MTL_CUDA_PAIRS(X)')
    entries = re.findall(r'X \((\w+), (\w+)\)', plain)
    found = [entry for entry in entries if entry[0] != 'X']
    for real in re.findall(r'MTL_CUDA_PAIRS_OF \(X, (\w+)\)', plain):
        for source, dest in re.findall(r'X \((\w+), (\w+)\)', with_real):
            found.append((real if source == 'real' else source, real if dest == 'real' else dest))
    return found


def modules():
    """The names of the modules, each with its source and the definitions it takes."""
    found = {source.stem.replace('-', '_'): (source, [])
             for source in sorted(FOLDER.glob('*.cu')) if source.stem not in ('copy', 'convert')}
    for size in (1, 2, 4, 8, 16):
        found[f'copy_{size}'] = (FOLDER / 'copy.cu', [f'-DN_BYTES={size}'])
    for source, dest in pairs():
        found[f'convert_{source}_{dest}'] = (FOLDER / 'convert.cu',
                                             [f'-DFROM={source}', f'-DTO={dest}'])
    return found


def shorten(text):
    """Leaves out what only people read: four fifths of the size remain."""
    text = re.sub(r'\b\w+_param_(\d+)\b', r'p\1', text)
    text = re.sub(r'\$L__BB(\d+_\d+)', r'L\1', text)
    lines = (re.sub(r'\s*//.*', '', line) for line in text.splitlines())
    lines = (re.sub(r'[ \t]+', ' ', line).strip() for line in lines)
    return ('// Made by maintainer/cuda-kernels.py\n' + '\n'.join(line for line in lines if line)
            + '\n')


def compile_module(source, definitions):
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / 'module.ptx'
        done = subprocess.run([*COMMAND, *definitions, str(source), '-o', str(result)],
                              stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise Failed(f'{source.name} {" ".join(definitions)}:\n{done.stderr}')
        return shorten(result.read_text())


def compile_all():
    found = modules()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        texts = pool.map(lambda module: compile_module(*module), found.values())
        return dict(zip(found, texts))


def check_sizes(texts):
    total = sum(map(len, texts.values()))
    conversions = max(len(text) for name, text in texts.items() if name.startswith('convert_'))
    copies = len(texts['rows']) + max(len(text) for name, text in texts.items()
                                      if name.startswith('copy_'))
    print(f'{len(texts)} modules, {total / 1000:.0f} kB; until a first copy at most '
          f'{copies / 1000:.0f}, fill {len(texts["fill"]) / 1000:.0f}, '
          f'conversion {conversions / 1000:.0f} kB')
    if total > MOST or max(copies, conversions) > MOST_AT_FIRST:
        raise Failed('The modules are too large')
    for name, text in texts.items():
        if '.local' in text:
            raise Failed(f'{name} has local memory')


def make_list(names):
    """The list of the modules, which become part of the library."""
    lines = ''.join(f'    <file compressed="true">{name}</file>\n' for name in sorted(names))
    return ('<?xml version="1.0" encoding="UTF-8"?>\n'
            '<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->\n'
            '<gresources>\n'
            '  <gresource prefix="/org/mtldl/cuda-kernels">\n'
            f'{lines}  </gresource>\n'
            '</gresources>\n')


def make_files(texts):
    files = {f'{name}.ptx': text for name, text in texts.items()}
    return files | {'cuda-kernels.gresource.xml': make_list(files)}


def find_outdated(files):
    there = {path.name: path.read_text() for pattern in ('*.ptx', '*.xml')
             for path in FOLDER.glob(pattern)}
    return sorted(name for name in there.keys() | files.keys()
                  if there.get(name) != files.get(name))


def write(files):
    for name in find_outdated(files):
        if name in files:
            (FOLDER / name).write_text(files[name])
        else:
            (FOLDER / name).unlink()


def check(files):
    wrong = find_outdated(files)
    if wrong:
        raise Failed('Not up to date, run maintainer/cuda-kernels.py: ' + ', '.join(wrong))


def get_architectures(ptxas):
    text = subprocess.run([ptxas, '--help'], check=True, capture_output=True, text=True).stdout
    text = text[text.index('--gpu-name'):]
    text = text[text.index('Allowed values'):]
    text = text[:text.index('Default')]
    return sorted(map(int, set(re.findall(r"'sm_(\d+)'", text))))


def assemble(ptxas, path, architecture):
    """Returns the numbers of registers and of bytes for each kernel."""
    done = subprocess.run([ptxas, f'-arch=sm_{architecture}', '-v', path, '-o', '/dev/null'],
                          stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    if done.returncode != 0:
        raise Failed(f'{path.name} for sm_{architecture}:\n{done.stderr}')

    found = {}
    for part in done.stderr.split('Compiling entry function ')[1:]:
        name = re.match(r"'(\w+)'", part)[1]
        spills = re.search(r'(\d+) bytes spill stores, (\d+) bytes spill loads', part)
        found[name] = (int(re.search(r'Used (\d+) registers', part)[1]),
                       max(int(spills[1]), int(spills[2])))
    return found


def assemble_all(folder):
    programs = sorted(Path(folder).rglob('ptxas'))
    if not programs:
        raise Failed(f'There is no ptxas below {folder}')

    spilling = []
    for ptxas in programs:
        os.chmod(ptxas, 0o755)
        architectures = get_architectures(ptxas)
        jobs = [(path, architecture) for path in sorted(FOLDER.glob('*.ptx'))
                for architecture in architectures]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda job: assemble(ptxas, *job), jobs))
        registers, spills = {}, {}
        for (path, architecture), found in zip(jobs, results):
            for name, (n, spilled) in found.items():
                registers.setdefault(name, {})[architecture] = n
                if spilled:
                    spills.setdefault(name, {})[architecture] = spilled
        print(f'{ptxas}: sm_{", ".join(map(str, architectures))}')
        for name, each in sorted(registers.items()):
            line = f'  {name}: {min(each.values())} to {max(each.values())} registers'
            if name in spills:
                line += ', spills ' + ', '.join(f'{n} bytes on sm_{architecture}'
                                                for architecture, n in spills[name].items())
                if not spills[name].keys() <= MAY_SPILL.get(name, set()):
                    spilling.append(name)
            print(line)
    if spilling:
        raise Failed('Kernels spill: ' + ', '.join(sorted(set(spilling))))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.partition('usage: ')[2])
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--ptxas', metavar='FOLDER')
    arguments = parser.parse_args()
    try:
        if not arguments.ptxas or arguments.check:
            texts = compile_all()
            check_sizes(texts)
            (check if arguments.check else write)(make_files(texts))
        if arguments.ptxas:
            assemble_all(arguments.ptxas)
    except Failed as error:
        sys.exit(f'cuda-kernels.py: {error}')


if __name__ == '__main__':
    main()
