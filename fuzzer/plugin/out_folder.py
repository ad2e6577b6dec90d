"""The folder of `--passfuzz-out`: what an earlier session has left there goes, and is not mixed in with this one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from fuzzer.campaign.checkpoint import CHECKPOINT_FILE
from fuzzer.campaign.out_folder import OF_A_RUN, remove
from fuzzer.errors import UsageError
from fuzzer.plugin.modules import FOLDER
from fuzzer.plugin.pairs import PAIRS_FILE
from reports.summary import FINDINGS, SUMMARY_FILE, UNCONFIRMED

_CASE_FILE = "case.json"
_MODULE_FILE = re.compile(r"[0-9a-f]{16}\.json")


def clear(out: Path) -> None:
    """Removes the results of an earlier `pytest --passfuzz`, and nothing else. Raises UsageError where OUT holds a
    campaign, or cannot be written."""
    if os.path.lexists(out / CHECKPOINT_FILE):
        raise UsageError(f"--passfuzz-out {out}: holds the results of passfuzz run; name another folder")
    try:
        for path in [*_left(out)]:
            remove(path)
    except OSError as error:
        raise UsageError(f"--passfuzz-out {out}: cannot be written: {error.strerror}") from error


def _left(out: Path) -> Iterator[Path]:
    """Findings are folders with a case; the other files are a session's where there is a summary of one."""
    for folder in (FINDINGS, UNCONFIRMED):
        yield from (case.parent for case in out.glob(f"{folder}/*/{_CASE_FILE}"))
    yield from (file for file in out.glob(f"{FOLDER}/*.json") if _MODULE_FILE.fullmatch(file.name))
    if (out / SUMMARY_FILE).is_file():
        files = (name for name in (*OF_A_RUN, PAIRS_FILE) if name not in (FINDINGS, UNCONFIRMED))
        yield from (out / name for name in files if os.path.lexists(out / name))
