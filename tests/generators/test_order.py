"""Orders of passes that TVM documents: each sentence is TVM's, none is against the official pipelines, no sequence that
is drawn is against one, and every pass is still drawn."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import tvm

from generators.passes.order import breaches, standing
from generators.passes.row import LIBRARY, Documented, Phase
from generators.passes.sequences import draw_names, draw_sequence
from generators.passes.table import PASSES, PIPELINES, SETUP, THREADED_SETUP, TIR_PIPELINE
from generators.passes.traits import Undoes
from generators.program_facts import Feature, ProgramFacts
from generators.source import SeededSource
from generators.targets import TARGETS

WHEEL = Path(tvm.__file__).parent
FACTS = sorted({(name, said) for name, row in PASSES.items() for said in row.place.documented}, key=str)


@cache
def content(where: str) -> bytes:
    """A file of TVM's wheel; Python source with single spaces."""
    data = (WHEEL / where).read_bytes()
    return data if where == LIBRARY else b" ".join(data.split())


def sentences(*names: str) -> list[str]:
    return [breach.sentence for breach in breaches(names, PASSES)]


# --- the facts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "said"), FACTS, ids=[f"{name}: {said.quote[:40]}" for name, said in FACTS])
def test_every_sentence_stands_in_the_installed_tvm(name: str, said: Documented) -> None:
    assert said.where == LIBRARY or said.where.endswith(".py")
    assert said.quote.encode() in content(said.where), said.where


def test_a_fact_names_passes_of_the_table_and_says_something() -> None:
    for name, said in FACTS:
        assert set(said.after) | set(said.before) <= PASSES.keys(), name
        assert said.after or said.before or said.ends_rewriting or said.floats or said.infos, name
    assert all(set(row.named(Undoes)) <= PASSES.keys() for row in PASSES.values())


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_the_official_pipelines_keep_all_of_them(pipeline: str) -> None:
    assert not sentences(*PIPELINES[pipeline], *TIR_PIPELINE)


def test_a_setup_keeps_all_of_them() -> None:
    for setup in (SETUP, THREADED_SETUP):
        for phase, calls in setup.items():
            assert not sentences(*(call.name for call in calls)), phase


@pytest.mark.parametrize(
    ("names", "name", "other", "side"),
    [
        (("KillAfterLastUse", "CanonicalizeBindings"), "CanonicalizeBindings", "KillAfterLastUse", "before"),
        (("KillAfterLastUse", "AdjustMatmulOrder"), "AdjustMatmulOrder", "KillAfterLastUse", "before"),
        (("LegalizeOps", "CallTIRRewrite", "UpdateVDevice"), "UpdateVDevice", "CallTIRRewrite", "before"),
        (("LowerAllocTensor", "RunCodegen"), "RunCodegen", "LowerAllocTensor", "before"),
        (("CallTIRRewrite", "LowerRuntimeBuiltin"), "LowerRuntimeBuiltin", "LowerAllocTensor", "after"),
        (("LowerAllocTensor", "VMShapeLower"), "VMShapeLower", "LowerRuntimeBuiltin", "after"),
        (("RemovePurityChecking",), "RemovePurityChecking", "ToNonDataflow", "after"),
        (("ToNonDataflow", "LazyTransformParams"), "LazyTransformParams", "RemovePurityChecking", "after"),
        (("LegalizeOps", "FuseTransposeMatmul"), "FuseTransposeMatmul", "LegalizeOps", "before"),
        (("tirx.LowerIntrin",), "tirx.LowerIntrin", "tirx.BindTarget", "after"),
        (("tirx.BF16StorageLegalize",), "tirx.BF16StorageLegalize", "tirx.MakePackedAPI", "after"),
    ],
)
def test_an_order_against_a_sentence_is_told(names: tuple[str, ...], name: str, other: str, side: str) -> None:
    (told,) = sentences(*names)
    assert told.startswith(f'TVM documents that {name} runs {side} {other}: "')


@pytest.mark.parametrize(
    "names",
    [
        ("LowerAllocTensor", "KillAfterLastUse", "LowerRuntimeBuiltin", "VMShapeLower"),
        ("ToNonDataflow", "RemovePurityChecking", "LazyTransformParams"),
        ("FuseTransposeMatmul", "LegalizeOps"),
        ("KillAfterLastUse", "KillAfterLastUse"),
        ("ToNonDataflow", "CanonicalizeBindings", "RemovePurityChecking"),
        ("Nonesuch", "FuseOps"),
    ],
)
def test_other_orders_are_not(names: tuple[str, ...]) -> None:
    assert not sentences(*names)


def test_a_pass_may_undo_what_another_pass_asks_for() -> None:
    """ConvertToDataflow brings dataflow blocks back. What LiftTransformParams makes has one, and is not force_pure."""
    asked = ("ToNonDataflow", "RemovePurityChecking")
    for name, undone in (("ConvertToDataflow", 1), ("LiftTransformParams", 2)):
        assert len(sentences(*asked, name, "LazyTransformParams")) == undone, name
    assert not sentences("LiftTransformParams", *asked, "LazyTransformParams")
    assert standing((*asked, "ConvertToDataflow"), PASSES) == ("RemovePurityChecking", "ConvertToDataflow")


# --- what is drawn --------------------------------------------------------------------------------------

EVERYTHING = ProgramFacts(functions=("main",), num_input=1, features=frozenset(Feature) - {Feature.LOOPS_ALONE})


@pytest.mark.parametrize(
    ("target", "number"),
    [("llvm", 500), *(pytest.param(target, 2000, marks=pytest.mark.deep) for target in ("llvm", "cuda"))],
)
def test_no_drawn_sequence_is_against_one(target: str, number: int) -> None:
    for index in range(number):
        steps = draw_names(SeededSource(31, index), PASSES, target=TARGETS[target])
        assert not sentences(*(step.name for step in steps)), index


def test_nor_is_what_is_left_of_it_for_a_program() -> None:
    for index in range(500):
        drawn = draw_sequence(SeededSource(32, index), PASSES, lambda _: EVERYTHING)
        assert not sentences(*(call.name for call in (*drawn.setup, *drawn.passes))), index


@pytest.mark.deep
def test_every_pass_of_relax_still_comes_in_an_odd_order_or_has_but_its_own_place() -> None:
    movable = {name for name, row in PASSES.items() if row.of_relax and row.fires.in_repertoire}
    still = movable - {"s_tir.Schedule", "LowerRuntimeBuiltin"}
    for index in range(9000):  # FuseTransposeMatmul comes so in one of 1,500
        steps = draw_names(SeededSource(33, index), PASSES, kinds=("unusual",))
        still -= {step.name for step in steps if not step.setup and step.tier == "C"}
        if not still:
            break
    assert still == set()


def test_tier_c_begins_where_a_pass_leaves_its_phases() -> None:
    tiers = set()
    for index in range(600):
        phase = Phase.HIGH
        left = False
        for step in draw_names(SeededSource(34, index), PASSES, kinds=("unusual",)):
            row = PASSES[step.name]
            if not step.setup:
                prepares = step.name in ("LambdaLift", "FuseOpsByPattern", "LiftTransformParams", "ToNonDataflow")
                left = left or (phase not in row.place.phases and not prepares and step.name != "LazyTransformParams")
                tiers.add((step.tier, left))
            phase = phase if row.place.gives is None else row.place.gives
    assert ("B", True) not in tiers
    assert {("B", False), ("C", True)} <= tiers


def test_expressions_over_dims_are_computed_before_what_needs_that_follows() -> None:
    """VM code takes no `n * 2` as an argument: a sequence that left ComputePrimValue out would be blamed on TVM."""
    drawn = (
        draw_names(SeededSource(7, seed), PASSES, under_test=("VMShapeLower", "AttachGlobalSymbol"))
        for seed in range(80)
    )
    orders = [[step.name for step in steps] for steps in drawn]
    lowered = [names for names in orders if "VMShapeLower" in names]
    assert len(lowered) > 20
    assert all("ComputePrimValue" in names[: names.index("VMShapeLower")] for names in lowered)
