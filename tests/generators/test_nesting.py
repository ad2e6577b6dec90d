"""Nested in its own kind: tuples of tuples, in blocks and out of them, and conditions that branches read."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from tvm import relax
from tvm_ffi import structural_map

from generators import tvm_api
from generators.passes.loaded import rows_from_contracts
from generators.passes.vocabulary import with_vocabulary
from generators.program import Program
from generators.recipes.table import RECIPES, patterns_for
from generators.relax.relax_program import draw_program
from generators.source import SeededSource
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import Wrong
from tests.quick import one_in

SEEDS = 60
LOGICAL = ("relax.logical_and", "relax.logical_or", "relax.logical_not")


def programs(recipe: str | None, count: int = SEEDS) -> list[Program]:
    patterns = patterns_for([recipe] if recipe else [])
    return [draw_program(SeededSource(23, index), patterns=patterns) for index in range(count)]


def functions_of(program: Program) -> list[Any]:
    return [f for f in program.module.functions.values() if isinstance(f, relax.Function)]


def blocks_of(function: Any) -> list[Any]:
    found: list[Any] = []

    def visit(expr: Any) -> None:
        if isinstance(expr, relax.SeqExpr):
            found.extend(expr.blocks)

    relax.analysis.post_order_visit(function, visit)
    return found


def bound(function: Any) -> dict[Any, Any]:
    return {binding.var: binding.value for block in blocks_of(function) for binding in block.bindings}


def is_nested(ty: Any) -> bool:
    return isinstance(ty, tvm_api.TupleType) and any(isinstance(field, tvm_api.TupleType) for field in ty.fields)


def fields_of_fields(function: Any) -> list[tuple[Any, int, int]]:
    """(whole, i, j) of every whole[i][j] that is bound."""
    values = bound(function)
    items = [value for value in values.values() if isinstance(value, relax.TupleGetItem)]
    pairs = [(values.get(item.tuple_value), item) for item in items]
    return [
        (outer.tuple_value, outer.index, item.index) for outer, item in pairs if isinstance(outer, relax.TupleGetItem)
    ]


def takes_apart(program: Program) -> bool:
    return any(i != j for function in functions_of(program) for _, i, j in fields_of_fields(function))


def gives_nested_tuple_of_hidden_values(program: Program) -> bool:
    return any(nested_outputs(function) for function in functions_of(program))


def nested_outputs(function: Any) -> set[Any]:
    """Outputs of dataflow blocks that are tuples with a tuple of dataflow variables."""
    return {
        binding.var
        for block in blocks_of(function)
        if isinstance(block, relax.DataflowBlock)
        for binding in block.bindings
        if not isinstance(binding.var, relax.DataflowVar) and is_nested(tvm_api.type_of(binding.var))
        if any(isinstance(var, relax.DataflowVar) for var in relax.analysis.free_vars(binding.value))
    }


def branches_read_what_decides(program: Program) -> bool:
    return any(decided_ifs(function) for function in functions_of(program))


def decided_ifs(function: Any) -> list[Any]:
    """Ifs on a logical operator, both branches of which read one of its operands or of those operands' operands."""
    values = bound(function)
    found: list[Any] = []
    for value in values.values():
        if isinstance(value, relax.If) and tvm_api.op_name(values.get(value.cond)) in LOGICAL:
            truths = truths_in(value.cond, values)
            branches = (value.true_branch, value.false_branch)
            if all(truths & set(relax.analysis.free_vars(branch)) for branch in branches):
                found.append(value)
    return found


def truths_in(var: Any, values: dict[Any, Any]) -> set[Any]:
    value = values.get(var)
    if tvm_api.op_name(value) not in LOGICAL:
        return {var}
    return {truth for arg in value.args if isinstance(arg, relax.Var) for truth in truths_in(arg, values)}


PLANTED: tuple[tuple[str, Callable[[Program], bool]], ...] = (
    ("tuples_of_tuples", takes_apart),
    ("nested_outputs", gives_nested_tuple_of_hidden_values),
    ("nested_results", lambda p: any(is_nested(tvm_api.return_type(f)) for f in functions_of(p))),
    ("if_on_truths", branches_read_what_decides),
)


@pytest.mark.parametrize(("recipe", "holds"), PLANTED, ids=[name for name, _ in PLANTED])
def test_recipes_plant_it_nearly_always(recipe: str, holds: Callable[[Program], bool]) -> None:
    stands = [holds(program) for program in programs(recipe)]
    assert sum(stands) > 0.85 * SEEDS


def test_programs_without_recipes_hold_some_of_each() -> None:
    held = dict.fromkeys((name for name, _ in PLANTED), 0)
    for index in range(700):
        program = draw_program(SeededSource(23, index), patterns=[])
        for name, holds in PLANTED:
            held[name] += holds(program)
        if min(held.values()) >= 4:
            break
    assert min(held.values()) >= 4, held


def test_nested_outputs_are_taken_apart_after_their_block() -> None:
    outside = 0
    for program in programs("nested_outputs"):
        for function in functions_of(program):
            outputs = nested_outputs(function)
            outside += any(used_outside(function, var) for var in outputs)
    assert outside > 0.8 * SEEDS


def used_outside(function: Any, var: Any) -> bool:
    """Whether a field is taken of an output in another block than its own."""
    blocks = [block for block in blocks_of(function) if not any(b.var.same_as(var) for b in block.bindings)]
    items = [b.value for block in blocks for b in block.bindings if isinstance(b.value, relax.TupleGetItem)]
    return any(item.tuple_value.same_as(var) for item in items)


def test_some_functions_return_nested_tuples() -> None:
    assert sum(is_nested(tvm_api.return_type(p.module["main"])) for p in programs(None, 200)) > 8


# --- that it matters --------------------------------------------------------------------------------------


def wrong(program: Program, other: Any) -> bool:
    """Whether the other module gives other results than the program."""
    return isinstance(Numbers(program.module, program.calls).judge_module(other), Wrong)


def with_values(program: Program, values: dict[Any, Any]) -> Any:
    """The module with these values bound to variables of main's blocks."""
    main = program.module["main"]
    blocks = []
    for block in main.body.blocks:
        bindings = [relax.VarBinding(b.var, values[b.var]) if b.var in values else b for b in block.bindings]
        blocks.append(type(block)(bindings))
    body = relax.BlockBuilder().normalize(relax.SeqExpr(blocks, main.body.body))
    changed = program.module.clone()
    function = relax.Function(main.params, body, is_pure=main.is_pure).with_attrs(main.attrs)
    changed.update_func(changed.get_global_var("main"), function)
    return changed


def with_other_field(program: Program) -> Any | None:
    """The module with another field of the same type taken of a tuple in a tuple, each time; None where there is none
    like that."""
    main = program.module["main"]
    values = bound(main)
    others: dict[Any, Any] = {}
    for var, value in values.items():
        if isinstance(value, relax.TupleGetItem) and isinstance(values.get(value.tuple_value), relax.TupleGetItem):
            types = [str(ty) for ty in tvm_api.type_of(value.tuple_value).fields]
            twins = [n for n, ty in enumerate(types) if n != value.index and ty == types[value.index]]
            if twins:
                others[var] = relax.TupleGetItem(value.tuple_value, twins[0])
    return with_values(program, others) if others else None


@pytest.mark.parametrize("recipe", one_in(3, ["nested_results", "tuples_of_tuples", "nested_outputs"]))
def test_results_hang_on_which_field_is_taken(recipe: str) -> None:
    pairs = [(program, with_other_field(program)) for program in programs(recipe, 30)]
    told = [wrong(program, other) for program, other in pairs if other is not None]
    assert len(told) > 15
    assert sum(told) > 0.7 * len(told)


def with_truths_as(program: Program, branch: str, number: bool) -> Any | None:
    """The module with the truths in this branch of an If replaced by True or by False."""
    main = program.module["main"]
    values = bound(main)
    for var, value in values.items():
        if any(value.same_as(decided) for decided in decided_ifs(main)):
            truths = truths_in(value.cond, values)
            constant = tvm_api.constant(np.array(number), "bool")
            told = {"true_branch": value.true_branch, "false_branch": value.false_branch}
            told[branch] = structural_map(
                told[branch],
                (relax.Var, lambda v, truths=truths, constant=constant: constant if v in truths else v),
            )
            return with_values(program, {var: relax.If(value.cond, *told.values())})
    return None


def test_results_hang_on_the_truths_that_each_branch_reads() -> None:
    seen = {"true_branch": 0, "false_branch": 0}
    drawn = programs("if_on_truths", 30)
    for branch in seen:
        for program in drawn:
            others = [with_truths_as(program, branch, number) for number in (True, False)]
            seen[branch] += any(wrong(program, other) for other in others if other is not None)
    assert min(seen.values()) > 6, seen


# --- loaded passes ----------------------------------------------------------------------------------------


def test_loaded_passes_get_all_of_it_and_more_where_their_code_names_the_nodes() -> None:
    def about_tuples() -> Sequence[Any]:
        return [relax.Tuple, relax.TupleGetItem]

    row = rows_from_contracts(["Mine"], {})["Mine"]
    assert (
        {"tuples_of_tuples", "nested_outputs", "if_on_truths"} <= set(row.fires.recipes) <= RECIPES.keys() | {"chains"}
    )
    shapes = with_vocabulary(row, about_tuples).fires.vocabulary.shapes
    assert shapes.count("tuples_of_tuples") + shapes.count("nested_outputs") >= len(shapes) / 2
    assert "if_on_truths" not in shapes
