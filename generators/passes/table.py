"""The pass table: every row in one dict, the official pipelines, and how to bring a module to each phase."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import TypeVar

from generators.case import PassCall
from generators.compat.texts import lacking, native
from generators.passes import (
    analyzer,
    dlight,
    relax_bindings,
    relax_functions,
    relax_lowering,
    relax_rewrites,
    tir_lowering,
    tir_others,
    tuning,
)
from generators.passes.excluded import EXCLUDED as EXCLUDED
from generators.passes.row import PassRow, Phase, Role
from generators.passes.traits import ObjectNamed, Trait

T = TypeVar("T", bound=Trait)


def join(rows: Iterable[PassRow]) -> dict[str, PassRow]:
    """The rows by name. ValueError when two have the same name or one is also excluded."""
    table: dict[str, PassRow] = {}
    for row in rows:
        if row.name in table or row.name in EXCLUDED:
            raise ValueError(f"pass {row.name} has two entries")
        table[row.name] = row
    return table


ABSENT: dict[str, str] = {}
"""Rows that this TVM has no pass for, and what it lacks."""


def here(rows: Iterable[PassRow]) -> Iterator[PassRow]:
    """The rows in the words of the TVM that is installed; what it lacks goes to ABSENT."""
    for row in rows:
        texts = [native(text) for text in row.sources]
        known = tuple(text for text in texts if lacking(text) is None)
        if texts and not known:
            ABSENT[row.name] = str(lacking(texts[0]))
        else:
            yield row if known == row.sources else replace(row, sources=known)


PASSES: dict[str, PassRow] = join(
    here(
        (
            *relax_rewrites.ROWS,
            *relax_bindings.ROWS,
            *relax_functions.ROWS,
            *relax_lowering.ROWS,
            *tir_lowering.ROWS,
            *tir_others.ROWS,
            *analyzer.ROWS,
            *dlight.ROWS,
            *tuning.ROWS,
        )
    )
)


def the(role: Role) -> PassRow:
    """The row with this role. ValueError where there is none, or several."""
    (row,) = (row for row in PASSES.values() if row.role is role)
    return row


_FINALIZE = (
    "LowerAllocTensor",
    "KillAfterLastUse",
    "LowerRuntimeBuiltin",
    "ComputePrimValue",
    "VMShapeLower",
    "AttachGlobalSymbol",
)
_DATAFLOW_LOWER = ("RewriteDataflowReshape", "ToNonDataflow", "RemovePurityChecking", "CallTIRRewrite")
_DISPATCH = ("DispatchSampling", "DispatchSortScan")
_FUSE = ("LegalizeOps", "AnnotateTIROpPattern", "FoldConstant", "FuseOps", "FuseTIR")

_PIPELINES: dict[str, tuple[str, ...]] = {
    "default_build": (
        *_DISPATCH,
        "LegalizeOps",
        *_DATAFLOW_LOWER,
        "StaticPlanBlockMemory",
        "RewriteCUDAGraph",
        *_FINALIZE,
    ),
    "llvm": (*_DISPATCH, *_FUSE, *_DATAFLOW_LOWER, "StaticPlanBlockMemory", *_FINALIZE),
    "cuda": (
        *_DISPATCH,
        *_FUSE,
        the(Role.BINDS_THREADS).name,
        *_DATAFLOW_LOWER,
        "StaticPlanBlockMemory",
        "RewriteCUDAGraph",
        *_FINALIZE,
    ),
}
PIPELINES = {kind: tuple(name for name in names if name in PASSES) for kind, names in _PIPELINES.items()}
"""`relax.get_pipeline("default_build")`, and `relax.get_default_pipeline(target)` by the target's kind."""

NAMED_PIPELINES: dict[str, tuple[str, ...]] = {
    "zero": _FUSE,
    "default": PIPELINES["default_build"],
    "default_build": PIPELINES["default_build"],
}
"""What `relax.get_pipeline(name)` applies without arguments."""

TIR_PIPELINE: tuple[str, ...] = tuple(row.name for row in tir_lowering.ROWS if row.name in PASSES)
"""What `tvm.tirx.build` applies to the PrimFuncs after each of them, for LLVM. tirx.StmtSimplify and its like stand in
it once each."""

FINISHES_HOST = ("tirx.LowerTVMBuiltin", "tirx.LowerIntrin")
FINISHES_DEVICE = ("tirx.LowerWarpMemory", "tirx.StmtSimplify", "tirx.LowerIntrin")
"""The passes that end the lowering of either side where a build lowers host and device functions apart
(python/tvm/s_tir/pipeline.py). Without the second, code generation for CUDA does not see how vectors are aligned."""

TIR_PASSES: tuple[str, ...] = tuple(
    row.name
    for row in (*tir_lowering.ROWS, *tir_others.ROWS, *analyzer.ROWS, *dlight.ROWS, *tuning.ROWS)
    if row.name in PASSES
)
"""The passes of TIR: those of the pipeline in its order, then the others."""


def rest_of_tir_pipeline(phase: Phase) -> tuple[str, ...]:
    """The TIR passes that are still to come in this phase, in order."""
    for count, name in enumerate(TIR_PIPELINE, 1):
        if PASSES[name].place.gives is phase:
            return TIR_PIPELINE[count:]
    return TIR_PIPELINE


def default_call(name: str) -> PassCall:
    """The pass as the official pipelines construct it. KeyError for names in no row."""
    return PassCall(name, PASSES[name].sources[0])


def _calls(*names: str) -> tuple[PassCall, ...]:
    return tuple(default_call(name) for name in names if name in PASSES)


def _prefixes(names: tuple[str, ...]) -> Iterator[tuple[Phase, tuple[PassCall, ...]]]:
    """Each phase that one of the passes gives, and the passes up to that one."""
    for count, name in enumerate(names, 1):
        phase = PASSES[name].place.gives if name in PASSES else None
        if phase is not None:
            yield phase, _calls(*names[:count])


def _setup(*schedule: str) -> dict[Phase, tuple[PassCall, ...]]:
    """For each phase, the passes that lead there; `schedule` binds the loops of PrimFuncs to threads on the way."""
    fused = (*_DISPATCH, *(name for name in _FUSE if PASSES[name].place.gives is not None))
    lowered = (*_DISPATCH, "LegalizeOps", *schedule, *_DATAFLOW_LOWER, "StaticPlanBlockMemory", *_FINALIZE)
    return {Phase.HIGH: (), **dict(_prefixes(fused)), **dict(_prefixes((*lowered, *TIR_PIPELINE)))}


SETUP = _setup()
"""The shortest prefix of an official pipeline that brings a HIGH module to each phase (with a target in scope)."""
THREADED_SETUP = _setup(the(Role.BINDS_THREADS).name)
"""The same for targets with threads."""


@cache
def with_trait(kind: type[T]) -> tuple[tuple[PassRow, T], ...]:
    """The rows that have a trait of this class, each with its trait."""
    return tuple((row, trait) for row in PASSES.values() if (trait := row.trait(kind)) is not None)


def object_name(row: PassRow) -> str:
    """What the pass objects of a row are called."""
    other = row.trait(ObjectNamed)
    return row.name if other is None else other.name


@cache
def rows_named(name: str) -> tuple[PassRow, ...]:
    """The rows that a pass of this name may be, by that of the row or of the pass object; () for a pass of no row."""
    return tuple(row for row in PASSES.values() if name in (row.name, object_name(row)))
