"""What a module holds, as kinds: the same for two programs of one shape, another for another."""

from __future__ import annotations

import pytest

from oracles.ir.contents import block_traits, contents, guarded_division, inferred_kind, odd_floats, operator_kind
from oracles.ir.kinds import ELEMENTWISE, IRKind, Piece
from tests.oracles.oracle_bench import module_of

RELAX = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 2), "float32")):
        a = {first}
        b = {second}
        return b
"""


def relax_of(first: str, second: str) -> tuple[str, ...]:
    return contents(module_of(RELAX.format(first=first, second=second)))


def test_elementwise_operators_are_alike_and_others_are_not() -> None:
    assert relax_of("R.abs(x)", "R.sort(a)") == relax_of("R.exp(x)", "R.sort(a)")
    assert relax_of("R.abs(x)", "R.sort(a)") == ("sort",)
    assert relax_of("R.abs(x)", "R.argsort(a)") != relax_of("R.abs(x)", "R.sort(a)")


def test_what_stands_everywhere_counts_where_nothing_else_does() -> None:
    assert relax_of("(x, x)", "a[0]") == ("a tuple", "an item of a tuple")
    assert relax_of("(x, x)", "R.sort(a[0])") == ("sort",)


BLOCKS = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(A: T.Buffer((4, 4), "float32"), C: T.Buffer((4,), "float32")):
        for i, k in T.grid(4, 4):
            with T.sblock("c"):
                v, r = T.axis.remap("S{axis}", [i, k])
                {predicate}
                {body}
"""
SUM = "with T.init():\n                    C[v] = T.float32(0)\n                C[v] = {combined}"


@pytest.mark.parametrize(
    ("axis", "predicate", "body", "traits"),
    [
        ("S", "", "C[v] = A[v, r]", ()),
        ("R", "", SUM.format(combined="C[v] + A[v, r]"), ("a reduction", "an init")),
        ("R", "", SUM.format(combined="T.max(C[v], A[v, r])"), ("a reduction", "a reduction by Max", "an init")),
        ("S", "T.where(i < 3)", "C[v] = A[v, r]", ("a predicate",)),
    ],
)
def test_what_is_special_of_blocks(axis: str, predicate: str, body: str, traits: tuple[str, ...]) -> None:
    module = module_of(BLOCKS.format(axis=axis, predicate=predicate, body=body))
    assert block_traits(module["prim"]) == traits


CHOICE = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(A: T.Buffer((4,), "{dtype}"), C: T.Buffer((4,), "{dtype}")):
        for i in range(4):
            C[i] = {value}
"""


@pytest.mark.parametrize(
    ("value", "dtype", "guard"),
    [
        ("T.Select(i == 1, 7 // T.max(A[i], 1), 0)", "int32", "a Select"),
        ("T.Select(i == 1, 0, 7 + T.truncmod(5, T.max(A[i], 1)))", "int32", "a Select"),
        ("T.Select(i == 1, A[i] // 3, 0)", "int32", ""),
        ("T.Select(7 // T.max(A[i], 1) == 1, A[i], 0)", "int32", ""),
        ("T.if_then_else(i == 1, 7 // T.max(A[i], 1), 0)", "int32", "an if_then_else"),
        ("T.if_then_else(7 // T.max(A[i], 1) == 1, A[i], 0)", "int32", ""),
        ("T.Select(i == 1, T.float32(7) / A[i], T.float32(0))", "float32", ""),
        ("T.Select(i == 1, 7 // T.max(A[i], 1), 0) + T.Div(A[i], A[0])", "int32", ""),
    ],
)
def test_what_chooses_whether_integers_are_divided_by_what_is_no_constant(value: str, dtype: str, guard: str) -> None:
    said = guarded_division(module_of(CHOICE.format(value=value, dtype=dtype)))
    assert said == (f"an integer division in {guard}" if guard else "")


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        ("InferTypeMatmul", IRKind(Piece.OPERATOR, "matmul")),
        ("InferTypePermuteDims", IRKind(Piece.OPERATOR, "permute_dims")),
        ("InferTypeConcat", IRKind(Piece.OPERATOR, "concat")),
        ("InferTypeBroadcastArith", ELEMENTWISE),
        ("InferTypeNothingThatIsThere", IRKind(Piece.OPERATOR, "nothing_that_is_there")),
    ],
)
def test_a_function_that_infers_types_names_an_operator(function: str, kind: IRKind) -> None:
    assert inferred_kind(function) == kind


def test_the_kind_of_an_operator_is_its_name_without_a_prefix() -> None:
    assert operator_kind("relax.nn.conv2d") == operator_kind("nn.conv2d") == IRKind(Piece.OPERATOR, "nn.conv2d")
    assert operator_kind("relax.add") == operator_kind("exp") == ELEMENTWISE


NARROW = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(a: T.handle, B: T.Buffer((4,), "{given}"), C: T.Buffer((4,), "{made}"), k: T.int32):
        A = T.match_buffer(a, (4,), "float32")
        for i in range(4):
            C[i] = T.Cast("{made}", A[i])
"""


@pytest.mark.parametrize(
    ("given", "made", "odd"),
    [("int8", "float32", ()), ("float16", "float32", ("float16",)), ("float64", "bfloat16", ("bfloat16", "float64"))],
)
def test_floats_of_prim_funcs(given: str, made: str, odd: tuple[str, ...]) -> None:
    assert odd_floats(module_of(NARROW.format(given=given, made=made))) == odd


def test_floats_of_relax() -> None:
    assert odd_floats(module_of(RELAX.format(first='R.astype(x, "float16")', second="x"))) == ("float16",)
