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
from oracles.ir.difference import difference
from oracles.ir.verifier import first_complaint
from oracles.reference.numbers import Numbers
from oracles.trace import MeaningState, Raised
from oracles.workbench import Workbench


def aftermath_of(case: Candidate, plan: Plan, repertoire: Repertoire) -> Aftermath:
    """What the last pass made of its module, and what TVM's verifiers say of it; nothing where a pass raises, where
    there is none, or where looking at it ends the child."""
    found = forked(lambda: _looked_at(case, plan, repertoire), plan.deadline_s)
    return Aftermath() if isinstance(found, Ended) else found


def _looked_at(case: Candidate, plan: Plan, repertoire: Repertoire) -> Aftermath:
    meaning = MeaningState(Numbers(case.module, case.calls))
    bench = Workbench(SeededSource(0), meaning, repertoire.names, plan.target)
    before = after = case.module
    for call in (*case.setup, *case.passes):
        given = bench.apply(call, after)
        if isinstance(given, Raised):
            return Aftermath()
        before, after = after, given
    if after is before:
        return Aftermath()
    call_of_verifier, said = first_complaint(after)
    return Aftermath(call_of_verifier, said, difference(before, after))


def environment() -> tuple[tuple[str, str], ...]:
    """Rows for the part "Environment" of an issue: names and versions of what was running."""
    library = tvm.support.libinfo()
    rows = (
        ("TVM", str(tvm.__version__)),
        ("tvm-ffi", _installed("apache-tvm-ffi")),
        ("LLVM", str(library.get("LLVM_VERSION", ""))),
        ("Python", platform.python_version()),
        ("OS", f"{platform.system()} {platform.machine()}, {' '.join(platform.libc_ver())}".rstrip(", ")),
    )
    return tuple((name, value) for name, value in rows if value)


def _installed(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""
