"""A case whose script cannot show its bug, since TVM does not build the module or no device is here: `passfuzz check`
judges it by the reference, in a process of its own under the TVM of the column."""

from __future__ import annotations

from pathlib import Path

from corpus.answers import last_line
from corpus.store import StoredCase
from fuzzer.errors import ExitStatus
from fuzzer.processes.scratch import scratch_folder
from fuzzer.processes.start import module_command, worker_environment
from fuzzer.replaying.ending import BrokenScript, Ending, Gone, Unportable, WrongByReference
from fuzzer.replaying.warm import WarmTvm
from fuzzer.results import CheckRow, rows_of


def checked(server: WarmTvm, folder: Path, case: StoredCase, trust: bool) -> tuple[Ending, float]:
    """What `check` says of a case under the TVM of a server, and its seconds."""
    given = server.tvm.given
    asked = ["check", str(folder), "--json", *(["--tvm", given] if given else []), *(["--trust"] if trust else [])]
    with scratch_folder() as said:
        status, seconds = server.run(module_command("fuzzer.cli", *asked), worker_environment(), said)
        if status is None:
            return BrokenScript("`passfuzz check` gives no answer in time"), seconds
        stdout, stderr = ((said / name).read_bytes() for name in ("stdout", "stderr"))
    if status not in (ExitStatus.CLEAN, ExitStatus.NEW_FINDING):
        return BrokenScript(last_line(stderr.decode(errors="replace")) or f"ends with {status}"), seconds
    rows = rows_of(stdout)
    said_nothing = BrokenScript("`passfuzz check` says nothing that can be read")
    return said_nothing if rows is None else judged(case, rows), seconds


def judged(case: StoredCase, rows: tuple[CheckRow, ...]) -> Ending:
    """What these verdicts say of the case."""
    wrong = [row for row in rows if row.verdict == "failed"]
    known = [row for row in wrong if row.is_of(case.oracle, case.symptom)]
    if wrong:
        return WrongByReference((known or wrong)[0].message, bool(known))
    asked = [row for row in rows if row.oracle == case.oracle]
    if any(row.verdict == "passed" for row in asked):
        return Gone("the reference finds nothing wrong")
    return Unportable(next((row.message for row in asked if row.message), "has nothing to judge here"))
