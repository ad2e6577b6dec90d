"""Passes that move, name, merge or drop bindings and dataflow blocks without looking into the operators."""

from __future__ import annotations

from generators.passes.phases import GRAPH, UNMEMORIED, span
from generators.passes.row import PassRow, Phase, ProgramFacts
from generators.source import Source


def draw_dead_code_elimination(source: Source, facts: ProgramFacts) -> str | None:
    """With no entry functions (all public ones are), one, or all public functions."""
    entries = source.pick(([], list(facts.functions[:1]), list(facts.functions)))
    return f"relax.transform.DeadCodeElimination({entries if entries else ''})"


ROWS = (
    PassRow(
        "Normalize",
        ("relax.transform.Normalize()",),
        UNMEMORIED,
        "src/relax/transform/normalize.cc: A-normal form and types; nothing to do on well-formed input",
        recipes=("if_branches", "tuple_nested"),
    ),
    PassRow(
        "CanonicalizeBindings",
        ("relax.transform.CanonicalizeBindings()",),
        UNMEMORIED,
        "src/relax/transform/canonicalize_bindings.cc: trivial bindings, redundant match_cast, tuple indices",
        recipes=(
            "trivial_bindings",
            "match_cast_redundant",
            "tuple_bound",
            "tuple_nested",
            "tuples_of_tuples",
            "match_cast_defines_symbol",
        ),
        idempotent=False,
        notes="a match_cast that has lost its intermediate variable is seen to be redundant by a second application",
    ),
    PassRow(
        "EliminateCommonSubexpr",
        (
            "relax.transform.EliminateCommonSubexpr()",
            "relax.transform.EliminateCommonSubexpr(call_only=True)",
        ),
        UNMEMORIED,
        "src/relax/transform/eliminate_common_subexpr.cc: impure calls and allocations are kept apart",
        recipes=("duplicate_subexpressions", "duplicate_constants", "if_branches", "if_on_truths"),
        idempotent=False,
        notes="leaves `b = a` behind, which a second application takes for a subexpression of its own",
    ),
    PassRow(
        "DeadCodeElimination",
        ("relax.transform.DeadCodeElimination()",),
        UNMEMORIED,
        "src/relax/transform/dead_code_elimination.cc: unused pure bindings and unreachable private functions",
        recipes=("dead_bindings", "private_functions_unused", "impure_calls"),
        draw_source=draw_dead_code_elimination,
        keeps_functions=False,
    ),
    PassRow(
        "TopologicalSort",
        (
            "relax.transform.TopologicalSort()",
            "relax.transform.TopologicalSort('depth-first', 'from-outputs')",
            "relax.transform.TopologicalSort('breadth-first', 'from-inputs')",
            "relax.transform.TopologicalSort('breadth-first', 'from-outputs')",
        ),
        GRAPH,
        "src/relax/transform/topological_sort.cc: reorders bindings inside each dataflow block",
        recipes=("diamond", "match_cast_defines_symbol", "several_outputs"),
        idempotent=False,
        notes="where independent bindings go depends on the order they come in, so a second one moves them again",
    ),
    PassRow(
        "ConvertToDataflow",
        (
            "relax.transform.ConvertToDataflow()",
            "relax.transform.ConvertToDataflow(min_size=1)",
            "relax.transform.ConvertToDataflow(min_size=3)",
        ),
        GRAPH,
        "src/relax/transform/convert_dataflow.cc: runs of pure bindings become dataflow blocks",
        recipes=("bindings_outside_dataflow", "impure_calls", "if_branches"),
        idempotent=False,
        notes="canonicalises, and so needs two applications where CanonicalizeBindings does",
    ),
    PassRow(
        "ToNonDataflow",
        ("relax.transform.ToNonDataflow()",),
        span(Phase.LEGAL, Phase.FUSED),
        "src/relax/transform/to_non_dataflow.cc",
        gives=Phase.NONDATAFLOW,
        recipes=("several_outputs",),
    ),
)
