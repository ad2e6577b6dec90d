"""The code of conversions and of calls of intrinsics, which are in `oracles/reference/tir/intrinsics.py`."""

from __future__ import annotations

from generators.dtypes import FLOAT8
from oracles.reference.errors import Unsupported
from oracles.reference.tir.emit.arithmetic import carrier, checked_float8, rounded_float8
from oracles.reference.tir.emit.state import Code, EmitExpr, EmitState
from oracles.reference.tir.intrinsics import INTRINSICS
from oracles.reference.tir.nodes import Call, Cast, DType, Expr


def cast(state: EmitState, node: Cast) -> Code:
    """A conversion."""
    inner, dtype = node.a, node.dtype
    code = state.expr(inner)
    source = inner.dtype
    if dtype.kind == "b":
        return Code(f"({code.text} != 0)", code.grid)
    if dtype.kind == "f" and dtype.name in FLOAT8:
        wide = code.text if code.grid else f"{carrier(source)}({code.text})"
        return Code(rounded_float8(state, dtype, wide, code.grid), code.grid)
    if dtype.kind == "f":
        return Code(_to_float(code, source, dtype), code.grid)
    if source.kind == "f":
        name = "grid_from_float" if code.grid else "one_from_float"
        mask = f"{state.mask}, " if code.grid else ""
        arguments = f"{code.text}, {dtype.low}, {dtype.high}, {mask}{state.site('cast')}"
        text = f"{name}({arguments})"
        return Code(f"{text}.astype({carrier(dtype)})" if code.grid and dtype.kind == "u" else text, code.grid)
    return _int_cast(state, inner, code, dtype)


def _to_float(code: Code, source: DType, dtype: DType) -> str:
    if code.grid:
        return f"{code.text}.astype({carrier(dtype)})"
    if source.kind in "iu":
        return f"{carrier(source)}({code.text}).astype({carrier(dtype)})"
    return f"{carrier(dtype)}({code.text})"


def _int_cast(state: EmitState, inner: Expr, code: Code, dtype: DType) -> Code:
    """Between integers and from bool. To an unsigned type the value wraps; to a signed type that cannot hold
    it, it traps.
    """
    source = inner.dtype
    low, high, _ = state.bounds.interval(inner)
    held = dtype.low <= low and high <= dtype.high
    if not code.grid:
        if source.kind == "b":
            return Code(f"int({code.text})", False)
        if held:
            return code
        if dtype.kind == "u":
            return Code(f"({code.text} & {dtype.high})", False)
        return Code(f"in_range({code.text}, {dtype.low}, {dtype.high}, {state.site('cast')})", False)
    if not held and dtype.kind == "i":
        checked = f"grid_in_range({code.text}, {dtype.low}, {dtype.high}, {state.mask}, {state.site('cast')})"
        code = Code(checked, True, code.view)
    if source.kind == dtype.kind == "i":
        return code
    return Code(f"{code.text}.astype({carrier(dtype)})", True)


def call(state: EmitState, node: Call) -> Code:
    """A call of an intrinsic."""
    row = INTRINSICS.get(node.name)
    first = node.args[0].dtype if node.args else node.dtype
    if row is None or first.kind not in row.kinds:
        raise Unsupported(f"tirx.{node.name}" + (f" on {first}" if row else ""))
    codes = [state.expr(arg) for arg in node.args]
    grid = any(code.grid for code in codes)
    name = f"{node.name}_{first.name}_{node.dtype.name}_{'grid' if grid else 'one'}"
    if name not in state.names.constants:
        state.names.constants[name] = row.make(first, node.dtype, grid)
    text = f"{name}({', '.join(code.text for code in codes)})"
    return Code(text if node.name == "reinterpret" else checked_float8(state, node.dtype, text, grid), grid)


EXPRESSIONS: dict[type, EmitExpr] = {Cast: cast, Call: call}
