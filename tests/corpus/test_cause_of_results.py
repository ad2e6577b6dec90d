"""When two wrong results, and what else an oracle says of a module, have one cause, and when they have not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from corpus.causes.cause import UNCERTAIN, cause_of
from corpus.causes.failure_facts import FailureFacts, Rewrite
from generators.passes.row import Role
from generators.passes.table import PASSES
from oracles.evidence import AnotherForm, AttributeGone, ChangedSignature, NotANumber, ReferenceTrap
from oracles.ir.kinds import CALL_TIR, DIVIDES_BY_NEGATIVE, IRKind, Piece
from oracles.verdict import INPUT_CHANGED, WRONG_RESULT, Failed


def node(name: str) -> IRKind:
    return IRKind(Piece.NODE, name)


FIRST = FailureFacts(rewrite=Rewrite((node("FloorMod"),), (DIVIDES_BY_NEGATIVE,)))
OTHER = FailureFacts(rewrite=Rewrite((node("BufferStore"),)))
RETYPED = FailureFacts(
    retyped="another type is given to the result of topk: two extents", retyped_by="DispatchSortScan"
)


def test_a_wrong_result_is_pass_difference_and_rewrite() -> None:
    value = Failed(WRONG_RESULT, "value: output 0[0] is 1, not 2")
    dtype = replace(value, evidence=AnotherForm("dtype"))
    causes = {
        str(cause_of("numeric", failed, culprit, facts))
        for failed in (value, dtype)
        for culprit in ("A", "B")
        for facts in (FIRST, OTHER)
    }
    assert len(causes) == 8
    assert str(cause_of("numeric", value, "A", FIRST)) == str(cause_of("build", value, "A", FIRST))
    assert str(cause_of("numeric", value, "A")).startswith(UNCERTAIN)


def test_a_rewrite_that_names_no_operator_is_told_by_what_it_is_made_of() -> None:
    """Else one wrong fusion would hide all others."""
    value = Failed(WRONG_RESULT, "value: x")
    fused = FailureFacts(rewrite=Rewrite((IRKind(Piece.CALL_OF_FUNCTION),), (CALL_TIR,), everywhere=True))
    kinds = (
        replace(fused, operators=("matmul",)),
        replace(fused, operators=("take",)),
        replace(fused, operators=("take",), floats=("bfloat16",)),
        replace(fused, stored=("tirx.exp",)),
    )
    assert len({str(cause_of("numeric", value, "FuseTIR", facts)) for facts in kinds}) == 4
    named = [replace(facts, rewrite=Rewrite((CALL_TIR,), (IRKind(Piece.OPERATOR, "reshape"),))) for facts in kinds]
    assert len({str(cause_of("numeric", value, "RewriteDataflowReshape", facts)) for facts in named}) == 1


def test_a_trap_that_follows_values_is_a_wrong_value_and_a_race_is_not() -> None:
    value = Failed(WRONG_RESULT, "value: x")
    follows = [Failed("x", "x", evidence=ReferenceTrap(kind)) for kind in ("uninitialised", "out-of-bounds")]
    follows.append(replace(value, evidence=NotANumber()))
    assert {cause_of("numeric", failed, "A", OTHER) for failed in (value, *follows)} == {
        cause_of("numeric", value, "A", OTHER)
    }
    race = Failed("x", "x", evidence=ReferenceTrap("data-race"))
    assert cause_of("numeric", race, "A", OTHER) != cause_of("numeric", value, "A", OTHER)


def test_a_division_by_zero_is_where_the_division_was_put_and_not_where_it_was() -> None:
    zero = Failed("x", "x", evidence=ReferenceTrap("division-by-zero"))
    moved = [
        FailureFacts(rewrite=Rewrite(kinds, (node("Bind"),)))
        for kinds in ((node("FloorMod"), IRKind(Piece.TYPED, "NE", "int")), (node("BitwiseOr"), node("Div")))
    ]
    assert len({cause_of("numeric", zero, "CSE", facts) for facts in moved}) == 1
    assert cause_of("numeric", zero, "CSE", OTHER) != cause_of("numeric", zero, "CSE", moved[0])
    lost = [
        FailureFacts(rewrite=Rewrite((kind,), (node("Div"),)))
        for kind in (node("IfThenElse"), IRKind(Piece.OPERATOR, "tirx.assume"), IRKind(Piece.TYPED, "Div", "float"))
    ]
    assert len({cause_of("numeric", zero, "CSE", facts) for facts in lost}) == 3


def test_of_ill_typed_operands_which_comparison_has_them_does_not_count() -> None:
    trap = Failed("reference trap: type", "x", evidence=ReferenceTrap("type"))

    def told(*names: str, failed: Failed = trap) -> str:
        removed, added = (tuple(IRKind(Piece.TYPED, name, of) for name in names) for of in ("bfloat", "uint"))
        return str(cause_of("numeric", failed, "A", FailureFacts(rewrite=Rewrite(removed, added))))

    assert told("LE") == told("GT") == told("EQ", "LT") == "A: type: a comparison on bfloat -> a comparison on uint"
    assert told("Add") != told("LE")
    value = Failed(WRONG_RESULT, "value: x")
    assert told("LE", failed=value) != told("GT", failed=value)


def test_memory_of_the_host_in_a_kernel_is_told_by_what_it_is_for() -> None:
    """Which statements SplitHostDevice moves with it depends on the program."""
    host = Failed("x", "x", evidence=ReferenceTrap("host-memory"))
    reductions = [
        FailureFacts(rewrite=Rewrite((IRKind(Piece.MARK, "reduce_scope"), *map(node, more))))
        for more in (("IfThenElse",), ("Bind", "Evaluate"))
    ]
    assert len({cause_of("numeric", host, "SplitHostDevice", facts) for facts in reductions}) == 1
    others = [IRKind(Piece.MARK, "thread_extent"), node("AttrStmt reduce_scope")]
    plain = {cause_of("numeric", host, "SplitHostDevice", FailureFacts(rewrite=Rewrite((one,)))) for one in others}
    assert len(plain) == 1
    assert cause_of("numeric", host, "SplitHostDevice", reductions[0]) not in plain


def test_a_module_that_a_schedule_changes_in_place_has_one_cause_for_all_primitives() -> None:
    changed = Failed(INPUT_CHANGED, "the pass changed the module it was given")
    causes = {cause_of("input_unchanged", changed, f"s_tir.Schedule[{steps}]") for steps in ("split", "annotate+fuse")}
    assert len(causes) == 1
    assert cause_of("input_unchanged", changed, "FuseTIR") not in causes
    others = {cause_of("input_unchanged", changed, f"meta_schedule.Replay[{kind}]") for kind in ("cuda", "llvm")}
    assert len(others) == 2
    tuners = [row.name for row in PASSES.values() if row.role is Role.APPLIES_TRACES]
    assert len(tuners) > 5 and {cause_of("input_unchanged", changed, name) for name in tuners} == causes


def test_wrong_code_is_what_the_wrong_elements_are_made_of() -> None:
    failed = Failed(WRONG_RESULT, "value: x")
    assert (
        str(cause_of("build", failed, "codegen", FailureFacts(stored=("NE on float",))))
        == "codegen: value: NE on float"
    )
    assert str(cause_of("build", failed, "codegen", FailureFacts())).startswith(UNCERTAIN)


@pytest.mark.parametrize(
    "failed",
    [
        Failed("changed signature", "public function returns another type", evidence=ChangedSignature()),
        Failed(WRONG_RESULT, "shape: x", evidence=AnotherForm("shape")),
        Failed("reference trap: out-of-bounds", "x", evidence=ReferenceTrap("out-of-bounds")),
    ],
)
def test_another_type_is_one_cause_in_every_oracle(failed: Failed) -> None:
    found = cause_of("any", failed, "codegen", RETYPED)
    assert str(found) == "DispatchSortScan: another type is given to the result of topk: two extents"


def test_a_use_after_the_end_of_a_life_has_no_culprit_where_the_pass_does_not_expect_it() -> None:
    used = Failed("reference trap: use-after-kill", "x", evidence=ReferenceTrap("use-after-kill"))
    after = FailureFacts(ends_lives=True, rewrite=Rewrite())
    assert cause_of("numeric", used, "FuseTIR", after) == cause_of("numeric", used, "AdjustMatmulOrder", after)
    expected = replace(after, ends_lives=False)
    assert cause_of("numeric", used, "A", expected) != cause_of("numeric", used, "B", expected)


def test_attributes_are_named() -> None:
    one, other = (Failed("lost attribute", "x", evidence=AttributeGone(key)) for key in ("a", "b"))
    assert cause_of("attributes", one, "A") != cause_of("attributes", other, "A")
