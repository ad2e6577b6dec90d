"""Where special floats may be drawn: into which parameters and constants of a function NaN, infinities and subnormal
numbers may go, so that every operator that they reach has a meaning for them.

The body is followed backwards, from what is returned. The rows of the operator table say what operators take, and
`generators.operators.specials` why. Private functions are followed with their callers; what is not an operator takes
nothing (PrimFuncs, external functions, effects).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tvm import relax

from generators import tvm_api
from generators.arrays import with_specials
from generators.dtypes import is_float
from generators.operators.specials import EVERYTHING, FLOATS, NOTHING, Set, Special
from generators.operators.table import OPERATORS
from generators.relax.frames import FunctionFrame, ModuleFrame, ParameterSpec
from generators.tvm_api import BaseFunc, Binding, Expr, GlobalVar, RelaxFunction, Type

_DEPTH = 4
"""Functions that call each other are followed as far; drawn ones are two."""
_UNORDERED: Set = frozenset({Special.UNORDERED})


def allow_specials(module: ModuleFrame, main: FunctionFrame) -> None:
    """Says of each parameter of the public functions which special floats it may hold, and puts some into constants.

    For modules that are complete. The constants change in place: what may be in them follows from what reads them, and
    nothing has read what is in them yet.
    """
    allowed = Allowed(module.functions)
    frames = {"main": main, **module.public}
    for gvar, function in module.functions.items():
        if gvar.name_hint in frames:
            allowed.returned(function)
    for frame in frames.values():
        frame.parameters = [(var, _allowing(allowed.of(var), spec)) for var, spec in frame.parameters]
    met = set(allowed.constants)
    for constant, seed in module.constants:
        if constant in met:
            array = tvm_api.constant_array(constant)
            filled = with_specials(array, seed, allowed.of(constant) & FLOATS)
            if filled is not array:
                tvm_api.fill_constant(constant, filled)


def _allowing(may_hold: Set, spec: ParameterSpec) -> ParameterSpec:
    if spec.fields is not None:
        return replace(spec, fields=tuple(_allowing(may_hold, field) for field in spec.fields))
    return replace(spec, specials=may_hold & FLOATS) if is_float(spec.dtype) else spec


class Allowed:
    """What the variables and constants of some functions may hold. A value that nothing reads may hold anything."""

    def __init__(self, functions: Mapping[GlobalVar, BaseFunc]) -> None:
        self._functions = functions
        self._depth = 0
        self._of: dict[Any, Set] = {}

    def of(self, expr: Expr) -> Set:
        """What the value of a variable or a constant may hold."""
        return self._of.get(expr, EVERYTHING)

    @property
    def constants(self) -> list[Expr]:
        """The constants that were met."""
        return [expr for expr in self._of if isinstance(expr, tvm_api.Constant)]

    def returned(self, function: RelaxFunction, results: Set = EVERYTHING) -> None:
        """Follows a function whose results may hold `results`."""
        self._sequence(function.body, results)

    def _use(self, expr: Expr, may: Set) -> None:
        """One more use of an expression, that takes no more than `may`."""
        if isinstance(expr, tvm_api.TupleExpr):
            for field in expr.fields:
                self._use(field, may)
        elif isinstance(expr, (relax.Var, tvm_api.Constant)):
            self._of[expr] = self.of(expr) & may

    def _sequence(self, body: Expr, results: Set) -> None:
        self._use(body.body, results)
        for block in reversed(list(body.blocks)):
            for binding in reversed(list(block.bindings)):
                self._binding(binding)

    def _binding(self, binding: Binding) -> None:
        value, may = binding.value, self.of(binding.var)
        if isinstance(value, relax.If):
            self._use(value.cond, NOTHING)
            for branch in (value.true_branch, value.false_branch):
                self._sequence(branch, may)
        elif isinstance(value, relax.TupleGetItem):
            self._use(value.tuple_value, may)
        elif isinstance(value, tvm_api.Call):
            self._call(value, may, tvm_api.type_of(binding.var))
        elif isinstance(value, relax.Function):
            for var in relax.analysis.free_vars(value):
                self._use(var, NOTHING)
            self._sequence(value.body, NOTHING)
        else:
            self._use(value, may)

    def _call(self, call: Expr, may: Set, result: Type) -> None:
        callee = self._functions.get(call.op) if isinstance(call.op, GlobalVar) else None
        if isinstance(callee, relax.Function) and self._depth < _DEPTH:
            self._private(callee, call.args, may)
            return
        row = OPERATORS.get(tvm_api.op_name(call) or "")
        taken = NOTHING if row is None else row.specials.operands_may_hold(may | _settled(result))
        if row is not None and _gives_integers(result):
            taken = NOTHING
        for argument in call.args:
            self._use(argument, taken)

    def _private(self, callee: RelaxFunction, arguments: Sequence[Expr], may: Set) -> None:
        self._depth += 1
        inside = Allowed(self._functions)
        inside._depth = self._depth
        inside.returned(callee, may)
        self._depth -= 1
        for parameter, argument in zip(callee.params, arguments, strict=True):
            self._use(argument, inside.of(parameter))
        for expr, allowed in inside._of.items():
            if isinstance(expr, tvm_api.Constant):
                self._use(expr, allowed)


def _settled(result: Type) -> Set:
    """What a result of this type cannot hold, so that its readers need not take it."""
    tensors = _tensors(result)
    if all(tvm_api.dtype_name(ty) == "bool" for ty in tensors):
        return FLOATS
    if all(is_float(tvm_api.dtype_name(ty) or "") for ty in tensors):
        return _UNORDERED
    return NOTHING


def _gives_integers(result: Type) -> bool:
    dtypes = [tvm_api.dtype_name(ty) or "" for ty in _tensors(result)]
    return any(dtype != "bool" and not is_float(dtype) for dtype in dtypes)


def _tensors(ty: Type) -> list[Type]:
    if isinstance(ty, tvm_api.TensorType):
        return [ty]
    return [one for field in ty.fields for one in _tensors(field)] if isinstance(ty, tvm_api.TupleType) else []
