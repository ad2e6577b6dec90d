"""What MetaSchedule would measure, one candidate of each PrimFunc, as a pass: TVM draws a schedule of its design space
with a fixed seed, by its own rules, post-processors and mutators.

Nothing is measured, so it is as quick and as repeatable as any schedule. The candidate is applied as a database of tuning
records would do it: from the text of its trace, to the function as it was. Where every candidate is turned down the
function stays. Rules for tensor cores are left out: what they make has a meaning on the device alone.

The context is made by the function of TVM's library: its class in Python first imports every tensor intrinsic, which
takes 12 s.
"""

from __future__ import annotations

from dataclasses import dataclass

from generators.passes.row import Fires, Meaning, PassRow, Phase, Place, Promise
from generators.program_facts import Feature

PREFIX = "s_tir.meta_schedule"
_MS = f"tvm.{PREFIX}"
_ON_CPU = frozenset({Feature.PRIM_FUNCS})
_WHY = "src/s_tir/meta_schedule: post_order_apply.cc by rules of schedule_rule/, and what postproc/ leaves of it"
_SHAPES = ("wide_matmul", "matmul_chain", "sum_of_rows", "normalised_rows", "injective_then_reduce", "elementwise_chain")


@dataclass(frozen=True, slots=True)
class TuningKnobs:
    """seeds: of searches, each a constructor of its own: the more, the more kinds of candidate, in longer tables.
    population, generations: of a search that mutates; TVM's 512 and 4 take a minute. tries: candidates that are drawn
    before a function counts as one without any."""

    seeds: tuple[int, ...] = (1, 2, 3, 5, 8, 13)
    population: int = 6
    generations: int = 1
    tries: int = 5


DEFAULT = TuningKnobs()


@dataclass(frozen=True, slots=True)
class _Kind:
    """A set of rules that TVM has by default. target: with the attributes that its rules ask for. mutators: those of TVM's
    set, one in a search: their order in a map follows from addresses."""

    name: str
    target: str
    mutators: tuple[str, ...]
    wants: frozenset[Feature]


_KINDS = (
    _Kind(
        "llvm",
        '{"kind": "llvm", "num-cores": 4}',
        ("MutateTileSize()", "MutateComputeLocation()", "MutateUnroll()", "MutateParallel(16)"),
        _ON_CPU,
    ),
    _Kind(
        "cuda",
        '{"kind": "cuda", "arch": "sm_90", "max_threads_per_block": 1024, "max_shared_memory_per_block": 49152, '
        '"thread_warp_size": 32}',
        ("MutateTileSize()", "MutateUnroll()", "MutateThreadBinding()"),
        _ON_CPU | {Feature.GPU_TARGET},
    ),
)


def _replayed(knobs: TuningKnobs) -> str:
    """The search that draws every decision anew."""
    return f"{_MS}.search_strategy.ReplayTrace(max_fail_count={knobs.tries})"


def _evolved(knobs: TuningKnobs) -> str:
    """The search that mutates what it has drawn."""
    return (
        f"{_MS}.search_strategy.EvolutionarySearch(population_size={knobs.population}, init_min_unmeasured=2, "
        f"max_fail_count={knobs.tries}, genetic_num_iters={knobs.generations}, genetic_max_fail_count={knobs.tries})"
    )


def _pass(kind: _Kind, search: str, seed: int, mutator: str = "") -> str:
    """A pass that makes one candidate of each PrimFunc."""
    mutators = f"{{{_MS}.mutator.{mutator}: 1.0}}" if mutator else "{}"
    rules = f'sch_rules="{kind.name}", postprocs="{kind.name}", mutator_probs={mutators}'
    space = f"{_MS}.space_generator.PostOrderApply({rules})"
    guess = f"{_MS}.database.MemoryDatabase(), {_MS}.cost_model.RandomModel(seed={seed})"
    made = (
        "of := tvm.IRModule({'main': f})",
        f"context := {_MS}._ffi_api.TuneContext(of, tvm.target.Target({kind.target}), {space}, {search}, 'main', 1, "
        f"{seed}, lambda *line: None)",
        f"{_MS}._ffi_api.TuneContextInitialize(context)",
        f"context.pre_tuning(2, 2, context.generate_design_space(), {guess})",
        "sch := tvm.s_tir.Schedule(of)",
        "[tvm.s_tir.schedule.Trace.apply_json_to_schedule(found.sch.trace.as_json(), sch) "
        "for found in list(context.generate_measure_candidates() or ())[-1:]]",
        "out.update_func(g, sch.mod['main'])",
    )
    each = f"[({', '.join(made)}) for g, f in mod.functions.items() if isinstance(f, tvm.tirx.PrimFunc)]"
    return f"tvm.transform.module_pass(lambda mod, ctx: (out := mod.clone(), {each}, out)[-1], opt_level=0)"


def _row(name: str, kind: _Kind, sources: tuple[str, ...]) -> PassRow:
    return PassRow(
        f"{PREFIX}.{name}[{kind.name}]",
        sources,
        _WHY,
        Place(frozenset({Phase.FUSED, Phase.LEGAL}), needs_target=True),
        promise=Promise(meaning=Meaning.ROUNDED, idempotent=False),
        fires=Fires(recipes=_SHAPES, wants=kind.wants, in_repertoire=Feature.GPU_TARGET not in kind.wants),
    )


def rows(knobs: TuningKnobs) -> tuple[PassRow, ...]:
    """Two rows for each set of rules: one of each search."""
    drawn = (
        _row("ReplayTrace", kind, tuple(_pass(kind, _replayed(knobs), seed) for seed in knobs.seeds)) for kind in _KINDS
    )
    mutated = (
        _row(
            "EvolutionarySearch",
            kind,
            tuple(_pass(kind, _evolved(knobs), seed, how) for seed in knobs.seeds for how in kind.mutators),
        )
        for kind in _KINDS
    )
    return (*drawn, *mutated)


ROWS: tuple[PassRow, ...] = rows(DEFAULT)
