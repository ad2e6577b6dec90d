"""The code of expressions that compute nothing themselves: constants, variables, conditions and choices."""

from __future__ import annotations

from oracles.reference.errors import Unsupported
from oracles.reference.tir.emit.arithmetic import carrier
from oracles.reference.tir.emit.state import Code, EmitExpr, EmitState
from oracles.reference.tir.nodes import Cmp, Const, DType, Expr, Let, Logic, Not, Select, Var


def constant(state: EmitState, node: Const) -> Code:
    """A literal; floats are named constants, which have exactly their type."""
    if node.dtype.kind == "f":
        return Code(state.names.float_constant(node.value, node.dtype), False)
    return Code(f"({node.value})" if node.value < 0 else f"{node.value}", False)


def variable(state: EmitState, var: Var) -> Code:
    """A variable; that of an independent loop is a grid along its axis."""
    axis = state.axes.get(var.key)
    if axis is not None:
        return Code(state.hoist(var, f"axis({axis.extent}, {axis.position})"), True)
    found = state.values.get(var.key)
    if found is None:
        raise Unsupported(f"variable {var.name} outside its scope")
    return found


def comparison(state: EmitState, node: Cmp) -> Code:
    """A comparison."""
    left, right = state.expr(node.a), state.expr(node.b)
    return Code(f"({left.text} {node.op} {right.text})", left.grid or right.grid)


def negation(state: EmitState, node: Not) -> Code:
    """Logical negation."""
    code = state.expr(node.a)
    return Code(f"(~{code.text})" if code.grid else f"(not {code.text})", code.grid)


def logic(state: EmitState, node: Logic) -> Code:
    """And, or: the right operand may trap only where the left one does not decide."""
    a = state.expr(node.a)
    if not a.grid:
        b = state.expr(node.b)
        if not b.grid:
            return Code(f"({a.text} {node.op} {b.text})", False)
        other = f"({b.text} if {a.text} else false)" if node.op == "and" else f"(true if {a.text} else {b.text})"
        return Code(other, True)
    name = state.names.temporary()
    b = _branch(state, node.b, name if node.op == "and" else f"~{name}")
    return Code(f"(({name} := {a.text}) {'&' if node.op == 'and' else '|'} {b.text})", True)


def select(state: EmitState, node: Select) -> Code:
    """A choice: the value that is not chosen does not trap."""
    cond = state.expr(node.cond)
    if not cond.grid:
        then, other = state.expr(node.then), state.expr(node.other)
        grid = then.grid or other.grid
        parts = [_typed(part, node.dtype) if grid else part.text for part in (then, other)]
        return Code(f"({parts[0]} if {cond.text} else {parts[1]})", grid, then.view or other.view)
    name = state.names.temporary()
    then, other = _branch(state, node.then, name), _branch(state, node.other, f"~{name}")
    chosen, rest = _typed(then, node.dtype), _typed(other, node.dtype)
    return Code(f"where(({name} := {cond.text}), {chosen}, {rest})", True)


def let(state: EmitState, node: Let) -> Code:
    """A variable that is bound inside of an expression."""
    bound = state.expr(node.value)
    name = state.names.variable(node.var.key)
    state.values[node.var.key] = Code(name, bound.grid, bound.view)
    state.bounds.fragile.add(node.var.key)
    inner = state.expr(node.body)
    return Code(f"({name} := {bound.text}, {inner.text})[1]", inner.grid, inner.view)


def _branch(state: EmitState, node: Expr, condition: str) -> Code:
    """The code of a part that counts only where the grid `condition` holds."""
    outer = state.mask
    state.mask = state.under(condition)
    code = state.expr(node)
    state.mask = outer
    return code


def _typed(code: Code, dtype: DType) -> str:
    """A uniform value in the dtype that a grid of its type has."""
    if code.grid or dtype.kind == "f":
        return code.text
    return f"{carrier(dtype)}({code.text})"


EXPRESSIONS: dict[type, EmitExpr] = {
    Const: constant,
    Var: variable,
    Cmp: comparison,
    Not: negation,
    Logic: logic,
    Select: select,
    Let: let,
}
