"""What a reduced finding's last pass has given, as an issue shows it; and the machine that it was seen on. Worker
processes only: a pass or a verifier may crash, so all of it is done in a child."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import tvm

from corpus.finding import Aftermath
from corpus.reduce import Candidate
from fuzzer.protocol import Plan
from fuzzer.trial.repertoire import Repertoire
from generators.source import SeededSource
from oracles.forked import Ended, forked
from oracles.ir.difference import HEAD, difference
from oracles.ir.verifier import first_complaint
from oracles.reference.numbers import Numbers
from oracles.trace import MeaningState, Raised
from oracles.scripts import script_for
from oracles.workbench import Workbench


def aftermath_of(case: Candidate, plan: Plan, repertoire: Repertoire, oracle: str) -> Aftermath:
    """What the last pass made of its module, and what TVM's verifiers say of it; nothing where a pass raises, where
    there is none, or where looking at it ends the child. For an oracle that applies the pass again, that application.
    """
    again = script_for(oracle, None, expectations=False, on_device=False).again
    found = forked(lambda: _looked_at(case, plan, repertoire, again), plan.deadline_s)
    return Aftermath() if isinstance(found, Ended) else found


def _looked_at(case: Candidate, plan: Plan, repertoire: Repertoire, again: bool) -> Aftermath:
    meaning = MeaningState(Numbers(case.module, case.calls))
    bench = Workbench(SeededSource(0), meaning, repertoire.names, plan.target)
    before = after = case.module
    for call in (*case.setup, *case.passes, *(case.passes[-1:] if again else ())):
        given = bench.apply(call, after)
        if isinstance(given, Raised):
            return Aftermath()
        before, after = after, given
    if after is before:
        return Aftermath()
    call_of_verifier, said = first_complaint(after)
    change = difference(before, after)
    return Aftermath(call_of_verifier, said, change if change != HEAD else "")


def environment() -> tuple[tuple[str, str], ...]:
    """Rows for the part "Environment" of an issue: names and versions of what was running."""
    rows = (
        ("TVM", str(tvm.__version__)),
        ("tvm-ffi", _installed("apache-tvm-ffi")),
        ("LLVM", str(tvm.target.codegen.llvm_version_major(allow_none=True) or "")),
        ("Python", platform.python_version()),
        ("OS", f"{platform.system()} {platform.machine()}, {' '.join(platform.libc_ver())}".rstrip(", ")),
    )
    return tuple((name, value) for name, value in rows if value)


def _installed(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""
