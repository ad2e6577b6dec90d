"""The adjoint that a pass adds to a function is its derivative.

relax.transform.Gradient adds an adjoint beside a function f (src/relax/transform/gradient.cc). It takes the parameters
of f, and gives the results of f and the gradients of one of them, a scalar, by parameters or by values on the way. The
variables of these say by what in their names. Along a direction gradients must give what
`oracles.reference.derivative` finds of f; where they do not, halves of the direction lead to one element that shows it.

Nothing is said next to a kink, where a gradient is one of many. So inputs are moved a little first, off whole numbers
and off each other. Nor is anything said of a function in which TVM has no gradient of something: by an operand
(`Operator.without_gradient`, `relax.grad.no_grad`), of a call that is no operator, of a cast to whole numbers, through
which it passes gradients as they are, or of what a user says the gradient of (`relax.call_tir_with_grad`). Which of
several scalar results is derived, the caller of the pass alone knows: one that fits is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np
from tvm import relax

from generators import tvm_api
from generators.case import Argument
from generators.dtypes import Array, is_float
from generators.operators.table import OPERATORS
from generators.tvm_api import IRModule, RelaxFunction
from oracles.evidence import WrongGradient
from oracles.ir.walk import bindings, relax_functions
from oracles.oracle import Stage, StepOracle
from oracles.reference.calling import direct
from oracles.reference.derivative import Fit, Slope, slopes, unrounded
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.outcome import NoMeaning
from oracles.reference.values import Runtime, Tensor, flattened, from_argument
from oracles.trace import Bench, Step
from oracles.verdict import PASSED, WRONG_GRADIENT, Failed, Inconclusive, Passed, Skipped, Verdict

SUFFIX, OUTPUT = "_adjoint", "_adjoint_out"
"""What the names of an adjoint and of the variables of its gradients end with (gradient.cc)."""
TOLD = 0.05
"""By how much of the larger one a gradient and a derivative by one element differ where that is told."""
SHOWN = 1e-3
"""The same as a part of the value of the function: a script shows it in float32."""
MOST = 4096
"""Elements by which gradients are looked at, evenly spread where there are more."""
NO_DERIVATIVE = "gradient: no derivative near the inputs, or too small a difference, as far as can be seen"
OTHER_FORM = "gradient: the adjoint does not give gradients by parameters of a scalar result"
CUT = "gradient: TVM has none of something in the function"


def shifted(array: Array, place: int) -> Array:
    """Inputs a little off: elements that were equal differ, also from those of other parameters, and none is a whole
    number or the half of one. place: of the parameter."""
    if array.dtype.kind != "f":
        return array
    off = (np.arange(array.size).reshape(array.shape) * 5 + place * 3) % 31 + 1
    return np.asarray(array + off.astype(array.dtype) / 64)


@dataclass(frozen=True, slots=True)
class _Element:
    """An element of a parameter: by which of the gradients, and which of its elements."""

    gradient: int
    index: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Point:
    """A function and its adjoint at some inputs. by: the parameter of each gradient. results: what the function gives
    there; fields: it gives a tuple of these. largest: value on the way to the gradients."""

    module: IRModule
    function: str
    inputs: tuple[Runtime, ...]
    moved: bool
    by: tuple[int, ...]
    results: tuple[Runtime, ...]
    fields: bool
    gradients: tuple[Tensor, ...]
    largest: float

    @property
    def scalars(self) -> list[int]:
        """Which results may be derived."""
        return [at for at, one in enumerate(self.results) if _is_scalar(one)]

    def elements(self) -> list[_Element]:
        """Those by which gradients are looked at."""
        each = (np.ndindex(g.shape) for g in self.gradients)
        step = -(-sum(g.value.size for g in self.gradients) // MOST) or 1
        every = ((k, index) for k, indices in enumerate(each) for index in indices)
        return [_Element(k, index) for number, (k, index) in enumerate(every) if number % step == 0]

    def direction(self, elements: Sequence[_Element]) -> list[Array]:
        """A change of these elements, for each gradient: one each where it is the only one, else any."""
        random = np.random.default_rng(0)
        change = [np.zeros(gradient.shape) for gradient in self.gradients]
        for one in elements:
            some = random.choice((-1, 1)) * random.uniform(0.5, 1)
            change[one.gradient][one.index] = some if len(elements) > 1 else 1.0
        return change

    def slopes(self, along: Sequence[Array]) -> list[Slope]:
        """How the scalars among the results change along a direction. Raises Trap and Unsupported."""

        def values(distance: float) -> Array:
            inputs = list(self.inputs)
            for place, change in zip(self.by, along, strict=True):
                old = inputs[place]
                assert isinstance(old, Tensor)  # as its gradient is
                inputs[place] = Tensor(old.value + distance * change, old.dtype)
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
    before, after = _functions(step.before), _functions(step.after)
    functions = sorted(name for name in before if name + SUFFIX in after.keys() - before.keys())
    if not functions:
        return Skipped("gradient: no adjoint is added", applies=False)
    if isinstance(bench.numbers.expected, NoMeaning):
        return Skipped(bench.numbers.expected.reason, stop=bench.numbers.expected.stop)
    if step.start.calling is not direct:
        return Skipped("gradient: the function is called in another way than at the start")
    calls = {call.function: call.arguments for call in reversed(bench.numbers.calls)}
    verdicts = [
        Skipped(CUT) if _is_cut(before[name]) else _of_function(step.after, name, calls[name])
        for name in functions
        if name in calls
    ]
    telling = sorted(verdicts, key=lambda verdict: (not isinstance(verdict, Failed), isinstance(verdict, Passed)))
    return telling[0] if telling else Skipped("gradient: the function is not called")


def _functions(module: IRModule) -> dict[str, RelaxFunction]:
    return {name.name_hint: function for name, function in relax_functions(module)}


def _is_cut(function: RelaxFunction) -> bool:
    """Whether TVM has no gradient of something that the function does."""
    return any(_has_no_gradient(bound.value) for bound in bindings(function))


def _has_no_gradient(value: tvm_api.Expr) -> bool:
    if not isinstance(value, tvm_api.Call):
        return isinstance(value, (relax.If, relax.Function))
    name = tvm_api.op_name(value)
    row = OPERATORS.get(name or "")
    if row is None:
        return name not in ("relax.grad.start_checkpoint", "relax.grad.end_checkpoint")
    if name == "relax.astype" and not is_float(tvm_api.dtype_name(tvm_api.type_of(value)) or ""):
        return True
    return any(place < len(value.args) and isinstance(value.args[place], relax.Var) for place in row.without_gradient)


def _by_parameters(module: IRModule, function: str) -> tuple[int, ...]:
    """The parameter of each gradient, by its name; () where one is by something else, or names say nothing."""
    functions = _functions(module)
    adjoint, given = functions[function + SUFFIX], functions[function]
    names = [str(param.name) for param in given.params]
    bound = {str(one.binding.var.name) for one in bindings(given)}
    result = adjoint.body.body
    if not isinstance(result, tvm_api.TupleExpr) or len(result.fields) != 2:
        return ()
    gradients = result.fields[1]
    fields = gradients.fields if isinstance(gradients, tvm_api.TupleExpr) else [gradients]
    said = [str(field.name).removesuffix(OUTPUT) if isinstance(field, relax.Var) else "" for field in fields]
    if bound & {*said} or any(names.count(name) != 1 for name in said):
        return ()
    return tuple(names.index(name) for name in said)


def _of_function(module: IRModule, function: str, arguments: Sequence[Argument]) -> Verdict:
    """The verdict on an adjoint: at inputs that are moved, or at the given ones if nothing can be said there."""
    by = _by_parameters(module, function)
    if not by:
        return Skipped(OTHER_FORM)
    given = [one for one in arguments if isinstance(one, np.ndarray)]
    if len(given) < len(arguments) or any(_is_narrow(one) for one in given):
        return Skipped("gradient: not all inputs are arrays without floats of 16 bits")
    verdict: Verdict = Inconclusive(NO_DERIVATIVE)
    for moved in (True, False):
        inputs = [shifted(one, place) if moved else one for place, one in enumerate(given)]
        try:
            verdict = _at(module, function, by, inputs, moved)
        except (Trap, Unsupported):
            verdict = Skipped("gradient: the reference has no result near the inputs")
        if isinstance(verdict, Passed | Failed):
            break
    return verdict


def _is_narrow(array: Array) -> bool:
    return is_float(array.dtype.name) and array.dtype.name not in ("float32", "float64")


def _at(module: IRModule, function: str, by: tuple[int, ...], arguments: Sequence[Array], moved: bool) -> Verdict:
    inputs = tuple(map(from_argument, arguments))
    result = unrounded(module, function, inputs)
    met: list[float] = [0.0]
    whole = unrounded(module, function + SUFFIX, inputs, lambda value: met.append(_magnitude(value)))
    given = whole[1] if isinstance(whole, tuple) and len(whole) == 2 else ()
    gradients = tuple(one for one in _fields(given) if isinstance(one, Tensor))
    results = tuple(_fields(result))
    point = _Point(module, function, inputs, moved, by, results, isinstance(result, tuple), gradients, max(met))
    if len(gradients) != len(by) or not point.scalars:
        return Skipped(OTHER_FORM)
    everywhere = point.elements()
    fits = _fits(point, everywhere)
    if Fit.RIGHT in fits.values():
        return PASSED
    return Inconclusive(NO_DERIVATIVE) if Fit.UNKNOWN in fits.values() else _told(point, next(iter(fits)), everywhere)


def _magnitude(value: Runtime) -> float:
    floats = [np.asarray(one.value) for one in flattened(value) if _is_float(one)]
    sizes = [np.abs(one[np.isfinite(one)]) for one in floats]
    return max((float(size.max()) for size in sizes if size.size), default=0.0)


def _fits(point: _Point, elements: Sequence[_Element]) -> dict[int, Fit]:
    """Whether the gradients fit each of the scalars in a direction of these elements."""
    along = point.direction(elements)
    given, size = point.by_gradients(along)
    return {at: s.fit(given, size, point.largest) for at, s in zip(point.scalars, point.slopes(along), strict=True)}


def _told(point: _Point, result: int, elements: list[_Element]) -> Verdict:
    """The failure at one element, which halves of the direction lead to."""
    while len(elements) > 1:
        half = len(elements) // 2
        parts = (elements[:half], elements[half:])
        wrong = [part for part in parts if _fits(point, part)[result] is Fit.WRONG]
        if not wrong:
            return Inconclusive(NO_DERIVATIVE)
        elements = wrong[0]
    (one,) = elements
    along = point.direction(elements)
    gradient, _ = point.by_gradients(along)
    slope = point.slopes(along)[point.scalars.index(result)]
    least = max(TOLD * max(abs(gradient), abs(slope.value)), SHOWN * max(abs(slope.at), 1.0))
    if slope.fit(gradient, 0.0, point.largest) is not Fit.WRONG or abs(gradient - slope.value) <= least:
        return Inconclusive(NO_DERIVATIVE)
    parameter, place = point.by[one.gradient], result if point.fields else None
    evidence = WrongGradient(point.function, parameter, one.index, one.gradient, place, point.moved)
    message = f"the gradient by element {list(one.index)} of parameter {parameter} is {gradient:.6g}"
    return Failed(WRONG_GRADIENT, f"{message}, not {slope.value:.6g}", evidence=evidence)


def _is_float(value: Runtime) -> TypeGuard[Tensor]:
    return isinstance(value, Tensor) and is_float(value.dtype)


def _is_scalar(result: Runtime) -> TypeGuard[Tensor]:
    return _is_float(result) and result.shape == ()


def _fields(value: Runtime) -> list[Runtime]:
    return list(value) if isinstance(value, tuple) else [value]


ORACLE = StepOracle(
    "gradient",
    "the adjoint that a pass adds to a function is its derivative",
    judge,
    stage=Stage.RESULT,
    needs_numbers=True,
)
