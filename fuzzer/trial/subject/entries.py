"""Relax functions that call the PrimFuncs of a module that has no Relax function. Worker processes only.

A TIR module alone has no caller that gives values, so no number of it could be judged. A PrimFunc whose
last buffers are those that it writes is a call_tir of the others, as every PrimFunc of LegalizeOps is; any other one
takes buffers that hold something and leaves something in them, which is what call_tir_inplace says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TypeAlias

import tvm
import tvm_ffi
from tvm import relax, tirx
from tvm.ir import GlobalVar as GLOBAL_VAR

from generators import tvm_api as T
from generators.tvm_api import Expr, GlobalVar, IRModule, PrimFunc, RelaxFunction, Stmt, Type, Var
from oracles.checks.well_formed import complaint
from oracles.ir.threads import binds_threads
from oracles.ir.walk import VAR, nodes_of, prim_funcs, relax_functions
from oracles.reference.tir.signature import is_packed

PREFIX = "call_"
"""The function that calls a PrimFunc has its name with this prefix."""
EntryOf: TypeAlias = Callable[[str, GlobalVar, PrimFunc], RelaxFunction]


class NotCallable(Exception):
    """A PrimFunc that no Relax function can call; the message says why."""


def with_entries(module: IRModule) -> IRModule:
    """The module with a Relax function `call_<name>` for every PrimFunc, which is a call_tir.

    The module itself where it has Relax functions, no PrimFunc, or one that call_tir cannot call.
    """
    try:
        return _with(module, _entry, all_of_them=True)
    except NotCallable:
        return module


def with_entries_in_place(module: IRModule) -> IRModule:
    """The same for any PrimFunc of buffers and scalars, kernels of a GPU too: every buffer is written in place, so that
    the results are all that a call leaves. For the reference alone: this is never built.

    Raises NotCallable where no PrimFunc can be called so; those that cannot are left alone where others can.
    """
    return _with(module, _entry_in_place, all_of_them=False)


Elements: TypeAlias = tuple[int, str]
"""How many elements, and their dtype."""
Pointers: TypeAlias = Mapping[str, Mapping[int, Elements]]
"""Per PrimFunc and place among its parameters, what a pointer is to point at."""


def pointers_of(module: IRModule) -> Pointers:
    """What the pointers among the parameters of the module's PrimFuncs point at, as their bodies declare it.

    A buffer of vectors counts as a pointer to their elements: NumPy has no arrays of vectors.
    """
    return {
        variable.name_hint: {
            place: declared
            for place, parameter in enumerate(T.parameters_of(prim_func))
            if (declared := _declared(parameter, prim_func)) is not None
        }
        for variable, prim_func in prim_funcs(module)
    }


def _declared(parameter: Var, prim_func: PrimFunc) -> Elements | None:
    """The largest of the buffers that lie where a pointer points; None where one has no fixed shape, or none does.

    None for what is neither a pointer nor a buffer of vectors.
    """
    if _has_vectors(parameter):
        dtype, lanes = T.dtype_text(T.type_of(parameter).dtype), _lanes(parameter)
        shape = [int(extent) for extent in parameter.shape if isinstance(extent, tirx.IntImm)]
        known = len(shape) == len(parameter.shape)
        return (prod(shape) * lanes, dtype.removesuffix(f"x{lanes}")) if known else None
    if not isinstance(T.type_of(parameter), tvm.ir.PointerType):
        return None
    views = [view.buffer for view in nodes_of(prim_func.body, tirx.DeclBuffer) if view.data.same_as(parameter)]
    shapes = [[int(extent) for extent in view.shape if isinstance(extent, tirx.IntImm)] for view in views]
    if not views or any(len(shape) != len(view.shape) for shape, view in zip(shapes, views, strict=True)):
        return None
    return prod(max(shapes, key=prod)), T.dtype_text(T.type_of(views[0]).dtype)


def _has_vectors(parameter: Var) -> bool:
    """Whether a parameter is a buffer of vectors of so many lanes."""
    return isinstance(T.type_of(parameter), tirx.BufferType) and _lanes(parameter) > 1


def _lanes(buffer: Var) -> int:
    """The lanes of a buffer's elements, below zero where only the processor knows how many."""
    return int(T.type_of(buffer).dtype.dtype.lanes)


def with_buffers(module: IRModule, pointers: Pointers) -> IRModule:
    """The module with buffers for the parameters that are `pointers`, into which the bodies look as before.

    Raises NotCallable where a parameter is no pointer to such elements (any more).
    """
    functions = dict(module.functions.items())
    changed = []
    for variable, prim_func in prim_funcs(module):
        places = pointers.get(variable.name_hint, {})
        if places and max(places) < len(prim_func.params) and not is_packed(prim_func):
            functions[variable] = _with_buffers(prim_func, places)
            changed.append(variable.name_hint)
    return _typed(T.replace_functions(module, functions), changed)


def _with_buffers(prim_func: PrimFunc, places: Mapping[int, Elements]) -> PrimFunc:
    params = T.parameters_of(prim_func)
    data: dict[Var, Expr] = {}
    views: list[Stmt] = []
    for place, (size, dtype) in places.items():
        buffer = tirx.decl_buffer((size,), dtype, name=params[place].name)
        if isinstance(T.type_of(params[place]), tvm.ir.PointerType):
            data[params[place]] = buffer.data
        elif _declared(params[place], prim_func) == (size, dtype):
            views.append(tirx.DeclBuffer(params[place], data=buffer.data))
        else:
            raise NotCallable("a parameter that is one of vectors on one side alone")
        params[place] = buffer

    def seen(variable: Var) -> Expr:
        return data.get(variable, variable)

    body = tvm_ffi.structural_map(prim_func.body, (VAR, seen))
    whole = tirx.SeqStmt([*views, body]) if views else body
    return T.prim_func(params, whole, prim_func.ret_type, prim_func.attrs)


def _with(module: IRModule, entry: EntryOf, all_of_them: bool) -> IRModule:
    if relax_functions(module):
        return module
    module = _typed(module)
    functions = dict(module.functions.items())
    names = {variable.name_hint for variable in functions}
    why = "no PrimFunc"
    for variable, prim_func in prim_funcs(module):
        try:
            name = f"{PREFIX}{variable.name_hint}"
            if name in names:
                raise NotCallable(f"there is a {name} already")
            functions[GLOBAL_VAR(name)] = entry(name, variable, prim_func)
        except NotCallable as error:
            why = str(error)
            if all_of_them:
                raise
    if len(functions) == len(names):
        raise NotCallable(why)
    made = relax.transform.Normalize()(T.replace_functions(module, functions))
    if complaint(made) and not any(is_packed(prim_func) for _, prim_func in prim_funcs(module)):
        raise NotCallable("with a function that calls it the module is ill-formed")
    return made


def _typed(module: IRModule, changed: Sequence[str] = ()) -> IRModule:
    """The module with the types of its PrimFuncs on their names, which modules that no parser has made leave out.

    changed: functions whose names have a type that is not theirs any more.
    """
    fresh: dict[GlobalVar, GlobalVar] = {}
    for variable, function in module.functions.items():
        if variable.name_hint in changed or not isinstance(T.type_of(variable), T.FuncType):
            fresh[variable] = GLOBAL_VAR(variable.name_hint)
            T.set_type(fresh[variable], T.type_of(function))
    if not fresh:
        return module

    def typed(variable: GlobalVar) -> GlobalVar:
        return fresh.get(variable, variable)

    functions = {
        typed(variable): tvm_ffi.structural_map(function, (GLOBAL_VAR, typed))
        for variable, function in module.functions.items()
    }
    return T.replace_functions(module, functions)


def _entry(name: str, variable: GlobalVar, prim_func: PrimFunc) -> RelaxFunction:
    """`fn(inputs) = call_tir(prim_func, inputs)`. Raises NotCallable."""
    if binds_threads(prim_func):
        raise NotCallable("its loops are bound to the threads of a GPU")
    types = _types(prim_func, {})
    if not all(isinstance(ty, T.TensorType) for ty in types):
        raise NotCallable("a parameter is no buffer")
    written = _written(prim_func)
    outputs = [parameter in written for parameter in T.parameters_of(prim_func)]
    first = outputs.index(True) if any(outputs) else len(outputs)
    if not all(outputs[first:]) or first == len(outputs):
        raise NotCallable("what it writes is not what comes last")
    inputs = [relax.Var(f"x{number}", ty) for number, ty in enumerate(types[:first])]
    return _function(name, inputs, relax.call_tir(variable, relax.Tuple(inputs), types[first:]))


def _entry_in_place(name: str, variable: GlobalVar, prim_func: PrimFunc) -> RelaxFunction:
    """`fn(parameters) = call_tir_inplace(prim_func, parameters)`, into every buffer. Raises NotCallable."""
    symbols: dict[Var, Var] = {}
    if is_packed(prim_func):
        return _entry_packed(name, variable, prim_func)
    types = _types(prim_func, symbols)
    places = [place for place, ty in enumerate(types) if isinstance(ty, T.TensorType)]
    arguments, inputs = [], []
    for number, (parameter, ty) in enumerate(zip(T.parameters_of(prim_func), types, strict=True)):
        if parameter in symbols:  # an extent of a buffer, which is what it is
            arguments.append(_narrow(symbols[parameter], ty))
        else:
            inputs.append(relax.Var(f"x{number}", ty))
            arguments.append(inputs[-1])
    loose = _not_said(types, symbols)
    if loose:
        inputs.append(relax.Var("extents", T.ShapeType(loose)))
    if not places:  # what it does stays inside of it, or it returns a scalar
        return _function(name, inputs, relax.Call(variable, arguments), is_pure=False)
    called = relax.op.call_tir_inplace(variable, relax.Tuple(arguments), places, [types[place] for place in places])
    return _function(name, inputs, called)


def _entry_packed(name: str, variable: GlobalVar, prim_func: PrimFunc) -> RelaxFunction:
    """The same for a packed function, whose parameters say nothing: its own diagnostics spell what it takes.

    The function is called under a name of its own that has these types; who runs it looks it up by that name.
    """
    types = _spelled(prim_func)
    called = tvm.ir.GlobalVar(variable.name_hint)
    T.set_type(called, T.FuncType(types, T.TupleType([]), False))
    inputs = [relax.Var(f"x{number}", ty) for number, ty in enumerate(types)]
    places = [place for place, ty in enumerate(types) if isinstance(ty, T.TensorType)]
    if not places:
        return _function(name, inputs, relax.Call(called, inputs), is_pure=False)
    results = [types[place] for place in places]
    return _function(name, inputs, relax.op.call_tir_inplace(called, relax.Tuple(inputs), places, results))


def _spelled(prim_func: PrimFunc) -> list[Type]:
    """The types in "name(A: Tensor([2, n], float32), x: int32)", as MakePackedAPI puts it into its assertions.

    None where it asserts nothing and reads no argument. Raises NotCallable.
    """
    for assertion in nodes_of(prim_func.body, tirx.AssertStmt):
        text = "".join(str(part.value) for part in assertion.message_parts)
        found = _SPELLED.search(re.sub(r"T\.int\d+\((\d+)\)", r"\1", text))
        if found:
            symbols: dict[str, Var] = {}
            return [_type_named(shape, dtype, symbols) for shape, dtype in _ARGUMENT.findall(found[1])]
    if not any(variable.same_as(prim_func.params[1]) for variable in nodes_of(prim_func.body, tirx.Var)):
        return []
    raise NotCallable("a packed function that does not say what it takes")


def _type_named(shape: str, dtype: str, symbols: dict[str, Var]) -> Type:
    """The type of an argument by its words; shape: empty for a scalar."""
    if not shape:
        return T.PrimType(dtype)
    words = re.findall(r"\w+", shape)
    extents = [int(word) if word.isdecimal() else symbols.setdefault(word, T.symbol(word)) for word in words]
    return T.tensor_type(tuple(extents), dtype)


_ONE = r"\w+: (?:Tensor\((\[(?:\w+(?:, \w+)*)?\]), )?([a-z]+\d+\w*|bool)\)?"
_EACH = r"\w+: (?:Tensor\(\[(?:\w+(?:, \w+)*)?\], (?:[a-z]+\d+\w*|bool)\)|[a-z]+\d+\w*|bool)"
_SPELLED = re.compile(rf"`\w+\(({_EACH}(?:, {_EACH})*)\)`")
_ARGUMENT = re.compile(_ONE)


def _not_said(types: Sequence[Type], symbols: Mapping[Var, Var]) -> list[Var]:
    """The symbols that stand alone in no type, so that no tensor says what they are."""
    extents = [extent for ty in types if isinstance(ty, T.TensorType) for extent in ty.shape.values]
    return [symbol for symbol in symbols.values() if not any(symbol.same_as(extent) for extent in extents)]


def _narrow(symbol: Var, ty: Type) -> Expr:
    return symbol if str(ty.dtype) == str(T.type_of(symbol).dtype) else tirx.Cast(ty.dtype, symbol)


def _function(name: str, inputs: Sequence[Var], value: Expr, is_pure: bool = True) -> RelaxFunction:
    builder = relax.BlockBuilder()
    with builder.function(name, inputs, pure=is_pure):
        if is_pure:
            with builder.dataflow():
                result = builder.emit_output(value)
        else:
            result = builder.emit(value)
        builder.emit_func_output(result)
    return builder.finalize()[name]


def _types(prim_func: PrimFunc, symbols: dict[Var, Var]) -> list[Type]:
    """The types of the arguments in Relax: tensors and scalars. `symbols` gets those of the variables in extents.

    Raises NotCallable.
    """
    return [_type(parameter, symbols) for parameter in T.parameters_of(prim_func)]


def _type(parameter: Var, symbols: dict[Var, Var]) -> Type:
    ty = T.type_of(parameter)
    if isinstance(ty, T.PrimType):
        return ty
    if not isinstance(ty, tirx.BufferType):
        raise NotCallable("a parameter is a pointer")
    return T.tensor_type(tuple(_wide(extent, symbols) for extent in ty.shape), T.dtype_text(ty.dtype))


def _wide(extent: Expr | int, symbols: dict[Var, Var]) -> Expr | int:
    """An extent in int64, which Relax wants: a variable of another type becomes one symbol.

    The symbol has another name: a script in which a TypeVar is called as a variable of a PrimFunc does not parse.
    """
    if isinstance(extent, tirx.Var):
        return symbols.setdefault(extent, extent if _is_wide(extent) else T.symbol(f"{extent.name}_wide"))
    if isinstance(extent, int) or _is_wide(extent):
        return extent
    if isinstance(extent, tirx.IntImm):
        return int(extent.value)
    if type(extent) in _ARITHMETIC:
        return type(extent)(_as_expr(_wide(extent.a, symbols)), _as_expr(_wide(extent.b, symbols)))
    raise NotCallable("an extent that is computed in another type than int64")


_ARITHMETIC = (tirx.Add, tirx.Sub, tirx.Mul, tirx.FloorDiv, tirx.FloorMod, tirx.Min, tirx.Max)


def _is_wide(extent: Expr) -> bool:
    return T.dtype_text(extent.ty.dtype) == "int64"


def _as_expr(extent: Expr | int) -> Expr:
    return tirx.IntImm("int64", extent) if isinstance(extent, int) else extent


def _written(prim_func: PrimFunc) -> set[Var]:
    """The parameters that a store of the body writes into by name."""
    stores = nodes_of(prim_func.body, tirx.BufferStore)
    return {p for p in T.parameters_of(prim_func) if any(store.buffer.same_as(p) for store in stores)}
