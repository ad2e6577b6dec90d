"""Our checks of structure and types, and TVM's verifier: planted faults and clean pipelines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import tvm
import tvm_ffi
from tvm import relax, tirx

from generators import tvm_api as T
from generators.passes.row import Phase
from generators.passes.table import PASSES, SETUP
from oracles.checks import definedness, normal_form, purity, type_soundness, well_formed
from oracles.ir import verifier, walk
from oracles.ir.scopes import misuses
from oracles.ir.types import contradiction
from oracles.oracle import StepOracle
from oracles.trace import Raised
from oracles.verdict import PASSED, Failed, Passed, Skipped
from tests.oracles.modules import CLEAN, DATAFLOW, PRIM_FUNC, SYMBOLIC
from tests.oracles.oracle_bench import RealBench, module_of, module_pass, row_of, step_of

CHECKS = (purity, normal_form, definedness, well_formed, type_soundness)


def with_main(module: Any, change: Callable[[Any], Any], name: str = "main") -> Any:
    """The module with one function replaced; the given module stays as it is."""
    functions = dict(module.functions.items())
    variable = next(key for key in functions if key.name_hint == name)
    functions[variable] = change(functions[variable])
    return tvm.IRModule(functions, attrs=module.attrs, global_infos=module.global_infos)


def with_bindings(change: Callable[[list[Any]], list[Any]], block: int = 0) -> Callable[[Any], Any]:
    """A pass that changes the bindings of one block of main."""

    def on_function(function: Any) -> Any:
        blocks = list(function.body.blocks)
        blocks[block] = type(blocks[block])(change(list(blocks[block].bindings)))
        body = relax.SeqExpr(blocks, function.body.body)
        relax.expr._update_type(body, function.body.ty)
        return relax.Function(function.params, body, function.ret_ty, function.is_pure, function.attrs)

    return lambda module: with_main(module, on_function)


def bound(call: Any) -> Any:
    value = relax.BlockBuilder().normalize(call)
    return relax.VarBinding(relax.DataflowVar("_", value.ty), value)


def kill(bindings: list[Any]) -> list[Any]:
    return [*bindings[:1], bound(relax.op.memory.kill_tensor(bindings[0].var)), *bindings[1:]]


def branch(bindings: list[Any]) -> list[Any]:
    condition = relax.const(True, "bool")
    empty = relax.SeqExpr([], relax.const(1.0))
    relax.expr._update_type(empty, empty.body.ty)
    value = relax.If(condition, empty, empty)
    relax.expr._update_type(value, empty.ty)
    return [*bindings, relax.VarBinding(relax.DataflowVar("i", value.ty), value)]


def make_impure(module: Any) -> Any:
    def on_function(function: Any) -> Any:
        call = relax.BlockBuilder().normalize(relax.op.print(function.params[0], format="{}"))
        block = relax.BindingBlock([relax.VarBinding(relax.Var("_", call.ty), call)])
        body = relax.SeqExpr([*function.body.blocks, block], function.body.body)
        relax.expr._update_type(body, function.body.ty)
        return relax.Function(function.params, body, function.ret_ty, function.is_pure, function.attrs)

    return with_main(module, on_function)


def nest(bindings: list[Any]) -> list[Any]:
    call = bindings[1].value
    nested = relax.Call(call.op, [bindings[0].value, call.args[1]], call.attrs, call.ty_args)
    relax.expr._update_type(nested, call.ty)
    return [bindings[0], relax.VarBinding(bindings[1].var, nested), *bindings[2:]]


def annotate(bindings: list[Any]) -> list[Any]:
    wrong = relax.DataflowVar(bindings[1].var.name, relax.TensorType((2, 4), "float16"))
    return [bindings[0], relax.VarBinding(wrong, bindings[1].value), *bindings[2:]]


def rename_dim(bindings: list[Any]) -> list[Any]:
    stray = relax.DataflowVar("z", relax.TensorType([tirx.Var("q", "int64"), 3], "float32"))
    return [relax.VarBinding(stray, bindings[0].value), *bindings]


def forget_function(module: Any) -> Any:
    kept = {name: f for name, f in module.functions.items() if name.name_hint != "sub"}
    return tvm.IRModule(kept, attrs=module.attrs, global_infos=module.global_infos)


def share_parameter(module: Any) -> Any:
    stolen = module["main"].params[0]

    def on_function(function: Any) -> Any:
        old = function.params[0]
        return tvm_ffi.structural_map(function, (tvm.ir.Var, lambda v: stolen if v.same_as(old) else v))

    return with_main(module, on_function, "sub")


def leak(module: Any) -> Any:
    """main returns a DataflowVar."""
    function = module["main"]
    hidden = function.body.blocks[0].bindings[0].var
    body = relax.SeqExpr(function.body.blocks, hidden)
    relax.expr._update_type(body, hidden.ty)
    changed = relax.Function(function.params, body, hidden.ty, function.is_pure, function.attrs)
    return with_main(module, lambda _: changed)


def free_index(module: Any) -> Any:
    def on_function(function: Any) -> Any:
        stray = tirx.Var("stray", "int64")
        return function.with_body(
            tvm_ffi.structural_map(
                function.body, (tirx.BufferStore, lambda s: tirx.BufferStore(s.buffer, s.value, [stray, stray]))
            )
        )

    return with_main(module, on_function, "inc")


def retype_result(module: Any) -> Any:
    """call_tir promises float16 where the PrimFunc's buffer holds float32."""
    half = relax.TensorType((2, 3), "float16")

    def on_bindings(bindings: list[Any]) -> list[Any]:
        call = bindings[0].value
        value = relax.BlockBuilder().normalize(relax.Call(call.op, call.args, call.attrs, [half]))
        return [relax.VarBinding(relax.DataflowVar("half", half), value), *bindings]

    return with_bindings(on_bindings)(module)


PLANTED: tuple[tuple[str, Any, str, Callable[[Any], Any], str], ...] = (
    (
        "kill in dataflow",
        purity,
        DATAFLOW,
        with_bindings(kill),
        "impure call of relax.memory.kill_tensor in a dataflow block",
    ),
    ("If in dataflow", purity, DATAFLOW, with_bindings(branch), "If in a dataflow block"),
    ("print in pure", purity, SYMBOLIC, make_impure, "impure call of relax.print in a pure function"),
    ("nested call", normal_form, DATAFLOW, with_bindings(nest), "Call nested in Call"),
    ("dropped binding", definedness, DATAFLOW, with_bindings(lambda b: b[1:]), "undefined DataflowVar"),
    ("swapped", definedness, DATAFLOW, with_bindings(lambda b: [b[1], b[0], *b[2:]]), "undefined DataflowVar"),
    ("twice", definedness, DATAFLOW, with_bindings(lambda b: [b[0], *b]), "variable defined twice"),
    ("leaked", definedness, DATAFLOW, leak, "DataflowVar used outside of its block"),
    ("dimension", definedness, SYMBOLIC, with_bindings(rename_dim), "undefined variable in the type of a variable"),
    ("function", definedness, SYMBOLIC, forget_function, "undefined GlobalVar"),
    ("parameter", definedness, SYMBOLIC, share_parameter, "variable belongs to two functions"),
    ("dtype", type_soundness, DATAFLOW, with_bindings(annotate), "a variable and its value (relax.less): two dtypes"),
    (
        "buffer",
        type_soundness,
        PRIM_FUNC,
        retype_result,
        "a tensor given to call_tir and the PrimFunc's buffer: two dtypes",
    ),
)


@pytest.mark.parametrize(
    ("oracle", "script", "change", "message"), [row[1:] for row in PLANTED], ids=[row[0] for row in PLANTED]
)
def test_a_planted_fault_is_reported_by_its_check(
    oracle: Any, script: str, change: Callable[[Any], Any], message: str
) -> None:
    bench = RealBench()
    verdict = oracle.judge(step_of(module_pass(change), module_of(script), bench), bench)
    assert isinstance(verdict, Failed), verdict
    assert verdict.message == message
    assert verdict.culprit is None


def test_a_pass_may_leave_it_to_others_to_give_what_its_prim_func_takes() -> None:
    bench = RealBench()
    step = step_of(module_pass(retype_result), module_of(PRIM_FUNC), bench)
    assert isinstance(type_soundness.judge(step, bench), Failed)
    assert type_soundness.judge(replace(step, row=row_of(step.row.name, keeps_buffers=False)), bench) == PASSED


MESH = relax.distributed.DeviceMesh((2,), tvm.ir.Range(0, 2))
EVERYWHERE = relax.distributed.Placement([relax.distributed.PlacementSpec.replica()])


def spread(*shape: Any) -> Any:
    """The type of a tensor of which every device has all."""
    return relax.distributed.DTensorType(relax.TensorType(shape, "float32"), MESH, EVERYWHERE)


def distributed(result: Any) -> Any:
    """A module whose main takes and returns a distributed tensor; result: its extents on return."""
    x = relax.Var("x", spread(N, 4))
    return tvm.IRModule({"main": relax.Function([x], relax.SeqExpr([], x), spread(*result))})


N, LOOSE = tirx.Var("n", "int64"), tirx.Var("loose", "int64")


def test_the_type_of_a_distributed_parameter_defines_variables() -> None:
    assert misuses(distributed((N, 4))) == []


def test_an_undefined_variable_of_a_distributed_type_is_named() -> None:
    found = misuses(distributed((LOOSE, 4)))
    assert [(one.rule, one.where) for one in found] == [("undefined variable in the return type", "loose in main")]


def test_distributed_types_contradict_by_the_whole_tensor() -> None:
    assert contradiction(spread(2, 3), spread(2, 3)) is None
    assert contradiction(spread(2, 3), spread(2, 4)) == "two extents"
    assert contradiction(spread(2, 3), relax.TensorType((2, 3), "float32")) is None
    assert contradiction(spread(2, 3), relax.ShapeType([2, 3])) == "a tensor against a shape"


@pytest.mark.parametrize(("script", "change"), [row[2:4] for row in PLANTED if row[1] is not type_soundness])
def test_tvm_rejects_what_our_checks_reject(script: str, change: Callable[[Any], Any]) -> None:
    bench = RealBench()
    verdict = well_formed.judge(step_of(module_pass(change), module_of(script), bench), bench)
    assert isinstance(verdict, Failed)
    assert verdict.symptom == "ill-formed"


def test_a_free_variable_in_a_prim_func_is_ill_formed() -> None:
    bench = RealBench()
    verdict = well_formed.judge(step_of(module_pass(free_index), module_of(PRIM_FUNC), bench), bench)
    assert isinstance(verdict, Failed)
    assert "stray" in verdict.message


@pytest.mark.parametrize(
    ("words", "said"), [("our check does not", "ValueError: Var x is not defined."), ("TVM accepts it", "")]
)
def test_disagreement_with_tvm_names_the_verifier(words: str, said: str) -> None:
    bad = with_bindings(lambda b: b[1:])(module_of(DATAFLOW))
    verdict = well_formed._disagreement(module_of(DATAFLOW) if said else bad, said)
    assert isinstance(verdict, Failed)
    assert verdict.culprit == well_formed.VERIFIER
    assert words in verdict.message


@pytest.mark.parametrize("oracle", CHECKS, ids=[check.ORACLE.name for check in CHECKS])
def test_ill_formed_input_is_not_held_against_a_pass(oracle: Any) -> None:
    bench = RealBench()
    change = next(row[3] for row in PLANTED if row[1] is oracle or oracle is well_formed)
    script = next(row[2] for row in PLANTED if row[1] is oracle or oracle is well_formed)
    step = step_of(module_pass(lambda module: tvm.IRModule(module.functions)), change(module_of(script)), bench)
    assert isinstance(oracle.judge(step, bench), Skipped)


@pytest.mark.parametrize("name", CLEAN)
def test_the_checks_are_quiet_along_the_lowering(name: str) -> None:
    bench = RealBench(target="llvm")
    module = module_of(CLEAN[name])
    judged = 0
    for call in SETUP[Phase.SYMBOLED]:
        step = step_of(call, module, bench, PASSES[call.name])
        if isinstance(step.error, Raised):
            break
        for check in CHECKS:
            verdict = check.judge(step, bench)
            assert isinstance(verdict, Passed), (call.name, check.ORACLE.name, verdict)
            judged += 1
        module = step.after
    assert judged >= 5 * len(CHECKS)


def test_our_table_of_effects_is_tvms() -> None:
    names = [name for name in tvm.ir.Op.list_op_names() if name.startswith("relax.")]
    impure = {name for name in names if tvm.ir.Op.get(name).get_attr("FPurity") == 0}
    assert set(purity.EFFECTS) == impure
    assert isinstance(purity.ORACLE, StepOracle)


def test_a_memo_keeps_what_was_true_before_a_pass_changed_its_input() -> None:
    module = module_of(DATAFLOW)
    assert not definedness.MISUSES.fresh(module)
    module.update_func(module.get_global_var("main"), leak(module)["main"])
    assert not definedness.MISUSES.of(module)
    assert definedness.MISUSES.fresh(module)


def test_rows_of_made_passes_stand_in_every_phase() -> None:
    assert row_of("anything").place.phases == frozenset(Phase)


# --- pragmas ------------------------------------------------------------------------------------------------

PRAGMA = """@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "float32")):
        for i in T.serial(4, annotations={"pragma_unroll_explicit": 1}):
            with T.sblock("a"):
                A[i] = T.float32(0)
"""


@pytest.mark.parametrize("undefined", [False, True])
def test_the_node_of_a_pragma_is_no_use_of_a_variable(undefined: bool) -> None:
    lowered = tvm.s_tir.transform.LowerOpaqueBlock()(module_of(PRAGMA))
    assert "pragma_unroll_explicit" in str(lowered)

    def lose(store: Any) -> Any:
        return tirx.BufferStore(store.buffer, store.value, [tirx.Var("lost", "int32")])

    function = lowered["main"]
    if undefined:
        function = function.with_body(tvm_ffi.structural_map(function.body, (tirx.BufferStore, lose)))
    assert ("lost" in verifier.complaint(tvm.IRModule({"main": function}))) == undefined
    assert (verifier.complaint(lowered) == "") and verifier._verified(lowered["main"]).endswith(".node.")


# --- what is remembered -------------------------------------------------------------------------------------


LEAVES = (
    *(walk.FUNCTION, walk.PRIM_FUNC, walk.CALL, walk.TUPLE, walk.TUPLE_GET_ITEM, walk.GLOBAL_VAR, walk.OP),
    *(relax.If, relax.SeqExpr, relax.DataflowBlock, relax.MatchCast, relax.ShapeExpr, relax.DataflowVar),
    *(T.TensorType, T.ShapeType, T.TupleType, T.FuncType, T.PrimType, T.Constant),
)


@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: leaf.__name__)
def test_no_class_is_derived_from_one_that_is_matched_exactly(leaf: type) -> None:
    assert leaf.__subclasses__() == []


def test_the_functions_of_a_module_are_those_that_it_holds_now() -> None:
    module, other = module_of(DATAFLOW), module_of(SYMBOLIC)["main"]
    name = module.get_global_var("main")
    assert [function.same_as(module["main"]) for _, function in walk.named_functions(module)] == [True]
    module.update_func(name, other)
    assert [function.same_as(other) for _, function in walk.named_functions(module)] == [True]
