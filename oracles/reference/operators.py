"""Applies a row of the operator table to runtime values: carriers in, Tensors out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from generators.case import Shape
from generators.dtypes import Array, is_float
from generators.operators.row import Attributes, AttributeValue, Operator, Rounding
from generators.tvm_api import HELD_SCALARS, DataType, Expr, Node
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.errors_of_result import bounded_result
from oracles.reference.layouts import is_split, on_split
from oracles.reference.sampling import Sampling
from oracles.reference.values import Runtime, Tensor, flattened, round_to
from oracles.reference.work import Carrier, Evaluate, Result, listed

_NEVER_ROUNDS = (Rounding.MOVE, Rounding.EXACT)


def operator_result(
    row: Operator,
    call: Expr,
    arguments: list[Runtime],
    bounded: bool,
    floor: str | None = None,
    sampling: Sampling | None = None,
) -> Runtime:
    """The result of one operator call; with `bounded`, as accurate as an implementation in dtype `floor` may be, with
    bounds that `sampling` sharpens.

    Raises Trap("operand") where NumPy finds the operands impossible (shapes): the annotations of a well-formed program
    rule that out; and Trap("domain") where their values are not what the operator is documented for.
    """
    _in_domain(row, arguments)
    attributes = {name: plain(getattr(call.attrs, name)) for name in row.attributes}
    if row.numbers:
        arguments, attributes = _rounded_numbers(row, arguments, attributes)
    meaning, terms_of = row.meaning, row.terms
    if is_split(attributes):
        meaning = on_split(meaning, attributes)
        terms_of = terms_of and on_split(terms_of, attributes)
    leaves = flattened(tuple(arguments))
    dtype_of = _dtype_rule(row, leaves, attributes)

    def evaluate(carriers: Sequence[Carrier]) -> Result:
        feed = iter(carriers)
        return meaning(*[_refilled(a, feed) for a in arguments], **attributes)

    feed = (leaf.value if isinstance(leaf, Tensor) else leaf for leaf in leaves)
    try:
        if bounded:
            terms = terms_of(*[_refilled(a, feed) for a in arguments], **attributes) if terms_of else None
            return _owned(_bounded(row, leaves, evaluate, dtype_of, terms, floor, sampling), leaves)
        result = evaluate([leaf.value if isinstance(leaf, Tensor) else leaf for leaf in leaves])
    except ZeroDivisionError as error:
        raise Trap("division-by-zero", row.name) from error
    except (ValueError, IndexError, OverflowError) as error:
        raise Trap("operand", f"{row.name}: {error}") from error
    return _owned(_wrapped(row, result, dtype_of), leaves)


def _owned(result: Runtime, leaves: list[Runtime]) -> Runtime:
    """The result with arrays of its own. NumPy gives a view, or the operand itself, where an operator of TVM fills a
    new tensor (flip, permute_dims, broadcast_to): what a PrimFunc then writes to one would show in the other."""
    if isinstance(result, tuple):
        return tuple(_owned(field, leaves) for field in result)
    if not isinstance(result, Tensor):
        return result
    shared = any(isinstance(leaf, Tensor) and leaf.value is result.value for leaf in leaves)
    if not shared and result.value.base is None:
        return result
    return replace(result, value=result.value.copy())


def _rounded_numbers(
    row: Operator, arguments: list[Runtime], attributes: dict[str, AttributeValue]
) -> tuple[list[Runtime], dict[str, AttributeValue]]:
    """Both with the numbers that TVM rounds to the dtype of the first operand, whatever its elements are carried in."""
    first = arguments[0]
    if not isinstance(first, Tensor) or not is_float(first.dtype):
        return arguments, attributes

    def rounded(value: Any) -> Any:
        return float(round_to(np.asarray(value, np.float64), first.dtype)) if isinstance(value, float) else value

    given = [rounded(value) if place in row.numbers else value for place, value in enumerate(arguments)]
    return given, {name: rounded(value) if name in row.numbers else value for name, value in attributes.items()}


def _in_domain(row: Operator, arguments: Sequence[Runtime]) -> None:
    for place, domain in row.domains:
        operand = arguments[place] if place < len(arguments) else None
        if isinstance(operand, Tensor) and domain.holds is not None and not domain.holds(operand.value):
            raise Trap("domain", f"{row.name}: operand {place} is not {domain.words}")


def plain(value: Node | bool | float | str | None) -> AttributeValue:
    """An attribute of TVM as a plain Python value."""
    if type(value) is DataType and not str(value):  # before 0.26, an element type that is not given
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if type(value).__name__ in ("Array", "List") or isinstance(value, (list, tuple)):
        return tuple(plain(v) for v in value)
    if type(value) in HELD_SCALARS:
        return plain(value.value)
    if type(value).__name__ in ("IntImm", "FloatImm", "StringImm"):
        return value.value
    if hasattr(value, "dtype") and type(value).__name__ == "PrimType":
        return str(value.dtype)
    return value if hasattr(value, "__tvm_ffi_type_info__") else str(value)


def _refilled(argument: Runtime, feed: Iterator[Carrier]) -> Carrier | tuple[Carrier, ...]:
    """The argument with its leaves replaced by the next carriers; shapes as tuples of int."""
    if isinstance(argument, tuple):
        return tuple(_refilled(a, feed) for a in argument)
    carrier = next(feed)
    return carrier.extents if isinstance(carrier, Shape) else carrier


def _dtype_rule(row: Operator, leaves: list[Runtime], attributes: Attributes) -> Callable[[Array], str]:
    operands = [leaf.dtype if isinstance(leaf, Tensor) and is_float(leaf.dtype) else None for leaf in leaves]

    def dtype_of(result: Array) -> str:
        if result.dtype.kind != "f":
            return str(result.dtype.name)
        if row.dtype_of is not None:
            return row.dtype_of(operands, attributes)
        for name in ("dtype", "out_dtype"):
            asked = attributes.get(name)
            if asked and is_float(str(asked)):
                return str(asked)
        return next((d for d in operands if d is not None), "float32")

    return dtype_of


def _wrapped(row: Operator, result: Result, dtype_of: Callable[[Array], str]) -> Runtime:
    """Arrays as Tensors rounded to their dtype; a tuple of ints is a shape; scalars stay."""
    if isinstance(result, (tuple, list)):
        if all(isinstance(r, (int, np.integer)) for r in result):
            return Shape(tuple(int(r) for r in result))
        return tuple(_wrapped(row, r, dtype_of) for r in result)
    if isinstance(result, (bool, int, float, str)) and not isinstance(result, np.generic):
        return result
    array = np.asarray(result)
    dtype = dtype_of(array)
    if is_float(dtype) and row.rounding not in _NEVER_ROUNDS:
        array = round_to(array, dtype)
    return Tensor(array, dtype)


def _bounded(
    row: Operator,
    leaves: list[Runtime],
    evaluate: Evaluate,
    dtype_of: Callable[[Array], str],
    terms: float | None,
    floor: str | None,
    sampling: Sampling | None,
) -> Runtime:
    first = evaluate([leaf.value if isinstance(leaf, Tensor) else leaf for leaf in leaves])
    if not _holds_arrays(first):
        if row.sized_by_values and any(isinstance(leaf, Tensor) and leaf.error is not None for leaf in leaves):
            raise Unsupported(f"{row.name} of undecided values")
        return _wrapped(row, first, dtype_of)

    def bounded(operands: Sequence[Runtime], **how: bool) -> list[Tensor]:
        return bounded_result(row, operands, first, evaluate, dtype_of, terms, floor, **how)

    if sampling is not None and sampling.absent:
        tensors = bounded(leaves, rounds=False)
    elif sampling is None or row.unjudged:
        tensors = bounded(leaves)
    else:
        likely = partial(bounded, likely=True)
        tensors = sampling.sharpened(leaves, bounded, lambda carriers: listed(evaluate(carriers)), likely)
    return tuple(tensors) if isinstance(first, (tuple, list)) else tensors[0]


def _holds_arrays(result: Result) -> bool:
    if isinstance(result, (tuple, list)):
        return bool(result) and all(isinstance(r, (np.ndarray, np.generic)) for r in result)
    return isinstance(result, (np.ndarray, np.generic))
