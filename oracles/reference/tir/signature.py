"""The parameters of a PrimFunc, and the match of arguments with them: types, ranks, shapes, shape variables."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from generators import tvm_api
from generators.tvm_api import Expr, PrimFunc, Var
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.decode.dispatch import expression
from oracles.reference.tir.decode.pointer_kinds import Described
from oracles.reference.tir.decode.state import DecodeState
from oracles.reference.tir.decode.table import shape_state
from oracles.reference.tir.decode.tvm_objects import dtype_of
from oracles.reference.tir.nodes import Const, DType

C_PACKED_FUNC = 1
"""CallingConv::kCPackedFunc."""
FFI_PREFIX = "__tvm_ffi_"


@dataclass(frozen=True, slots=True, eq=False)
class ArrayParam:
    """A buffer. `dims`: a number, a `SymbolNumber` or TVM's expression each; `fixed`: the shape if all are numbers."""

    name: str
    dtype: DType
    handle: int
    dims: tuple[int | SymbolNumber | Expr, ...]
    fixed: tuple[int, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class ScalarParam:
    """A number; an integer is a symbol like a shape variable."""

    name: str
    dtype: DType
    handle: int


@dataclass(frozen=True, slots=True)
class SymbolNumber:
    """A dimension that is a variable, by its number among the function's symbols."""

    number: int


def is_packed(func: PrimFunc) -> bool:
    """Whether MakePackedAPI made the function."""
    attrs = func.attrs
    return attrs is not None and "calling_conv" in attrs and int(attrs["calling_conv"]) == C_PACKED_FUNC


class PackedSignature:
    """A packed function takes any arguments and checks them in its body.

    Its symbols are the arguments themselves: (shape, dtype) of an array, the value of an integer, the type of any other
    number.
    """

    def __init__(self, func: PrimFunc) -> None:
        self.name = str(func.attrs["global_symbol"]).removeprefix(FFI_PREFIX)

    def bind(self, args: Sequence[object]) -> tuple[Described, ...]:
        """The description of the arguments that the function is decoded for."""
        return tuple(self._described(arg) for arg in args)

    def _described(self, arg: object) -> Described:
        if isinstance(arg, np.ndarray):
            return arg.shape, arg.dtype.name
        if isinstance(arg, bool | np.bool_):
            return "bool"
        if isinstance(arg, int | np.integer):
            return operator.index(arg)
        if isinstance(arg, float | np.floating):
            return "float64"
        raise Unsupported(f"packed call with a {type(arg).__name__}")


class PrimFuncSignature:
    """The parameters in order, and the symbols (addresses of variables) that a call must give values."""

    def __init__(self, func: PrimFunc) -> None:
        attrs = func.attrs
        self.name = str(attrs["global_symbol"]) if attrs is not None and "global_symbol" in attrs else "prim_func"
        self.symbols: list[int] = []
        self.params: list[ArrayParam | ScalarParam] = [self._param(param) for param in tvm_api.parameters_of(func)]

    def _param(self, param: Var) -> ArrayParam | ScalarParam:
        ty = param.ty
        kind = type(ty).__name__
        if kind == "PrimType":
            dtype = dtype_of(ty)
            if dtype.kind in "iu":
                self._symbol(param.__chandle__())
            return ScalarParam(str(param.name), dtype, param.__chandle__())
        if kind != "BufferType":
            raise Unsupported(f"parameter of {kind}")
        dims = tuple(self._dim(extent) for extent in ty.shape[:])
        known = tuple(dim for dim in dims if isinstance(dim, int))
        fixed = known if len(known) == len(dims) else None
        return ArrayParam(str(param.name), dtype_of(ty), param.__chandle__(), dims, fixed)

    def _symbol(self, handle: int) -> SymbolNumber:
        if handle not in self.symbols:
            self.symbols.append(handle)
        return SymbolNumber(self.symbols.index(handle))

    def _dim(self, extent: Expr) -> int | SymbolNumber | Expr:
        name = type(extent).__name__
        if name == "IntImm":
            return int(extent.value)
        return self._symbol(extent.__chandle__()) if name == "Var" else extent

    def bind(self, args: Sequence[object]) -> tuple[int, ...]:
        """The values of the symbols. Raises Trap("type") if an argument's type or shape is not the declared
        one.
        """
        if len(args) != len(self.params):
            raise Trap("type", f"{self.name}: {len(args)} arguments for {len(self.params)} parameters")
        values: list[int | None] = [None] * len(self.symbols)
        for param, arg in zip(self.params, args, strict=True):
            if isinstance(param, ScalarParam):
                self._bind_scalar(param, arg, values)
        for param, arg in zip(self.params, args, strict=True):
            if isinstance(param, ArrayParam):
                self._bind_array(param, arg, values)
        if None in values:
            raise Trap("type", f"{self.name}: a shape variable is bound by no argument")
        bound = tuple(value for value in values if value is not None)
        self._check_computed(args, bound)
        return bound

    def _bind_scalar(self, param: ScalarParam, arg: object, values: list[int | None]) -> None:
        if param.dtype.kind in "iu":
            if not isinstance(arg, int | np.integer):
                raise Trap("type", f"{self.name}: {param.name} is {type(arg).__name__}, declared {param.dtype}")
            value = operator.index(arg)
            if not param.dtype.low <= value <= param.dtype.high:
                raise Trap("type", f"{self.name}: {param.name} = {value} does not fit {param.dtype}")
            values[self.symbols.index(param.handle)] = value
        elif not isinstance(arg, bool | np.bool_ if param.dtype.kind == "b" else int | float | np.floating):
            raise Trap("type", f"{self.name}: {param.name} is {type(arg).__name__}, declared {param.dtype}")

    def _bind_array(self, param: ArrayParam, arg: object, values: list[int | None]) -> None:
        if not isinstance(arg, np.ndarray):
            raise Trap("type", f"{self.name}: {param.name} is {type(arg).__name__}, not an array")
        if arg.dtype != param.dtype.numpy:
            raise Trap("type", f"{self.name}: {param.name} has dtype {arg.dtype}, declared {param.dtype}")
        if param.fixed is not None:
            if arg.shape != param.fixed:
                raise Trap("type", f"{self.name}: {param.name} has shape {arg.shape}, declared {param.fixed}")
            return
        if arg.ndim != len(param.dims):
            raise Trap("type", f"{self.name}: {param.name} has rank {arg.ndim}, declared {len(param.dims)}")
        for dim, extent in zip(param.dims, arg.shape, strict=True):
            known = dim
            if isinstance(dim, SymbolNumber):
                known = values[dim.number]
                if known is None:
                    values[dim.number] = known = extent
            if isinstance(known, int) and known != extent:
                raise Trap("type", f"{self.name}: {param.name} has shape {arg.shape}, expected {known} for {extent}")

    def _check_computed(self, args: Sequence[object], values: tuple[int, ...]) -> None:
        """Dimensions that are expressions of symbols."""
        state: DecodeState | None = None
        for param, arg in zip(self.params, args, strict=True):
            if isinstance(param, ArrayParam) and param.fixed is None and isinstance(arg, np.ndarray):
                if all(isinstance(dim, int | SymbolNumber) for dim in param.dims):
                    continue
                state = state or shape_state(self.name, dict(zip(self.symbols, values, strict=True)))
                declared = self.shape(param, state)
                if declared != arg.shape:
                    raise Trap("type", f"{self.name}: {param.name} has shape {arg.shape}, declared {declared}")

    def shape(self, param: ArrayParam, state: DecodeState) -> tuple[int, ...]:
        """The declared shape as numbers, with the values that the state has for the symbols."""
        if param.fixed is not None:
            return param.fixed
        extents = []
        for dim in param.dims:
            if isinstance(dim, SymbolNumber):
                extents.append(state.symbols[self.symbols[dim.number]])
            elif isinstance(dim, int):
                extents.append(dim)
            else:
                extent = expression(state, dim)
                if not isinstance(extent, Const):
                    raise Unsupported("shape expression")
                extents.append(int(extent.value))
        return tuple(extents)
