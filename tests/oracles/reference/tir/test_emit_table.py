"""The table of the code generator has one function for each kind of node."""

from __future__ import annotations

from typing import get_args

import pytest

from oracles.reference.errors import Unsupported
from oracles.reference.tir import nodes
from oracles.reference.tir.dependence import Dependence
from oracles.reference.tir.emit.state import Buffers, EmitState
from oracles.reference.tir.emit.table import TABLES, joined
from oracles.reference.tir.intervals import Bounds

LOWERED = {nodes.Allreduce}
"""Statements that `threads_to_loops.py` turns into others."""


def test_every_kind_of_expression_has_code() -> None:
    assert TABLES.expressions.keys() == set(get_args(nodes.Expr))


def test_every_kind_of_statement_has_code_but_those_that_are_lowered_before() -> None:
    assert TABLES.statements.keys() == set(get_args(nodes.Stmt)) - LOWERED


def test_a_statement_without_code_is_unsupported_by_name() -> None:
    bounds = Bounds()
    state = EmitState("main", TABLES, bounds, Dependence(bounds), Buffers())
    never = nodes.Const(False, nodes.BOOL)
    with pytest.raises(Unsupported, match="Allreduce"):
        state.stmt(nodes.Allreduce((), (), (), (), (), never, (), ()))


def test_two_functions_for_one_kind_of_node_are_refused() -> None:
    family = {nodes.Store: lambda state, node: None}
    with pytest.raises(ValueError, match="two functions emit Store"):
        joined((family, family))
