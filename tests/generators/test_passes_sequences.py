"""Drawn pass sequences: phases fit, tiers are right, limits hold, and loaded passes take part."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from generators.case import PassCall
from generators.passes.knobs import KNOBS
from generators.passes.loaded import rows_from_contracts
from generators.passes.official import official_name, tier_in_order
from generators.passes.row import Phase, Role
from generators.passes.sequence_kinds import KINDS, Kind
from generators.passes.sequences import PlannedPass, draw_names, draw_sequence, instantiate, to_fire
from generators.passes.table import PASSES, PIPELINES, SETUP, default_call, the, with_trait
from generators.passes.traits import FirstOnly, PreparedBy, SetUpWithout
from generators.program_facts import Feature, ProgramFacts
from generators.source import SeededSource
from generators.targets import TARGETS

SCHEDULE = the(Role.SCHEDULES).name

MANY = range(300)


def phase_errors(steps: tuple[PlannedPass, ...]) -> list[str]:
    """The passes that do not stand in a documented phase, following `gives` from high-level Relax."""
    phase, errors = Phase.HIGH, []
    for step in steps:
        row = PASSES[step.name]
        if not step.setup and step.tier == "B" and phase not in row.place.phases:
            errors.append(f"{step.name} at {phase.name}")
        phase = phase if row.place.gives is None else row.place.gives
    return errors


@pytest.mark.parametrize("kind", ["single", "walk", "walk_then_pipeline"])
def test_passes_of_tier_b_stand_in_their_phase(kind: Kind) -> None:
    unfit: Counter[str] = Counter()
    for index in MANY:
        steps = draw_names(SeededSource(1, index), PASSES, kinds=(kind,))
        unfit.update(phase_errors(steps))
    # The row of LazyTransformParams names the phase before its preparation, which is on a module not legalised.
    assert set(unfit) <= {"ToNonDataflow at HIGH", "LazyTransformParams at IMPURE"}


def test_setup_is_a_prefix_and_something_is_under_test() -> None:
    for index in MANY:
        steps = draw_names(SeededSource(2, index), PASSES)
        flags = [step.setup for step in steps]
        assert flags == sorted(flags, reverse=True)
        assert not all(flags)


def test_same_seed_same_sequence() -> None:
    assert all(draw_names(SeededSource(3, i), PASSES) == draw_names(SeededSource(3, i), PASSES) for i in range(50))


def test_every_row_of_the_repertoire_comes_up() -> None:
    missing = {name for name, row in PASSES.items() if row.fires.in_repertoire}
    for index in range(3000):
        missing -= {step.name for step in draw_names(SeededSource(4, index), PASSES)}
        if not missing:
            break
    assert missing == set()


def test_pipeline_is_official_and_tier_a() -> None:
    lengths = set()
    for index in MANY:
        steps = draw_names(
            SeededSource(5, index), PASSES, kinds=("pipeline",), target=replace(TARGETS["llvm"], pipelines=("llvm",))
        )
        assert {step.tier for step in steps} == {"A"}
        assert tuple(step.name for step in steps) == PIPELINES["llvm"][: len(steps)]
        lengths.add(len(steps))
    assert len(PIPELINES["llvm"]) in lengths and len(lengths) > 3


def test_high_walk_is_followed_by_a_whole_pipeline() -> None:
    for index in MANY:
        steps = draw_names(SeededSource(6, index), PASSES, kinds=("walk_then_pipeline",))
        tail = tuple(step.name for step in steps if step.tier == "A")
        assert tail in (PIPELINES["llvm"], PIPELINES["default_build"])
        assert steps[0].tier == "B"


def test_external_code_generation_ends_in_lambda_lift() -> None:
    for index in MANY:
        steps = draw_names(SeededSource(7, index), PASSES, under_test=("FuseOpsByPattern",), kinds=("single",))
        assert [step.name for step in steps] == ["FuseOpsByPattern", "LambdaLift"]


def tiers_of(*names: str, setup: int = 0, target: str = "llvm") -> str:
    """The tiers of passes that were not drawn as a pipeline; the first `setup` of them are no part of it."""
    steps = tuple(PlannedPass(name, "B", setup=index < setup) for index, name in enumerate(names))
    return "".join(instantiate(SeededSource(0), steps, ProgramFacts(), PASSES, TARGETS[target]).tiers)


def test_the_passes_of_a_pipeline_one_by_one_are_tier_a() -> None:
    official = PIPELINES["default_build"]
    without_graphs = tuple(name for name in official if name != "RewriteCUDAGraph")
    assert tiers_of(*official[:8], setup=3) == "AAAAA"
    assert tiers_of(*without_graphs[:9], setup=7) == "AA"
    assert tiers_of(*official[:10], setup=7) == "ABB", "a pass that acts with an option alone is drawn with it"
    assert tiers_of(*without_graphs, "tirx.BindTarget", "s_tir.CanonicalizeLoop", setup=len(without_graphs)) == "AA"
    assert tiers_of(*official[:3], "ToNonDataflow", setup=3) == "B", "RewriteDataflowReshape comes between"
    assert tiers_of("RewriteDataflowReshape") == "B", "the pipeline begins with others"
    assert tiers_of(*official[:3], "RewriteDataflowReshape", "FuseTIR", "ToNonDataflow", setup=3) == "ABB"


def test_a_pipeline_after_other_passes_is_not_official() -> None:
    steps = (PlannedPass("CanonicalizeBindings", "B"), *(PlannedPass(name, "A") for name in PIPELINES["llvm"]))
    assert set(instantiate(SeededSource(0), steps, ProgramFacts(), PASSES).tiers) == {"B"}
    assert set(instantiate(SeededSource(0), steps[1:], ProgramFacts(), PASSES).tiers) == {"A"}


def test_a_pipeline_of_another_target_is_not_official() -> None:
    gpu = PIPELINES["cuda"][: PIPELINES["cuda"].index("ApplyDefaultSchedule") + 1]
    assert tiers_of(*gpu, setup=len(gpu) - 1, target="cuda") == "A"
    assert tiers_of(*gpu, setup=len(gpu) - 1, target="llvm") == "B"


def test_options_and_other_constructors_are_not_official() -> None:
    legal = PIPELINES["llvm"][:3]
    assert official_name([default_call(name) for name in legal], ("llvm",)) == "llvm"
    assert official_name([], ("default_build", "llvm")) == "default_build"
    told = PassCall("LegalizeOps", "relax.transform.LegalizeOps(customize_legalize_map={}, skip_ops=[])")
    assert official_name([*(default_call(name) for name in legal[:2]), told], ("llvm",)) is None
    under = PassCall("LegalizeOps", default_call("LegalizeOps").source, "{'relax.backend.use_cuda_graph': True}")
    assert official_name([*(default_call(name) for name in legal[:2]), under], ("llvm",)) is None
    graphs = PassCall("RewriteCUDAGraph", default_call("RewriteCUDAGraph").source, under.options)
    whole = [*map(default_call, PIPELINES["default_build"])]
    at = PIPELINES["default_build"].index("RewriteCUDAGraph")
    assert official_name(whole, ("default_build",)) and not official_name([*whole[:at], graphs], ("default_build",))


@pytest.mark.parametrize(
    ("names", "tier"),
    [
        (("DispatchSampling", "DispatchSortScan", "LegalizeOps"), "A"),
        (("LegalizeOps",), "B"),
        (("LegalizeOps", "AnnotateTIROpPattern", "FuseOps"), "B"),
        (("FuseOps",), "C"),
        (("KillAfterLastUse",), "C"),
        (("LegalizeOps", "FastMathTransform"), "C"),
        (("FastMathTransform", "LegalizeOps"), "B"),
        (("ToNonDataflow", "RemovePurityChecking", "LazyTransformParams"), "B"),
        (("ToNonDataflow", "RemovePurityChecking"), "C"),
    ],
)
def test_the_tier_of_a_sequence_follows_from_its_passes(names: tuple[str, ...], tier: str) -> None:
    calls = [default_call(name) for name in names]
    assert tier_in_order(calls, PASSES, ("default_build", "llvm")) == tier
    later = {"A": "C", "B": "C"}.get(tier, tier)
    expected = "B" if names == ("KillAfterLastUse",) else later
    assert tier_in_order(calls, PASSES, ("default_build",), Phase.ALLOCATED) == expected


def test_arguments_that_name_parameters_are_not_given_to_a_function_with_others() -> None:
    for index in range(600):
        steps = [step.name for step in draw_names(SeededSource(14, index), PASSES, kinds=("unusual",))]
        changed = [place for place, name in enumerate(steps) if not PASSES[name].promise.keeps_signature]
        naming = [place for place, name in enumerate(steps) if PASSES[name].fires.draw_source is not None]
        prepared = "LazyTransformParams" in steps  # after LiftTransformParams, which it asks for
        assert prepared or not changed or not naming or max(naming) <= changed[0], steps


def test_odd_orders_are_tier_c_and_rare() -> None:
    tiers = Counter(
        next(step.tier for step in draw_names(SeededSource(8, index), PASSES) if not step.setup) for index in range(500)
    )
    assert 0.05 < tiers["C"] / 500 < 0.15
    odd = [draw_names(SeededSource(10, index), PASSES, kinds=("unusual",)) for index in range(50)]
    assert sum(any(step.tier == "C" for step in steps) for steps in odd) > 40


def test_at_most_one_pass_changes_how_the_result_is_called() -> None:
    for index in MANY:
        steps = draw_names(SeededSource(10, index), PASSES, kinds=("walk", "walk_then_pipeline"))
        changing = [s.name for s in steps if not PASSES[s.name].promise.keeps_signature]
        assert len(changing) <= 1 or changing[-1] == "LazyTransformParams"


def test_passes_that_must_come_first_do() -> None:
    for index in range(600):
        steps = draw_names(SeededSource(11, index), PASSES, kinds=("walk", "walk_then_pipeline"))
        tested = [step.name for step in steps if not step.setup]
        assert not any(PASSES[name].has(FirstOnly) for name in tested[1:])


@pytest.mark.parametrize("name", [name for name, row in PASSES.items() if row.fires.in_repertoire])
def test_a_pass_under_test_is_in_every_sequence(name: str) -> None:
    for index in range(12):
        assert name in [s.name for s in draw_names(SeededSource(12, index), PASSES, under_test=(name,))]


def test_no_setup_has_a_pass_for_blocks_where_a_function_has_none() -> None:
    steps = (PlannedPass("RewriteDataflowReshape", "B", setup=True), PlannedPass("tirx.BindTarget", "B"))
    for features, setup in ((frozenset[Feature](), ["RewriteDataflowReshape"]), (frozenset({Feature.LOOPS_ALONE}), [])):
        drawn = instantiate(SeededSource(0), steps, ProgramFacts(features=features), PASSES)
        assert [call.name for call in drawn.setup] == setup
        assert [call.name for call in drawn.passes] == ["tirx.BindTarget"]


def test_a_schedule_has_sequences_of_its_own() -> None:
    """Its steps name loops and blocks of one program as it was drawn."""
    for under_test in ((SCHEDULE,), (SCHEDULE, "tirx.ConvertSSA", "FoldConstant")):
        for index in MANY:
            steps = draw_names(SeededSource(13, index), PASSES, under_test=under_test)
            tested = [step.name for step in steps if not step.setup]
            assert tested[0] == SCHEDULE or SCHEDULE not in tested
            assert tested.count(SCHEDULE) <= 1 and (len(under_test) > 1 or SCHEDULE in tested)


def test_names_that_no_row_has_are_refused() -> None:
    with pytest.raises(ValueError, match="no such pass: Nonesuch"):
        draw_names(SeededSource(0), PASSES, under_test=("Nonesuch",))


def test_kinds_have_weights() -> None:
    assert sum(kind.weight for kind in KINDS) == 100


def test_rows_without_use_are_dropped_with_what_they_prepare() -> None:
    steps = draw_names(SeededSource(0), PASSES, under_test=("LazyTransformParams",), kinds=("single",))
    drawn = instantiate(SeededSource(0), steps, ProgramFacts(), PASSES)
    assert {"LiftTransformParams", "LazyTransformParams"} <= {step.name for step in steps}
    assert drawn.passes == ()
    assert [call.name for call in drawn.setup] == ["ToNonDataflow", "RemovePurityChecking"]


def test_official_steps_are_constructed_as_the_pipelines_do() -> None:
    steps = tuple(PlannedPass(name, "A") for name in PIPELINES["llvm"])
    for index in range(20):
        drawn = instantiate(SeededSource(13, index), steps, ProgramFacts(), PASSES)
        assert [call.source for call in drawn.passes] == [PASSES[name].sources[0] for name in PIPELINES["llvm"]]


def test_rows_to_fire_are_those_under_test() -> None:
    setup = tuple(PlannedPass(call.name, "B", setup=True) for call in SETUP[Phase.LEGAL])
    pipeline = tuple(PlannedPass(name, "A") for name in PIPELINES["default_build"])
    rows = to_fire((*setup, PlannedPass("FoldConstant", "B"), *pipeline), PASSES)
    assert rows.drawn == (PASSES["FoldConstant"],)
    assert [row.name for row in rows.pipeline] == list(dict.fromkeys(PIPELINES["default_build"]))
    assert rows.recipes == ("constant_subexpressions", "duplicate_constants")
    assert rows.wants == {Feature.CONSTANTS}


def test_lifting_is_not_to_fire_where_it_serves_another_pass() -> None:
    unbuildable = next(name for name, row in PASSES.items() if not row.promise.buildable)
    rows = to_fire((PlannedPass(unbuildable, "B"), PlannedPass("LambdaLift", "B")), PASSES)
    assert [row.name for row in rows.drawn] == [unbuildable]


def test_a_pipeline_alone_is_to_fire() -> None:
    rows = to_fire((PlannedPass("ComputePrimValue", "A"),), PASSES)
    assert rows.recipes == PASSES["ComputePrimValue"].fires.recipes
    assert rows.wants == {Feature.SYMBOLIC}


def test_draw_sequence_hands_the_names_to_the_program() -> None:
    asked: list[tuple[PlannedPass, ...]] = []

    def facts_of(steps: tuple[PlannedPass, ...]) -> ProgramFacts:
        asked.append(steps)
        return ProgramFacts()

    drawn = draw_sequence(SeededSource(14), PASSES, facts_of, under_test=("TopologicalSort",))
    assert len(asked) == 1
    assert "TopologicalSort" in [call.name for call in drawn.passes]
    assert len(drawn.tiers) == len(drawn.passes)


@pytest.mark.parametrize(
    ("phase", "expected"),
    [("relax", Phase.HIGH), ("legalized", Phase.LEGAL), ("lowered", Phase.LOWERED), ("tir", Phase.LEGAL)],
)
def test_contracts_set_the_phase(phase: str, expected: Phase) -> None:
    row = rows_from_contracts(["Mine"], {"Mine": {"phase": phase, "colour": "blue"}})["Mine"]
    assert row.place.phases == {expected}
    assert row.sources == ("PASSES['Mine']()",)


def test_contracts_default_to_a_high_level_pass_that_keeps_meaning() -> None:
    row = rows_from_contracts(["Mine"], {})["Mine"]
    assert (row.place.phases, row.promise.calling, row.promise.idempotent, row.promise.meaning.value) == (
        {Phase.HIGH},
        "same",
        False,
        "same",
    )


def test_contracts_promises_are_taken() -> None:
    promises = {"Mine": {"idempotent": True, "preserves_signature": False, "needs_target": True}}
    row = rows_from_contracts(["Mine"], promises)["Mine"]
    assert (row.promise.idempotent, row.promise.calling, row.place.needs_target) == (True, "unknown", True)


def test_forms_of_tir_set_the_phase() -> None:
    contracts = {"Loops": {"phase": "tir", "form": "loops"}, "Blocks": {"phase": "tir", "form": "sblock"}}
    rows = rows_from_contracts(contracts, contracts)
    assert (rows["Loops"].place.phases, rows["Blocks"].place.phases) == ({Phase.LOOPS}, {Phase.LEGAL})


@pytest.mark.parametrize("contract", [{"phase": "hir"}, {"phase": "tir", "form": "blocks"}])
def test_contracts_with_unknown_values_are_refused(contract: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="CONTRACTS"):
        rows_from_contracts(["Mine"], {"Mine": contract})


@pytest.mark.parametrize(
    ("form", "wants"),
    [
        ("sblock", {Feature.PRIM_FUNCS, Feature.PART_BLOCKS}),
        ("loops", {Feature.ANY_PRIM_FUNCS}),
        ("any", {Feature.ANY_PRIM_FUNCS}),
    ],
)
def test_a_loaded_pass_of_tir_gets_drawn_functions_of_its_form(form: str, wants: set[Feature]) -> None:
    rows = rows_from_contracts(["Mine", "Other"], {"Mine": {"phase": "tir", "form": form}})
    assert (rows["Mine"].fires.wants, rows["Other"].fires.wants) == (wants, set())


def test_a_loaded_pass_is_drawn_in_its_phase() -> None:
    table = {**PASSES, **rows_from_contracts(["Mine"], {"Mine": {"phase": "lowered"}})}
    steps = draw_names(SeededSource(15), table, under_test=("Mine",), kinds=("single",))
    assert [step.name for step in steps] == [*(call.name for call in SETUP[Phase.LOWERED]), "Mine"]
    drawn = instantiate(SeededSource(15), steps, ProgramFacts(), table)
    assert [call.source for call in drawn.passes] == ["PASSES['Mine']()"]


def test_functions_get_threads_before_their_lowering_for_a_gpu() -> None:
    names: set[str] = set()
    for index in MANY:
        steps = [step.name for step in draw_names(SeededSource(9, index), PASSES, target=TARGETS["cuda"])]
        names.update(steps)
        if "s_tir.LowerInitBlock" in steps:
            assert steps.index("ApplyDefaultSchedule") < steps.index("s_tir.LowerInitBlock")
    assert {"s_tir.ThreadSync[shared]", "s_tir.LowerThreadAllreduce"} <= names


def test_pipelines_are_those_of_the_target() -> None:
    for index in MANY:
        steps = draw_names(SeededSource(10, index), PASSES, kinds=("pipeline",), target=TARGETS["cuda"])
        assert tuple(step.name for step in steps) == PIPELINES["cuda"][: len(steps)]


def test_setups_leave_out_what_breaks_the_marks_of_a_pass() -> None:
    rows = [row for row, _ in with_trait(SetUpWithout)]
    assert rows
    for row in rows:
        for seed in range(10):
            steps = draw_names(SeededSource(seed), PASSES, under_test=[row.name], kinds=["single"])
            setup = {step.name for step in steps if step.setup}
            assert steps[-1].name == row.name and not setup & set(row.named(SetUpWithout))
            assert set(row.named(SetUpWithout)) <= {call.name for call in SETUP[min(row.place.phases)]}


def test_a_pass_begins_mostly_where_it_has_something_to_do() -> None:
    rows = [row for row in PASSES.values() if row.place.fires_in]
    assert rows
    for row in rows:
        assert row.place.fires_in < row.place.phases
        begun = [
            draw_names(SeededSource(11, index), PASSES, under_test=[row.name], kinds=["single"]) for index in range(200)
        ]
        setups = {tuple(call.name for call in SETUP[phase]) for phase in row.place.fires_in}
        there = sum(tuple(step.name for step in steps if step.setup) in setups for steps in begun) / len(begun)
        assert KNOBS.sequences.firing_phase <= there < 0.8, row.name


def test_barriers_are_explicit_in_memory_of_every_scope() -> None:
    """After ThreadSync for warps an access without a barrier is a race, also in shared memory."""
    asked = PASSES["s_tir.ThreadSync[warp]"].named(PreparedBy)
    assert asked == ("s_tir.ThreadSync[shared]", "s_tir.ThreadSync[shared.dyn]")


def test_no_pass_of_relax_comes_after_one_that_leaves_calls_to_be_changed() -> None:
    name = "s_tir.RemoveWeightLayoutRewriteBlock"
    assert not PASSES[name].promise.keeps_buffers
    under_test = (name, "AttachAttrLayoutFreeBuffers", "AnnotateTIROpPattern")
    drawn = [
        [step.name for step in draw_names(SeededSource(12, index), PASSES, under_test=under_test, kinds=("walk",))]
        for index in MANY
    ]
    with_it = [names for names in drawn if name in names]
    assert with_it and any("AttachAttrLayoutFreeBuffers" in names[: names.index(name)] for names in with_it)
    assert not any(PASSES[other].of_relax for names in with_it for other in names[names.index(name) + 1 :])
