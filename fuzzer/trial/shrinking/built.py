"""Whether TVM builds what the passes of a case give, as the script of a wrong result needs it: it compares what runs.
Worker processes only: the build may end its process, so it is done in a child."""

from __future__ import annotations

import tvm

from corpus.reduce import Candidate
from fuzzer.protocol import Plan
from fuzzer.trial.repertoire import Repertoire
from generators.passes.row import Phase
from generators.source import SeededSource
from generators.targets import TARGETS
from oracles.forked import forked
from oracles.reference.numbers import Numbers
from oracles.trace import MeaningState, Position, Raised
from oracles.walk import walk
from oracles.workbench import Workbench


def is_built(case: Candidate, plan: Plan, repertoire: Repertoire) -> bool:
    """Whether `tvm.compile` takes the module that comes out of the passes. False too where that ends the child or
    takes longer than the deadline of the plan; True where the script builds nothing on the CPU."""
    if TARGETS[plan.target].threads:
        return True
    return forked(lambda: _compiles(case, plan, repertoire), plan.deadline_s) is True


def _compiles(case: Candidate, plan: Plan, repertoire: Repertoire) -> bool:
    bench = Workbench(SeededSource(0), MeaningState(Numbers(case.module, case.calls)), repertoire.names, plan.target)
    steps = list(walk(Position.at(case.module, Phase(plan.phase)), (*case.setup, *case.passes), repertoire.rows, bench))
    end = steps[-1].end if steps else None
    if end is None:
        return False
    return not isinstance(bench.guarded(lambda: tvm.compile(end.module, target=plan.target)), Raised)
