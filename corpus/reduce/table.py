"""The reduction steps in the order in which they are tried: those that remove most come first."""

from __future__ import annotations

from collections.abc import Sequence

from corpus.reduce.plan import Edit, PlanView, together
from corpus.reduce.search import ReductionStep
from corpus.reduce.steps import (
    attributes,
    bindings,
    constants,
    control,
    dead_code,
    entries,
    names,
    outputs,
    passes,
    schedule_arguments,
    symbols,
    tensors,
    tir,
    tir_buffers,
    tir_expressions,
    tir_parameters,
    tir_stages,
    tir_symbols,
    tuples,
)
from corpus.reduce.strategies import bisected, first_that_works, galloped


def _all_simpler(view: PlanView) -> Sequence[Edit]:
    """All that each step has to offer that only makes things simpler, as one edit for each step."""
    return [together(edits) for step in STEPS if step.simpler and (edits := step.edits(view))]


STEPS: tuple[ReductionStep, ...] = (
    ReductionStep("calls", passes.calls, as_it_is=True),
    ReductionStep("functions", dead_code.functions, as_it_is=True),
    ReductionStep("passes", passes.passes, as_it_is=True),
    ReductionStep("options of passes", passes.options, as_it_is=True),
    ReductionStep("steps of schedules", passes.schedules, repeat=True, as_it_is=True),
    ReductionStep("arguments of schedules", schedule_arguments.last, repeat=True, as_it_is=True),
    ReductionStep("setup", passes.setup, as_it_is=True),
    ReductionStep("unused parameters", dead_code.parameters, as_it_is=True),
    ReductionStep("prune dead code", dead_code.prune),
    ReductionStep("private functions alone", entries.private_functions, bisected, repeat=True),
    ReductionStep("first bindings", outputs.cut, bisected),
    ReductionStep("prune what is left", dead_code.prune),
    ReductionStep("own output fields", outputs.own_fields),
    ReductionStep("output fields", outputs.fields),
    ReductionStep("last bindings", bindings.all_but_last, galloped),
    ReductionStep("fields of bound outputs", outputs.bound_fields),
    ReductionStep("bindings to parameters", bindings.to_parameters),
    ReductionStep("first statements", tir_stages.cut, bisected),
    ReductionStep("last statements", tir_stages.all_but_last, galloped),
    ReductionStep("other results", tir_stages.other_results),
    ReductionStep("TIR statements", tir_stages.statements),
    ReductionStep("TIR parameters", tir_parameters.parameters),
    ReductionStep("earlier result", outputs.earlier, first_that_works, repeat=True),
    ReductionStep("branches", control.branches),
    ReductionStep("bindings to operands", bindings.to_operands),
    ReductionStep("dead bindings", dead_code.bindings),
    ReductionStep("inline calls", control.calls),
    ReductionStep("bindings to constants", bindings.to_constants),
    ReductionStep("aliases", bindings.aliases),
    ReductionStep("casts", symbols.casts),
    ReductionStep("tuples", bindings.tuples),
    ReductionStep("fields of tuples", tuples.fields, repeat=True),
    ReductionStep("tuples of operands", tuples.operands, first_that_works, repeat=True),
    ReductionStep("fewer operands of tuples", tuples.fewer_operands, repeat=True),
    ReductionStep("arguments of external functions", tuples.arguments, repeat=True),
    ReductionStep("simpler, all at once", _all_simpler),
    ReductionStep("symbols to numbers", symbols.numbers, simpler=True),
    ReductionStep("blocks", control.blocks, first_that_works, simpler=True),
    ReductionStep("demote outputs", dead_code.demote, simpler=True),
    ReductionStep("shared operands", bindings.operands_shared, simpler=True),
    ReductionStep("constants to parameters", constants.to_parameters),
    ReductionStep("odd inputs", constants.odd_inputs, first_that_works, repeat=True),
    ReductionStep("extents of zero", tensors.not_empty, simpler=True),
    ReductionStep("smaller extents", tensors.extents, simpler=True),
    ReductionStep("fewer dims", tensors.dims, first_that_works, repeat=True),
    ReductionStep("simpler dtypes", tensors.dtypes, simpler=True),
    ReductionStep("TIR loops and branches", tir.unwrapped),
    ReductionStep("TIR expressions to constants", tir_expressions.to_constants),
    ReductionStep("TIR expressions to operands", tir_expressions.to_operands),
    ReductionStep("TIR indices to zero", tir_expressions.to_first_elements),
    ReductionStep("TIR loops, plain", tir.plain, simpler=True),
    ReductionStep("TIR buffers, plain", tir_buffers.plain, simpler=True),
    ReductionStep("TIR operands shared", tir_parameters.shared),
    ReductionStep("TIR extents", tir.extents),
    ReductionStep("TIR symbols to numbers", tir_symbols.numbers),
    ReductionStep("attributes of functions", attributes.functions, simpler=True),
    ReductionStep("attributes of operators", attributes.operators),
    ReductionStep("simpler constants", constants.simpler_constants, simpler=True),
    ReductionStep("simpler inputs", constants.simpler_inputs, simpler=True),
    ReductionStep("names", names.canonical),
)
