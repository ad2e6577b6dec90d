"""The reference interpreter on faults in memory that programs allocate: storages, ends of variables, views.

Every trap has a program with the fault planted by hand; what is nearly the same and right is in
`test_storage_clean`.
"""

from __future__ import annotations

from typing import Any

import pytest
from tvm import relax

from generators.case import Argument, EntryCall
from oracles.reference.errors import Trap
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import Wrong
from tests.oracles.reference.storage_programs import (
    ALLOCATES,
    BRANCH_KILLS,
    COPY,
    F4,
    FALSE,
    HELPER,
    KILL_A,
    KILL_ST,
    RETURNS_KILLED,
    TRUE,
    VIEW,
    VM_KILL,
    WRITE_A,
    X,
    fresh,
    module,
    run,
    storage,
    tensor,
    vm_storage,
)

TRAPS: list[tuple[str, str, str, str, list[str]]] = [
    (
        "a killed tensor is read",
        fresh("a") + WRITE_A + KILL_A + fresh("o") + COPY + "return o",
        "",
        "use-after-kill",
        ["variable a", "main"],
    ),
    ("a killed tensor is written", fresh("a") + KILL_A + WRITE_A + "return x", "", "use-after-kill", ["variable a"]),
    ("a killed tensor is returned", fresh("a") + WRITE_A + KILL_A + "return a", "", "use-after-kill", ["variable a"]),
    (
        "a killed tensor goes into a tuple",
        fresh("a") + WRITE_A + KILL_A + "t = (x, a)\nreturn t",
        "",
        "use-after-kill",
        ["variable a"],
    ),
    (
        "a tensor is made in a killed storage",
        storage("16") + KILL_ST + tensor("a") + WRITE_A + "return a",
        "",
        "use-after-kill",
        ["variable st", "main"],
    ),
    (
        "a killed object is read, after the lowering",
        fresh("a") + WRITE_A + f"_k = {VM_KILL}(a)\nreturn a",
        "",
        "use-after-kill",
        ["variable a"],
    ),
    (
        "an argument that the callee has killed is returned by it",
        "r = cls.helper(x)\nreturn r",
        HELPER + RETURNS_KILLED,
        "use-after-kill",
        ["variable p", "helper"],
    ),
    (
        "a tensor is killed twice",
        fresh("a") + WRITE_A + KILL_A * 2 + "return x",
        "",
        "double-free",
        ["variable a", "main"],
    ),
    ("a storage is killed twice", storage("16") + KILL_ST * 2 + "return x", "", "double-free", ["variable st"]),
    (
        "killed before the lowering and after it",
        fresh("a") + WRITE_A + KILL_A + f"_l = {VM_KILL}(a)\nreturn x",
        "",
        "double-free",
        ["variable a"],
    ),
    (
        "a branch kills what is killed after it",
        fresh("a") + WRITE_A + BRANCH_KILLS + KILL_A + "return r",
        "",
        "double-free",
        ["variable a"],
    ),
    (
        "a tensor is read after another was written over it",
        storage("16") + tensor("a") + WRITE_A + tensor("b") + "_b = cls.inc(a, b)\nreturn b",
        "",
        "storage-overlap",
        ["variable a", "inc"],
    ),
    (
        "a tensor is read two calls after another was written over it",
        storage("16") + tensor("a") + WRITE_A + tensor("b") + "_b = cls.inc(x, b)\n" + fresh("o") + COPY + "return o",
        "",
        "storage-overlap",
        ["variable a", "variable b", "inc"],
    ),
    (
        "one byte of the last element is overwritten",
        storage("32") + tensor("a") + WRITE_A + tensor("b", 15, "2") + "_b = cls.inc2(y, b)\nreturn a",
        "",
        "storage-overlap",
        ["variable a", "variable b", "the caller of function main"],
    ),
    (
        "an overwritten tensor of another dtype is returned",
        storage("16") + tensor("a") + WRITE_A + tensor("h", 0, "8", "float16") + "_h = cls.halves(x, h)\nreturn (a, h)",
        "",
        "storage-overlap",
        ["variable a", "variable h"],
    ),
    (
        "a view is read after its tensor was overwritten",
        storage("16")
        + tensor("a")
        + WRITE_A
        + VIEW
        + tensor("b")
        + "_b = cls.inc(x, b)\n"
        + fresh("o")
        + "_o = cls.flat(v, o)\nreturn o",
        "",
        "storage-overlap",
        ["variable v", "variable b"],
    ),
    (
        "the condition's branch overwrites what is read after it",
        storage("16")
        + tensor("a")
        + WRITE_A
        + tensor("b")
        + "if c:\n    _b = cls.inc(x, b)\n    r = R.add(x, x)\nelse:\n    r = x\nw = R.add(a, r)\nreturn w",
        "",
        "storage-overlap",
        ["variable a", "relax.add"],
    ),
    (
        "a tensor is larger than its storage",
        storage("12") + tensor("a") + WRITE_A + "return a",
        "",
        "out-of-bounds",
        ["variable a", "16 bytes at 0", "variable st", "12"],
    ),
    (
        "a tensor ends after its storage",
        storage("16") + tensor("a", 4) + WRITE_A + "return a",
        "",
        "out-of-bounds",
        ["16 bytes at 4"],
    ),
    (
        "a tensor begins before its storage",
        storage("16") + tensor("a", -4) + "return x",
        "",
        "out-of-bounds",
        ["at -4"],
    ),
    (
        "a storage of symbolic size is too small",
        storage("n * 4") + tensor("a") + WRITE_A + "return a",
        "",
        "out-of-bounds",
        ["variable st", "of 12"],
    ),
    (
        "a storage counts elements after the lowering",
        vm_storage("4", "uint8") + tensor("a") + WRITE_A + "return a",
        "",
        "out-of-bounds",
        ["of 4"],
    ),
    (
        "a view is larger than its tensor",
        fresh("a") + WRITE_A + "v = R.memory.view(a, R.shape([n * 2]))\nreturn v",
        "",
        "out-of-bounds",
        ["view of 6 elements"],
    ),
    ("an unwritten value is returned", fresh("a") + "return a", "", "uninitialised", ["variable a", "main"]),
    (
        "a PrimFunc reads unwritten memory",
        fresh("a") + fresh("o") + COPY + "return o",
        "",
        "uninitialised",
        ["variable a", "main", "inc"],
    ),
    (
        "a PrimFunc reads elements that none wrote",
        fresh("a") + "_a = cls.head(x, a)\n" + fresh("o") + COPY + "return o",
        "",
        "uninitialised",
        ["variable a", "inc"],
    ),
    (
        "a call_tir reads elements that none wrote",
        f"a = R.call_tir(cls.head, (x,), out_ty={F4})\nb = R.call_tir(cls.inc, (a,), out_ty={F4})\nreturn b",
        "",
        "uninitialised",
        ["variable a", "inc"],
    ),
    (
        "an operator reads unwritten memory",
        fresh("a") + "o = R.add(a, x)\nreturn o",
        "",
        "uninitialised",
        ["variable a", "relax.add"],
    ),
    (
        "a packed function reads unwritten memory",
        fresh("a") + f'o = R.call_packed("passfuzz.negated", a, ty_args=({F4},))\nreturn o',
        "",
        "uninitialised",
        ["variable a", "passfuzz.negated"],
    ),
    (
        "a storage that was used does not make the next tensor in it written",
        storage("16") + tensor("a") + WRITE_A + KILL_A + tensor("b") + "return b",
        "",
        "uninitialised",
        ["variable b"],
    ),
    (
        "a view of unwritten memory is returned",
        fresh("a") + VIEW + "return v",
        "",
        "uninitialised",
        ["variable a"],
    ),
    (
        "what an inner function has allocated is read unwritten",
        "r = cls.helper(x)\nreturn r",
        HELPER + ALLOCATES,
        "uninitialised",
        ["variable q", "helper"],
    ),
    ("a variable that is no storage", tensor("a", place="x") + "return a", "", "type", ["variable a", "Tensor"]),
]


@pytest.mark.parametrize(("body", "more", "kind", "words"), [t[1:] for t in TRAPS], ids=[t[0] for t in TRAPS])
def test_planted_fault_traps_and_is_named(body: str, more: str, kind: str, words: list[str]) -> None:
    with pytest.raises(Trap) as trap:
        run(body, more, extent=3)
    assert trap.value.kind == kind, trap.value
    assert [w for w in words if w not in trap.value.detail] == [], trap.value.detail


@pytest.mark.parametrize(("flag", "killed"), [(TRUE, True), (FALSE, False)])
def test_end_of_a_variable_is_that_of_the_branch_taken(flag: Argument, killed: bool) -> None:
    body = fresh("a") + WRITE_A + BRANCH_KILLS + "w = R.add(a, r)\nreturn w"
    if not killed:
        assert run(body, flag=flag) == [5, 8, 11, 14]
        return
    with pytest.raises(Trap) as trap:
        run(body, flag=flag)
    assert trap.value.kind == "use-after-kill"


CHAIN = f"""
a = R.call_tir(cls.inc, (x,), out_ty={F4})
b = R.call_tir(cls.inc, (a,), out_ty={F4})
d = R.call_tir(cls.inc, (b,), out_ty={F4})
return d
"""


def planned() -> tuple[Any, Numbers]:
    """The chain as KillAfterLastUse leaves it, and the judge of what it means."""
    start = module(CHAIN, "", f"x: {F4}")
    low = start
    for name in ("RemovePurityChecking", "CallTIRRewrite", "StaticPlanBlockMemory", "KillAfterLastUse"):
        low = getattr(relax.transform, name)()(low)
    return low, Numbers(start, [EntryCall("main", (X,))])


def rewritten(low: Any, change: Any) -> Any:
    """The module with main's bindings changed: a list in, a list out."""
    function = low["main"]
    bindings = change([b for block in function.body.blocks for b in block.bindings])
    body = relax.BlockBuilder().normalize(relax.SeqExpr([relax.BindingBlock(bindings)], function.body.body))
    broken = low.clone()
    broken["main"] = relax.Function(function.params, body, function.ret_ty, function.is_pure, function.attrs)
    return broken


def _of(bindings: list[Any], name: str) -> list[int]:
    return [i for i, b in enumerate(bindings) if getattr(getattr(b.value, "op", None), "name", "") == name]


def _first_kill_again(bindings: list[Any]) -> list[Any]:
    place = _of(bindings, "relax.memory.kill_tensor")[0]
    return [
        *bindings[: place + 1],
        relax.VarBinding(relax.Var("_again"), bindings[place].value),
        *bindings[place + 1 :],
    ]


def _first_kill_to_the_front(bindings: list[Any]) -> list[Any]:
    made, killed = _of(bindings, "relax.memory.alloc_tensor")[0], _of(bindings, "relax.memory.kill_tensor")[0]
    moved = bindings.pop(killed)
    return [*bindings[: made + 1], moved, *bindings[made + 1 :]]


def _one_storage_for_all(bindings: list[Any]) -> list[Any]:
    kept = bindings[_of(bindings, "relax.memory.alloc_storage")[0]].var
    for place in _of(bindings, "relax.memory.alloc_tensor"):
        call = bindings[place].value
        changed = relax.Call(call.op, [kept, *call.args[1:]], call.attrs, call.ty_args)
        relax.expr._update_type(changed, call.ty)
        bindings[place] = relax.VarBinding(bindings[place].var, changed)
    return [b for i, b in enumerate(bindings) if i not in _of(bindings, "relax.memory.kill_storage")]


def _first_call_left_out(bindings: list[Any]) -> list[Any]:
    calls = [i for i, b in enumerate(bindings) if "inc" in str(getattr(b.value, "op", ""))]
    return [b for i, b in enumerate(bindings) if i != calls[0]]


@pytest.mark.parametrize(
    ("change", "symptom"),
    [
        (_first_kill_again, "reference trap: double-free"),
        (_first_kill_to_the_front, "reference trap: use-after-kill"),
        (_one_storage_for_all, "reference trap: storage-overlap"),
        (_first_call_left_out, "reference trap: uninitialised"),
    ],
)
def test_fault_planted_into_planned_memory_becomes_a_verdict(change: Any, symptom: str) -> None:
    low, numbers = planned()
    assert "kill_tensor" in low.script()
    assert numbers.judge_module(low) is None
    verdict = numbers.judge_module(rewritten(low, change))
    assert isinstance(verdict, Wrong)
    assert verdict.symptom == symptom, verdict.message
