"""Calling conventions with callbacks in place of parameters and results: the lazy passes.

src/relax/transform/lazy_transform_params.cc (LazyGetInput, LazySetOutput) and
python/tvm/relax/transform/lazy_transform_params.py (LazyTransformParams) say what the callbacks are given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tvm import relax

from generators import tvm_api
from generators.case import Shape
from generators.tvm_api import BaseFunc
from oracles.evidence import TrapKind
from oracles.ir.operators import ALLOCATE_TENSORS
from oracles.ir.walk import bindings
from oracles.reference.calling import AppliedPass, Calling, Run, direct
from oracles.reference.errors import Trap
from oracles.reference.values import UNIT, Callback, Runtime, Tensor


@dataclass(slots=True)
class _Exchange:
    """What callbacks give and were given in one call. complaint: the first request that the contract rules out."""

    values: list[Runtime]
    names: list[str] | None = None
    handed: dict[int, Runtime] = field(default_factory=dict)
    complaint: Trap | None = None

    def get(self, index: int, name: str | None = None) -> Runtime:
        """The value at `index`; `name` must be the name of its parameter, where parameters are asked for by name."""
        if not isinstance(index, int) or not 0 <= index < len(self.values):
            self._complain("out-of-bounds", f"a callback is asked for input {index} of {len(self.values)}")
            return UNIT
        if self.names is not None and self.names[index] != name:
            self._complain("type", f"a callback is asked for input {index} ({self.names[index]}) by the name {name}")
        return self.values[index]

    def set(self, index: int, value: Runtime) -> Runtime:
        """Keeps a copy of the output at `index` as it is now."""
        self.handed[int(index)] = _copy(value)
        return ()

    def _complain(self, kind: TrapKind, detail: str) -> None:
        self.complaint = self.complaint or Trap(kind, detail)

    def checked(self, result: Runtime) -> Runtime:
        """`result`, unless a request was wrong."""
        if self.complaint is not None:
            raise self.complaint
        return result

    def outputs(self, count: int | None) -> Runtime:
        """What was handed over: a tuple of `count`, or one value where None; UNIT marks what is missing."""
        if count is None:
            return self.handed.get(0, UNIT)
        if any(index >= count for index in self.handed):
            raise Trap("out-of-bounds", f"a callback is given output {max(self.handed)} of {count}")
        return tuple(self.handed.get(index, UNIT) for index in range(count))


def _copy(value: Runtime) -> Runtime:
    if isinstance(value, tuple):
        return tuple(_copy(field) for field in value)
    return Tensor(value.value.copy(), value.dtype) if isinstance(value, Tensor) else value


def fetched_by_callback(applied: AppliedPass, function: str) -> Calling | None:
    """LazyGetInput: one callback (index, name) -> value in place of the parameters after `num_input`."""
    old = applied.old[function]
    if not tvm_api.is_public(old):
        return direct
    inputs = applied.num_input(function) or 0
    names = [p.name for p in old.params[inputs:]]

    def call(run: Run, name: str, arguments: list[Runtime]) -> Runtime:
        exchange = _Exchange(arguments[inputs:], names)
        return exchange.checked(run(name, [*arguments[:inputs], Callback(exchange.get)]))

    return call


def handed_to_callback(applied: AppliedPass, function: str) -> Calling | None:
    """LazySetOutput: a callback (index, value) after the inputs, which every output is handed to.

    None once outputs are written by destination passing: their variables are bound before anything is in them.
    """
    old = applied.old[function]
    if not ALLOCATE_TENSORS.isdisjoint(_operators(old)):
        return None
    if not tvm_api.is_public(old):
        return direct
    inputs = applied.num_input(function)
    count = _output_count(old)

    def call(run: Run, name: str, arguments: list[Runtime]) -> Runtime:
        exchange = _Exchange([])
        place = len(arguments) if inputs is None else inputs
        run(name, [*arguments[:place], Callback(exchange.set), *arguments[place:]])
        return exchange.outputs(count)

    return call


def _operators(function: BaseFunc) -> set[str]:
    return {name for bound in bindings(function) if (name := tvm_api.op_name(bound.value)) is not None}


def _output_count(function: BaseFunc) -> int | None:
    """How many outputs the tuple that the function ends in has; None where it ends in something else."""
    result = function.body.body if isinstance(function.body, relax.SeqExpr) else function.body
    return len(result.fields) if isinstance(result, tvm_api.TupleExpr) else None


def fetched_by_name(applied: AppliedPass, function: str) -> Calling | None:
    """LazyTransformParams: inputs and outputs through the packed functions get_item and set_item.

    Only functions named `*transform_params` change. The shapes and scalars among their parameters stay where the
    function has symbolic dims. None for a pass with names or parameters of its own.
    """
    if not function.endswith("transform_params"):
        return direct
    if applied.arguments() != ([], {}):
        return None
    old = applied.old[function]
    inputs = applied.num_input(function) or 0
    types = [tvm_api.type_of(p) for p in old.params[inputs:]]
    one_tuple = len(types) == 1 and isinstance(types[0], tvm_api.TupleType)
    symbolic = bool(relax.analysis.defined_symbolic_vars(old))
    returned = tvm_api.return_type(old)
    count = len(returned.fields) if isinstance(returned, tvm_api.TupleType) else None

    def call(run: Run, name: str, arguments: list[Runtime]) -> Runtime:
        weights = arguments[inputs:]
        bundle = weights[0] if one_tuple else None
        exchange = _Exchange(list(bundle) if isinstance(bundle, tuple) else weights)
        kept = list(_shapes(tuple(weights))) if symbolic else []
        packed = {"get_item": Callback(exchange.get), "set_item": Callback(exchange.set)}
        exchange.checked(run(name, [*arguments[:inputs], *kept], packed))
        return exchange.outputs(count)

    return call


def _shapes(value: Runtime) -> Iterator[Runtime]:
    """The leaves that are shapes or scalars, in order."""
    if isinstance(value, tuple):
        for part in value:
            yield from _shapes(part)
    elif isinstance(value, (Shape, int, float)):
        yield value
