"""Kinds are told apart by their fields; their words are those of the registry."""

from __future__ import annotations

from dataclasses import replace

import pytest

from oracles.ir.kinds import Altered, IRKind, Piece, nodes, sorted_kinds, words_of

BY_NAME = {Piece.NODE, Piece.OPERATOR, Piece.FAMILY, Piece.TOGETHER}
"""Pieces that are nothing but their name."""
WORDS = {
    IRKind(Piece.ELEMENTWISE): "an elementwise operator",
    IRKind(Piece.ELEMENTWISE, "2"): "an elementwise operator of 2",
    IRKind(Piece.CALL_OF_FUNCTION): "a call of a function",
    IRKind(Piece.CALL_OF_FUNCTION, "a loaded number"): "a call of a function with a loaded number",
    IRKind(Piece.IN_PLACE_OF, "subtract", "add"): "subtract in place of add",
    IRKind(Piece.MARK, "reduce_scope"): "AttrStmt reduce_scope",
    IRKind(Piece.TYPED, "NE", "int"): "NE on int",
    IRKind(Piece.NODE, "For", altered=Altered.EXTENT): "For with another extent",
    IRKind(Piece.OPERATOR, "exp", aside=" on float16"): "exp on float16",
    IRKind(Piece.VARIABLE): "a variable",
}


@pytest.mark.parametrize("kind", WORDS, ids=WORDS.__getitem__)
def test_the_words_of_a_kind(kind: IRKind) -> None:
    assert str(kind) == WORDS[kind]


def test_no_two_pieces_have_the_same_words() -> None:
    pieces = [piece for piece in Piece if piece not in BY_NAME]
    words = {str(IRKind(piece, "name", "of")) for piece in pieces}
    assert len(words) == len(pieces) and not words & {"", "name"}
    assert {str(IRKind(piece, "name")) for piece in BY_NAME} == {"name"}


def test_what_a_kind_is_does_not_follow_from_its_words() -> None:
    mark, node = IRKind(Piece.MARK, "x"), IRKind(Piece.NODE, "AttrStmt x")
    assert str(mark) == str(node) and mark != node and words_of([mark, node]) == ("AttrStmt x",)


def test_kinds_are_in_the_order_of_their_words() -> None:
    kinds = {*nodes("Div", "Add"), IRKind(Piece.CAST, "int"), replace(IRKind(Piece.NODE, "Add"), altered=Altered.TYPE)}
    assert (
        tuple(map(str, sorted_kinds(kinds)))
        == words_of(kinds)
        == ("Add", "Add with another type", "Cast to int", "Div")
    )
