"""The kinds by which the rewrites of passes are told: what each is of, and how a cause names it.

What is asked of a kind (is it in most modules, is it a mark, which operator is it) is asked of its fields; the words
are for the registry of known causes, whose texts they must equal letter by letter. No TVM is imported here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum


class Piece(Enum):
    """What of a program a kind is of. NODE: of a class of TVM's nodes without more to be told of it. The value is how
    causes name the piece, or one word where they say more."""

    NODE = "node"
    OPERATOR = "operator"
    FAMILY = "family"
    ELEMENTWISE = "elementwise"
    # of Relax
    VARIABLE = "a variable"
    CONSTANT = "a constant"
    TUPLE = "a tuple"
    ITEM = "an item of a tuple"
    IF = "an If"
    SHAPE = "a shape"
    LOCAL_FUNCTION = "a local function"
    CALL_OF_CLOSURE = "a call of a closure"
    CALL_OF_PACKED = "a call of a packed function"
    IN_PLACE_OF = "in-place-of"
    INTO = "into"
    RESULT = "the result"
    RELAX_FUNCTION = "a Relax function"
    BINDING_ORDER = "another order of bindings"
    SAME = "the same kinds"
    # of PrimFuncs
    MARK = "mark"
    CAST = "cast"
    TYPED = "typed"
    PREDICATED = "predicated"
    PARALLEL_LOOP = "parallel"
    CALL = "a call"
    MUL_BY_NEGATIVE = "Mul by a negative constant"
    DIVISION_BY_NEGATIVE = "a division by a negative constant"
    FROM_EXPRESSION = "a loop that begins at an expression"
    FROM_NUMBER = "a loop that begins at a number"
    STEPPED = "a loop with a step"
    REORDERED = "reordered"
    STATEMENT_ORDER = "another order of statements"
    # of both
    CALL_OF_FUNCTION = "called"
    TOGETHER = "together"


class Altered(Enum):
    """In what a kind differs that stands on both sides, as a cause says it."""

    ATTRIBUTES = "other attributes"
    TYPES = "other types"
    OPERANDS = "other operands"
    TYPE = "another type"
    OPERAND_ORDER = "operands in another order"
    CONSTANT = "another constant"
    VARIABLE = "another variable"
    EXTENT = "another extent"


@dataclass(frozen=True, slots=True)
class IRKind:
    """A kind of binding, statement or expression; its text is how causes name it.

    name: of the node, the operator (without "relax."), the family, the key of a mark, the class of element types that a
    cast gives, the kind of a loop; of an elementwise call the number of operands, "" for any; of a call of a function
    what is special of its arguments; of kinds TOGETHER or REORDERED their texts. of: the class of the element types of
    TYPED, what another operator stands IN_PLACE_OF. aside: what else of it matters.
    """

    piece: Piece
    name: str = ""
    of: str = ""
    altered: Altered | None = None
    aside: str = ""

    def __str__(self) -> str:
        return f"{self._words()}{f' with {self.altered.value}' if self.altered is not None else ''}{self.aside}"

    def _words(self) -> str:
        name, of = self.name, self.of
        with_name = {
            **dict.fromkeys((Piece.NODE, Piece.OPERATOR, Piece.FAMILY, Piece.TOGETHER), name),
            Piece.ELEMENTWISE: f"an elementwise operator{name and f' of {name}'}",
            Piece.CALL_OF_FUNCTION: f"a call of a function{name and f' with {name}'}",
            Piece.IN_PLACE_OF: f"{name} in place of {of}",
            Piece.INTO: f"call_tir_inplace into {name}",
            Piece.MARK: f"AttrStmt {name}",
            Piece.CAST: f"Cast to {name}",
            Piece.TYPED: f"{name} on {of}",
            Piece.PREDICATED: f"{name} with a predicate",
            Piece.PARALLEL_LOOP: f"{name} For",
            Piece.REORDERED: f"{name} in another order",
        }
        return with_name.get(self.piece, str(self.piece.value))


ELEMENTWISE = IRKind(Piece.ELEMENTWISE)
"""The kind of elementwise operators, whatever the number of their operands."""
CONSTANT = IRKind(Piece.CONSTANT)
CALL_TIR = IRKind(Piece.OPERATOR, "call_tir")
DIVIDES_BY_NEGATIVE = IRKind(Piece.DIVISION_BY_NEGATIVE)
"""What TVM makes of an index: where it comes, goes or is rewritten, the rest of the index does not count. Which of
these it is depends on the other constants."""


def nodes(*names: str) -> frozenset[IRKind]:
    """The kinds of nodes of these classes."""
    return frozenset(IRKind(Piece.NODE, name) for name in names)


_COMPARISONS = frozenset({"EQ", "NE", "LT", "LE", "GT", "GE"})


def of_any_comparison(kinds: tuple[IRKind, ...]) -> tuple[IRKind, ...]:
    """The kinds with one for all comparisons of a class: what makes the operands of one ill-typed does so to others."""
    of_any = {kind: replace(kind, name="a comparison") for kind in kinds if kind.name in _COMPARISONS}
    return tuple(dict.fromkeys(of_any.get(kind, kind) for kind in kinds))


def sorted_kinds(kinds: Iterable[IRKind]) -> tuple[IRKind, ...]:
    """Sorted as causes name them."""
    return tuple(sorted(kinds, key=str))


def words_of(kinds: Iterable[IRKind]) -> tuple[str, ...]:
    """What causes say of kinds, sorted."""
    return tuple(sorted({str(kind) for kind in kinds}))
