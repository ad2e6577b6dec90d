"""The code of binary operations: decides which checks each needs. The checked operations are in
`oracles/reference/tir/arithmetic.py`.
"""

from __future__ import annotations

from generators.dtypes import FLOAT8
from oracles.reference.errors import Unsupported
from oracles.reference.tir.emit.state import Code, EmitExpr, EmitState
from oracles.reference.tir.nodes import Bin, DType

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "shl": "<<"}
_BITS = {"band": "&", "bor": "|", "bxor": "^"}


def carrier(dtype: DType) -> str:
    """The name, in generated code, of the NumPy type in which grids of `dtype` are computed."""
    return "int64" if dtype.kind == "i" else dtype.numpy.name.replace("bool", "bool_")


def binary(state: EmitState, node: Bin) -> Code:
    """A binary operation; integer arithmetic on axes that cannot trap is hoisted, so that statements share it."""
    if not state.axes or node.dtype.kind != "i" or not state.bounds.interval(node).safe:
        return _computed(state, node)
    name = state.named(node)
    if name is not None:
        return Code(name, True)
    # A safe expression needs no mask, and hoisted code must not name a mask that is not yet computed.
    outer, state.mask = state.mask, None
    code = _computed(state, node)
    state.mask = outer
    return Code(state.hoist(node, code.text), True) if code.grid else code


def _computed(state: EmitState, node: Bin) -> Code:
    a, b = state.expr(node.a), state.expr(node.b)
    grid = a.grid or b.grid
    kind = node.dtype.kind
    if kind == "f" and node.dtype.name in FLOAT8 and node.op not in ("min", "max"):
        wide = _float(node, f"{a.text}.astype(float32)", f"{b.text}.astype(float32)", grid)
        return Code(rounded_float8(state, node.dtype, wide, grid), grid)
    if kind == "f":
        return Code(_float(node, a.text, b.text, grid), grid)
    if kind == "b":
        sign = {"min": "&", "max": "|", **_BITS}.get(node.op)
        if sign is None:
            raise Unsupported(f"prim.{node.op} on bool")
        return Code(f"({a.text} {sign} {b.text})", grid)
    if node.op in _BITS:
        return Code(f"({a.text} {_BITS[node.op]} {b.text})", grid)
    if node.op in ("min", "max"):
        name = f"{node.op}imum" if grid else node.op
        return Code(f"{name}({a.text}, {b.text})", grid)
    if node.op in ("shl", "shr"):
        return Code(_shift(state, node, a, b), grid)
    if node.op in _SIGNS:
        return Code(_ring(state, node, a, b), grid)
    return Code(_division(state, node, a, b), grid)


def _float(node: Bin, a: str, b: str, grid: bool) -> str:
    match node.op:
        case "add" | "sub" | "mul":
            return f"({a} {_SIGNS[node.op]} {b})"
        case "div":
            return f"({a} / {b})"
        case "min" | "max":
            # TVM's code generators mean select(a < b, a, b), which fixes what happens to NaN and to signed zeros.
            return f"{'grid' if grid else 'one'}_{node.op}({a}, {b})"
        case "mod":
            return f"fmod({a}, {b})"
        case "floordiv" | "floormod":
            return f"float_{node.op}({a}, {b})"
        case _:
            raise Unsupported(f"prim.{node.op} on {node.dtype}")


def _ring(state: EmitState, node: Bin, a: Code, b: Code) -> str:
    """Addition, subtraction, multiplication. uint8 and uint16 wrap; elsewhere TVM's LLVM code has no defined
    overflow.
    """
    text = f"({a.text} {_SIGNS[node.op]} {b.text})"
    dtype = node.dtype
    if state.bounds.fits(node):
        return text
    if dtype.kind == "u" and dtype.bits < 32:
        return text if a.grid or b.grid else f"({text} & {dtype.high})"
    site = state.site(node.op)
    if not (a.grid or b.grid):
        return f"in_range({text}, {dtype.low}, {dtype.high}, {site})"
    if dtype.bits == 64 or dtype.kind == "u":
        return f"{node.op}_{dtype.name}({a.text}, {b.text}, {state.mask}, {site})"
    return f"grid_in_range({text}, {dtype.low}, {dtype.high}, {state.mask}, {site})"


def _shift(state: EmitState, node: Bin, a: Code, b: Code) -> str:
    amount = state.bounds.interval(node.b)
    legal = amount.low >= 0 and amount.high < node.dtype.bits
    if legal and node.op == "shr":
        return f"({a.text} >> {b.text})"
    if legal and state.bounds.fits(node):
        return f"({a.text} << {b.text})"
    dtype = node.dtype
    if legal and dtype.kind == "u" and not (a.grid or b.grid):
        return f"(({a.text} << {b.text}) & {dtype.high})"
    site = state.site("shift")
    if not (a.grid or b.grid):
        return f"one_{node.op}({a.text}, {b.text}, {dtype.bits}, {dtype.low}, {dtype.high}, {site})"
    parts = ", ".join(code.text if code.grid else f"{carrier(dtype)}({code.text})" for code in (a, b))
    return f"grid_{node.op}({parts}, {dtype.bits}, {dtype.low}, {dtype.high}, {state.mask}, {site})"


def _division(state: EmitState, node: Bin, a: Code, b: Code) -> str:
    """Integer division and remainder, rounding down (floordiv, floormod) or towards zero (div, mod)."""
    sign = "//" if node.op in ("div", "floordiv") else "%"
    divisor = state.bounds.interval(node.b)
    if divisor.low > 0 and (node.op.startswith("floor") or state.bounds.interval(node.a).low >= 0):
        return f"({a.text} {sign} {b.text})"
    site = state.site(node.op)
    dtype = node.dtype
    if not (a.grid or b.grid):
        return f"one_{node.op}({a.text}, {b.text}, {dtype.high}, {site})"
    parts = ", ".join(code.text if code.grid else f"{carrier(dtype)}({code.text})" for code in (a, b))
    return f"grid_{node.op}({parts}, {dtype.low}, {dtype.high}, {state.mask}, {site})"


def rounded_float8(state: EmitState, dtype: DType, wide: str, grid: bool) -> str:
    """The code of a number of another type as a float of 8 bits, which is noted where it rounds."""
    return f"float8_of({wide}, {carrier(dtype)}, {state.mask if grid else None}, {state.site(dtype.name)})"


def checked_float8(state: EmitState, dtype: DType, text: str, grid: bool) -> str:
    """The code of a computed float; one of 8 bits is checked, since implementations differ on some values."""
    if dtype.name not in FLOAT8:
        return text
    return f"float8({text}, {state.mask if grid else None}, {state.site(dtype.name)})"


EXPRESSIONS: dict[type, EmitExpr] = {Bin: binary}
