"""The issues of findings whose cause was seen in a better tier than their own: the tier belongs to the cause."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from corpus.regular_files import is_real_folder, read_regular
from corpus.store import MOST_TEXT, UNREADABLE, write_atomically
from corpus.wording import SEVERITY, severity_line
from reports.causes import causes_of
from reports.finding_files import ISSUE_FILE
from reports.finding_row import FindingRow

_SAID = re.compile(rf"^{SEVERITY}.*$", re.MULTILINE)


def retell_issues(out: Path, rows: Iterable[FindingRow], cause: str | None = None) -> None:
    """Writes the severity of its cause into the issue of each finding. cause: of those to look at, None for all.

    Raises OSError where an issue cannot be written; one that cannot be read is left alone.
    """
    for one in causes_of(rows):
        for row in one.findings if cause in (None, one.cause) else ():
            _retell(out / row.case, severity_line(row.symptom, row.evidence, one.tier))


def _retell(folder: Path, line: str) -> None:
    if not (is_real_folder(folder.parent) and is_real_folder(folder)):
        return
    path = folder / ISSUE_FILE
    try:
        text = read_regular(path, MOST_TEXT, follow=False).decode()
    except UNREADABLE:
        return
    told = _SAID.sub(lambda _: line, text, count=1)
    if told != text:
        write_atomically(path, told.encode())
