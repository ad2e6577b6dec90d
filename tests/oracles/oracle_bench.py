"""What oracle tests share: a Bench that applies passes for real, and steps made of a pass and a module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import fields
from typing import Any

import tvm
from tvm.script import ir as script_ir
from tvm.script import relax as script_relax
from tvm.script import tirx as script_tirx

from corpus.portable.shims import not_read
from corpus.portable.text import adapted
from generators import tvm_api as T
from generators.case import PassCall
from generators.passes.row import Fires, PassRow, Phase, Place, Promise
from generators.source import SeededSource, Source
from oracles import walk
from oracles.reference.calling import Calling, direct
from oracles.trace import Position, Raised, Step
from oracles.tvm_errors import raised_from
from oracles.workbench import OPT_LEVEL

NOT_READ = not_read()
"""The forms of TVMScript 0.27 that this TVM does not read."""
PASSES_UNDER_TEST: dict[str, Callable[[], Any]] = {}
"""Passes that a test has made, by the name that PassCall.source refers to."""


class RealBench:
    """Applies passes in this process, under the LLVM target when asked for one."""

    def __init__(self, seed: int = 0, target: str | None = None) -> None:
        self.source: Source = SeededSource(seed)
        self._target = target
        self.applications = 0

    def _apply(self, make: Callable[[], Any], module: Any) -> Any | Raised:
        return self.guarded(lambda: make()(module))

    def guarded(self, action: Callable[[], Any]) -> Any | Raised:
        scope = tvm.target.Target(self._target) if self._target else nullcontext()
        try:
            with scope, tvm.transform.PassContext(opt_level=OPT_LEVEL):
                return action()
        except Exception as error:  # noqa: BLE001 what a pass raises is a value here
            return raised_from(error)

    def apply(self, call: PassCall, module: Any) -> Any | Raised:
        self.applications += 1
        return self._apply(lambda: constructed(call), module)

    def apply_all(self, calls: Sequence[PassCall], module: Any) -> Any | Raised:
        return self._apply(lambda: tvm.transform.Sequential([constructed(call) for call in calls]), module)


def constructed(call: PassCall) -> Any:
    """The pass that a call names: one of a test, or an expression over TVM's names."""
    if call.source in PASSES_UNDER_TEST:
        return PASSES_UNDER_TEST[call.source]()
    return eval(call.source, dict(T.PASS_NAMES))


def module_pass(function: Callable[[Any], Any], name: str = "Planted") -> PassCall:
    """A pass made of a function of a module, registered under its name."""

    def make() -> Any:
        @tvm.transform.module_pass(opt_level=0, name=name)
        def run(module: Any, _context: Any) -> Any:
            return function(module)

        return run

    PASSES_UNDER_TEST[name] = make
    return PassCall(name, name)


def poke_type(module: Any, ty: Any) -> Any:
    """Gives the first variable that main binds this type, in place, as C++ passes have done. A module of the same
    functions."""
    variable = module["main"].body.blocks[0].bindings[0].var
    info = type(variable).__tvm_ffi_type_info__
    while "ty" not in (known := {field.name: field for field in info.fields}):
        info = info.parent_type_info
    known["ty"].setter(variable, ty)
    return tvm.IRModule(module.functions, attrs=module.attrs, global_infos=module.global_infos)


_RECORDS: dict[str, type[Any]] = {
    "place": Place,
    "promise": Promise,
    "fires": Fires,
}
"""The records of a row with the fields that `row_of` takes: each is of the first that has it."""


def row_of(name: str, **says: Any) -> PassRow:
    """A row for a pass of a test, which may stand anywhere; `says` are fields of its records, and of the row itself."""
    says.setdefault("phases", frozenset(Phase))
    records = {
        called: record(**{field.name: says.pop(field.name) for field in fields(record) if field.name in says})
        for called, record in _RECORDS.items()
    }
    return PassRow(name, (name,), "made for a test", **records, **says)


def step_of(
    call: PassCall, module: Any, bench: RealBench, row: PassRow | None = None, phase: Phase = Phase.HIGH, index: int = 0
) -> Step:
    """The pass applied to the module."""
    start = Position.at(module, phase)
    return walk.step_of(index, start, call, row or row_of(call.name), bench.apply(call, module))


def step_between(
    call: PassCall,
    row: PassRow,
    before: Any,
    after: Any,
    phase: Phase = Phase.HIGH,
    calling: Calling = direct,
    tier: str = "B",
) -> Step:
    """The step of a pass that made `after` of `before`."""
    return walk.step_of(0, Position.at(before, phase, calling), call, row, after, tier)


def module_of(script: str) -> Any:
    """The module that a script without imports describes, as TVM 0.27 writes it."""
    return tvm.script.from_source(
        adapted(script, NOT_READ), {"I": script_ir, "R": script_relax, "T": script_tirx, "tvm": tvm}
    )
