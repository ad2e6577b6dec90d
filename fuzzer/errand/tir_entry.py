"""Relax functions that call the PrimFuncs of a module that has no Relax function. Worker processes only.

A TIR module alone can be called by nobody who gives values, so that no number of it could be judged. A PrimFunc whose
last buffers are those that it writes is a call_tir of the others, as every PrimFunc of LegalizeOps is.
"""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax, tirx

from generators import tvm_api as T
from oracles.ir.walk import nodes_of, prim_funcs, relax_functions
from oracles.well_formed import complaint

PREFIX = "call_"
"""What stands before the name of a PrimFunc in that of the function that calls it."""


class NotCallable(Exception):
    """A PrimFunc that call_tir cannot call; the message says why."""


def with_entries(module: Any) -> Any:
    """The module with a Relax function `call_<name>` for every PrimFunc.

    The module itself where it has Relax functions, no PrimFunc, or one that call_tir cannot call.
    """
    found = prim_funcs(module)
    if not found or relax_functions(module):
        return module
    functions = dict(module.functions.items())
    try:
        for variable, prim_func in found:
            name = f"{PREFIX}{variable.name_hint}"
            if any(name == other.name_hint for other in functions):
                raise NotCallable(f"there is a {name} already")
            functions[tvm.ir.GlobalVar(name)] = _entry(name, variable, prim_func)
    except NotCallable:
        return module
    made = relax.transform.Normalize()(tvm.ir.IRModule(functions, attrs=module.attrs, global_infos=module.global_infos))
    return module if complaint(made) else made


def _entry(name: str, variable: Any, prim_func: Any) -> Any:
    """`fn(inputs) = call_tir(prim_func, inputs)`. Raises NotCallable."""
    if not isinstance(T.type_of(variable), T.FuncType):  # as modules that no parser has made leave it
        T.set_type(variable, T.type_of(prim_func))
    if _binds_threads(prim_func):
        raise NotCallable("its loops are bound to the threads of a GPU")
    types = [T.type_of(parameter) for parameter in prim_func.params]
    if not all(isinstance(ty, tirx.BufferType) for ty in types):
        raise NotCallable("a parameter is no buffer")
    written = _written(prim_func)
    outputs = [parameter in written for parameter in prim_func.params]
    first = outputs.index(True) if any(outputs) else len(outputs)
    if not all(outputs[first:]) or first == len(outputs):
        raise NotCallable("what it writes is not what comes last")
    symbols: dict[Any, Any] = {}
    shapes = [tuple(_wide(extent, symbols) for extent in ty.shape) for ty in types]
    names = [str(ty.dtype).removeprefix("T.") for ty in types]
    tensors = [T.tensor_type(shape, dtype) for shape, dtype in zip(shapes, names, strict=True)]
    inputs = [relax.Var(f"x{number}", ty) for number, ty in enumerate(tensors[:first])]
    builder = relax.BlockBuilder()
    with builder.function(name, inputs):
        with builder.dataflow():
            result = builder.emit_output(relax.call_tir(variable, relax.Tuple(inputs), tensors[first:]))
        builder.emit_func_output(result)
    return builder.finalize()[name]


def _wide(extent: Any, symbols: dict[Any, Any]) -> Any:
    """An extent in int64, which Relax wants: a variable of another type becomes one symbol of its name."""
    if isinstance(extent, int) or str(extent.ty.dtype).removeprefix("T.") == "int64":
        return extent
    if isinstance(extent, tirx.IntImm):
        return int(extent.value)
    if not isinstance(extent, tirx.Var):
        raise NotCallable("an extent that is computed in another type than int64")
    return symbols.setdefault(extent, T.symbol(extent.name))


def _written(prim_func: Any) -> set[Any]:
    """The parameters that a store of the body writes into by name."""
    stores = nodes_of(prim_func.body, tirx.BufferStore)
    return {p for p in prim_func.params if any(store.buffer.same_as(p) for store in stores)}


def _binds_threads(prim_func: Any) -> bool:
    return any(loop.thread_binding is not None for loop in nodes_of(prim_func.body, tirx.For))
