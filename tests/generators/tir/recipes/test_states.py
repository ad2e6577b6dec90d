"""States that go from turn to turn, sums that scale what they have, what remains of fills and copies, and branches in
branches: what is drawn has a meaning, and transformations that do not ask change it."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from collections.abc import Callable
from typing import Any

import pytest
import tvm_ffi
from tvm import tirx

from generators.tir.recipes import remains, rounds
from generators.tvm_api import TensorLoad
from tests.generators.tir.recipes.test_order_matters import (
    DRAWS,
    backwards,
    differ,
    drawn,
    merged,
    results,
    rewritten,
    substituted,
    taken,
)

NAMES = [recipe.name for recipe in (*rounds.RECIPES, *remains.RECIPES)]


def turned_round(loop: Any) -> Any:
    """The statements of a turn stand in reverse."""
    if not isinstance(loop.body, tirx.SeqStmt) or any(isinstance(one, tirx.Bind) for one in loop.body.seq):
        return loop
    return tirx.For(loop.loop_var, loop.min, loop.extent, loop.kind, tirx.SeqStmt([*loop.body.seq][::-1]))


def joined(branch: Any) -> Any:
    """A branch in a branch is one, whatever other sides there are."""
    inner = branch.then_case
    if not isinstance(inner, tirx.IfThenElse):
        return branch
    both = tirx.And(branch.condition, inner.condition)
    return tirx.IfThenElse(both, inner.then_case, inner.else_case or branch.else_case)


def first_dropped(sequence: Any) -> Any:
    """A loop that stores to a tensor is dropped where the next one stores to it as well."""
    kept = [
        one
        for one, following in zip(sequence.seq, [*sequence.seq[1:], None], strict=True)
        if not (isinstance(one, tirx.For) and stored_by(one) & stored_by(following))
    ]
    return tirx.SeqStmt(kept) if len(kept) > 1 else kept[0]


def stored_by(statement: Any) -> set[str]:
    found: set[str] = set()

    def see(store: Any) -> Any:
        found.add(str(store.buffer.name))
        return store

    if isinstance(statement, tirx.For):
        tvm_ffi.structural_map(statement, [(tirx.BufferStore, see)])
    return found


def one_for_both(sequence: Any) -> Any:
    """What reads a copy reads what was copied."""
    statements = list(sequence.seq)
    for place, one in enumerate(statements):
        copy = one.body if isinstance(one, tirx.For) else None
        if isinstance(copy, tirx.BufferStore) and isinstance(copy.value, TensorLoad):
            to, of = copy.buffer, copy.value.source

            def read(load: Any, to: Any = to, of: Any = of) -> Any:
                alike = load.source.same_as(to) and len(to.shape) == len(of.shape)
                return tirx.BufferLoad(of, load.indices) if alike else load

            after = [tvm_ffi.structural_map(later, [(TensorLoad, read)]) for later in statements[place + 1 :]]
            return tirx.SeqStmt([*statements[: place + 1], *after])
    return sequence


def reader_first(sequence: Any) -> Any:
    """A loop moves over the one before it, which stores to what it reads."""
    statements = list(sequence.seq)
    for place, (one, two) in enumerate(zip(statements, statements[1:], strict=False)):
        if isinstance(two, tirx.For) and stored_by(one) & read_by(two):
            statements[place : place + 2] = [two, one]
            return tirx.SeqStmt(statements)
    return sequence


def read_by(statement: Any) -> set[str]:
    found: set[str] = set()

    def see(load: Any) -> Any:
        found.add(str(load.source.name))
        return load

    tvm_ffi.structural_map(statement, [(TensorLoad, see)])
    return found


def outside(loop: Any) -> Any:
    """A condition that does not ask the variable of a loop is asked once, before it."""
    branch = loop.body
    if not isinstance(branch, tirx.IfThenElse) or branch.else_case is not None:
        return loop
    named = substituted(branch.condition, {loop.loop_var: tirx.IntImm(str(loop.loop_var.ty.dtype), 0)})
    if not tvm_ffi.structural_equal(named, branch.condition):
        return loop
    inner = tirx.For(loop.loop_var, loop.min, loop.extent, loop.kind, branch.then_case)
    return tirx.IfThenElse(branch.condition, inner, None)


@pytest.mark.parametrize(
    ("name", "kind", "change", "least"),
    [
        ("rounds", tirx.For, backwards, 12),
        ("remains", tirx.IfThenElse, taken, 12),
        ("loaded_for_the_next", tirx.For, turned_round, 20),
        ("exchanged_states", tirx.For, backwards, 20),
        ("last_seen", tirx.For, backwards, 15),
        ("rows_by_turns", tirx.For, backwards, 15),
        ("copied_back", tirx.SeqStmt, merged, 8),
        ("scaled_sums", tirx.For, backwards, 20),
        ("partly_covered", tirx.SeqStmt, first_dropped, 15),
        ("copies_kept", tirx.SeqStmt, one_for_both, 12),
        ("updates_in_place", tirx.SeqStmt, reader_first, 20),
        ("read_again", tirx.For, turned_round, 12),
        ("inner_branches", tirx.IfThenElse, joined, 8),
        ("asked_again", tirx.For, outside, 4),
    ],
    ids=lambda given: getattr(given, "__name__", str(given)),
)
def test_what_does_not_ask_changes_numbers(name: str, kind: type, change: Callable[[Any], Any], least: int) -> None:
    changed = 0
    for program in drawn(name):
        after = rewritten(program.module, (kind, change))
        if not tvm_ffi.structural_equal(after, program.module):
            changed += differ(results(program.module, program), after, program)
    assert changed >= least, changed


@pytest.mark.parametrize("name", NAMES)
def test_everything_that_is_drawn_has_a_meaning(name: str) -> None:
    assert len(drawn(name)) > DRAWS // 2
    for program in drawn(name):
        assert results(program.module, program)
