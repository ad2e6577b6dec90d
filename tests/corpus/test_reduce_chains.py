"""PrimFuncs of many producers: wrong results shrink along the chain, and no read is left of an unwritten buffer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm import relax, te, tirx, topi

from corpus.reduce import Candidate, reduce
from corpus.reduce.prim_repair import traffic_of, without_statements
from fuzzer.trial.subject.entries import with_entries_in_place
from generators import tvm_api as T
from generators.case import EntryCall
from oracles.ir.walk import nodes_of, prim_funcs, relax_functions
from oracles.reference.engine import interpreted
from oracles.reference.errors import Trap
from oracles.reference.values import Tensor, flattened, from_argument
from tests.quick import one_in

GIVEN = np.linspace(-0.5, 0.5, 24, dtype="float32").reshape(4, 6)
HEAD = "@I.ir_module(s_tir=True)\nclass Module:\n"


def exp_to_exp2(module: Any) -> Any:
    """Wrong everywhere but at zero."""
    functions = dict(module.functions.items())
    for gvar, function in prim_funcs(module):
        swap = lambda call: tirx.exp2(call.args[0]) if T.op_name(call) == "tirx.exp" else call  # noqa: E731
        functions[gvar] = function.with_body(tvm_ffi.structural_map(function.body, [(T.Call, swap)]))
    return tvm.IRModule(functions, attrs=module.attrs)


def values(module: Any, calls: tuple[EntryCall, ...]) -> list[Any] | None:
    """The results of the entry call; of a PrimFunc alone what it leaves in its buffers. None for a trap."""
    if not relax_functions(module):
        module = with_entries_in_place(module)
        (name,) = [gvar.name_hint for gvar, _ in relax_functions(module)]
    else:
        name = calls[0].function
    try:
        result = interpreted(module)(name, [from_argument(each) for each in calls[0].arguments])
    except Trap:
        return None
    return [leaf.value for leaf in flattened(result) if isinstance(leaf, Tensor)]


def goes_wrong(candidate: Candidate) -> bool:
    if not candidate.calls:
        return False
    before = values(candidate.module, candidate.calls)
    after = values(exp_to_exp2(candidate.module), candidate.calls)
    return before is not None and after is not None and not all(map(np.allclose, before, after))


def chain(parts: int) -> Any:
    """About 11 statements to a part; the exp stands in the middle."""
    x = te.placeholder((4, 6), "float32", name="x")
    value = x
    for number in range(parts):
        value = topi.negative(topi.sum(topi.reshape(value, (4, 6, 1)), axis=2))
        value = topi.exp(value) if number == parts // 2 else topi.subtract(value, 0.125)
    return te.create_prim_func([x, topi.nn.log_softmax(value)])


def alone(function: Any) -> Candidate:
    given = (GIVEN, np.zeros((4, 6), "float32"))
    module = tvm.IRModule({"main": function.with_attr("global_symbol", "main")})
    return Candidate(module, (), (), (EntryCall("main", given),))


def called(function: Any) -> Candidate:
    """Called by a Relax function."""
    builder = relax.BlockBuilder()
    callee = builder.add_func(function.without_attr("global_symbol"), "chain")
    x = relax.Var("x", T.tensor_type((4, 6), "float32"))
    with builder.function("main", [x]):
        builder.emit_func_output(builder.emit(relax.call_tir(callee, (x,), T.tensor_type((4, 6), "float32"))))
    return Candidate(builder.get(), (), (), (EntryCall("main", (GIVEN,)),))


@pytest.mark.parametrize("around", [alone, called])
@pytest.mark.parametrize("lowered", one_in(2, [False, True]))
def test_a_wrong_result_shrinks_to_what_is_wrong(around: Callable[[Any], Candidate], lowered: bool) -> None:
    whole = around(chain(12))
    if lowered:
        names = ("LowerInitBlock", "ConvertBlocksToOpaque", "LowerOpaqueBlock")
        passes = [getattr(tvm.s_tir.transform, name)() for name in names]
        whole = Candidate(tvm.transform.Sequential(passes)(whole.module), (), (), whole.calls)
    assert goes_wrong(whole)
    reduction = reduce(whole, goes_wrong)
    assert goes_wrong(reduction.candidate) and reduction.finished
    assert reduction.statements_before > 100
    assert reduction.statements_after <= 3, reduction.candidate.module.script()
    assert reduction.oracle_calls < 120
    for _, function in prim_funcs(reduction.candidate.module):
        traffic = traffic_of(function.body)
        assert set(traffic.allocated) <= traffic.stored, "a buffer that nothing writes is no producer's"


PARTS = """
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
        B = T.alloc_buffer((8,), "float32")
        D = T.alloc_buffer((8,), "float32", scope="local")
        for i in range(8):
            B[i] = A[i] + T.float32(1)
        for i in range(8):
            D[i] = B[i] * B[i]
        for i in range(8):
            C[i] = D[i]
"""


def parts_of(source: str) -> tuple[Any, list[Any]]:
    function = T.module_from_script(HEAD + source)["main"]
    return function, nodes_of(function.body, tirx.For)


def names(buffers: Any) -> list[str]:
    return [str(buffer.name) for buffer in buffers]


@pytest.mark.parametrize(
    ("gone", "inputs", "results"),
    [
        ([0], ["B"], []),
        ([1], ["D"], ["B"]),
        ([2], [], ["D"]),
        ([0, 1], ["D"], []),
        ([0, 2], ["B"], ["D"]),
        ([0, 1, 2], [], []),
    ],
)
def test_what_is_read_and_not_written_is_an_input_and_what_is_written_and_not_read_a_result(
    gone: list[int], inputs: list[str], results: list[str]
) -> None:
    function, loops = parts_of(PARTS)
    left = without_statements(function.body, [loops[number] for number in gone], results=True)
    assert (names(left.inputs), names(left.results)) == (inputs, results)
    assert all(T.type_of(buffer).storage_scope in ("", "global") for buffer in (*left.inputs, *left.results))
    made = names(traffic_of(left.body).allocated)
    assert not set(made) & {*inputs, *results}


SUMS = """
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((8,), "float32"), C: T.Buffer((1,), "float32")):
        S = T.alloc_buffer((1,), "float32")
        S[0] = T.float32(0)
        for i in range(8):
            S[0] = S[0] + A[i]
        C[0] = S[0]
"""


def test_a_sum_without_its_start_is_given() -> None:
    function, _ = parts_of(SUMS)
    start = nodes_of(function.body, tirx.BufferStore)[0]
    left = without_statements(function.body, [start], results=True)
    assert names(left.inputs) == ["S"] and not left.results


PASSED = """
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((8,), "float32")):
        B = T.alloc_buffer((8,), "float32")
        for i in range(8):
            B[i] = A[i]
        T.evaluate(T.call_extern("int32", "f", T.address_of(B[0])))
"""


def test_a_buffer_whose_address_is_taken_stays_the_functions_own() -> None:
    function, loops = parts_of(PASSED)
    left = without_statements(function.body, loops, results=True)
    assert not left.inputs and not left.results and names(traffic_of(left.body).allocated) == ["B"]


SHARED = """
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
        for i in range(8):
            C[i] = A[i] * B[i]
"""


def test_operands_that_are_alike_become_one() -> None:
    given = tuple(np.ones(8, "float32") for _ in range(3))
    whole = Candidate(T.module_from_script(HEAD + SHARED), (), (), (EntryCall("main", given),))
    small = reduce(whole, multiplies_in_a_loop).candidate
    assert len(small.module["main"].params) == 2 == len(small.calls[0].arguments)


def multiplies_in_a_loop(candidate: Candidate) -> bool:
    loops = nodes_of(candidate.module["main"].body, tirx.For)
    products = [product for loop in loops for product in nodes_of(loop.body, tirx.Mul)]
    return bool(candidate.calls) and any(len(nodes_of(product, T.TensorLoad)) == 2 for product in products)
