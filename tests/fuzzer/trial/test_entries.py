"""PrimFuncs without callers get a Relax function that calls them, or stay as they are."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax, tirx

from corpus.scripts.module_text import live_module
from fuzzer.trial.subject.entries import NotCallable, pointers_of, with_buffers, with_entries, with_entries_in_place
from fuzzer.trial.subject.inputs import Undrawable, drawn_calls
from generators import tvm_api
from generators.case import Argument, EntryCall, ModuleText, Shape
from oracles.checks.round_trip import script_loss
from oracles.checks.type_soundness import contradictions
from oracles.checks.well_formed import complaint
from oracles.reference.numbers import Numbers
from oracles.reference.values import Tensor, flattened

HEAD = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def main({parameters}):
"""
BODY = """        for i in T.{loop}:
            with T.sblock("s"):
                vi = T.axis.spatial(4, i)
                {statement}
"""
FLOATS = 'x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")'


def module_of(parameters: str, statement: str, loop: str = "serial(4)") -> tvm.ir.IRModule:
    text = HEAD.format(parameters=parameters) + BODY.format(loop=loop, statement=statement)
    return live_module(ModuleText(text))


def test_the_last_buffer_is_what_comes_out() -> None:
    module = with_entries(module_of(FLOATS, "y[vi] = x[vi] + T.float32(1)"))
    assert not complaint(module)
    (call,) = drawn_calls(module, 0)
    assert call.function == "call_main"
    given = np.array([1, 2, 3, 4], "float32")
    (result,) = Numbers(module, (EntryCall("call_main", (given,)),)).expected
    assert isinstance(result, Tensor)
    assert result.value.tolist() == [2, 3, 4, 5]


@pytest.mark.parametrize(
    ("parameters", "statement", "loop"),
    [
        (FLOATS, "x[vi] = y[vi]", "serial(4)"),
        (FLOATS, "T.evaluate(0)", "serial(4)"),
        (FLOATS + ", n: T.int64", "y[vi] = x[vi]", "serial(4)"),
        (FLOATS, "y[vi] = x[vi]", 'thread_binding(4, thread="threadIdx.x")'),
    ],
    ids=["writes the first", "writes nothing", "takes a number", "for a GPU"],
)
def test_what_call_tir_cannot_call_stays_alone(parameters: str, statement: str, loop: str) -> None:
    module = module_of(parameters, statement, loop)
    assert with_entries(module).same_as(module)


def test_a_module_with_relax_functions_stays_as_it_is() -> None:
    script = (
        "@I.ir_module\nclass Module:\n    @R.function\n    def f(x: R.Tensor((2,), 'float32')):\n        return x\n"
    )
    module = live_module(ModuleText(script))
    assert with_entries(module).same_as(module)


NARROW = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def main(a: T.handle, b: T.handle):
        n = T.int32()
        x = T.match_buffer(a, (n,), "float32")
        y = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            with T.sblock("s"):
                vi = T.axis.spatial(n, i)
                y[vi] = x[vi] + x[vi]
"""


def test_extents_in_int32_are_symbols_of_relax() -> None:
    module = with_entries(live_module(ModuleText(NARROW)))
    (result,) = Numbers(module, (EntryCall("call_main", (np.array([1, 2, 3], "float32"),)),)).expected
    assert isinstance(result, Tensor)
    assert result.value.tolist() == [2, 4, 6]
    assert script_loss(module) is None
    assert not contradictions(module)


def test_names_without_a_type_get_one() -> None:
    module = module_of(FLOATS, "y[vi] = x[vi]")
    untyped = tvm.ir.IRModule({tvm.ir.GlobalVar("main"): module["main"]})
    assert {gvar.name_hint for gvar in with_entries(untyped).functions} == {"main", "call_main"}


# --- in place: any PrimFunc of buffers and scalars ---------------------------------------------------------------


def left_behind(module: tvm.ir.IRModule, *arguments: Argument) -> list[list[float]]:
    """What a call of `main` leaves in each buffer."""
    called = with_entries_in_place(module)
    assert not complaint(called)
    (result,) = Numbers(called, (EntryCall("call_main", arguments),)).expected
    return [np.asarray(leaf.value).tolist() for leaf in flattened(result) if isinstance(leaf, Tensor)]


FOUR = np.array([1, 2, 3, 4], "float32")


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("x[vi] = y[vi]", [[1, 1, 1, 1], [1, 1, 1, 1]]),
        ("y[vi] = y[vi] + x[vi]", [[1, 2, 3, 4], [2, 3, 4, 5]]),
        ("T.evaluate(0)", [[1, 2, 3, 4], [1, 1, 1, 1]]),
    ],
)
def test_every_buffer_is_read_and_written_in_place(statement: str, expected: list[list[float]]) -> None:
    assert left_behind(module_of(FLOATS, statement), FOUR, np.ones(4, "float32")) == expected


def test_a_scalar_is_an_argument() -> None:
    module = module_of('x: T.Buffer((4,), "float32"), n: T.int32', 'x[vi] = x[vi] + T.Cast("float32", n)')
    assert left_behind(module, FOUR, 3) == [[4, 5, 6, 7]]


SYMBOLIC = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def main(a: T.handle, n: T.int32):
        x = T.match_buffer(a, (n * 2,), "float32")
        for i in range(n):
            with T.sblock("s"):
                vi = T.axis.spatial(n, i)
                x[vi] = x[vi] + T.float32(1)
"""


def test_an_extent_that_no_buffer_says_is_an_argument() -> None:
    module = live_module(ModuleText(SYMBOLIC))
    assert left_behind(module, FOUR, Shape((2,))) == [[2, 3, 3, 4]]
    (call,) = drawn_calls(with_entries_in_place(module), 0)
    assert isinstance(call.arguments[1], Shape)
    assert call.arguments[0].shape == (2 * call.arguments[1].extents[0],)  # type: ignore[union-attr]


POINTER = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def main(a: T.handle("float32", "global")):
        x = T.decl_buffer((4,), "float32", data=a)
        for i in range(4):
            x[i] = x[i] * T.float32(2)
"""


def test_a_pointer_is_a_buffer_of_what_is_declared_there() -> None:
    module = live_module(ModuleText(POINTER))
    with pytest.raises(NotCallable, match="pointer"):
        with_entries_in_place(module)
    pointers = pointers_of(module)
    assert pointers == {"main": {0: (4, "float32")}}
    assert left_behind(with_buffers(module, pointers), FOUR) == [[2, 4, 6, 8]]


VECTORS = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def main(x: T.Buffer((2,), "float32x4"), n: T.int32):
        for i in range(2):
            x[i] = x[1 - i] + T.Broadcast(T.float32(1), 4)
"""


def test_a_buffer_of_vectors_is_one_of_their_elements() -> None:
    module = live_module(ModuleText(VECTORS))
    pointers = pointers_of(module)
    assert pointers == {"main": {0: (8, "float32")}}
    eight = np.arange(8, dtype=np.float32)
    expected = np.concatenate([eight[4:] + 1, eight[4:] + 2])
    assert left_behind(with_buffers(module, pointers), eight, 3) == [expected.tolist()]


def test_vectors_on_one_side_alone_are_not_compared() -> None:
    pointers = pointers_of(live_module(ModuleText(VECTORS)))
    other = live_module(
        ModuleText(VECTORS.replace('"float32x4"', '"float32"').replace("T.Broadcast(T.float32(1), 4)", "x[i]"))
    )
    with pytest.raises(NotCallable, match="one side"):
        with_buffers(other, pointers)


PACKED = """
@I.ir_module
class Module:
    @T.prim_func
    def main(self_handle: T.handle, args: T.handle, num_args: T.int32, result: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "global_symbol": "__tvm_ffi_main"})
        STATEMENT
        return 0
"""


def test_a_packed_function_that_reads_no_argument_takes_none() -> None:
    module = live_module(ModuleText(PACKED.replace("STATEMENT", 'T.call_packed("testing.echo", "payload")')))
    called = with_entries_in_place(module)
    assert Numbers(called, (EntryCall("call_main", ()),)).expected != ()
    reads = PACKED.replace("STATEMENT", 'n: T.let[T.int32] = T.tvm_struct_get(args, 0, 13, "int32")')
    with pytest.raises(NotCallable, match="does not say"):
        with_entries_in_place(live_module(ModuleText(reads)))


def test_a_packed_function_takes_the_scalars_and_extents_that_it_spells() -> None:
    n = tirx.Var("n", "int64")
    a, b = tirx.decl_buffer((n,), "float32", "a"), tirx.decl_buffer((n,), "float32", "b")
    k, i = tirx.Var("k", "int32"), tirx.Var("i", "int64")
    value = tirx.BufferLoad(a, [i]) * tirx.Cast("float32", k)
    loop = tirx.For(i, tirx.const(0, "int64"), n, tirx.ForKind.SERIAL, tirx.BufferStore(b, value, [i]))
    func = tirx.PrimFunc([a, k, b], loop).with_attr("global_symbol", "main")
    func = func.with_attr("target", tvm.target.Target("llvm", host="llvm"))
    packed = tirx.transform.MakePackedAPI()(tvm.IRModule({"main": func}))
    called = with_entries_in_place(packed)
    types = [tvm_api.type_of(parameter) for parameter in called["call_main"].params]
    assert [str(ty.dtype).removeprefix("T.") for ty in types] == ["float32", "int32", "float32"]
    assert types[0].shape.values[0].same_as(types[2].shape.values[0])
    call = EntryCall("call_main", (np.array([1, 2, 3], "float32"), 3, np.zeros(3, "float32")))
    (left,) = Numbers(called, (call,)).expected
    assert [leaf.value.tolist() for leaf in flattened(left)] == [[1, 2, 3], [3, 6, 9]]


def test_a_prim_func_without_buffers_is_run_for_what_it_does_wrong() -> None:
    text = POINTER.replace('a: T.handle("float32", "global")', "n: T.int32").replace(
        'T.decl_buffer((4,), "float32", data=a)', 'T.alloc_buffer((4,), "float32")'
    )
    called = with_entries_in_place(live_module(ModuleText(text)))
    numbers = Numbers(called, (EntryCall("call_main", (1,)),))
    assert getattr(numbers.expected, "reason", "") == "reference trap: uninitialised"
    clean = with_entries_in_place(live_module(ModuleText(text.replace("x[i] * T.float32(2)", "T.float32(2)"))))
    assert Numbers(clean, (EntryCall("call_main", (1,)),)).expected == ((),)


def test_a_module_read_from_json_is_called_too() -> None:
    module = tvm_api.module_from_json(tvm_api.json_of(module_of(FLOATS, "y[vi] = x[vi]")))
    assert left_behind(module, FOUR, np.ones(4, "float32")) == [[1, 2, 3, 4], [1, 2, 3, 4]]


def test_a_call_in_place_has_bounds_where_it_rounds() -> None:
    rounds = with_entries_in_place(module_of(FLOATS, "y[vi] = T.exp(x[vi])"))
    (result,) = Numbers(rounds, (EntryCall("call_main", (FOUR, FOUR)),)).expected
    copied, computed = flattened(result)
    assert isinstance(copied, Tensor)
    assert isinstance(computed, Tensor)
    assert computed.error is not None
    assert np.all(np.abs(computed.value - np.exp(FOUR.astype("float64"))) <= computed.error)
    assert np.all(computed.error < 1e-3 * computed.value)


HUGE = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1048576, 1048576), "int8")):
        return x
"""


def test_no_argument_is_drawn_that_memory_does_not_hold() -> None:
    with pytest.raises(Undrawable, match="more elements"):
        drawn_calls(live_module(ModuleText(HUGE)), 0)


OF_ANY = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Any, flag: R.Prim("bool")):
        return (x, flag)
"""


def test_a_parameter_of_any_type_is_given_a_tensor_and_a_truth_a_truth() -> None:
    (call,) = drawn_calls(live_module(ModuleText(OF_ANY)), 0)
    x, flag = call.arguments
    assert isinstance(x, np.ndarray)
    assert (x.dtype, flag) == (np.float32, True)


def test_a_distributed_parameter_is_given_the_whole_tensor() -> None:
    mesh = relax.distributed.DeviceMesh((2,), tvm.ir.Range(0, 2))
    placement = relax.distributed.Placement([relax.distributed.PlacementSpec.replica()])
    n = tirx.Var("n", "int64")
    x = relax.Var("x", relax.distributed.DTensorType(relax.TensorType((n, 3), "float32"), mesh, placement))
    y = relax.Var("y", relax.TensorType((n,), "float32"))
    (call,) = drawn_calls(tvm.IRModule({"main": relax.Function([x, y], relax.SeqExpr([], x), x.ty)}), 0)
    one, other = call.arguments
    assert isinstance(one, np.ndarray)
    assert isinstance(other, np.ndarray)
    assert (one.shape[1], one.shape[:1]) == (3, other.shape)
