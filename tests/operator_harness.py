"""Draws one operator row and runs the drawn call twice: as its row's NumPy `meaning`, and as LLVM code built by TVM.

Here: the sample (a function that makes the call, its inputs, the expected result), many samples in one module so
that one build serves a whole family, and the comparison with a stated tolerance. Not here: the error bounds of the
oracles, which judge without a fixed tolerance; and any knowledge of one operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tvm
from tvm import relax, tirx

from generators import tvm_api
from generators.arrays import draw_array
from generators.case import Shape
from generators.dtypes import is_float, numpy_dtype
from generators.operators.row import Operator
from generators.operators.table import OPERATORS
from generators.prim_expr import evaluate
from generators.relax.frames import FunctionFrame, ModuleFrame
from generators.relax.knobs import DEFAULT, Knobs
from generators.relax.scope import Scope
from generators.relax.values import extent
from generators.source import SeededSource
from generators.unavailable import Unavailable

TOLERANCE = {"float64": 1e-9, "float32": 1e-5, "float16": 1e-2, "bfloat16": 6e-2}
"""Relative to the largest magnitude of the expected result and 1; generous, since it is no oracle."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One drawn call in a function of its own.

    function: the call is its last binding, its result what the function returns. inputs: parameter name -> array in
    the declared dtype, or a tuple of int for the shape parameter that defines symbols. expected: what `meaning` gives,
    floats in float64 before rounding; a tuple of arrays for a tuple. dtype: the float dtype the row promises (of no
    concern where the result is no float). call: the drawn call, arguments: what `meaning` gets as operands. range: what
    the row says of the result's elements.
    """

    row: Operator
    seed: int
    function: Any
    inputs: dict[str, Any]
    expected: Any
    dtype: str | None
    call: Any
    arguments: tuple[Any, ...]
    range: Any

    @property
    def given(self) -> tuple[Any, ...]:
        """The inputs as the arguments of an entry call."""
        return tuple([Shape(v) if isinstance(v, tuple) else v for v in self.inputs.values()])

    @property
    def module(self) -> Any:
        """A module that holds this sample alone, as `main`."""
        return tvm.IRModule({"main": self.function})


def draw_row(row: Operator, seed: int, attempts: int = 60, knobs: Knobs = DEFAULT) -> Sample:
    """A sample of `row`, a function of (row.name, seed, knobs). Unavailable when no attempt finds a valid call."""
    reason = "no attempt"
    for attempt in range(attempts):
        source = SeededSource(seed, attempt)
        frame = FunctionFrame(ModuleFrame(knobs))
        scope = Scope(source, frame)
        try:
            drawn = row.draw(scope)
            scope.emit(drawn)
        except Unavailable as unavailable:
            reason = str(unavailable)
            continue
        return _sample(row, seed, scope, drawn.range)
    raise Unavailable(f"{row.name}: {reason}")


def _sample(row: Operator, seed: int, scope: Scope, values: Any) -> Sample:
    frame = scope.frame
    random = np.random.default_rng(seed)
    inputs: dict[str, Any] = {}
    parameters = []
    for var, spec in frame.parameters:
        parameters.append(var)
        inputs[var.name] = draw_array(int(random.integers(2**32)), spec.shape, spec.dtype, spec.range)
    undefined = frame.undefined_symbols()
    if undefined:
        shape = relax.Var("symbols", tvm_api.ShapeType([d.expr for d in undefined]))
        parameters.append(shape)
        inputs["symbols"] = tuple(extent(d) for d in undefined)
    last = scope.bindings[-1]
    body = relax.SeqExpr([relax.BindingBlock(scope.bindings)], last.var)
    # A function drawn in a fresh Scope is pure unless the operator itself is not.
    pure = not _impure(last.value)
    function = relax.Function(parameters, body, tvm_api.type_of(last.var), is_pure=pure)
    results, arguments = _interpret(row, scope.bindings, inputs, frame.symbols)
    dtype = _float_dtype(row, last.value)
    return Sample(row, seed, function, inputs, results, dtype, last.value, arguments, values)


def _impure(call: Any) -> bool:
    return tvm_api.op_name(call) is not None and not bool(call.op.get_attr("FPurity"))


# --- the meaning -----------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """An attribute of a call as plain Python: None, bool, int, float, str or a tuple; an IndexMap stays as it is."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value if not isinstance(value, str) else str(value)
    if isinstance(value, (tirx.IntImm, tirx.FloatImm)):
        return bool(value.value) if str(value.ty).removeprefix("T.") == "bool" else value.value
    if isinstance(value, tirx.IndexMap):
        return value
    if isinstance(value, Sequence):
        return tuple(plain(v) for v in value)
    text = str(value).removeprefix("T.")
    return None if text in ("", "void") else text


def attributes_of(row: Operator, call: Any) -> dict[str, Any]:
    """The attributes that the row's meaning asks for."""
    return {name: plain(getattr(call.attrs, name)) for name in row.attributes}


def carried(array: Any) -> Any:
    """An array as `meaning` gets it: floats as float64, all else as it is."""
    kind = np.asarray(array)
    whole = kind.dtype.kind in "biu"
    return kind if whole else kind.astype(np.float64)


def rounded(value: Any, dtype: str | None) -> Any:
    """`meaning`'s result with its floats rounded to `dtype`, in the carriers again."""
    if isinstance(value, tuple):
        return tuple(rounded(v, dtype) for v in value)
    array = np.asarray(value)
    if array.dtype.kind != "f" or dtype is None:
        return array
    return array.astype(numpy_dtype(dtype)).astype(np.float64)


def _interpret(
    row: Operator, bindings: Sequence[Any], inputs: Mapping[str, Any], symbols: Mapping[Any, int]
) -> tuple[Any, tuple[Any, ...]]:
    """The value of the last binding and of its operands: every binding is a call whose row gives its meaning."""
    values: dict[Any, Any] = {}
    result: Any = None
    arguments: tuple[Any, ...] = ()

    def value_of(expr: Any) -> Any:
        if isinstance(expr, tvm_api.Constant):
            return carried(tvm_api.constant_array(expr))
        if isinstance(expr, relax.ShapeExpr):
            return tuple(int(evaluate(v, symbols)) for v in expr.values)
        if isinstance(expr, relax.Tuple):
            return tuple(value_of(f) for f in expr.fields)
        if isinstance(expr, relax.Var) and expr in values:
            return values[expr]
        if isinstance(expr, relax.Var) and expr.name in inputs:
            return carried(inputs[expr.name])
        number = plain(expr)
        return evaluate(expr, symbols) if isinstance(number, str) else number

    for binding in bindings:
        call = binding.value
        name = tvm_api.op_name(call)
        if isinstance(call, relax.TupleGetItem):
            result = value_of(call.tuple_value)[call.index]
        elif name is None:
            result = value_of(call)
        else:
            own = row if name == row.name else OPERATORS[name]
            arguments = tuple(value_of(a) for a in call.args)
            result = own.meaning(*arguments, **attributes_of(own, call))
            if binding is not bindings[-1]:
                result = rounded(result, _float_dtype(own, call))
        values[binding.var] = result
    return result, arguments


def _float_dtype(row: Operator, call: Any) -> str | None:
    """The row's own rule, or the attribute `dtype` or `out_dtype` where set, else the first float operand's dtype."""
    attributes = attributes_of(row, call)
    operands: list[str | None] = []
    for argument in call.args:
        ty = None if tvm.ir.is_prim_expr(argument) else tvm_api.type_of(argument)
        fields = ty.fields if isinstance(ty, tvm_api.TupleType) else [ty]
        for one in fields:
            name = tvm_api.dtype_name(one) if isinstance(one, tvm_api.TensorType) else None
            operands.append(name if name is not None and is_float(name) else None)
    if row.dtype_of is not None:
        return row.dtype_of(operands, attributes)
    for key in ("dtype", "out_dtype"):
        if attributes.get(key) is not None and is_float(attributes[key]):
            return str(attributes[key])
    return next((d for d in operands if d is not None), None)


# --- the compiled code -----------------------------------------------------------------------------------


def compiled(samples: Sequence[Sample], target: Any = "llvm") -> Any:
    """A virtual machine that holds sample i as function `f<i>`; errors of TVM's build go through."""
    functions = {f"f{i}": s.function.with_attr("global_symbol", f"f{i}") for i, s in enumerate(samples)}
    module = tvm.IRModule(functions)
    with tvm.transform.PassContext(config={"tirx.disable_assert": True}):
        executable = tvm.compile(module, target=tvm.target.Target(target))
    return relax.VirtualMachine(executable, tvm.cpu())


def llvm_outputs(sample: Sample) -> Any:
    """What LLVM code of this sample alone gives: an array in the result's dtype, or a tuple of them."""
    return run(compiled([sample]), 0, sample)


def run(machine: Any, index: int, sample: Sample) -> Any:
    """The result of sample `index` of `compiled`."""
    arguments = [
        tvm.runtime.ShapeTuple(v) if isinstance(v, tuple) else tvm_api.to_tensor(v, dtype)
        for v, dtype in zip(sample.inputs.values(), _input_dtypes(sample), strict=True)
    ]
    return _arrays(machine[f"f{index}"](*arguments))


def _input_dtypes(sample: Sample) -> Iterable[str]:
    for value in sample.inputs.values():
        yield "int64" if isinstance(value, tuple) else str(value.dtype)


def _arrays(result: Any) -> Any:
    if isinstance(result, tvm.runtime.Tensor):
        return tvm_api.to_array(result)
    if isinstance(result, tvm.runtime.ShapeTuple):
        return tuple(int(n) for n in result)
    return tuple(_arrays(r) for r in result)


# --- the comparison --------------------------------------------------------------------------------------


def difference(sample: Sample, actual: Any) -> str | None:
    """What `actual` gets wrong against the sample's meaning and its annotated type; None when nothing."""
    return _difference(sample.expected, actual, sample.dtype, tvm_api.type_of(sample.call))


def _difference(expected: Any, actual: Any, dtype: str | None, ty: Any) -> str | None:
    if isinstance(ty, tvm_api.TupleType):
        if not isinstance(expected, tuple) or len(expected) != len(actual):
            return f"tuple of {len(actual)} against {type(expected).__name__}"
        fields = (_difference(e, a, dtype, t) for e, a, t in zip(expected, actual, ty.fields, strict=True))
        return next((found for found in fields if found is not None), None)
    if isinstance(ty, tvm_api.ShapeType):
        return None if tuple(expected) == tuple(actual) else f"shape {actual} against {expected}"
    wanted = np.asarray(expected)
    declared = tvm_api.dtype_name(ty)
    if wanted.shape != actual.shape:
        return f"shape {actual.shape} against {wanted.shape}"
    if declared is not None and numpy_dtype(declared) != actual.dtype:
        return f"dtype {actual.dtype} against the annotated {declared}"
    if wanted.dtype.kind in "biu":
        if wanted.dtype != actual.dtype:
            return f"dtype {actual.dtype} against {wanted.dtype}"
        return None if np.array_equal(wanted, actual) else f"values {_few(actual)} against {_few(wanted)}"
    if dtype is None or numpy_dtype(dtype) != actual.dtype:
        return f"dtype {actual.dtype} against {dtype}"
    return _float_difference(wanted, actual, dtype)


def _float_difference(wanted: Any, actual: Any, dtype: str) -> str | None:
    got = actual.astype(np.float64)
    finite = np.isfinite(wanted)
    if not np.array_equal(np.isnan(wanted), np.isnan(got)) or not np.array_equal(np.isposinf(wanted), np.isposinf(got)):
        return f"non-finite values {_few(got)} against {_few(wanted)}"
    if not finite.any():
        return None
    scale = max(1.0, float(np.abs(wanted[finite]).max()))
    worst = float(np.abs(wanted[finite] - got[finite]).max())
    if worst <= TOLERANCE[dtype] * scale:
        return None
    return f"off by {worst:.3g} of {scale:.3g}: {_few(got)} against {_few(wanted)}"


def _few(array: Any) -> str:
    return np.array2string(np.asarray(array).reshape(-1)[:8], precision=5)


def outside(sample: Sample) -> str | None:
    """What of the sample's meaning lies outside the range that its row declares; None when nothing."""
    values = sample.expected if isinstance(sample.expected, tuple) else (sample.expected,)
    ranges = sample.range if isinstance(sample.range, tuple) else (sample.range,) * len(values)
    for value, declared in zip(values, ranges, strict=True):
        array = np.asarray(value, np.float64)
        slack = 1e-9 * max(1.0, declared.magnitude)
        if array.size and not (declared.low - slack <= array.min() and array.max() <= declared.high + slack):
            return f"[{array.min()}, {array.max()}] is not inside [{declared.low}, {declared.high}]"
        if declared.integral and not np.array_equal(array, np.round(array)):
            return "not whole numbers"
    return None
