#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the page of Python's interface.

python_interface.py OUTPUT UNDOCUMENTED DEPFILE STUB=OWN=GIR=BOOK…: STUB has the type hints of a
namespace, OWN those that are written by hand, for what is Python's own. What functions do is asked
of the namespace itself, with its override, which therefore must be found. The first namespace is
that of the page. The names that nothing documents are written to UNDOCUMENTED.
"""

import ast
import importlib.util
import inspect
import operator
import pathlib
import re
import sys

import gi

import markup
from gir import Gir

INTRODUCTION = '''What `gi.repository` offers of mtldl to Python: first the functions of the module,
then the classes. Each has Python's own part, with the types of its arguments, and below it the
rest, which works as in C: arrays are sequences, their lengths are left out, and an error is an
exception. The guide is [Using mtldl from Python](python.html). A checker of types and an editor
know the same signatures from the installed type hints.
'''

# The types that explain a protocol such as __len__, if the class does not.
PROTOCOLS = (operator, int, list, dict, bytes, memoryview, object)

WIDTH = 88


def is_private(name):
    return name.startswith('_') and not re.fullmatch(r'__\w+__', name)


def parse(path):
    return ast.parse(pathlib.Path(path).read_text(encoding='utf-8')).body


def members_of(body):
    """Returns {name: [nodes]} of a class or module, with more than one for overloads."""
    members = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            members.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.AnnAssign):
            members.setdefault(node.target.id, []).append(node)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                members.setdefault(target.id, []).append(node)
        elif isinstance(node, ast.If):  # functions that only a platform has
            members |= members_of(node.body)
        elif isinstance(node, ast.For):  # the same for each of several words
            for word in ast.literal_eval(node.iter.func.value).split():
                for item in node.body:
                    members[item.name.replace(node.target.id, word)] = [item]
    return {name: nodes for name, nodes in members.items() if not is_private(name)}


def find_aliases(body):
    """Returns the private names that only stand for longer types."""
    aliases = {node.target.id: node.value for node in body
               if isinstance(node, ast.AnnAssign) and node.value and is_private(node.target.id)}
    aliases |= {node.targets[0].id: node.value for node in body
                if isinstance(node, ast.Assign) and is_private(node.targets[0].id)}
    return aliases


class Expand(ast.NodeTransformer):
    def __init__(self, aliases):
        self.aliases = aliases

    def visit_Name(self, node):
        alias = self.aliases.get(node.id)
        return self.visit(alias) if alias is not None else node


def decorators(node):
    return {ast.unparse(item).rpartition('.')[2]
            for item in getattr(node, 'decorator_list', [])}


def is_property(node):
    return 'property' in decorators(node)


def arguments_of(node, owner, show_types, find_default=None):
    """Returns the arguments in source form, without self."""
    arguments, parts = node.args, []

    def add(argument, default=None, prefix=''):
        hint = f': {ast.unparse(argument.annotation)}' if show_types and argument.annotation else ''
        text = prefix + argument.arg + hint
        if default is not None:
            shown = ast.unparse(default)
            if shown == '...' and find_default:
                shown = find_default(argument.arg) or shown
            text += f' = {shown}' if hint else f'={shown}'
        parts.append(text)

    positional = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    for i, (argument, default) in enumerate(zip(positional, defaults)):
        is_self = i == 0 and owner and 'staticmethod' not in decorators(node)
        if not is_self:
            add(argument, default)
        if i + 1 == len(arguments.posonlyargs) and not (is_self and i == 0):
            parts.append('/')
    if arguments.vararg:
        add(arguments.vararg, prefix='*')
    elif arguments.kwonlyargs:
        parts.append('*')
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        add(argument, default)
    if arguments.kwarg:
        add(arguments.kwarg, prefix='**')
    return parts


def signature(node, owner, aliases, find_default):
    """Returns a function's signature, over several lines if it is long."""
    node = Expand(aliases).visit(ast.parse(ast.unparse(node)).body[0])
    parts = arguments_of(node, owner, True, find_default)
    result = f' -> {ast.unparse(node.returns)}' if node.returns else ''
    line = f'{node.name}({", ".join(parts)}){result}'
    if len(line) <= WIDTH:
        return line
    return f'{node.name}(\n' + ''.join(f'    {part},\n' for part in parts) + f'){result}'


def default_of(function, name):
    """Returns the value of an enumeration that an argument has by default, or None."""
    try:
        value = inspect.signature(function).parameters[name].default
    except (KeyError, TypeError, ValueError):
        return None
    names = getattr(value, 'value_names', None)
    if names is None:
        nick = getattr(value, 'value_nick', None)
        return nick and f'{type(value).__name__}.{nick.upper().replace("-", "_")}'
    return f'{type(value).__name__}.{names[0].rpartition("_")[2]}' if names else None


def comment_above(lines, node):
    """Returns the lines of the comment directly above a node, or None."""
    comment = []
    for line in reversed(lines[:node.lineno - 1]):
        if not line.strip().startswith('#'):
            break
        comment.insert(0, line.strip().lstrip('# '))
    return '\n'.join(comment) or None


def doc_of_protocol(name):
    for holder in PROTOCOLS:
        doc = getattr(getattr(holder, name, None), '__doc__', None)
        if doc:
            return doc.partition('\n\n')[0]
    if name.startswith('__r') and hasattr(operator, '__' + name[3:]):
        return f'{doc_of_protocol("__" + name[3:])[:-1]}, with the operands exchanged.'
    return None


def is_written_by_pygobject(name, doc):
    return doc.startswith(f'{name}(')


CONSTANTS = {'TRUE': 'True', 'FALSE': 'False', 'NULL': 'None'}


class Namespace:
    def __init__(self, stub, own, gir, book):
        body = parse(stub)
        self.name = pathlib.Path(stub).stem
        self.aliases = find_aliases(body)
        self.members = members_of(body)
        self.own = members_of(parse(own))
        self.own_lines = pathlib.Path(own).read_text(encoding='utf-8').splitlines()
        self.gir = Gir(gir, book)
        gi.require_version(self.name, '1')
        if importlib.util.find_spec('numpy'):
            importlib.import_module('numpy')  # views then have what its arrays have
        self.module = importlib.import_module(f'gi.repository.{self.name}')

    def is_own(self, owner, name):
        if not owner:
            return name in self.own
        return any(name in members_of(node.body) for node in self.own.get(owner, []))

    def holder(self, owner):
        """Returns the class or the module, or None for a class that only the hints have."""
        return getattr(self.module, owner, None) if owner else self.module

    def own_comment(self, owner, name):
        nodes = self.own.get(name, []) if not owner else [
            child for node in self.own.get(owner, [])
            for child in members_of(node.body).get(name, [])]
        return comment_above(self.own_lines, nodes[0]) if nodes else None

    def doc(self, owner, name, node):
        """Returns what a name does: in the words of the override, of the hints, of the reference,
        or of Python for its protocols."""
        holder = self.holder(owner)
        found = inspect.getattr_static(holder, name, None)
        doc = inspect.getdoc(getattr(found, '__func__', found)) if found is not None else None
        if isinstance(node, ast.AnnAssign) or (doc and is_written_by_pygobject(name, doc)):
            doc = None
        in_stub = ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None
        symbol = self.gir.find(owner, name)
        return (doc if self.is_own(owner, name) else None) or in_stub \
            or self.own_comment(owner, name) or (symbol.summary if symbol else None) \
            or doc_of_protocol(name)

    def full_name(self, owner, name):
        return '.'.join(part for part in (self.name, owner, name) if part)

    def write_member(self, owner, name, nodes):
        """Writes a member that is Python's own."""
        node = nodes[-1]
        full_name = self.full_name(owner, name)
        doc = self.doc(owner, name, node)
        symbol = self.gir.find(owner, name)
        if isinstance(node, ast.FunctionDef) and not is_property(node):
            kind = 'Python method' if owner else 'Python function'
            holder = self.holder(owner)
            function = getattr(holder, name, None)
            shown = '\n'.join(
                signature(node, owner, self.aliases, lambda name: default_of(function, name))
                for node in nodes)
        else:
            kind = 'Python attribute'
            hint = Expand(self.aliases).visit(node.annotation if isinstance(node, ast.AnnAssign)
                                              else node.returns)
            shown = f'{name}: {ast.unparse(hint)}'
        if doc is None:
            UNDOCUMENTED.append(full_name)
            doc = ''
        reference = f'\n\nSee also {markup.link(symbol)}.' if symbol else ''
        return '\n'.join([markup.heading(full_name, name, kind), '```python', shown, '```', '',
                          markup.paragraphs(markup.sentence(doc)) + reference, ''])

    def row(self, owner, name, node):
        """Returns the row of a function that works as in C."""
        full_name = self.full_name(owner, name)
        symbol = self.gir.find(owner, name)
        doc = self.doc(owner, name, node) or ''
        kind = 'Python method' if owner else 'Python function'
        call = f'<code>{name}({", ".join(arguments_of(node, owner, False))})</code>'
        if symbol:
            call = f'<a href="{symbol.page}">{call}</a>'
        else:
            UNDOCUMENTED.append(full_name)
        summary = markup.html_inline(markup.localize(doc, CONSTANTS))
        return markup.anchor(full_name, kind) + call, summary

    def write_functions(self, owner, members):
        own = {name: nodes for name, nodes in members.items() if self.is_own(owner, name)}
        rest = [self.row(owner, name, nodes[-1]) for name, nodes in sorted(members.items())
                if name not in own and isinstance(nodes[-1], ast.FunctionDef) and name != 'props']
        parts = [self.write_member(owner, name, nodes)
                 for name, nodes in sorted(own.items(), key=lambda item: order_of(item[0]))]
        if rest:
            title = 'The rest, as in C' if own else 'As in C'
            parts += [f'### {title}\n', markup.table(rest)]
        return parts

    def write_properties(self, node):
        props = [child for child in node.body
                 if isinstance(child, ast.ClassDef) and child.name == 'Props']
        names = sorted({name for child in props for name in members_of(child.body)})
        owner = node.name
        links = [markup.anchor(f'{self.name}.{owner}.props.{name}', 'Python attribute')
                 + f'[`props.{name}`]({self.gir.prefix}property.{owner}.'
                   f'{name.replace("_", "-")}.html)'
                 for name in names]
        return [f'GObject properties: {", ".join(links)}.\n'] if links else []

    def write_class(self, node):
        members = {name: nodes for name, nodes in members_of(node.body).items() if name != 'Props'}
        symbol = self.gir.types.get(node.name)
        summary = symbol.summary if symbol else ast.get_docstring(node) or ''
        full_name = self.full_name('', node.name)
        values = [name for name, nodes in members.items() if isinstance(nodes[-1], ast.Assign)]
        parts = [f'## {full_name}\n',
                 markup.anchor(full_name, 'Python class')
                 + markup.paragraphs(markup.sentence(summary))
                 + (f' See also {markup.link(symbol)}.\n' if symbol else '\n')]
        if values:
            parts.append('Values: ' + ', '.join(
                markup.anchor(f'{full_name}.{name}', 'Python constant') + f'`{name}`'
                for name in values) + '.\n')
        parts += self.write_properties(node)
        parts += self.write_functions(node.name, {name: nodes for name, nodes in members.items()
                                                  if name not in values})
        return parts

    def write_constants(self):
        names = [name for name, nodes in self.members.items()
                 if isinstance(nodes[-1], (ast.Assign, ast.AnnAssign))]
        if not names:
            return []
        return ['Constants: ' + ', '.join(
            markup.anchor(self.full_name('', name), 'Python constant') + f'`{name}`'
            for name in names) + '.\n']

    def write_module(self):
        functions = {name: nodes for name, nodes in self.members.items()
                     if isinstance(nodes[-1], ast.FunctionDef)}
        return [f'## Functions of {self.name}\n', *self.write_constants(),
                *self.write_functions('', functions)]

    def write_classes(self):
        classes = [nodes[-1] for nodes in self.members.values()
                   if isinstance(nodes[-1], ast.ClassDef)]
        # Classes before enumerations and flags, which say little.
        classes.sort(key=lambda node: (any('GEnum' in ast.unparse(base) or 'GFlags'
                                           in ast.unparse(base) for base in node.bases),
                                       node.name))
        return [part for node in classes for part in self.write_class(node)]

    def write_exceptions(self):
        """Writes which exception stands for which error code, as the override has it."""
        codes = [name for name, nodes in members_of(self.members['Error'][-1].body).items()
                 if isinstance(nodes[-1], ast.Assign)]
        override = importlib.import_module('gi.overrides._mtl')
        rows = []
        for name in codes:
            kind = override.exception_for_code(int(getattr(self.module.Error, name))).__name__
            rows.append((f'<code>{self.name}.Error.{name}</code>', f'<code>{kind}</code>'))
        return ['## Exceptions\n',
                'A `GError` of mtldl is raised as the exception that Python has for such a mistake;'
                ' the `GLib.Error` is its `__cause__`.\n', markup.table(rows)]


def order_of(name):
    return name.startswith('__'), name.lower()


UNDOCUMENTED = []


def files_read(descriptions):
    """Returns the files that the page was made from, with the sources of the override."""
    overrides = [module.__file__ for name, module in sys.modules.items()
                 if name.startswith('gi.overrides.') and getattr(module, '__file__', None)]
    return [path for description in descriptions for path in description.split('=')[:3]] \
        + overrides


def main(output, undocumented, depfile, *descriptions):
    namespaces = [Namespace(*description.split('=')) for description in descriptions]
    sections = [part for namespace in namespaces for part in namespace.write_module()]
    sections += namespaces[0].write_exceptions()
    sections += [part for namespace in namespaces for part in namespace.write_classes()]
    pathlib.Path(output).write_text(markup.page('Python interface', INTRODUCTION, sections),
                                    encoding='utf-8')
    pathlib.Path(undocumented).write_text(''.join(f'{name}\n' for name in UNDOCUMENTED),
                                          encoding='utf-8')
    pathlib.Path(depfile).write_text(f'{output}: {" ".join(files_read(descriptions))}\n',
                                     encoding='utf-8')


if __name__ == '__main__':
    main(*sys.argv[1:])
