"""Special floats and the ends of narrow integers: passes that are wrong on these alone are found, what TVM leaves open
is not judged, and drawn programs hold enough of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax
from tvm.relax.expr_functor import PyExprMutator, mutator

from generators import tvm_api
from generators.dtypes import integer_limits
from generators.program import Program
from generators.ranges import NARROW
from generators.relax.relax_program import draw_program
from generators.source import SeededSource
from generators.unavailable import Unavailable
from oracles.checks.numeric import judge
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning
from oracles.verdict import PASSED, Failed
from oracles.workbench import Workbench
from tests.oracles.oracle_bench import RealBench, module_pass, step_of
from tests.oracles.test_numeric import judged, program

INF, NAN = np.inf, np.nan
X, Y, Z = (np.random.default_rng(seed).integers(1, 5, (4, 4)).astype(np.float32) for seed in (1, 2, 3))
DRAWN = 600
"""Programs drawn for a planted pass: it changes some of them, and shows in some of these."""


def with_element(array: np.ndarray, number: float) -> np.ndarray:  # type: ignore[type-arg]
    """The array with this number in the middle."""
    changed = array.copy()
    changed[1, 2] = number
    return changed


WRONG: dict[str, tuple[str, str, float]] = {
    "a comparison reversed": (
        "r = R.astype(R.less(x, y), 'float32')",
        "r = R.astype(R.logical_not(R.greater_equal(x, y)), 'float32')",
        NAN,
    ),
    "a choice computed": (
        "r = R.where(R.less(y, z), y, x)",
        "c = R.astype(R.less(y, z), 'float32')\nr = R.add(R.multiply(c, y), R.multiply(R.subtract(z, z), x))",
        INF,
    ),
    "NaN replaced": ("r = R.add(x, y)", "r = R.add(R.where(R.isnan(x), z, x), y)", NAN),
    "an infinity clipped": ("r = R.maximum(x, y)", "r = R.maximum(R.clip(x, -1e9, 1e9), y)", INF),
    "the other infinity": ("r = R.multiply(x, y)", "r = R.multiply(R.abs(x), y)", -INF),
    "infinities taken for NaN": ("r = R.sum(R.permute_dims(x), axis=[0])", "r = R.sum(R.subtract(x, R.multiply(x, "
                                 "R.const(0, 'float32'))), axis=[1])", INF),
    "an element lost beside NaN": ("r = R.add(x, y)", "r = R.add(x, z)", NAN),
    "the sum of another row": ("r = R.sum(x, axis=[1])", "r = R.sum(R.flip(x, axis=0), axis=[1])", INF),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_pass_that_is_wrong_on_specials_is_found(name: str) -> None:
    before, after, number = WRONG[name]
    verdict = judged(program(before), program(after), arguments=(with_element(X, number), Y, Z))
    assert isinstance(verdict, Failed)


RIGHT: dict[str, tuple[str, str]] = {
    "operands exchanged": ("r = R.add(R.multiply(x, y), z)", "r = R.add(z, R.multiply(y, x))"),
    "moved first": ("r = R.permute_dims(R.divide(x, y))", "r = R.divide(R.permute_dims(x), R.permute_dims(y))"),
    "a comparison turned round": ("r = R.where(R.less(x, y), x, z)", "r = R.where(R.greater(y, x), x, z)"),
    "a sum in two steps": ("r = R.sum(x, axis=[0, 1])", "r = R.sum(R.sum(x, axis=[0]), axis=[0])"),
}
OPEN: dict[str, tuple[str, str]] = {
    "a product with zero": ("r = R.multiply(x, R.const(0, 'float32'))", "r = R.subtract(y, y)"),
    "an expression less itself": ("r = R.subtract(x, x)", "r = R.subtract(y, y)"),
    "a sum less a term of it": (
        "r = R.subtract(R.add(x, R.negative(x)), R.negative(x))",
        "r = R.add(x, R.const(0, 'float32'))",
    ),
    "a term less the sum": ("r = R.subtract(x, R.add(R.negative(x), x))", "r = R.add(x, R.const(0, 'float32'))"),
    "the larger of NaN and a number": ("r = R.maximum(R.subtract(x, x), y)", "r = R.maximum(y, R.subtract(x, x))"),
    "a sign": ("r = R.sign(R.subtract(x, x))", "r = R.subtract(y, y)"),
}


@pytest.mark.parametrize("number", [NAN, INF, -INF])
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_pass_is_left_alone(name: str, number: float) -> None:
    before, after = RIGHT[name]
    assert judged(program(before), program(after), arguments=(with_element(X, number), Y, Z)) == PASSED


@pytest.mark.parametrize("number", [NAN, INF])
@pytest.mark.parametrize("name", OPEN)
def test_what_tvm_leaves_open_is_not_judged(name: str, number: float) -> None:
    before, after = OPEN[name]
    assert not isinstance(judged(program(before), program(after), arguments=(with_element(X, number), Y, Z)), Failed)


# --- planted passes on drawn programs ---------------------------------------------------------------------------


def _reversed(call: Any) -> Any:
    if call.op.name != "relax.less":
        return call
    return relax.op.logical_not(relax.op.greater_equal(*call.args))


def _computed(call: Any) -> Any:
    """where(c, x, y) as c * x + (1 - c) * y, for float32."""
    if call.op.name != "relax.where" or tvm_api.dtype_name(tvm_api.type_of(call)) != "float32":
        return call
    condition, x, y = call.args
    weight = relax.op.astype(condition, "float32")
    rest = relax.op.subtract(relax.const(1, "float32"), weight)
    return relax.op.add(relax.op.multiply(weight, x), relax.op.multiply(rest, y))


def _saturated(call: Any) -> Any:
    """A copy of narrow integers that keeps off the ends."""
    dtype = tvm_api.dtype_name(tvm_api.type_of(call)) if call.op.name in _COPIES else None
    if dtype not in NARROW:
        return call
    low, high = integer_limits(dtype)
    return relax.op.clip(call, low + (low < 0), high - 1)


_COPIES = (
    *("relax.reshape", "relax.permute_dims", "relax.expand_dims", "relax.squeeze", "relax.flip", "relax.concat"),
    *(
        "relax.astype",
        "relax.where",
        "relax.maximum",
        "relax.minimum",
        "relax.broadcast_to",
        "relax.take",
        "relax.tile",
    ),
)


def _without_last_axis(call: Any) -> Any:
    """A permutation of five axes with the last two exchanged, in the shape of the right one."""
    if call.op.name != "relax.permute_dims" or tvm_api.type_of(call).ndim != 5:
        return call
    axes = [int(a) % 5 for a in call.attrs.axes] if call.attrs.axes is not None else [4, 3, 2, 1, 0]
    axes[3], axes[4] = axes[4], axes[3]
    return relax.op.reshape(relax.op.permute_dims(call.args[0], axes), tvm_api.type_of(call).shape)


def planted(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A pass that changes operator calls wherever the type stays."""

    @mutator
    class Changed(PyExprMutator):  # type: ignore[misc]
        def visit_call_(self, call: Any) -> Any:
            call = super().visit_expr_post_order(call)
            if not isinstance(call.op, tvm.ir.Op):
                return call
            other = change(call)
            if other is call:
                return call
            normal = self.builder_.normalize(other)
            same = tvm_api.structural_equal(tvm_api.type_of(normal), tvm_api.type_of(call))
            return normal if same else call

    def run(module: Any) -> Any:
        changed = Changed(module)
        for gvar, function in module.functions.items():
            if isinstance(function, relax.Function):
                changed.builder_.update_func(gvar, changed.visit_expr(function))
        return changed.builder_.get()

    return run


PASSES = {
    "reversed": _reversed,
    "computed": _computed,
    "saturated": _saturated,
    "without last axis": _without_last_axis,
}


def drawn() -> Iterator[Program]:
    for seed in range(DRAWN):
        try:
            yield draw_program(SeededSource(31, seed))
        except Unavailable:
            continue


def found(name: str, number: int) -> int:
    """How many of the drawn programs show the planted pass, at most `number`."""
    shown = 0
    call = module_pass(planted(PASSES[name]), f"Planted {name}")
    for one in drawn():
        numbers = Numbers(one.module, one.calls)
        if isinstance(numbers.expected, NoMeaning):
            continue
        bench = Workbench(SeededSource(0), numbers)
        step = step_of(call, one.module, RealBench())
        if step.after is None or tvm_api.structural_equal(step.after, one.module):
            continue
        shown += isinstance(judge(step, bench), Failed)
        if shown == number:
            break
    return shown


@pytest.mark.deep
@pytest.mark.parametrize("name", PASSES)
def test_drawn_programs_show_a_planted_pass(name: str) -> None:
    assert found(name, 1)


def test_drawn_programs_hold_specials_and_the_ends_of_integers() -> None:
    seen = set()
    for one, _ in zip(drawn(), range(60), strict=False):
        for call in one.calls:
            for array in call.arguments:
                if isinstance(array, np.ndarray) and array.dtype.kind == "f" and array.size:
                    seen |= {"nan"} if np.isnan(array).any() else set()
                    seen |= {"infinity"} if np.isinf(array).any() else set()
                    seen |= {"minus zero"} if np.any((array == 0) & np.signbit(array)) else set()
                elif isinstance(array, np.ndarray) and array.dtype.name in ("int8", "uint8", "int16", "int32"):
                    ends = np.iinfo(array.dtype)
                    seen |= {"end"} if np.any((array == ends.max) | ((array == ends.min) & (ends.min < 0))) else set()
    assert seen == {"nan", "infinity", "minus zero", "end"}
