"""Error bounds: zero where the answer is exact, never below what real arithmetic does, infinite at steps and ties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tvm import relax
from tvm.relax import op

from corpus.scripts.module_text import live_module
from generators.case import EntryCall, ModuleText
from generators.dtypes import float_facts
from oracles.reference.compare import Agreement, Difference, compare
from oracles.reference.engine import Interpreter
from oracles.reference.errors import Unsupported
from oracles.reference.values import Tensor, carried

Array = np.ndarray[Any, Any]
Build = Callable[..., Any]


def bounded(build: Build, *arrays: Array) -> Any:
    """The bounded reference of an expression over tensors of these arrays' types."""
    block = relax.BlockBuilder()
    types = [relax.TensorType(a.shape, a.dtype.name) for a in arrays]
    variables = [relax.Var(f"x{i}", ty) for i, ty in enumerate(types)]
    with block.function("main", variables):
        block.emit_func_output(block.emit(build(*variables)))
    return Interpreter(block.get(), bounded=True).run(EntryCall("main", arrays))


def whole(seed: int, shape: tuple[int, ...], dtype: str = "float32", largest: int = 4) -> Array:
    """Small whole numbers held in floats."""
    return np.random.default_rng(seed).integers(-largest, largest + 1, shape).astype(dtype)


def real(seed: int, shape: tuple[int, ...], dtype: str = "float32") -> Array:
    return np.random.default_rng(seed).uniform(-3, 3, shape).astype(dtype)


F32 = np.float32
THIRD = np.full((2, 2), 1 / 3, F32)


def chosen(summed: Any, choosing: Any) -> Any:
    """Sums of elements of `summed`, chosen by the largest elements of `choosing`."""
    return op.grad.max_pool2d_backward(summed, choosing, (1, 2), padding=(0, 0, 0, 0))


TIES = np.array([[[[3, 3, 1, 2]]]], F32)
APART = np.array([[[[-0.75, 0.5, 0.25, -0.25]]]], F32)
SUMMED = np.full((1, 1, 1, 3), 1 / 3, F32)
EXACT: dict[str, tuple[Build, tuple[Array, ...]]] = {
    "ring: add": (op.add, (whole(1, (3, 3)), whole(2, (3, 3)))),
    "ring: multiply by a power of two": (op.multiply, (whole(1, (3, 3), largest=99), np.full((3, 3), 1 / 64, F32))),
    "ring: subtract eighths": (op.subtract, (whole(1, (3, 3)) / F32(8), whole(2, (3, 3)) / F32(8))),
    "ring: square of quarters in float16": (op.square, (whole(1, (3, 3), "float16") / np.float16(4),)),
    "ring: matmul": (op.matmul, (whole(1, (3, 4)), whole(2, (4, 3)))),
    "ring: sum": (op.sum, (whole(1, (3, 4)),)),
    "ring: matmul in float16": (op.matmul, (whole(1, (3, 4), "float16"), whole(2, (4, 3), "float16"))),
    "move: permute": (op.permute_dims, (THIRD,)),
    "move: concat": (lambda x, y: op.concat([x, y]), (THIRD, THIRD)),
    "move: negative": (op.negative, (THIRD,)),
    "exact: zeros_like": (op.zeros_like, (THIRD,)),
    "exact: integers": (op.add, (whole(1, (3,), "int32"), whole(2, (3,), "int32"))),
    "smooth: relu": (op.nn.relu, (real(1, (3, 3)),)),
    "smooth: maximum": (op.maximum, (whole(1, (3, 3)), whole(2, (3, 3)))),
    "step: floor": (op.floor, (real(1, (3, 3)),)),
    "step: less of equals": (op.less, (whole(1, (3, 3)), whole(1, (3, 3)))),
    "cast: to integers": (lambda x: op.astype(x, "int32"), (whole(1, (3, 3)),)),
    "cast: to a narrower float": (lambda x: op.astype(x, "float16"), (THIRD,)),
    "order: argmax with ties": (lambda x: op.argmax(x, 1), (whole(1, (3, 5)),)),
    "order: sort": (lambda x: op.sort(x), (real(1, (3, 5)),)),
    "chosen: whole numbers by exact ones, of which two tie": (chosen, (whole(1, (1, 1, 1, 3)), TIES)),
}


@pytest.mark.parametrize(("build", "arrays"), EXACT.values(), ids=EXACT)
def test_bound_is_zero_where_every_order_of_evaluation_agrees(build: Build, arrays: tuple[Array, ...]) -> None:
    result = bounded(build, *arrays)
    assert result.error is None or not result.error.any()


EXACT_OR_NOT = (op.add, op.subtract, op.multiply, op.square, lambda x, y, z: op.ewise_fma(x, y, z))


@pytest.mark.parametrize(("dtype", "most"), [("float16", 11), ("float32", 22)])
def test_what_counts_as_exact_is_what_no_order_rounds(dtype: str, most: int) -> None:
    """Multiples of powers of two of many sizes: where the bound is zero, plain arithmetic gives the very number."""
    random = np.random.default_rng(5)
    exact = rounded = 0
    for _ in range(150):
        build, operands = EXACT_OR_NOT[random.integers(len(EXACT_OR_NOT))], random.integers(3, most, 3)
        count = 3 if build is EXACT_OR_NOT[-1] else 1 if build is op.square else 2
        arrays = [
            (random.integers(-(2**bits), 2**bits, 4) * 2.0 ** -random.integers(0, 10)).astype(dtype)
            for bits in operands[:count]
        ]
        result = bounded(build, *arrays)
        if result.error is None or not result.error.any():
            exact += 1
            wide = [array.astype(np.longdouble) for array in arrays]
            plain, true = (_plainly(build, given) for given in (arrays, wide))
            assert np.array_equal(plain.astype(np.longdouble), true), (build, arrays)
        else:
            rounded += 1
    assert exact > 20 and rounded > 20


def _plainly(build: Any, given: list[Any]) -> Any:
    if build is EXACT_OR_NOT[-1]:
        return given[0] * given[1] + given[2]
    plain = {op.add: np.add, op.subtract: np.subtract, op.multiply: np.multiply, op.square: np.square}[build]
    return plain(*given)


def nearly(x: Any) -> Any:
    """x with an error: the sine of its arcsine."""
    return op.sin(op.asin(x))


INEXACT: dict[str, tuple[Build, tuple[Array, ...]]] = {
    "ring: sums beyond 2**24": (op.add, (np.full(3, 2.0**24 + 2, F32), np.full(3, 2.0**24, F32))),
    "ring: products beyond 2**11 in float16": (op.multiply, (np.full(2, 101, np.float16), np.full(2, 61, np.float16))),
    "ring: fractions": (op.multiply, (THIRD, THIRD)),
    "smooth: exp": (op.exp, (THIRD,)),
    "smooth: softmax": (lambda x: op.nn.softmax(x), (THIRD,)),
    "move: inexact operand": (lambda x: op.permute_dims(op.exp(x)), (THIRD,)),
    "cast: inexact operand": (lambda x: op.astype(op.exp(x), "float16"), (THIRD,)),
    "order: inexact operand": (lambda x: op.sort(op.exp(x)), (real(1, (5,)),)),
}


def test_what_is_chosen_is_unknown_near_ties_and_known_else() -> None:
    near = bounded(lambda g, x: chosen(g, nearly(x)), SUMMED, APART[..., [0, 1, 1, 3]])
    assert near.error is not None and np.isinf(near.error).all()
    apart = bounded(lambda g, x: chosen(g, nearly(x)), SUMMED, APART)
    assert np.allclose(apart.value, [[[[0, 2 / 3, 1 / 3, 0]]]])
    assert apart.error is not None and (apart.error < 1e-6).all() and apart.error[..., 1] > 0


def test_what_is_chosen_carries_the_errors_of_what_is_summed() -> None:
    exact, inexact = (bounded(build, SUMMED, APART) for build in (chosen, lambda g, x: chosen(nearly(g), x)))
    assert exact.error is not None and inexact.error is not None
    assert (inexact.error[..., 1:3] > exact.error[..., 1:3]).all()


@pytest.mark.parametrize(("build", "arrays"), INEXACT.values(), ids=INEXACT)
def test_bound_is_positive_and_small_where_rounding_happens(build: Build, arrays: tuple[Array, ...]) -> None:
    result = bounded(build, *arrays)
    unit = float_facts(result.dtype).unit
    assert result.error is not None and (result.error > 0).all()
    assert (result.error <= 1000 * unit * (np.abs(result.value) + 1)).all()


HALF = np.array([0.5, 0.25, -0.5], F32)
UNDECIDED: dict[str, tuple[Build, tuple[Array, ...], list[bool]]] = {
    "floor at a whole number": (lambda x: op.floor(op.add(nearly(x), x)), (HALF,), [True, False, True]),
    "less of nearly equals": (lambda x: op.less(nearly(x), x), (HALF,), [True, True, True]),
    "equal of nearly equals": (lambda x: op.equal(nearly(x), op.floor(x)), (HALF,), [False, False, False]),
    "cast of a nearly whole number": (
        lambda x: op.astype(op.add(nearly(x), x), "int32"),
        (HALF,),
        [True, False, True],
    ),
    "equal of what rounding may make equal": (
        lambda x: op.equal(nearly(x), op.multiply(x, relax.const(1 + 2.0**-23, "float32"))),
        (HALF,),
        [True, True, True],
    ),
    "not_equal to an exact number": (lambda x: op.not_equal(nearly(x), x), (HALF,), [True, True, True]),
    "cast to bool near zero": (
        lambda x: op.astype(op.subtract(nearly(x), x), "bool"),
        (HALF,),
        [True, True, True],
    ),
    "argmax of nearly equals": (
        lambda x: op.argmax(op.concat([nearly(x), x]), 0, keepdims=True),
        (np.array([0.5], F32),),
        [True],
    ),
    "argsort of values far apart": (lambda x: op.argsort(nearly(x)), (HALF,), [False] * 3),
    "sign near zero": (lambda x: op.sign(op.subtract(nearly(x), x)), (HALF,), [True] * 3),
    "overflow in float16": (lambda x: op.multiply(x, x), (np.array([250, 2], np.float16),), [True, False]),
    "what follows an undecided element": (
        lambda x: op.add(op.floor(op.add(nearly(x), x)), x),
        (HALF,),
        [True, False, True],
    ),
    "where an undecided element is moved to": (
        lambda x: op.flip(op.floor(op.add(nearly(x), x)), axis=0),
        (np.array([0.5, 0.25, 0.75], F32),),
        [False, False, True],
    ),
    "a sum over an undecided element": (
        lambda x: op.sum(op.floor(op.add(nearly(x), x)), keepdims=True),
        (HALF,),
        [True],
    ),
}


@pytest.mark.parametrize(("build", "arrays", "unknown"), UNDECIDED.values(), ids=UNDECIDED)
def test_bound_is_infinite_exactly_where_nothing_can_be_said(
    build: Build, arrays: tuple[Array, ...], unknown: list[bool]
) -> None:
    result = bounded(build, *arrays)
    error = np.zeros(result.shape) if result.error is None else result.error
    assert np.isinf(error).tolist() == unknown


UNSIZED: dict[str, tuple[Build, tuple[Array, ...]]] = {
    "unique of near-ties": (lambda x: op.unique(op.concat([nearly(x), x])), (HALF,)),
    "nonzero near zero": (lambda x: op.nonzero(op.subtract(nearly(x), x)), (HALF,)),
    "nonzero of undecided elements": (lambda x: op.nonzero(op.floor(op.add(nearly(x), x))), (HALF,)),
    "a shape from undecided numbers": (
        lambda x: op.tensor_to_shape(op.astype(op.add(nearly(x), x), "int64")),
        (np.array([0.5, 0.5], F32),),
    ),
}


@pytest.mark.parametrize(("build", "arrays"), UNSIZED.values(), ids=UNSIZED)
def test_result_of_undecided_size_is_unsupported(build: Build, arrays: tuple[Array, ...]) -> None:
    with pytest.raises(Unsupported):
        bounded(build, *arrays)


SIZED: dict[str, tuple[Build, tuple[Array, ...], tuple[int, ...]]] = {
    "unique of values far apart": (lambda x: op.unique(op.exp(x)), (HALF,), (3,)),
    "nonzero away from zero": (lambda x: op.nonzero(nearly(x)), (HALF,), (1, 3)),
}


@pytest.mark.parametrize(("build", "arrays", "shape"), SIZED.values(), ids=SIZED)
def test_result_of_a_size_that_errors_cannot_change_is_judged(
    build: Build, arrays: tuple[Array, ...], shape: tuple[int, ...]
) -> None:
    assert bounded(build, *arrays).shape == shape


# --- random expressions -----------------------------------------------------------------------------------------


def _softmax(x: Array) -> Array:
    e: Array = np.exp(x - x.max(1, keepdims=True))
    share: Array = e / e.sum(1, keepdims=True)
    return share


def _naive_matmul(x: Array, y: Array) -> Array:
    """Left to right, every partial sum rounded."""
    total = np.zeros((x.shape[0], y.shape[1]), x.dtype)
    for k in range(x.shape[1]):
        total = total + x[:, k : k + 1] * y[k : k + 1]
    return total


def _mean_right_to_left(x: Array) -> Array:
    total: Array = np.zeros((x.shape[0], 1), x.dtype)
    for k in reversed(range(x.shape[1])):
        total = total + x[:, k : k + 1]
    mean: Array = total / x.dtype.type(x.shape[1])
    return mean


UNARY: list[tuple[Build, Callable[[Array], Array]]] = [
    (op.tanh, np.tanh),
    (op.negative, np.negative),
    (lambda x: op.sqrt(op.abs(x)), lambda x: np.sqrt(np.abs(x))),
    (lambda x: op.exp(op.clip(x, -4, 2)), lambda x: np.exp(np.clip(x, -4, 2))),
    (lambda x: op.nn.softmax(x, 1), _softmax),
    (lambda x: op.subtract(x, op.mean(x, 1, keepdims=True)), lambda x: x - _mean_right_to_left(x)),
    (lambda x: op.cumsum(x, 1), lambda x: np.cumsum(x, 1, dtype=x.dtype)),
    (lambda x: op.permute_dims(x), np.transpose),
    (op.floor, np.floor),
    (lambda x: op.sort(x, 1), lambda x: np.sort(x, 1)),
    (lambda x: op.nn.relu(x), lambda x: np.maximum(x, 0)),
    (op.sin, np.sin),
]
BINARY: list[tuple[Build, Callable[[Array, Array], Array]]] = [
    (op.add, np.add),
    (op.subtract, np.subtract),
    (op.multiply, np.multiply),
    (op.maximum, np.maximum),
    (op.matmul, _naive_matmul),
    (
        lambda x, y: op.divide(x, op.add(op.multiply(y, y), op.ones_like(y))),
        lambda x, y: x / (y * y + np.ones_like(y)),
    ),
    (lambda x, y: op.where(op.less(x, y), x, op.tanh(y)), lambda x, y: np.where(x < y, x, np.tanh(y))),
]
STEPS = 5
MIXED = (*range(56), 226, 288, 406)
"""The last ones move elements of which nothing is known."""


def random_expression(seed: int) -> tuple[Build, Callable[[Array, Array], Array]]:
    """An expression over two operands for Relax, and its plain evaluation in the operands' precision."""
    random = np.random.default_rng(seed)
    plan: list[tuple[Any, Any, tuple[int, ...]]] = []
    for size in range(2, 2 + STEPS):
        table: list[Any] = UNARY if random.random() < 0.5 else BINARY
        build, evaluate = table[random.integers(len(table))]
        newest = size - 1 if plan else int(random.integers(2))
        plan.append((build, evaluate, (newest, int(random.integers(size)))[: 1 if table is UNARY else 2]))

    def apply(values: list[Any], which: int) -> Any:
        for step in plan:
            evaluate = step[0] if which == 0 else step[1]
            values.append(evaluate(*[values[i] for i in step[2]]))
        return values[-1]

    return lambda x, y: apply([x, y], 0), lambda x, y: apply([x, y], 1)


def judged(seed: int, dtype: str) -> tuple[Tensor, Array]:
    """Reference with bounds, and the plain evaluation in `dtype`."""
    build, evaluate = random_expression(seed)
    draw = whole if seed % 3 == 0 else real
    x, y = draw(seed, (4, 4), dtype), draw(seed + 1000, (4, 4), dtype)
    with np.errstate(all="ignore"):
        actual = evaluate(x, y)
    assert actual.dtype == dtype
    return bounded(build, x, y), actual


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_plain_evaluation_never_leaves_the_bound(dtype: str) -> None:
    decided = 0
    for seed in MIXED:
        expected, actual = judged(seed, dtype)
        verdict = compare(expected, carried(actual, dtype))
        assert isinstance(verdict, Agreement), (seed, verdict)
        decided += verdict.undecided < 1
    assert decided >= 45


def test_an_error_far_above_rounding_leaves_the_bound() -> None:
    caught = 0
    for seed in range(30):
        expected, actual = judged(seed, "float32")
        wrong = actual.astype(np.float64) + 0.02 * (np.abs(actual) + 1)
        caught += isinstance(compare(expected, Tensor(wrong, "float32")), Difference)
    assert caught >= 25


PARTLY = """@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def half(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(2):
            with T.sblock("half"):
                vi = T.axis.spatial(2, i)
                B[vi] = A[vi] + T.float32(1)

    @R.function
    def main(x: R.Tensor((4,), dtype="float32")):
        cls = Module
        y = R.call_tir(cls.half, (x,), out_ty=R.Tensor((4,), dtype="float32"))
        return y
"""


def test_nothing_is_known_of_elements_that_a_prim_func_leaves_unwritten() -> None:
    module = live_module(ModuleText(PARTLY))
    result = Interpreter(module, bounded=True).run(EntryCall("main", (np.arange(4, dtype=np.float32),)))
    assert isinstance(result, Tensor) and result.error is not None
    assert (result.value[:2] == [1.0, 2.0]).all()
    assert list(np.isinf(result.error)) == [False, False, True, True]
