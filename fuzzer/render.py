"""How the command line shows what its commands hand back: one JSON object, or a table for people."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from corpus.escapes import IN_JSON, inert, one_line, visible
from corpus.number_of import number_of
from fuzzer.results import (
    CheckResult,
    CheckRow,
    Diagnosis,
    Listing,
    NothingToReduce,
    ReduceResult,
    ReplayResult,
    ValueRow,
)
from generators.json_values import JsonObject
from reports.terminal import Terminal, cell

_STYLES = {
    "failed": "bold red",
    "regressed": "bold red",
    "changed": "magenta",
    "error": "bold red",
    "broken": "bold red",
    "inconclusive": "yellow",
    "absent": "yellow",
    "unportable": "yellow",
    "fixed": "green",
    "passed": "green",
    "passes": "green",
    "fails as known": "dim",
    "skipped": "dim",
}


PIPE_WIDTH = 200
"""Columns of a table that goes into a file or a pipe, where the width is not known."""


WHOLE = "(the whole case)"
"""Printed in place of a pass where an oracle judges the module that was given, or all passes together."""

NAMED_ORACLES = 3
"""Up to so many oracles that say the same are named; more are counted."""


SHOWN_MESSAGE = 100
"""Characters of a message in a table of many."""


def console(stderr: bool = False) -> Terminal:
    """Stdout or stderr, wide when it is not a terminal."""
    terminal = Terminal(stderr=stderr)
    return terminal if terminal.is_terminal else Terminal(stderr=stderr, width=PIPE_WIDTH)


def print_json(data: JsonObject) -> None:
    """One JSON object on stdout, in ASCII: nothing in it does anything to a terminal or a CI job."""
    print(inert(json.dumps(data, indent=1).replace("\x7f", r"\u007f"), IN_JSON))


def _show_values(terminal: Terminal, after: str, values: Sequence[ValueRow]) -> None:
    table = Table("function", "variable", "type", "first elements", box=None, header_style="bold")
    for row in values:
        table.add_row(*map(cell, (row.function, row.variable, row.type, row.elements)))
    terminal.say("")
    terminal.say(f"values after {one_line(after)}:" if after else "values:", soft_wrap=False)
    terminal.print(table)


def show_check(result: CheckResult, as_json: bool) -> None:
    """What each pass was found to be, and the culprit last. The JSON has every verdict in a row of its own."""
    if as_json:
        print_json(result.to_json())
        return
    table = Table("pass", "verdict", "oracles", "what", box=None, header_style="bold")
    for name, rows in groupby(result.rows, key=lambda row: row.pass_name):
        for verdict, what, oracles in _verdicts(tuple(rows)):
            table.add_row(cell(name or WHOLE), _styled(verdict), cell(oracles), cell(what))
    terminal = console()
    terminal.print(table)
    counts = ", ".join(f"{number} {word}" for word, number in _counted(result.rows))
    terminal.say(f"{counts}.", soft_wrap=False)
    for after, values in groupby(result.values, key=lambda row: row.after):
        _show_values(terminal, after, tuple(values))
    shown = next((row for row in result.rows if row.difference), None)
    if shown is not None:
        terminal.say("")
        terminal.say(f"what {one_line(shown.pass_name)} did:", soft_wrap=False)
        terminal.print(Syntax(visible(shown.difference), "diff", background_color="default", word_wrap=True))
    for line in result.fault:
        terminal.say(f"- {one_line(line)}", soft_wrap=False)
    for line in result.notes:
        terminal.say(f"note: {one_line(line)}", soft_wrap=False)
    if result.failed:
        terminal.say(one_line(f"culprit: {result.culprit or '(no single pass)'}"), "bold", soft_wrap=False)


def _verdicts(rows: Sequence[CheckRow]) -> list[tuple[str, str, str]]:
    """(verdict, what was said, by which oracles) of one pass; what does not apply to it is left out."""
    said: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        what = f"{row.symptom}: {row.message}" if row.symptom else row.message
        if row.applies:
            said.setdefault((row.verdict, what), []).append(row.oracle)
    return [(verdict, what, _named(oracles)) for (verdict, what), oracles in said.items()]


def _named(oracles: Sequence[str]) -> str:
    return ", ".join(oracles) if len(oracles) <= NAMED_ORACLES else f"{len(oracles)} oracles"


def _counted(rows: Sequence[CheckRow]) -> list[tuple[str, int]]:
    """How many verdicts there are of each kind, what does not apply apart."""
    words = (row.verdict if row.applies else "not applicable" for row in rows)
    counts = Counter(words)
    order = ("failed", "passed", "inconclusive", "skipped", "not applicable")
    return [(word, counts[word]) for word in order if counts[word]]


def show_reduction(result: ReduceResult | NothingToReduce, output: Path, as_json: bool, stats: bool = False) -> None:
    """Where the script or the case went and how small it got, or what was tried where nothing fails. stats: what
    each step has cost and given."""
    if as_json:
        print_json({**result.to_json(), "output": str(output)})
        return
    terminal = console()
    if isinstance(result, NothingToReduce):
        terminal.say(one_line(f"nothing to reduce: {result.tried[0]}"))
        for line in result.tried[1:]:
            terminal.say(f"- {one_line(line)}")
        return
    told = result.reduced
    sizes = [
        f"{number_of(int(told[f'{plural}_before']), one, plural)} -> {told[plural]:g}"
        for one, plural in (("binding", "bindings"), ("statement", "statements"), ("pass", "passes"))
    ]
    cost = f"{number_of(int(told['oracle_calls']), 'trial')}, {told['seconds']:.1f} s"
    terminal.say(one_line(f"wrote {output}: {', '.join(sizes)}, {cost}"))
    if result.kept:
        terminal.say(one_line(f"kept: {result.kept}"))
    if result.known:
        terminal.say(one_line(f"known: {result.known}"))
    for line in result.others:
        terminal.say(one_line(f"also met: {line}"))
    for line in result.notes:
        terminal.say(one_line(f"note: {line}"))
    if stats:
        _show_steps(terminal, result)


def _show_steps(terminal: Terminal, result: ReduceResult) -> None:
    table = Table("step", "tried", "edits accepted", "s", box=None, header_style="bold")
    for row in (row for row in result.steps if row.tried):
        table.add_row(cell(row.step), cell(row.tried), cell(row.accepted), cell(f"{row.seconds:.2f}"))
    terminal.print(table)


def show_replay(result: ReplayResult, as_json: bool) -> None:
    """The matrix of cases and TVMs, what a reader must see with its message, and a line for all."""
    if as_json:
        print_json(result.to_json())
        return
    matrix, terminal = result.matrix, console()
    table = Table("case", box=None, header_style="bold")
    for column in matrix.had:
        table.add_column(cell(column.label))
    for case in matrix.cases:
        found = [matrix.cell(case, column) for column in matrix.had]
        table.add_row(cell(case), *(_styled(row.outcome) if row is not None else cell("") for row in found))
    terminal.print(table)
    if telling := matrix.telling():
        said = Table("what", "case", "TVM", "message", box=None, header_style="bold")
        for row in telling:
            said.add_row(_styled(row.outcome), cell(row.case), cell(row.tvm), cell(row.message[:SHOWN_MESSAGE]))
        terminal.say("")
        terminal.print(said)
    terminal.say("")
    for column in matrix.columns:
        terminal.say(one_line(f"{column.label}: {matrix.counts(column)}"), "bold red" if column.fault else "")
    for tvm, gone in groupby(result.gone(), key=lambda one: one.tvm):
        titles = [one.title for one in gone]
        said_gone = "1 known cause is" if len(titles) == 1 else f"{len(titles)} known causes are"
        terminal.say(one_line(f"{said_gone} gone on TVM {tvm}: {'; '.join(titles)}"), "bold green")
    terminal.say(one_line(matrix.summary()), "bold")


def show_listing(listing: Listing, as_json: bool) -> None:
    """The rows of a table."""
    if as_json:
        print_json(listing.to_json())
        return
    table = Table(*listing.columns, box=None, header_style="bold")
    for row in listing.rows:
        table.add_row(*map(cell, row))
    terminal = console()
    terminal.print(table)
    terminal.say(f"{len(listing.rows)} {listing.name}")


def show_diagnosis(diagnosis: Diagnosis, as_json: bool) -> None:
    """Every probe, and last what to do."""
    if as_json:
        print_json(diagnosis.to_json())
        return
    table = Table("what", "state", "detail", box=None, header_style="bold")
    for probe in diagnosis.probes:
        table.add_row(cell(probe.name), _styled(probe.state), cell(probe.detail))
    console().print(table)


def _styled(word: str) -> Text:
    return cell(word, _STYLES.get(word, ""))
