"""Draws which passes a case applies: one pass, a walk over the phases, an official pipeline, or an odd order.

Two halves, because the program is drawn between them: `draw_names` says which passes will run, so that the
program can hold what they fire on (`to_fire`), and `instantiate` makes their constructors when the program is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from generators.case import PassCall, Tier
from generators.passes.knobs import KNOBS
from generators.passes.need import pick_by_need
from generators.passes.official import official_name
from generators.passes.order import breaches, standing
from generators.passes.row import PassRow, Phase, Role
from generators.passes.sequence_kinds import KINDS, Kind
from generators.passes.table import PASSES, PIPELINES, SETUP, THREADED_SETUP, TIR_PIPELINE, the
from generators.passes.traits import (
    FirstOnly,
    MakesLoops,
    Overwrites,
    PreparedBy,
    SetUpWithout,
    TakesAnyLoops,
    TakesBlocks,
)
from generators.program_facts import Feature, ProgramFacts
from generators.source import Source, weighted
from generators.targets import DEFAULT, TARGETS, TargetRow

Table: TypeAlias = Mapping[str, PassRow]

LLVM = TARGETS[DEFAULT]
_LIFT = the(Role.LIFTS_LOCAL_FUNCTIONS).name
_SCHEDULE = the(Role.SCHEDULES).name


@dataclass(frozen=True, slots=True)
class PlannedPass:
    """One pass to come: its row's name, its tier, and whether it only prepares the ground."""

    name: str
    tier: Tier
    setup: bool = False


@dataclass(frozen=True, slots=True)
class DrawnSequence:
    """Passes ready to apply: `tiers` goes with `passes`."""

    setup: tuple[PassCall, ...]
    passes: tuple[PassCall, ...]
    tiers: tuple[Tier, ...]


@dataclass(slots=True)
class _RandomWalk:
    """The state of a random walk: the steps so far, whether TVM documents nothing against their order, the phase, and
    what may still come."""

    table: Table
    pool: tuple[PassRow, ...]
    phase: Phase
    steps: list[PlannedPass]
    open: bool = True
    tier: Tier = "B"
    in_order: bool = field(init=False)

    def __post_init__(self) -> None:
        self.in_order = not breaches(self._names, self.table)

    def options(self, *, staying: bool) -> list[PassRow]:
        """The rows that may come next; with `staying`, those that keep the phase."""
        return [
            row
            for row in self.pool
            if self.phase in row.place.phases
            and self._combines(row)
            and (not staying or row.place.gives in (None, self.phase))
        ]

    def allows(self, row: PassRow) -> bool:
        """Whether nothing that TVM documents of the order is against this pass here, after those that prepare it, and
        its arguments, which are drawn for the program as it begins, still name what is there. What asks for the
        types of calls comes after no pass that leaves them to be changed."""
        done = [self.table[name] for name in self._names]
        changed = any(not other.promise.keeps_signature for other in done)
        return self.in_order and not (
            (row.place.gives is None and any(other.has(Overwrites) for other in done))
            or (row.of_relax and any(not other.promise.keeps_buffers for other in done))
            or (row.fires.draw_source is not None and changed)
            or breaches((*self._names, *self._to_come(row)), self.table, since=len(self.steps))
        )

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(step.name for step in self.steps)

    def _to_come(self, row: PassRow) -> tuple[str, ...]:
        """The passes that taking this one adds: those that prepare it, so far as they do not hold already; itself; and
        what must follow it."""
        names = self._names
        for name in row.named(PreparedBy):
            if name not in standing(names, self.table):
                names = (*names, name)
        return (*names[len(self.steps) :], row.name, *(() if row.promise.buildable else (_LIFT,)))

    def _combines(self, row: PassRow) -> bool:
        names = {step.name for step in self.steps if not step.setup}
        conventions = any(not self.table[name].promise.keeps_signature for name in names if name in self.table)
        return self.allows(row) and not (
            self.repeats(row)
            or (row.has(FirstOnly) and names)
            or (not row.promise.keeps_signature and conventions)
            or (not row.promise.idempotent and row.name in names)
        )

    def repeats(self, row: PassRow) -> bool:
        """Whether the pass would come directly after itself, which another oracle tries for every pass."""
        return bool(self.steps) and not self.steps[-1].setup and self.steps[-1].name == row.name

    def take(self, row: PassRow) -> None:
        """Appends the pass after those that prepare it, and the pass that must follow it."""
        alone, taken = not any(not step.setup for step in self.steps), len(self.steps)
        for name in self._to_come(row):
            self.steps.append(PlannedPass(name, self.tier, setup=alone and name in row.named(PreparedBy)))
        self.in_order = self.in_order and not breaches(self._names, self.table, since=taken)
        self.open = self.open and row.promise.buildable
        self.phase = row.place.phase_after(self.phase)


@dataclass(frozen=True, slots=True)
class _Ground:
    """What sequences are drawn from: the rows, the pool of those that may come, and the target."""

    table: Table
    pool: tuple[PassRow, ...]
    target: TargetRow

    def walk(
        self,
        phase: Phase,
        pool: tuple[PassRow, ...] | None = None,
        tier: Tier = "B",
        *,
        bare: bool = False,
        without: tuple[str, ...] = (),
    ) -> _RandomWalk:
        """A walk that starts in a phase, after the passes that lead there (`bare`: without those that only tidy;
        `without`: nor these)."""
        calls = (THREADED_SETUP if self.target.threads else SETUP)[phase]
        names = [call.name for call in calls if call.name not in without and not (bare and _tidies(call.name))]
        return _RandomWalk(
            self.table, pool or self.pool, phase, [PlannedPass(name, "B", setup=True) for name in names], tier=tier
        )


def _tidies(name: str) -> bool:
    """Whether loops come out of the TIR pipeline without this pass of it, only less tidy."""
    row = PASSES[name]
    return name in TIR_PIPELINE and not row.has(MakesLoops) and row.place.gives is not Phase.FLAT


def _pool(table: Table, under_test: Sequence[str] | None, target: TargetRow) -> tuple[PassRow, ...]:
    """The rows that may come. A schedule is made for one program: it has sequences of its own."""
    names = list(table if under_test is None else under_test)
    unknown = [name for name in names if name not in table]
    if unknown or not names:
        raise ValueError(f"no such pass: {', '.join(unknown)}" if unknown else "no pass to draw from")
    rows = tuple(table[name] for name in names if name != _SCHEDULE)
    return tuple(row for row in rows if row.fires.in_repertoire or target.threads) or rows


def _first_row(source: Source, pool: tuple[PassRow, ...], target: TargetRow) -> PassRow:
    """A row of Relax or of TIR, in their shares, more often one that rarely fires."""
    relaxed = tuple(row for row in pool if row.of_relax)
    lowering = tuple(row for row in pool if not row.of_relax)
    if relaxed and lowering:
        return pick_by_need(source, lowering if source.flip(KNOBS.sequences.tir) else relaxed, target)
    return pick_by_need(source, pool, target)


def _draw_single(source: Source, ground: _Ground, length: int) -> _RandomWalk:
    row = _first_row(source, ground.pool, ground.target)
    firing = row.place.fires_in and source.flip(KNOBS.sequences.firing_phase)
    phase = source.pick(sorted(row.place.fires_in if firing else row.place.phases))
    of_loops = row.has(TakesAnyLoops) and phase in (Phase.LOOPS, Phase.FLAT)
    bare = of_loops and source.flip(KNOBS.sequences.bare)
    walk = ground.walk(phase, bare=bare, without=row.named(SetUpWithout))
    walk.take(row)
    return walk


def _draw_walk(source: Source, ground: _Ground, length: int) -> _RandomWalk:
    walk = _draw_single(source, ground, length)
    for _ in range(source.integer(1, max(1, length - 1))):
        options = walk.options(staying=False) if walk.open else []
        if not options:
            break
        walk.take(pick_by_need(source, options, ground.target))
    return walk


def _draw_high_walk(source: Source, ground: _Ground, length: int) -> _RandomWalk:
    """High-level passes only, so that a whole pipeline can follow; empty where the pool has none."""
    walk = ground.walk(Phase.HIGH)
    for _ in range(source.integer(1, max(1, length - 1))):
        options = walk.options(staying=True) if walk.open else []
        if not options:
            break
        walk.take(pick_by_need(source, options, ground.target))
    return walk


def _draw_unusual(source: Source, ground: _Ground, length: int) -> _RandomWalk:
    """Relax rows of the pool in any order that TVM's documentation leaves open, after the setup of a phase of Relax.

    Tier C from the first pass on that stands outside of its phases. TIR passes are left out: they take no form of the
    IR but their own.
    """
    movable = tuple(row for row in ground.pool if row.of_relax)
    if not movable:
        return _draw_walk(source, ground, length)
    row = source.pick(movable)
    starts = [ground.walk(phase, movable) for phase in Phase if phase.of_relax]
    walk = source.pick([start for start in starts if start.allows(row)])
    for _ in range(source.integer(1, max(1, min(3, length)))):
        walk.tier = "B" if walk.tier == "B" and walk.phase in row.place.phases else "C"
        walk.take(row)
        options = [row for row in movable if walk.allows(row) and not walk.repeats(row)] if walk.open else []
        if not options:
            break
        row = source.pick(options)
    return walk


_WALKS: dict[Kind, Callable[[Source, _Ground, int], _RandomWalk]] = {
    "single": _draw_single,
    "walk": _draw_walk,
    "walk_then_pipeline": _draw_high_walk,
    "unusual": _draw_unusual,
}


def _pipeline_steps(source: Source, pipeline: str, *, whole: bool) -> tuple[PlannedPass, ...]:
    names = PIPELINES[pipeline]
    stop = len(names) if whole or source.flip(KNOBS.sequences.pipeline_whole) else source.integer(1, len(names))
    return tuple(PlannedPass(name, "A") for name in names[:stop])


def _tir_pipeline_steps(source: Source, pipelines: Sequence[str]) -> tuple[PlannedPass, ...]:
    """All of the TIR pipeline, after a Relax pipeline that is not under test here."""
    before = PIPELINES[source.pick(pipelines)]
    return (
        *(PlannedPass(name, "A", setup=True) for name in before),
        *(PlannedPass(name, "A") for name in TIR_PIPELINE),
    )


def _schedule_steps(source: Source, target: TargetRow) -> tuple[PlannedPass, ...]:
    """A schedule; in some cases both pipelines after it, where there is no rule that would bind the rest to threads."""
    setup = tuple(PlannedPass(call.name, "B", setup=True) for call in SETUP[Phase.LEGAL])
    steps = (*setup, PlannedPass(_SCHEDULE, "B"))
    if target.threads or not source.flip(KNOBS.sequences.schedule_lowered):
        return steps
    names = PIPELINES[source.pick(target.pipelines)]
    return (*steps, *(PlannedPass(name, "A") for name in (*names[len(setup) :], *TIR_PIPELINE)))


def draw_names(
    source: Source,
    table: Table,
    *,
    under_test: Sequence[str] | None = None,
    kinds: Sequence[Kind] | None = None,
    length: int = 6,
    target: TargetRow = LLVM,
) -> tuple[PlannedPass, ...]:
    """The passes of one case, setup first. Never empty.

    `under_test` limits the passes drawn to these rows, `kinds` the kinds of sequence, `length` the passes of a
    walk. The official pipelines of the target are drawn as such where nothing is under test in particular, or a pass
    under test is in them. ValueError for unknown or no names.
    """
    ground = _Ground(table, _pool(table, under_test, target), target)
    pipelines = target.pipelines
    usable = [name for name in pipelines if under_test is None or set(under_test) & set(PIPELINES[name])]
    useless: set[Kind] = set() if usable else {"pipeline"}
    if under_test is not None and not set(under_test) & set(TIR_PIPELINE):
        useless.add("tir_pipeline")
    if under_test is not None and _SCHEDULE not in under_test:
        useless.add("schedule")
    wanted = [row for row in KINDS if (kinds is None or row.name in kinds) and row.name not in useless]
    allowed = [(row.name, row.weight) for row in wanted]
    kind: Kind = weighted(source, allowed or [("single", 1)]) if ground.pool else "schedule"
    if kind == "schedule":
        return _schedule_steps(source, target)
    if kind == "pipeline":
        return _pipeline_steps(source, source.pick(usable), whole=False)
    if kind == "tir_pipeline":
        return _tir_pipeline_steps(source, pipelines)
    walk = _WALKS[kind](source, ground, length)
    if kind != "walk_then_pipeline":
        return tuple(walk.steps)
    if not walk.steps:
        return tuple(_draw_walk(source, ground, length).steps)
    if walk.phase is not Phase.HIGH:
        return tuple(walk.steps)
    pipeline = source.pick(pipelines) if walk.open else pipelines[0]
    return (*walk.steps, *_pipeline_steps(source, pipeline, whole=True))


@dataclass(frozen=True, slots=True)
class ToFire:
    """The rows that a program should make fire: the passes drawn one by one, and the steps of a pipeline."""

    drawn: tuple[PassRow, ...]
    pipeline: tuple[PassRow, ...]

    @property
    def recipes(self) -> tuple[str, ...]:
        """What the drawn passes fire on, or where there are none the pipeline's steps; each once, in order."""
        return tuple(dict.fromkeys(recipe for row in self.drawn or self.pipeline for recipe in row.fires.recipes))

    @property
    def wants(self) -> frozenset[Feature]:
        """The features that go with `recipes`."""
        return frozenset(want for row in self.drawn or self.pipeline for want in row.fires.wants)


def to_fire(steps: Sequence[PlannedPass], table: Table) -> ToFire:
    """The rows under test, each once."""
    under_test = [step for step in steps if not step.setup]
    drawn = {step.name: table[step.name] for step in under_test if step.tier != "A"}
    if any(not row.promise.buildable for row in drawn.values()):
        drawn.pop(_LIFT, None)  # it is there to make the others buildable
    pipeline = {step.name: table[step.name] for step in under_test if step.tier == "A"}
    return ToFire(tuple(drawn.values()), tuple(pipeline.values()))


def instantiate(
    source: Source,
    steps: Sequence[PlannedPass],
    facts: ProgramFacts,
    table: Table,
    target: TargetRow = LLVM,
) -> DrawnSequence:
    """Constructors for `steps` in a program of these facts.

    Steps of an official pipeline and of the setup get the official constructor where they have one, and no options.
    A pass without use here is dropped, and with it the passes that it would have prepared. Of tier A are the passes
    that an official pipeline of the target begins with, however they were drawn; after others, those of a pipeline are
    of tier B.
    """
    setup: list[PassCall] = []
    passes: list[tuple[PassCall, Tier]] = []
    dropped: list[str] = []
    for step in steps:
        row = table[step.name]
        if step.setup and row.has(TakesBlocks) and Feature.LOOPS_ALONE in facts.features:
            continue
        official = row.sources and (step.tier == "A" or step.setup)
        text = row.sources[0] if official else row.draw(source, facts)
        if text is None or any(name in dropped for name in row.named(PreparedBy)):
            dropped.append(step.name)
        elif step.setup:
            setup.append(PassCall(step.name, text))
        else:
            options = "" if official else row.draw_options(source)
            passes.append((PassCall(step.name, text, options), step.tier))
    calls = tuple(call for call, _ in passes)
    tiers: list[Tier] = [
        "A" if official_name((*setup, *calls[: index + 1]), target.pipelines) else "B" if tier == "A" else tier
        for index, (_, tier) in enumerate(passes)
    ]
    return DrawnSequence(tuple(setup), calls, tuple(tiers))


def draw_sequence(
    source: Source,
    table: Table,
    facts_of: Callable[[tuple[PlannedPass, ...]], ProgramFacts],
    *,
    under_test: Sequence[str] | None = None,
    kinds: Sequence[Kind] | None = None,
    length: int = 6,
    target: TargetRow = LLVM,
) -> DrawnSequence:
    """Both halves at once; `facts_of` makes the program for the names and says what is in it."""
    steps = draw_names(source, table, under_test=under_test, kinds=kinds, length=length, target=target)
    return instantiate(source, steps, facts_of(steps), table, target)
