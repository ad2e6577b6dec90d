"""Inputs for modules that come without any, for the parameters of their Relax functions.

Several attempts differ in their ranges and in the values of symbolic dims, since a module does not say which it takes.
The first draws floats as `scales` says, so that nothing saturates; the others draw small whole numbers, on which sums
and products are exact. Worker processes only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from math import prod

import numpy as np
from tvm import relax, tirx

from fuzzer.trial.subject.domains import in_domains
from fuzzer.trial.subject.parameters import ParameterPath
from fuzzer.trial.subject.scales import PLAIN, ranges_of
from generators import tvm_api
from generators.arrays import draw_array
from generators.case import Argument, EntryCall, Shape
from generators.dtypes import Array, is_float, numpy_dtype
from generators.prim_expr import UnboundSymbol, UnknownPrimExpr, evaluate
from generators.program_facts import Feature, Parameter, ProgramFacts
from generators.ranges import Range
from generators.tvm_api import Expr, IRModule, RelaxFunction, Type, Var
from oracles.ir.walk import bindings, functions_of

ENTRY = "main"
UNKNOWN_EXTENT = 2
"""Extent of a dim of which nothing is known."""
UNKNOWN_RANK = 2
MOST = 1 << 26
"""Elements that one tensor may have: drawing more takes gigabytes."""

TURN = 1_000_000
"""What lies between the seeds of two rounds: more than any call draws."""
ATTEMPTS: tuple[tuple[Range | None, Range, tuple[int, ...]], ...] = (
    (None, Range(0, 3, True), (2, 3, 4, 5)),
    (Range(-4, 4, True), Range(0, 3, True), (2, 3, 4, 5)),
    (Range(1, 4, True), Range(1, 3, True), (4,)),
    (Range(0, 1, True), Range(0, 1, True), (1,)),
    (Range(0, 0, True), Range(0, 0, True), (8,)),
)
"""Each attempt: the range of floats (None: as `scales` says), that of whole numbers, and values for symbolic dims,
taken in turn."""


class NoArgument(Enum):
    """Why no argument can be drawn; the value is a counter's key. The first of several reasons is the one to tell."""

    TYPE = "a parameter of which no argument can be made"
    DTYPE = "a dtype that NumPy does not have"
    UNKNOWN_EXTENT = "an extent that no parameter says"
    NEGATIVE_EXTENT = "an extent that is negative"
    TOO_LARGE = "too many elements"


class Undrawable(Exception):
    """A parameter has a type of which no argument can be made; the message names it. kinds: why, none for no function.

    Of several functions that cannot be called, it has the kinds of all.
    """

    def __init__(self, message: str, *kinds: NoArgument) -> None:
        super().__init__(message)
        self.kinds = frozenset(kinds)


def drawn_calls(module: IRModule, attempt: int, rounds: int = 1, seed: int = 0) -> tuple[EntryCall, ...]:
    """So many calls of `main`, or, where there is none, of every public Relax function that can be called.

    `attempt` counts from 0 to len(ATTEMPTS) - 1; the same attempt and seed give the same inputs, each round others:
    every second one has the ranges of the next attempt. Raises Undrawable when no function can be called.
    """
    calls: list[EntryCall] = []
    reasons: list[str] = []
    kinds: frozenset[NoArgument] = frozenset()
    for turn in range(rounds):
        for name in _entries(module):
            try:
                call = EntryCall(name, _Arguments(module, name, attempt, turn, seed).draw())
                calls.append(in_domains(module, call, seed + attempt + turn * TURN))
            except Undrawable as error:
                reasons.append(f"{name}: {error}")
                kinds |= error.kinds
    if not calls:
        raise Undrawable("; ".join(reasons) or "no public Relax function", *kinds)
    return tuple(calls)


def _entries(module: IRModule) -> list[str]:
    functions = {name: f for name, f in functions_of(module).items() if isinstance(f, relax.Function)}
    if ENTRY in functions:
        return [ENTRY]
    return [name for name, f in sorted(functions.items()) if tvm_api.is_public(f)]


class _Arguments:
    """The arguments of one call: symbolic dims get one value each."""

    def __init__(self, module: IRModule, name: str, attempt: int, turn: int, seed: int) -> None:
        self._module = module
        self._name = name
        self._floats, self._whole, extents = ATTEMPTS[min(attempt + turn % 2, len(ATTEMPTS) - 1)]
        start = turn % len(extents)
        self._extents = extents[start:] + extents[:start]
        self._symbols: dict[Var, int] = {}
        self._scales: dict[ParameterPath, Range] = {}
        # Even: `draw_array` rounds the contents of odd ones to sixteenths, which is much of a small weight.
        self._seed = 2 * (seed + attempt) + turn * TURN

    def draw(self) -> tuple[Argument, ...]:
        types = _types_of(functions_of(self._module)[self._name])
        # Symbols that stand alone in a type come first, in order; compound extents follow from them.
        for ty in types:
            for symbol in _symbols_in(ty):
                self._symbols.setdefault(symbol, self._extents[len(self._symbols) % len(self._extents)])
        if self._floats is None:
            self._scales = ranges_of(self._module, self._name, self._known_extent)
        return tuple(self._argument(ty, (place,)) for place, ty in enumerate(types))

    def _known_extent(self, expr: Expr) -> int:
        try:
            return self._extent(expr)
        except Undrawable as error:
            raise ValueError(str(error)) from error

    def _argument(self, ty: Type, path: ParameterPath) -> Argument:
        if isinstance(ty, tvm_api.TensorType):
            return self._tensor(ty, path)
        if isinstance(ty, tvm_api.DistributedType):
            return self._tensor(ty.tensor_ty, path)
        if isinstance(ty, tvm_api.AnyType):  # a tensor is one of the values that it may have
            return self._tensor(tvm_api.tensor_type(None, None), path)
        if isinstance(ty, tvm_api.ShapeType):
            values = ty.values
            known = [UNKNOWN_EXTENT] * max(ty.ndim, 1) if values is None else [self._extent(v) for v in values]
            return Shape(tuple(known))
        if isinstance(ty, tvm_api.TupleType):
            return tuple(self._argument(field, (*path, place)) for place, field in enumerate(ty.fields))
        if isinstance(ty, tvm_api.PrimType):
            dtype = tvm_api.dtype_text(ty.dtype)
            if dtype == "bool":
                return True
            return 1.0 if is_float(dtype) else int(self._extents[0])
        raise Undrawable(f"no argument of type {ty}", NoArgument.TYPE)

    def _tensor(self, ty: Type, path: ParameterPath) -> Array:
        dtype = tvm_api.dtype_name(ty) or "float32"
        try:
            numpy_dtype(dtype)
        except (TypeError, ValueError, KeyError) as error:
            raise Undrawable(f"no arrays of {dtype}", NoArgument.DTYPE) from error
        if isinstance(ty.shape, relax.ShapeExpr):
            shape = tuple(self._extent(v) for v in ty.shape.values)
        else:
            shape = (UNKNOWN_EXTENT,) * (ty.ndim if ty.ndim >= 0 else UNKNOWN_RANK)
        if prod(shape) > MOST:
            raise Undrawable(f"more elements than {MOST}", NoArgument.TOO_LARGE)
        self._seed += 2 * len(ATTEMPTS)
        floats = self._scales.get(path, PLAIN) if self._floats is None else self._floats
        values = floats if is_float(dtype) else self._whole
        if dtype == "bool":
            values = values.clipped(0, 1)
        return draw_array(self._seed, shape, dtype, values)

    def _extent(self, expr: Expr) -> int:
        try:
            extent = int(evaluate(expr, self._symbols))
        except (UnboundSymbol, UnknownPrimExpr, ZeroDivisionError) as error:
            raise Undrawable(f"extent {expr} has no value", NoArgument.UNKNOWN_EXTENT) from error
        if extent < 0:
            raise Undrawable(f"extent {expr} would be {extent}", NoArgument.NEGATIVE_EXTENT)
        return extent


def _types_of(function: RelaxFunction) -> list[Type]:
    """The types of the parameters; of one whose extents are unknown, the type that it is cast to first, if it is."""
    casts: dict[Var, Type] = {}
    for bound in bindings(function):
        of_variable = isinstance(bound.binding, relax.MatchCast) and isinstance(bound.value, relax.Var)
        if of_variable and _has_extents(bound.binding.ty):
            casts.setdefault(bound.value, bound.binding.ty)
    types = [(parameter, tvm_api.type_of(parameter)) for parameter in function.params]
    return [ty if _has_extents(ty) else casts.get(parameter, ty) for parameter, ty in types]


def _has_extents(ty: Type) -> bool:
    if isinstance(ty, tvm_api.TensorType):
        return isinstance(ty.shape, relax.ShapeExpr)
    if isinstance(ty, tvm_api.ShapeType):
        return ty.values is not None
    return not isinstance(ty, tvm_api.AnyType)


def _symbols_in(ty: Type) -> Iterator[Var]:
    """The variables of a type's extents, in order."""
    if isinstance(ty, tvm_api.DistributedType):
        ty = ty.tensor_ty
    if isinstance(ty, tvm_api.TupleType):
        for field in ty.fields:
            yield from _symbols_in(field)
    extents: Sequence[Expr] = ()
    if isinstance(ty, tvm_api.TensorType) and isinstance(ty.shape, relax.ShapeExpr):
        extents = ty.shape.values
    elif isinstance(ty, tvm_api.ShapeType) and ty.values is not None:
        extents = ty.values
    for extent in extents:
        yield from tirx.analysis.undefined_vars(tirx.Evaluate(extent), [])


def facts_of(module: IRModule, calls: tuple[EntryCall, ...]) -> ProgramFacts:
    """What constructors of passes may depend on, from the first call's function."""
    functions = functions_of(module)
    if not calls or calls[0].function not in functions:
        return ProgramFacts()
    function = functions[calls[0].function]
    parameters = tuple(
        _parameter(var.name, argument) for var, argument in zip(function.params, calls[0].arguments, strict=True)
    )
    attrs = function.attrs
    num_input = int(attrs["num_input"]) if attrs and "num_input" in attrs else None
    features = frozenset({Feature.NUM_INPUT} if num_input is not None else ())
    return ProgramFacts(parameters, (), num_input, (calls[0].function,), features)


def _parameter(name: str, argument: Argument) -> Parameter:
    if isinstance(argument, np.ndarray):
        return Parameter(name, argument.shape, str(argument.dtype), True, argument)
    return Parameter(name, (), "", False)
