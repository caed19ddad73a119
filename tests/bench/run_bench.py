# SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: ./run bench [NAME [ARGUMENT…]]

Measures against the peers; without a name, everything but paintable, which measures pictures that
change all the time, in a window, and cuda, which needs a GPU of NVIDIA. The names are exchange,
metal, cuda, python, mpi, clusters, processes, layout, copy, random, convert, statistics, files and
paintable. These take arguments:

  copy --page docs/performance.md   rewrites that page and its picture
  random [--cases N] [--seed S] [--same | --convert] [--page docs/performance.md]
                                    measures layouts drawn at random, some minutes by default, and
                                    rewrites that page's section and its picture
  random --case TEXT                measures one of those, as it was printed
  cuda [--cases N] [--seed S]       draws so many layouts, besides those that are known
  cuda --case TEXT                  measures one of those, as it was printed
"""

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'maintainer'))
import builds  # noqa: E402
import cuda_device  # noqa: E402

BUILD = builds.folder_of()
PROGRAMS = BUILD / 'tests' / 'bench'
METAL = builds.folder_of('metal') / 'tests' / 'bench' / 'bench-metal'

# The subject of each benchmark, and its commands. Scripts run with the pinned peers.
BENCHMARKS = {
    'exchange': ('An exchange in C', [[PROGRAMS / 'bench-exchange']]),
    'metal': ('The Metal device, over the double', [[METAL]]),
    'cuda': ("A GPU of NVIDIA, against its driver's copies and the peers", [['bench_cuda.py']]),
    'python': ('Python against its peers', [['bench_python.py']]),
    'mpi': ('MPI: views in place, and packed',
            [[builds.VENV / 'bin' / 'mpirun', '-n', '2', builds.VENV / 'bin' / 'python',
              'tests/bench/bench_mpi.py'],
             *([f'mpirun.{name}', '-n', '2', PROGRAMS / f'bench-mpi-{name}']
               for name in ('openmpi', 'mpich') if shutil.which(f'mpirun.{name}'))]),
    'clusters': ("Dask and Ray: views, NumPy's arrays, and pickles",
                 [[builds.VENV / 'clusters' / 'bin' / 'python', 'tests/bench/bench_clusters.py']]),
    'processes': ('Tensors handed to another process, in C and in Python',
                  [[PROGRAMS / 'bench-processes'], [PROGRAMS / 'bench-dbus'],
                   ['bench_processes.py']]),
    'layout': ('Layouts, in C and from Python, against their peers',
               [[PROGRAMS / 'bench-layout'], ['bench_layout.py']]),
    'copy': ('Copies between layouts, against memcpy() and the peers', [['bench_copy.py', BUILD]]),
    'random': ('Copies and conversions of random layouts, against the better peer',
               [['bench_random.py', BUILD]]),
    'convert': ('Conversions against NumPy and PyTorch', [['bench_convert.py']]),
    'statistics': ('Statistics and scaled copies against NumPy', [['bench_statistics.py']]),
    'files': ('Files of tensors against safetensors and PyTorch',
              [['bench_files.py', BUILD], ['bench_files_write.py']]),
    'paintable': ('Pictures that change all the time',
                  [[PROGRAMS / 'bench-paintable'], [PROGRAMS / 'bench-paintable', '--native']]),
}


def measure(name, arguments):
    title, commands = BENCHMARKS[name]
    build = 'metal' if name == 'metal' else ''
    builds.build(build, 'bench')
    builds.say(title)
    if name == 'copy' and '--page' in arguments:
        builds.run([builds.venv(), '-m', 'pip', 'install', '--quiet', '--requirement',
                    'tests/bench/requirements.txt'])
    for program, *more in commands:
        command = [program]
        if str(program).endswith('.py'):
            command = [builds.venv(), ROOT / 'tests' / 'bench' / program]
        elif name in ('mpi', 'clusters'):
            builds.venv('peers' if name == 'mpi' else name)
        builds.run([*command, *more, *arguments], env=builds.environment(build) | {
            'METAL_DOUBLE': 'unified', 'OMPI_ALLOW_RUN_AS_ROOT': '1',
            'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1'} if name in ('metal', 'mpi')
            else builds.environment())


def main(name=None, *arguments):
    if name in ('-h', '--help'):
        print(__doc__)
        return
    if name and name not in BENCHMARKS:
        sys.exit(__doc__)
    if name in ('metal', 'processes') and sys.platform != 'linux':
        sys.exit(f'./run bench {name} only works on Linux.')
    if name == 'cuda':
        try:
            print('%s, CUDA %s' % cuda_device.find_gpu())
        except cuda_device.Missing as error:
            sys.exit(f'./run bench cuda needs a GPU of NVIDIA, but {error}.')
    builds.build()
    for one in [name] if name else BENCHMARKS:
        only_linux = one in ('metal', 'processes') and sys.platform != 'linux'
        if name or one not in ('paintable', 'cuda') and not only_linux:
            measure(one, arguments)


if __name__ == '__main__':
    try:
        main(*sys.argv[1:])
    except builds.Failed:
        sys.exit(1)
