# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds up the reports of a run: JUnit files, and Meson's logs in JSON."""

import collections
import json
import re
import xml.etree.ElementTree as ElementTree

N_LINES = 12


def reason_of(outcome):
    """Why a test was skipped. Programs print the reason for one of their cases."""
    output = outcome['system-out'].text or '' if 'system-out' in outcome else ''
    return (outcome['skipped'].get('message') or outcome['skipped'].text
            or output.rpartition('# SKIP')[2].partition('\n')[0]).strip()


def print_failure(title, text):
    print('FAILED', title)
    print(*(f'    {line}' for line in text.rstrip().splitlines()[-N_LINES:]), sep='\n')


def count_programs(path):
    """Programs that failed though none of their cases did, as by a leak or the time limit. JUnit
    files have nothing about them."""
    n_failed = 0
    for line in path.read_text().splitlines():
        program = json.loads(line)
        output = program.get('stdout', '')
        cases = set(re.findall(r'^((?:not )?ok) \d', output, re.MULTILINE))
        if program['result'] in ('ERROR', 'FAIL', 'INTERRUPT', 'TIMEOUT') and cases == {'ok'}:
            n_failed += 1
            print_failure(f'{path.stem}: {program["name"]} - {program["result"]}, exit status '
                          f'{program["returncode"]} after {program["duration"]:.0f} s',
                          program.get('stderr') or output)
    return n_failed


# XML cannot have these characters, which programs may print.
NOT_XML = re.compile('[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]')


def count_cases(path, counts, skipped):
    text = NOT_XML.sub('?', path.read_text(errors='replace'))
    for case in ElementTree.fromstring(text).iter('testcase'):
        name = f'{case.get("classname")} {case.get("name")}'
        outcome = {child.tag: child for child in case}
        failure = outcome.get('failure', outcome.get('error'))
        if failure is not None:
            counts['failed'] += 1
            print_failure(f'{path.stem}: {name}', failure.text or failure.get('message') or '')
        elif 'skipped' in outcome:
            counts['skipped'] += 1
            skipped[path.stem, reason_of(outcome)].append(name)
        else:
            counts['passed'] += 1


def count(reports, skipped):
    counts = collections.Counter()
    for path in reports:
        if path.suffix == '.json':
            counts['failed'] += count_programs(path)
        elif path.suffix == '.xml':
            count_cases(path, counts, skipped)
    return counts


def print_all(steps):
    """Prints what failed and what was skipped, and counts, from tuples of a name, seconds, success
    and reports. A step that fails though nothing in it does counts as a failure."""
    skipped, rows = collections.defaultdict(list), []
    for name, seconds, succeeded, reports in steps:
        counts = count(reports, skipped)
        if not succeeded and not counts['failed']:
            counts['failed'] += 1
            print('FAILED step:', name)
        rows.append((name, seconds, counts))
    for (report, reason), names in skipped.items():
        more = f' and {len(names) - 1} more' if len(names) > 1 else ''
        print(f'skipped {report}: {names[0]}{more} - {reason}')

    whole = round(sum(seconds for _, seconds, _ in rows))
    print(f'\n\033[1mAll together, {whole // 60} min {whole % 60} s\033[0m')
    for name, seconds, counts in rows:
        failed = f', {counts["failed"]} failed' if counts['failed'] else ''
        print(f'{seconds:5.0f} s {counts["passed"]:6} passed{failed}  {name}')
    total = sum((counts for _, _, counts in rows), collections.Counter())
    print(f'{total["passed"]} passed, {total["failed"]} failed, {total["skipped"]} skipped')
    return total['failed'] > 0
