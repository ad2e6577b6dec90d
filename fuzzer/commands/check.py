"""`passfuzz check`: every oracle on one module or case, in a process of its own. No TVM here."""

from __future__ import annotations

from pathlib import Path

from fuzzer.errors import EnvironmentFault
from fuzzer.oneshot.ask import ask
from fuzzer.oneshot.messages import Culprit, FaultLine, Keep, Note, OracleAnswer, Request, VariableValue
from fuzzer.oneshot.read_case import judged_on, read_subject, refuse_groups
from fuzzer.own_numbers import DRAWN, OwnNumbers
from fuzzer.processes.scratch import scratch_folder
from fuzzer.results import CheckResult
from fuzzer.trust import admit

LIMIT_S = 3600.0
"""Seconds for everything; each stage has a deadline of its own."""


def check_module(
    path: Path,
    passes: tuple[str, ...],
    target: str | None,
    load: Path | None,
    explain: bool = False,
    trust: bool = False,
    own: OwnNumbers = DRAWN,
) -> CheckResult:
    """Judges the module in a file, or the case in a folder, by every oracle.

    target: None for the case's own. passes: names, in order; () for the case's own, else the loaded file's, else the
    default build pipeline.
    explain: whether the values of the first entry call are wanted too.
    trust: whether what the module or case says may run as Python, and without walls around it.
    own: inputs and a tolerance of the user's. Inputs of `main` are drawn from its parameters' types where there are
    none. A crash or a hang is a row like any other; so is what a pass of a captured case raises, though it may be on
    purpose. Raises UsageError for what cannot be read or is ill-formed, EnvironmentFault for a TVM that does not work
    and where no oracle has said anything, which is no success.
    """
    refuse_groups(passes)
    case = judged_on(read_subject(path, load, trust), target, path)
    if not trust:
        admit(path, case, load)
    trust = trust or case.load is not None
    keep = Keep(rejections=case.origin.captured)  # What a user's command fails by is what he means, as for `reduce`.
    with scratch_folder() as scratch:
        where = str(scratch)
        request = Request(
            "check", case, passes, keep, scratch=where, explain=explain, subject=str(path), trust=trust, own=own
        )
        replies = ask(request, LIMIT_S)
    rows = tuple(reply.row for reply in replies if isinstance(reply, OracleAnswer))
    if not rows:
        raise EnvironmentFault(f"{path}: no oracle said anything of it")
    culprit = next((reply.name for reply in replies if isinstance(reply, Culprit)), None)
    values = tuple(reply.row for reply in replies if isinstance(reply, VariableValue))
    fault = tuple(reply.line for reply in replies if isinstance(reply, FaultLine))
    notes = tuple(reply.line for reply in replies if isinstance(reply, Note))
    return CheckResult(rows, culprit, values, fault, notes)
