"""The entry call that a user gives by `--inputs FILE.npz`. One-shot processes only.

A parameter is named as in the module, or `arg0`, `arg1`, ... by its place; a field of a tuple by its number after a
dot (`weights.0`). A shape parameter is a vector of its extents, a scalar parameter an array without dimensions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from tvm import relax

from fuzzer.trial.subject.inputs import ENTRY
from generators import tvm_api
from generators.case import Argument, EntryCall, Shape
from generators.dtypes import Array, is_float, numpy_dtype
from generators.prim_expr import UnboundSymbol, UnknownPrimExpr, evaluate
from generators.tvm_api import Expr, IRModule, RelaxFunction, Type, Var
from oracles.ir.walk import functions_of


class NotGiven(Exception):
    """The arrays are not the arguments of the module's function; one line that says which is not."""


def given_call(module: IRModule, arrays: Mapping[str, Array]) -> EntryCall:
    """The call of `main`, or of the one public Relax function, with these arrays. Raises NotGiven."""
    name, function = _entry(module)
    left = dict(arrays)
    symbols: dict[Var, int] = {}
    names = _names(function, left)
    arguments = tuple(
        _argument(given, tvm_api.type_of(parameter), left, symbols)
        for given, parameter in zip(names, function.params, strict=True)
    )
    if left:
        known = ", ".join(names)
        raise NotGiven(f"{sorted(left)[0]}: no parameter of {name}, which takes {known}")
    return EntryCall(name, arguments)


def _entry(module: IRModule) -> tuple[str, RelaxFunction]:
    functions = {name: f for name, f in functions_of(module).items() if isinstance(f, relax.Function)}
    public = {name: f for name, f in functions.items() if tvm_api.is_public(f)}
    if ENTRY in functions:
        return ENTRY, functions[ENTRY]
    if len(public) != 1:
        raise NotGiven(f"the module has {len(public)} public Relax functions, and none is main")
    return next(iter(public.items()))


def _names(function: RelaxFunction, arrays: Mapping[str, Array]) -> list[str]:
    """What each parameter is called in the file: by its place where that is there and the name of the parameter is
    not."""
    names = []
    for place, parameter in enumerate(function.params):
        own, numbered = str(parameter.name), f"arg{place}"
        held = [key for key in arrays if key.split(".")[0] == numbered]
        named = [key for key in arrays if key.split(".")[0] == own or key == own]
        names.append(numbered if held and not named else own)
    return names


def _argument(name: str, ty: Type, left: dict[str, Array], symbols: dict[Var, int]) -> Argument:
    if isinstance(ty, tvm_api.TupleType):
        return tuple(_argument(f"{name}.{k}", field, left, symbols) for k, field in enumerate(ty.fields))
    if name not in left:
        raise NotGiven(f"{name}: missing")
    array = left.pop(name)
    if isinstance(ty, tvm_api.TensorType):
        return _tensor(name, ty, array, symbols)
    if isinstance(ty, tvm_api.ShapeType):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise NotGiven(f"{name}: a vector of whole numbers is wanted, the extents of a shape")
        _bind(name, None if ty.values is None else list(ty.values), tuple(map(int, array)), symbols)
        return Shape(tuple(map(int, array)))
    if isinstance(ty, tvm_api.PrimType):
        if array.ndim != 0:
            raise NotGiven(f"{name}: a number is wanted, not an array of shape {list(array.shape)}")
        return float(array) if is_float(tvm_api.dtype_text(ty.dtype)) else int(array)
    raise NotGiven(f"{name}: no file says an argument of type {ty}")


def _tensor(name: str, ty: Type, array: Array, symbols: dict[Var, int]) -> Array:
    dtype = tvm_api.dtype_name(ty)
    if dtype is not None:
        wanted = numpy_dtype(dtype)
        if array.dtype.kind == "V" and array.dtype.itemsize == wanted.itemsize:
            array = array.view(wanted)  # NumPy's files do not name the dtypes of ml_dtypes.
        if array.dtype != wanted:
            raise NotGiven(f"{name}: is {array.dtype}, not {dtype}")
    if ty.ndim >= 0 and array.ndim != ty.ndim:
        raise NotGiven(f"{name}: has shape {list(array.shape)}, not {ty.ndim} dimensions")
    extents = list(ty.shape.values) if isinstance(ty.shape, relax.ShapeExpr) else None
    _bind(name, extents, array.shape, symbols)
    return np.ascontiguousarray(array).reshape(array.shape)


def _bind(name: str, extents: Sequence[Expr] | None, shape: tuple[int, ...], symbols: dict[Var, int]) -> None:
    """Binds the symbols that stand alone, and holds every other extent that is known against the array's."""
    if extents is None:
        return
    for extent, given in zip(extents, shape, strict=False):
        if isinstance(extent, tvm_api.Var):
            symbols.setdefault(extent, given)
    known = [_value(extent, symbols) for extent in extents]
    if len(known) != len(shape) or any(k not in (None, given) for k, given in zip(known, shape, strict=True)):
        wanted = ", ".join(str(extent if k is None else k) for extent, k in zip(extents, known, strict=True))
        raise NotGiven(f"{name}: has shape {list(shape)}, not [{wanted}]")


def _value(extent: Expr, symbols: Mapping[Var, int]) -> int | None:
    """None for an extent of symbols that other parameters bind: the reference checks these."""
    try:
        return int(evaluate(extent, symbols))
    except (UnboundSymbol, UnknownPrimExpr, ZeroDivisionError):
        return None
