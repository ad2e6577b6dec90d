"""The pass table against the installed TVM: completeness, constructors, pipelines and setup prefixes."""

from __future__ import annotations

import os

from generators.passes.table import with_trait
from generators.passes.traits import ActsWith, Lowers, PreparedBy, Refuses

os.environ.setdefault("TVM_NUM_THREADS", "1")

import ast
import dataclasses
import re
import subprocess
import sys

import numpy as np
import pytest
import tvm
from tvm import relax, tirx
from tvm.relax.analysis import well_formed

from generators import tvm_api
from generators.operators.table import OPERATORS
from generators.passes.excluded import EXCLUDED, EXCLUDED_OPTIONS, NOT_PASSES
from generators.passes.row import PassRow, Phase
from generators.passes.table import PASSES, PIPELINES, SETUP, TIR_PIPELINE, join
from generators.program_facts import Feature, Parameter, ProgramFacts
from generators.source import SeededSource
from oracles.calls.table import CONVENTIONS
from tests.needs import needs

FACTS = ProgramFacts(
    parameters=(
        Parameter("x", (2, 3), "float32", value=np.arange(6, dtype="float32").reshape(2, 3)),
        Parameter("w", (3,), "float32", value=np.array([np.nan, np.inf, 0.1], dtype="float32")),
    ),
    symbols=(("n", 3),),
    num_input=1,
    features=frozenset({Feature.VDEVICE, Feature.SCALAR_LOSS}),
    schedule=('sch.unroll(sch.get_loops(sch.get_sblock("b"))[0])',),
    scheduled="prim",
)


def small_module(rows: int | None = None) -> tvm.ir.IRModule:
    """A matrix product, an addition and a reshape in one dataflow block; `rows` None for a symbolic dimension."""
    n = tvm_api.symbol("n") if rows is None else rows
    x = relax.Var("x", relax.TensorType([n, 4], "float32"))
    w = relax.Var("w", relax.TensorType([4, 4], "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x, w]):
        with builder.dataflow():
            product = builder.emit(relax.op.matmul(x, w))
            total = builder.emit(relax.op.add(product, x))
            out = builder.emit_output(relax.op.reshape(total, [n * 4]))
        builder.emit_func_output(out)
    return builder.finalize()


def test_a_name_that_two_parameters_have_is_not_bound() -> None:
    """BindParams refuses it, and says so."""
    row, (one, weight) = PASSES["BindParams"], FACTS.parameters
    twins = dataclasses.replace(
        FACTS, parameters=(one, weight, dataclasses.replace(weight, dtype="int32", value=np.zeros(3, "int32")))
    )
    other = dataclasses.replace(twins, parameters=(*twins.parameters, dataclasses.replace(weight, name="v")))
    assert row.draw(SeededSource(0), twins) is None
    drawn = {row.draw(SeededSource(seed), other) for seed in range(20)}
    assert all(text is not None and "'v'" in text and "'w'" not in text for text in drawn)
    message = 'Check failed: it->second.size() == 1 (2 vs. 1) : Function contains multiple parameters with name "w".'
    refuses = row.trait(Refuses)
    assert refuses is not None and re.search(refuses.message, message)


def construct(source: str) -> tvm.transform.Pass:
    with tvm.target.Target("llvm"):
        return eval(source, dict(tvm_api.PASS_NAMES))


def public_names() -> set[str]:
    """The capitalised names of the modules of passes, those of TIR and the rules of dlight with their namespace."""
    dlight = tvm.s_tir.dlight
    rules = {"s_tir.dlight.cpu.": dlight.cpu, "s_tir.dlight.gpu.": dlight.gpu}
    spaces = {"": relax.transform, "tirx.": tirx.transform, "s_tir.": tvm.s_tir.transform, **rules}
    return {f"{prefix}{name}" for prefix, module in spaces.items() for name in dir(module) if name[0].isupper()}


def test_every_public_pass_has_a_row_or_a_reason() -> None:
    rows = {name.split("[")[0] for name in PASSES}
    assert public_names() - rows - set(EXCLUDED) - set(NOT_PASSES) == set()


@needs("tvm.s_tir.transform.StmtSimplify")
def test_no_row_is_about_a_pass_that_is_gone() -> None:
    elsewhere = {
        "DispatchSampling",
        "DispatchSortScan",
        "ApplyDefaultSchedule",
        "s_tir.Schedule",
        "sym.Analyzer",
        "sym.iter_map_simplify",
        "s_tir.meta_schedule.EvolutionarySearch",
        "s_tir.meta_schedule.ReplayTrace",
    }
    rows = {name.split("[")[0] for name in PASSES}
    assert (rows | set(EXCLUDED) | set(NOT_PASSES)) - public_names() == elsewhere


def test_importing_the_table_does_not_import_tvm() -> None:
    code = (
        "import sys; import generators.passes.sequences, generators.passes.loaded; "
        "sys.exit(bool({'tvm', 'tvm_ffi'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("row", PASSES.values(), ids=lambda row: row.name)
def test_row_is_complete(row: PassRow) -> None:
    assert row.place.phases and row.why
    assert row.promise.calling in CONVENTIONS
    assert row.sources or row.fires.draw_source
    assert len(set(row.sources)) == len(row.sources)
    assert set(row.named(PreparedBy)) <= set(PASSES)
    assert row.place.gives is None or row.place.gives not in row.place.phases


@pytest.mark.parametrize("row", PASSES.values(), ids=lambda row: row.name)
def test_every_constructor_makes_a_pass(row: PassRow) -> None:
    drawn = {row.draw(SeededSource(0, index), FACTS) for index in range(12)}
    sources = {*row.sources, *(text for text in drawn if text is not None)}
    assert sources
    for source in sources:
        assert isinstance(construct(source), tvm.transform.Pass), source


def test_rows_that_depend_on_the_program_have_no_use_for_an_empty_one() -> None:
    bare = ProgramFacts()
    useless = {name for name, row in PASSES.items() if row.draw(SeededSource(0), bare) is None}
    assert useless == {
        *("BindParams", "BindSymbolicVars", "Gradient", "LiftTransformParams", "UpdateVDevice", "s_tir.Schedule")
    }


def test_bound_parameters_have_exactly_the_values_of_the_entry_call() -> None:
    texts = (PASSES["BindParams"].draw(SeededSource(0, index), FACTS) for index in range(20))
    for text in texts:
        assert text is not None and "'x'" not in text  # x is an activation, not a weight
        mapping = text.removeprefix("relax.transform.BindParams('main', ").removesuffix(")")
        np.testing.assert_array_equal(eval(mapping, {"np": np})["w"], FACTS.parameters[1].value)


def test_two_rows_of_one_name_are_refused() -> None:
    row = PASSES["FoldConstant"]
    with pytest.raises(ValueError, match="FoldConstant has two entries"):
        join((row, row))
    with pytest.raises(ValueError, match="VMBuiltinLower has two entries"):
        join((dataclasses.replace(row, name="VMBuiltinLower"),))


@tvm.ir.instrument.pass_instrument
class Recorder:
    """Notes the passes that run directly inside the pipeline, by what they are called inside."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.depth = 0

    def run_before_pass(self, mod: tvm.ir.IRModule, info: tvm.ir.transform.PassInfo) -> None:
        if self.depth == 2:  # inside the pipeline and its Sequential
            self.names.append(info.name)
        self.depth += 1

    def run_after_pass(self, mod: tvm.ir.IRModule, info: tvm.ir.transform.PassInfo) -> None:
        self.depth -= 1


def recorded(passes: tvm.transform.Pass, mod: tvm.ir.IRModule, target: tvm.target.Target) -> list[str]:
    recorder = Recorder()
    with target, tvm.transform.PassContext(instruments=[recorder]):
        passes(mod)
    return recorder.names


def named_passes_of(passes: tvm.transform.Pass, mod: tvm.ir.IRModule, target: tvm.target.Target) -> list[str]:
    """The names of all TIR passes at any depth, in the order in which they begin."""

    @tvm.ir.instrument.pass_instrument
    class All:
        def __init__(self) -> None:
            self.names: list[str] = []

        def run_before_pass(self, mod: tvm.ir.IRModule, info: tvm.ir.transform.PassInfo) -> None:
            self.names.append(info.name)

    recorder = All()
    with target, tvm.transform.PassContext(instruments=[recorder]):
        passes(mod)
    return [name for name in recorder.names if name.startswith(("tirx.", "s_tir."))]


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_pipelines_hold_what_the_wheel_runs(pipeline: str) -> None:
    cuda = tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm")
    target = cuda if pipeline == "cuda" else tvm.target.Target("llvm")
    official = relax.get_pipeline(pipeline) if pipeline == "default_build" else relax.get_default_pipeline(target)
    ours = [construct(PASSES[name].sources[0]) for name in PIPELINES[pipeline]]

    @tvm.transform.module_pass(opt_level=0)
    def one_by_one(mod: tvm.ir.IRModule, ctx: tvm.transform.PassContext) -> tvm.ir.IRModule:
        return tvm.transform.Sequential(ours)(mod)

    names = recorded(one_by_one, small_module(), target)
    assert len(names) >= len(PIPELINES[pipeline])
    assert recorded(official, small_module(), target) == names
    with target:  # static shapes: VMShapeLower orders what it computes for symbolic ones by address
        assert tvm_api.structural_equal(official(small_module(3)), one_by_one(small_module(3)), map_free_vars=True)


def test_tir_pipeline_holds_what_the_wheel_runs() -> None:
    target = tvm.target.Target("llvm").with_host(tvm.target.Target("llvm"))
    mod = small_module(3)
    for call in SETUP[Phase.BOUND]:
        with target:
            mod = construct(call.source)(mod)
    prim_funcs = tvm.IRModule({g: f for g, f in mod.functions.items() if isinstance(f, tirx.PrimFunc)})
    lowering, finish_host, _ = tvm.tirx.get_default_tir_pipeline(target)
    ours = [construct(PASSES[name].sources[0]) for name in TIR_PIPELINE[1:]]

    @tvm.transform.module_pass(opt_level=0)
    def official(mod: tvm.ir.IRModule, ctx: tvm.transform.PassContext) -> tvm.ir.IRModule:
        return finish_host()(lowering(mod))

    @tvm.transform.module_pass(opt_level=0)
    def one_by_one(mod: tvm.ir.IRModule, ctx: tvm.transform.PassContext) -> tvm.ir.IRModule:
        return tvm.transform.Sequential(ours)(mod)

    with target:
        assert tvm_api.structural_equal(official(prim_funcs), one_by_one(prim_funcs), map_free_vars=True)
    assert TIR_PIPELINE[0] == "tirx.BindTarget"
    names = named_passes_of(one_by_one, prim_funcs, target)
    assert len(names) >= len(ours)
    assert named_passes_of(official, prim_funcs, target) == names


def test_setup_has_every_phase() -> None:
    assert set(SETUP) == set(Phase)


@pytest.mark.parametrize("phase", Phase, ids=lambda phase: phase.name)
def test_setup_brings_a_module_to_its_phase(phase: Phase) -> None:
    mod = small_module()
    reached = Phase.HIGH
    for call in SETUP[phase]:
        with tvm.target.Target("llvm"):
            mod = construct(call.source)(mod)
        gives = PASSES[call.name].place.gives
        assert reached in PASSES[call.name].place.phases or gives is None
        reached = reached if gives is None else gives
    assert reached is phase
    well_formed(mod)


@pytest.mark.parametrize(
    ("phase", "operator"),
    [
        (Phase.LEGAL, "relax.call_tir"),
        (Phase.LOWERED, "relax.builtin.alloc_tensor"),
        (Phase.PLANNED, "relax.memory.alloc_storage"),
        (Phase.KILLED, "relax.memory.kill_tensor"),
        (Phase.BUILTIN, "relax.vm.alloc_storage"),
    ],
)
def test_setup_leaves_the_operators_of_its_phase(phase: Phase, operator: str) -> None:
    mod = small_module()
    seen: set[str] = set()
    for call in SETUP[phase]:
        with tvm.target.Target("llvm"):
            mod = construct(call.source)(mod)

    def note(expr: object) -> None:
        name = tvm_api.op_name(expr)
        if name is not None:
            seen.add(name)

    relax.analysis.post_order_visit(mod["main"], note)
    assert operator in seen


def tir_options() -> set[str]:
    """The options of TIR that TVM registers, the fields of records one by one."""
    records = {
        **{f"tirx.{name}": getattr(tirx.transform, f"{name}Config") for name in ("RemoveNoOp", "StmtSimplify")},
        "tirx.UnrollLoop": tirx.transform.UnrollLoopConfig,
        "s_tir.HoistExpression": tirx.transform.HoistExpressionConfig,
        "s_tir.HoistIfThenElse": tirx.transform.HoistIfThenElseConfig,
        "s_tir.InjectDoubleBuffer": tvm.s_tir.transform.InjectDoubleBufferConfig,
        "s_tir.LoopPartition": tvm.s_tir.transform.LoopPartitionConfig,
    }
    found: set[str] = set()
    for name, described in tvm.transform.PassContext.list_configs().items():
        if name.startswith(("tirx.", "s_tir.")):
            is_record = "Config" in described["type"]
            fields = [field.name for field in records[name].__tvm_ffi_type_info__.fields] if is_record else []
            found |= {f"{name}.{field}" for field in fields} or {name}
    return found


@needs("tvm.s_tir.transform.StmtSimplify")
def test_every_option_of_tir_is_drawn_or_has_a_reason() -> None:
    drawn: set[str] = set()
    for text in (text for row in PASSES.values() for text in row.fires.options):
        for name, value in ast.literal_eval(text).items():
            drawn |= {f"{name}.{field}" for field in value} if isinstance(value, dict) else {name}
    registered = tir_options()
    assert len(registered) > 30
    assert registered - drawn - set(EXCLUDED_OPTIONS) == set()
    assert set(EXCLUDED_OPTIONS) <= registered


@pytest.mark.parametrize("row", [row for row in PASSES.values() if row.fires.options], ids=lambda row: row.name)
def test_options_are_what_a_pass_context_takes(row: PassRow) -> None:
    assert len(set(row.fires.options)) == len(row.fires.options)
    for text in row.fires.options:
        config = eval(text, {})
        with tvm.transform.PassContext(config=config) as context:
            assert set(dict(context.config.items())) == set(config)
    drawn = {row.draw_options(SeededSource(2, index)) for index in range(40)}
    assert drawn == {*row.fires.options, *(() if row.has(ActsWith) else ("",))}


NOT_DISPATCHED = {
    "relax.ewise_fma": "nothing lowers it",
    "relax.wrap_param": "LiftTransformParams takes it away",
    "relax.unique": "LegalizeOps calls its packed function (FCallPacked)",
    "relax.nonzero": "LegalizeOps calls its packed function (FCallPacked)",
    "relax.shape_of": "LowerRuntimeBuiltin and the VM take it",
    "relax.tensor_to_shape": "LowerRuntimeBuiltin and the VM take it",
}


def test_operators_without_a_legalisation_are_lowered_by_a_pass_that_says_so() -> None:
    """Else a module that has not been through it counts as one that can be built."""
    dispatched = set[str]().union(*(lowered.names for _, lowered in with_trait(Lowers)))
    without = {name for name in OPERATORS if tvm.ir.Op.get(name).get_attr("FLegalize") is None}
    assert without == dispatched | set(NOT_DISPATCHED)
