"""A public function prints no less after a pass than before it: an effect is no dead code.

The reference compares results alone, so a pass that loses a print changes no number. Counted before the pass is what a
function surely prints, not in a branch or in a local function; and, where no If is gone, what it prints in all of its
branches. Counted after it is what it may print, by way of all that it mentions, so that inlining, lifting and outlining
lose nothing. Assertions do not count, since one that is known to hold may go. Functions marked force_pure are taken for
pure, and what they do may go.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Effects:
    """prints: how often a call of a function prints. ifs: on how many of them it depends which of its parts run."""

    prints: float = 0
    ifs: float = 0

    def __add__(self, other: Effects) -> Effects:
        return Effects(self.prints + other.prints, self.ifs + other.ifs)


def effects_surely(
    module: IRModule, name: str, branches: bool = False, inside: frozenset[str] = frozenset()
) -> Effects:
    """What a call of the public or private function does at least, by itself and by the functions that it calls.
    branches: as if each branch of each If ran."""
    function = functions_of(module).get(name)
    if function is None or type(function) is not FUNCTION or name in inside or T.is_force_pure(function):
        return Effects()
    return sum((_surely(value, module, branches, inside | {name}) for value in _values(function.body)), Effects())


def _values(body: Expr) -> list[Expr]:
    return [b.value for block in body.blocks[:] for b in block.bindings[:]] if type(body) is relax.SeqExpr else []


def _surely(value: Expr, module: IRModule, branches: bool, inside: frozenset[str]) -> Effects:
    if type(value) is relax.If and branches:
        inner = (*_values(value.true_branch), *_values(value.false_branch))
        return sum((_surely(one, module, branches, inside) for one in inner), Effects(ifs=1))
    if type(value) is CALL and type(value.op) is GLOBAL_VAR:
        return effects_surely(module, value.op.name_hint, branches, inside)
    return Effects(prints=is_print(value))


def effects_at_most(module: IRModule, name: str, inside: frozenset[str] = frozenset()) -> Effects:
    """What a call of the function does at most where each branch and each mention of a function counts once; infinite
    where functions call each other in a circle."""
    function = functions_of(module).get(name)
    if type(function) is not FUNCTION:
        return Effects()
    if name in inside:
        return Effects(math.inf, math.inf)
    return sum((_mentioned(bound.value, module, inside | {name}) for bound in bindings(function)), Effects())


def _mentioned(expr: Expr, module: IRModule, inside: frozenset[str]) -> Effects:
    if type(expr) is GLOBAL_VAR:
        return effects_at_most(module, expr.name_hint, inside)
    own = Effects(is_print(expr), type(expr) is relax.If)
    return sum((_mentioned(operand, module, inside) for operand in operands(expr)), own)


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("lost effect") with the first public function that prints less."""
    if step.after is None:
        return Skipped("no result")
    left = functions_of(step.after)
    for gvar, function in relax_functions(step.before):
        name = gvar.name_hint
        if not T.is_public(function) or type(left.get(name)) is not FUNCTION:
            continue
        surely, all_branches = (effects_surely(step.before, name, branches) for branches in (False, True))
        if not all_branches.prints:
            continue
        left_of_it = effects_at_most(step.after, name)
        had = all_branches if all_branches.ifs <= left_of_it.ifs else surely
        if left_of_it.prints < had.prints:
            counts = f"{had.prints:.0f} times, now {left_of_it.prints:.0f}"
            return Failed("lost effect", "a public function prints less", f"{name}: {counts}")
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
