"""Recipes of several results, alike functions, siblings, filled operands and compound dims: what they plant is there
within a few seeds, in each of its forms."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import pytest
from tvm import relax, tirx

from generators import tvm_api
from generators.passes.vocabulary import SHAPES
from generators.program import Program
from generators.recipes.table import RECIPES
from generators.relax.relax_program import draw_program
from generators.source import SeededSource
from tests.generators.recipe_predicates import bindings_of, operators, private_functions, values_of

SEEDS = 40


@cache
def drawn(name: str) -> tuple[Program, ...]:
    return tuple(draw_program(SeededSource(17, seed), patterns=[RECIPES[name]]) for seed in range(SEEDS))


def dims_of(expr: Any) -> list[str] | None:
    shape = tvm_api.type_of(expr).shape
    return [str(dim) for dim in shape.values] if isinstance(shape, relax.ShapeExpr) else None


def reads(program: Program, calls: Iterable[Any]) -> dict[Any, list[tuple[int, ...]]]:
    """By what is called: the fields of its results that each of these calls' results is read at, in order."""
    bindings = bindings_of(program)
    wanted = {b.var: (b.value.op if isinstance(b.value.op, relax.GlobalVar) else b.value.args[0]) for b in calls}
    places: dict[Any, list[int]] = {var: [] for var in wanted}
    for binding in bindings:
        value = binding.value
        if isinstance(value, relax.TupleGetItem) and value.tuple_value in places:
            places[value.tuple_value].append(value.index)
    found: dict[Any, list[tuple[int, ...]]] = defaultdict(list)
    for var, callee in wanted.items():
        found[callee].append(tuple(places[var]))
    return found


def calls_with_results(program: Program, least: int) -> list[Any]:
    """Bindings of calls of functions and of PrimFuncs whose result is a tuple of so many fields."""
    return [
        b
        for b in bindings_of(program)
        if isinstance(b.value, tvm_api.Call)
        and (isinstance(b.value.op, relax.GlobalVar) or tvm_api.op_name(b.value) == "relax.call_tir")
        and isinstance(b.var.ty, tvm_api.TupleType)
        and len(b.var.ty.fields) >= least
    ]


def test_callers_read_some_results_of_a_function_in_any_order() -> None:
    rising = falling = others = 0
    for program in drawn("private_unused_outputs"):
        for places in reads(program, calls_with_results(program, 3)).values():
            some = [one for one in places if len(one) > 1]
            rising += any(list(one) == sorted(one) for one in some)
            falling += any(list(one) != sorted(one) for one in some)
            others += len({frozenset(one) for one in places if one}) > 1
    assert min(rising, falling) >= 6 and others >= 15


def test_the_last_output_of_most_kernels_is_not_read() -> None:
    unread = of_three = 0
    for program in drawn("kernel_unused_outputs"):
        calls = [b for b in calls_with_results(program, 2) if tvm_api.op_name(b.value)]
        for binding in calls:
            last = len(binding.var.ty.fields) - 1
            (places,) = reads(program, [binding]).values()
            unread += bool(places[0]) and last not in places[0]
            of_three += last >= 2
    assert unread >= 20 and of_three >= 15


def operators_of(function: Any) -> list[str]:
    found: list[str] = []

    def visit(expr: Any) -> None:
        if isinstance(expr, tvm_api.Call):
            found.append(tvm_api.op_name(expr) or "")

    relax.analysis.post_order_visit(function.body, visit)
    return found


def test_copies_of_a_function_have_several_shapes_and_some_the_same_one() -> None:
    several = same = 0
    for program in drawn("private_copies"):
        by_body = defaultdict(list)
        for function in private_functions(program):
            by_body[str(operators_of(function))].append(str(tvm_api.type_of(function)))
        several += any(len(set(types)) > 1 for types in by_body.values())
        same += any(1 < len(types) > len(set(types)) for types in by_body.values())
    assert several >= 25 and same >= 6


def test_kernels_differ_in_one_thing_or_in_none() -> None:
    counts = {"shape": 0, "other": 0, "none": 0}
    for program in drawn("kernel_twins"):
        functions = [f for f in program.module.functions.values() if isinstance(f, tirx.PrimFunc)]
        twins = [f for f in functions if "scaled" in f.script()]
        assert len(twins) > 1 or not program.features & {"kernel_twins"}
        for other in twins[1:]:
            same_type = str(tvm_api.type_of(twins[0])) == str(tvm_api.type_of(other))
            equal = tvm_api.structural_equal(twins[0], other)
            counts["none" if equal else "other" if same_type else "shape"] += 1
    assert min(counts.values()) >= 5, counts


def test_siblings_share_an_operand_and_have_unequal_others() -> None:
    unequal = depending = 0
    places = {0: 0, 1: 0}
    for program in drawn("siblings"):
        products = [v for v in values_of(program) if tvm_api.op_name(v) in ("relax.matmul", "relax.nn.conv2d")]
        for place in places:
            shared = defaultdict(set)
            for product in products:
                shared[product.args[place]].add(str(dims_of(product.args[1 - place])))
            places[place] += any(len(others) > 1 for others in shared.values())
        unequal += len({str(dims_of(product)) for product in products}) > 1
        depending += operators(program)["relax.minimum"] > 0
    assert min(places.values()) >= 8 and unequal >= 35 and depending >= 2


CREATED = ("zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "broadcast_to")


def is_filled(expr: Any, made: dict[Any, Any]) -> bool:
    if isinstance(expr, tvm_api.Constant):
        array = tvm_api.constant_array(expr)
        return bool(array.ndim) and bool(np.all(array == array.flat[0]))
    return tvm_api.op_name(made.get(expr)) in {f"relax.{name}" for name in CREATED}


def test_a_filled_operand_decides_the_shape_of_many_results() -> None:
    decides = there = 0
    for program in drawn("filled_operands"):
        made = {b.var: b.value for b in bindings_of(program)}
        pairs = [(b.value.args, b.var) for b in bindings_of(program) if len(getattr(b.value, "args", ())) == 2]
        some = [
            (a, o, r)
            for (x, y), r in pairs
            for a, o in ((x, y), (y, x))
            if is_filled(a, made) and hasattr(o.ty, "shape")
        ]
        there += bool(some)
        decides += any(dims_of(other) != dims_of(result) for _, other, result in some)
    assert there >= 35 and decides >= 20


@pytest.mark.parametrize("name", ["compound_dims", "compound_dims_of_private"])
def test_parameters_have_dims_of_expressions(name: str) -> None:
    before = after = 0
    for program in drawn(name):
        for function in program.module.functions.values():
            if not isinstance(function, relax.Function):
                continue
            shapes = [
                p.ty.values if isinstance(p.ty, tvm_api.ShapeType) else getattr(p.ty, "shape", None)
                for p in function.params
            ]
            dims = [list(getattr(shape, "values", shape) or ()) for shape in shapes]
            compound = [i for i, one in enumerate(dims) if any(not isinstance(d, tirx.Var | tirx.IntImm) for d in one)]
            plain = [i for i, one in enumerate(dims) if any(isinstance(d, tirx.Var) for d in one)]
            before += any(i < j for i in plain[:1] for j in compound)
            after += any(j < i for i in plain[:1] for j in compound)
    assert min(before, after) >= 8


def test_what_names_the_nodes_gets_these_shapes() -> None:
    groups = {"kernel_unused_outputs", "private_copies", "kernel_twins", "siblings", "filled_operands", "compound_dims"}
    assert groups <= {recipe for recipes in SHAPES.values() for recipe in recipes} <= RECIPES.keys()
