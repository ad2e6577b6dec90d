"""A public function prints no less after a pass than before it: an effect is no dead code.

The reference compares results alone, so a pass that loses a print changes no number. Counted before the pass is what a
function surely prints: not in a branch or in a local function. Counted after it is what it may print, by way of all
that it mentions, so that inlining, lifting and outlining lose nothing. Assertions do not count, since one that is known
to hold may go. Functions marked force_pure are taken for pure, and what they do may go.
"""

from __future__ import annotations

import math

from tvm import relax

from generators import tvm_api as T
from generators.tvm_api import Expr, IRModule
from oracles.ir.walk import CALL, FUNCTION, GLOBAL_VAR, OP, bindings, functions_of, operands, relax_functions
from oracles.oracle import Knowledge, Stage, StepOracle
from oracles.trace import Bench, Step
from oracles.verdict import PASSED, Failed, Skipped, Verdict

PRINT = "relax.print"
LOWERED = "relax.run.print"
"""The function that LegalizeOps makes of it."""


def is_print(expr: Expr) -> bool:
    """Whether this call prints."""
    if type(expr) is not CALL:
        return False
    if type(expr.op) is OP and expr.op.name == PRINT:
        return True
    called = [part for part in operands(expr) if type(part) is relax.ExternFunc]
    return any(str(part.global_symbol) == LOWERED for part in called)


def prints_surely(module: IRModule, name: str, inside: frozenset[str] = frozenset()) -> int:
    """How often a call of the function prints at least, by itself and by the functions that it calls."""
    function = functions_of(module).get(name)
    if function is None or type(function) is not FUNCTION or name in inside or T.is_force_pure(function):
        return 0
    body = function.body
    values = [b.value for block in body.blocks[:] for b in block.bindings[:]] if type(body) is relax.SeqExpr else []
    called = [value.op.name_hint for value in values if type(value) is CALL and type(value.op) is GLOBAL_VAR]
    return sum(map(is_print, values)) + sum(prints_surely(module, other, inside | {name}) for other in called)


def may_print(module: IRModule, name: str, inside: frozenset[str] = frozenset()) -> float:
    """How often a call of the function prints at most where each branch and each mention of a function counts once;
    infinite where functions call each other in a circle."""
    function = functions_of(module).get(name)
    if type(function) is not FUNCTION:
        return 0
    if name in inside:
        return math.inf
    return sum(_mentioned(bound.value, module, inside | {name}) for bound in bindings(function))


def _mentioned(expr: Expr, module: IRModule, inside: frozenset[str]) -> float:
    if type(expr) is GLOBAL_VAR:
        return may_print(module, expr.name_hint, inside)
    return is_print(expr) + sum(_mentioned(operand, module, inside) for operand in operands(expr))


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("lost effect") with the first public function that prints less."""
    if step.after is None:
        return Skipped("no result")
    left = functions_of(step.after)
    for gvar, function in relax_functions(step.before):
        name = gvar.name_hint
        if not T.is_public(function) or type(left.get(name)) is not FUNCTION:
            continue
        if (surely := prints_surely(step.before, name)) and (most := may_print(step.after, name)) < surely:
            return Failed("lost effect", "a public function prints less", f"{name}: {surely} times, now {most:.0f}")
    return PASSED


ORACLE = StepOracle(
    "effects",
    "a public function prints no less than before",
    judge,
    stage=Stage.RESULT,
    rank=32,
    of_result=True,
    foreign=Knowledge.ROW,
)
