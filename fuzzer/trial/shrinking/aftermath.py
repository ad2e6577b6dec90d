"""What a reduced finding's last pass has given, as an issue shows it; and the machine that it was seen on. Worker
processes only: a pass or a verifier may crash, so all of it is done in a child."""

from __future__ import annotations

import platform

import tvm

from corpus.finding import Aftermath
from corpus.reduce import Candidate
from fuzzer.protocol import Plan
from fuzzer.trial.repertoire import Repertoire
from fuzzer.trial.unjudged import bench_of, steps_of
from fuzzer.versions import MISSING, ffi_version
from oracles.forked import Ended, forked
from oracles.ir.difference import HEAD, difference
from oracles.ir.verifier import first_complaint
from oracles.reference.calling import LeftOut
from oracles.reference.engine import interpreted
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.numbers import Numbers
from oracles.reference.values import Tensor, declared, flattened, from_argument
from oracles.scripts import script_for
from oracles.trace import Position


def aftermath_of(case: Candidate, plan: Plan, repertoire: Repertoire, oracle: str) -> Aftermath:
    """What the last pass made of its module, and what TVM's verifiers say of it; nothing where a pass raises, where
    there is none, or where looking at it ends the child. For an oracle that applies the pass again, that application.
    """
    again = script_for(oracle, None, expectations=False, on_device=False).again
    found = forked(lambda: _looked_at(case, plan, repertoire, again), plan.deadline_s)
    return Aftermath() if isinstance(found, Ended) else found


def _looked_at(case: Candidate, plan: Plan, repertoire: Repertoire, again: bool) -> Aftermath:
    numbers = Numbers(case.module, case.calls, tolerance=plan.tolerance)
    bench = bench_of(numbers, repertoire, plan.target)
    steps = list(steps_of(case, plan, repertoire, bench, case.passes[-1:] if again else ()))
    if not steps or steps[-1].end is None:
        return Aftermath()
    before, end = steps[-1].before, steps[-1].end
    verified_by, said = first_complaint(end.module)
    change = difference(before, end.module)
    return Aftermath(verified_by, said, change if change != HEAD else "", _outputs(numbers, end))


def _outputs(numbers: Numbers, end: Position) -> tuple[str, ...]:
    """What the reference gives for the entry calls in the module that came out, by function; () where it stops."""
    run = interpreted(end.module, end.synchronised)
    lines: list[str] = []
    try:
        for call in numbers.calls:
            given = end.calling(run, call.function, [from_argument(argument) for argument in call.arguments])
            leaves = [leaf for leaf in flattened(given) if isinstance(leaf, Tensor)]
            lines += [f"{call.function}: {' '.join(repr(declared(leaf)).split())}" for leaf in leaves]
    except (LeftOut, Trap, Unsupported):
        return ()
    return tuple(lines)


def environment() -> tuple[tuple[str, str], ...]:
    """Rows for the part "Environment" of an issue: names and versions of what was running."""
    ffi = ffi_version()
    rows = (
        ("TVM", str(tvm.__version__)),
        ("tvm-ffi", "" if ffi == MISSING else ffi),
        ("LLVM", str(tvm.target.codegen.llvm_version_major(allow_none=True) or "")),
        ("Python", platform.python_version()),
        ("OS", f"{platform.system()} {platform.machine()}, {' '.join(platform.libc_ver())}".rstrip(", ")),
    )
    return tuple((name, value) for name, value in rows if value)
