"""Decoding of expressions, variables and buffer accesses (see `decode.py`), with the folding of integer
constants.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from oracles.ir.cache import Cache, address
from oracles.ir.walk import items
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.libraries import LIBRARY_CALLS, TO_WHOLE, library_function
from oracles.reference.tir.nodes import (
    BOOL,
    DTYPES,
    Bin,
    Buffer,
    Call,
    Cast,
    Cmp,
    Const,
    DType,
    Expr,
    Let,
    Load,
    Logic,
    Not,
    Select,
    Var,
)

TYPES = 20_000
"""Types that are remembered."""
BINARY = {
    "Add": "add",
    "Sub": "sub",
    "Mul": "mul",
    "Div": "div",
    "Mod": "mod",
    "FloorDiv": "floordiv",
    "FloorMod": "floormod",
    "Min": "min",
    "Max": "max",
    "BitwiseAnd": "band",
    "BitwiseOr": "bor",
    "BitwiseXor": "bxor",
    "LShift": "shl",
    "RShift": "shr",
}
_COMPARE = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
_FOLD: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "floormod": lambda a, b: a % b,
    "div": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "shl": lambda a, b: a << b,
    "shr": lambda a, b: a >> b,
    "band": lambda a, b: a & b,
    "bor": lambda a, b: a | b,
    "bxor": lambda a, b: a ^ b,
    "min": min,
    "max": max,
}
_SHIFTS = ("shl", "shr")
_DIVIDES = ("floordiv", "floormod", "div", "mod")
_COMPARE_CONST: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
VSCALE = 2
"""What `vscale` is: scalable vectors have so many times the lanes that their type says; only the processor knows it.
SVE and RVV allow powers of two, and a pass must keep the meaning with each; 2 is the smallest with which a forgotten
factor shows."""
_MASK = "uint1"
"""The type of a mask of lanes (src/tirx/transform/vectorize_loop.cc)."""
_VARIABLE_KEYS = count()


def fold(op: str, a: Expr, b: Expr, dtype: DType) -> Expr:
    """`Bin(op, a, b)`, folded for integer constants where the result is defined, and for neutral operands."""
    if dtype.kind in "iu" and op in _FOLD:
        if isinstance(a, Const) and isinstance(b, Const):
            if op in _DIVIDES and (b.value <= 0 or a.value < 0):  # where they differ, and where they trap
                return Bin(op, a, b, dtype)
            if op in _SHIFTS and (a.value < 0 or not 0 <= b.value < dtype.bits):
                return Bin(op, a, b, dtype)
            value = _FOLD[op](a.value, b.value)
            if dtype.low <= value <= dtype.high:
                return Const(value, dtype)
        elif isinstance(b, Const):
            if (b.value == 0 and op in ("add", "sub")) or (b.value == 1 and op in ("mul", "floordiv")):
                return a
        elif isinstance(a, Const) and ((a.value == 0 and op == "add") or (a.value == 1 and op == "mul")):
            return b
    return Bin(op, a, b, dtype)


def is_index(value: Expr) -> bool:
    """Whether `value` is integer arithmetic on variables alone, and no division that may trap: evaluating it later,
    twice or never gives the same."""
    match value:
        case Const() | Var():
            return True
        case Bin(op, a, b, dtype):
            traps = op in _DIVIDES and (not isinstance(b, Const) or b.value == 0)
            return not traps and dtype.kind == "i" and is_index(a) and is_index(b)
        case Cast(a, dtype):
            return dtype.kind == "i" and a.dtype.kind == "i" and is_index(a)
        case _:
            return False


def _parsed(ty: Any) -> tuple[int, DType | None]:
    """The number of lanes of a type, and their scalar type; 0 for a type without lanes, None for one not known."""
    if getattr(ty, "dtype", None) is None:
        return 0, None
    lanes, name = _lanes_named(ty)
    return lanes, BOOL if name == _MASK else DTYPES.get(name)


def _lanes_named(ty: Any) -> tuple[int, str]:
    """The number of lanes and the name of the scalar type. "int8xvscalex4" has -4 lanes: so many times vscale."""
    dtype = getattr(ty.dtype, "dtype", ty.dtype)  # a BufferType has a PrimType there, a PrimType the type itself
    lanes, name = int(dtype.lanes), str(dtype)
    if lanes < 0:
        return -lanes * VSCALE, name.removesuffix(f"xvscalex{-lanes}")
    return lanes, name if lanes == 1 else name.removesuffix(f"x{lanes}")


_TYPES = Cache(_parsed, address, TYPES)


def _spelled(raw: Any) -> str:
    return str(raw).removeprefix("T.")


def _unsupported(ty: Any) -> Unsupported:
    dtype = getattr(ty, "dtype", None)
    return Unsupported(f"value of {type(ty).__name__}" if dtype is None else f"dtype {_spelled(dtype)}")


def lanes_of(ty: Any) -> int:
    """How many lanes a PrimType or a BufferType has. Unsupported for other types."""
    lanes = _TYPES.of(ty)[0]
    if lanes < 1:
        raise _unsupported(ty)
    return lanes


def scalar_of(ty: Any) -> DType:
    """The type of each lane of a PrimType or a BufferType."""
    scalar = _TYPES.of(ty)[1]
    if scalar is None:
        raise _unsupported(ty)
    return scalar


class ExprDecoder:
    """The state of one decoding: what variables and buffers stand for, keyed by the address of TVM's object."""

    def __init__(self, name: str, symbols: dict[int, int]) -> None:
        self.name = name
        self.symbols = symbols
        self.env: dict[int, Expr] = {}
        self.buffers: dict[int, tuple[Buffer, tuple[Expr, ...] | None]] = {}
        self.slots = 0
        self.loops = 0
        """In how many loops the statement stands."""
        self.jumps = 0
        self.returns = 0
        self.ended = False
        """Whether what follows here is never reached."""
        self.result: Expr | None = None
        """The number that the function returns."""
        self.lane: Expr | None = None
        """The lane that vectors are decoded for; None where there are only scalars."""

    def dtype(self, ty: Any) -> DType:
        """The scalar type of a PrimType or BufferType; that of a lane inside a statement of lanes."""
        lanes, scalar = _TYPES.of(ty)
        if scalar is None or lanes < 1 or (lanes > 1 and self.lane is None):
            raise _unsupported(ty)
        return scalar

    def op_name(self, call: Any) -> str:
        """The bare name of a called operator; "call" for anything that is no operator."""
        name = getattr(call.op, "name", None)
        return "call" if name is None else str(name).split(".", 1)[-1]

    def new_var(self, name: str, dtype: DType) -> Var:
        """A new variable."""
        return Var(next(_VARIABLE_KEYS), name, dtype)

    def fresh(self, tvm_var: Any, dtype: DType) -> Var:
        """A new variable that stands for `tvm_var` from here on."""
        var = self.new_var(str(tvm_var.name), dtype)
        self.env[tvm_var.__chandle__()] = var
        return var

    def expr(self, node: Any) -> Expr:
        """Any expression."""
        name = type(node).__name__
        binary = BINARY.get(name)
        if binary is not None:
            a, b = self.expr(node.a), self.expr(node.b)
            return fold(binary, a, b, a.dtype)
        method = EXPRESSIONS.get(name)
        if method is None:
            raise Unsupported(f"tirx.{name}")
        return method(self, node)

    def constant(self, node: Any, what: str) -> int:
        """A number that is known while decoding, else Unsupported(what)."""
        value = self.expr(node)
        if not isinstance(value, Const):
            raise Unsupported(what)
        return int(value.value)

    def _int(self, node: Any) -> Expr:
        dtype, value = scalar_of(node.ty), int(node.value)
        if dtype is BOOL:
            return Const(bool(value), BOOL)
        return Const(value + (1 << 64) if dtype.kind == "u" and value < 0 else value, dtype)

    def _float(self, node: Any) -> Expr:
        return Const(float(node.value), self.dtype(node.ty))

    def _var(self, node: Any) -> Expr:
        handle = node.__chandle__()
        found = self.env.get(handle)
        if found is not None:
            return found
        if handle in self.symbols:
            return Const(self.symbols[handle], self.dtype(node.ty))
        vector = self.vector(node)
        if vector is None:
            raise Trap("undefined-variable", f"{self.name}: {node.name}")
        return vector

    def vector(self, node: Any) -> Expr | None:
        """The lane of a variable that holds a vector; in `decode_lanes.py`, as are the two that follow."""
        return None

    def vector_let(self, node: Any) -> Expr:
        """A Let of a vector."""
        raise Unsupported("prim.Let of a vector")

    def lane_expr(self, node: Any) -> Expr:
        """An expression that makes a vector."""
        raise Unsupported(f"prim.{type(node).__name__}")

    def _compare(self, node: Any) -> Expr:
        a, b = self.expr(node.a), self.expr(node.b)
        op = _COMPARE[type(node).__name__]
        if isinstance(a, Const) and isinstance(b, Const) and a.dtype.kind != "f":
            return Const(_COMPARE_CONST[op](a.value, b.value), BOOL)
        return Cmp(op, a, b)

    def _logic(self, node: Any) -> Expr:
        op = type(node).__name__.lower()
        a, b = self.expr(node.a), self.expr(node.b)
        for one, other in ((a, b), (b, a)):
            if isinstance(one, Const):
                return other if one.value == (op == "and") else one
        return Logic(op, a, b)

    def _not(self, node: Any) -> Expr:
        a = self.expr(node.a)
        return Const(not a.value, BOOL) if isinstance(a, Const) else Not(a)

    def _bitwise_not(self, node: Any) -> Expr:
        a = self.expr(node.a)
        return Call("bitwise_not", (a,), a.dtype)

    def _cast(self, node: Any) -> Expr:
        a, dtype = self.expr(node.value), self.dtype(node.ty)
        if a.dtype is dtype:
            return a
        if isinstance(a, Const) and a.dtype.kind in "iu" and dtype.kind in "iu" and dtype.low <= a.value <= dtype.high:
            return Const(a.value, dtype)
        return Cast(a, dtype)

    def _select(self, node: Any) -> Expr:
        return self._choose(node.condition, node.true_value, node.false_value)

    def _choose(self, condition: Any, then: Any, other: Any) -> Expr:
        cond = self.expr(condition)
        if isinstance(cond, Const):
            return self.expr(then if cond.value else other)
        chosen = self.expr(then)
        return Select(cond, chosen, self.expr(other), chosen.dtype)

    def _let(self, node: Any) -> Expr:
        if lanes_of(node.value.ty) > 1:
            return self.vector_let(node)
        value = self.expr(node.value)
        if is_index(value):
            self.env[node.var.__chandle__()] = value
            return self.expr(node.body)
        var = self.fresh(node.var, value.dtype)
        body = self.expr(node.body)
        return Let(var, value, body, body.dtype)

    def _load(self, node: Any) -> Expr:
        buffer, indices = self.access(node.source, node.indices)
        return Load(buffer, indices, buffer.dtype)

    def _call(self, node: Any) -> Expr:
        name = self.op_name(node)
        args = node.args
        rule = CALLS.get(name)
        if rule is not None:
            return rule(self, node)
        found = self.host_call(name, node)
        if found is not None:
            return found
        if name in LIBRARY_CALLS:
            name, args = library_function(name, args)
        if name in TO_WHOLE:
            value = self.expr(args[0])
            return Cast(Call(TO_WHOLE[name], (value,), value.dtype), self.dtype(node.ty))
        return Call(name, tuple([self.expr(arg) for arg in items(args)]), self.dtype(node.ty))

    def _if_then_else(self, node: Any) -> Expr:
        return self._choose(*items(node.args))

    def _argument_itself(self, node: Any) -> Expr:
        return self.expr(node.args[0])

    def _vscale(self, node: Any) -> Expr:
        return Const(VSCALE, self.dtype(node.ty))

    def host_call(self, name: str, node: Any) -> Expr | None:
        """The value of a call of the calling convention; in `decode_pointers.py`."""
        return None

    def buffer(self, tvm_buffer: Any) -> tuple[Buffer, tuple[Expr, ...] | None]:
        """What a TVM buffer variable stands for, and the offset of a matched region."""
        found = self.buffers.get(tvm_buffer.__chandle__())
        if found is None:
            name = getattr(tvm_buffer, "name", type(tvm_buffer).__name__)
            raise Trap("undefined-variable", f"{self.name}: buffer {name}")
        return found

    def access(self, tvm_buffer: Any, tvm_indices: Any) -> tuple[Buffer, tuple[Expr, ...]]:
        """The buffer and the indices that an access means."""
        buffer, offsets = self.buffer(tvm_buffer)
        indices = tuple([self.expr(index) for index in items(tvm_indices)])
        if offsets is not None:
            lead = len(offsets) - len(indices)
            shifted = (fold("add", o, i, o.dtype) for o, i in zip(offsets[lead:], indices, strict=True))
            indices = offsets[:lead] + tuple(shifted)
        if len(indices) != len(buffer.shape):
            raise Trap("type", f"{self.name}: {buffer.name} has rank {len(buffer.shape)}, indexed by {len(indices)}")
        return buffer, indices


CALLS: dict[str, Callable[[ExprDecoder, Any], Expr]] = {
    "if_then_else": ExprDecoder._if_then_else,
    "likely": ExprDecoder._argument_itself,
    "ignore_loop_partition": ExprDecoder._argument_itself,
    "tvm_thread_invariant": ExprDecoder._argument_itself,
    "vscale": ExprDecoder._vscale,
}
EXPRESSIONS: dict[str, Callable[[ExprDecoder, Any], Expr]] = {
    "IntImm": ExprDecoder._int,
    "FloatImm": ExprDecoder._float,
    "Var": ExprDecoder._var,
    **{name: ExprDecoder._compare for name in _COMPARE},
    "And": ExprDecoder._logic,
    "Or": ExprDecoder._logic,
    "Not": ExprDecoder._not,
    "BitwiseNot": ExprDecoder._bitwise_not,
    "Cast": ExprDecoder._cast,
    "Select": ExprDecoder._select,
    "Let": ExprDecoder._let,
    "TensorLoad": ExprDecoder._load,
    **{name: lambda self, node: self.lane_expr(node) for name in ("Ramp", "Broadcast", "Shuffle")},
    "Call": ExprDecoder._call,
}
