"""The matrix of a replay as Markdown, as one self-contained page, and as JUnit XML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from corpus.escapes import Markdown
from reports.junit import TestCase, document
from reports.matrix import MEANINGS, Column, Matrix, ReplayRow
from reports.page import environment, hashed, inlined
from reports.summary import write_text

NOT_SHOWN = "."
LONGEST_MESSAGE = 200


def headline(matrix: Matrix) -> str:
    """What a reader must know first."""
    regressed = [row for row in matrix.rows if row.outcome == "regressed"]
    if regressed:
        return f"{len(regressed)} regressed" if len(regressed) > 1 else f"{regressed[0].case} regressed"
    return "nothing regressed" if matrix.rows else "nothing was replayed"


def markdown(matrix: Matrix) -> str:
    """The summary, what is not as recorded, and the whole matrix folded."""
    of, parts = Markdown.of, []
    parts.append(of("# passfuzz replay: {}", headline(matrix)))
    parts.append(of("{}.", matrix.summary()))
    parts += [of("* **{}: {}**", column.label, column.fault) for column in matrix.columns if column.fault]
    if telling := matrix.telling():
        rows = [of("| {} | {} | {} | {} |", r.outcome, r.case, r.tvm, r.message[:LONGEST_MESSAGE]) for r in telling]
        parts.append(
            Markdown.joined("\n", [of("| outcome | case | TVM | message |\n| --- | --- | --- | --- |"), *rows])
        )
    parts.append(of("<details><summary>Cases and TVMs</summary>\n\n{}\n\n</details>", _table(matrix)))
    return of("{}\n", Markdown.joined("\n\n", parts))


def _table(matrix: Matrix) -> Markdown:
    of, had = Markdown.of, matrix.had

    def line(first: str, cells: list[str]) -> Markdown:
        return of("| {} | {} |", first, Markdown.joined(" | ", [Markdown.escaped(one) for one in cells]))

    rows = [line("case", [column.label for column in had]), of("{}", Markdown("| --- " * (1 + len(had)) + "|"))]
    rows += [line(case, [_word(matrix.cell(case, column)) for column in had]) for case in matrix.cases]
    rows.append(line("all", [matrix.counts(column) for column in had]))
    return Markdown.joined("\n", rows)


def _word(row: ReplayRow | None) -> str:
    return NOT_SHOWN if row is None else row.outcome


def html(matrix: Matrix) -> str:
    """One page without network and without scripts, in the style of the report."""
    made = environment()
    made.filters["slug"] = lambda word: word.replace(" ", "-")
    style = inlined("report.css", "replay.css")
    return made.get_template("replay.html.j2").render(
        matrix=matrix,
        headline=headline(matrix),
        telling=matrix.telling(),
        meanings=MEANINGS,
        style=style,
        style_hash=hashed(style),
    )


def junit(matrix: Matrix) -> str:
    """A suite for each TVM, whose test cases are the cases of the corpus. What regressed is a failure, what could not
    be run an error, what is unportable is skipped; a TVM that could not be had is one error."""
    suites = [(f"replay on TVM {column.label}", _suite(matrix, column)) for column in matrix.columns]
    return document(suites, matrix.seconds)


def _suite(matrix: Matrix, column: Column) -> list[TestCase]:
    classname = f"passfuzz.replay.tvm-{column.label}"
    if column.fault:
        return [TestCase(classname, "this TVM", error=(column.fault, column.fault))]
    return [_test(classname, row) for row in matrix.rows if row.tvm == column.label]


def _test(classname: str, row: ReplayRow) -> TestCase:
    said = (f"{row.outcome}: {row.message}", row.message)
    return TestCase(
        classname,
        row.case,
        failures=(said,) if row.outcome == "regressed" else (),
        error=said if row.outcome == "error" else None,
        skipped=(row.message or row.outcome) if row.outcome == "unportable" else None,
        output=f"{row.outcome}: {row.message}" if row.message else row.outcome,
        seconds=row.seconds,
    )


FORMATS: dict[str, Callable[[Matrix], str]] = {"junit": junit, "markdown": markdown, "html": html}
"""By the name of their option."""


def write(matrix: Matrix, files: Mapping[str, Path]) -> None:
    """Writes each format into its file."""
    for name, file in files.items():
        write_text(file, FORMATS[name](matrix))
