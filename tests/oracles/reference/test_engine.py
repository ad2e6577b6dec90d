"""The reference interpreter on Relax: control, scope, symbols, calls, memory and annotations, by hand-made programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tvm import relax

from generators.case import Argument, EntryCall, Shape
from oracles.reference.engine import Interpreter
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.values import Runtime, Tensor
from tests.oracles.oracle_bench import module_of

RELAX = "@I.ir_module\nclass Module:\n"
WITH_TIR = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def inc(A: T.Buffer((T.int64(3),), "float32"), B: T.Buffer((T.int64(3),), "float32")):
        for i in range(T.int64(3)):
            with T.sblock("b"):
                vi = T.axis.spatial(T.int64(3), i)
                B[vi] = A[vi] + T.float32(1)
    @T.prim_func(private=True, s_tir=True)
    def both(A: T.Buffer((T.int64(3),), "float32"), B: T.Buffer((T.int64(3),), "float32"),
             C: T.Buffer((T.int64(3),), "float32")):
        for i in range(T.int64(3)):
            with T.sblock("b"):
                vi = T.axis.spatial(T.int64(3), i)
                B[vi] = A[vi] + A[vi]
                C[vi] = T.float32(0) - A[vi]
    @T.prim_func(private=True, s_tir=True)
    def double(A: T.Buffer((T.int64(3),), "float32")):
        for i in range(T.int64(3)):
            with T.sblock("b"):
                vi = T.axis.spatial(T.int64(3), i)
                A[vi] = A[vi] + A[vi]
    @T.prim_func(private=True, s_tir=True)
    def shifted(A: T.Buffer((T.int64(3),), "float32"), n: T.int64,
                B: T.Buffer((T.int64(3),), "float32")):
        for i in range(T.int64(3)):
            with T.sblock("b"):
                vi = T.axis.spatial(T.int64(3), i)
                B[vi] = A[vi] + T.Cast("float32", n)
"""
V = 'R.Tensor((3,), "float32")'
X = np.array([1, 2, 3], np.float32)
TRUE, FALSE = np.array(True), np.array(False)


def run(module: Any, *arguments: Argument, bounded: bool = False) -> Any:
    """What main gives, as nested tuples of arrays in carriers."""
    return plain(Interpreter(module, bounded=bounded).run(EntryCall("main", arguments)))


def plain(value: Runtime) -> Any:
    """Tensors as lists, tuples as they are."""
    if isinstance(value, Tensor):
        return value.value.tolist()
    return tuple(plain(v) for v in value) if isinstance(value, tuple) else value


def main(parameters: str, body: str, header: str = RELAX) -> Any:
    """A module whose main has these parameters and lines."""
    lines = "\n".join(f"        {line}" for line in body.strip("\n").splitlines())
    return module_of(
        f"{header}    @R.function(pure=False)\n    def main({parameters}):\n        cls = Module\n{lines}\n"
    )


BRANCHES = """
if c:
    y = R.add(x, x)
    z = R.negative(y)
else:
    z = R.multiply(x, x)
return z
"""
MATCHED = """
n = T.int64()
m = T.int64()
y = R.match_cast(R.nonzero(x), R.Tensor((1, m), "int64"))
return (y, R.shape([n, m, n * 2 + m]))
"""
ROUND_TRIP = """
t = (x, (R.shape([3, 4]), x))
u = t[1]
v = u[1]
return (v, u[0], t[0])
"""
LOCAL = f"""
z = R.negative(x)
@R.function
def local(a: {V}) -> {V}:
    b = R.add(a, z)
    return b
r = local(x)
q = local(r)
return q
"""
CONSTANTS = """
y = R.add(x, R.const(4, "float32"))
return R.multiply(y, R.const([1, 0, 2], "float32"))
"""

PROGRAMS: list[tuple[str, Any, tuple[Argument, ...], Any]] = [
    ("then branch", lambda: main(f'c: R.Tensor((), "bool"), x: {V}', BRANCHES), (TRUE, X), [-2, -4, -6]),
    ("else branch", lambda: main(f'c: R.Tensor((), "bool"), x: {V}', BRANCHES), (FALSE, X), [1, 4, 9]),
    ("tuples", lambda: main(f"x: {V}", ROUND_TRIP), (X,), ([1, 2, 3], Shape((3, 4)), [1, 2, 3])),
    (
        "match_cast defines symbols",
        lambda: main('x: R.Tensor(("n",), "float32")', MATCHED),
        (np.array([0, 5, 0, 7], np.float32),),
        ([[1, 3]], Shape((4, 2, 10))),
    ),
    ("a local function sees its surroundings", lambda: main(f"x: {V}", LOCAL), (X,), [-1, -2, -3]),
    ("constants", lambda: main(f"x: {V}", CONSTANTS), (X,), [5, 0, 14]),
    (
        "call_tir",
        lambda: main(f"x: {V}", f"return R.call_tir(cls.inc, (x,), out_ty={V})", WITH_TIR),
        (X,),
        [2, 3, 4],
    ),
    (
        "call_tir with two outputs",
        lambda: main(f"x: {V}", f"return R.call_tir(cls.both, (x,), out_ty=[{V}, {V}])", WITH_TIR),
        (X,),
        ([2, 4, 6], [-1, -2, -3]),
    ),
    (
        "call_tir with a scalar",
        lambda: main(
            f'x: {V}, s: R.Shape(["n"])',
            f"n = T.int64()\nreturn R.call_tir(cls.shifted, (x, n), out_ty={V})",
            WITH_TIR,
        ),
        (X, Shape((5,))),
        [6, 7, 8],
    ),
    (
        "in place",
        lambda: main(
            f"x: {V}",
            f"y = R.negative(x)\nreturn R.call_tir_inplace(cls.double, (y,), inplace_indices=[0], out_ty={V})",
            WITH_TIR,
        ),
        (X,),
        [-2, -4, -6],
    ),
    (
        "pure extern",
        lambda: main(f"x: {V}", f'return R.call_pure_packed("passfuzz.negated", x, ty_args=({V},))'),
        (X,),
        [-1, -2, -3],
    ),
    (
        "destination-passing extern",
        lambda: main(f"x: {V}", f'return R.call_dps_packed("passfuzz.difference", (x, x), out_ty={V})'),
        (X,),
        [0, 0, 0],
    ),
]


@pytest.mark.parametrize(("make", "arguments", "expected"), [p[1:] for p in PROGRAMS], ids=[p[0] for p in PROGRAMS])
@pytest.mark.parametrize("bounded", [False, True])
def test_program_gives_what_was_worked_out_by_hand(
    make: Any, arguments: tuple[Argument, ...], expected: Any, bounded: bool
) -> None:
    assert run(make(), *arguments, bounded=bounded) == expected


def test_closure_appends_what_it_captured() -> None:
    # VMBuiltinLower's closures bind the last parameters: src/runtime/vm/builtin.cc, MakeClosure.
    module = main(
        f"x: {V}, y: {V}",
        f"f = R.make_closure(cls.lifted, (y,))\nreturn R.invoke_closure(f, (x,), ty_args=({V},))",
        RELAX + f"    @R.function(private=True)\n    def lifted(a: {V}, b: {V}) -> {V}:\n"
        "        return R.subtract(a, b)\n",
    )
    assert run(module, X, np.array([10, 10, 10], np.float32)) == [-9, -8, -7]


def test_recursion_runs_and_endless_recursion_traps() -> None:
    body = """
c = R.less(x, R.const({limit}, "int64"))
if c:
    r = R.const(1, "int64")
else:
    y = R.subtract(x, R.const(1, "int64"))
    p = cls.main(y)
    r = R.multiply(p, x)
return r
"""
    script = 'x: R.Tensor((), "int64")) -> (R.Tensor((), "int64")'
    assert run(main(script, body.format(limit=1)), np.array(5, np.int64)) == 120
    with pytest.raises(Trap) as trap:
        Interpreter(main(script, body.format(limit=-(10**9))), fuel=50).run(EntryCall("main", (np.array(5, np.int64),)))
    assert trap.value.kind == "fuel"


@pytest.mark.parametrize(
    "passes", [("CallTIRRewrite",), ("CallTIRRewrite", "StaticPlanBlockMemory", "KillAfterLastUse")]
)
def test_destination_passing_and_planned_memory_give_the_same(passes: tuple[str, ...]) -> None:
    chain = f"a = R.call_tir(cls.inc, (x,), out_ty={V})\nb = R.call_tir(cls.inc, (a,), out_ty={V})\nreturn b"
    module = relax.transform.RemovePurityChecking()(main(f"x: {V}", chain, WITH_TIR))
    for name in passes:
        module = getattr(relax.transform, name)()(module)
    assert "call_tir" not in module["main"].script()
    assert run(module, X) == [3, 4, 5]


LOWERED_CALLS = """
n = T.int64()
u = R.unique(x, True, False, False, True)
y = R.match_cast(R.nonzero(x), R.Tensor((1, n), "int64"))
z = R.reshape(x, R.shape([2, 2]))
return (u, y, z)
"""


def test_functions_of_the_run_time_mean_what_their_operators_mean() -> None:
    high = main('x: R.Tensor((4,), "float32")', LOWERED_CALLS)
    low = high
    for name in ("LegalizeOps", "CallTIRRewrite", "LowerAllocTensor", "LowerRuntimeBuiltin"):
        low = getattr(relax.transform, name)()(low)
    text = low.script()
    assert all(f'"{name}"' in text for name in ("relax.run.unique", "relax.run.nonzero"))
    x = np.array([3, 0, 3, 1], np.float32)
    expected = (([0, 1, 3], [1, 1, 2]), [[0, 2, 3]], [[3, 0], [3, 1]])
    assert run(high, x) == run(low, x) == expected


def test_constant_has_one_memory_within_a_run_and_is_fresh_in_the_next() -> None:
    # The VM keeps constants in one pool: a callee that writes into one changes it for its later users.
    once = main(f"k: {V}, x: {V}", "_ = cls.double(k)\n_1 = cls.double(k)\nreturn R.add(x, k)", WITH_TIR)
    module = relax.transform.BindParams("main", {"k": np.ones(3, np.float32)})(once)
    assert len(module["main"].params) == 1
    assert [run(module, X), run(module, X)] == [[5, 6, 7], [5, 6, 7]]


def test_bounded_constants_are_exact() -> None:
    result = Interpreter(main(f"x: {V}", CONSTANTS), bounded=True).run(EntryCall("main", (X,)))
    assert isinstance(result, Tensor) and result.error is None


TRAPS: list[tuple[str, Any, tuple[Argument, ...], str]] = [
    ("parameter of another shape", lambda: main(f"x: {V}", "return x"), (np.zeros(4, np.float32),), "type"),
    ("parameter of another dtype", lambda: main(f"x: {V}", "return x"), (np.zeros(3, np.float64),), "type"),
    (
        "two parameters disagree on a symbol",
        lambda: main('x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")', "n = T.int64()\nreturn x"),
        (np.zeros(3, np.float32), np.zeros(4, np.float32)),
        "type",
    ),
    (
        "match_cast that does not hold",
        lambda: main('x: R.Tensor(("n",), "float32")', f"n = T.int64()\ny = R.match_cast(x, {V})\nreturn y"),
        (np.zeros(4, np.float32),),
        "match-cast",
    ),
    (
        "assertion",
        lambda: main('c: R.Tensor((), "bool")', '_ = R.assert_op(c, format="no")\nreturn c'),
        (FALSE,),
        "assertion",
    ),
    (
        "division by zero in a shape",
        lambda: main('x: R.Tensor(("n",), "float32")', "n = T.int64()\nreturn R.shape([6 // (n - 3)])"),
        (X,),
        "division-by-zero",
    ),
]


@pytest.mark.parametrize(("make", "arguments", "kind"), [t[1:] for t in TRAPS], ids=[t[0] for t in TRAPS])
def test_undefined_behaviour_traps(make: Any, arguments: tuple[Argument, ...], kind: str) -> None:
    with pytest.raises(Trap) as trap:
        run(make(), *arguments)
    assert trap.value.kind == kind


def test_unknown_packed_function_is_unsupported() -> None:
    module = main(f"x: {V}", f'return R.call_pure_packed("nobody.knows", x, ty_args=({V},))')
    with pytest.raises(Unsupported):
        run(module, X)


def test_branch_on_an_undecided_condition_is_unsupported() -> None:
    body = """
c = R.less(R.sin(R.asin(x)), x)
if c:
    r = R.const(1)
else:
    r = R.const(0)
return r
"""
    with pytest.raises(Unsupported):
        run(main('x: R.Tensor((), "float32")', body), np.array(0.5, np.float32), bounded=True)


def test_assertion_of_an_undecided_condition_is_unsupported() -> None:
    body = 'c = R.less(R.sin(R.asin(x)), x)\n_ = R.assert_op(c, format="near")\nreturn x'
    with pytest.raises(Unsupported):
        run(main('x: R.Tensor((), "float32")', body), np.array(0.5, np.float32), bounded=True)


def test_wrong_annotation_of_a_variable_traps() -> None:
    module = main(f"x: {V}", "y = R.add(x, x)\nreturn y")
    function = module["main"]
    block = function.body.blocks[0]
    liar = relax.Var("y", relax.TensorType((4,), "float32"))
    body = relax.SeqExpr([relax.BindingBlock([relax.VarBinding(liar, block.bindings[0].value)])], liar)
    relax.expr._update_type(body, liar.ty)
    broken = module.clone()
    broken["main"] = relax.Function(function.params, body, liar.ty, function.is_pure)
    with pytest.raises(Trap) as trap:
        run(broken, X)
    assert (trap.value.kind, "variable y" in trap.value.detail) == ("type", True)
