"""What MetaSchedule would measure, one candidate of each PrimFunc, as a pass: TVM draws a schedule of its design space
with a fixed seed, by its own rules, post-processors and mutators.

Nothing is measured, so it is as quick and as repeatable as any schedule. The candidate is applied as a database of
tuning records would do it: from the text of its trace, to the function as it was, which is marked as scheduled. Where
every candidate is turned down the function stays. Rules for tensor cores are left out: what they make has a meaning on
the device alone. Functions with symbolic shapes stay: MetaSchedule is for static ones (disallow_dynamic_loop.cc), and
its traces cannot name a function's own variables. Where a module is built for threads, rules for CPUs do nothing, and
the other way round: a tuner searches for the target of the build.

The context is made by the function of TVM's library: its class in Python first imports every tensor intrinsic, which
takes 12 s.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from generators.case import PassCall
from generators.passes.knobs import KNOBS, TuningKnobs
from generators.passes.row import Fires, Meaning, Measured, PassRow, Phase, Place, Promise, Rate, Role
from generators.program_facts import Feature

PREFIX = "s_tir.meta_schedule"
_MS = f"tvm.{PREFIX}"
_ON_CPU = frozenset({Feature.PRIM_FUNCS})
_WHY = "src/s_tir/meta_schedule/space_generator/post_order_apply.cc, with the rules beside it and what postproc/ leaves"
_SHAPES = (
    "wide_matmul",
    "matmul_chain",
    "sum_of_rows",
    "normalised_rows",
    "injective_then_reduce",
    "elementwise_chain",
)


_LAST = "list(context.generate_measure_candidates() or ())[-1:]"
_APPLIED = (
    "tvm.s_tir.schedule.Trace.apply_json_to_schedule(found.sch.trace.as_json(), sch), "
    "out.update_func(g, sch.mod['main'].with_attr('tirx.is_scheduled', True))"
)
"""The mark is what MetaScheduleApplyDatabase sets (src/relax/transform/meta_schedule.cc): such a function is not tuned
again."""
_SCHEDULED = (
    "T.parallel(",
    "T.vectorized(",
    "T.unroll(",
    "T.thread_binding(",
    "annotations=",
    "T.sblock_attr(",
    "tirx.is_scheduled",
)
"""What stands in the script of a function that is scheduled: MetaSchedule takes those that are not."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """A set of rules that TVM has by default. rules, postprocs: what TVM calls them. target: with the attributes that
    they ask for. mutators: those of TVM's set, one in a search: their order in a map follows from addresses."""

    rules: str
    postprocs: str
    target: str
    mutators: tuple[str, ...]
    wants: frozenset[Feature]


_CPU, _GPU = (
    _Kind(
        "llvm",
        "llvm",
        '{"kind": "llvm", "num-cores": 4}',
        ("MutateTileSize()", "MutateComputeLocation()", "MutateUnroll()", "MutateParallel(16)"),
        _ON_CPU,
    ),
    _Kind(
        "cuda",
        "cuda",
        '{"kind": "cuda", "arch": "sm_90", "max_threads_per_block": 1024, "max_shared_memory_per_block": 49152, '
        '"thread_warp_size": 32}',
        ("MutateTileSize()", "MutateUnroll()", "MutateThreadBinding()"),
        _ON_CPU | {Feature.GPU_TARGET},
    ),
)
_WIDE = replace(_CPU, rules="hexagon")
"""Tiles of wide vectors, which any CPU can run."""


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search is made of: the names of its sets of rules and post-processors, and its mutator, or ""."""

    rules: str
    postprocs: str
    mutator: str


def _sets(rules: str, postprocs: str, mutator: str) -> str:
    """Arguments for a space of schedules. mutator: its constructor, "" for none."""
    mutators = f"{{{_MS}.mutator.{mutator}: 1.0}}" if mutator else "{}"
    return f'sch_rules="{rules}", postprocs="{postprocs}", mutator_probs={mutators}'


_MUTATOR = rf"{{(?:{re.escape(_MS)}\.mutator\.(\w+)\([^)]*\): 1\.0)?}}"
_SETS = re.compile(_sets(r"(\w+)", r"(\w+)", "").replace("{}", _MUTATOR))
"""What `_sets` says."""


def _replayed(knobs: TuningKnobs) -> str:
    """The search that draws every decision anew."""
    return f"{_MS}.search_strategy.ReplayTrace(max_fail_count={knobs.tries})"


def _evolved(knobs: TuningKnobs) -> str:
    """The search that mutates what it has drawn."""
    return (
        f"{_MS}.search_strategy.EvolutionarySearch(population_size={knobs.population}, init_min_unmeasured=2, "
        f"max_fail_count={knobs.tries}, genetic_num_iters={knobs.generations}, genetic_max_fail_count={knobs.tries})"
    )


def _context(kind: _Kind, search: str, seed: int, mutator: str) -> tuple[str, ...]:
    """Steps that search among schedules of the module `of`. `context` then knows candidates."""
    space = f"{_MS}.space_generator.PostOrderApply({_sets(kind.rules, kind.postprocs, mutator)})"
    guess = f"{_MS}.database.MemoryDatabase(), {_MS}.cost_model.RandomModel(seed={seed})"
    return (
        f"context := {_MS}._ffi_api.TuneContext(of, tvm.target.Target({kind.target}), {space}, {search}, 'main', 1, "
        f"{seed}, lambda *line: None)",
        f"{_MS}._ffi_api.TuneContextInitialize(context)",
        f"context.pre_tuning(2, 2, context.generate_design_space(), {guess})",
    )


def _module_pass(steps: tuple[str, ...]) -> str:
    return f"tvm.transform.module_pass(lambda mod, ctx: ({', '.join(steps)})[-1], opt_level=0)"


def _each(kind: _Kind, steps: tuple[str, ...]) -> str:
    """Steps for each PrimFunc of static shapes that is not scheduled, `f`, which is called `g`; none where the
    module is for another kind of target."""
    static = (
        "all(isinstance(n, tvm.tirx.IntImm) for p in f.params for n in getattr(getattr(p, 'ty', p), 'shape', (p,)))"
    )
    new = f"not any(mark in f.script() for mark in {_SCHEDULED!r})"
    here = f"'gpu' {'in' if Feature.GPU_TARGET in kind.wants else 'not in'} tvm.target.Target.current().keys"
    which = f"isinstance(f, tvm.tirx.PrimFunc) and {here} and {static} and {new}"
    return f"[({', '.join(steps)}) for g, f in mod.functions.items() if {which}]"


def _pass(kind: _Kind, search: str, seed: int, mutator: str = "") -> str:
    """A pass that makes a candidate of each PrimFunc."""
    made = (
        "of := tvm.IRModule({'main': f})",
        *_context(kind, search, seed, mutator),
        "sch := tvm.s_tir.Schedule(of)",
        f"[({_APPLIED}) for found in {_LAST}]",
    )
    return _module_pass(("out := mod.clone()", _each(kind, made), "out"))


def _from_database(kind: _Kind, search: str, seed: int) -> str:
    """MetaScheduleApplyDatabase with a record of a candidate of each PrimFunc."""
    target = f"tvm.target.Target({kind.target})"
    record = f"{_MS}.database.TuningRecord(found.sch.trace, records.commit_workload(of), [1.0], {target})"
    made = (
        f"of := tvm.get_global_func('tvm.{PREFIX}.normalize_mod')(f)",
        *_context(kind, search, seed, ""),
        f"[records.commit_tuning_record({record}) for found in {_LAST}]",
    )
    steps = (
        f"records := {_MS}.database.MemoryDatabase()",
        _each(kind, made),
        "records.__enter__()",
        "out := relax.transform.MetaScheduleApplyDatabase()(mod)",
        "records.__exit__(None, None, None)",
        "out",
    )
    return _module_pass(steps)


def _row(name: str, kind: _Kind, per_1000: int, sources: tuple[str, ...], why: str = _WHY) -> PassRow:
    return PassRow(
        name,
        sources,
        why,
        Place(frozenset({Phase.FUSED, Phase.LEGAL}), needs_target=True),
        promise=Promise(meaning=Meaning.ROUNDED, idempotent=False),
        fires=Fires(
            recipes=_SHAPES,
            wants=kind.wants,
            in_repertoire=Feature.GPU_TARGET not in kind.wants,
            rate=Rate(per_1000, Measured.ALONE),
        ),
        role=Role.APPLIES_TRACES,
    )


def rows(knobs: TuningKnobs) -> tuple[PassRow, ...]:
    """A row for each set of rules and search, and one for what applies records of candidates."""
    drawn, mutated = _replayed(knobs), _evolved(knobs)
    return (
        *(
            _row(
                f"{PREFIX}.ReplayTrace[{kind.rules}]",
                kind,
                per_1000,
                tuple(_pass(kind, drawn, seed) for seed in knobs.seeds),
            )
            for kind, per_1000 in ((_CPU, 7), (_WIDE, 5), (_GPU, 5))
        ),
        *(
            _row(
                f"{PREFIX}.EvolutionarySearch[{kind.rules}]",
                kind,
                per_1000,
                tuple(_pass(kind, mutated, seed, how) for seed in knobs.seeds for how in kind.mutators),
            )
            for kind, per_1000 in ((_CPU, 4), (_GPU, 2))
        ),
        _row(
            "MetaScheduleApplyDatabase",
            _CPU,
            9,
            tuple(_from_database(_CPU, drawn, seed) for seed in knobs.seeds),
            "src/relax/transform/meta_schedule.cc: functions become what the records of their tuning say",
        ),
    )


ROWS: tuple[PassRow, ...] = rows(KNOBS.tuning)


def searched(call: PassCall) -> Searched | None:
    """What the search of a pass is made of; None for other passes."""
    found = _SETS.search(call.source)
    return None if found is None else Searched(found[1], found[2], found[3] or "")


def with_first(call: PassCall, rules: int, postprocs: int) -> PassCall:
    """The same search with the first of its rules and post-processors, and without a mutator."""
    found = _SETS.search(call.source)
    assert found is not None
    made = (
        f'sch_rules=list({_MS}.schedule_rule.ScheduleRule.create("{found[1]}"))[:{rules}], '
        f'postprocs=list({_MS}.postproc.Postproc.create("{found[2]}"))[:{postprocs}], mutator_probs={{}}'
    )
    return replace(call, source=_SETS.sub(lambda _: made, call.source))


def shorter(call: PassCall, rules: tuple[str, ...], postprocs: tuple[str, ...]) -> Iterator[tuple[str, PassCall]]:
    """A search grown rule by rule, then post-processor by post-processor, each with the name of the last one. rules,
    postprocs: what TVM calls those of its sets."""
    for count, name in enumerate(rules, 1):
        yield f"{PREFIX}.{name}", with_first(call, count, 0)
    for count, name in enumerate(postprocs, 1):
        yield f"{PREFIX}.{name}", with_first(call, len(rules), count)
