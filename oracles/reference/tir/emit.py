"""The code of expressions.

Generated code is Python over NumPy. An expression is either *uniform* (its value is a Python int or bool or a
NumPy scalar) or a *grid* (an array that broadcasts against the axes of the independent loops around it; see
`Axis`). Signed integers of a grid are int64 arrays whatever their type, unsigned ones and floats have their
own dtype. A grid under a mask is computed everywhere but may only trap where the mask holds. Names in
generated code: b<slot> a buffer, m<slot> its initialisation mask (None: all initialised), v<key> a variable,
t<n> a temporary, c<n> a constant, s<n> a place for messages.

Buffer accesses are in `emit_access.py`, statements in `emit_stmts.py`.
"""

from __future__ import annotations

from typing import Any

from oracles.reference.errors import Unsupported
from oracles.reference.tir import emit_ops
from oracles.reference.tir.emit_state import Code, EmitterState
from oracles.reference.tir.nodes import (
    Bin,
    Buffer,
    Call,
    Cast,
    Cmp,
    Const,
    DType,
    Expr,
    Known,
    Let,
    Load,
    Logic,
    Not,
    Select,
    Var,
)


class ExprEmitter(EmitterState):
    """Code of expressions."""

    def expr(self, node: Expr) -> Code:
        """The code of any expression."""
        match node:
            case Const(value, dtype):
                return self._const(value, dtype)
            case Var():
                return self._var(node)
            case Bin():
                return self._shared(node) if self._hoistable(node) else self._bin(node)
            case Cmp(op, a, b, _):
                left, right = self.expr(a), self.expr(b)
                return Code(f"({left.text} {op} {right.text})", left.grid or right.grid)
            case Logic():
                return self._logic(node)
            case Not(a, _):
                return self._not(self.expr(a))
            case Cast(a, dtype):
                return emit_ops.cast(self, a, dtype)
            case Select():
                return self._select(node)
            case Load(buffer, indices, _) | Known(buffer, indices, _):
                return (self.load if isinstance(node, Load) else self.known_at)(buffer, indices)
            case Call():
                return emit_ops.call(self, node)
            case Let(var, value, body, _):
                return self._let(var, value, body)

    def _not(self, code: Code) -> Code:
        return Code(f"(~{code.text})" if code.grid else f"(not {code.text})", code.grid)

    def load(self, buffer: Buffer, indices: tuple[Expr, ...]) -> Code:
        """One element or a grid of elements; in `emit_access.py`."""
        raise NotImplementedError

    def known_at(self, buffer: Buffer, indices: tuple[Expr, ...]) -> Code:
        """Whether an element, or each of a grid, is initialised; in `emit_access.py`."""
        raise NotImplementedError

    def _const(self, value: Any, dtype: DType) -> Code:
        if dtype.kind == "f":
            return Code(self.float_constant(value, dtype), False)
        return Code(f"({value})" if value < 0 else f"{value}", False)

    def _var(self, var: Var) -> Code:
        axis = self.axes.get(var.key)
        if axis is not None:
            return Code(self._hoist(var, f"axis({axis.extent}, {axis.position})"), True)
        found = self.names.get(var.key)
        if found is None:
            raise Unsupported(f"variable {var.name} outside its scope")
        return found

    def _hoist(self, key: Expr, text: str) -> str:
        """A name for `text`, computed before the current statement and shared by the statements that follow."""
        for scope in self.hoisted:
            if key in scope:
                return scope[key]
        name = self.temporary()
        self.line(f"{name} = {text}")
        self.hoisted[-1][key] = name
        return name

    def _hoistable(self, node: Bin) -> bool:
        return bool(self.axes) and node.dtype.kind == "i" and self.bounds.interval(node).safe

    def _shared(self, node: Bin) -> Code:
        for scope in self.hoisted:
            if node in scope:
                return Code(scope[node], True)
        # A safe expression needs no mask, and what is computed ahead must not mention one that is not yet computed.
        outer, self.mask = self.mask, None
        code = self._bin(node)
        self.mask = outer
        return Code(self._hoist(node, code.text), True) if code.grid else code

    def _bin(self, node: Bin) -> Code:
        a, b = self.expr(node.a), self.expr(node.b)
        return emit_ops.binary(self, node, a, b)

    def _logic(self, node: Logic) -> Code:
        a = self.expr(node.a)
        if not a.grid:
            b = self.expr(node.b)
            if not b.grid:
                return Code(f"({a.text} {node.op} {b.text})", False)
            other = f"({b.text} if {a.text} else false)" if node.op == "and" else f"(true if {a.text} else {b.text})"
            return Code(other, True)
        name = self.temporary()
        b = self._branch(node.b, name if node.op == "and" else f"~{name}")
        return Code(f"(({name} := {a.text}) {'&' if node.op == 'and' else '|'} {b.text})", True)

    def _branch(self, node: Expr, condition: str) -> Code:
        """The code of a part that counts only where the grid `condition` holds."""
        outer = self.mask
        self.mask = self.under(condition)
        code = self.expr(node)
        self.mask = outer
        return code

    def _select(self, node: Select) -> Code:
        cond = self.expr(node.cond)
        if not cond.grid:
            then, other = self.expr(node.then), self.expr(node.other)
            grid = then.grid or other.grid
            parts = [self._typed(part, node.dtype) if grid else part.text for part in (then, other)]
            return Code(f"({parts[0]} if {cond.text} else {parts[1]})", grid, then.view or other.view)
        name = self.temporary()
        then, other = self._branch(node.then, name), self._branch(node.other, f"~{name}")
        chosen, rest = self._typed(then, node.dtype), self._typed(other, node.dtype)
        return Code(f"where(({name} := {cond.text}), {chosen}, {rest})", True)

    def _typed(self, code: Code, dtype: DType) -> str:
        """A uniform value in the dtype that a grid of its type has."""
        if code.grid or dtype.kind == "f":
            return code.text
        return f"{emit_ops.carrier(dtype)}({code.text})"

    def _let(self, var: Var, value: Expr, body: Expr) -> Code:
        bound = self.expr(value)
        name = self.variable(var.key)
        self.names[var.key] = Code(name, bound.grid, bound.view)
        self.bounds.fragile.add(var.key)
        inner = self.expr(body)
        return Code(f"({name} := {bound.text}, {inner.text})[1]", inner.grid, inner.view)
