"""Compares an actual result with the reference's bounded one, element by element. No fixed tolerance."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from generators.case import Shape
from generators.dtypes import Array, is_float
from oracles.evidence import AnotherForm, FormKind, NotANumber
from oracles.reference.values import Runtime, Tensor, flattened, round_to
from oracles.tolerance import Tolerance


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference: what kind, a sentence with the element, both values and the bound. evidence: None for a
    plain value."""

    kind: str
    sentence: str
    evidence: NotANumber | AnotherForm | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """No difference. undecided: the share of elements whose bound is infinite (1.0: nothing could be said).

    widths: per output, 0 where the bounds decide; else how many times as wide as its values they are, in the median of
    the elements where they are wider (see `width`).
    """

    undecided: float
    widths: tuple[float, ...] = ()


def compare(expected: Runtime, actual: Runtime, widths: tuple[float, ...] | None = None) -> Difference | Agreement:
    """Whether `actual` is a faithful result, given the reference's `expected` with bounds.

    NaN compares as a class; elements with an infinite bound say nothing; where the bound is zero the
    values must agree exactly after rounding to the dtype. widths: those of `expected`, where they are known.
    """
    wanted, given = flattened(expected), flattened(actual)
    if len(wanted) != len(given):
        return _form("structure", f"{len(given)} outputs instead of {len(wanted)}")
    undecided = total = 0
    for place, (want, got) in enumerate(zip(wanted, given, strict=True)):
        difference, unknown, count = _leaf(place, want, got)
        if difference is not None:
            return difference
        undecided += unknown
        total += count
    return Agreement(undecided / total if total else 0.0, widths_of(expected) if widths is None else widths)


def widths_of(expected: Runtime) -> tuple[float, ...]:
    """`width` of each output. It takes as long as a comparison."""
    return tuple(map(width, flattened(expected)))


def is_coarse(expected: Runtime) -> bool:
    """Whether the bounds of an output let pass what is off by COARSE of its values: such a bound is asked to be
    sharper, also where it decides."""
    return any(width(leaf, COARSE) > 0 for leaf in flattened(expected))


def width(want: Runtime, share: float = 1.0) -> float:
    """0 where the bounds of an output decide; else their median ratio to its values, of the elements that say nothing.

    An element says nothing where its bound is infinite, or wider than its value and than the median of the sizes of
    those that are not zero (few large values would hide many small ones in a mean). An output does not decide where
    most of its elements say nothing, or where each bound is wider than its own value: any value of that size would have
    passed, and zero as well. share: of the values that are meant, as much as a bound may be.
    """
    if not isinstance(want, Tensor) or want.error is None or not want.value.size:
        return 0.0
    if not is_float(want.dtype) and want.left_open.mean() > _MOST:
        return math.inf
    size = np.where(np.isfinite(want.value), share * np.abs(want.value), np.inf)
    finite = size[np.isfinite(size)]
    some = finite[finite > 0]
    scale = np.maximum(size, float(np.median(some)) if some.size else 0.0)
    silent = want.left_open | (want.error > scale)
    if not (silent.mean() > _MOST or bool(np.all(want.left_open | (want.error > size)))):
        return 0.0
    if not silent.any():
        silent = np.ones(want.shape, np.bool_)
    known = np.isfinite(want.error) & (scale > 0)
    return float(np.median(np.divide(want.error, scale, where=known, out=np.full(want.shape, np.inf))[silent]))


COARSE = 1 / 16
_MOST = 0.5
"""The share of an output's elements that may say nothing."""


def _form(what: FormKind, sentence: str) -> Difference:
    return Difference(what, sentence, AnotherForm(what))


def _leaf(place: int, want: Runtime, got: Runtime) -> tuple[Difference | None, int, int]:
    """The difference, if any, how many elements say nothing, and how many there are."""
    where = f"output {place}"
    if isinstance(want, Tensor):
        if not isinstance(got, Tensor):
            return _form("structure", f"{where} is {type(got).__name__}, not a tensor"), 0, 0
        return _tensors(where, want, got)
    if isinstance(want, (Shape, int, float, str)):
        if want == got:
            return None, 0, 0
        nan = NotANumber() if isinstance(got, float) and math.isnan(got) else None
        return Difference("value", f"{where} is {got}, not {want}", nan), 0, 0
    return None, 0, 0


def _tensors(where: str, want: Tensor, got: Tensor) -> tuple[Difference | None, int, int]:
    if want.dtype != got.dtype:
        return _form("dtype", f"{where} is {got.dtype}, not {want.dtype}"), 0, 0
    if want.shape != got.shape:
        return _form("shape", f"{where} has shape {list(got.shape)}, not {list(want.shape)}"), 0, 0
    good, unknown = matches(want, got.value)
    if good.all():
        return None, int(unknown.sum()), want.value.size
    index = tuple(int(i) for i in np.argwhere(~good)[0])
    bound = 0.0 if want.error is None else float(want.error[index])
    sentence = (
        f"{where}{list(index)} is {got.value[index]}, not {want.value[index]} within {bound:.3g} "
        f"({int((~good).sum())} of {good.size} elements, {want.dtype})"
    )
    nan = is_float(got.dtype) and bool(np.isnan(got.value[index]))
    return Difference("value", sentence, NotANumber() if nan else None), 0, 0


def matches(want: Tensor, got: Array) -> tuple[Array, Array]:
    """Masks: which elements are right or cannot be judged, and which of them cannot be judged."""
    unknown = want.left_open
    with np.errstate(invalid="ignore", over="ignore"):
        if not is_float(want.dtype):
            good = want.value == got
            if want.error is not None:
                good |= np.abs(want.value.astype(np.float64) - got.astype(np.float64)) <= want.error
            return good | unknown, unknown
        rounded = round_to(want.value, want.dtype)
        good = (rounded == got) | (np.isnan(rounded) & np.isnan(got))
        if want.error is not None:
            good |= np.abs(want.value - got) <= want.error
    return good | unknown, unknown


def within(result: Runtime, tolerance: Tolerance, unrounded: Runtime, declared: Runtime) -> Runtime:
    """A result with the user's tolerance for bounds; those of other than floats stay.

    unrounded: the same result where nothing rounds. What is infinite there is left open, and stays so. declared: the
    result in its declared precision. Where rounding alone leaves an element undecided (it decides which way a step
    goes), the tolerance is one around this number, which is what an implementation gives.
    """
    if isinstance(result, tuple) and isinstance(unrounded, tuple) and isinstance(declared, tuple):
        fields = zip(result, unrounded, declared, strict=True)
        return tuple(within(field, tolerance, open_, given) for field, open_, given in fields)
    if not isinstance(result, Tensor) or not is_float(result.dtype):
        return result
    if not isinstance(unrounded, Tensor) or not isinstance(declared, Tensor):
        return result
    value = result.value
    if declared.shape == value.shape:
        value = np.where(result.left_open, declared.value, value)
    own = np.where(unrounded.left_open, np.inf, tolerance.atol + tolerance.rtol * np.abs(value))
    return replace(result, value=value, error=np.where(np.isnan(own), 0.0, own))


def doubted(expected: Runtime, evaluated: Runtime) -> Runtime:
    """The expected result, with nothing to say of elements whose bound in `evaluated` is infinite."""
    if isinstance(expected, tuple) and isinstance(evaluated, tuple) and len(expected) == len(evaluated):
        return tuple(doubted(e, got) for e, got in zip(expected, evaluated, strict=True))
    if not isinstance(expected, Tensor) or not isinstance(evaluated, Tensor) or expected.shape != evaluated.shape:
        return expected
    if evaluated.error is None:
        return expected
    own = np.zeros(expected.shape) if expected.error is None else expected.error
    return replace(expected, error=np.where(evaluated.left_open, np.inf, own))


def same_bits(one: Runtime, other: Runtime) -> bool:
    """Whether two results are the same, bit for bit as far as values in float64 tell."""
    pairs = list(zip(flattened(one), flattened(other), strict=False))
    if len(flattened(one)) != len(flattened(other)):
        return False
    return all(
        isinstance(b, Tensor) and a.dtype == b.dtype and np.array_equal(a.value, b.value, equal_nan=is_float(a.dtype))
        if isinstance(a, Tensor)
        else a == b
        for a, b in pairs
    )


def widened(bounded: Runtime, result: Runtime) -> Runtime:
    """A result with twice the bound of the reference's: the most by which two faithful results may differ."""
    if isinstance(result, tuple) and isinstance(bounded, tuple) and len(result) == len(bounded):
        return tuple(widened(b, r) for b, r in zip(bounded, result, strict=True))
    if not isinstance(result, Tensor) or not isinstance(bounded, Tensor) or bounded.shape != result.shape:
        return result
    return replace(result, error=None if bounded.error is None else 2 * bounded.error)
