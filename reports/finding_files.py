"""The texts in the folder of a finding, as a report shows them. They may be a stranger's: data, and nothing more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from corpus.case_texts import texts_of
from corpus.escapes import one_line, visible
from corpus.regular_files import MEBIBYTE, is_real_folder, read_regular
from reports.finding_row import FindingRow

RECORD_FILE, SCRIPT_FILE, ISSUE_FILE, README_FILE = "case.json", "repro.py", "issue.md", "README.md"
MOST = MEBIBYTE
"""Bytes of a file that are read; a larger one is not shown."""
LONGEST = 20_000
LONGEST_TITLE = 300
"""Characters that are shown of a text, and of a title."""


@dataclass(frozen=True, slots=True)
class FindingFiles:
    """What lies in the folder of a finding; "" for what is not there, or is no regular file of an ordinary size.

    title: that of the issue, one line; "" where there is no issue. script: repro.py. issue: issue.md, in older folders
    README.md. difference: what the pass did, as a unified diff. fault: lines on whose fault it is. cut: whether a text
    was longer than a report shows.
    """

    title: str = ""
    script: str = ""
    issue: str = ""
    difference: str = ""
    fault: tuple[str, ...] = ()
    cut: bool = False


Files: TypeAlias = Callable[[FindingRow], FindingFiles]
"""Where a report gets the texts of a finding from."""


def no_files(row: FindingRow) -> FindingFiles:
    """For a report of findings whose folders are elsewhere."""
    del row
    return FindingFiles()


def files_under(out: Path) -> Files:
    """The folders under OUT. Symbolic links are not followed, and nothing outside is read."""
    return lambda row: _read(out / row.case) if row.case and is_real_folder(out / "findings") else FindingFiles()


def _read(folder: Path) -> FindingFiles:
    if not is_real_folder(folder):
        return FindingFiles()
    names = (RECORD_FILE, SCRIPT_FILE, ISSUE_FILE, README_FILE)
    record, script, issue, readme = (_text(folder / name) for name in names)
    told = texts_of(record, readme, issue)
    return FindingFiles(
        title=one_line(told.title)[:LONGEST_TITLE] if issue else "",
        script=script[:LONGEST],
        issue=(issue or readme)[:LONGEST],
        difference=visible(told.difference).rstrip("\n")[:LONGEST],
        fault=tuple(one_line(line)[:LONGEST] for line in told.fault),
        cut=max(map(len, (script, issue or readme, told.difference))) > LONGEST,
    )


def _text(path: Path) -> str:
    """The text of a regular file of an ordinary size, without the characters that UTF-8 cannot hold."""
    try:
        return read_regular(path, MOST, follow=False).decode("utf-8", "replace")
    except OSError:
        return ""
