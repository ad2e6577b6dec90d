"""Every name of TVM that changes between versions, under one name each.

Written for 0.27; `generators.compat` lets older versions answer to these names (docs/new-tvm.md).
Only worker processes import this module.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

# A forked child that runs a parallel kernel hangs, so one thread must be set before the import.
os.environ.setdefault("TVM_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import tvm
import tvm_ffi

from generators.compat.names import SUPPLIED, classes, either
from generators.compat.supplied import KINDS as KINDS
from generators.compat.supplied import PRIM_TYPE

# By now an older TVM has the names that follow.
# isort: split
from tvm import relax as relax
from tvm import s_tir as s_tir
from tvm import tirx as tirx
from tvm.ir import BaseFunc as BaseFunc
from tvm.ir import Expr as Expr
from tvm.ir import GlobalVar as GlobalVar
from tvm.ir import IRModule as IRModule
from tvm.ir import Type as Type
from tvm.ir import Var as Var
from tvm.relax import Binding as Binding
from tvm.relax import BindingBlock as BindingBlock
from tvm.relax import BlockBuilder as BlockBuilder
from tvm.relax import dpl
from tvm.script import ir as script_ir
from tvm.script import relax as script_relax
from tvm.script import tirx as script_tirx
from tvm.target import Target as Target
from tvm.tirx import Buffer as Buffer
from tvm.tirx import PrimFunc as PrimFunc
from tvm.tirx import Stmt as Stmt

from generators.dtypes import Array, numpy_dtype

N = TypeVar("N")

RelaxFunction: TypeAlias = relax.Function
Pass: TypeAlias = tvm.transform.Pass
Node: TypeAlias = tvm.runtime.Object
"""Any object of TVM's IR."""
RuntimeTensor: TypeAlias = tvm.runtime.Tensor
"""An array of TVM's run time, and what a tensor constant holds."""
DataType: TypeAlias = tvm_ffi.dtype
VDevice: TypeAlias = relax.VDevice
Device: TypeAlias = tvm.runtime.Device
Executable: TypeAlias = relax.VMExecutable
VirtualMachine: TypeAlias = relax.VirtualMachine
PassContext: TypeAlias = tvm.transform.PassContext

Constant = tvm.ir.GenericConst  # relax.Constant before 0.27
Call = tvm.ir.Call  # one class for Relax and TIR since 0.27
Op = tvm.ir.Op
TensorType = either("tvm.relax.TensorStructInfo", "tvm.relax.TensorType")  # the older name comes first: TVM 0.25
ShapeType = either("tvm.relax.ShapeStructInfo", "tvm.relax.ShapeType")  # has classes of the newer ones, for other types
DistributedType = relax.distributed.DTensorType
"""Of a tensor that is spread over devices; `tensor_ty` is that of the whole."""
TupleType = either("tvm.relax.TupleStructInfo", "tvm.ir.TupleType")
TupleExpr = tvm.ir.Tuple
TupleGetItem = tvm.ir.TupleGetItem
FuncType = either("tvm.relax.FuncStructInfo", "tvm.relax.FuncType")
PrimType = PRIM_TYPE
AnyType = relax.AnyType
VOID = tvm.ir.PrimType("void")
InternalError = tvm.error.InternalError

TensorLoad = tvm.ir.TensorLoad
"""The class of `tirx.BufferLoad`'s results."""
TEXTS: tuple[type, ...] = classes("tvm.ir.StringImm", "tvm.relax.StringImm", "tvm.relax.DataTypeImm")
"""Literals whose `value` is a text, or the name of an element type."""
_SCALARS = classes("tvm.ir.PrimExpr")
"""The class of expressions that are none of Relax, before 0.26."""
_TIR_CALLS = classes("tvm.tirx.Call")
"""The class of calls in PrimFuncs alone, before 0.26."""
HELD_SCALARS: tuple[type, ...] = classes("tvm.relax.PrimValue")
"""Relax expressions whose `value` is a scalar one, before 0.26; scalar expressions stand there themselves since."""
structural_hash = tvm_ffi.structural_hash
structural_equal = tvm_ffi.structural_equal
_item = tvm_ffi.get_global_func("ffi.ArrayGetItem")
_size = tvm_ffi.get_global_func("ffi.ArraySize")
_to_graph = tvm_ffi.get_global_func("ffi.ToJSONGraph")
_from_graph = tvm_ffi.get_global_func("ffi.FromJSONGraph")

_TVM = {"tvm": tvm, "tvm_ffi": tvm_ffi, "relax": relax, "tirx": tirx, "s_tir": s_tir}
PASS_NAMES: dict[str, Any] = {**_TVM, "dpl": dpl, "np": np}
"""The names that expressions which construct passes may use."""

VERSION: str = tvm.__version__


def symbol(name: str) -> Var:
    """A fresh symbolic dimension (int64)."""
    return tirx.Var(name, "int64")


def constant(array: Array, dtype: str) -> Expr:
    """A Relax constant with the array's contents; bfloat16 goes through ml_dtypes."""
    return relax.const(np.ascontiguousarray(array).reshape(array.shape), dtype)


def constant_array(expr: Expr) -> Array:
    """The contents of a Relax constant as NumPy, in its declared dtype."""
    array: Array = expr.value.numpy()
    return array


def fill_constant(expr: Expr, array: Array) -> None:
    """Changes the contents of a constant in place."""
    expr.value.copyfrom(np.ascontiguousarray(array).reshape(array.shape))


def type_of(expr: Expr | Binding) -> Type:
    """The type annotation of an expression, or of a match_cast (`struct_info` before 0.27)."""
    return expr.ty


def dtype_name(ty: Type) -> str | None:
    """The element type of a tensor type as a string, None when it is unknown."""
    dtype = ty.dtype
    return None if dtype is None or str(dtype) in ("", "void") else dtype_text(dtype)


def dtype_text(dtype: DataType | Type) -> str:
    """The name of an element type, without the prefix with which the scripts of TVM print it."""
    return str(dtype).removeprefix("T.")


def tensor_type(
    shape: Expr | Sequence[Expr | int] | None, dtype: str | None, ndim: int = -1, vdevice: VDevice | None = None
) -> Type:
    """A tensor type; `shape` None with `ndim` gives a tensor of unknown shape."""
    if shape is None:
        return TensorType(None, dtype, vdevice, ndim)
    return TensorType(shape, dtype, vdevice)


def return_type(function: RelaxFunction) -> Type:
    """The annotated result type of a Relax function (`ret_struct_info` before 0.27)."""
    return function.ret_ty


def set_type(expr: Expr, ty: Type) -> None:
    """Annotates an expression in place; only for expressions that we have just made."""
    relax.expr._update_type(expr, ty)


def is_same(one: Node, other: Node) -> bool:
    """Whether two objects are one. Struct info of TVM 0.25 does not end when it is asked by `same_as`."""
    return bool(one.__chandle__() == other.__chandle__())


def parameters_of(function: PrimFunc) -> list[Var]:
    """The parameters of a PrimFunc, buffers as such (by way of its `buffer_map` before 0.26)."""
    buffers = getattr(function, "buffer_map", {})
    return [buffers.get(one, one) for one in function.params]


def prim_call(op: Node, arguments: Sequence[Expr], returns: Type) -> Expr:
    """A call in a PrimFunc."""
    for tir_call in _TIR_CALLS:
        dtype = returns.dtype if isinstance(returns, PrimType) else "handle"
        return tir_call(dtype, op, list(arguments))
    return Call(op, list(arguments), ret_ty=returns)


def prim_func(
    params: Sequence[Var], body: Stmt, ret_type: Type | None = None, attrs: Mapping[str, Any] | None = None
) -> PrimFunc:
    """A PrimFunc, among whose parameters are buffers (which were in its `buffer_map` before 0.26)."""
    if not hasattr(PrimFunc, "buffer_map"):
        return PrimFunc(list(params), body, ret_type, attrs)
    handles = [tirx.Var(str(one.name), "handle") if isinstance(one, Buffer) else one for one in params]
    buffers = {handle: one for handle, one in zip(handles, params, strict=True) if isinstance(one, Buffer)}
    return PrimFunc(handles, body, ret_type, buffers, attrs)


def regions_of(block: Node, buffers: Sequence[Buffer]) -> tuple[Sequence[Node], Sequence[Node]]:
    """What a block reads and writes, as TVM's analysis finds it. buffers: those that are known around it; an array
    before 0.26 is known by its pointer. Raises ValueError where the analysis fails."""
    by_pointer = hasattr(PrimFunc, "buffer_map")
    known = {buffer.data if by_pointer else buffer: buffer for buffer in buffers}
    reads, writes = s_tir.analysis.get_sblock_read_write_region(block, known)
    return reads, writes


_FIELDS: dict[type[Node], tuple[str, ...]] = {
    s_tir.SBlock: (
        *("iter_vars", "reads", "writes", "name_hint", "body", "init"),
        *("alloc_buffers", "match_buffers", "annotations"),
    ),
    tirx.For: ("loop_var", "min", "extent", "kind", "body", "thread_binding", "annotations", "step"),
}


def with_fields(node: N, **changed: object) -> N:
    """A block or loop as it is, but for these fields. KeyError for a node of another kind."""
    return type(node)(*(changed[name] if name in changed else getattr(node, name) for name in _FIELDS[type(node)]))


def pointer_of(buffer: Buffer) -> Var | None:
    """The variable that is the pointer to a buffer, before 0.26; None where the buffer is a variable itself."""
    return buffer.data if hasattr(PrimFunc, "buffer_map") else None


def declared(buffer: Buffer, data: Expr) -> Stmt:
    """The declaration of a buffer at a pointer, which it was made with, too."""
    return tirx.DeclBuffer(buffer) if hasattr(PrimFunc, "buffer_map") else tirx.DeclBuffer(buffer, data=data)


def argument(expr: Expr) -> Expr:
    """A scalar expression as an expression of Relax, where that is something else (before 0.26)."""
    return HELD_SCALARS[0](expr) if HELD_SCALARS and isinstance(expr, _SCALARS) else expr


def only_returned(function: PrimFunc) -> Expr | None:
    """The value of a PrimFunc that does nothing but return one; None for any other."""
    body = function.body
    if type(body).__name__ == "Return":
        return body.value
    call = body.value if isinstance(body, tirx.Evaluate) else None
    return call.args[0] if call is not None and op_name(call) == "tirx.ret" else None


def is_public(function: BaseFunc) -> bool:
    """Whether a function can be called from outside: it has a global_symbol."""
    return bool(function.attrs and "global_symbol" in function.attrs)


def is_force_pure(function: RelaxFunction) -> bool:
    """Whether a function counts as pure whatever it calls (after RemovePurityChecking)."""
    return bool(function.attrs and function.attrs.get("relax.force_pure", False))


def replace_functions(module: IRModule, functions: Mapping[GlobalVar, BaseFunc]) -> IRModule:
    """A module of these functions, with the attributes and global infos of `module`."""
    return IRModule(dict(functions), attrs=module.attrs, global_infos=module.global_infos)


def op_name(expr: object) -> str | None:
    """The operator's name when `expr` is a call of an operator, else None."""
    return expr.op.name if isinstance(expr, Call) and isinstance(expr.op, Op) else None


def is_zero(expr: object) -> bool:
    """Whether it is the integer constant 0."""
    return isinstance(expr, tirx.IntImm) and int(expr.value) == 0


def to_array(argument: RuntimeTensor) -> Array:
    """A run-time tensor as NumPy in its declared dtype."""
    array: Array = argument.numpy()
    return array


def to_tensor(array: Array, dtype: str) -> RuntimeTensor:
    """A NumPy array as a run-time tensor on the CPU."""
    return tvm.runtime.tensor(np.asarray(array, dtype=numpy_dtype(dtype)))


def script_of(mod: IRModule | BaseFunc) -> str:
    """The module as TVMScript with metadata, so that constants survive, in Python that 3.10 reads as well: of itself
    TVM writes `def main[n]` where it runs under 3.12 or newer."""
    text: str = mod.script(show_meta=True, extra_config={"script.use_pep695": False})
    return text


def json_of(mod: IRModule) -> str:
    """The module as TVM's JSON; exact, but read by this TVM version only."""
    text: str = tvm.ir.save_json(mod)
    return text


def llvm_intrinsic_name(number: int) -> str:
    """LLVM's name for the number that a call_llvm_intrin holds ("llvm.exp")."""
    return str(tvm.target.codegen.llvm_get_intrinsic_name(number))


def module_from_script(text: str) -> IRModule:
    """Parses TVMScript. Raises tvm.error.DiagnosticError with the parser's message."""
    # Without R and T, a script that opens with its metadata does not parse; symbolic dims are printed as TypeVars.
    names = {"I": script_ir, "R": script_relax, "T": script_tirx, "tvm": tvm, "np": np, "TypeVar": TypeVar}
    return tvm.script.from_source(text, names)


def visit(node: Node, kinds: type[Node] | tuple[type[Node], ...], seen: Callable[[Node], object]) -> None:
    """Calls `seen` for every node of these classes under a node, after what is under it."""
    if "tvm_ffi.structural_map" in SUPPLIED:  # ours is slower than TVM's walk, which goes into the types of all uses
        tvm_ffi.structural_walk(node, (kinds, lambda found: seen(found) and None))
    else:
        tvm_ffi.structural_map(node, (kinds, lambda found: (seen(found), found)[1]))


def jumps(body: Stmt) -> bool:
    """Whether something in the body of a loop ends a loop or an iteration."""
    names: set[str | None] = set()
    visit(body, Call, lambda call: names.add(op_name(call)))
    return bool(names & {"tirx.break_loop", "tirx.continue_loop"})


def kind_of(node: Node) -> str:
    """The name of a node's class, as the newest release calls it."""
    name = type(node).__name__
    return KINDS.get(name, name)


def has_operator(name: str) -> bool:
    """Whether this TVM has an operator of this name."""
    return name in tvm.ir.Op.list_op_names()


def has_field(kind: type[Node], name: str) -> bool:
    """Whether the objects of a class have a field of this name in this TVM."""
    return hasattr(kind, name)


def items_of(array: Sequence[N]) -> list[N]:
    """The elements of an array, as `array[:]` gives them, in two thirds of the time."""
    return [_item(array, number) for number in range(_size(array))]


def copy_of(node: Node) -> Node:
    """An equal node at other addresses: as TVM's JSON does it, without the text between."""
    return _from_graph(_to_graph(node, None))


def module_from_json(text: str) -> IRModule:
    """Loads TVM's JSON as written by `json_of` of the same version."""
    return tvm.ir.load_json(text)
