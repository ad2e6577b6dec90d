"""A binding that nothing uses, and that uses nothing, changes nothing for the others.

The pass is applied again to the input with such a binding put somewhere in one of its Relax functions: a constant, and
before legalisation also an operator of constants. It touches no value of the program, so that no use count, liveness
or fusion group of the program is another one. What the public functions reach must come out the same, up to dead code,
blocks and names of private functions, and without an error. Another order of bindings is no failure, since a pass that
sorts them may go no further than one that it does not know, and no success either.
"""

from __future__ import annotations

import numpy as np
from tvm import relax

from generators import tvm_api as T
from generators.passes.row import Phase
from generators.source import Source
from generators.tvm_api import IRModule, RelaxFunction
from oracles.checks.applied_again import incomparable
from oracles.checks.dead_code import tidied
from oracles.checks.survives import happened_to
from oracles.evidence import DeadBinding
from oracles.ir.any_order import same_in_any_order
from oracles.ir.compare import first_difference, part_from, public_names, same_bindings
from oracles.ir.walk import FUNCTION
from oracles.live_part import DEAD_VALUES
from oracles.oracle import Runs, Stage, StepOracle
from oracles.trace import Bench, Raised, Step
from oracles.tvm_errors import in_a_line
from oracles.verdict import PASSED, Failed, Skipped, Verdict

DEAD = "unused_value"


def with_dead_binding(module: IRModule, phase: Phase, source: Source) -> tuple[IRModule, str] | None:
    """The module with one more binding in one of its functions, and what it binds; None without a Relax function."""
    named = sorted((g.name_hint, g) for g, f in module.functions.items() if isinstance(f, FUNCTION))
    if not named:
        return None
    name = source.pick(named)[1]
    kind = source.pick(tuple(DEAD_VALUES)) if phase is Phase.HIGH else "constant"
    functions = {g: _with_binding(f, kind, source) if g.same_as(name) else f for g, f in module.functions.items()}
    return T.replace_functions(module, functions), kind


def _with_binding(function: RelaxFunction, kind: str, source: Source) -> RelaxFunction:
    blocks = list(function.body.blocks) or [relax.BindingBlock([])]
    place = source.integer(0, len(blocks) - 1)
    block = blocks[place]
    dataflow = isinstance(block, relax.DataflowBlock)
    value = relax.BlockBuilder().normalize(eval(DEAD_VALUES[kind], {"relax": relax, "np": np}))
    variable = (relax.DataflowVar if dataflow else relax.Var)(DEAD, T.type_of(value))
    at = source.integer(0, len(block.bindings))
    bindings = [*block.bindings[:at], relax.VarBinding(variable, value), *block.bindings[at:]]
    blocks[place] = (relax.DataflowBlock if dataflow else relax.BindingBlock)(bindings)
    body = relax.SeqExpr(blocks, function.body.body)
    T.set_type(body, T.type_of(function.body))
    return relax.Function(function.params, body, T.return_type(function), function.is_pure, function.attrs)


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("dead binding") with the error, or the first difference in the live part."""
    if (reason := incomparable(step)) is not None:
        return Skipped(reason)
    altered = with_dead_binding(step.before, step.phase, bench.source)
    if altered is None:
        return Skipped("no function to put a dead binding in")
    module, kind = altered
    result = bench.apply(step.call, module)
    if isinstance(result, Raised):
        if not happened_to(result, step):
            return Skipped(f"dead binding rejected: {step.call.name}")
        message = f"a dead {kind} makes the pass raise {in_a_line(result)}"
        return Failed("dead binding", message, result.traceback, evidence=DeadBinding(kind))
    roots = public_names(step.after)
    its_tidy, plain = tidied(result, bench), tidied(step.after, bench)
    with_dead, without = part_from(its_tidy, roots), part_from(plain, roots)
    if same_bindings(with_dead, without):
        return PASSED
    if same_in_any_order(its_tidy, plain, roots):
        return Skipped("a dead binding changes the order of others alone")
    place, detail = first_difference(without, with_dead)
    return Failed("dead binding", f"a dead {kind} changes {place} in the live part", detail, evidence=DeadBinding(kind))


ORACLE = StepOracle(
    "dead_binding",
    "an unused binding changes nothing for the others",
    judge,
    stage=Stage.COSTLY,
    runs=Runs.PASSES,
    rank=64,
    share=0.015,
)
