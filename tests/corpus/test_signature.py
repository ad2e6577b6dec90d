"""Signatures: what differs between two sightings of one bug is stripped, what distinguishes two bugs is kept."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus.causes.signature import PLACES, Signature, normalise, operators_in, signature_of
from corpus.escapes import is_slug
from corpus.findings import PART
from corpus.replayable import CORPUS
from corpus.store import StoredCase, read_case
from fuzzer.campaign.docket import place_of
from fuzzer.protocol import Failure
from fuzzer.trial.rejudge import Likeness
from oracles.evidence import Died, Evidence, InKernel, NotANumber, NotReadBack, OrderOfThreads, ReferenceTrap
from oracles.reference.errors import symptom_of
from oracles.verdict import CRASH, Failed
from tests.hostile import examples, texts

UNDEFINED = "Var {} is not defined."
UNEMITTABLE = (
    "CodeGenVM cannot emit this Relax operator directly. Run the appropriate lowering pass, or route the operator to "
    "an external codegen before VM codegen.\nOffending call:\n{}"
)
IMPURE = (
    "Function {} is annotated as pure but contains an impure call: R.memory.kill_tensor({}).  Please set "
    "relax.force_pure to true or use a pure operator variant (e.g., call_pure_packed) if it is necessary"
)
SLICE = (
    "Check failed: (strides[i] < 0 ? (end_i <= begin_i) : (begin_i <= end_i)) is false: : "
    "Input [Begin={}, End={}] is invalid for axis={}"
)
KILLED = (
    "Check failed: (killed_object) is false: Internal error: non-normalized expression "
    "R.memory.kill_tensor({})\n# Metadata omitted. Use show_meta=True in script() method to show it."
)
RANGE = (
    'In ir.Op(span=None, ty=ir.Type(span=None), name="relax.split", description="", '
    'arguments=(ir.ArgumentInfo(name="{}", type_info="Tensor", description="The input tensor."),), num_inputs=1), '
    "the input axis {} is out of range. The input tensor has {} dimensions, so axis should be in range [{}, {})."
)
BROADCAST = "In {}, the first input shape at dim {} is T.int64({}) and the second input shape at dim {} is T.int64({})"
FRAMES = (
    "InternalError: Check failed: (it != map.end()) is false: {} was not found\n"
    'Traceback (most recent call last):\n  File "{}", line {}, in run\n  0: tvm::relax::Fuse(tvm::IRModule)'
)
WHOLE = (
    "This IR is not well formed: # from tvm.script import relax as R\n\n@R.function\n"
    'def {}(x: R.Tensor(({}, 3), dtype="float32")) -> R.Tensor(({}, 3), dtype="float32"):\n'
    "    {}: R.Tensor((2, 3)) = R.add(x, x)\n    return x\n"
)

SAME_BUG = [
    (
        "PrimFunc {}: TIR is ill-formed, due to multiple definitions of variable {}. It was first defined at {}, and "
        "was later re-defined at {}",
        ("prim", "rmod", "<root>.body.seq[1].value.condition.a.var", "<root>.body.value.a.var"),
        ("prim3", "rdiv", "<root>.body.value.args[0].b", "<root>.body.seq[21].body.seq[1"),
    ),
    ("multiple definitions of variable {}. It was first", ("ax1",), ("T6",)),
    ("multiple definitions of variable {}. It was first", ("x",), ("v_x_red_temp.v0",)),
    (UNDEFINED, ("w_t",), ("lv12",)),
    (UNEMITTABLE, ("R.add(x, x)",), ('R.nn.relu(metadata["ir.GenericConst"][0])',)),
    (IMPURE, ("0x560c1abfeff0", "a"), ("0x7f001234abcd", "lv_3")),
    (SLICE, (5, 2, 0), (-1, 17, 3)),
    (KILLED, ('metadata["ir.GenericConst"][0]',), ('metadata["ir.GenericConst"][11]',)),
    (RANGE, ("x", 1, 1, -1, 1), ("data", 2, 2, -2, 2)),
    (BROADCAST, ("R.add(x, y)", 0, 2, 0, 3), ("R.multiply(lv, R.const(1.0))", 1, 41, 1, 7)),
    (FRAMES, ("lv1", "/usr/lib/a.py", 10), ("lv2", "/home/someone/b.py", 999)),
    (WHOLE, ("main", 2, 2, "gv"), ("fused_add", 7, 7, "lv")),
    (
        "[{}] /project/src/relax/ir/block_builder.cc:{}: Check failed: (f) is false: bad",
        ("01:27:33", 67),
        ("23:00:01", 7),
    ),
    ("Inconsistent buffers {} and {} mapped to the same relax var: {}", ("T_add", "A", "v1"), ("relu", "B_2", "lv23")),
    ("Invalid layout {}", ("A?C",), ("B@CA",)),
    ("A cyclic dependency detected between the groups {} and {} are in.", ("v7", "lv"), ("gv", "lv2")),
    ("expected an independent Var, but got {}.", ("2",), ("n * T.int64(2)",)),
    ("the expression R.matmul(z, lv2) has a RHS of {} with type R.Tensor", ("lv2",), ("p4",)),
    (UNEMITTABLE, ("R.nn.conv2d(alloc1, p0)",), ("R.nn.conv2d(lv, lv)",)),
    ("Impure function call {} occurs within a dataflow block.", ("put(0, v20)",), ("fset_output(1, (d, e))",)),
    ("killed: no answer after {} s", (20,), (31.5,)),
    ("expected dtype {} but got {}", ("float32", "int64"), ("float16", "bool")),
    ("expected dtype {} but got {}", ("float8_e4m3fn", "float8_e5m2x4"), ("float16", "float32x4")),
]


@pytest.mark.parametrize(("template", "first", "second"), SAME_BUG)
def test_same_bug_same_message(template: str, first: tuple[object, ...], second: tuple[object, ...]) -> None:
    one, other = normalise(template.format(*first)), normalise(template.format(*second))
    assert one == other
    assert len(one) > 8


DIFFERENT_BUGS = [
    UNDEFINED.format("x"),
    UNEMITTABLE.format("R.add(x, x)"),
    IMPURE.format("0x5", "x"),
    SLICE.format(1, 2, 3),
    KILLED.format("x"),
    RANGE.format("x", 1, 1, -1, 1),
    "Check failed: (sref->parent != nullptr) is false: Cannot add loops on top of the root block",
    "Check failed: (sref->parent == nullptr) is false: Cannot add loops on top of the root block",
    "'GlobalVar' object has no attribute 'name'",
    "'GlobalVar' object has no attribute 'name_hint'",
    "killed by signal 11",
    "killed by signal 8",
    "the tirx.continue_loop should be inserted under at least one For or While stmts.",
    "the tirx.call_llvm_intrin should be inserted under at least one For or While stmts.",
    "no declaration, possible type mismatch: llvm.ctpop",
    "no declaration, possible type mismatch: llvm.ctlz",
]


def test_different_bugs_different_messages() -> None:
    assert len({normalise(message) for message in DIFFERENT_BUGS}) == len(DIFFERENT_BUGS)


def test_check_text_survives_whole() -> None:
    assert "(sref->parent != nullptr)" in normalise(DIFFERENT_BUGS[6])


def test_a_message_of_ir_only_is_not_lost() -> None:
    assert normalise("# from tvm.script import relax as R") != ""


def test_normalising_twice_changes_nothing() -> None:
    for message in DIFFERENT_BUGS:
        assert normalise(normalise(message)) == normalise(message)


def test_slug_is_a_stable_folder_name() -> None:
    signature = Signature("well_formed", "ill-formed", "tirx.transform.X<Y>", "m")
    oracle, culprit, digest = signature.slug.split("-")
    assert (oracle, culprit, len(digest)) == ("well_formed", "tirx.transform.X_Y", 8)
    assert signature.slug == Signature("well_formed", "ill-formed", "tirx.transform.X<Y>", "m").slug


FIELDS = st.one_of(
    texts, st.text(st.characters(), max_size=400), st.sampled_from(["con", "con.x", "." * 300, "é" * 300])
)


@examples(300)
@given(FIELDS, FIELDS, FIELDS, FIELDS)
@example("o", "crash", "\ud800", "\udfff")
@example("con.x", "crash", "", "")
@example("x" * 300, "crash", "y" * 300, "m" * 300)
def test_any_slug_is_the_name_of_a_folder(oracle: str, symptom: str, culprit: str, message: str) -> None:
    signature = Signature(oracle, symptom, culprit, message)
    assert is_slug(signature.slug)
    assert len(signature.slug.encode()) <= 255 - len(f"{PART}.json")
    assert replace(signature, culprit=f"{culprit}?").slug != signature.slug


def test_a_culprit_of_many_primitives_is_named_whole() -> None:
    primitives = "decompose_reduction+tensorize+compute_at+sample_compute_location+decompose_reduction+tensorize"
    slug = Signature("survives", "crash", f"s_tir.Schedule[{primitives}]", "m").slug
    assert slug.startswith(f"survives-s_tir.Schedule_{primitives.replace('+', '_')}-")


@pytest.mark.parametrize("field", ["oracle", "symptom", "culprit", "message"])
def test_every_field_counts(field: str) -> None:
    base = {"oracle": "o", "symptom": "s", "culprit": "c", "message": "m"}
    assert Signature(**base).slug != Signature(**{**base, field: "other"}).slug


def test_wrong_results_are_told_apart_by_operators_not_numbers() -> None:
    first = signature_of("numeric", Failed("wrong result", "off by 3.5 at (0, 1)"), "P", ("matmul", "add", "add"))
    again = signature_of("numeric", Failed("wrong result", "off by 1e9 at (7,)"), "P", ("add", "matmul"))
    other = signature_of("numeric", Failed("wrong result", "off by 3.5 at (0, 1)"), "P", ("take",))
    assert first == again
    assert first != other


def not_parsed(statement: str, said: str = "any words: `{}`") -> Failed:
    return Failed("round-trip", said.format(statement), evidence=NotReadBack("script", statement))


def test_parsers_that_give_no_reason_are_told_apart_by_the_statement_of_the_evidence() -> None:
    """Whatever the message says of it."""
    statements = ("_: R.Tuple", "_: R.Tuple = _", "_: R.Any")
    assert len({signature_of("round_trip", not_parsed(one), "P") for one in statements}) == len(statements)
    one, other = (not_parsed(f"_ = R.add({names})") for names in ("a, b", "lv2, c"))
    assert signature_of("round_trip", one, "P") == signature_of("round_trip", other, "P")
    quoted = [replace(not_parsed(one), evidence=NotReadBack("script", "")) for one in statements]
    assert len({signature_of("round_trip", one, "P") for one in quoted}) == 1


@pytest.mark.parametrize("begins", ["", "script does not parse: no reason is given at "])
def test_what_a_message_quotes_is_a_name_unless_the_evidence_has_it(begins: str) -> None:
    for evidence in (None, NotReadBack("JSON", ""), Died("SIGABRT")):
        failed = Failed("round-trip", f"{begins}`_: R.Tuple`", evidence=evidence)
        assert signature_of("round_trip", failed, "P").message == f"{begins}<name>"


def trapped(kind: str, message: str) -> Failed:
    return Failed(symptom_of(kind), message, evidence=ReferenceTrap(kind))


@pytest.mark.parametrize("kind", sorted(PLACES))
def test_where_a_trap_is_does_not_count(kind: str) -> None:
    messages = ("main, block root: A, dimension 0 of shape (4,)", "prim_func, block add: T_add[3]")
    assert {signature_of("numeric", trapped(kind, message), "P").message for message in messages} == {""}


def test_what_other_traps_say_counts() -> None:
    failures = [trapped("type", "f: x has rank 2, declared 3"), trapped("type", "f: x is a tuple, not an array")]
    assert len({signature_of("numeric", failed, "P") for failed in failures}) == 2


def test_the_evidence_says_whether_a_message_is_a_place() -> None:
    said = "the words of main"
    reworded = Failed("reworded", said, evidence=ReferenceTrap("out-of-bounds"))
    assert signature_of("numeric", reworded, "P").message == ""
    others: list[Evidence | None] = [
        None,
        NotANumber(),
        InKernel("out of bounds", "f", "A"),
        OrderOfThreads("descending"),
    ]
    for evidence in others:
        failed = Failed(symptom_of("out-of-bounds"), said, evidence=evidence)
        assert signature_of("numeric", failed, "P").message == said


def test_before_the_reduction_failures_are_told_apart_by_the_same_evidence() -> None:
    sightings = [
        Failure(0, "numeric", failed.symptom, failed.message, "", "P", "B", evidence=failed.evidence)
        for failed in (trapped("uninitialised", "main: A"), trapped("uninitialised", "relu, block root: B"))
    ]
    assert len(set(map(place_of, sightings))) == 1
    assert Likeness.of(sightings[0]) == Likeness.of(sightings[1])


@pytest.mark.parametrize(
    ("oracle", "evidence", "alike"),
    [("build", Died("SIGABRT"), True), ("build", None, False), ("survives", Died("SIGABRT"), False)],
)
def test_passes_of_tir_in_which_a_build_dies_are_alike(oracle: str, evidence: Evidence | None, alike: bool) -> None:
    """One bug of a library of TVM shows in any pass that calls it; a pass that is wrong is told by its name."""
    sightings = [
        Failure(0, oracle, CRASH, f"SIGABRT in {name}", "", name, "B", evidence=evidence)
        for name in ("tirx.LowerIntrin", "tirx.RemoveNoOp", "codegen")
    ]
    assert (len(set(map(Likeness.of, sightings))) == 1) is alike
    other = Failure(0, oracle, CRASH, "SIGABRT in FuseOps", "", "FuseOps", "B", evidence=evidence)
    assert Likeness.of(other) not in set(map(Likeness.of, sightings))


def by_the_symptom(stored: StoredCase) -> Signature:
    """The signature as it was when the symptom and a message decided and not the evidence: baselines are full of it."""
    said = re.sub(r"(?<=no reason is given at )`(.*)`", r"\1", stored.message)
    failed = Failed(stored.symptom, said)
    if stored.symptom in {symptom_of(kind) for kind in PLACES}:
        failed = Failed(stored.symptom, "")
    return signature_of(stored.oracle, failed, stored.culprit, operators_in(stored.case.module.script))


@pytest.mark.parametrize("folder", sorted(CORPUS.iterdir()), ids=lambda folder: folder.name)
def test_a_stored_case_keeps_its_signature(folder: Path) -> None:
    stored = read_case(folder)
    failed = Failed(stored.symptom, stored.message, evidence=stored.evidence)
    now = signature_of(stored.oracle, failed, stored.culprit, operators_in(stored.case.module.script))
    assert now == by_the_symptom(stored)
    assert stored.signature in (None, now.slug)


def test_the_verdicts_own_culprit_wins() -> None:
    assert signature_of("o", Failed("crash", "m", culprit="Inner"), "Outer").culprit == "Inner"
    assert signature_of("o", Failed("crash", "m"), "Outer").culprit == "Outer"


def test_operators_of_a_script() -> None:
    script = """
# R.comment(x)
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), dtype="float32")) -> R.Tuple(R.Tensor((2,), dtype="float32")):
        with R.dataflow():
            lv: R.Tensor((2,), dtype="float32") = R.nn.softmax(R.const(1.0, "float32"), axis=-1)
            lv1 = R.add(lv, R.add(x, x))
            R.output(lv1)
        return R.tuple(lv1)

    @T.prim_func
    def f(a: T.Buffer((4,), "float32")):
        for i in T.serial(4):
            a[i] = T.exp(T.float32(1.0))
"""
    assert operators_in(script) == ("add", "nn.softmax", "tir.exp")


def test_the_condition_of_a_check_stands_where_it_was_for_a_reader() -> None:
    said = "RuntimeError: parallel_for with Check failed: (a  ==\n b) is false: of 7"
    assert normalise(said, in_order=True) == "RuntimeError: parallel_for with Check failed: (a == b) is false: of #"
    assert normalise(said).startswith("Check failed: (a == b)")
    long = "words " * 60 + "Check failed: ({}) is false"
    assert normalise(long.format("a"), in_order=True) != normalise(long.format("b"), in_order=True)
