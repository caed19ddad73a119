#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that the scripts run on macOS: test_shell.py

macOS has bash 3.2 of 2007, and BSD's tools. Each rule has a sample that breaks it, and a similar
one that does not.
"""

import collections
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

# bash-completion, which loads it, needs bash 4.2.
LEFT_OUT = {'cli/mtldl.bash'}

# The options of shopt in bash 3.2.
SHOPT = '''cdable_vars cdspell checkhash checkwinsize cmdhist compat31 dotglob execfail
  expand_aliases extdebug extglob extquote failglob force_fignore gnu_errfmt histappend histreedit
  histverify hostcomplete huponexit interactive_comments lithist login_shell mailwarn
  no_empty_cmd_completion nocaseglob nocasematch nullglob progcomp promptvars restricted_shell
  shift_verbose sourcepath xpg_echo'''.split()

# The parts of a file that a rule looks at: code without quoted text, or with it. Comments and
# here-documents belong to neither.
CODE, TEXT = 'code', 'text'

# The beginning of a command.
COMMAND = r'(?:^|[|&;({!]|\b(?:then|do|else|if|elif|while|until|exec|env|sudo)\b)[ \t]*'
# Its words, up to the one that is looked for.
WORDS = r'(?:[ \t]+[^\s|&;()]+)*?[ \t]+'

Rule = collections.namedtuple('Rule', 'view pattern message wrong right')


def option(command, letters, message, wrong, right):
    """A rule about options of a command, which may be written in one word."""
    return Rule(CODE, rf'{COMMAND}(?:{command}){WORDS}-[A-Za-z]*[{letters}]', message, wrong, right)


BASH_RULES = [
    option('declare|local|typeset|readonly', 'Agnlu', 'has no such variables before bash 4',
           'f () { local -A x; }; f', 'f () { local -a x; }; f'),
    Rule(CODE, rf'{COMMAND}(mapfile|readarray|coproc|compopt)\b', 'is not in bash 3.2',
         'mapfile -t x </dev/null', 'read -r mapfile </dev/null || true'),
    option('wait', 'npf', 'waits for no particular process before bash 4.3',
           'true & wait -n', 'true & wait $!'),
    Rule(CODE, r'\$\{!?\w+(?:\[[^]]*\])?(?:,|\^|~)', 'changes the case: use tr',
         'x=A; echo ${x,,}', 'x=A,; echo ${x%,}'),
    Rule(CODE, r'\$\{!?[\w@*]+(?:\[[^]]*\])?@[A-Za-z]\}', 'is for bash 4.4: use printf %q',
         'x=a; echo "${x@Q}"', 'x=a; echo "$x@Q" "${!x@}"'),
    Rule(CODE, r'&>>', 'is for bash 4: use >>FILE 2>&1', 'echo a &>>/dev/null',
         'echo a >>/dev/null 2>&1'),
    Rule(CODE, r'\|&', 'is for bash 4: use 2>&1 |', 'echo a |& cat', 'echo a 2>&1 | cat'),
    Rule(CODE, r';;?&', 'is for bash 4', 'case a in a) echo 1 ;;& b) echo 2 ;; esac',
         'case a in a) echo 1 & ;; b) echo 2 ;; esac; wait'),
    Rule(CODE, r'\w\[ *-\d', 'counts from the end: use ${x[${#x[@]}-1]}',
         'x=(1 2); echo "${x[-1]}"', 'x=(1 2); i=1; echo "${x[i-1]}"; [[ 1 = [-1] ]]'),
    Rule(CODE, r'\$\{\w+:[^}:]*: *-', 'counts from the end: use ${x%?}', 'x=abc; echo ${x:0:-1}',
         'x=abc; echo ${x: -1} ${x::1} ${y:-}'),
    Rule(TEXT, rf'{COMMAND}printf[ \t][^\n]*%[-\d]*\([^)]*\)T', 'prints no times: use date',
         "printf '%(%s)T' -1", "printf '(%s)T %%(' 1"),
    Rule(TEXT, rf'{COMMAND}printf[ \t]+-v[ \t]+["\']?\w+\[', 'sets no elements',
         "printf -v 'x[1]' %s a", "x=(a); printf -v y '%s' 'x[1]'"),
    Rule(CODE, r'(?:\[|\btest)[ \t]+(?:!?[ \t]+)?-[vR][ \t]', 'is for bash 4.2: use ${x+set}',
         'x=1; [[ -v x ]]', 'x=1; [[ -n ${x+set} ]]'),
    Rule(CODE, r'\$\{?(?:EPOCHSECONDS|EPOCHREALTIME|BASHPID|SRANDOM|BASH_ARGV0|COPROC|MAPFILE)\b',
         'is not set', 'echo $EPOCHSECONDS', ': $SECONDS $RANDOM $$'),
    Rule(CODE, rf'{COMMAND}shopt[ \t]+-\w+[ \t]+(?!(?:{"|".join(SHOPT)})\b)', 'has no such option',
         'shopt -s globstar', 'shopt -s nullglob'),
    Rule(CODE, r'(?:^|[ \t])\{\w+\}[<>]', 'is for bash 4.1: name a number', 'exec {x}>/dev/null',
         'exec 9>/dev/null; x={a}'),
    option('read', 'Ni', 'has no such option', 'read -N 1 x </dev/null',
           'read -n 1 x </dev/null || true'),
    Rule(CODE, rf'{COMMAND}read\b{WORDS}-t[ \t]*\d*\.', 'takes whole seconds',
         'read -t 0.5 x <<<a', 'read -t 1 x <<<a'),
    Rule(TEXT, r"\$'[^']*\\[uU]", 'is for bash 4.2: write the character',
         r"echo $'\u00e9'", r"echo $'\xc3\xa9\n' '\u00e9'"),
    Rule(CODE, r'\{-?\w+\.\.-?\w+\.\.', 'has no step before bash 4', 'echo {1..9..2}',
         'echo {1..9} ../..'),
    Rule(CODE, r'\{0\d+\.\.', 'drops zeros before bash 4', 'echo {01..03}', 'echo {0..3}'),
]

TOOL_RULES = [
    Rule(CODE, rf'{COMMAND}(?:nproc|timeout|tac|shuf|setsid|numfmt|stdbuf|md5sum|sha\d+sum|flock'
               r'|getent|ldd|taskset|pidof|realpath|seq|stat|free)\b(?!=)',
         'is not on every Mac, or differs', 'n=$(nproc)', 'timeout=5; printf -- --timeout=5'),
    option('sed', 'irzs', 'differs: use -E, and write to another file', 'sed -i s/a/b/ file',
           'sed -n -E s/a/b/p <<<a'),
    Rule(TEXT, rf'{COMMAND}sed\b[^\n]*\\[bBwWsSdD<>+?|]', 'is only for GNU sed: use a class',
         r"sed 's/a\+/b/' <<<a", "sed 's/aa*[.]/b/' <<<a"),
    option('grep', 'P', 'is only for GNU grep: use -E', 'grep -P a file', 'grep -E P <<<P'),
    option('readlink', 'efm', 'is not on every Mac: use Python', 'readlink -f file',
           'readlink file || true'),
    option('date', 'dIRr', 'is only for GNU date: use Python', 'date -d now', 'date -u +%s'),
    Rule(CODE, rf'{COMMAND}find(?:[ \t]+-|{WORDS}-(?:printf|regextype|executable|readable'
               r'|writable)\b)',
         'is only for GNU find', 'find . -printf %p', 'find . -name printf'),
    option('xargs', 'rda', 'is only for GNU xargs', 'echo a | xargs -r echo',
           'echo a | xargs -n 1 echo'),
    option('cp|mv|ln|install', 'TtDu', 'is only for GNU', 'cp -T a b', 'ln -s T t || true'),
    option('mktemp', 'p', 'is only for GNU mktemp', 'mktemp -p /tmp', 'mktemp -d'),
    Rule(CODE, rf'{COMMAND}head{WORDS}-[nc][ \t]*-\d', 'is only for GNU head', 'head -n -1 <<<a',
         'head -n 1 <<<a'),
    option('base64', 'w', 'is only for GNU base64', 'base64 -w 0 <<<a', 'base64 <<<w'),
    option('du', 'b', 'is only for GNU du', 'du -b /dev/null', 'du -k /dev/null'),
    option('echo', 'en', 'differs: use printf', 'echo -n a', 'echo a-n'),
    Rule(CODE, rf'{COMMAND}(?:basename|chmod|cmp|comm|cp|cut|df|dirname|du|find|head|install|ln|ls'
               rf'|mkdir|mktemp|mv|rm|sed|sort|tail|tee|touch|tr|uniq|wc|xargs){WORDS}--\w',
         'has no long options', 'mkdir --parents a', 'rm -f -- a; env a=--b'),
]


def heredoc_at(text, at):
    """Returns the word that ends a here-document, where one begins."""
    match = re.compile(r'<<(-?)[ \t]*(["\']?)([A-Za-z_]\w*)\2').match(text, at)
    return match and (match.end(), match[3])


class Script:
    """Shell code, read as bash 3.2 does: $( ends where the parentheses say, whatever they are."""

    def __init__(self, text):
        self.source = text
        self.wrong = []       # faults found while reading: offset, message
        self.quoted = []      # spans of text in quotes
        self.unread = []      # spans of comments and here-documents
        self._read()
        self.text = self._without(self.unread)
        self.code = self._without(self.unread + self.quoted)

    def _without(self, spans):
        characters = list(self.source)
        for begin, end in spans:
            for i in range(begin, end):
                if characters[i] != '\n':
                    characters[i] = ' '
        return ''.join(characters)

    def _read(self):
        # The stack has the brackets that are open: $( and ( in it, $(( , ${ and ".
        text, stack, ends, at = self.source, [], [], 0
        while at < len(text):
            inner = stack[-1][0] if stack else ''
            char = text[at]
            if char == '\\':
                if inner == '"':
                    self.quoted.append((at, at + 2))
                at += 2
            elif char == '\n' and ends:
                at = self._skip_heredocs(at, ends)
            elif text.startswith('$((', at):
                stack.append(('((', at))
                at += 3
            elif text.startswith('$(', at):
                stack.append(('$(', at))
                at += 2
            elif text.startswith('${', at):
                stack.append(('${', at))
                at += 2
            elif char == '"':
                if inner == '"':
                    stack.pop()
                else:
                    stack.append(('"', at))
                at += 1
            elif inner == '"':
                end = re.compile(r'[$"\\\n]').search(text, at + (char == '$'))
                end = end.start() if end else len(text)
                if char == '$':
                    end = re.compile(r'\$(\w*|.)', re.DOTALL).match(text, at).end()
                    end = end if text[end - 1] != '"' else end - 1
                else:
                    end = max(end, at + 1)
                    self.quoted.append((at, end))
                at = end
            elif char == "'" and not (inner == '${' and any(kind == '"' for kind, _ in stack)):
                begin = at
                escapes = text[at - 1:at] == '$'
                at += 1
                while at < len(text) and text[at] != "'":
                    at += 1 + (escapes and text[at] == '\\')
                self.quoted.append((begin + 1, at))
                at += 1
            elif char == '#' and inner != '${' and (at == 0 or text[at - 1] in ' \t\n;|&('):
                end = text.find('\n', at)
                end = end if end >= 0 else len(text)
                self.unread.append((at, end))
                at = end
            elif inner != '((' and heredoc_at(text, at) and text[at - 1:at] != '<':
                if any(kind == '$(' for kind, _ in stack):
                    self.wrong.append((at, 'a here-document in $( ) has to have balanced quotes'))
                end, word = heredoc_at(text, at)
                ends.append(word)
                at = end
            elif char == '}' and inner == '${':
                stack.pop()
                at += 1
            elif char == '(' and inner in ('$(', '(', '(('):
                stack.append(('(', at))
                at += 1
            elif char == ')' and inner in ('$(', '(', '(('):
                _, begin = stack.pop()
                at += 2 if inner == '((' else 1
                if inner == '$(':
                    words = re.findall(r'\b(?:case|esac)\b', text[begin:at])
                    if words.count('case') > words.count('esac'):
                        self.wrong.append((begin, '$( ) ends at the ) of a pattern: write (a)'))
            else:
                at += 1

    def _skip_heredocs(self, at, ends):
        for word in ends:
            match = re.compile(rf'^\t*{word}$', re.MULTILINE).search(self.source, at + 1)
            end = match.end() if match else len(self.source)
            self.unread.append((at + 1, end))
            at = end
        ends.clear()
        return at


def end_of_list(code, begin):
    """Returns where the parenthesis that opens at begin is closed."""
    depth = 0
    for match in re.compile(r'[()]').finditer(code, begin):
        depth += 1 if match[0] == '(' else -1
        if depth == 0:
            return match.end()
    return len(code)


def functions_of(script):
    """Returns the spans of the functions."""
    return [match.span() for match in re.finditer(r'^\w+ \(\) ([{(])\n.*?\n[})]$', script.code,
                                                  re.MULTILINE | re.DOTALL)]


def function_around(script, at):
    """Returns the span of the function that an offset is in, or of the code between two."""
    last = 0
    for begin, end in functions_of(script):
        if at < begin:
            return last, begin
        if at < end:
            return begin, end
        last = end
    return last, len(script.code)


def lists_of(script, begin=0, end=None):
    """Returns the names of arrays to which lists are assigned, and whether a list has a word that
    is an element whatever happens."""
    for match in re.compile(r'(?<![\w$])(\w+)=\(').finditer(script.code, begin,
                                                            end or len(script.code)):
        content = script.source[match.end():end_of_list(script.code, match.end() - 1) - 1]
        content = re.sub(r'\$\(.*\)', '$', re.sub(r'(?m)(^|\s)#.*', '', content), flags=re.DOTALL)
        yield match[1], any(not re.search(r'^\$|\[@\]|\$@|\$\*', word) for word in content.split())


def find_empty_arrays(script, lists):
    """Under set -u bash 3.2 takes an array without elements for a variable that is not set."""
    for match in re.finditer(r'(?<!\[[@*]\]\+)(?<!\[[@*]\]\+")\$\{(\w+)\[[@*]\]\}', script.code):
        name = match[1]
        begin, end = function_around(script, match.start())
        is_local = re.search(rf'\b(?:local|declare)\b[^;\n]*\s{name}=\(', script.code[begin:end])
        own = [has_word for other, has_word in lists_of(script, begin, end) if other == name]
        has_elements = all(own if is_local else lists.get(name, [False]))
        is_checked = re.search(rf'\(\( *\$\{{#{name}\[@\]\}} *[=><!]',
                               script.code[begin:match.start()])
        if not is_checked and not has_elements:
            yield match.start(), (f'{match[0]} may be empty: write '
                                  f'${{{name}[@]+"${{{name}[@]}}"}}, or look at its length before')


def find_appended_variables(script):
    """In bash 3.2, a local variable without a value has an element as soon as one is appended."""
    for match in re.finditer(r'\b(?:local|declare)\b([^\n;]*)', script.code):
        function = script.code[match.end():function_around(script, match.start())[1]]
        for name in re.findall(r'[ \t](\w+)(?=[ \t]|$)', match[1]):
            if re.search(rf'(?<!\w){name}\+=\(', function):
                yield match.start(), f'{name} needs =() before an element is appended'


def find_ignored_failures(script):
    """Under set -e bash 3.2 goes on after a ( ), (( )) or [[ ]] that fails."""
    for match in re.finditer(r'^[ \t]*(\(|\[\[)', script.code, re.MULTILINE):
        begin = match.end() - len(match[1])
        if match[1] == '(':
            end = end_of_list(script.code, begin)
        else:
            end = script.code.find(']]', begin) + 2
        rest = script.code[end:].lstrip(' \t\\\n')
        line_before = script.code[:begin].rstrip(' \t\\\n')
        if re.match(r'(?:&&|\|\||\||&|<|>|\}|\)|;;|[=+]?[\'"]|$)', rest) \
                or re.search(r'(?:&&|\|\||\||\(|=|\b(?:if|while|until|elif|then|do|else|in))$',
                             line_before) and not re.search(r'\b(?:then|do|else)$', line_before):
            continue
        yield begin, 'does not end the script if it fails: put a function around it, or ||'


def check(scripts):
    """Returns what is wrong in {path: script}: path, line, message."""
    lists = collections.defaultdict(list)
    for script in scripts.values():
        for name, has_word in lists_of(script):
            lists[name].append(has_word)
    found = []
    for path, script in scripts.items():
        complaints = [*script.wrong, *find_empty_arrays(script, lists),
                      *find_appended_variables(script), *find_ignored_failures(script)]
        for rule in BASH_RULES + TOOL_RULES:
            for match in re.finditer(rule.pattern, getattr(script, rule.view), re.MULTILINE):
                complaints.append((match.end() - 1, f'{match[0].strip()} {rule.message}'))
        found += [(path, script.source.count('\n', 0, at) + 1, message)
                  for at, message in complaints]
    return sorted(set(found))


# Scripts that break the rules that need more than a pattern, and scripts that do not.
SAMPLES = [
    ('set -u; x=(); echo "${x[@]}"', 'set -u; x=(); echo ${x[@]+"${x[@]}"} "${!x[@]}" ${#x[@]}'),
    ('set -u; y=; x=($y); echo "${x[*]}"', 'set -u; y=; x=("$y"); echo "${x[*]}"'),
    ('set -u; x=(a)\nf () {\n  local x=()\n  echo "${x[@]}"\n}\nf',
     'set -u; x=()\nf () {\n  local x=(a)\n  echo "${x[@]}"\n}\nf'),
    ('set -u; x=(); y=("${x[@]}")', 'set -u; x=(); if (( ${#x[@]} > 0 )); then echo "${x[@]}"; fi'),
    ('set -u\nf () {\n  local x; x+=(a); echo ${#x[@]}\n}\nf',
     'set -u\nf () {\n  local x=(); x+=(a); echo ${#x[@]}\n}\nf'),
    ('echo $(case a in a) echo b ;; esac)', 'echo $(case a in (a) echo b ;; esac)'),
    ("x=$(cat <<END\nit's\nEND\n)", "x=$(cat <<<\"it's\"); cat <<END\nit's nproc\nEND"),
    ('set -e\n(false)\necho a', 'set -e\n(false) || true\nf () {\n  (true)\n}\nf'),
    ('set -e\n[[ a == b ]]\necho a', 'set -e\nif [[ a == b ]]; then\n  echo a\nfi'),
    ('set -e\nif true; then\n  (false)\nfi\necho a', 'set -e\nif\n  (false)\nthen\n  echo a\nfi'),
    ('set -e\nx=0\n(( x ))\necho a', 'set -e\nx=$((0))\necho $((x + 1)) # it ignores ${x,,}'),
]


def check_checks():
    """Checks that each rule finds what breaks it, and nothing else."""
    for wrong, right in SAMPLES + [(rule.wrong, rule.right) for rule in BASH_RULES + TOOL_RULES]:
        assert len(check({'sample': Script(wrong)})) == 1, (wrong, check({'sample': Script(wrong)}))
        assert not check({'sample': Script(right)}), check({'sample': Script(right)})


def scripts_of_workflow(text):
    """Returns a workflow with only its commands: the rest is spaces, so that lines stay."""
    lines, indentation = [], None
    for line in text.splitlines():
        begin = len(line) - len(line.lstrip())
        match = re.match(r'([ -]*)run:(?: [|>]-?$)?', line)
        if match:
            indentation = len(match[1])
            line = ' ' * match.end() + line[match.end():]
        elif line.strip() and (indentation is None or begin <= indentation):
            indentation, line = None, ''
        lines.append(line)
    return '\n'.join(lines) + '\n'


def folders_of_sources():
    """Returns the folders of the tree, without those of builds and virtual environments: the ones
    that ./run makes have their names, such as that of another processor's system."""
    for path in ROOT.iterdir():
        if path.is_dir() and path.name != '.git' and not path.name.startswith(('build', '.venv')) \
                and not any((path / name).exists() for name in ('meson-private', 'pyvenv.cfg')):
            yield path


def find_scripts():
    """Returns all shell code of the tree, {path: script}."""
    candidates = [path for path in ROOT.iterdir() if path.is_file()]
    for folder in folders_of_sources():
        candidates += [path for path in folder.rglob('*') if path.is_file()]

    scripts = {}
    for path in sorted(candidates):
        name = path.relative_to(ROOT).as_posix()
        with open(path, 'rb') as file:
            shebang = re.match(rb'#!.*\b(?:ba)?sh\b', file.readline(100))
        if name in LEFT_OUT:
            continue
        if shebang or path.suffix in ('.sh', '.bash'):
            scripts[name] = Script(path.read_text())
        elif path.match('.github/workflows/*.yml'):
            scripts[name] = Script(scripts_of_workflow(path.read_text()))
    return scripts


def main():
    check_checks()
    scripts = find_scripts()
    assert {'run', 'maintainer/need.sh', 'introspection/name-library.sh'} <= set(scripts)

    found = check(scripts)
    for path, line, message in found:
        print(f'{path}:{line}: {message}')
    print(f'{len(scripts)} scripts, {len(BASH_RULES) + len(TOOL_RULES) + len(SAMPLES)} samples')
    return len(found) > 0


if __name__ == '__main__':
    sys.exit(main())
