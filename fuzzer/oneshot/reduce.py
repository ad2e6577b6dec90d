"""What `passfuzz reduce` does in its process: keeps a failure of an oracle, or whatever the user's command accepts."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from corpus.finding import stats_row, to_line
from corpus.findings import stored_from, with_each_fill
from corpus.module_text import text_of, with_imports
from corpus.reduce import Candidate, reduce
from corpus.repro import repro_text
from fuzzer.oneshot.ask import Errand
from fuzzer.oneshot.check import check, outcome_of
from fuzzer.oneshot.prepare import Bench, Refused, Say, live_candidate, make_ready, recorder_of
from fuzzer.processes.fork import die_with_parent
from fuzzer.protocol import Failure
from fuzzer.trial.shrink import shrink

COMMAND_S = 60.0
"""Seconds that one call of the user's command may take; longer is not interesting."""


def carry_out(errand: Errand, say: Say) -> None:
    """Does what the errand asks for. Raises Refused."""
    if errand.interesting is not None:
        reduce_by_command(errand, live_candidate(errand, recorder_of(errand)), say)
        return
    bench = make_ready(errand)
    if errand.what == "check":
        check(bench, say)
    else:
        reduce_by_oracle(bench, say)


# --- by an oracle ---------------------------------------------------------------------------------------


def reduce_by_oracle(bench: Bench, say: Say) -> None:
    """Says "reduced" with the repros of the smallest case found, one per fill. Raises Refused where nothing fails."""
    failure = _failure_of(bench)
    start = bench.start
    passes = start.passes if failure.step is None else start.passes[: failure.step + 1]
    like = replace(bench.errand.case, passes=passes, setup=start.setup, calls=start.calls)
    candidate = Candidate(start.module, start.setup, passes, start.calls)
    finding = shrink(bench.plan, bench.repertoire, failure, candidate, like, bench.errand.time_s)
    if finding is None:
        line = f"{failure.oracle}: {failure.culprit}: {failure.symptom}"
        raise Refused(f"{line}: fails once and not again when it is judged alone", usage=False)
    repros = [repro_text(stored_from(one), embed_arrays=True) for one in with_each_fill(finding)]
    say("reduced", repros=repros, reduced=to_line(finding)["reduced"], finding=finding.signature.slug)


def _failure_of(bench: Bench) -> Failure:
    """The first failure, of the oracle that was asked for if one was."""
    wanted = bench.errand.oracle
    outcome = outcome_of(bench, wanted)
    for failure in outcome.failures:
        if wanted in (None, failure.oracle):
            return failure
    what = "no oracle fails" if wanted is None else f"the oracle {wanted} does not fail"
    passes = "what is left of the default build"
    if not bench.implied:
        passes = ", ".join(call.name for call in bench.start.passes)
    note = f"; {bench.note}" if bench.note else ""
    raise Refused(f"nothing to reduce: {what} on this module under {passes}{note}")


# --- by a command ---------------------------------------------------------------------------------------


def reduce_by_command(errand: Errand, start: Candidate, say: Say) -> None:
    """Says "reduced" with the smallest module that the command accepts. Raises Refused where it refuses the first."""
    assert errand.interesting is not None
    command = shlex.split(errand.interesting)
    module_only = replace(start, setup=(), passes=(), calls=())
    file = Path(errand.scratch) / "candidate.py"
    limit = min(COMMAND_S, errand.time_s)

    def status(candidate: Candidate) -> int | None:
        file.write_text(_module_file(candidate), encoding="utf-8")
        return status_of([*command, str(file)], limit)

    first = status(module_only)
    if first != 0:
        how = f"does not end within {limit:g} s" if first is None else f"ends with status {first}"
        raise Refused(f"--interesting {errand.interesting}: {how} on the module as it is; 0 would be interesting")
    reduction = reduce(module_only, lambda candidate: status(candidate) == 0, budget_s=errand.time_s)
    say("reduced", repros=[_module_file(reduction.candidate)], reduced=stats_row(reduction.stats(), 0), finding=None)


def _module_file(candidate: Any) -> str:
    return with_imports(text_of(candidate.module).script)


def status_of(command: list[str], limit_s: float) -> int | None:
    """The exit status of a command, negative for a signal; None when it takes too long. It ends with this process."""
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


def _dies_with(parent: int) -> Callable[[], None]:
    return partial(die_with_parent, parent)
