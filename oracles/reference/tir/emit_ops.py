"""Code of arithmetic, conversions and intrinsics on operands whose code is known; decides which checks are
needed.

The checked operations themselves are in `arithmetic.py`, the intrinsics in `intrinsics.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from generators.dtypes import FLOAT8
from oracles.reference.errors import Unsupported
from oracles.reference.tir.emit_state import Code
from oracles.reference.tir.intrinsics import INTRINSICS
from oracles.reference.tir.nodes import Bin, Call, DType, Expr

if TYPE_CHECKING:
    from oracles.reference.tir.emit import ExprEmitter

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "shl": "<<"}
_BITS = {"band": "&", "bor": "|", "bxor": "^"}


def carrier(dtype: DType) -> str:
    """The name, in generated code, of the NumPy type in which grids of `dtype` are computed."""
    return "int64" if dtype.kind == "i" else dtype.numpy.name.replace("bool", "bool_")


def binary(emitter: ExprEmitter, node: Bin, a: Code, b: Code) -> Code:
    """The code of a binary operation."""
    grid = a.grid or b.grid
    kind = node.dtype.kind
    if kind == "f":
        text = _float(node, a.text, b.text, grid)
        return Code(text if node.op in ("min", "max") else _ranged(emitter, node.dtype, text, grid), grid)
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
        return Code(_shift(emitter, node, a, b), grid)
    if node.op in _SIGNS:
        return Code(_ring(emitter, node, a, b), grid)
    return Code(_division(emitter, node, a, b), grid)


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


def _ring(emitter: ExprEmitter, node: Bin, a: Code, b: Code) -> str:
    """Addition, subtraction, multiplication. uint8 and uint16 wrap; elsewhere TVM's LLVM code has no defined
    overflow.
    """
    text = f"({a.text} {_SIGNS[node.op]} {b.text})"
    dtype = node.dtype
    if emitter.bounds.fits(node):
        return text
    if dtype.kind == "u" and dtype.bits < 32:
        return text if a.grid or b.grid else f"({text} & {dtype.high})"
    site = emitter.site(node.op)
    if not (a.grid or b.grid):
        return f"in_range({text}, {dtype.low}, {dtype.high}, {site})"
    if dtype.bits == 64 or dtype.kind == "u":
        return f"{node.op}_{dtype.name}({a.text}, {b.text}, {emitter.mask}, {site})"
    return f"grid_in_range({text}, {dtype.low}, {dtype.high}, {emitter.mask}, {site})"


def _shift(emitter: ExprEmitter, node: Bin, a: Code, b: Code) -> str:
    amount = emitter.bounds.interval(node.b)
    legal = amount.low >= 0 and amount.high < node.dtype.bits
    if legal and node.op == "shr":
        return f"({a.text} >> {b.text})"
    if legal and emitter.bounds.fits(node):
        return f"({a.text} << {b.text})"
    dtype = node.dtype
    if legal and dtype.kind == "u" and not (a.grid or b.grid):
        return f"(({a.text} << {b.text}) & {dtype.high})"
    site = emitter.site("shift")
    if not (a.grid or b.grid):
        return f"one_{node.op}({a.text}, {b.text}, {dtype.bits}, {dtype.low}, {dtype.high}, {site})"
    parts = ", ".join(code.text if code.grid else f"{carrier(dtype)}({code.text})" for code in (a, b))
    return f"grid_{node.op}({parts}, {dtype.bits}, {dtype.low}, {dtype.high}, {emitter.mask}, {site})"


def _division(emitter: ExprEmitter, node: Bin, a: Code, b: Code) -> str:
    """Integer division and remainder, rounding down (floordiv, floormod) or towards zero (div, mod)."""
    sign = "//" if node.op in ("div", "floordiv") else "%"
    divisor = emitter.bounds.interval(node.b)
    if divisor.low > 0 and (node.op.startswith("floor") or emitter.bounds.interval(node.a).low >= 0):
        return f"({a.text} {sign} {b.text})"
    site = emitter.site(node.op)
    dtype = node.dtype
    if not (a.grid or b.grid):
        return f"one_{node.op}({a.text}, {b.text}, {dtype.high}, {site})"
    parts = ", ".join(code.text if code.grid else f"{carrier(dtype)}({code.text})" for code in (a, b))
    return f"grid_{node.op}({parts}, {dtype.low}, {dtype.high}, {emitter.mask}, {site})"


def cast(emitter: ExprEmitter, inner: Expr, dtype: DType) -> Code:
    """The code of a conversion."""
    code = emitter.expr(inner)
    source = inner.dtype
    if dtype.kind == "b":
        return Code(f"({code.text} != 0)", code.grid)
    if dtype.kind == "f":
        return Code(_ranged(emitter, dtype, _to_float(code, source, dtype), code.grid), code.grid)
    if source.kind == "f":
        name = "grid_from_float" if code.grid else "one_from_float"
        mask = f"{emitter.mask}, " if code.grid else ""
        arguments = f"{code.text}, {dtype.low}, {dtype.high}, {mask}{emitter.site('cast')}"
        text = f"{name}({arguments})"
        return Code(f"{text}.astype({carrier(dtype)})" if code.grid and dtype.kind == "u" else text, code.grid)
    return _int_cast(emitter, inner, code, dtype)


def _to_float(code: Code, source: DType, dtype: DType) -> str:
    if code.grid:
        return f"{code.text}.astype({carrier(dtype)})"
    if source.kind in "iu":
        return f"{carrier(source)}({code.text}).astype({carrier(dtype)})"
    return f"{carrier(dtype)}({code.text})"


def _int_cast(emitter: ExprEmitter, inner: Expr, code: Code, dtype: DType) -> Code:
    """Between integers and from bool. To an unsigned type the value wraps; to a signed type that cannot hold
    it, it traps.
    """
    source = inner.dtype
    low, high, _ = emitter.bounds.interval(inner)
    held = dtype.low <= low and high <= dtype.high
    if not code.grid:
        if source.kind == "b":
            return Code(f"int({code.text})", False)
        if held:
            return code
        if dtype.kind == "u":
            return Code(f"({code.text} & {dtype.high})", False)
        return Code(f"in_range({code.text}, {dtype.low}, {dtype.high}, {emitter.site('cast')})", False)
    if not held and dtype.kind == "i":
        checked = f"grid_in_range({code.text}, {dtype.low}, {dtype.high}, {emitter.mask}, {emitter.site('cast')})"
        code = Code(checked, True, code.view)
    if source.kind == dtype.kind == "i":
        return code
    return Code(f"{code.text}.astype({carrier(dtype)})", True)


def call(emitter: ExprEmitter, node: Call) -> Code:
    """The code of an intrinsic."""
    row = INTRINSICS.get(node.name)
    first = node.args[0].dtype if node.args else node.dtype
    if row is None or first.kind not in row.kinds:
        raise Unsupported(f"tirx.{node.name}" + (f" on {first}" if row else ""))
    codes = [emitter.expr(arg) for arg in node.args]
    grid = any(code.grid for code in codes)
    name = f"{node.name}_{first.name}_{node.dtype.name}_{'grid' if grid else 'one'}"
    if name not in emitter.constants:
        emitter.constants[name] = row.make(first, node.dtype, grid)
    text = f"{name}({', '.join(code.text for code in codes)})"
    return Code(text if node.name == "reinterpret" else _ranged(emitter, node.dtype, text, grid), grid)


def _ranged(emitter: ExprEmitter, dtype: DType, text: str, grid: bool) -> str:
    """What was computed as a float of 8 bits may only be used where all implementations agree on it."""
    if dtype.name not in FLOAT8:
        return text
    return f"float8({text}, {emitter.mask if grid else None}, {emitter.site(dtype.name)})"
