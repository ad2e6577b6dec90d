"""The schedule rules of dlight one by one: each as `ApplyDefaultSchedule` of that rule alone, so that a rule has its
own counts and its own name as a culprit.

The CUDA pipeline's five rules in its order are the row of that pass (`relax_lowering`), which also shows that the pass
writes into its input. That is no rule's fault, and other applications to that input could not be compared: here
the pass gets a copy. Rules for Adreno need OpenCL.
"""

from __future__ import annotations

from typing import TypeAlias

from generators.case import PassCall
from generators.passes.row import Fires, Meaning, PassRow, Phase, Place, Promise, Rate
from generators.program_facts import Feature

PREFIX = "s_tir.dlight"
_ON_CPU = frozenset({Feature.PRIM_FUNCS})
_ON_GPU = _ON_CPU | {Feature.GPU_TARGET}
_DECIDES = "a function that the rule does not take stays as it is"

_Rule: TypeAlias = tuple[str, tuple[str, ...], tuple[str, ...], Rate | None]
"""Its name, constructors, the shapes that it takes, and how often it fires."""

_GPU: tuple[_Rule, ...] = (
    ("Matmul", ("Matmul()",), ("wide_matmul", "matmul_chain"), Rate(2)),
    ("GEMV", ("GEMV()",), ("matrix_vector",), Rate(2)),
    ("LowBatchGEMV", ("LowBatchGEMV(4)", "LowBatchGEMV()", "LowBatchGEMV(16)"), ("low_batch_matrix_vector",), Rate(1)),
    ("Reduction", ("Reduction()",), ("sum_of_rows", "injective_then_reduce"), Rate(2)),
    ("GeneralReduction", ("GeneralReduction()",), ("normalised_rows",), None),
    ("RMSNorm", ("RMSNorm()",), ("rms_norm_rows",), Rate(1)),
    ("Transpose", ("Transpose()",), ("transposed_matrix",), Rate(2)),
    ("Fallback", ("Fallback()",), ("injective_then_reduce", "elementwise_chain"), Rate(2)),
)
_CPU: tuple[_Rule, ...] = (
    ("GEMV", ("GEMV()",), ("matrix_vector",), Rate(1)),
    ("Reduction", ("Reduction()",), ("normalised_rows", "sum_of_rows"), Rate(3)),
)


def _on_a_copy(rule: str) -> str:
    applied = f"tvm.s_tir.dlight.ApplyDefaultSchedule(tvm.{rule})(mod.clone())"
    return f"tvm.transform.module_pass(lambda mod, ctx: {applied}, opt_level=0)"


def _row(kind: str, rule: str, makes: tuple[str, ...], recipes: tuple[str, ...], rate: Rate | None) -> PassRow:
    gpu = kind == "gpu"
    return PassRow(
        f"{PREFIX}.{kind}.{rule}",
        tuple(_on_a_copy(f"{PREFIX}.{kind}.{make}") for make in makes),
        f"python/tvm/s_tir/dlight/{kind}: {_DECIDES}",
        Place(frozenset({Phase.FUSED, Phase.LEGAL}), needs_target=True),
        promise=Promise(meaning=Meaning.ROUNDED),
        fires=Fires(recipes=recipes, wants=_ON_GPU if gpu else _ON_CPU, in_repertoire=not gpu, rate=rate),
    )


ROWS: tuple[PassRow, ...] = (
    *(_row("gpu", *row) for row in _GPU),
    *(_row("cpu", *row) for row in _CPU),
)


_RULES = {
    _on_a_copy(f"{PREFIX}.{kind}.{make}"): f"tvm.{PREFIX}.{kind}.{make}"
    for kind, rules in (("gpu", _GPU), ("cpu", _CPU))
    for _, makes, *_ in rules
    for make in makes
}
"""What makes each rule, by the source of its pass."""


def rule_source(call: PassCall) -> str:
    """What makes the rule that a pass applies alone; "" for other passes."""
    return _RULES.get(call.source, "")


def rules_in(call: PassCall) -> tuple[PassCall, ...]:
    """The rules that a pass applies one after the other, as passes of their own; () where it applies less than two."""
    found = sorted(((call.source.find(f"{row.name}("), row) for row in ROWS), key=lambda pair: pair[0])
    rules = tuple(PassCall(row.name, row.sources[0]) for at, row in found if at >= 0)
    return rules if len(rules) > 1 else ()
