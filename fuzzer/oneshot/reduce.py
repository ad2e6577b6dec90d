"""What `passfuzz reduce` does in its process: keeps a failure of an oracle, or what the user's command accepts."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from corpus.finding import stats_row, to_line
from corpus.findings import stored_from, with_each_fill
from corpus.module_text import text_of, with_imports
from corpus.named_errors import naming
from corpus.reduce import Candidate, reduce
from corpus.repro import repro_text
from fuzzer.oneshot.check import outcome_of
from fuzzer.oneshot.messages import Reduction, Request
from fuzzer.oneshot.prepare import NotCarriedOut, Say, Subject
from fuzzer.protocol import Failure
from fuzzer.trial.shrink import shrink
from oracles.family import adopt_orphans, children, die_with_parent, end_children

COMMAND_S = 60.0
"""Seconds that one call of the user's command may take; longer is not interesting."""


# --- by an oracle ---------------------------------------------------------------------------------------


def reduce_by_oracle(subject: Subject, say: Say) -> None:
    """Says Reduction with the repros of the smallest case found, one per fill.

    Raises NotCarriedOut where nothing fails."""
    failure = _failure_of(subject)
    start = subject.start
    passes = start.passes if failure.step is None else start.passes[: failure.step + 1]
    like = replace(subject.request.case, passes=passes, setup=start.setup, calls=start.calls)
    candidate = Candidate(start.module, start.setup, passes, start.calls)
    finding = shrink(subject.plan, subject.repertoire, failure, candidate, like, subject.request.time_s)
    if finding is None:
        line = f"{failure.oracle}: {failure.culprit}: {failure.symptom}"
        raise NotCarriedOut(f"{line}: fails once and not again when it is judged alone", usage=False)
    repros = tuple(repro_text(stored_from(one), single=True) for one in with_each_fill(finding))
    say(Reduction(repros, to_line(finding)["reduced"], finding.signature.slug, finding.case.module.json))


def _failure_of(subject: Subject) -> Failure:
    """The first failure, of the oracle that was asked for if one was."""
    wanted = subject.request.oracle
    outcome = outcome_of(subject, wanted)
    for failure in outcome.failures:
        if wanted in (None, failure.oracle):
            return failure
    what = "no oracle fails" if wanted is None else f"the oracle {wanted} does not fail"
    passes = "what is left of the default build"
    if not subject.implied:
        passes = ", ".join(call.name for call in subject.start.passes)
    note = f"; {subject.note}" if subject.note else ""
    raise NotCarriedOut(f"nothing to reduce: {what} on this module under {passes}{note}")


# --- by a command ---------------------------------------------------------------------------------------


def reduce_by_command(request: Request, start: Candidate, say: Say) -> None:
    """Says Reduction with the smallest module that the command accepts.

    Raises NotCarriedOut where it refuses the first.
    """
    assert request.interesting is not None
    command = shlex.split(request.interesting)
    module_only = replace(start, setup=(), passes=(), calls=())
    file = Path(request.scratch) / "candidate.py"
    limit = min(COMMAND_S, request.time_s)

    def status(candidate: Candidate) -> int | None:
        with naming(file):
            file.write_text(_module_file(candidate), encoding="utf-8")
        return status_of([*command, str(file)], limit)

    first = status(module_only)
    if first != 0:
        how = f"does not end within {limit:g} s" if first is None else f"ends with status {first}"
        raise NotCarriedOut(
            f"--interesting {request.interesting}: {how} on the module as it is; 0 would be interesting"
        )
    reduction = reduce(module_only, lambda candidate: status(candidate) == 0, budget_s=request.time_s)
    say(Reduction((_module_file(reduction.candidate),), stats_row(reduction.stats(), 0), None))


def _module_file(candidate: Candidate) -> str:
    return with_imports(text_of(candidate.module).script)


def status_of(command: list[str], limit_s: float) -> int | None:
    """The exit status of a command, negative for a signal; None when it takes too long. It ends with this process,
    and what it starts ends with it."""
    adopt_orphans()
    siblings = children()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=_dies_with(os.getpid()),
    )
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        end_children(siblings)


def _dies_with(parent: int) -> Callable[[], None]:
    return partial(die_with_parent, parent)
