"""Planted wrong passes whose trigger is known: the reducer reaches the smallest program that is known by construction.

One module holds a bit of everything. Each planted fault needs a little of it, and the rest has to go: the result is
compared, names aside, with a program written by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax, tirx

from corpus.reduce import Candidate, reduce
from corpus.reduce.draft import Draft, DraftBinding, lift, module_binds
from corpus.scripts.module_text import live_module
from generators import tvm_api as T
from generators.case import EntryCall, ModuleText, PassCall
from oracles.ir.regions import declares_what_it_does
from oracles.ir.walk import nodes_of, prim_funcs
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning, Wrong
from tests.quick import one_in

HEAD = "@I.ir_module(s_tir=True)\nclass Module:\n"

EVERYTHING = """
    @T.prim_func(private=True, s_tir=True)
    def rotated(A: T.Buffer((4, 6), "float32"), C: T.Buffer((4, 6), "float32"), B: T.Buffer((4, 6), "float32")):
        T.func_attr({"tirx.noalias": True, "layout_free_buffers": [1]})
        for i, j in T.grid(4, 6):
            with T.sblock("rotated"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[T.floormod(vi + 3, 4), vj] * T.float32(2) + C[vi, vj]

    @T.prim_func(private=True, s_tir=True)
    def dead(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in range(3):
            with T.sblock("dead"):
                vi = T.axis.spatial(3, i)
                B[vi] = A[vi]

    @R.function(private=True)
    def several(
        p: R.Tuple(R.Tensor((4, 6), "float32"), R.Tensor((2, 2), "int32")), q: R.Tensor((4, 6), "float32")
    ) -> R.Tuple(R.Tensor((4, 6), "float32"), R.Tensor((24,), "float32"), R.Tensor((4, 6), "float32")):
        a = p[0]
        b = R.flatten(q)
        return (q, b, a)

    @R.function
    def external(x: R.Tensor((4, 6), "float32")) -> R.Tensor((4, 6), "float32"):
        R.func_attr({"Codegen": "byoc", "WorkspaceSize": 64, "Composite": "byoc.unary"})
        a = R.nn.relu(x)
        return a

    @R.function
    def main(
        x: R.Tensor((4, 6), "float32"),
        t: R.Tuple(
            R.Tuple(R.Tensor((4, 6), "float32"), R.Tensor((3,), "int32")),
            R.Tensor((4, 6), "float32"),
            R.Tensor((2, 2), "int32"),
        ),
        z: R.Tensor(("n", 6), "float32"),
        image: R.Tensor((1, 3, 8, 8), "float32"),
        kernel: R.Tensor((2, 3, 3, 3), "float32"),
    ):
        n = T.int64()
        cls = Module
        with R.dataflow():
            u = t[0]
            v = u[0]
            w = t[1]
            i = t[2]
            a = R.add(x, v)
            b = R.add(a, w)
            c = R.multiply(b, R.const(np.arange(24).reshape(4, 6), "float32"))
            d = R.exp(z)
            e = R.sum(d, axis=[1], keepdims=True)
            f = R.call_tir(cls.rotated, (c, b), out_ty=R.Tensor((4, 6), "float32"))
            g = R.concat((f, b, x), axis=0)
            h = R.nn.conv2d(image, kernel, strides=[2, 2], padding=[1, 1, 1, 1], dilation=[2, 2])
            R.output(u, b, f, i, e, g, h)
        k = cls.several((b, i), f)
        m = k[0]
        o = k[2]
        r = cls.external(o)
        s = R.negative(m)
        out = (s, r, e, g, h, u)
        return out
"""

X = np.arange(24, dtype=np.float32).reshape(4, 6) % 5
INPUTS = (
    X,
    ((X, np.arange(3, dtype=np.int32)), X + 1, np.ones((2, 2), np.int32)),
    X[:2],
    np.ones((1, 3, 8, 8), np.float32),
    np.ones((2, 3, 3, 3), np.float32),
)
PASSES = tuple(PassCall(name, f"{name}()") for name in "ABCDEF")


def everything() -> Candidate:
    module = live_module(ModuleText(HEAD + EVERYTHING))
    return Candidate(module, PASSES[:3], PASSES, (EntryCall("main", INPUTS), EntryCall("main", INPUTS)))


def bindings(module: Any) -> Iterator[DraftBinding]:
    """All but those of whole functions and branches."""
    return (bind for _, bind in module_binds(lift(module)) if not isinstance(bind.value, Draft))


# --- planted faults: each says whether it shows -----------------------------------------------------------


def drops_the_second_of_two_adds(candidate: Candidate) -> bool:
    """add(add(x, y), z) becomes add(x, y): the reference says whether the numbers differ."""
    numbers = Numbers(candidate.module, candidate.calls)
    if isinstance(numbers.expected, NoMeaning) or PASSES[3] not in candidate.passes:
        return False
    return isinstance(numbers.judge_module(_without_second_add(candidate.module)), Wrong)


def _without_second_add(module: Any) -> Any:
    functions = dict(module.functions.items())
    for name, function in functions.items():
        if isinstance(function, relax.Function):
            functions[name] = _Adds().visit_expr(function)
    return T.replace_functions(module, functions)


@relax.expr_functor.mutator
class _Adds(relax.PyExprMutator):
    def visit_call_(self, call: Any) -> Any:
        call = self.visit_expr_post_order(call)
        if T.op_name(call) == "relax.add":
            inner = self.lookup_binding(call.args[0])
            if inner is not None and T.op_name(inner) == "relax.add":
                return call.args[0]
        return call


def raises_on_a_nested_field(candidate: Candidate) -> bool:
    """A field of a field of a parameter is taken."""
    params = {param for f in relax_functions(candidate.module) for param in f.params}
    taken = {b.var: b.value.tuple_value for b in bindings(candidate.module) if isinstance(b.value, tvm.ir.TupleGetItem)}
    return any(taken.get(source) in params for source in taken.values())


def raises_on_a_workspace(candidate: Candidate) -> bool:
    """A function that asks for a workspace is called."""
    asking = {
        name.name_hint for name, f in candidate.module.functions.items() if f.attrs and "WorkspaceSize" in f.attrs
    }
    return bool(asking & set(called(candidate.module)))


def raises_on_a_called_function(candidate: Candidate) -> bool:
    """A call of a function gives a tuple, of which a field is taken."""
    calls = {b.var for b in bindings(candidate.module) if isinstance(b.value, T.Call) and called_name(b.value)}
    return any(
        isinstance(b.value, tvm.ir.TupleGetItem) and b.value.tuple_value in calls for b in bindings(candidate.module)
    )


def raises_on_dilation(candidate: Candidate) -> bool:
    """A convolution has a dilation of 2."""
    found = [b.value for b in bindings(candidate.module) if T.op_name(b.value) == "relax.nn.conv2d"]
    return any(int(call.attrs.dilation[0]) == 2 for call in found)


def raises_on_a_symbolic_dim(candidate: Candidate) -> bool:
    """The exponential of a tensor of symbolic shape is taken."""
    found = [b.value for b in bindings(candidate.module) if T.op_name(b.value) == "relax.exp"]
    return any(not isinstance(dim, tirx.IntImm) for call in found for dim in T.type_of(call).shape.values)


def raises_on_a_remainder(candidate: Candidate) -> bool:
    """A PrimFunc that is called stores what it loads from a place that is a remainder; the program has a meaning."""
    loading = {name.name_hint for name, f in prim_funcs(candidate.module) if any(map(_loads_at_a_remainder, stores(f)))}
    if not loading & set(called(candidate.module)) or not declares_what_it_does(candidate.module):
        return False
    return bool(candidate.calls) and not isinstance(Numbers(candidate.module, candidate.calls).expected, NoMeaning)


def stores(function: Any) -> list[Any]:
    return nodes_of(function.body, tirx.BufferStore)


def _loads_at_a_remainder(store: Any) -> bool:
    return any(nodes_of(i, tirx.FloorMod) for load in nodes_of(store.value, T.TensorLoad) for i in load.indices)


def raises_on_a_concatenation(candidate: Candidate) -> bool:
    """A passes before E, and something is concatenated."""
    wanted = [call for call in candidate.passes if call in (PASSES[0], PASSES[4])]
    concatenated = any(T.op_name(b.value) == "relax.concat" for b in bindings(candidate.module))
    return concatenated and wanted == [PASSES[0], PASSES[4]]


def relax_functions(module: Any) -> list[Any]:
    return [f for f in module.functions.values() if isinstance(f, relax.Function)]


def called(module: Any) -> Iterator[str]:
    """The names of functions that are called, directly or by call_tir."""
    for bind in bindings(module):
        if isinstance(bind.value, T.Call) and called_name(bind.value):
            yield str(called_name(bind.value))


def called_name(call: Any) -> str | None:
    given = call.args[0] if T.op_name(call) == "relax.call_tir" else call.op
    return given.name_hint if isinstance(given, tvm.ir.GlobalVar) else None


# --- the smallest programs that show them ------------------------------------------------------------------

TWO_ADDS = """
    @R.function
    def main(x: R.Tensor((), "float32")) -> R.Tensor((), "float32"):
        a = R.add(x, x)
        b = R.add(a, a)
        return b
"""

NESTED_FIELD = """
    @R.function
    def main(x: R.Tuple(R.Tuple(R.Tensor((), "float32")))) -> R.Tensor((), "float32"):
        a = x[0]
        b = a[0]
        return b
"""

WORKSPACE = """
    @R.function
    def external(x: R.Tensor((), "float32")) -> R.Tensor((), "float32"):
        R.func_attr({"Codegen": "byoc", "WorkspaceSize": 64})
        return x

    @R.function
    def main(x: R.Tensor((), "float32")) -> R.Tensor((), "float32"):
        cls = Module
        a = cls.external(x)
        return a
"""

CALLED_FUNCTION = """
    @R.function(private=True)
    def several(x: R.Tensor((), "float32")) -> R.Tuple(R.Tensor((), "float32")):
        return (x,)

    @R.function
    def main(x: R.Tensor((), "float32")) -> R.Tensor((), "float32"):
        cls = Module
        a = cls.several(x)
        b = a[0]
        return b
"""

DILATION = """
    @R.function
    def main(x: R.Tensor((1, 1, 1, 1), "float32")) -> R.Tensor((1, 1, 1, 1), "float32"):
        a = R.nn.conv2d(x, x, dilation=[2, 2])
        return a
"""

SYMBOLIC_DIM = """
    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        a = R.exp(x)
        return a
"""

REMAINDER = """
    @T.prim_func(private=True, s_tir=True)
    def rotated(A: T.Buffer((1, 1), "float32"), B: T.Buffer((1, 1), "float32")):
        B[0, 0] = A[T.FloorMod(0, 1), 0]

    @R.function
    def main(x: R.Tensor((1, 1), "float32")) -> R.Tensor((1, 1), "float32"):
        cls = Module
        a = R.call_tir(cls.rotated, (x,), out_ty=R.Tensor((1, 1), "float32"))
        return a
"""

CONCATENATION = """
    @R.function
    def main(x: R.Tensor((1,), "float32")) -> R.Tensor((1,), "float32"):
        a = R.concat((x,), axis=0)
        return a
"""

ODD = """
    @R.function
    def main(x: R.Tensor((3, 4), "float16")) -> R.Tensor((3, 4), "bool"):
        a = R.not_equal(x, x)
        return a
"""
ODD_INPUT = np.array([[0, 1, 2, 3], [4, np.inf, 6, 7], [8, 9, np.nan, 1]], np.float16)

PLANTED: list[tuple[Callable[[Candidate], bool], str, tuple[PassCall, ...]]] = [
    (drops_the_second_of_two_adds, TWO_ADDS, PASSES[3:4]),
    (raises_on_a_nested_field, NESTED_FIELD, ()),
    (raises_on_a_workspace, WORKSPACE, ()),
    (raises_on_a_called_function, CALLED_FUNCTION, ()),
    (raises_on_dilation, DILATION, ()),
    (raises_on_a_symbolic_dim, SYMBOLIC_DIM, ()),
    (raises_on_a_remainder, REMAINDER, ()),
    (raises_on_a_concatenation, CONCATENATION, (PASSES[0], PASSES[4])),
]


@pytest.mark.parametrize(
    ("fault", "smallest", "passes"), one_in(2, PLANTED), ids=lambda value: getattr(value, "__name__", "")
)
def test_what_is_left_is_the_smallest_program_that_shows_the_fault(
    fault: Callable[[Candidate], bool], smallest: str, passes: tuple[PassCall, ...]
) -> None:
    wanted = live_module(ModuleText(HEAD + smallest))
    start = everything()
    assert fault(start)
    reduction = reduce(start, fault, budget_s=600.0)
    small = reduction.candidate
    assert T.structural_equal(small.module, wanted), small.module.script()
    assert small.passes == passes and small.setup == ()
    assert reduction.finished and reduction.oracle_calls < 250


def test_an_input_that_matters_for_one_element_is_left_with_that() -> None:
    """A fault that only a NaN shows: the NaN stays, and the elements around it go."""
    start = Candidate(live_module(ModuleText(HEAD + ODD)), (), (), (EntryCall("main", (ODD_INPUT,)),))

    def shows(candidate: Candidate) -> bool:
        compared = any(T.op_name(bind.value) == "relax.not_equal" for bind in bindings(candidate.module))
        return compared and any(np.isnan(array).any() for call in candidate.calls for array in call.arguments)

    (call,) = reduce(start, shows, budget_s=600.0).candidate.calls
    (given,) = call.arguments
    assert isinstance(given, np.ndarray) and given.shape == () and np.isnan(given)
