"""Operands of two types, which no constructor of TVM takes and a pass may leave behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import tirx

from oracles.reference.tir import Trap, run_prim_func

AT = [tirx.IntImm("int32", 0)]


def with_another_buffer(dtype: str, build: Callable[[Any, Any], Any]) -> Any:
    """A function that stores what `build` makes of loads of A and of B, both int16, in B; then A becomes a buffer of
    `dtype`, as where a pass puts one in place of the other."""
    a, b = (tirx.decl_buffer((2,), "int16", name, layout=None) for name in "AB")
    value = build(tirx.BufferLoad(a, AT), tirx.BufferLoad(b, AT))
    graph = json.loads(tvm.ir.save_json(tirx.PrimFunc([a, b], tirx.BufferStore(b, value, AT))))
    first = next(node for node in graph["nodes"] if node["type"] == "tirx.BufferType")
    graph["nodes"].append({"type": "ir.PrimType", "data": {"span": 0, "dtype": dtype}})
    first["data"]["dtype"] = len(graph["nodes"]) - 1
    return tvm.ir.load_json(json.dumps(graph))


def same(a: Any, b: Any) -> Any:
    return tirx.Select(tirx.LT(a, b), tirx.IntImm("int16", 1), tirx.IntImm("int16", 2))


@pytest.mark.parametrize("build", [tirx.Add, tirx.BitwiseAnd, same])
def test_a_float_beside_an_integer_traps(build: Callable[[Any, Any], Any]) -> None:
    function = with_another_buffer("float32", build)
    with pytest.raises(Trap, match="^type: prim_func: .* of float32 and int16"):
        run_prim_func(function, [np.ones(2, "float32"), np.ones(2, "int16")])


def test_buffers_of_one_type_do_not() -> None:
    stored = np.array([5, 0], "int16")
    run_prim_func(with_another_buffer("int16", tirx.Add), [np.array([2, 0], "int16"), stored])
    assert stored.tolist() == [7, 0]
