"""One row per Relax operator form that the TIR interpreter is compared on, and how to make its PrimFuncs.

Here: operand specifications (`"4x8:float32"`), a builder per row, drawn inputs, legalisation. Not here: the
comparison with a compiled module (`test_operators.py`) and the meaning of the operators (this table
says only how to call them).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from tvm import relax, tirx
from tvm.relax import op
from tvm.relax import transform as rt
from tvm.relax.backend import DispatchSampling, DispatchSortScan


@dataclass(frozen=True, slots=True)
class OpRow:
    """`operands`: "DIMxDIM:dtype[:low:high]"; a dimension may be a letter (symbolic). `build` maps Relax
    variables to an expression.
    """

    name: str
    operands: tuple[str, ...]
    build: Callable[..., Any]
    steps: str = ""  # "sort" also applies DispatchSampling and DispatchSortScan


SIZES = {"n": 5, "m": 3}

FLOAT_UNARY = (
    "abs acos:-0.9:0.9 acosh:1.1:3 asin:-0.9:0.9 asinh atan atanh:-0.9:0.9 ceil cos cosh erf exp floor "
    "log:0.1:3 negative round rsqrt:0.1:3 sigmoid sign sin sinh sqrt:0:3 square tan:-1:1 tanh trunc nn.relu nn.gelu "
    "nn.gelu_tanh nn.selu nn.silu nn.softplus nn.leakyrelu nn.softmax nn.log_softmax"
)
FLOAT_BINARY = "add subtract multiply divide:0.5:3 maximum minimum power:0.1:2 atan2 log_add_exp floor_divide:0.5:3"
INT_BINARY = (
    "add subtract multiply floor_divide:1:9 floor_mod:1:9 mod:1:9 maximum minimum bitwise_and bitwise_or bitwise_xor "
    "left_shift:0:4 right_shift:0:4 equal not_equal less less_equal greater greater_equal"
)
COMPARE = "equal not_equal less less_equal greater greater_equal"
REDUCE = "sum mean max min prod std variance argmax argmin median"


def _find(name: str) -> Any:
    found: Any = op
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _named(names: str, operands: str, dtype: str) -> Iterator[OpRow]:
    for entry in names.split():
        name, _, bounds = entry.partition(":")
        suffix = f":{dtype}" + (f":{bounds}" if bounds else "")
        specs = tuple(dims + suffix for dims in operands.split())
        yield OpRow(f"{name}-{dtype}-{operands.replace(' ', '-')}", specs, _find(name))


def _elementwise() -> Iterator[OpRow]:
    yield from _named(FLOAT_UNARY, "4x5", "float32")
    yield from _named("exp tanh nn.silu nn.softmax sum:0:1 mean abs", "4x5", "float16")
    yield from _named("exp sqrt:0:2 erf nn.gelu round", "4x5", "float64")
    yield from _named("abs negative sign square bitwise_not sum max min prod:1:3", "4x5", "int32")
    yield from _named("logical_not bitwise_not", "4x5", "bool")
    yield from _named(FLOAT_BINARY, "4x5 4x5", "float32")
    yield from _named("add multiply maximum", "4x5 1x5", "float16")
    yield from _named("add power:0.1:2", "4x1 5", "float32")
    yield from _named(INT_BINARY, "4x5 5", "int32")
    yield from _named("add maximum floor_divide:1:9 less", "4x5 4x5", "uint8")
    yield from _named("add floor_mod:1:9", "4x5 4x5", "int64")
    yield from _named(COMPARE, "4x5 4x5", "float32")
    yield from _named("logical_and logical_or logical_xor", "4x5 4x5", "bool")
    yield from _named("add", "nxm m", "float32")
    yield from _named("exp", "nxm", "float32")
    yield from _named("add", " ".join(["0x3", "1x3"]), "float32")
    for dtype in ("float16", "float64", "int32", "bool", "uint8"):
        yield OpRow(f"astype-{dtype}", ("4x5:float32:0:9",), lambda x, d=dtype: op.astype(x, d))
    yield OpRow("astype-int-float", ("4x5:int64",), lambda x: op.astype(x, "float32"))
    yield OpRow("clip", ("4x5:float32",), lambda x: op.clip(x, -0.5, 0.5))
    yield OpRow("where", ("4x5:bool", "4x5:float32", "5:float32"), op.where)
    yield OpRow("prelu", ("2x3x4:float32", "3:float32"), lambda x, a: op.nn.prelu(x, a, axis=1))
    yield OpRow("scalar-operand", ("4x5:float32",), lambda x: op.add(x, relax.const(2.5, "float32")))
    yield OpRow("zero-d", (":float32", ":float32"), op.multiply)
    yield OpRow("dropout", ("4x5:float32",), lambda x: op.nn.dropout(x)[0])


def _reduce() -> Iterator[OpRow]:
    for name in REDUCE.split():
        function = _find(name)
        yield OpRow(f"{name}-axis", ("4x5x3:float32",), lambda x, f=function: f(x, axis=1))
        yield OpRow(f"{name}-all", ("4x5:float32",), lambda x, f=function: f(x))
        yield OpRow(f"{name}-keepdims", ("4x5:float32",), lambda x, f=function: f(x, axis=-1, keepdims=True))
    yield OpRow("sum-symbolic", ("nxm:float32",), lambda x: op.sum(x, axis=1))
    yield OpRow("sum-zero", ("4x0:float32",), lambda x: op.sum(x, axis=1))
    yield OpRow("argmax-int", ("4x5:int32",), lambda x: op.argmax(x, axis=1))
    yield OpRow("collapse_sum_to", ("4x5:float32",), lambda x: op.collapse_sum_to(x, (1, 5)))
    yield OpRow("collapse_sum_like", ("4x5:float32", "5:float32"), op.collapse_sum_like)
    for name in ("cumsum", "cumprod"):
        function = _find(name)
        yield OpRow(f"{name}-axis", ("4x5:float32",), lambda x, f=function: f(x, axis=1), "sort")
        yield OpRow(f"{name}-exclusive", ("4x5:int32",), lambda x, f=function: f(x, axis=0, exclusive=True), "sort")
        yield OpRow(f"{name}-flat", ("4x5:float32",), lambda x, f=function: f(x), "sort")


def _creation() -> Iterator[OpRow]:
    yield OpRow("arange", (), lambda: op.arange(1, 10, 2, "int64"))
    yield OpRow("arange-float", (), lambda: op.arange(0.5, 4.0, 0.25, "float32"))
    yield OpRow("eye", (), lambda: op.eye(4, 5, 1, "float32"))
    yield OpRow("eye_like", ("4x5:float32",), op.eye_like)
    yield OpRow("full", (), lambda: op.full((2, 3), relax.const(2.5, "float32"), "float32"))
    yield OpRow("full_like", ("2x3:float32",), lambda x: op.full_like(x, relax.const(2.5, "float32")))
    yield OpRow("hamming", (), lambda: op.hamming_window(8, True, 0.54, 0.46, "float32"))
    yield OpRow("zeros", (), lambda: op.zeros((2, 3), "int32"))
    yield OpRow("ones", (), lambda: op.ones((2, 3), "float16"))
    yield OpRow("ones_like", ("2x3:float32",), op.ones_like)
    yield OpRow("tril", ("4x5:float32",), lambda x: op.tril(x, 1))
    yield OpRow("triu", ("2x4x5:float32",), lambda x: op.triu(x, -1))


def _manipulate() -> Iterator[OpRow]:
    yield OpRow("broadcast_to", ("1x5:float32",), lambda x: op.broadcast_to(x, (4, 5)))
    yield OpRow("concat", ("2x5:float32", "3x5:float32"), lambda a, b: op.concat([a, b], 0))
    yield OpRow("expand_dims", ("4x5:float32",), lambda x: op.expand_dims(x, [0, 2]))
    yield OpRow("flatten", ("2x3x4:float32",), op.flatten)
    yield OpRow("flip", ("4x5:float32",), lambda x: op.flip(x, 1))
    yield OpRow("layout_transform", ("4x8:float32",), lambda x: op.layout_transform(x, lambda i, j: (i, j // 4, j % 4)))
    yield OpRow(
        "layout_transform-pad",
        ("4x7:float32",),
        lambda x: op.layout_transform(x, lambda i, j: (i, j // 4, j % 4), pad_value=2.0),
    )
    yield OpRow("meshgrid", ("3:float32", "4:float32"), lambda a, b: op.meshgrid([a, b]))
    yield OpRow("permute_dims", ("2x3x4:float32",), lambda x: op.permute_dims(x, [2, 0, 1]))
    yield OpRow("repeat", ("2x3:float32",), lambda x: op.repeat(x, 3, 1))
    yield OpRow("repeat-flat", ("2x3:float32",), lambda x: op.repeat(x, 3))
    yield OpRow("reshape", ("4x6:float32",), lambda x: op.reshape(x, (3, 8)))
    yield OpRow("reshape-symbolic", ("nx4:float32",), lambda x: op.reshape(x, (-1,)))
    yield OpRow("reverse_sequence", ("4x5:float32", "4:int64:1:5"), op.reverse_sequence)
    yield OpRow("slice_scatter", ("6x5:float32", "5x5:float32"), lambda a, b: op.slice_scatter(a, b, 1, 6, 1, axis=0))
    yield OpRow("split", ("6x5:float32",), lambda x: op.split(x, 3, 0))
    yield OpRow("split-indices", ("6x5:float32",), lambda x: op.split(x, [1, 4], 0))
    yield OpRow("squeeze", ("4x1x5:float32",), lambda x: op.squeeze(x, 1))
    yield OpRow("stack", ("4x5:float32", "4x5:float32"), lambda a, b: op.stack([a, b], 1))
    yield OpRow("tile", ("2x3:float32",), lambda x: op.tile(x, (2, 1, 2)))


def _index() -> Iterator[OpRow]:
    sliced = ("8x5:float32",)
    yield OpRow("strided_slice", sliced, lambda x: op.strided_slice(x, [0, 1], [1, 0], [7, 4], [2, 1]))
    yield OpRow("strided_slice-back", sliced, lambda x: op.strided_slice(x, [0], [7], [1], [-2]))
    yield OpRow("strided_slice-symbolic", ("nx5:float32",), lambda x: op.strided_slice(x, [0], [1], [4]))
    yield OpRow("take", ("8x5:float32", "3:int64:0:8"), lambda x, i: op.take(x, i, 0))
    for mode in ("wrap", "clip", "nan"):
        yield OpRow(f"take-{mode}", ("8x5:float32", "2x3:int64:0:8"), lambda x, i, m=mode: op.take(x, i, 1, m))
    yield OpRow("take-flat", ("8:float32", "2x3:int32:0:8"), lambda x, i: op.take(x, i))
    yield OpRow("gather_elements", ("4x5:float32", "4x3:int64:0:5"), lambda x, i: op.gather_elements(x, i, axis=1))
    yield OpRow("gather_nd", ("4x4x3:float32", "5x2:int64:0:4"), op.gather_nd)
    yield OpRow("gather_nd-batch", ("4x4x3:float32", "4x2x1:int64:0:4"), lambda x, i: op.gather_nd(x, i, 1))
    yield OpRow(
        "index_tensor", ("4x5:float32", "3:int64:0:4", "3:int64:0:4"), lambda x, i, j: op.index_tensor(x, [i, j])
    )
    on, off = tirx.FloatImm("float32", 1.5), tirx.FloatImm("float32", 0.5)
    yield OpRow("one_hot", ("6:int32:0:4",), lambda i: op.one_hot(i, on, off, 4))
    for how in ("update", "add", "mul", "mean", "max", "min"):
        yield OpRow(
            f"scatter_elements-{how}",
            ("4x5:float32", "2x5:int64:0:4", "2x5:float32"),
            lambda x, i, u, h=how: op.scatter_elements(x, i, u, axis=0, reduction=h),
        )
        if how != "mean":
            yield OpRow(
                f"scatter_nd-{how}",
                ("8x3:float32", "4x1:int64:0:8", "4x3:float32"),
                lambda x, i, u, h=how: op.scatter_nd(x, i, u, h),
            )
    for accumulate in (False, True):
        yield OpRow(
            f"index_put-{accumulate}",
            ("4x5:float32", "3:int64:0:4", "3:int64:0:4", "3:float32"),
            lambda x, i, j, v, a=accumulate: op.index_put(x, (i, j), v, a),
        )
    yield OpRow("bucketize", ("4x5:float32", "6:float32:sorted"), op.bucketize)
    yield OpRow("bucketize-right", ("4x5:float32", "6:float32:sorted"), lambda x, b: op.bucketize(x, b, True, True))


def _linear() -> Iterator[OpRow]:
    yield OpRow("matmul", ("4x8:float32", "8x3:float32"), op.matmul)
    yield OpRow("matmul-batch", ("2x4x8:float32", "8x3:float32"), op.matmul)
    yield OpRow("matmul-broadcast", ("2x1x4x8:float32", "3x8x5:float32"), op.matmul)
    yield OpRow("matmul-vector", ("8:float32", "8:float32"), op.matmul)
    yield OpRow("matmul-out", ("4x8:float16", "8x3:float16"), lambda a, b: op.matmul(a, b, "float32"))
    yield OpRow("matmul-symbolic", ("nx8:float32", "8xm:float32"), op.matmul)
    yield OpRow("matmul-int", ("4x8:int8", "8x3:int8"), lambda a, b: op.matmul(a, b, "int32"))
    yield OpRow("einsum", ("4x8:float32", "8x3:float32"), lambda a, b: op.einsum([a, b], "ij,jk->ik"))
    yield OpRow("outer", ("4:float32", "3:float32"), op.outer)


def op_rows() -> tuple[OpRow, ...]:
    """Every row of this table."""
    parts = (_elementwise(), _reduce(), _creation(), _manipulate(), _index(), _linear())
    return tuple(row for part in parts for row in part)


def draw_operand(spec: str, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """An array for an operand specification; symbolic dimensions take their size from `SIZES`."""
    dims, dtype, *bounds = spec.split(":")
    shape = tuple(SIZES[d] if d in SIZES else int(d) for d in dims.split("x") if d)
    if bounds == ["sorted"]:
        return np.sort(rng.uniform(-2, 2, shape)).astype(dtype)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if "int" in dtype:
        low, high = (int(float(b)) for b in bounds) if bounds else (0 if dtype[0] == "u" else -9, 9)
        return rng.integers(low, max(high, low + 1), shape).astype(dtype)
    low_f, high_f = (float(b) for b in bounds) if bounds else (-2.0, 2.0)
    values = rng.uniform(low_f, high_f, shape)
    return values.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def build_module(row: OpRow) -> Any:
    """A one-operator module with function `main`; `relax.dataflow` form, not legalised."""
    symbols = {name: tirx.Var(name, "int64") for name in SIZES}
    params = []
    for index, spec in enumerate(row.operands):
        dims, dtype, *_ = spec.split(":")
        shape = [symbols[d] if d in symbols else int(d) for d in dims.split("x") if d]
        params.append(relax.Var(f"a{index}", relax.TensorType(shape, dtype)))
    builder = relax.BlockBuilder()
    with builder.function("main", params):
        with builder.dataflow():
            result = builder.emit_output(builder.emit(row.build(*params)))
        builder.emit_func_output(result)
    return builder.get()


def legalize(row: OpRow) -> Any:
    """The module of `build_module` after the sampling and sorting dispatch (where the row asks for it) and
    LegalizeOps.
    """
    import tvm

    module = build_module(row)
    with tvm.target.Target("llvm"):
        if row.steps == "sort":
            module = DispatchSortScan()(DispatchSampling()(module))
        return rt.LegalizeOps()(module)
