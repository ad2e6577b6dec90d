"""Administrative normal form: every step of a computation is a binding of its own.

Rules 9 and 10 of TVM's `relax/analysis/well_formed.cc`, implemented anew. Leaves (variables, constants, shapes,
primitive expressions, functions by name) and tuples of leaves may be nested; calls, TupleGetItem, If, sequences and
functions may only be bound; the bodies of functions and the branches of If are sequences, and nothing else is.
No pass is allowed to leave another form: passes that build nested calls normalise them.
"""

from __future__ import annotations

from tvm import relax

from generators import tvm_api as T
from generators.tvm_api import Expr, IRModule
from oracles.ir.module_caches import by_relax_functions
from oracles.ir.walk import CALL, FUNCTION, PRIM_FUNC, TUPLE, TUPLE_GET_ITEM, bindings, operands, relax_functions
from oracles.oracle import Knowledge, Stage, StepOracle
from oracles.trace import Bench, Step
from oracles.verdict import PASSED, Failed, Skipped, Verdict

_COMPOUND = frozenset({CALL, TUPLE_GET_ITEM, relax.SeqExpr, relax.If, FUNCTION, PRIM_FUNC})


def violations(module: IRModule) -> list[str]:
    """What is not in normal form, one line each, without names of variables."""
    found: list[str] = []
    for _, function in relax_functions(module):
        _sequence(function.body, "the body of a function", found)
        for bound in bindings(function):
            _value(bound.value, found)
    return found


def _sequence(expr: Expr, place: str, found: list[str]) -> None:
    if type(expr) is not relax.SeqExpr:
        found.append(f"{_kind(expr)} as {place}")
        return
    if type(expr.body) in _COMPOUND:
        found.append(f"{_kind(expr.body)} as the result of a sequence")
    _nested(expr.body, found)


def _value(value: Expr, found: list[str]) -> None:
    if type(value) in (relax.SeqExpr, PRIM_FUNC):
        found.append(f"{_kind(value)} as a bound value")
    elif type(value) is FUNCTION:
        _sequence(value.body, "the body of a function", found)
    elif type(value) is relax.If:
        _sequence(value.true_branch, "a branch", found)
        _sequence(value.false_branch, "a branch", found)
    if type(value) is CALL and T.type_of(value) is None:
        found.append("call without a type")
    _nested(value, found)


def _nested(expr: Expr, found: list[str]) -> None:
    for operand in operands(expr):
        if type(operand) in _COMPOUND:
            found.append(f"{_kind(operand)} nested in {_kind(expr)}")
        elif type(operand) is TUPLE:
            _nested(operand, found)


def _kind(expr: Expr) -> str:
    return type(expr).__name__


VIOLATIONS = by_relax_functions(violations)


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("not normal") with the first violation, when the input had none."""
    if step.after is None:
        return Skipped("no result")
    if VIOLATIONS.of(step.before):
        return Skipped("input not in normal form")
    found = VIOLATIONS.fresh(step.after)
    return Failed("not normal", found[0], "\n".join(found)) if found else PASSED


ORACLE = StepOracle(
    "normal_form",
    "what a pass gives back is in administrative normal form",
    judge,
    stage=Stage.STRUCTURE,
    rank=21,
    of_result=True,
    is_flawed=lambda module: bool(VIOLATIONS.of(module)),
    foreign=Knowledge.NAME,
)
