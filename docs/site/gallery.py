# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the pages of the examples: their code, and the pictures and texts that they make.

The texts are those that the tests of the examples compare with, the pictures are taken by
`./run screenshot`. The page of another example also belongs in docs/mtldl.toml.in, as do its
pictures, and its files in docs/meson.build.
"""

import html
import re
from dataclasses import dataclass, field

LANGUAGES = {'c': 'C', 'python': 'Python', 'js': 'JavaScript', 'vala': 'Vala',
             'objc': 'Objective-C', 'lua': 'Lua', 'ruby': 'Ruby', 'perl': 'Perl', 'd': 'D'}
LINES_OF_CARD = 8


@dataclass
class Example:
    name: str                 # its page is example-NAME
    title: str
    summary: str              # one line of Markdown
    sources: dict = field(default_factory=dict)     # {language: path}, from the root
    command: str = ''
    texts: dict = field(default_factory=dict)       # {what it is: path}
    pictures: dict = field(default_factory=dict)    # {file of docs/: what it shows}
    route: str = ''           # the text on the card of an example without pictures and texts
    page: str = ''            # a guide instead of a page of its own

    def address(self):
        return self.page or f'example-{self.name}.html'


EXAMPLES = [
    Example('picture', 'One picture, four languages',
            'Loads a picture with GdkPixbuf, changes it in place through a view, and passes it to '
            'GTK. In the lower half red and blue are exchanged, in the very memory of the picture.',
            {'c': 'examples/c/picture.c', 'python': 'examples/python/picture.py',
             'js': 'examples/gjs/picture.js', 'vala': 'examples/vala/picture.vala'},
            './run exec python3 examples/python/picture.py IN OUT',
            pictures={
                'example-picture-before.png': 'Blue hills under a sky',
                'example-picture.png': 'The same hills. Below a white line they are brown.'}),
    Example('demo', 'Hop by hop',
            'Runs the picture through the four programs, checks that the pixels stay where they '
            'are, and measures each hop against the same hop with a copy.',
            {'python': 'examples/demo.py'}, './run demo',
            route='GdkPixbuf → view → NumPy\n  → view → GdkPixbuf'),
    Example('demo-video', 'Frames of a video',
            'Inverts some rows of each frame with NumPy, in the memory that GStreamer has for it, '
            'and measures that against ways that copy the frames.',
            {'python': 'examples/demo_video.py'}, './run exec python3 examples/demo_video.py',
            route='GStreamer → view → NumPy'),
    Example('demo-processes', 'From one program to another',
            'Paints pictures with NumPy, and shows them in the window of a program in JavaScript, '
            'in the memory in which they were painted.',
            {'python': 'examples/demo_processes.py', 'js': 'examples/gjs/frames.js'},
            './run demo --processes', route='NumPy → view → gjs\n  → view → GTK'),
    Example('video', 'A live filter',
            'Inverts half of each frame of a video or a camera, shows it with GTK, and records it. '
            'In C, Python and Vala all of that happens in the memory that the source wrote.',
            {'c': 'examples/c/video.c', 'python': 'examples/python/video.py',
             'js': 'examples/gjs/video.js', 'vala': 'examples/vala/video.vala'},
            './run exec python3 examples/python/video.py --record video.ogg',
            pictures={'example-video.png': 'Colored bars of a test video. On the left half of the '
                      'window their colors are inverted.'}),
    Example('spectrum', 'The spectrum of a sound',
            'Reads samples of a sound or a microphone where they are, and draws their frequencies '
            'in colors. Only the column that is new is copied for GTK.',
            {'python': 'examples/python/spectrum.py'},
            './run exec python3 examples/python/spectrum.py',
            pictures={'example-spectrum.png': 'A bright curve that rises from the left to the '
                      'right, on dark blue'}),
    Example('torch-video', 'PyTorch on video',
            'Finds the edges in each frame by a convolution, and writes them back into it. The '
            'tensors of PyTorch share the memory of GStreamer.',
            {'python': 'examples/python/torch_video.py'},
            './run exec python3 examples/python/torch_video.py edges.ogg',
            route='GStreamer → view → PyTorch'),
    Example('viewer', 'The viewer of tensors',
            'A whole program, with libadwaita or plain GTK: heat maps and pictures of the tensors '
            'in a file, axes to choose, statistics, a histogram.',
            pictures={'tensor-viewer.png': ''}, page='tensor-viewer.html'),
    Example('tensor-viewer', 'A short viewer',
            'Lists the tensors of a file, and shows them in grey. The file is mapped, and only '
            'what is shown of it is read, in the background.',
            {'js': 'examples/gjs/tensor-viewer.js'},
            './run exec gjs -m examples/gjs/tensor-viewer.js FILE',
            pictures={'example-tensor-viewer.png': 'A window with a list of tensors; beside it one '
                      'of them as a grey picture'}),
    Example('tensor', 'Shapes, slices, values',
            'A slice is another view of the same memory, so a change through one is seen through '
            'the other.',
            {'c': 'examples/c/tensor.c', 'python': 'examples/python/tensor.py',
             'js': 'examples/gjs/tensor.js', 'vala': 'examples/vala/tensor.vala'},
            './run exec python3 examples/python/tensor.py',
            {'C and Python print': 'tests/docs/tensor.txt',
             'JavaScript and Vala print': 'tests/bindings/gjs/tensor.txt'}),
    Example('other-languages', 'Four more languages',
            'The same in Lua, Ruby, Perl and D, with what is natural in each.',
            {'lua': 'examples/lua/tensor.lua', 'ruby': 'examples/ruby/tensor.rb',
             'perl': 'examples/perl/tensor.pl', 'd': 'examples/d/tensor.d'},
            texts={'Each of them prints': 'tests/bindings/languages/tensor.txt'},
            page='other-languages.html'),
    Example('mpi-halo', 'Heat on many processes',
            'Each process has a part of a plate. MPI sends rows and columns from view to view: no '
            'code of the programs packs them.',
            {'c': 'examples/c/mpi_halo.c', 'python': 'examples/python/mpi_halo.py'},
            './run exec mpirun -n 4 python3 examples/python/mpi_halo.py',
            {'With four processes it prints': 'examples/python/mpi_halo.txt'}),
    Example('cuda', 'A picture on an NVIDIA GPU',
            'Crops a picture in the memory of the GPU, converts it there, and makes a texture of '
            'GTK over the result. In Python it is a tensor of PyTorch, if that has CUDA.',
            {'c': 'examples/c/cuda.c', 'python': 'examples/python/cuda.py',
             'js': 'examples/gjs/cuda.js', 'vala': 'examples/vala/cuda.vala'},
            './run exec python3 examples/python/cuda.py OUT.png',
            route='GPU → view → Gdk.Texture'),
    Example('cuda-weights', 'Weights on an NVIDIA GPU',
            'Brings the tensors of a file to the GPU, which reads the pages of the mapped file.',
            {'python': 'examples/python/cuda_weights.py'},
            './run exec python3 examples/python/cuda_weights.py FILE',
            route='safetensors → view → GPU'),
    Example('metal-kernel', 'A kernel of Metal',
            'Runs a kernel on a GPU over part of a view. This is what it has to print on a Mac; '
            'it has not run on one yet.',
            {'objc': 'examples/objc/kernel.m'}, './run exec build/examples/objc/kernel',
            {'It has to print': 'examples/objc/kernel.txt'}),
]


def read(root, path):
    return (root / path).read_text(encoding='utf-8')


def fence(language, text):
    return f'```{language}\n{text.rstrip()}\n```\n'


def write_page(example, root, extra=''):
    """Returns the Markdown of an example. Extra text goes after its summary."""
    parts = [f'Title: {example.title}', 'SPDX-License-Identifier: LGPL-2.1-or-later', '',
             f'# {example.title}', '', example.summary, '']
    parts += [f'![{described}]({path})\n' for path, described in example.pictures.items()]
    if extra:
        parts += [extra, '']
    parts += ['## How to run it', '', fence('sh', example.command)]
    for what, path in example.texts.items():
        parts += [f'{what}:', '', fence('text', read(root, path))]
    parts += ['## The code', '']
    parts += [', '.join(f'`{path}`' for path in example.sources.values()) + ':', '']
    parts += [fence(language, read(root, path)) for language, path in example.sources.items()]
    return '\n'.join(parts)


def write_card(example, root):
    if example.pictures:
        shown = f'<img src="{list(example.pictures)[-1]}" alt="" loading="lazy">'
    elif example.texts:
        lines = read(root, next(iter(example.texts.values()))).splitlines()[:LINES_OF_CARD]
        shown = f'<pre>{html.escape(chr(10).join(lines))}</pre>'
    else:
        shown = f'<pre>{example.route}</pre>'
    languages = ', '.join(LANGUAGES[language] for language in example.sources)
    return (f'<li><a href="{example.address()}"><span class="shown">{shown}</span>'
            f'<span class="card-title">{example.title}</span></a>'
            f'<p>{html.escape(example.summary)}</p>'
            + (f'<p class="card-languages">{languages}</p>' if languages else '') + '</li>')


def write_gallery(root):
    cards = '\n'.join(write_card(example, root) for example in EXAMPLES)
    return ('Title: Examples\nSPDX-License-Identifier: LGPL-2.1-or-later\n\n# Examples\n\n'
            'The programs are in `examples/` of the source, and the tests run them.\n\n'
            f'<ul class="gallery">\n{cards}\n</ul>\n')


def write_pages(root, demo):
    """Returns {name of a page: its Markdown}."""
    pages = {'examples.md': write_gallery(root)}
    for example in EXAMPLES:
        if not example.page:
            extra = demo if example.name == 'demo' else ''
            pages[re.sub(r'html$', 'md', example.address())] = write_page(example, root, extra)
    return pages
