"""The real Bench: applies passes to TVM modules and turns what TVM raises into values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import TypeVar

import tvm

from generators import tvm_api
from generators.case import PassCall
from generators.passes.constructors import PASS_FILE, NotOfTheTable, constructor, options_of
from generators.source import Source
from generators.targets import DEFAULT, TARGETS
from generators.tvm_api import IRModule, Pass
from oracles.nested import Part, parts_of
from oracles.reference.numbers import Numbers
from oracles.trace import Raised
from oracles.tvm_errors import raised_from

OPT_LEVEL = 3
"""High enough that tvm.transform.Sequential skips no pass."""

R = TypeVar("R")


def constructed(source: str, names: Mapping[str, object] = tvm_api.PASS_NAMES) -> Pass:
    """The pass that an expression over these names constructs: read where it is of the pass table, else evaluated,
    which `fuzzer.trust` lets happen to what is the user's own."""
    try:
        read = constructor(source)
    except NotOfTheTable:
        return eval(_code(source), dict(names))
    return read(names)


@functools.lru_cache(maxsize=1024)
def _code(source: str) -> CodeType:
    """An expression of the user's own."""
    return compile(source, PASS_FILE, "eval")


class Workbench:
    """What oracles may do besides looking. `names` is what pass constructors may refer to."""

    def __init__(
        self,
        source: Source,
        numbers: Numbers,
        names: Mapping[str, object] | None = None,
        target: str = DEFAULT,
    ) -> None:
        self.source = source
        self.numbers = numbers
        self.applications = 0
        self._names = {**tvm_api.PASS_NAMES, **(names or {})}
        self._target = eval(TARGETS[target].source, dict(tvm_api.PASS_NAMES))

    def apply(self, call: PassCall, module: IRModule) -> IRModule | Raised:
        """The module after the pass, constructed anew, or what TVM raised."""
        self.applications += 1
        return self.guarded(lambda: self._construct(call)(module), options=call.options)

    def apply_all(self, calls: Sequence[PassCall], module: IRModule) -> IRModule | Raised:
        """The module after all passes as one tvm.transform.Sequential without options, or what TVM raised."""
        self.applications += 1
        return self.guarded(lambda: tvm.transform.Sequential([self._construct(c) for c in calls])(module))

    def parts(self, call: PassCall, module: IRModule) -> list[Part]:
        """The passes inside of a pass on this module, in order, each with what it did; [] where it is one pass."""
        self.applications += 1
        return parts_of(
            lambda recorder: self.guarded(lambda: self._construct(call)(module), recorder, options=call.options),
            lambda name: False,
        )

    def guarded(self, action: Callable[[], R], *instruments: object, options: str = "") -> R | Raised:
        """What `action` gives under the target and pass context of every application, or what it raised."""
        config = options_of(options) or None
        try:
            with (
                self._target,
                tvm.transform.PassContext(opt_level=OPT_LEVEL, instruments=list(instruments), config=config),
            ):
                return action()
        except Exception as error:  # noqa: BLE001 - the boundary to TVM: what it raises is a value here
            return raised_from(error)

    def _construct(self, call: PassCall) -> Pass:
        return constructed(call.source, self._names)
