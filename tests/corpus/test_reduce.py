"""The reducer: what a predicate needs stays, all else goes, and nothing but the predicate decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from corpus.reduce import STEPS, Candidate, Smallest, reduce
from corpus.reduce.draft import lift
from corpus.reduce.realise import realise
from corpus.scripts.module_text import live_module
from generators import tvm_api as T
from generators.case import EntryCall, ModuleText, PassCall
from generators.passes.table import default_call
from generators.relax.knobs import Knobs
from generators.relax.relax_program import draw_program
from generators.source import SeededSource

LEGALISED = ("tirx.BF16ComputeLegalize", "tirx.LowerTVMBuiltin", "tirx.BF16StorageLegalize", "tirx.LowerIntrin")

HEAD = "@I.ir_module(s_tir=True)\nclass Module:\n"

TUPLES = """
    @R.function
    def main(
        x: R.Tensor((4, 6), dtype="float32"),
        t: R.Tuple(R.Tensor((4, 6), dtype="float32"), R.Tensor((6,), dtype="int32")),
    ):
        with R.dataflow():
            a = t[0]
            b = R.add(x, a)
            c = (b, (a, x))
            d = c[1]
            e = d[0]
            f = R.exp(e)
            g = R.multiply(f, b)
            h = R.nn.relu(g)
            out = (g, h, f)
            R.output(out)
        return out
"""

BRANCHES = """
    @R.function
    def main(x: R.Tensor((4, 6), dtype="float32"), p: R.Tensor((), dtype="bool")) -> R.Tensor((4, 6), dtype="float32"):
        a = R.sin(x)
        if p:
            b = R.exp(a)
            c = R.add(b, a)
        else:
            d = R.cos(a)
            c = R.nn.relu(d)
        e = R.multiply(c, x)
        return e
"""

SYMBOLS = """
    @R.function
    def main(x: R.Tensor(("n", 6), dtype="float16"), y: R.Tensor(dtype="float16", ndim=2)):
        n = T.int64()
        m = T.int64()
        with R.dataflow():
            a = R.add(x, x)
            b = R.match_cast(y, R.Tensor((m, 6), dtype="float16"))
            c = R.concat((a, b), axis=0)
            d = R.exp(c)
            R.output(d)
        with R.dataflow():
            e = R.nn.softmax(d, axis=0)
            f = R.sum(e, axis=[1], keepdims=True)
            R.output(f)
        return f
"""

FUNCTIONS = """
    @R.function(private=True)
    def inner(
        x: R.Tensor((4, 6), dtype="float32"), unused: R.Tensor((2,), dtype="float32")
    ) -> R.Tensor((4, 6), dtype="float32"):
        with R.dataflow():
            a = R.exp(x)
            b = R.add(a, R.const(np.arange(6), "float32"))
            R.output(b)
        return b

    @R.function(private=True)
    def dead(x: R.Tensor((4, 6), dtype="float32")) -> R.Tensor((4, 6), dtype="float32"):
        a = R.sigmoid(x)
        return a

    @R.function
    def main(
        x: R.Tensor((4, 6), dtype="float32"), y: R.Tensor((2,), dtype="float32")
    ) -> R.Tensor((4, 6), dtype="float32"):
        R.func_attr({"num_input": 1})
        cls = Module
        a = R.negative(x)
        b = cls.inner(a, y)
        c = cls.inner(b, y)
        d = R.tanh(c)
        return d
"""

TIR = """
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.sblock("first"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi] * T.float32(2) + T.float32(1)
        for i in range(8):
            with T.sblock("second"):
                vi = T.axis.spatial(8, i)
                if vi < 4:
                    C[vi] = T.exp(B[vi])
                else:
                    C[vi] = B[vi]
"""

MODULES = {"tuples": TUPLES, "branches": BRANCHES, "symbols": SYMBOLS, "functions": FUNCTIONS, "tir": TIR}
X = np.arange(24, dtype=np.float32).reshape(4, 6)
CALLS = {
    "tuples": (X, (X, np.arange(6, dtype=np.int32))),
    "branches": (X, np.array(True)),
    "symbols": (X.astype(np.float16), X.astype(np.float16)),
    "functions": (X, np.ones(2, np.float32)),
    "tir": (np.ones(8, np.float32), np.ones(8, np.float32), np.ones(8, np.float32)),
}
PASSES = tuple(PassCall(name, f"{name}()") for name in "ABCDEF")


def candidate(name: str) -> Candidate:
    module = live_module(ModuleText(HEAD + MODULES[name]))
    assert relax.analysis.check_well_formed(module)
    return Candidate(module, PASSES[:2], PASSES, (EntryCall("main", CALLS[name]),))


def operators(module: Any) -> list[str]:
    found: list[str] = []

    def visit(expr: Any) -> None:
        if T.op_name(expr) is not None:
            found.append(str(T.op_name(expr)).removeprefix("relax."))

    for function in module.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, visit)
    return found


def has(*names: str) -> Callable[[Candidate], bool]:
    """All of these operators occur, and pass D is applied."""
    return lambda c: set(names) <= set(operators(c.module)) and PASSES[3] in c.passes


def has_text(text: str) -> Callable[[Candidate], bool]:
    return lambda c: text in c.module.script()


# module, predicate, most bindings, parts of the script that must be there, parts that must not
TABLE: list[tuple[str, Callable[[Candidate], bool], int, tuple[str, ...], tuple[str, ...]]] = [
    ("tuples", has("exp"), 1, ("R.exp(", "R.Tensor((), "), ("R.add", "Tuple", "R.dataflow")),
    ("tuples", has("add", "multiply"), 2, ("R.add", "R.multiply"), ("R.exp", "Tuple", "relu")),
    ("branches", has("cos"), 1, ("R.cos",), ("if ", "R.exp", "R.sin")),
    ("branches", has("exp", "multiply"), 2, ("R.exp", "R.multiply"), ("if ", "R.sin")),
    ("branches", has_text("if "), 3, ("if ",), ("R.sin", "R.multiply")),
    ("symbols", has("concat"), 1, ("R.concat", "float32"), ("softmax", "match_cast")),
    ("symbols", has("nn.softmax"), 1, ("R.nn.softmax", "axis=-1"), ("TypeVar", "float16", "exp")),
    ("symbols", has("sum"), 1, ("R.sum", "keepdims=False"), ("softmax",)),
    ("symbols", has_text("match_cast"), 1, ("match_cast",), ("R.add", "R.concat", "softmax")),
    ("functions", has("exp"), 1, ("R.exp",), ("inner", "dead", "unused", "num_input", "np.")),
    ("functions", has("sigmoid"), 1, ("R.sigmoid",), ("R.exp", "R.tanh")),
    ("functions", has_text("cls.inner"), 1, ("cls.inner",), ("R.exp", "R.tanh", "unused", "dead")),
    ("tir", has_text("T.exp("), 0, ("T.exp(",), ("first", "if ", "for ")),
    ("tir", has_text('sblock("first")'), 0, ("first",), ("second", "for ", "T.exp")),
]


@pytest.mark.parametrize(("name", "interesting", "bindings", "kept", "gone"), TABLE, ids=range(len(TABLE)))
def test_what_the_predicate_needs_stays_and_all_else_goes(
    name: str, interesting: Callable[[Candidate], bool], bindings: int, kept: tuple[str, ...], gone: tuple[str, ...]
) -> None:
    reduction = reduce(candidate(name), interesting)
    script = reduction.candidate.module.script()
    assert interesting(reduction.candidate)
    assert reduction.finished
    assert reduction.bindings_after <= bindings, script
    assert reduction.oracle_calls < 200
    assert [part for part in kept if part not in script] == [], script
    assert [part for part in gone if part in script] == [], script
    assert reduction.candidate.passes in ((), PASSES[3:4]), "none where the predicate asks for none"
    assert reduction.candidate.setup == ()
    assert relax.analysis.check_well_formed(reduction.candidate.module)


@pytest.mark.parametrize("needed", [True, False])
def test_options_that_do_not_matter_go(needed: bool) -> None:
    start = candidate("tuples")
    start = replace(start, passes=(replace(start.passes[0], options="{'a': 1}"), *start.passes[1:]))
    reduction = reduce(start, lambda c: any(p.name == "A" and (p.options or not needed) for p in c.passes))
    assert reduction.candidate.passes == (PassCall("A", "A()", "{'a': 1}" if needed else ""),)


def test_tir_statements_go() -> None:
    reduction = reduce(candidate("tir"), has_text("T.exp("))
    assert reduction.statements_after < reduction.statements_before
    assert len(reduction.candidate.module["main"].params) == 1, "what is stored"


def runs(c: Candidate) -> list[np.ndarray[Any, Any]]:
    machine = relax.VirtualMachine(tvm.compile(c.module, "llvm"), tvm.cpu())
    return [
        machine[call.function](*(tvm.runtime.tensor(a) for a in call.arguments if isinstance(a, np.ndarray))).numpy()
        for call in c.calls
    ]


@pytest.mark.deep
def test_inputs_follow_the_module() -> None:
    def interesting(c: Candidate) -> bool:
        """Runs on its own inputs, and exp feeds the result."""
        return "exp" in operators(c.module) and len(c.calls) == 1 and len(runs(c)) == 1

    reduction = reduce(candidate("branches"), interesting, max_calls=60)
    assert reduction.bindings_after == 1
    (output,) = runs(reduction.candidate)
    (argument,) = reduction.candidate.calls[0].arguments
    assert isinstance(argument, np.ndarray)
    assert np.allclose(output, np.exp(argument))


def test_no_candidate_is_tried_twice_or_ill_formed() -> None:
    seen: set[object] = set()

    def interesting(c: Candidate) -> bool:
        names = tuple(call.name for call in (*c.setup, *c.passes))
        key = (c.module.script(show_meta=True), names, str(c.calls))
        assert key not in seen
        assert relax.analysis.check_well_formed(c.module)
        seen.add(key)
        return "softmax" in c.module.script()

    assert reduce(candidate("symbols"), interesting).oracle_calls == len(seen)


def test_the_search_never_slips() -> None:
    """`interesting` alone decides: with one that says no, the candidate comes back as it was."""
    start = candidate("functions")
    reduction = reduce(start, lambda c: False)
    assert reduction.candidate is start
    assert reduction.bindings_after == reduction.bindings_before


@pytest.mark.parametrize("name", list(MODULES))
def test_reduction_is_deterministic(name: str) -> None:
    def reduced() -> tuple[str, int]:
        tried: list[str] = []

        def interesting(c: Candidate) -> bool:
            tried.append(c.module.script(show_meta=True))
            return len(tried) % 3 == 0

        reduction = reduce(candidate(name), interesting, max_calls=60)
        return "".join(tried), reduction.bindings_after

    assert reduced() == reduced()


def test_a_pass_that_changes_its_input_does_no_harm() -> None:
    def interesting(c: Candidate) -> bool:
        fine = "exp" in operators(c.module)
        c.module.update_func(c.module.get_global_var("main"), c.module["main"].with_attr("touched", 1))
        return fine

    reduction = reduce(candidate("tuples"), interesting)
    assert reduction.bindings_after == 1
    assert "touched" not in reduction.candidate.module.script()


def test_calls_are_limited() -> None:
    calls = 0

    def interesting(c: Candidate) -> bool:
        nonlocal calls
        calls += 1
        return "exp" in operators(c.module)

    reduction = reduce(candidate("tuples"), interesting, max_calls=5)
    assert calls == reduction.oracle_calls == 5
    assert not reduction.finished
    assert "exp" in operators(reduction.candidate.module)


def test_time_is_limited() -> None:
    ticks: Iterator[int] = iter(range(1000))
    reduction = reduce(candidate("tuples"), has("exp"), budget_s=10.0, clock=lambda: float(next(ticks)))
    assert not reduction.finished
    assert reduction.oracle_calls <= 10


def test_dead_code_that_the_bug_needs_stays() -> None:
    reduction = reduce(
        candidate("functions"), lambda c: len(c.module.functions) == 3 and "sigmoid" in operators(c.module)
    )
    names = {name.name_hint for name in reduction.candidate.module.functions}
    assert names == {"main", "inner", "dead"}
    assert reduction.bindings_after <= 2


def test_a_bound_tuple_that_the_bug_needs_loses_its_other_fields() -> None:
    def interesting(c: Candidate) -> bool:
        """The result is a variable bound to a tuple, and exp is computed."""
        body = c.module["main"].body
        bound = [b.value for block in body.blocks for b in block.bindings if b.var.same_as(body.body)]
        return len(bound) == 1 and isinstance(bound[0], tvm.ir.Tuple) and "exp" in operators(c.module)

    reduction = reduce(candidate("tuples"), interesting)
    fields = reduction.candidate.module["main"].ret_ty.fields
    assert len(fields) == 1 and len(reduction.candidate.module["main"].params) == 1


RETURNED_TUPLE = """
    @R.function
    def main(x: R.Tensor((4,), dtype="float32"), y: R.Tensor((4,), dtype="float32")):
        with R.dataflow():
            a = R.exp(x)
            pair = (a, y)
            b = pair[0]
            c = R.sin(b)
            d = R.cos(y)
            R.output(pair, c, d)
        return (x, pair, d, c, y)
"""


def test_results_go_although_a_bound_tuple_must_stay_one_of_them() -> None:
    def tuple_and_another(candidate: Candidate) -> bool:
        body = candidate.module["main"].body
        bound = {b.var for block in body.blocks for b in block.bindings if isinstance(b.value, tvm.ir.Tuple)}
        results = list(body.body.fields) if isinstance(body.body, tvm.ir.Tuple) else []
        return "sin" in operators(candidate.module) and any(result in bound for result in results)

    small = reduce(Candidate(live_module(ModuleText(HEAD + RETURNED_TUPLE)), (), (), ()), tuple_and_another).candidate
    assert len(small.module["main"].body.body.fields) == 2, small.module.script()


def test_accepted_edits_are_counted_by_step() -> None:
    reduction = reduce(candidate("tuples"), has("exp"))
    assert dict(reduction.accepted)["passes"] == 5
    assert {name for name, _ in reduction.accepted} <= {step.name for step in STEPS}


def test_step_names_are_unique() -> None:
    assert len({step.name for step in STEPS}) == len(STEPS)


@pytest.mark.parametrize("index", range(15))
def test_taking_apart_and_rebuilding_gives_the_same_module(index: int) -> None:
    module = draw_program(SeededSource(5, index)).module
    assert T.structural_equal(realise(lift(module)).module, module)


@pytest.mark.parametrize("index", range(6))
def test_random_modules_get_small(index: int) -> None:
    program = draw_program(SeededSource(6, index), Knobs(operators=(12, 12)))
    wanted = operators(program.module)[-1]
    start = Candidate(program.module, (), PASSES, program.calls)
    reduction: Smallest = reduce(start, lambda c: wanted in operators(c.module))
    assert reduction.bindings_after <= 2, reduction.candidate.module.script()
    assert reduction.oracle_calls < 200


def test_no_pass_is_left_without_the_one_that_it_relies_on() -> None:
    whole = Candidate(live_module(ModuleText(HEAD + TUPLES)), (), tuple(map(default_call, LEGALISED)), ())

    def names(candidate: Candidate) -> list[str]:
        return [call.name for call in (*candidate.setup, *candidate.passes)]

    stored = reduce(whole, lambda candidate: "tirx.BF16StorageLegalize" in names(candidate)).candidate
    assert names(stored) == ["tirx.BF16ComputeLegalize", "tirx.BF16StorageLegalize"]
    lowered = reduce(whole, lambda candidate: "tirx.LowerIntrin" in names(candidate)).candidate
    assert names(lowered) == ["tirx.LowerIntrin"]
