"""After an official pipeline nothing is left that the VM cannot run.

Judged is the last module of a case whose passes reached code generation: the VM runs five operators and those with
FCallPacked (TVM's `relax/backend/vm/codegen_vm.cc`); everything else dies there as "CodeGenVM cannot handle this
intrinsic" (apache/tvm#17175). Operands of unknown shape are one known limit, hence one message; an operator whose types
are all known is named.
"""

from __future__ import annotations

from generators.passes.row import Phase
from generators.passes.table import with_trait
from generators.passes.traits import NeededByVM
from generators.tvm_api import Call
from oracles.checks.legalised import LEGALIZE, unknown_part
from oracles.evidence import LeftForVm
from oracles.ir.operators import CONSUMED, operator_calls
from oracles.oracle import Runs, TraceOracle
from oracles.trace import Bench, Trace
from oracles.verdict import PASSED, Failed, Skipped, Verdict

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
LOWERING = frozenset(row.name for row, _ in with_trait(NeededByVM))
"""The passes that together leave nothing but what the VM can run: without one of them, operators stay by right."""


def judge(trace: Trace, bench: Bench) -> Verdict:
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
        message = _left(call, name, trace)
        return Failed("not executable", message, f"{name} in {where}", LEGALIZE, LeftForVm())
    return PASSED


def _left(call: Call, name: str, trace: Trace) -> str:
    """Why the operator is there, as it was when LegalizeOps left it (later passes forget types)."""
    legal = next(step.after for step in trace.steps if step.call.name == LEGALIZE)
    why = next((unknown_part(found) for found, _ in operator_calls(legal) if found.op.name == name), unknown_part(call))
    if why is None:
        return f"{name} is left for the VM though all of its types are known"
    return f"an operator with {why} is left for the VM"


ORACLE = TraceOracle(
    "executable",
    "an official pipeline leaves nothing that the VM cannot run",
    judge,
    rank=51,
    runs=Runs.TVM,
)
