"""The adjoint that a pass adds to a function is its derivative.

relax.transform.Gradient adds an adjoint beside a function f (src/relax/transform/gradient.cc). It takes the parameters
of f, and gives the results of f and the gradients of one of them, a scalar, by some of the parameters. Along a
direction these must give what `oracles.reference.derivative` finds of f; where they do not, halves of the direction
lead to one element that shows it.

Nothing is said next to a kink, where a gradient is one of many. So inputs are moved a little first, off whole numbers
and off each other. Nor is anything said of operands by which TVM has no gradient (`Operator.without_gradient`,
`relax.grad.no_grad`). Which result is derived, and by which parameters where these are not all, the caller of the pass
alone knows: one that fits is enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import TypeGuard

import numpy as np
from tvm import relax

from generators.case import Argument
from generators.dtypes import Array, is_float
from generators.operators.table import OPERATORS
from generators.tvm_api import IRModule
from oracles.evidence import WrongGradient
from oracles.ir.operators import operator_calls
from oracles.ir.walk import relax_functions
from oracles.oracle import Stage, StepOracle
from oracles.reference.calling import direct
from oracles.reference.derivative import Fit, Slope, slopes, unrounded
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.outcome import NoMeaning
from oracles.reference.values import Runtime, Tensor, from_argument
from oracles.trace import Bench, Step
from oracles.verdict import PASSED, WRONG_GRADIENT, Failed, Inconclusive, Passed, Skipped, Verdict

SUFFIX = "_adjoint"
"""What the name of an adjoint ends with (gradient.cc)."""
TOLD = 0.05
"""By how much of the larger one a gradient and a derivative by one element differ where that is told: a script shows it
in float32, by plain differences."""
MOST = 16
"""Ways of saying which parameters the gradients are by."""
NO_DERIVATIVE = "gradient: the function has no derivative near the inputs, as far as can be seen"
OTHER_FORM = "gradient: the adjoint gives something else than TVM's"


def shifted(array: Array) -> Array:
    """Inputs a little off: neighbours that were equal differ, and none is a whole number or the half of one."""
    return array + (np.arange(array.size).reshape(array.shape) % 7 + 1).astype(array.dtype) / 64


@dataclass(frozen=True, slots=True)
class _Element:
    """An element of a parameter: by which of the gradients, and which of its elements."""

    gradient: int
    index: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Point:
    """A function and its adjoint at some inputs. results: what it gives there. fields: it gives a tuple of these."""

    module: IRModule
    function: str
    inputs: tuple[Tensor, ...]
    moved: bool
    results: tuple[Runtime, ...]
    fields: bool
    gradients: tuple[Tensor, ...]

    def ways(self) -> Iterator[tuple[int, ...]]:
        """The parameters that the gradients may be by, each time one for each gradient."""
        if len(self.gradients) == len(self.inputs):
            return iter([tuple(range(len(self.inputs)))])
        alike = ([at for at, one in enumerate(self.inputs) if _alike(one, gradient)] for gradient in self.gradients)
        return islice((way for way in product(*alike) if len(set(way)) == len(way)), MOST)

    @property
    def scalars(self) -> list[int]:
        """Which results may be derived."""
        return [at for at, one in enumerate(self.results) if _is_scalar(one)]

    def direction(self, elements: Sequence[_Element]) -> list[Array]:
        """A change of these elements, for each gradient: one each where it is the only one, else any."""
        random = np.random.default_rng(0)
        change = [np.zeros(gradient.shape) for gradient in self.gradients]
        for one in elements:
            change[one.gradient][one.index] = (
                1.0 if len(elements) == 1 else random.choice((-1, 1)) * random.uniform(0.5, 1)
            )
        return change

    def slopes(self, way: Sequence[int], along: Sequence[Array]) -> list[Slope]:
        """How the scalars among the results change along a direction. Raises Trap and Unsupported."""

        def values(distance: float) -> Array:
            inputs = list(self.inputs)
            for place, change in zip(way, along, strict=True):
                inputs[place] = Tensor(inputs[place].value + distance * change, inputs[place].dtype)
            given = _fields(unrounded(self.module, self.function, inputs))
            return np.array([float(one.value) for one in given if _is_scalar(one)])

        return slopes(values)

    def by_gradients(self, along: Sequence[Array]) -> tuple[float, float]:
        """The change along a direction as the gradients have it, and the size of what it is the sum of."""
        terms = [gradient.value * change for gradient, change in zip(self.gradients, along, strict=True)]
        return sum(float(t.sum()) for t in terms), sum(float(np.abs(t).sum()) for t in terms)


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("wrong gradient") where an adjoint that the pass added is not the derivative of its function."""
    if step.after is None:
        return Skipped("no result")
    before, after = _names(step.before), _names(step.after)
    functions = sorted(name for name in before if name + SUFFIX in after - before)
    if not functions:
        return Skipped("gradient: no adjoint is added", applies=False)
    if isinstance(bench.numbers.expected, NoMeaning):
        return Skipped(bench.numbers.expected.reason, stop=bench.numbers.expected.stop)
    if step.start.calling is not direct:
        return Skipped("gradient: the function is called in another way than at the start")
    if _is_cut(step.before):
        return Skipped("gradient: TVM has none by an operand")
    calls = {call.function: call.arguments for call in reversed(bench.numbers.calls)}
    verdicts = [_of_function(step.after, name, calls[name]) for name in functions if name in calls]
    telling = sorted(verdicts, key=lambda verdict: (not isinstance(verdict, Failed), isinstance(verdict, Passed)))
    return telling[0] if telling else Skipped("gradient: the function is not called")


def _names(module: IRModule) -> set[str]:
    return {name.name_hint for name, _ in relax_functions(module)}


def _is_cut(module: IRModule) -> bool:
    """Whether an operand by which TVM has no gradient may change."""
    for call, _ in operator_calls(module):
        row = OPERATORS.get(call.op.name)
        places = range(len(call.args)) if call.op.name == "relax.grad.no_grad" else row.without_gradient if row else ()
        if any(place < len(call.args) and isinstance(call.args[place], relax.Var) for place in places):
            return True
    return False


def _of_function(module: IRModule, function: str, arguments: Sequence[Argument]) -> Verdict:
    """The verdict on an adjoint: at inputs that are moved, or at the given ones if that one says nothing."""
    given = [a for a in arguments if isinstance(a, np.ndarray) and a.dtype.name in ("float32", "float64")]
    if len(given) < len(arguments):
        return Skipped("gradient: not all inputs are floats of 32 or 64 bits")
    verdict: Verdict = Inconclusive(NO_DERIVATIVE)
    for moved in (True, False):
        try:
            verdict = _at(module, function, [shifted(a) if moved else a for a in given], moved)
        except (Trap, Unsupported):
            verdict = Skipped("gradient: the reference has no result near the inputs")
        if isinstance(verdict, Passed | Failed):
            break
    return verdict


def _at(module: IRModule, function: str, arguments: Sequence[Array], moved: bool) -> Verdict:
    inputs = tuple(one for one in map(from_argument, arguments) if isinstance(one, Tensor))
    result = unrounded(module, function, inputs)
    whole = unrounded(module, function + SUFFIX, inputs)
    given = whole[1] if isinstance(whole, tuple) and len(whole) == 2 else ()
    gradients = tuple(one for one in _fields(given) if isinstance(one, Tensor))
    point = _Point(module, function, inputs, moved, tuple(_fields(result)), isinstance(result, tuple), gradients)
    if not gradients or len(gradients) < len(_fields(given)) or not point.scalars:
        return Skipped(OTHER_FORM)
    everywhere = [_Element(k, index) for k, g in enumerate(gradients) for index in np.ndindex(g.shape)]
    fits = {(way, at): fit for way in point.ways() for at, fit in _fits(point, way, everywhere).items()}
    if not fits:
        return Skipped(OTHER_FORM)
    if Fit.RIGHT in fits.values():
        return PASSED
    return Inconclusive(NO_DERIVATIVE) if Fit.UNKNOWN in fits.values() else _told(point, *next(iter(fits)), everywhere)


def _fits(point: _Point, way: tuple[int, ...], elements: Sequence[_Element]) -> dict[int, Fit]:
    """Whether the gradients fit each of the scalars in a direction of these elements."""
    along = point.direction(elements)
    given, size = point.by_gradients(along)
    return {at: s.fit(given, size) for at, s in zip(point.scalars, point.slopes(way, along), strict=True)}


def _told(point: _Point, way: tuple[int, ...], result: int, elements: list[_Element]) -> Verdict:
    """The failure at one element, which halves of the direction lead to."""
    while len(elements) > 1:
        half = len(elements) // 2
        parts = (elements[:half], elements[half:])
        wrong = [part for part in parts if _fits(point, way, part)[result] is Fit.WRONG]
        if not wrong:
            return Inconclusive(NO_DERIVATIVE)
        elements = wrong[0]
    (one,) = elements
    gradient, _ = point.by_gradients(point.direction(elements))
    slope = point.slopes(way, point.direction(elements))[point.scalars.index(result)]
    if abs(gradient - slope.value) <= TOLD * max(abs(gradient), abs(slope.value)):
        return Inconclusive(NO_DERIVATIVE)
    place = result if point.fields else None
    evidence = WrongGradient(point.function, way[one.gradient], one.index, one.gradient, place, point.moved)
    message = f"the gradient by element {list(one.index)} of parameter {way[one.gradient]} is {gradient:.6g}"
    return Failed(WRONG_GRADIENT, f"{message}, not {slope.value:.6g}", evidence=evidence)


def _is_scalar(result: Runtime) -> TypeGuard[Tensor]:
    return isinstance(result, Tensor) and result.shape == () and is_float(result.dtype)


def _alike(one: Tensor, other: Tensor) -> bool:
    return (one.shape, one.dtype) == (other.shape, other.dtype)


def _fields(value: Runtime) -> list[Runtime]:
    return list(value) if isinstance(value, tuple) else [value]


ORACLE = StepOracle(
    "gradient",
    "the adjoint that a pass adds to a function is its derivative",
    judge,
    stage=Stage.RESULT,
    needs_numbers=True,
)
