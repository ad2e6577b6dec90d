"""T.undef(): what it is stored to is uninitialised, and may be stored anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tvm import tirx

from oracles.reference.tir import Trap, run_prim_func


def stored(*statements: Any, buffer: Any) -> Any:
    return tirx.PrimFunc([buffer], tirx.SeqStmt(list(statements)))


def numbers(count: int) -> Any:
    return tirx.decl_buffer((count,), "int32", "A", layout=None)


def undef() -> Any:
    return tirx.call_intrin("int32", "tirx.undef")


def at(index: int) -> list[Any]:
    return [tirx.IntImm("int32", index)]


def test_an_element_that_is_stored_anew_has_its_number() -> None:
    a, name = numbers(2), tirx.Var("u", "int32")
    function = stored(
        tirx.BufferStore(a, undef(), at(0)),
        tirx.Bind(name, tirx.Add(undef(), tirx.BufferLoad(a, at(1)))),
        tirx.BufferStore(a, name, at(0)),
        tirx.BufferStore(a, tirx.IntImm("int32", 5), at(0)),
        buffer=a,
    )
    memory = np.array([1, 2], "int32")
    run_prim_func(function, [memory])
    np.testing.assert_array_equal(memory, [5, 2])


@pytest.mark.parametrize("named", [False, True])
def test_an_element_that_is_read_traps(named: bool) -> None:
    a, name = numbers(2), tirx.Var("u", "int32")
    value = [tirx.Bind(name, undef())] if named else []
    function = stored(
        *value,
        tirx.BufferStore(a, name if named else undef(), at(0)),
        tirx.BufferStore(a, tirx.BufferLoad(a, at(0)), at(1)),
        buffer=a,
    )
    with pytest.raises(Trap, match="uninitialised"):
        run_prim_func(function, [np.array([1, 2], "int32")])


def test_other_elements_stay() -> None:
    a = numbers(2)
    function = stored(
        tirx.BufferStore(a, undef(), at(0)), tirx.BufferStore(a, tirx.BufferLoad(a, at(1)), at(0)), buffer=a
    )
    memory = np.array([1, 2], "int32")
    run_prim_func(function, [memory])
    np.testing.assert_array_equal(memory, [2, 2])
