"""Functions that go through small ranges of integers: all values are seen, all are defined, wrong rewrites show."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi
from hypothesis import HealthCheck, given, settings
from tvm import relax, tirx

from generators import tvm_api
from generators.passes.analyzer import ROWS
from generators.passes.row import PassRow
from generators.passes.table import PASSES
from generators.program_facts import Feature
from generators.ranges import Range
from generators.source import SeededSource
from generators.strategies import integer_funcs
from generators.tir.function_draft import FunctionDraft
from generators.tir.functions import finished
from generators.tir.integer_axes import draw_axes
from generators.tir.integers import draw_integer_func
from generators.tir.knobs import INTEGERS
from generators.tir.prim_program import PrimProgram
from generators.tir.relax_caller import wrapped
from generators.tir.terms import bounded
from oracles.reference.engine import Interpreter
from oracles.reference.errors import Trap
from oracles.reference.tir import run_prim_func
from oracles.reference.values import Tensor
from tests.quick import one_in

SEEDS = 300
FEATURES = (
    *("add", "sub", "mul", "floordiv", "floormod", "truncdiv", "truncmod", "negative_division", "guarded_division"),
    *("min", "max", "shift_left", "shift_right", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "popcount"),
    *("lt", "le", "gt", "ge", "eq", "ne", "logic", "select", "if_then_else", "cast", "let", "likely", "repeated"),
    *("if_then_else_statement", "assert", "assume", "bind", "computed_index", "flat_output", "reversed"),
    *("shifted_loop", "offset", "loop_step", "split", "guarded_split", "fused", "unrolled"),
    *("symbolic", "scalar_parameter", "int32_index", "dtype_bool"),
    *(f"dtype_{name}" for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")),
)
FEW = 200
"""Wrong rewrites must show on so many functions."""


@cache
def drawn(seed: int) -> PrimProgram:
    """A program; the tests look at the same ones."""
    return draw_integer_func(SeededSource(23, seed))


def outputs(program: PrimProgram, module: Any, fill: int | None = None) -> list[Any]:
    """What the reference gives; `fill`: what outputs hold before."""
    arguments = program.fresh_arguments()
    for number in program.outputs if fill is not None else ():
        arguments[number].fill(fill)
    run_prim_func(module[program.function], arguments, program.initialised())
    return [arguments[number] for number in program.outputs]


@pytest.mark.parametrize("first", one_in(2, range(0, SEEDS, 50)))
def test_functions_are_well_formed_and_defined(first: int) -> None:
    for seed in range(first, first + 50):
        program = drawn(seed)
        assert tirx.analysis.verify_well_formed(program.func, assert_mode=False), seed
        for number, array in zip(program.outputs, outputs(program, program.module), strict=True):
            declared = program.parameters[number].range
            assert array.size == 0 or (declared.low <= array.min() and array.max() <= declared.high), (seed, number)


def test_every_element_is_written() -> None:
    for seed in range(60):
        program = drawn(seed)
        for one, other in zip(outputs(program, program.module, 0), outputs(program, program.module, 1), strict=True):
            np.testing.assert_array_equal(one, other, err_msg=str(seed))


def test_variables_take_every_value_and_every_combination() -> None:
    kinds: set[str] = set()
    for seed in range(250):
        draft = FunctionDraft(SeededSource(3, seed), INTEGERS, index_dtype="int32")
        axes = [axis for _ in range(2) for axis in draw_axes(draft, [], 24)]
        stores = []
        for axis in axes:
            assert bounded(axis.term, axis.term.range) is axis.term
            dims = tuple(a.extent for a in axes)
            buffer = draft.add_tensor("O", dims, "int32", Range(-99, 99, True), role="output").buffer
            stores.append(tirx.BufferStore(buffer, axis.term.expr, [a.index.expr for a in axes]))
        body: Any = tirx.SeqStmt(stores)
        for axis in axes:
            body = body if axis.guard is None else tirx.IfThenElse(axis.guard, body, None)
        for axis in reversed(axes):
            body = axis.around(body)
        draft.statements.append(body)
        program = finished(draft, schedulable=False)
        values = outputs(program, program.module, 77)
        combinations = set(zip(*(array.ravel().tolist() for array in values), strict=True))
        for axis, array in zip(axes, values, strict=True):
            seen = sorted(set(array.ravel().tolist()))
            assert (seen[0], seen[-1]) == (axis.term.range.low, axis.term.range.high), seed
            assert len(seen) == axis.extent.value and len({b - a for a, b in zip(seen, seen[1:], strict=False)}) <= 1
        assert len(combinations) == values[0].size, seed
        kinds |= draft.features
    assert kinds >= {"shifted_loop", "offset", "loop_step", "split", "guarded_split", "fused"}


def test_tables_hold_every_value_of_their_range() -> None:
    for seed in range(60):
        program = drawn(seed)
        tables = [
            (p, a)
            for p, a in zip(program.parameters, program.arguments, strict=True)
            if p.name.startswith("V") and p.dims is not None
        ]
        assert tables
        for parameter, array in tables:
            assert array.tolist() == list(range(int(parameter.range.low), int(parameter.range.high) + 1))


@pytest.mark.parametrize("feature", FEATURES)
def test_every_operator_and_kind_of_variable_is_drawn(feature: str) -> None:
    assert any(feature in drawn(seed).features for seed in range(SEEDS))


def test_the_same_source_gives_the_same_function() -> None:
    for seed in range(20):
        again = draw_integer_func(SeededSource(23, seed))
        assert tvm_ffi.structural_equal(again.module, drawn(seed).module)
        for one, other in zip(again.arguments, drawn(seed).arguments, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_wrapped_function_gives_the_same() -> None:
    for seed in range(30):
        program = drawn(seed)
        module = wrapped(program)
        assert relax.analysis.check_well_formed(module.module), seed
        value = Interpreter(module.module).run(module.calls[0])
        fields = value if isinstance(value, tuple) else (value,)
        for one, other in zip(fields, outputs(program, program.module), strict=True):
            assert isinstance(one, Tensor)
            np.testing.assert_array_equal(one.value, other, err_msg=str(seed))


@settings(max_examples=10, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(integer_funcs())
def test_the_strategy_draws_valid_functions(program: PrimProgram) -> None:
    assert tirx.analysis.verify_well_formed(program.func, assert_mode=False)
    assert outputs(program, program.module)


def _nested_quotient(node: Any) -> Any:
    """x // a // b as x // a."""
    return node.a if isinstance(node.a, tirx.FloorDiv) else node


def _remainder_of_a_product(node: Any) -> Any:
    """(x * a + y) % b as y % b for any a."""
    inner = node.a
    return tirx.FloorMod(inner.b, node.b) if isinstance(inner, tirx.Add) and isinstance(inner.a, tirx.Mul) else node


def _narrowed(node: Any) -> Any:
    """A conversion to 64 bits that goes by 8: in code what wraps, for the reference an overflow or another value."""
    if str(node.ty) != "int64" or not str(node.value.ty).startswith("int"):
        return node
    return tirx.Cast("int64", tirx.FloorMod(node.value, tirx.IntImm(str(node.value.ty), 8)))


_WRONG: tuple[tuple[str, Any, Callable[[Any], Any]], ...] = (
    ("floordiv truncates", tirx.FloorDiv, lambda e: tirx.Div(e.a, e.b)),
    ("floormod has the sign of the dividend", tirx.FloorMod, lambda e: tirx.Mod(e.a, e.b)),
    ("truncdiv floors", tirx.Div, lambda e: tirx.FloorDiv(e.a, e.b)),
    ("truncmod has the sign of the divisor", tirx.Mod, lambda e: tirx.FloorMod(e.a, e.b)),
    ("min is max", tirx.Min, lambda e: tirx.Max(e.a, e.b)),
    ("max is min", tirx.Max, lambda e: tirx.Min(e.a, e.b)),
    ("less is less or equal", tirx.LT, lambda e: tirx.LE(e.a, e.b)),
    ("not greater is less", tirx.LE, lambda e: tirx.LT(e.a, e.b)),
    ("and is or", tirx.And, lambda e: tirx.Or(e.a, e.b)),
    ("a difference is its negative", tirx.Sub, lambda e: tirx.Sub(e.b, e.a)),
    ("sides of a Select are exchanged", tirx.Select, lambda e: tirx.Select(e.condition, e.false_value, e.true_value)),
    ("a quotient of a quotient is the quotient", tirx.FloorDiv, _nested_quotient),
    ("a product vanishes under a remainder", tirx.FloorMod, _remainder_of_a_product),
    ("an index is narrowed", tirx.Cast, _narrowed),
)


@pytest.mark.parametrize(("node", "rewrite"), [pytest.param(n, f, id=name) for name, n, f in _WRONG])
def test_a_wrong_rewrite_is_seen_on_few_functions(node: Any, rewrite: Callable[[Any], Any]) -> None:
    assert any(_differs(drawn(seed), node, rewrite) for seed in range(FEW))


def _differs(program: PrimProgram, node: Any, rewrite: Callable[[Any], Any]) -> bool:
    wrong = tvm.IRModule({program.function: tvm_ffi.structural_map(program.func, (node, rewrite))})
    return _other(program, wrong)


def _other(program: PrimProgram, module: Any) -> bool:
    """Whether the numbers of the module are others, or undefined."""
    expected = outputs(program, program.module)
    try:
        found = outputs(program, module)
    except Trap as trap:
        return trap.kind != "integer-overflow"
    return not all(np.array_equal(one, other) for one, other in zip(expected, found, strict=True))


def test_equal_expressions_taken_out_of_their_guards_are_seen() -> None:
    def unguarded(call: Any) -> Any:
        return call.args[1] if str(tvm_api.op_name(call)).endswith(".if_then_else") else call

    assert any(_differs(drawn(seed), tvm_api.Call, unguarded) for seed in range(FEW))


def _applied(text: str, program: PrimProgram) -> Any | None:
    """The module after the pass; None where TVM refuses what is no fault of the function."""
    try:
        return eval(text, dict(tvm_api.PASS_NAMES))(program.module)
    except tvm.error.InternalError:
        return None


SOURCES = tuple(source for row in ROWS for source in row.sources)


@pytest.mark.parametrize("source", SOURCES)
def test_the_analyzer_rewrites_most_functions_and_keeps_them_well_formed(source: str) -> None:
    changed = 0
    for seed in range(60):
        after = _applied(source, drawn(seed))
        if after is None:
            continue
        changed += not tvm_ffi.structural_equal(after, drawn(seed).module)
        assert tirx.analysis.verify_well_formed(after["main"], assert_mode=False), seed
        assert tvm_ffi.structural_equal(_applied(source, drawn(seed)), after), seed
    assert changed > 15


VECTORS = """@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "bool")):
        A[0:4] = A[T.Ramp(4, 1, 4)] + T.Broadcast(3, 4)
        B[0:4] = A[T.Ramp(4, 1, 4)] < T.Broadcast(3, 4)
"""


@pytest.mark.parametrize(
    ("of", "true", "false"),
    [
        ("const_int_bound", "number(s.max_value)", "number(s.max_value - 1)"),
        ("const_int_bound", "number(s.min_value)", "number(s.min_value + 1)"),
        ("modular_set", "s.coeff) * s.coeff + s.base if", "s.coeff) * s.coeff + s.base + 1 if"),
        ("int_set", "number(s.max_value)", "number(s.max_value - 1)"),
        (
            "known.simplify",
            "[known.simplify(e) for e in store.indices]",
            "[known.simplify(e * 0) for e in store.indices]",
        ),
        (
            "can_prove",
            "else tirx.IntImm('bool', 0) if known.can_prove(tirx.Not(e)) else e",
            "else tirx.IntImm('bool', 0)",
        ),
    ],
)
def test_a_false_claim_of_the_analyzer_is_seen_on_few_functions(of: str, true: str, false: str) -> None:
    (source,) = (text for text in SOURCES if of in text and true in text)
    results = ((drawn(seed), _applied(source.replace(true, false), drawn(seed))) for seed in range(FEW))
    assert any(_other(program, module) for program, module in results if module is not None)


REMAINDERS = """@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((8,), "int32")):
        for i in range(8):
            A[i] = MOD(i - 4, 3) * 2
"""


def test_a_set_of_truncmod_is_no_claim_and_one_of_floormod_is() -> None:
    """TVM's source says that the one is for dividends that are not negative."""
    (source,) = (text for text in SOURCES if ".int_set(" in text)
    kept = {}
    for name in ("T.truncmod", "T.floormod"):
        module = tvm_api.module_from_script(REMAINDERS.replace("MOD", name))
        kept[name] = tvm_ffi.structural_equal(eval(source, dict(tvm_api.PASS_NAMES))(module), module)
    assert kept == {"T.truncmod": True, "T.floormod": False}


def test_the_analyzer_leaves_vectors_alone() -> None:
    """What it says is of single numbers."""
    module = tvm_api.module_from_script(VECTORS)
    for source in SOURCES:
        assert tvm_ffi.structural_equal(eval(source, dict(tvm_api.PASS_NAMES))(module), module), source


def test_the_analyzer_leaves_floats_alone() -> None:
    buffer = tirx.decl_buffer([4], "float32", "a", layout=None)
    index = tirx.Var("i", "int32")
    value = tirx.Sub(tirx.BufferLoad(buffer, [index]), tirx.BufferLoad(buffer, [index]))
    zero, four = tirx.IntImm("int32", 0), tirx.IntImm("int32", 4)
    body = tirx.For(index, zero, four, tirx.ForKind.SERIAL, tirx.BufferStore(buffer, value, [index]))
    func = tirx.PrimFunc([buffer], body).with_attr({"global_symbol": "main"})
    module = tvm.IRModule({"main": func})
    for source in SOURCES:
        assert tvm_ffi.structural_equal(eval(source, dict(tvm_api.PASS_NAMES))(module), module)


def test_rows_of_integer_rewrites_are_named() -> None:
    rows: list[PassRow] = [row for row in PASSES.values() if Feature.INTEGERS in row.fires.wants]
    assert {row.name for row in rows} == {
        *(row.name for row in ROWS),
        *("tirx.StmtSimplify", "s_tir.StmtSimplify", "tirx.NarrowDataType", "tirx.CommonSubexprElim"),
        *("tirx.ForceNarrowIndexToInt32", "s_tir.RenormalizeSplitPattern"),
    }
