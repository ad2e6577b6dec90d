"""Products that are transposed, comparisons that wrap, one_hot of indices that are no places, and updates in place:
what they plant is there within a few seeds, in each of its forms, and is judged."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from functools import cache
from typing import Any

import numpy as np
import tvm
from tvm import relax

from generators import tvm_api
from generators.program import Program
from generators.recipes.table import RECIPES
from generators.relax.relax_program import draw_program
from generators.source import SeededSource
from oracles.reference.engine import Interpreter
from oracles.reference.errors import Trap
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import Wrong
from oracles.reference.values import Tensor
from tests.generators.recipe_predicates import bindings_of, values_of

SEEDS = 40


@cache
def drawn(name: str) -> tuple[Program, ...]:
    return tuple(draw_program(SeededSource(19, seed), patterns=[RECIPES[name]]) for seed in range(SEEDS))


def calls_of(program: Program, name: str) -> list[Any]:
    return [value for value in values_of(program) if tvm_api.op_name(value) == f"relax.{name}"]


def numbers(module: Any, program: Program) -> list[np.ndarray]:
    value = Interpreter(module).run(program.calls[0])
    fields = value if isinstance(value, tuple) else (value,)
    return [field.value for field in fields if isinstance(field, Tensor)]


def test_products_are_transposed_in_each_dtype_and_way() -> None:
    dtypes, forms, wider = set[str](), set[str](), 0
    for program in drawn("turned_products"):
        made = {b.var: tvm_api.op_name(b.value) for b in bindings_of(program)}
        for call in calls_of(program, "matmul"):
            dtypes.add(str(tvm_api.type_of(call.args[0]).dtype))
            sides = [made.get(a) == "relax.permute_dims" for a in call.args if isinstance(a, relax.Var)]
            forms.add(str(sides))
            wider += str(tvm_api.type_of(call).dtype) != str(tvm_api.type_of(call.args[0]).dtype)
        forms |= {"result" for call in calls_of(program, "permute_dims") if made.get(call.args[0]) == "relax.matmul"}
    assert {"result", "[True, True]", "[True, False]", "[False, True]"} <= forms
    assert {"int8", "uint8", "int16", "int32", "int64"} <= {dtype.rpartition(".")[2] for dtype in dtypes}
    assert wider >= 10


def test_what_is_compared_wraps() -> None:
    """Lowered, it is open what an integer that overflows is; at the level of operators it has a value."""
    overflowing = 0
    for program in drawn("wrapped_comparisons"):
        numbers(program.module, program)
        try:
            numbers(relax.transform.LegalizeOps()(program.module), program)
        except Trap as trap:
            overflowing += trap.kind == "integer-overflow"
    assert overflowing >= SEEDS // 3


def test_some_index_of_one_hot_is_no_place() -> None:
    """It has no place that is on: the smallest sum along the new axis is not the largest."""
    beyond = 0
    for program in drawn("one_hot_beyond"):
        for call in calls_of(program, "one_hot"):
            index = call.args[0]
            known = [b.value for b in bindings_of(program) if isinstance(index, relax.Var) and b.var.same_as(index)]
            constant = (known or [index])[0]
            given = dict(zip(program.module["main"].params, program.calls[0].arguments, strict=True))
            values = given.get(constant) if isinstance(constant, relax.Var) else tvm_api.constant_array(constant)
            if values is not None and np.size(values):
                beyond += bool((np.asarray(values) < 0).any() or (np.asarray(values) >= call.attrs.depth).any())
    assert beyond >= SEEDS // 3


def test_updates_in_place_mean_the_same_when_they_are_lowered() -> None:
    several = 0
    for program in drawn("in_place_updates"):
        several += len(calls_of(program, "call_tir_inplace")) > 1
        with tvm.target.Target("llvm"):
            lowered = relax.transform.CallTIRRewrite()(relax.transform.LegalizeOps()(program.module))
        assert not isinstance(Numbers(program.module, program.calls).judge_module(lowered), Wrong)
    assert several >= SEEDS // 4
