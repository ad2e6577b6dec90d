"""LegalizeOps lowers every operator that it can, and after an official pipeline nothing is left that the VM cannot run.

The step part judges LegalizeOps: no operator that registers FLegalize remains with operands and result of fully known
type, except where the legalisation itself declines (it returns the call it was given). The trace part judges the last
module of a case whose passes reached code generation: the VM runs five operators and those with FCallPacked (TVM's
`relax/backend/vm/codegen_vm.cc`); everything else dies there as "CodeGenVM cannot handle this intrinsic"
(apache/tvm#17175). Operands of unknown shape are one known limit, hence one message; an operator whose types are all
known is named.
"""

from __future__ import annotations

from collections.abc import Iterable

from tvm import relax

from generators import tvm_api as T
from generators.passes.row import Phase, Role
from generators.passes.table import PASSES, the
from generators.tvm_api import Call, IRModule, Type
from oracles.ir.operators import CONSUMED, operator_calls
from oracles.oracle import Stage, StepOracle, TraceOracle, Trust
from oracles.trace import Bench, Step, Trace
from oracles.verdict import PASSED, Failed, Skipped, Verdict

LEGALIZE = the(Role.LEGALIZES).name
EXECUTABLE = frozenset(
    {
        "relax.call_builtin_with_ctx",
        "relax.vm.alloc_storage",
        "relax.vm.alloc_tensor",
        "relax.vm.kill_object",
        "relax.null_value",
    }
)
"""Operators that the VM's code generator has instructions for."""
LOWERING = frozenset(row.name for row in PASSES.values() if row.promise.needed_by_vm)
"""The passes that together leave nothing but what the VM can run: without one of them, operators stay by right."""


def undispatched(module: IRModule, applied: Iterable[str]) -> bool:
    """Whether a legalised module holds operators whose pass has not been applied, so that it cannot be built."""
    names = set(applied)
    missing = frozenset[str]().union(*(row.promise.lowers for row in PASSES.values() if row.name not in names))
    return any(call.op.name in missing for call, _ in operator_calls(module))


def is_known(ty: Type) -> bool:
    """Whether a type says everything: dtype and every dimension of every tensor in it."""
    if isinstance(ty, T.TensorType):
        return isinstance(ty.shape, relax.ShapeExpr) and T.dtype_name(ty) is not None
    if isinstance(ty, T.ShapeType):
        return ty.values is not None
    if isinstance(ty, T.TupleType):
        return all(is_known(field) for field in ty.fields)
    return isinstance(ty, T.PrimType)


def unknown_part(call: Call) -> str | None:
    """Which types of a call are not fully known, None when all are."""
    if not all(is_known(T.type_of(argument)) for argument in call.args):
        return "operands of unknown shape or dtype"
    return None if is_known(T.type_of(call)) else "a result of unknown shape or dtype"


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("not legalised") for the first operator that should be gone."""
    if step.call.name != LEGALIZE:
        return Skipped("about LegalizeOps only", applies=False)
    if step.after is None:
        return Skipped("no result")
    if "skip_ops" in step.call.source:
        return Skipped("LegalizeOps was told to skip operators", applies=False)
    for call, where in operator_calls(step.after):
        if call.op.get_attr("FLegalize") is not None and unknown_part(call) is None and not _declines(call, step.after):
            return Failed("not legalised", f"{call.op.name} remains though all of its types are known", where)
    return PASSED


def _declines(call: Call, module: IRModule) -> bool:
    """Whether the legalisation gives the call back unchanged, which LegalizeOps documents as its way to decline."""
    lowered = call.op.get_attr("FLegalize")(relax.BlockBuilder(module), call)
    return bool(lowered.same_as(call))


def judge_trace(trace: Trace, bench: Bench) -> Verdict:
    """Failed("not executable") for the first operator that the VM cannot run, when the passes reached the VM."""
    last = trace.steps[-1] if trace.steps else None
    if last is None or last.after is None or last.row.place.gives is not Phase.SYMBOLED:
        return Skipped("the passes do not reach code generation", applies=False)
    names = {step.call.name for step in trace.steps}
    if not names.issuperset(LOWERING):
        return Skipped("the passes are not a whole lowering", applies=False)
    for call, where in operator_calls(last.after):
        name = call.op.name
        if name in EXECUTABLE or name in CONSUMED or call.op.get_attr("FCallPacked") is not None:
            continue
        return Failed("not executable", _left(call, name, trace), f"{name} in {where}", LEGALIZE)
    return PASSED


def _left(call: Call, name: str, trace: Trace) -> str:
    """Why the operator is there, as it was when LegalizeOps left it (later passes forget types)."""
    legal = next(step.after for step in trace.steps if step.call.name == LEGALIZE)
    why = next((unknown_part(found) for found, _ in operator_calls(legal) if found.op.name == name), unknown_part(call))
    if why is None:
        return f"{name} is left for the VM though all of its types are known"
    return f"an operator with {why} is left for the VM"


ORACLE = StepOracle(
    "legalised",
    "LegalizeOps lowers every operator whose types are known",
    judge,
    stage=Stage.RESULT,
    rank=50,
    foreign=Trust.ROW,
)
EXECUTABLE_ORACLE = TraceOracle(
    "executable",
    "an official pipeline leaves nothing that the VM cannot run",
    judge_trace,
    rank=51,
)
