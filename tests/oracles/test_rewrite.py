"""What a pass did, as kinds: the same for two reductions of one bug, others for two bugs."""

from __future__ import annotations

import pytest
import tvm

from corpus.scripts.module_text import live_module
from generators import tvm_api as T
from generators.case import ModuleText
from generators.tvm_api import IRModule
from oracles.ir.kinds import IRKind, Piece
from oracles.ir.rewrite import Kinds, Overwritten, _held
from oracles.ir.rewrite import rewritten as kinds_rewritten
from oracles.ir.tir_rewrite import kinds_changed, stored_kinds
from tests.oracles.oracle_bench import module_of


def relax(*lines: str, result: str = "b", parameters: str = 'x: R.Tensor((2, 2), "float32")') -> IRModule:
    body = "\n        ".join((*lines, f"return {result}"))
    text = f"""
@I.ir_module(check_well_formed=False)
class Module:
    @R.function
    def main({parameters}):
        {body}
"""
    return live_module(ModuleText(text))


def tir(*lines: str) -> IRModule:
    body = "\n            ".join(lines)
    text = f"""
@I.ir_module
class Module:
    @T.prim_func
    def prim(A: T.Buffer((12,), "float32"), B: T.Buffer((12,), "bool"), n: T.int32):
        for i in range(4):
            {body}
"""
    return live_module(ModuleText(text))


def rewritten(before: IRModule, after: IRModule, named: bool = False) -> Kinds:
    """What a pass did, as causes name it."""
    kinds = kinds_rewritten(before, after, named)
    return Kinds(tuple(map(str, kinds.removed)), tuple(map(str, kinds.added)), kinds.everywhere)


# --- Relax ----------------------------------------------------------------------------------------------


def test_elementwise_operators_are_alike_unless_named() -> None:
    one = relax("a = R.abs(x)", "b = R.add(a, a)"), relax("a = R.abs(x)", "b = R.permute_dims(a)")
    other = relax("a = R.exp(x)", "b = R.subtract(a, a)"), relax("a = R.exp(x)", "b = R.permute_dims(a)")
    assert rewritten(*one) == rewritten(*other) == Kinds(("an elementwise operator of 2",), ("permute_dims",))
    assert rewritten(*one, named=True) != rewritten(*other, named=True)


@pytest.mark.parametrize(
    ("before", "after", "kinds"),
    [
        ("b = R.subtract(x, y)", "b = R.subtract(y, x)", "an elementwise operator of 2 with other operands"),
        ("b = R.sum(x, axis=0)", "b = R.sum(x, axis=1)", "a reduction with other attributes"),
    ],
)
def test_what_differs_in_one_kind_is_told(before: str, after: str, kinds: str) -> None:
    parameters = 'x: R.Tensor((2, 2), "float32"), y: R.Tensor((2, 2), "float32")'
    assert rewritten(relax(before, parameters=parameters), relax(after, parameters=parameters)) == Kinds((), (kinds,))


def test_an_operator_in_place_of_another_is_told() -> None:
    """Else one wrong rewrite by a pass would hide every other that it makes of operators with as many operands."""
    before, after = relax("b = R.add(x, x)"), relax("b = R.subtract(x, x)")
    assert rewritten(before, after) == Kinds((), ("subtract in place of add",))
    before, after = relax("b = R.multiply(x, x)"), relax("b = R.maximum(x, x)")
    assert rewritten(before, after) == Kinds((), ("maximum in place of multiply",))


def test_another_result_is_told() -> None:
    lines = ("a = R.abs(x)", "b = R.add(a, a)")
    assert rewritten(relax(*lines), relax(*lines, result="a")) == Kinds((), ("the result with other operands",))


def test_a_rewrite_is_everywhere_if_no_kind_of_it_is_that_of_an_operator() -> None:
    lines = ("a = R.abs(x)", "b = R.add(a, a)")
    assert rewritten(relax(*lines), relax(*lines, result="a")).everywhere
    assert rewritten(relax("b = (x, x)"), relax("b = (x,)")).everywhere
    assert not rewritten(relax("b = R.abs(x)"), relax("b = x")).everywhere
    assert not rewritten(tir("A[i] = A[i + 1]"), tir("A[i] = A[i + 1] + T.float32(1)")).everywhere


def test_nothing_is_nothing() -> None:
    assert rewritten(relax("b = R.abs(x)"), relax("b = R.abs(x)")) == Kinds()


# --- TIR ------------------------------------------------------------------------------------------------


def test_a_divisors_sign_counts_and_its_value_does_not() -> None:
    of = {number: tir(f"A[i] = A[(n - i) % {number} + 6]") for number in (4, 5, -4, -5)}
    one, other = rewritten(of[4], of[-5]), rewritten(of[5], of[-4])
    assert one == other == Kinds((), ("a division by a negative constant",))
    assert rewritten(tir("A[i] = A[n - i]"), of[-4]) == one
    guarded = tir("if i < n:", "    A[i] = A[i + 1]"), tir("A[i] = A[i // -4 + 6]")
    assert rewritten(*guarded) != one, "a guard that is gone is another bug"
    assert rewritten(of[-4], of[4]) == rewritten(of[-5], tir("A[i] = A[n // 2]")) == one
    rewrites = tir("A[i] = A[(n - i) % -8 // 2 + 6]"), tir("A[i] = A[(n - i) // 2 % -4 + 6]")
    assert rewritten(*rewrites) == one, "whether it stays depends on the other constants"
    moved = tir("A[i] = A[i // -6 + 3]"), tir("A[i] = A[(i - 1) // -6 + 2]")
    assert rewritten(*moved) == one, "what is divided may be all that changes"
    assert rewritten(of[4], of[5]) == Kinds((), ("BufferStore with another constant",))


def test_a_statement_that_is_gone_is_one_kind_whatever_is_in_it() -> None:
    kept = "B[i] = A[i] < T.float32(1.0)"
    for gone in ("A[i] = T.exp(A[i + 4])", "A[i] = T.max(A[i], A[i % 3])"):
        assert rewritten(tir(gone, kept), tir(kept)) == Kinds(("BufferStore",), ())


def test_an_order_of_operands_is_told_from_another_constant() -> None:
    before, swapped = tir("A[i] = A[i] - A[i + 4]"), tir("A[i] = A[i + 4] - A[i]")
    assert rewritten(before, swapped) != rewritten(before, tir("A[i] = A[i] - A[i + 5]"))
    assert rewritten(before, swapped) != Kinds()


def test_another_type_is_no_order_of_operands() -> None:
    of = {
        dtype: tir(f'T.evaluate(T.call_packed("f", T.tvm_stack_make_array(A.data, 0, 0, 1, T.{dtype}(0), 0)))')
        for dtype in ("bfloat16", "float32")
    }
    assert rewritten(of["bfloat16"], of["float32"]) == Kinds((), ("Evaluate with another type",))


def test_common_nodes_do_not_count_beside_others() -> None:
    few = tir("A[i] = T.exp(A[i])"), tir("A[i] = A[i]")
    many = tir("A[i] = T.exp(A[i])"), tir("A[i] = A[i + n * 2 - 1]")
    assert rewritten(*few) == rewritten(*many) == Kinds(("tirx.exp",), ())


def test_of_loops_the_most_special_change_counts() -> None:
    text = """
@I.ir_module
class Module:
    @T.prim_func
    def prim(A: T.Buffer((12,), "float32")):
        for i in {outer}:
            for j in {inner}:
                A[j] = T.float32(1.0)
"""
    end = live_module(ModuleText(text.format(outer="range(0, 4)", inner="range(0, 1)")))
    starts = [
        live_module(ModuleText(text.format(outer=outer, inner="range(i, i + 1)")))
        for outer in ("range(1, 5)", "range(0, 4)")
    ]
    found = [rewritten(start, end) for start in starts]
    assert found[0] == found[1]
    assert found[0].removed == ("a loop that begins at an expression",)


def test_loops_do_not_count_beside_other_changes() -> None:
    kept = "B[i] = A[i] < T.float32(1.0)"
    moved = [tir(kept), tir("for j in range(1, 3):", "    A[j] = T.exp(A[j])", kept)]
    assert rewritten(*moved) == rewritten(tir(kept), tir("A[i] = T.exp(A[i])", kept)) == Kinds((), ("BufferStore",))


def test_copies_of_a_statement_are_matched_with_it_and_not_with_another() -> None:
    one, other = "A[{}] = T.exp(A[i])", "A[{}] = T.max(A[i], T.float32(1))"
    before = tir(one.format(0), other.format(1))
    after = tir(one.format(2), one.format(3), other.format(4), other.format(5))
    assert rewritten(before, after) == Kinds((), ("BufferStore",))


def test_what_was_copied_does_not_count_beside_what_was_not() -> None:
    """A loop that is unrolled, or a virtual thread, repeats whatever stands in it."""
    before = tir("A[i] = T.exp(A[i])", "B[i] = A[i] < T.float32(1.0)")
    copies = ("A[0] = T.exp(A[0])", "A[1] = T.exp(A[1])", "A[2 + n] = T.exp(A[2 + n])")
    assert rewritten(before, tir(*copies, "B[i] = A[i] < T.float32(1.0)")) == Kinds((), ("BufferStore",))
    assert rewritten(before, tir(*copies, "B[i] = A[i] <= T.float32(1.0)")) == Kinds(("LT on float",), ("LE on float",))


def test_what_was_moved_is_not_gone() -> None:
    """Into a value of its own, into another statement: it is computed as before."""
    before = tir("A[i] = T.max(A[i], A[i + 1])", "A[i + 4] = T.exp(A[i])")
    moved = tir("A[i] = A[i + 1]", "A[i + 4] = T.exp(T.max(A[i], A[i + 1]))")
    lost = tir("A[i] = A[i + 1]", "A[i + 4] = T.exp(A[i])")
    assert rewritten(before, lost) == Kinds(("Max on float",), ())
    assert "Max on float" not in rewritten(before, moved).removed


def test_beside_marks_the_statements_under_them_do_not_count() -> None:
    """A pass that lowers marks rewrites the whole kernel: each statement, its indices, its loops."""
    mark = 'with T.attr(A.data, "virtual_thread", 2):'
    few = tir(mark, "    A[i] = A[i + 1]"), tir("A[i] = A[i + 1]")
    many = (
        tir(mark, "    A[i] = T.exp(A[i + 1])"),
        tir("A[i % 2] = T.exp(A[i + 1])", "A[i % 2 + 6] = T.max(A[i], A[0])"),
    )
    assert rewritten(*few) == rewritten(*many) == Kinds(("AttrStmt virtual_thread",), ())


INLINED = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def callee(p: T.handle("float32", "global"), x: T.float32):
        Y = T.decl_buffer((12,), "float32", data=p)
        {body}
    @T.prim_func
    def prim(A: T.Buffer((12,), "float32")):
        Module.callee(A.data, A[0])
"""
BODIES = ("Y[0] = x", "if x < T.float32(1.0):\n            Y[0] = T.exp(x)")


@pytest.mark.parametrize("body", BODIES)
def test_what_stood_in_an_inlined_function_is_only_copied(body: str) -> None:
    before = live_module(ModuleText(INLINED.format(body=body)))
    after = tvm.tirx.transform.InlinePrivateFunctions()(before)
    assert not T.structural_equal(before, after)
    assert rewritten(before, after) == Kinds(("a call of a function with a loaded number",), ())


def test_what_is_overwritten_counts_alone() -> None:
    """Which operators become the call that overwrites what others read says nothing of why it may not."""
    text = """
@I.ir_module(check_well_formed=False)
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((2, 2), "float32")):
        A[0, 0] = T.float32(0.0)
    @R.function
    def main(x: R.Tensor((2, 2), "float32")):
        cls = Module
        a = {first}
        b = {second}
        return b
"""
    overwrites = 'R.call_tir_inplace(cls.kernel, ({},), inplace_indices=[0], out_ty=R.Tensor((2, 2), "float32"))'

    def of(first: str, second: str) -> IRModule:
        return live_module(ModuleText(text.format(first=first, second=second)))

    one = rewritten(of("R.abs(x)", "R.add(a, x)"), of("R.abs(x)", overwrites.format("x")))
    other = rewritten(of("R.sort(x)", overwrites.format("a")), of("R.abs(x)", overwrites.format("x")))
    assert one == other == Kinds((), ("call_tir_inplace into a parameter",))
    gone = rewritten(of(overwrites.format("x"), "R.abs(a)"), of("R.add(x, x)", "R.abs(a)"))
    moved = rewritten(of(overwrites.format("x"), "R.abs(a)"), of("R.abs(x)", "R.sort(x)"))
    assert gone.removed == moved.removed == ("call_tir_inplace into a parameter",)


def test_a_field_of_an_inner_tuple_is_one_too() -> None:
    held = _held(relax("a = R.abs(x)", "b = ((a, x), x)", "c = R.add(a, a)", result="c")["main"])
    assert held["a"] is Overwritten.FIELD


def test_operators_of_a_family_are_alike_and_bindings_that_only_name_say_little() -> None:
    first, second = (rewritten(relax("b = R.abs(x)"), relax(f"b = R.{name}(x)")) for name in ("sum", "mean"))
    assert first == second and first.added == ("a reduction",)
    named = rewritten(relax("b = R.abs(x)"), relax("b = R.sum(x)"), named=True)
    assert named.added == ("sum",)
    forwarded, folded = (
        rewritten(relax("b = R.abs(x)"), relax(f"b = {value}")) for value in ("x", 'R.const(1, "int32")')
    )
    assert forwarded.added != folded.added
    more = rewritten(relax("b = R.abs(x)"), relax("a = x", "b = R.sort(a)", result="b"))
    assert more.added == ("sort",)
    assert rewritten(relax("b = R.abs(x)"), relax("b = R.abs(x)", "c = x", result="b")).added == ("a variable",)


def test_what_is_stored_is_told_with_the_class_of_its_elements() -> None:
    assert stored_kinds(tir("B[i] = A[i] != A[i + 1]")) == (IRKind(Piece.TYPED, "NE", "float"),)
    assert stored_kinds(tir("B[i] = n != i")) == (IRKind(Piece.TYPED, "NE", "int"),)


CALLS = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def callee(p: T.handle("int32", "global"), x: T.int32):
        Y = T.decl_buffer((2,), "int32", data=p)
        for i in range(2):
            Y[i] = i - x

    @T.prim_func(s_tir=True)
    def prim(A: T.Buffer((3, 5), "int32")):
        for i in range(3):
            Module.callee(T.address_of(A[i, COLUMN]), NUMBER)
"""


@pytest.mark.parametrize(
    ("column", "number", "kind"),
    [
        ("0", "1", "a call of a function"),
        ("0", "A[i, 3] + 1", "a call of a function with a loaded number"),
        ("2", "1", "a call of a function with the address of a later element"),
    ],
)
def test_what_inlines_a_function_is_told_by_the_arguments(column: str, number: str, kind: str) -> None:
    """Two bugs there differ in nothing else that the pass removes or adds."""
    before = module_of(CALLS.replace("COLUMN", column).replace("NUMBER", number))
    after = tvm.tirx.transform.InlinePrivateFunctions()(before)
    removed, _ = kinds_changed(before["prim"], after["prim"])
    assert set(map(str, removed)) == {kind}


FLATTENED = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def prim(A: T.Buffer((8,), "int32"), B: T.Buffer((4,), "int32")):
        {declared}
        for i in range(4):
            {target}[i] = A[{index}]
"""


@pytest.mark.parametrize(("index", "changed"), [("i", ({"Add"}, set())), ("i + 1", (set(), {"DeclBuffer", "SeqStmt"}))])
def test_statements_that_come_with_every_flattening_tell_where_no_arithmetic_does(
    index: str, changed: tuple[set[str], set[str]]
) -> None:
    before = module_of(FLATTENED.format(declared="", target="B", index="i + 1"))
    declared = 'C = T.decl_buffer((4,), "int32", data=B.data)'
    after = module_of(FLATTENED.format(declared=declared, target="C", index=index))
    removed, added = kinds_changed(before["prim"], after["prim"])
    assert (set(map(str, removed)), set(map(str, added))) == changed
