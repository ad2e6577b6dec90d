"""The reference interpreter on legal use of memory that programs allocate: no trap, and the numbers by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from generators.case import EntryCall, Shape
from oracles.reference.engine import Interpreter
from oracles.reference.errors import Unsupported
from oracles.reference.values import Tensor
from tests.oracles.reference.storage_programs import (
    ALLOCATES,
    COPY,
    F4,
    HELPER,
    KILL_A,
    KILL_ST,
    KILLS_ITS_OWN,
    VIEW,
    WRITE_A,
    WRITE_IN_PLACE,
    fresh,
    module,
    plain,
    run,
    storage,
    tensor,
    vm_storage,
)

CLEAN: list[tuple[str, str, str, Any]] = [
    (
        "a tensor is killed after its last use",
        fresh("a") + WRITE_A + fresh("o") + COPY + KILL_A + "return o",
        "",
        [3, 4, 5, 6],
    ),
    ("a tuple keeps a killed tensor", fresh("a") + WRITE_A + "t = (a, x)\n" + KILL_A + "return t[0]", "", [2, 3, 4, 5]),
    ("a view keeps a killed tensor", fresh("a") + WRITE_A + VIEW + KILL_A + "return v", "", [[2, 3], [4, 5]]),
    (
        "another variable keeps a killed tensor",
        fresh("a") + WRITE_A + "b = a\n" + KILL_A + "return b",
        "",
        [2, 3, 4, 5],
    ),
    (
        "a storage may be killed before its tensor is written",
        storage("16") + tensor("a") + KILL_ST + WRITE_A + "return a",
        "",
        [2, 3, 4, 5],
    ),
    (
        "a callee may kill its argument for itself",
        "r = cls.helper(x)\nreturn (r, x)",
        HELPER + KILLS_ITS_OWN,
        ([2, 3, 4, 5], [1, 2, 3, 4]),
    ),
    (
        "an inner function may allocate what its caller fills",
        "a = cls.helper(x)\n" + WRITE_A + "return a",
        HELPER + ALLOCATES,
        [2, 3, 4, 5],
    ),
    (
        "a storage is used again after the last read of the first tensor",
        storage("16") + tensor("a") + WRITE_A + fresh("o") + COPY + tensor("b") + "_b = cls.inc(o, b)\nreturn (o, b)",
        "",
        ([3, 4, 5, 6], [4, 5, 6, 7]),
    ),
    (
        "tensors next to each other in a storage",
        storage("24") + tensor("a") + WRITE_A + tensor("b", 16, "2") + "_b = cls.inc2(y, b)\nreturn (a, b)",
        "",
        ([2, 3, 4, 5], [8, 9]),
    ),
    (
        "the half that is read was not overwritten",
        storage("16")
        + tensor("a")
        + WRITE_A
        + tensor("b", 8, "2")
        + "_b = cls.inc2(y, b)\n"
        + fresh("o")
        + "_o = cls.head(a, o)\nreturn (o, b)",
        "",
        ([12, 13, np.nan, np.nan], [8, 9]),
    ),
    (
        "an overwritten tensor that is written again",
        storage("16") + tensor("a") + WRITE_A + tensor("b") + "_b = cls.inc(x, b)\n_c = cls.inc(x, a)\nreturn a",
        "",
        [2, 3, 4, 5],
    ),
    (
        "the branch that overwrites is not taken",
        storage("16")
        + tensor("a")
        + WRITE_A
        + tensor("b")
        + "if c:\n    r = x\nelse:\n    _b = cls.inc(x, b)\n    r = R.add(x, x)\nw = R.add(a, r)\nreturn w",
        "",
        [3, 5, 7, 9],
    ),
    (
        "elements are enough after the lowering",
        vm_storage("4", "float32") + tensor("a") + WRITE_A + "return a",
        "",
        [2, 3, 4, 5],
    ),
    ("a storage of symbolic size", storage("n * 4") + tensor("a") + WRITE_A + "return a", "", [2, 3, 4, 5]),
    ("shape of unwritten memory", fresh("a") + "q = R.shape_of(a)\nreturn q", "", Shape((4,))),
    (
        "a view writes into its tensor",
        fresh("a") + VIEW + 'u = R.call_packed("vm.builtin.reshape", v, R.shape([4]), ty_args=(' + F4 + ",))\n"
        "_u = cls.inc(x, u)\nreturn (a, v)",
        "",
        ([2, 3, 4, 5], [[2, 3], [4, 5]]),
    ),
    (
        "a view of the second half",
        fresh("a") + WRITE_A + 'v = R.memory.view(a, R.shape([2]), R.dtype("float32"), R.prim_value(8))\nreturn v',
        "",
        [4, 5],
    ),
    (
        "written by a packed function",
        fresh("a") + '_a = R.call_packed("passfuzz.difference", x, x, a, ty_args=(R.Tuple,))\nreturn a',
        "",
        [0, 0, 0, 0],
    ),
    (
        "elements that a call has left out hold no number",
        fresh("a") + "_a = cls.head(x, a)\nreturn a",
        "",
        [11, 12, np.nan, np.nan],
    ),
    (
        "the same elements after a call_tir",
        f"a = R.call_tir(cls.head, (x,), out_ty={F4})\nreturn a",
        "",
        [11, 12, np.nan, np.nan],
    ),
    (
        "a call in place gives back the same memory",
        "y1 = R.add(x, x)\nt = (y1, x)\n" + WRITE_IN_PLACE + "return (z, y1, t[0], x)",
        "",
        ([4, 8, 12, 16], [4, 8, 12, 16], [4, 8, 12, 16], [1, 2, 3, 4]),
    ),
    (
        "a reshape of a value is a value of its own",
        "y1 = R.add(x, x)\nv = R.reshape(y1, R.shape([2, 2]))\n" + WRITE_IN_PLACE + "return (z, v)",
        "",
        ([4, 8, 12, 16], [[2, 4], [6, 8]]),
    ),
    (
        "a call in place of an allocated tensor",
        fresh("y1")
        + "_a = cls.inc(x, y1)\nv = R.reshape(y1, R.shape([2, 2]))\n"
        + WRITE_IN_PLACE
        + "return (z, y1, v)",
        "",
        ([4, 6, 8, 10], [4, 6, 8, 10], [[4, 6], [8, 10]]),
    ),
    (
        "closures after the lowering",
        'f = R.call_packed("vm.builtin.make_closure", cls.helper, x, ty_args=(R.Object,))\n'
        'r = R.call_builtin_with_ctx("vm.builtin.invoke_closure", (f,), ty_args=(' + F4 + ",))\nreturn r",
        HELPER + KILLS_ITS_OWN,
        [2, 3, 4, 5],
    ),
]


@pytest.mark.parametrize(("body", "more", "expected"), [c[1:] for c in CLEAN], ids=[c[0] for c in CLEAN])
def test_legal_use_of_memory_gives_numbers(body: str, more: str, expected: Any) -> None:
    assert repr(run(body, more)) == repr(_as_floats(expected))


def _as_floats(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)(_as_floats(v) for v in value)
    return value if isinstance(value, Shape) else float(value)


def test_constant_written_in_place_stays_written_in_the_next_entry_call() -> None:
    # The VM keeps constants in one pool for as long as it lives.
    once = module(
        f"z = R.call_tir_inplace(cls.double, (k,), inplace_indices=[0], out_ty={F4})\nreturn z", "", f"k: {F4}"
    )
    bound = relax.transform.BindParams("main", {"k": np.ones(4, np.float32)})(once)
    constants: dict[Any, Tensor] = {}
    results = [
        plain(machine.apply(machine.function("main"), [], "main"))
        for machine in (Interpreter(bound, constants=constants) for _ in range(2))
    ]
    assert results == [[2, 2, 2, 2], [4, 4, 4, 4]]


def test_constants_of_the_same_contents_are_one_memory_as_in_the_vm() -> None:
    # ExecBuilder::ConvertConstant keeps one of those that are structurally equal; a compiled module gives the same.
    body = f"z = R.call_tir_inplace(cls.double, (k,), inplace_indices=[0], out_ty={F4})\nreturn (z, l, m)"
    params = f"k: {F4}, l: {F4}, m: {F4}"
    values = {"k": np.ones(4, np.float32), "l": np.ones(4, np.float32), "m": np.full(4, 3, np.float32)}
    bound = relax.transform.BindParams("main", values)(module(body, "", params))
    machine = Interpreter(bound)
    assert plain(machine.apply(machine.function("main"), [], "main")) == ([2] * 4, [2] * 4, [3] * 4)
    vm = relax.VirtualMachine(tvm.compile(bound, "llvm"), tvm.cpu())
    assert [part.numpy().tolist() for part in vm["main"]()] == [[2] * 4, [2] * 4, [3] * 4]


def test_arguments_of_an_entry_call_stay_as_they_were() -> None:
    body = 'z = R.call_tir_inplace(cls.twice, (k,), inplace_indices=[0], out_ty=R.Tensor((4,), "int32"))\nreturn z'
    more = """    @T.prim_func(private=True, s_tir=True)
    def twice(A: T.Buffer((T.int64(4),), "int32")):
        for i in range(T.int64(4)):
            with T.sblock("b"):
                vi = T.axis.spatial(T.int64(4), i)
                A[vi] = A[vi] * 2
"""
    given = np.array([1, 2, 3, 4], np.int32)
    result = Interpreter(module(body, more, 'k: R.Tensor((4,), "int32")')).run(EntryCall("main", (given,)))
    assert plain(result) == [2, 4, 6, 8]
    assert given.tolist() == [1, 2, 3, 4]


def test_view_in_another_dtype_has_the_same_bits() -> None:
    viewed = run(fresh("a") + WRITE_A + 'v = R.memory.view(a, R.shape([4]), R.dtype("int32"))\nreturn v')
    floats = np.array(plain(run(fresh("a") + WRITE_A + "return a")), np.float32)
    assert floats.any()
    assert plain(viewed) == floats.view(np.int32).tolist()


def test_view_in_a_dtype_of_another_width_is_unsupported() -> None:
    with pytest.raises(Unsupported):
        run(fresh("a") + WRITE_A + 'v = R.memory.view(a, R.shape([8]), R.dtype("float16"))\nreturn v')
