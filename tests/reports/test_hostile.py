"""Every text of a report, filled with hostile text: each format parses to the same shape as with a harmless word."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_type_hints
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from rich.table import Table
from rich.text import Text

from corpus.escapes import is_finding_script, one_line, visible
from fuzzer.commands.report import report_on
from fuzzer.errors import tell
from fuzzer.render import (
    show_check,
    show_diagnosis,
    show_listing,
    show_reduction,
    show_replay,
)
from fuzzer.results import (
    CheckResult,
    CheckRow,
    Diagnosis,
    Listing,
    ReduceResult,
    ReplayResult,
    ValueRow,
)
from fuzzer.versions import Probe
from generators.case import Tier
from oracles.evidence import Died, Evidence
from reports import html, junit, markdown, replay_matrix, sarif
from reports.finding_files import FindingFiles
from reports.finding_row import FindingRow, Standing, row_of
from reports.formats import FORMATS
from reports.live import LiveDisplay
from reports.matrix import Column, Matrix, ReplayRow
from reports.reached import ALL, Reached
from reports.summary import Report, RunEnd, RunFacts, write_out
from reports.tally import FIELDS, Tally, tally_of
from reports.terminal import Terminal, cell
from reports.view import show
from reports.words import finding_line
from tests.corpus.markdown_shape import shape, words
from tests.hostile import HOSTILE, examples, texts
from tests.reports.reports_data import finding

WORD = "word"
TABLES = ("passes", "oracles")
MET = ("met_ops", "met_nodes")


def filled(kind: Any, text: str, **others: Any) -> Any:
    """A record whose every text is `text`, whatever fields it has."""
    values: dict[Any, Any] = {
        str: text,
        str | None: text,
        tuple[str, ...]: (text, text),
        Mapping[str, int | float]: {text: 1},
        int | float: 1.0,
        int: 2,
        bool: False,
        RunEnd | None: None,
        Reached | None: Reached(text, {text: 1, ALL: 1}, {text: 2, ALL: 2}),
        Standing: "new",
        Tier: "B",
        Evidence | None: Died(text),
    }
    hints = get_type_hints(kind)
    return kind(**{field.name: values[hints[field.name]] for field in fields(kind)} | others)


def report_of(text: str) -> Report:
    """A report all of whose texts are one, in findings that are new and known, of a pass and of none."""
    new = filled(FindingRow, text, tier="B", link="")
    known = replace(new, known=True, standing="known", cause="".join((text, "2")), tier="A")
    of_none = replace(new, culprit="none", tier="C", cause="".join((text, "3")))
    rows = (new, known, of_none, replace(new, signature="other"))
    counted = {name: {text: 1, "second": 1} for name in FIELDS if isinstance(getattr(Tally(), name), dict)}
    met = {name: {text: {text: (2, 1, 1)}, "second": {text: (2, 1, 0)}} for name in MET}
    tables = {name: {text: {}, "second": {}} for name in TABLES}
    refusals = {"refusals": {text: {text: 1}}}
    tally = tally_of({**dict.fromkeys(FIELDS, 1), **counted, **tables, **met, **refusals})
    return Report(filled(RunFacts, text), tally, rows, (text, text))


def same_shape(of: Callable[[Any], object], render: Callable[[Report], str], text: str) -> bool:
    return not one_line(text) or of(render(report_of(text))) == of(render(report_of(WORD)))


# --- files ----------------------------------------------------------------------------------------------


class _Page(HTMLParser):
    """Tags with the names of their attributes, and where links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_endtag(self, tag: str) -> None:
        self.tags.append((f"/{tag}", ()))

    def handle_comment(self, data: str) -> None:
        self.tags.append(("!--", ()))

    def handle_pi(self, data: str) -> None:
        self.tags.append(("?", ()))


def page(text: str) -> _Page:
    parsed = _Page()
    parsed.feed(text)
    parsed.close()
    return parsed


def files_of(text: str) -> Callable[[FindingRow], FindingFiles]:
    """Folders of findings in which every text is one."""
    line = one_line(text)
    difference = f"--- before\n+++ after\n@@ {line} @@\n-{line}\n+{line}\n {line}"
    return lambda row: FindingFiles(line, text, text, difference, (text, text), True)


@examples(40)
@given(texts)
@example(HOSTILE)
@example("</script></style></pre></title><script>alert(1)</script>")
@example("{{ 7 * 7 }}{% raw %}")
def test_html(text: str) -> None:
    assert same_shape(lambda written: page(written).tags, lambda of: html.render(of, files_of(of.facts.tvm)), text)
    parsed = page(html.render(report_of(text), files_of(text)))
    assert not [link for link in parsed.links if not (is_finding_script(link) or link.startswith("#"))]


@pytest.mark.parametrize("link", ["javascript:alert(1)", "https://evil.org/apache/tvm/issues/1", "//evil.org", "/x"])
def test_a_link_of_a_stranger_leads_nowhere(link: str) -> None:
    row = FindingRow("slug", "numeric", "FuseOps", "crash", "value", link=link)
    written = html.render(Report(RunFacts("0.27", "0.1", 1, ("llvm",), ended="done"), Tally(), (row,)))
    assert not [one for one in page(written).links if not one.startswith("#")]
    known = replace(row, link="apache/tvm#17340")
    written = html.render(Report(RunFacts("0.27", "0.1", 1, ("llvm",), ended="done"), Tally(), (known,)))
    assert "https://github.com/apache/tvm/issues/17340" in page(written).links


@examples(40)
@given(texts)
@example(HOSTILE)
def test_markdown(text: str) -> None:
    assert same_shape(shape, markdown.render, text)
    assert words(markdown.render(report_of(text)))[1] == []


def tree(element: ElementTree.Element) -> Any:
    """Tags and names of attributes; neighbours in any order, as those of a suite follow their names."""
    return (element.tag, sorted(element.attrib), sorted(tree(child) for child in element))


@examples(40)
@given(texts)
@example(HOSTILE)
def test_junit(text: str) -> None:
    assert same_shape(lambda written: tree(ElementTree.fromstring(written.encode())), junit.render, text)


def form(value: Any) -> Any:
    """JSON without its texts and numbers."""
    match value:
        case dict():
            return {name: form(one) for name, one in value.items()}
        case list():
            return [form(one) for one in value]
        case _:
            return type(value).__name__


def strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for one in value.values():
                yield from strings(one)
        case list():
            for one in value:
                yield from strings(one)


@examples(40)
@given(texts)
@example(HOSTILE)
def test_sarif(text: str) -> None:
    assert same_shape(lambda written: form(json.loads(written)), sarif.render, text)
    (run,) = json.loads(sarif.render(report_of(text)))["runs"]
    for result in run["results"]:
        (place,) = result["locations"]
        uri = place["physicalLocation"]["artifactLocation"]["uri"]
        assert uri == "." or is_finding_script(uri)
        assert not urlsplit(uri).scheme
    assert not [said for said in strings(run) if "](" in said or visible(said) != said]


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
@examples(20)
@given(text=texts)
@example(text=HOSTILE)
def test_a_format_that_is_printed_does_nothing_to_a_terminal(row: Any, text: str) -> None:
    written = row.render(report_of(text))
    assert visible(written) == written
    written.encode()


PLACES = ["javascript:alert(1)", "findings/a/../../x/repro.py", "/etc/passwd", "findings/a/repro.py\n```\n# x",
          "https://evil.org/findings/a/repro.py", "findings/a b/repro.py", "findings/a/repro.py;id"]  # fmt: skip


@pytest.mark.parametrize("repro", PLACES)
@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_no_format_links_or_tells_to_run_another_path(row: Any, repro: str) -> None:
    found = FindingRow("slug", "numeric", "FuseOps", "crash", "value", repro=repro)
    facts = RunFacts("0.27", "0.1", 1, ("llvm",), ended="done")
    written = row.render(Report(facts, Tally(), (found,))).replace("<code>findings/</code>", "")
    assert "findings/" not in written
    assert "javascript" not in written and "passwd" not in written


# --- terminals ------------------------------------------------------------------------------------------

_OF_RICH = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
"""What rich writes on a terminal: styles, and the cursor of a live display."""


def commands(shown: str) -> list[str]:
    """The lines of a job's output that a CI runner takes for commands."""
    return [
        line for line in shown.split("\n") if line.strip().startswith("::") or "##[" in line or "##vso[" in line.lower()
    ]


def assert_harmless_on_terminals(draw: Callable[[Terminal, str], None], text: str) -> None:
    """Asserts that a text comes out without effect, through a pipe and on a terminal, where only rich's styles have."""
    plain = _drawn(draw, text, None)
    assert "".join(set(plain) & {chr(code) for code in range(32)} - {"\n"}) == ""
    assert visible(plain) == plain
    assert commands(plain) == []
    styled, harmless = (_drawn(draw, one, True) for one in (text, WORD))
    assert set(_OF_RICH.findall(styled)) <= set(_OF_RICH.findall(harmless)) | set(
        _OF_RICH.findall(_drawn(draw, "", True))
    )
    rest = _OF_RICH.sub("", styled).replace("\r", "")
    assert visible(rest) == rest
    assert commands(rest) == []


def _drawn(draw: Callable[[Terminal, str], None], text: str, force: bool | None) -> str:
    stream = io.StringIO()
    draw(Terminal(file=stream, width=200, force_terminal=force), text)
    return stream.getvalue()


def _show(terminal: Terminal, text: str) -> None:
    show(report_of(text), terminal)


class _Limits:
    seed, time_s, cases, jobs = 1, None, 3, 1

    def __init__(self, text: str) -> None:
        self.out: Any = text


def _live(terminal: Terminal, text: str) -> None:
    display = LiveDisplay(terminal)
    display.on_start(_Limits(text))
    display.on_finding(row_of(finding(message=text)))
    display.on_tally(report_of(text).tally, 100.0)
    display.on_end()


def _unescaped(terminal: Terminal, text: str) -> None:
    """What forgets `cell` is held back by the terminal."""
    table = Table(text)
    table.add_row(text)
    table.add_row(Text(text))
    terminal.print(table)
    terminal.print(text)


@pytest.mark.parametrize("draw", [_show, _live, _unescaped], ids=lambda draw: draw.__name__)
@examples(20)
@given(text=texts)
@example(text=HOSTILE)
@example(text="[/bold]")
def test_a_text_does_nothing_to_a_terminal(draw: Callable[[Terminal, str], None], text: str) -> None:
    assert_harmless_on_terminals(draw, text.encode("utf-8", "replace").decode() if draw is _live else text)


@examples(20)
@given(text=texts)
@example(text="0.27\nno new causes")
def test_a_text_makes_no_line_of_its_own_on_a_terminal(text: str) -> None:
    drawn, flat = (_drawn(_show, one, None).count("\n") for one in (text, text.replace("\n", "_")))
    assert drawn == flat, "a line that begins where ours do reads as ours"


@examples(40)
@given(texts)
@example(HOSTILE)
def test_the_line_of_a_finding_is_one_line(text: str) -> None:
    for row in report_of(text).findings:
        assert finding_line(row) == one_line(finding_line(row))


def test_markup_is_shown() -> None:
    shown = _drawn(_show, "[red]x[/red] :smile:", True)
    assert "[red]x[/red] :smile:" in shown
    assert cell("a\n\x1bb").plain == r"a \x1bb"


def _commands(text: str) -> Iterator[Callable[[], None]]:
    check = CheckRow(text, text, "failed", text, text, text)
    yield lambda: show_check(CheckResult((check,), text, (ValueRow(*[text] * 5),), (text,)), False)
    numbers = {f"{what}{part}": 1.0 for what in ("bindings", "statements", "passes") for part in ("", "_before")}
    reduced = {**numbers, "oracle_calls": 1.0, "seconds": 1.0}
    yield lambda: show_reduction(ReduceResult(text, reduced), text, False)  # type: ignore[arg-type]
    columns = (Column(text, text, text), Column(f"{text}2", fault=text))
    yield lambda: show_replay(ReplayResult((ReplayRow(text, text, "error", text),), columns), False)
    yield lambda: show_listing(Listing(text, (text,), ((text,),)), False)
    yield lambda: show_diagnosis(Diagnosis((Probe(text, "ok", text),)), False)
    yield lambda: show_diagnosis(Diagnosis((Probe(text, "ok", text),)), True)


@pytest.mark.parametrize("number", range(len(list(_commands(WORD)))))
def test_no_command_lets_a_text_act(capsys: pytest.CaptureFixture[str], number: int) -> None:
    list(_commands(HOSTILE))[number]()
    shown = capsys.readouterr().out
    assert shown and visible(shown) == shown
    assert commands(shown) == []


@pytest.mark.parametrize("text", [HOSTILE, "\n::error::x", "##[error]x", "\n  ::stop-commands::x"])
def test_no_error_lets_a_text_act(capsys: pytest.CaptureFixture[str], text: str) -> None:
    tell(f"error: {text}")
    (line,) = capsys.readouterr().err.splitlines()
    assert commands(line) == [] and visible(line) == line


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_no_report_on_stdout_is_a_command_to_a_job(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], row: Any
) -> None:
    hostile = "\n::error::x ##[error]y ##VSO[task.z]"
    rows = tuple(replace(one, signature=f"slug-{number}") for number, one in enumerate(report_of(hostile).findings))
    write_out(tmp_path, replace(report_of(hostile), findings=rows))
    report_on((tmp_path,), (row.name,), None, False)
    shown = capsys.readouterr().out
    assert commands(shown) == []
    if row.name == "sarif":
        assert json.loads(shown) == json.loads((tmp_path / row.file).read_text())
    report_on((tmp_path,), (), None, True)
    shown = capsys.readouterr().out
    assert commands(shown) == [] and hostile in json.loads(shown)["skipped"]


HOSTILE_MATRIX = Matrix(
    (Column(HOSTILE, HOSTILE, HOSTILE), Column(f"{HOSTILE}2", fault=HOSTILE)),
    (ReplayRow(HOSTILE, HOSTILE, "error", HOSTILE), ReplayRow(f"{HOSTILE}2", HOSTILE, "regressed", HOSTILE)),
)


def test_a_replay_is_xml() -> None:
    written = replay_matrix.junit(HOSTILE_MATRIX)
    root = ElementTree.fromstring(written.encode())
    assert [len(list(root.iter(tag))) for tag in ("failure", "error")] == [1, 2]
    assert visible(written) == written


def test_no_page_or_markdown_of_a_replay_lets_a_text_act() -> None:
    page, text = replay_matrix.html(HOSTILE_MATRIX), replay_matrix.markdown(HOSTILE_MATRIX)
    assert "<script" not in page and visible(page) == page
    assert "<script" not in text and visible(text) == text
    assert commands(text) == []
