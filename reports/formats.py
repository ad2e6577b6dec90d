"""The table of report formats: one row each. To add one, write a file with `render` and add its row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reports import html, junit, markdown, sarif
from reports.summary import Report, write_text


@dataclass(frozen=True, slots=True)
class Format:
    """A report format: the option's name, the file under OUT, the text of a report, and how its language writes a
    character by its number."""

    name: str
    file: str
    render: Callable[[Report], str]
    escape: str

    def write(self, out: Path, report: Report) -> Path:
        """Writes the report into `out` and returns its path."""
        path = out / self.file
        write_text(path, self.render(report))
        return path


FORMATS: tuple[Format, ...] = tuple(
    Format(module.NAME, module.FILE, module.render, module.ESCAPE) for module in (html, markdown, junit, sarif)
)


def write_formats(out: Path, report: Report) -> None:
    """Writes a report in every format."""
    for row in FORMATS:
        row.write(out, report)


def format_named(name: str) -> Format:
    """The row of a format. Raises KeyError."""
    return {row.name: row for row in FORMATS}[name]
