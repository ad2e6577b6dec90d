"""Which pass was running when a build of the case failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import tvm
from tvm import relax

from fuzzer.trial.cause.failing_operator import last_note
from fuzzer.trial.cause.look import Look
from fuzzer.trial.unjudged import steps_of
from generators.passes.row import Phase
from generators.targets import TARGETS
from oracles.builds.build import lowered_by
from oracles.builds.builders import BUILDERS
from oracles.builds.cuda_cpu.lowering import source_alone
from oracles.builds.needs import CUDA_CPU, LLVM
from oracles.builds.tir_build import compiled_from
from oracles.checks import pipelines
from oracles.nested import innermost, running_at_end
from oracles.trace import Position


def running_when_raised(look: Look, note: Callable[[Sequence[str]], None] = lambda names: None) -> str:
    """The innermost pass of the table that is running when a build of the case raises; "" where there is none. note:
    called with the passes that begin to run, the innermost last."""
    bench = look.bench()
    if look.oracle == pipelines.ORACLE.name:
        target = tvm.target.Target(look.plan.target)
        chosen = relax.get_default_pipeline(target) if look.culprit == pipelines.TARGET_DEFAULT else None
        pipeline = chosen or relax.get_pipeline(pipelines.DEFAULT_BUILD)
        names = running_at_end(
            lambda seen: bench.guarded(
                lambda: relax.build(look.case.module, target=target, relax_pipeline=pipeline), seen
            ),
            note,
        )
        return _of_table(look, names)
    position = Position.at(look.case.module, Phase(look.plan.phase))
    for step in steps_of(look.case, look.plan, look.repertoire, bench):
        if step.end is None:
            return step.call.name
        position = step.end
    threads = TARGETS[look.plan.target].threads
    names = BUILDERS[CUDA_CPU.name if threads else LLVM.name].passes(position.module, position.phase)
    # The schedule for threads changes the module that it is given.
    lowered = lowered_by(names, position.module.clone(), position.phase, bench)
    if not isinstance(lowered, tuple):
        return lowered.culprit
    module, phase = lowered
    host = {"kind": "llvm", "opt-level": 0}
    target = tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host=host) if threads else tvm.target.Target(host)

    def compiled() -> None:
        """No compiler for devices is asked: it runs no pass."""
        with source_alone(), target:
            compiled_from(module, target, phase, threads=threads)

    return _of_table(look, running_at_end(lambda seen: bench.guarded(compiled, seen), note))


def running_at_death(look: Look) -> str:
    """The same of a build that ends its process, which only another process can see."""
    return last_note(lambda note: running_when_raised(look, lambda running: note(_of_table(look, running))))


def _of_table(look: Look, names: Sequence[str]) -> str:
    return innermost(names, look.repertoire.rows)
