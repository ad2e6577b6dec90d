"""Decoding of expressions, variables and buffer accesses (see `decode.py`), with the folding of integer
constants.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.libraries import LIBRARY_CALLS, library_function
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

_BINARY = {
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
_CALL_BINARY = {
    "shift_left": "shl",
    "shift_right": "shr",
    "bitwise_and": "band",
    "bitwise_or": "bor",
    "bitwise_xor": "bxor",
}
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
_DTYPE_CACHE: dict[Any, DType] = {}
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
    """Whether `value` is integer arithmetic on variables alone: evaluating it later or twice gives the same."""
    match value:
        case Const() | Var():
            return True
        case Bin(_, a, b, dtype):
            return dtype.kind == "i" and is_index(a) and is_index(b)
        case Cast(a, dtype):
            return dtype.kind == "i" and a.dtype.kind == "i" and is_index(a)
        case _:
            return False


class ExprDecoder:
    """The state of one decoding: what variables and buffers stand for, keyed by the address of TVM's object."""

    def __init__(self, name: str, symbols: dict[int, int]) -> None:
        self.name = name
        self.symbols = symbols
        self.env: dict[int, Expr] = {}
        self.buffers: dict[int, tuple[Buffer, tuple[Expr, ...] | None]] = {}
        self.slots = 0
        self.jumps = 0
        self.returns = 0
        self.ended = False
        """Whether what follows here is never reached."""

    def dtype(self, ty: Any) -> DType:
        """The scalar type of a PrimType or BufferType."""
        raw = ty.dtype
        found = _DTYPE_CACHE.get(raw)
        if found is None:
            name = str(raw).removeprefix("T.")
            found = DTYPES.get(name)
            if found is None:
                raise Unsupported(f"dtype {name}")
            _DTYPE_CACHE[raw] = found
        return found

    def op_name(self, call: Any) -> str:
        """The bare name of a called operator; "call" for anything that is no operator."""
        name = getattr(call.op, "name", None)
        return "call" if name is None else str(name).split(".", 1)[-1]

    def fresh(self, tvm_var: Any, dtype: DType) -> Var:
        """A new variable that stands for `tvm_var` from here on."""
        var = Var(next(_VARIABLE_KEYS), str(tvm_var.name), dtype)
        self.env[tvm_var.__chandle__()] = var
        return var

    def expr(self, node: Any) -> Expr:
        """Any expression."""
        name = type(node).__name__
        binary = _BINARY.get(name)
        if binary is not None:
            a, b = self.expr(node.a), self.expr(node.b)
            return fold(binary, a, b, a.dtype)
        method = _EXPRS.get(name)
        if method is None:
            raise Unsupported(f"tirx.{name}")
        return method(self, node)

    def _int(self, node: Any) -> Expr:
        dtype = self.dtype(node.ty)
        if dtype is BOOL:
            return Const(bool(node.value), BOOL)
        value = int(node.value)
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
        raise Trap("undefined-variable", f"{self.name}: {node.name}")

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
        if name == "if_then_else":
            return self._choose(args[0], args[1], args[2])
        if name == "likely":
            return self.expr(args[0])
        if name in _CALL_BINARY:
            a, b = self.expr(args[0]), self.expr(args[1])
            return fold(_CALL_BINARY[name], a, b, a.dtype)
        found = self.host_call(name, node)
        if found is not None:
            return found
        if name in LIBRARY_CALLS:
            name, args = library_function(name, args)
        return Call(name, tuple(self.expr(arg) for arg in args), self.dtype(node.ty))

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
        indices = tuple(self.expr(index) for index in tvm_indices)
        if offsets is not None:
            lead = len(offsets) - len(indices)
            shifted = (fold("add", o, i, o.dtype) for o, i in zip(offsets[lead:], indices, strict=True))
            indices = offsets[:lead] + tuple(shifted)
        if len(indices) != len(buffer.shape):
            raise Trap("type", f"{self.name}: {buffer.name} has rank {len(buffer.shape)}, indexed by {len(indices)}")
        return buffer, indices


_EXPRS: dict[str, Callable[[ExprDecoder, Any], Expr]] = {
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
    "Call": ExprDecoder._call,
}
