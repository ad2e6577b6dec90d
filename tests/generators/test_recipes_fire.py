"""The recipes of passes that look for one mark, option or layout: the pass changes most of their programs, and the
reference agrees with the result, and with LLVM on what the recipe plants.
"""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from collections.abc import Iterator
from functools import partial
from itertools import count, islice
from typing import Any

import pytest
import tvm

from generators import tvm_api
from generators.passes.constructors import options_of
from generators.passes.row import PassRow, Phase
from generators.passes.table import PASSES, SETUP
from generators.program import Program
from generators.program_facts import Feature
from generators.recipes.table import RECIPES
from generators.relax.relax_program import draw_program
from generators.source import SeededSource
from oracles.builds.build import Built, build
from oracles.calls.after_pass import after_pass
from oracles.evidence import ReferenceTrap
from oracles.forked import Ended, forked
from oracles.reference.calling import AppliedPass, direct
from oracles.reference.numbers import Numbers, Wrong
from oracles.workbench import Workbench, constructed
from tests.patience import HANGS_S
from tests.quick import one_in

PROGRAMS = 10
LEAST = 5
"""Of these programs: constructors are drawn as well, and some are for other recipes of the row."""
HALF_FOR_OTHERS = {"AlterOpImpl"}
"""Rows of which half of the constructors are for another recipe: 31 of 60 change a program of this one."""

PAIRS = (
    ("RewriteCUDAGraph", "kernels_in_a_row"),
    ("RewriteCUDAGraph", "kernels_of_weights"),
    ("RewriteCUDAGraph", "kernels_of_symbols"),
    ("ConvertLayout", "converted_conv2d"),
    ("AlterOpImpl", "operator_names"),
    ("BindSymbolicVars", "symbol_of_functions"),
    ("BindParams", "symbolic_shapes"),
    ("Gradient", "loss_of_kernels"),
    ("Gradient", "loss_of_stages"),
    ("LambdaLift", "recursive_local"),
    ("LambdaLift", "local_names_taken"),
    ("LambdaLift", "returned_closures"),
    ("LowerRuntimeBuiltin", "memory_views"),
    ("StaticPlanBlockMemory", "kernels_of_symbols"),
    ("StaticPlanBlockMemory", "memory_views"),
    ("BundleModelParams", "weights_in_branches"),
    ("AttachGlobalSymbol", "call_tir_scalars"),
    ("Normalize", "symbolic_conditions"),
    ("NormalizeGlobalVar", "private_calls"),
    ("RemoveUnusedOutputs", "private_unused_outputs"),
)


TVM_BUGS = {
    "AlterOpImpl": ReferenceTrap("type"),  # one remove_pad for all tensors of a rank, whatever their dtype
    "ConvertLayout": ReferenceTrap("undefined-variable"),  # a match_cast keeps a variable whose type has changed
    "BundleModelParams": ReferenceTrap("undefined-variable"),  # a local function keeps the parameter that is gone
    "RewriteCUDAGraph": ReferenceTrap("undefined-variable"),  # a region that begins before the storage that it is given
}
"""How 0.27 is wrong on some of these programs: what a trap says of the kind of a failure is no reason to look again."""

PASS_ERRORS = (tvm_api.InternalError, ValueError, TypeError, IndexError, AttributeError, AssertionError)
"""What passes die of on some programs: bugs and limits of TVM, which campaigns find."""


def programs(row: PassRow, recipe: str) -> Iterator[Program]:
    wants = set(row.fires.wants) | {want for want in (RECIPES[recipe].wants,) if want is not None}
    wants -= {Feature.LOCAL_FUNCTIONS}
    for index in count():
        yield draw_program(SeededSource(23, index), patterns=[RECIPES[recipe]], wants=frozenset(wants))


def prepared(row: PassRow, module: Any) -> Any:
    """The module in the phase of the pass; None where TVM's own passes fail on the way."""
    phase = min(row.place.phases)
    with tvm.target.Target("llvm"):
        for call in SETUP[phase]:
            try:
                module = constructed(call.source)(module)
            except PASS_ERRORS:
                return None
    return module


def in_phase(row: PassRow, recipe: str) -> Iterator[tuple[Program, Any]]:
    """Programs of a recipe, each with its module in the phase of the pass."""
    both = ((program, prepared(row, program.module)) for program in islice(programs(row, recipe), 2 * PROGRAMS))
    return islice(((program, module) for program, module in both if module is not None), PROGRAMS)


@pytest.mark.parametrize("name, recipe", one_in(2, PAIRS))
def test_the_pass_changes_most_programs_and_no_number(name: str, recipe: str) -> None:
    row = PASSES[name]
    assert recipe in row.fires.recipes
    changed = 0
    for index, (program, before) in enumerate(in_phase(row, recipe)):
        source = SeededSource(29, index)
        text, options = row.draw(source, program.facts), row.draw_options(source)
        if text is None:
            continue
        try:
            with tvm.target.Target("llvm"), tvm.transform.PassContext(config=options_of(options)):
                after = constructed(text)(before)
        except PASS_ERRORS:
            continue
        changed += not tvm_api.structural_equal(before, after)
        applied = AppliedPass(text, before, after)
        calling = after_pass(direct, row.promise.calling, applied)
        numbers = Numbers(program.module, program.calls)
        outcome = numbers.judge_module(after, calling)
        if isinstance(outcome, Wrong) and outcome.evidence != TVM_BUGS.get(name):
            of_setup = numbers.judge_module(before)  # a bug of a pass before, as LegalizeOps of slice_scatter
            assert isinstance(of_setup, Wrong), tvm_api.script_of(program.module)
            assert (of_setup.symptom, of_setup.message) == (outcome.symptom, outcome.message)
    assert changed >= (LEAST // 2 if name in HALF_FOR_OTHERS else LEAST)


BUILT = ("kernels_in_a_row", "memory_views", "call_tir_scalars", "recursive_private", "returned_closures")
OF_GROUPS = (
    *("private_unused_outputs", "kernel_unused_outputs", "private_copies", "kernel_twins", "siblings"),
    *("filled_operands", "compound_dims", "compound_dims_of_private"),
)


def of_llvm(program: Program) -> str:
    """What the reference says of a build of the program."""
    numbers = Numbers(program.module, program.calls)
    built = build(program.module, Phase.HIGH, Workbench(SeededSource(0), numbers), 0)
    if not isinstance(built, Built):
        return "not built"
    try:
        return "wrong" if isinstance(numbers.judge_run(built.run), Wrong) else "right"
    except tvm.error.InternalError:  # as of a split at an index past the end
        return "not run"


@pytest.mark.deep
@pytest.mark.parametrize("recipe", [*BUILT, *OF_GROUPS, "kernels_of_symbols", "recursive_local", "literal_operands"])
def test_llvm_gives_the_numbers_of_the_reference(recipe: str) -> None:
    """Of the first programs, until four are built: TVM dies on some, such as a closure's result given to a function."""
    judged = ended = 0
    for index in range(16):
        program = draw_program(SeededSource(41, index), patterns=[RECIPES[recipe]])
        outcome = forked(partial(of_llvm, program), HANGS_S)  # a branch whose storage is used again after it segfaults
        assert outcome != "wrong", index
        ended += isinstance(outcome, Ended)
        judged += outcome == "right"
        if judged == 4:
            break
    assert judged and ended <= 1
