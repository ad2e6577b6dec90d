"""Passes that move, name, merge or drop bindings and dataflow blocks without looking into the operators."""

from __future__ import annotations

from generators.passes.phases import GRAPH, HIGH, UNMEMORIED, span
from generators.passes.row import Fires, PassRow, Phase, Place, Promise, Rate, Role
from generators.passes.traits import Undoes
from generators.program_facts import ProgramFacts
from generators.source import Source


def draw_dead_code_elimination(source: Source, facts: ProgramFacts) -> str | None:
    """With no entry functions (all public ones are), one, or all public functions."""
    entries = source.pick(([], list(facts.functions[:1]), list(facts.functions)))
    return f"relax.transform.DeadCodeElimination({entries if entries else ''})"


ROWS = (
    PassRow(
        "Normalize",
        ("relax.transform.Normalize()",),
        "src/relax/transform/normalize.cc: A-normal form and types; nothing to do on well-formed input",
        Place(UNMEMORIED, fires_in=HIGH),
        # types of an If and of tensors with symbolic dims are found anew, as each pass that rewrites a function does
        fires=Fires(
            recipes=("symbolic_conditions", "tensor_to_shape", "if_branches"),
            favoured=("symbolic_conditions",),
            rate=Rate(6),
        ),
    ),
    PassRow(
        "CanonicalizeBindings",
        ("relax.transform.CanonicalizeBindings()",),
        "src/relax/transform/canonicalize_bindings.cc: trivial bindings, redundant match_cast, tuple indices",
        Place(UNMEMORIED),
        promise=Promise(
            # once a match_cast has lost its intermediate variable, a second application sees that it is redundant
            idempotent=False,
        ),
        fires=Fires(
            recipes=(
                "trivial_bindings",
                "match_cast_redundant",
                "match_cast_beside",
                "tuple_bound",
                "tuple_nested",
                "tuples_of_tuples",
                "match_cast_defines_symbol",
            ),
            rate=Rate(19),
        ),
        role=Role.TIDIES_BINDINGS,
    ),
    PassRow(
        "EliminateCommonSubexpr",
        (
            "relax.transform.EliminateCommonSubexpr()",
            "relax.transform.EliminateCommonSubexpr(call_only=True)",
        ),
        "src/relax/transform/eliminate_common_subexpr.cc: impure calls and allocations are kept apart",
        Place(UNMEMORIED),
        promise=Promise(
            # it leaves `b = a`, which a second application takes for a common subexpression
            idempotent=False,
        ),
        fires=Fires(
            recipes=("duplicate_subexpressions", "duplicate_constants", "if_branches", "if_on_truths"), rate=Rate(8)
        ),
    ),
    PassRow(
        "DeadCodeElimination",
        ("relax.transform.DeadCodeElimination()",),
        "src/relax/transform/dead_code_elimination.cc: unused pure bindings and unreachable private functions",
        Place(UNMEMORIED),
        promise=Promise(keeps_functions=False),
        fires=Fires(
            recipes=("dead_bindings", "private_functions_unused", "impure_calls", "impure_private"),
            draw_source=draw_dead_code_elimination,
            rate=Rate(12),
        ),
        role=Role.DROPS_DEAD_CODE,
    ),
    PassRow(
        "TopologicalSort",
        (
            "relax.transform.TopologicalSort()",
            "relax.transform.TopologicalSort('depth-first', 'from-outputs')",
            "relax.transform.TopologicalSort('breadth-first', 'from-inputs')",
            "relax.transform.TopologicalSort('breadth-first', 'from-outputs')",
        ),
        "src/relax/transform/topological_sort.cc: reorders bindings inside each dataflow block",
        Place(GRAPH),
        promise=Promise(
            # independent bindings are ordered by the order before, so that a second application moves them again
            idempotent=False,
        ),
        fires=Fires(recipes=("diamond", "match_cast_defines_symbol", "several_outputs"), rate=Rate(19)),
    ),
    PassRow(
        "ConvertToDataflow",
        (
            "relax.transform.ConvertToDataflow()",
            "relax.transform.ConvertToDataflow(min_size=1)",
            "relax.transform.ConvertToDataflow(min_size=3)",
        ),
        "src/relax/transform/convert_dataflow.cc: runs of pure bindings become dataflow blocks",
        Place(GRAPH),
        promise=Promise(
            # it canonicalises, so that it needs two applications where CanonicalizeBindings does
            idempotent=False,
        ),
        fires=Fires(recipes=("bindings_outside_dataflow", "impure_calls", "if_branches"), rate=Rate(20)),
        traits=(Undoes(("ToNonDataflow",)),),
    ),
    PassRow(
        "ToNonDataflow",
        ("relax.transform.ToNonDataflow()",),
        "src/relax/transform/to_non_dataflow.cc",
        Place(span(Phase.LEGAL, Phase.FUSED), gives=Phase.NONDATAFLOW),
        fires=Fires(recipes=("several_outputs",), rate=Rate(80)),
    ),
)
