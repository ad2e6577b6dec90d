"""The texts in the folder of a finding, as a report shows them. They may be a stranger's: data, and nothing more."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from corpus.escapes import fenced_in
from corpus.regular_files import MEBIBYTE, is_real_folder, read_regular
from reports.finding_row import FindingRow

SCRIPT_FILE, ISSUE_FILE, README_FILE = "repro.py", "issue.md", "README.md"
MOST = MEBIBYTE
"""Bytes of a file that are read; a larger one is not shown."""
LONGEST = 20_000
LONGEST_TITLE = 300
"""Characters that are shown of a text, and of a title."""

_HEADING, _PLAIN_TITLE = re.compile(r"# (.+)"), re.compile(r" {4}(.+)")
_FAULT = re.compile(r"^## Whose fault\n\n((?:- .*\n)+)", re.MULTILINE)
_ESCAPED = re.compile(r"\\([\\`*{}\[\]|~$^_+=#.)-])")
_ENTITY = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&#8203;": ""}
_ENTITIES = re.compile("|".join(map(re.escape, _ENTITY)))


@dataclass(frozen=True, slots=True)
class FindingFiles:
    """What lies in the folder of a finding; "" for what is not there, or is no regular file of an ordinary size.

    title: that of the issue, one line; "" where there is none. script: repro.py. issue: issue.md, in older folders
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
    script, issue, readme = (_text(folder / name) for name in (SCRIPT_FILE, ISSUE_FILE, README_FILE))
    fault = _FAULT.search(readme)
    difference = fenced_in(readme, "diff") or fenced_in(issue, "diff")
    return FindingFiles(
        title=_title(issue),
        script=script[:LONGEST],
        issue=(issue or readme)[:LONGEST],
        difference=difference[:LONGEST],
        fault=tuple(_plain(line[2:])[:LONGEST] for line in fault[1].splitlines()) if fault else (),
        cut=max(map(len, (script, issue or readme, difference))) > LONGEST,
    )


def _title(issue: str) -> str:
    """The first line of an issue; in those of older versions it is a heading in Markdown."""
    if plain := _PLAIN_TITLE.match(issue):
        return plain[1][:LONGEST_TITLE].strip()
    heading = _HEADING.match(issue)
    return _plain(heading[1][: 2 * LONGEST_TITLE].replace("`", "")) if heading else ""


def _text(path: Path) -> str:
    """The text of a regular file of an ordinary size, without the characters that UTF-8 cannot hold."""
    try:
        return read_regular(path, MOST, follow=False).decode("utf-8", "replace")
    except OSError:
        return ""


def _plain(line: str) -> str:
    """What a line of Markdown of ours says (`corpus.escapes.Markdown`)."""
    return _ENTITIES.sub(lambda match: _ENTITY[match[0]], _ESCAPED.sub(r"\1", line))
