"""No impure call and no If in a dataflow block; a pure function makes no impure call unless it is force_pure.

Our own check, from the rules in TVM's `relax/analysis/well_formed.cc` (12-15) and an own table of effects: an operator
is impure when it writes, frees or observes state that another operator can see. TVM's table (FPurity) is not read.
"""

from __future__ import annotations

from tvm import relax

from generators import tvm_api as T
from generators.passes.row import Phase
from generators.passes.traits import ExpectsForced
from generators.tvm_api import Expr, GlobalVar, IRModule
from oracles.ir.module_caches import by_relax_functions
from oracles.ir.operators import END_LIVES
from oracles.ir.walk import CALL, OP, Bound, bindings, operands, relax_functions
from oracles.oracle import Knowledge, Stage, StepOracle
from oracles.trace import Bench, Step
from oracles.verdict import PASSED, Failed, Skipped, Verdict

EFFECTS: dict[str, str] = {
    "relax.print": "writes to the standard output",
    "relax.assert_op": "may end the program",
    **dict.fromkeys(END_LIVES, "ends the life of its argument"),
    "relax.vm.call_tir_dyn": "writes to its arguments",
    "relax.call_builtin_with_ctx": "a VM builtin may do anything",
    "relax.invoke_closure": "the closure may do anything",
}
"""Operators with an effect. Destination-passing calls (call_tir, call_tir_inplace, call_dps_packed) are pure by
definition; so is allocation, whose result is fresh. call_packed is an ExternFunc call, see `_callee_is_pure`."""


def ends_lives_early(step: Step) -> str | None:
    """Says so where a pass has ended lives of values in a phase before KILLED: passes after it expect every named value
    to be there."""
    if step.after is None or step.returned_input or step.row.place.gives is not None or step.phase >= Phase.KILLED:
        return None
    return "ends lives of values early" if holds_kills(step.after) and not holds_kills(step.before) else None


def holds_kills(module: IRModule) -> bool:
    """Whether a module ends lives of values."""
    functions = [function for _, function in relax_functions(module)]
    return any(T.op_name(bound.value) in END_LIVES for function in functions for bound in bindings(function))


def violations(module: IRModule) -> list[str]:
    """What is wrong, one line each, without names of variables."""
    found: list[str] = []
    for name, function in relax_functions(module):
        if T.is_force_pure(function) and not function.is_pure:
            found.append("function is force_pure but not is_pure")
        for bound in bindings(function):
            found.extend(_of_binding(bound, name))
    return found


def _of_binding(bound: Bound, name: GlobalVar) -> list[str]:
    if type(bound.value) is relax.If:
        return ["If in a dataflow block"] if bound.dataflow else []
    impure = impure_callee(bound.value)
    if impure is None:
        return []
    if bound.dataflow:
        return [f"impure call of {impure} in a dataflow block"]
    if bound.function.is_pure and not T.is_force_pure(bound.function):
        return [f"impure call of {impure} in a pure function"]
    return []


def impure_callee(expr: Expr) -> str | None:
    """What is called impurely by this expression or by one nested in it, None when nothing is."""
    if type(expr) is CALL:
        op = expr.op
        if type(op) is OP:
            if op.name in EFFECTS:
                return str(op.name)
        elif not _callee_is_pure(op):
            return "ExternFunc" if isinstance(op, relax.ExternFunc) else "a function"
    for operand in operands(expr):
        if type(operand) is CALL and (impure := impure_callee(operand)) is not None:
            return impure
    return None


def _callee_is_pure(callee: Expr) -> bool:
    ty = T.type_of(callee)
    return bool(ty.purity) if type(ty) is T.FuncType else False


def is_known_order(step: Step) -> bool:
    """Whether a pass that must come after RemovePurityChecking comes before it."""
    if not step.row.has(ExpectsForced):
        return False
    functions = [function for _, function in relax_functions(step.before)]
    return any(function.is_pure and not T.is_force_pure(function) for function in functions)


VIOLATIONS = by_relax_functions(violations)


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("impure") with the first violation that the input did not have."""
    if step.after is None:
        return Skipped("no result")
    if VIOLATIONS.of(step.before):
        return Skipped("input already impure")
    found = VIOLATIONS.fresh(step.after)
    if found and is_known_order(step):
        return Skipped("stands before RemovePurityChecking")
    return Failed("impure", found[0], "\n".join(found)) if found else PASSED


ORACLE = StepOracle(
    "purity",
    "no effect in a dataflow block or in a pure function",
    judge,
    stage=Stage.STRUCTURE,
    rank=20,
    of_result=True,
    is_flawed=lambda module: bool(VIOLATIONS.of(module)),
    unfit=ends_lives_early,
    foreign=Knowledge.NAME,
    # RemovePurityChecking ends the tracking of effects half-way through each official pipeline.
    documented_phases_only=True,
)
