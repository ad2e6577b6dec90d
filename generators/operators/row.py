"""The rows of the operator table.

A row has all facts about an operator: how to draw a valid call (`draw`), what it means
in NumPy (`meaning`), and how its rounding behaves (`rounding`). The generator, the reference interpreter
and the error bounds all read this one row.

Carriers: `meaning` gets every float tensor as float64 (whatever its declared dtype), integer and bool
tensors in their own dtype, shape values as tuples of int, prim values as Python scalars, tuples as tuples,
absent optional arguments as None; and the attributes named in `attributes` as keyword arguments holding
plain Python values (None, bool, int, float, str, tuples). It returns float64 arrays for floats, arrays of
the exact result dtype for integers and bools; the interpreter rounds floats to `dtype_of` the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from generators.dtypes import Array, Scalar
from generators.operators.domain import Domain
from generators.operators.specials import MOVED, NONE, Specials
from generators.tvm_api import Node

if TYPE_CHECKING:
    from generators.relax.scope import Drawn, Scope


class Rounding(Enum):
    """How the error of an operator's float results follows from its operands (see oracles.reference.error_rules)."""

    MOVE = "move"
    """Moves, repeats, selects or negates elements and computes nothing: errors travel with the elements."""
    EXACT = "exact"
    """No float result depends on a float operand's value (shapes, creation, integer arithmetic)."""
    RING = "ring"
    """Sums and products only: exact while all numbers are integers and no partial sum leaves 2**p."""
    SMOOTH = "smooth"
    """Any other continuous function: bounded by perturbing the operands."""
    STEP = "step"
    """Elementwise and discontinuous (comparison, floor): near a step nothing can be said. Rows whose inner
    arithmetic rounds as well (floor_mod) say so by `ulps` above 0."""
    CAST = "cast"
    """Conversion of element types: exact operands round in the one right way, to integers it is a step."""
    ORDER = "order"
    """Depends on the order of elements along an axis (argmax, sort, topk): near-ties cannot be judged."""
    CHOSEN = "chosen"
    """Sums elements of the first float operand; which ones, the order of elements of the others says. Near-ties
    cannot be judged; where equal numbers are exact, the row says which one is chosen."""


AttributeValue: TypeAlias = "bool | int | float | str | tuple[AttributeValue, ...] | Node | None"
"""The value of an attribute as `Operator.meaning` gets it."""
Attributes: TypeAlias = Mapping[str, AttributeValue]


NumpyMeaning: TypeAlias = Callable[..., Array | Scalar | tuple[Any, ...]]
"""An operator in NumPy, see the module's docstring."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator of Relax.

    name: TVM's name ("relax.add"). draw: draws operands and attributes from a Scope and returns the
    un-normalised call with the range of its result; raises `Unavailable` where the scope cannot serve it.
    meaning: see the module's docstring. attributes: names of the attributes handed to `meaning`.
    numbers: those that TVM rounds to the dtype of its first operand: places among the arguments, names of attributes.
    rank: the rank that its first operand has to have; None where several will do, or that is not said.
    elementwise: output element i depends only on the broadcast operands' elements i.
    ulps: how many units in the last place one evaluation may be off, beyond reassociation.
    terms: how many terms one output element sums (None: estimated from the sizes).
    dtype_of: the float dtype of the result from the operands' dtypes (None for non-float operands) and the
    attributes; by default attribute `dtype` or `out_dtype` where set, else the first float operand's.
    judged: False for results that are not compared by value (uninitialised or random), with the reason.
    domains: what TVM documents of the values of operands, by their places among the arguments.
    sized_by_values: the shape of the result depends on what the operands hold, not on their shapes alone.
    weight: how often it is drawn against the others.
    family: the kind of operators that share TVM's functions with it, for causes; "" for none.
    without_gradient: the operands, by their places, by which TVM says that it has no gradient
    (python/tvm/relax/op/_op_gradient.py), although the result changes with them.
    own_specials: which special floats it has a meaning for; None for what its rounding says, see `specials`.
    """

    name: str
    draw: Callable[[Scope], Drawn]
    meaning: NumpyMeaning
    rounding: Rounding
    attributes: tuple[str, ...] = ()
    elementwise: bool = False
    ulps: float = 4.0
    terms: Callable[..., int] | None = None
    dtype_of: Callable[[Sequence[str | None], Attributes], str] | None = None
    unjudged: str | None = None
    sized_by_values: bool = False
    weight: int = 4
    domains: tuple[tuple[int, Domain], ...] = ()
    own_specials: Specials | None = None
    family: str = ""
    rank: int | None = None
    numbers: tuple[int | str, ...] = ()
    without_gradient: tuple[int, ...] = ()

    @property
    def specials(self) -> Specials:
        """Which special floats it has a meaning for: what computes nothing takes all, other operators none, unless the
        row says so."""
        if self.own_specials is not None:
            return self.own_specials
        return MOVED if self.rounding is Rounding.MOVE else NONE


@dataclass(frozen=True, slots=True)
class ExcludedOperator:
    """An operator of this TVM that is in no row, and why a TVM developer would agree."""

    name: str
    reason: str


def moving(
    name: str, draw: Callable[[Scope], Drawn], meaning: NumpyMeaning, attributes: tuple[str, ...] = (), weight: int = 4
) -> Operator:
    """A row for relax.<name>, which computes nothing."""
    return Operator(f"relax.{name}", draw, meaning, Rounding.MOVE, attributes, weight=weight)
