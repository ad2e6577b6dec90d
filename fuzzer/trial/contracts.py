"""What may be expected of a pass that a test applies, from its name and what it did. Worker processes only.

A pass object shows its name and not its arguments. It is held to a row of the pass table where one of the row's own
constructors gives the same module; else only to what the row promises whatever the arguments are. A pass of no row is
held to what every pass owes: well-formed in, well-formed out, and the input left alone (apache/tvm#17340, #17205).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import tvm

from generators import tvm_api as T
from generators.passes.phases import UNMEMORIED
from generators.passes.row import Meaning, PassRow, Phase
from generators.passes.table import PASSES
from oracles.checks import idempotence
from oracles.checks.legalised import operator_calls
from oracles.evidence import AttributeGone, Evidence
from oracles.ir.walk import relax_functions
from oracles.oracle import Trust as Trust
from oracles.table import ORACLES
from oracles.trace import Raised
from oracles.workbench import constructed

ALIASES: Mapping[str, tuple[str, ...]] = {
    "AttachExternalModules": ("AttachExternModules",),
    "DataflowInsertInPlaceCalls": ("DataflowUseInplaceCalls",),
    "DecomposeOps": ("DecomposeOpsForInference", "DecomposeOpsForTraining"),
    "DefaultGPUSchedule": ("s_tir.DefaultGPUSchedule",),
    "tirx.NarrowDataType": ("tirx.NarrowDataType", "tirx.ForceNarrowIndexToInt32"),
    "s_tir.ThreadSync": ("s_tir.ThreadSync[shared]", "s_tir.ThreadSync[shared.dyn]", "s_tir.ThreadSync[warp]"),
}
"""Names that passes give themselves, where they are not those of their constructors; two constructors may share one."""

MORE_SOURCES: Mapping[str, tuple[str, ...]] = {
    "LiftTransformParams": (
        "relax.transform.LiftTransformParams()",
        "relax.transform.LiftTransformParams(shared_transform=True)",
    ),
}
"""Constructors to try for rows that draw theirs from a program."""

BY_ARGUMENTS = frozenset({"AlterOpImpl", "LegalizeOps", "RunCodegen", "ToMixedPrecision", "UpdateParamType"})
"""Passes whose meaning is what their arguments say: other kernels, other legalisations, another precision."""


_NAMED_CALLBACKS = frozenset({"lazy_transform_params"})
"""Conventions whose callbacks have names that are arguments, which results do not always show."""

CONSUMED = frozenset({"relax.memory_plan_dynamic_func_output"})
"""Function attributes that are a request to one pass, which takes them away (static_plan_block_memory.cc)."""


def is_by_request(evidence: Evidence | None) -> bool:
    """Whether a failed verdict is about an attribute of CONSUMED."""
    return isinstance(evidence, AttributeGone) and evidence.key in CONSUMED


def asked_of(contract: Contract, module: Any) -> list[str]:
    """The oracles that have a say on what such a pass made of `module`, in their order; numbers apart."""
    rows = [row for row in ORACLES.values() if row.holds_at(contract.trust)]
    settles = promises_idempotence(contract, module)
    return [row.name for row in rows if settles or row is not idempotence.ORACLE]


def promises_idempotence(contract: Contract, module: Any) -> bool:
    """Whether a second application must change nothing of what this one makes of `module`.

    Rows promise it under TVM's default options. A prefix of symbols is added by every application, and
    `stop_lift_params` holds back the first application only.
    """
    if contract.trust is not Trust.ROW or dict(tvm.transform.PassContext.current().config.items()):
        return False
    if contract.row.name == "AttachGlobalSymbol":
        return not (module.attrs and "system_lib_prefix" in module.attrs)
    if contract.row.name == "LiftTransformParams":
        return all(call.op.name != "relax.builtin.stop_lift_params" for call, _ in operator_calls(module))
    return True


IN_PLACE_ONLY = frozenset(
    {
        *("tirx.BF16StorageLegalize", "tirx.FP8StorageLegalize", "tirx.LowerTVMBuiltin", "tirx.MakePackedAPI"),
        *("tirx.SplitHostDevice", "tirx.LowerIntrin", "s_tir.LowerVtcmAlloc", "s_tir.LowerThreadAllreduce"),
    }
)
"""Passes that change how a PrimFunc is called, or ask for one that the passes before them have left: on PrimFuncs that
a test writes by hand, their numbers say nothing."""


@dataclass(frozen=True, slots=True)
class Contract:
    """What a pass is held to. source: the constructor that gives the same module; "" where there is none known."""

    row: PassRow
    trust: Trust
    source: str = ""


def tier_of(contract: Contract, phase: Phase) -> str:
    """ "C" where a pass stands outside of its documented phases, "B" elsewhere; phases of TIR passes do not show."""
    phases = contract.row.phases
    shown = phase in phases or contract.trust is Trust.NOTHING or min(phases) > Phase.SHAPELESS
    return "B" if shown else "C"


def rows_named(name: str) -> tuple[PassRow, ...]:
    """The rows that a pass of this name may be; () for a pass of no row."""
    return tuple(PASSES[row] for row in ALIASES.get(name, (name,)) if row in PASSES)


def contract_of(
    name: str, before: Any, after: Any, guarded: Callable[[Callable[[], Any]], Any], same_meaning: frozenset[str]
) -> Contract:
    """The contract of the pass `name` that made `after` of `before`.

    guarded: applies something and gives what TVM raised as a value. same_meaning: passes of no row that the user says
    keep meaning and signature.
    """
    rows = rows_named(name)
    for row in rows:
        for source in (*row.sources, *MORE_SOURCES.get(row.name, ())):
            if _gives(source, before, after, guarded):
                return Contract(row, Trust.ROW, source)
    if rows:
        return Contract(rows[0], Trust.NAME)
    source = _of_tir(name)
    if source and not _gives(source, before, after, guarded):
        source = ""
    return Contract(row_of_no_table(name, same_meaning), Trust.NOTHING, source)


def row_of_no_table(name: str, same_meaning: frozenset[str] = frozenset()) -> PassRow:
    """The row of a pass that the table does not have: nothing is promised but, for some, the meaning."""
    keeps = name in same_meaning
    return PassRow(
        name,
        (),
        UNMEMORIED,
        "a pass of no row",
        calling="same" if keeps else "unknown",
        meaning=Meaning.ROUNDED if keeps else Meaning.CHANGED,
        idempotent=False,
    )


def _of_tir(name: str) -> str:
    """How a pass over PrimFuncs with this name is constructed without arguments; "" for any other."""
    dialect, _, rest = name.partition(".")
    return f"tvm.{dialect}.transform.{rest}()" if dialect in ("s_tir", "tirx") and rest.isidentifier() else ""


def _gives(source: str, before: Any, after: Any, guarded: Callable[[Callable[[], Any]], Any]) -> bool:
    again = guarded(lambda: constructed(source)(before))
    return not isinstance(again, Raised) and bool(T.structural_equal(after, again, map_free_vars=True))


def no_numbers(contract: Contract, module: Any) -> str | None:
    """Why the numbers before and after the pass on `module` are not compared; None where they are."""
    row = contract.row
    if contract.trust is Trust.NOTHING:
        return "numbers: a pass of no row" if row.meaning is Meaning.CHANGED else None
    if row.meaning is Meaning.CHANGED:
        return "numbers: changed on purpose"
    if row.name in IN_PLACE_ONLY and not relax_functions(module):
        return "numbers: the pass changes how a PrimFunc is called"
    if row.calling in _NAMED_CALLBACKS:
        return "numbers: what the pass keeps follows from its arguments"
    if contract.trust is Trust.ROW:
        return None
    if row.calling != "same" or row.name in BY_ARGUMENTS or len(rows_named(row.name)) > 1:
        return "numbers: what the pass keeps follows from its arguments"
    return None


def keeps_meaning(contract: Contract, module: Any) -> bool:
    """Whether the numbers of `module` must stay what they are, and so those of a whole that holds the pass."""
    row = contract.row
    unbound = row.calling == "same" and row.lowers_to is None and not row.inference_only
    return unbound and no_numbers(contract, module) is None
