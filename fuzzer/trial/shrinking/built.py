"""Whether TVM builds what the passes of a case give, as the script of a wrong result needs it: it compares what runs.
Worker processes only: the build may end its process, so it is done in a child."""

from __future__ import annotations

import tvm

from corpus.reduce import Candidate
from fuzzer.protocol import Plan
from fuzzer.trial.repertoire import Repertoire
from fuzzer.trial.unjudged import bench_of, steps_of
from generators.targets import TARGETS
from oracles.forked import forked
from oracles.reference.numbers import Numbers
from oracles.trace import Raised


def is_built(case: Candidate, plan: Plan, repertoire: Repertoire) -> bool:
    """Whether `tvm.compile` takes the module that comes out of the passes. False too where that ends the child or
    takes longer than the deadline of the plan; True where the script builds nothing on the CPU."""
    if TARGETS[plan.target].threads:
        return True
    return forked(lambda: _compiles(case, plan, repertoire), plan.deadline_s) is True


def _compiles(case: Candidate, plan: Plan, repertoire: Repertoire) -> bool:
    bench = bench_of(Numbers(case.module, ()), repertoire, plan.target)
    steps = list(steps_of(case, plan, repertoire, bench))
    end = steps[-1].end if steps else None
    if end is None:
        return False
    return not isinstance(bench.guarded(lambda: tvm.compile(end.module, target=plan.target)), Raised)
