"""The table of report formats: one row each. To add one, write a file with `render` and add its row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from reports import html, junit, markdown, sarif
from reports.finding_files import Files, files_under, no_files
from reports.summary import Report, write_text


@dataclass(frozen=True, slots=True)
class Format:
    """A report format: the option's name, the file under OUT, the text of a report with the texts of its findings, and
    how its language writes a character by its number."""

    name: str
    file: str
    text: Callable[[Report, Files], str]
    escape: str

    def render(self, report: Report, files: Files = no_files) -> str:
        """The text of a report. files: where the texts of findings come from."""
        return self.text(report, files)

    def write(self, out: Path, report: Report) -> Path:
        """Writes the report into `out`, with the texts of the findings there, and returns its path."""
        path = out / self.file
        write_text(path, self.render(report, files_under(out)))
        return path


def _without_files(module: ModuleType) -> Format:
    """The row of a format that shows no texts of findings."""
    return Format(module.NAME, module.FILE, lambda report, _: module.render(report), module.ESCAPE)


FORMATS: tuple[Format, ...] = (
    Format(html.NAME, html.FILE, html.render, html.ESCAPE),
    *map(_without_files, (markdown, junit, sarif)),
)


def write_formats(out: Path, report: Report, names: Sequence[str] = ()) -> dict[str, Path]:
    """Writes a report in these formats, in every one where none is named; their paths. Where one cannot be written, the
    others are, and the first OSError is raised; of a run that has ended none of an earlier moment stays in its place.
    """
    failed: OSError | None = None
    paths: dict[str, Path] = {}
    for row in map(format_named, names) if names else FORMATS:
        try:
            paths[row.name] = row.write(out, report)
        except OSError as error:
            failed = failed or error
            if report.facts.ended is not None:
                with suppress(OSError):
                    (out / row.file).unlink()
    if failed is not None:
        raise failed
    return paths


def format_named(name: str) -> Format:
    """The row of a format. Raises KeyError."""
    return {row.name: row for row in FORMATS}[name]
