"""A public function prints and calls external functions no less after a pass than before it: an effect is no dead code.

The reference compares results alone, so a pass that loses a print changes no number. Counted before the pass is what a
function surely does, not in a local function and not in a branch; and, where no If is gone, what it does in that branch
of each If that does more, so that a pass may do for both what both did. Counted after it is what it may do, by way of
all that it mentions, so that inlining, lifting and outlining lose nothing. Assertions do not count, since one that is
known to hold may go; nor do functions of TVM's run time, which passes replace. Functions marked force_pure are taken
for pure, and what they do may go.
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


OF_TVM = ("vm.", "relax.", "runtime.")
"""How the names of external functions of TVM's run time begin."""


def _is_called(function: Expr) -> bool:
    """Whether this is an external function that is not TVM's."""
    return type(function) is relax.ExternFunc and not str(function.global_symbol).startswith(OF_TVM)


@dataclass(frozen=True, slots=True)
class Effects:
    """prints: how often a call of a function prints. calls: how often it calls an impure external function. ifs: how
    many of them it has, which are counted only where everything is that it mentions."""

    prints: float = 0
    calls: float = 0
    ifs: float = 0

    def __add__(self, other: Effects) -> Effects:
        return Effects(self.prints + other.prints, self.calls + other.calls, self.ifs + other.ifs)

    def or_else(self, other: Effects) -> Effects:
        """Of two branches: the most that one of them does."""
        return Effects(max(self.prints, other.prints), max(self.calls, other.calls))


def effects_surely(
    module: IRModule, name: str, branches: bool = False, inside: frozenset[str] = frozenset()
) -> Effects:
    """What a call of the public or private function does at least, by itself and by the functions that it calls.
    branches: as if of each If that branch ran that does more."""
    function = functions_of(module).get(name)
    if function is None or type(function) is not FUNCTION or name in inside or T.is_force_pure(function):
        return Effects()
    return sum((_surely(value, module, branches, inside | {name}) for value in _values(function.body)), Effects())


def _values(body: Expr) -> list[Expr]:
    return [b.value for block in body.blocks[:] for b in block.bindings[:]] if type(body) is relax.SeqExpr else []


def _surely(value: Expr, module: IRModule, branches: bool, inside: frozenset[str]) -> Effects:
    if type(value) is relax.If and branches:
        then, other = (
            sum((_surely(one, module, branches, inside) for one in _values(branch)), Effects())
            for branch in (value.true_branch, value.false_branch)
        )
        return then.or_else(other)
    if type(value) is CALL and type(value.op) is GLOBAL_VAR:
        return effects_surely(module, value.op.name_hint, branches, inside)
    return Effects(is_print(value), type(value) is CALL and _is_called(value.op))


def effects_at_most(module: IRModule, name: str, inside: frozenset[str] = frozenset()) -> Effects:
    """What a call of the function does at most where each branch and each mention of a function counts once; infinite
    where functions call each other in a circle."""
    function = functions_of(module).get(name)
    if type(function) is not FUNCTION:
        return Effects()
    if name in inside:
        return Effects(math.inf, math.inf, math.inf)
    return sum((_mentioned(bound.value, module, inside | {name}) for bound in bindings(function)), Effects())


def _mentioned(expr: Expr, module: IRModule, inside: frozenset[str]) -> Effects:
    if type(expr) is GLOBAL_VAR:
        return effects_at_most(module, expr.name_hint, inside)
    own = Effects(is_print(expr), _is_called(expr), type(expr) is relax.If)
    return sum((_mentioned(operand, module, inside) for operand in operands(expr)), own)


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("lost effect") with the first public function that does less."""
    if step.after is None:
        return Skipped("no result")
    left = functions_of(step.after)
    for gvar, function in relax_functions(step.before):
        name = gvar.name_hint
        if not T.is_public(function) or type(left.get(name)) is not FUNCTION:
            continue
        had = effects_surely(step.before, name, branches=True)
        if had == Effects():
            continue
        has = effects_at_most(step.after, name)
        if effects_at_most(step.before, name).ifs > has.ifs:
            had = effects_surely(step.before, name)
        if has.prints < had.prints:
            return _lost("a public function prints less", name, had.prints, has.prints)
        if has.calls < had.calls:
            return _lost("a public function calls an impure external function less", name, had.calls, has.calls)
    return PASSED


def _lost(what: str, name: str, had: float, has: float) -> Failed:
    return Failed("lost effect", what, f"{name}: {had:.0f} times, now {has:.0f}")


ORACLE = StepOracle(
    "effects",
    "a public function prints and calls impure external functions no less than before",
    judge,
    stage=Stage.RESULT,
    rank=32,
    of_result=True,
    foreign=Knowledge.ROW,
)
