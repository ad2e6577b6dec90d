"""Whole programs: what always holds of one, that equal seeds give equal programs, and what some of many must hold."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from generators import tvm_api
from generators.case import Argument, Shape
from generators.dtypes import FLOATS, INTEGERS, numpy_dtype
from generators.operators.excluded import EXCLUDED
from generators.operators.table import OPERATORS
from generators.program import Program
from generators.program_facts import Feature
from generators.relax.knobs import DEFAULT
from generators.relax.relax_program import draw_program
from generators.source import HypothesisSource, SeededSource, Source, weighted
from generators.unavailable import Unavailable
from oracles.reference.calls import SPECIAL
from oracles.reference.numbers import Numbers

SEED = 41
PROGRAMS = 300
CONSTANT = type(tvm_api.constant(np.array(1), "int32"))
FEATURES = frozenset({Feature.NUM_INPUT, Feature.VDEVICE, Feature.SYMBOLIC})


def drawn(index: int) -> Program:
    """Program `index`; every fifth is asked for features besides."""
    return draw_program(SeededSource(SEED, index), wants=FEATURES if index % 5 == 0 else frozenset())


@pytest.fixture(scope="module")
def programs() -> list[Program]:
    return [drawn(index) for index in range(PROGRAMS)]


def functions_of(program: Program) -> list[Any]:
    return [f for f in program.module.functions.values() if isinstance(f, relax.Function)]


def nodes_of(program: Program) -> Iterator[Any]:
    """Every expression of every Relax function, local functions and branches included."""
    for function in functions_of(program):
        found: list[Any] = []
        relax.analysis.post_order_visit(function, found.append)
        yield from found


def bindings_of(program: Program) -> list[Any]:
    sequences = [node for node in nodes_of(program) if isinstance(node, relax.SeqExpr)]
    return [binding for sequence in sequences for block in sequence.blocks for binding in block.bindings]


def dataflow_blocks(function: Any) -> int:
    return sum(isinstance(block, relax.DataflowBlock) for block in function.body.blocks)


def tensor_types(program: Program) -> Iterator[Any]:
    """Types of the tensors that are bound or are parameters."""
    variables = [b.var for b in bindings_of(program)] + [p for f in functions_of(program) for p in f.params]
    for var in variables:
        ty = tvm_api.type_of(var)
        if isinstance(ty, tvm_api.TensorType):
            yield ty


def extents(ty: Any) -> list[int]:
    dims = list(ty.shape.values) if isinstance(ty.shape, relax.ShapeExpr) else []
    return [int(dim) for dim in dims if isinstance(dim, tvm.tirx.IntImm)]


# --- what always holds ----------------------------------------------------------------------------------


def test_programs_are_well_formed(programs: list[Program]) -> None:
    ill = [i for i, p in enumerate(programs) if not relax.analysis.check_well_formed(p.module)]
    assert ill == []


def test_equal_keys_give_equal_programs(programs: list[Program]) -> None:
    for index in range(0, PROGRAMS, 6):
        again = drawn(index)
        assert tvm_api.script_of(again.module) == tvm_api.script_of(programs[index].module)
        assert again.operators == programs[index].operators
        assert all(map(same, again.calls[0].arguments, programs[index].calls[0].arguments))


def same(one: Argument, other: Argument) -> bool:
    if isinstance(one, tuple):
        return isinstance(other, tuple) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.dtype == other.dtype and one.tobytes() == other.tobytes()
    return one == other


def test_other_indices_give_other_programs(programs: list[Program]) -> None:
    assert len({tvm_api.script_of(p.module) for p in programs}) > PROGRAMS * 0.95


def test_entry_calls_match_the_parameters(programs: list[Program]) -> None:
    for program in programs:
        assert program.calls[0].function == "main"
        for call in program.calls:
            parameters = program.module[call.function].params
            assert len(parameters) == len(call.arguments)
            values: dict[str, int] = {}
            for parameter, argument in zip(parameters, call.arguments, strict=True):
                check_argument(tvm_api.type_of(parameter), argument, values)


def test_main_is_called_again_with_other_values_and_extents(programs: list[Program]) -> None:
    pairs = [[c.arguments for c in p.calls if c.function == "main"] for p in programs]
    again = [pair for pair in pairs if len(pair) == 2]
    assert 0.15 < len(again) / len(programs) < 0.35
    assert any(shapes(first) != shapes(second) for first, second in again)


def shapes(arguments: tuple[Argument, ...]) -> list[tuple[int, ...]]:
    return [
        a.shape if isinstance(a, np.ndarray) else a.extents for a in arguments if isinstance(a, (np.ndarray, Shape))
    ]


def test_other_public_functions_are_called(programs: list[Program]) -> None:
    called = {call.function for program in programs for call in program.calls}
    assert called > {"main"} and {name[:4] for name in called} <= {"main", "dead"}


def test_second_call_suits_the_program(programs: list[Program]) -> None:
    several = [program for program in programs if len(program.calls) > 1][:60]
    left_out = sum((Numbers(p.module, p.calls).left_out for p in several), Counter[str]())
    assert sum(left_out.values()) <= 2, left_out


def check_argument(ty: Any, argument: Argument, values: dict[str, int]) -> None:
    """Fails unless the argument inhabits the type; `values` gathers what the symbolic dims stand for."""
    if isinstance(ty, tvm_api.TupleType):
        assert isinstance(argument, tuple) and len(argument) == len(ty.fields)
        for field, part in zip(ty.fields, argument, strict=True):
            check_argument(field, part, values)
        return
    if isinstance(ty, tvm_api.ShapeType):
        assert isinstance(argument, Shape)
        check_dims(list(ty.values), argument.extents, values)
        return
    assert isinstance(ty, tvm_api.TensorType) and isinstance(argument, np.ndarray)
    assert argument.dtype == numpy_dtype(str(tvm_api.dtype_name(ty)))
    assert ty.ndim in (-1, argument.ndim)
    if isinstance(ty.shape, relax.ShapeExpr):
        check_dims(list(ty.shape.values), argument.shape, values)


def check_dims(dims: list[Any], given: tuple[int, ...], values: dict[str, int]) -> None:
    assert len(dims) == len(given)
    for dim, extent in zip(dims, given, strict=True):
        if isinstance(dim, tvm.tirx.IntImm):
            assert int(dim) == extent
        elif isinstance(dim, tvm.tirx.Var):
            assert values.setdefault(dim.name, extent) == extent


def test_facts_and_counters_tell_the_truth(programs: list[Program]) -> None:
    for program in programs:
        main = program.module["main"]
        attribute = main.attrs.get("num_input") if main.attrs else None
        assert program.facts.num_input == (None if attribute is None else int(attribute))
        assert len(program.facts.parameters) == len(main.params)
        assert set(program.operators) <= set(OPERATORS)


def test_type_inference_refuses_hardly_any_draw(programs: list[Program]) -> None:
    refused = sum(p.rejected.total() for p in programs)
    assert refused <= 0.01 * sum(p.operators.total() for p in programs)


# --- what some of many must hold ------------------------------------------------------------------------


def holds(kind: type) -> Callable[[Program], bool]:
    return lambda program: any(isinstance(node, kind) for node in nodes_of(program))


def binds(kind: type) -> Callable[[Program], bool]:
    return lambda program: any(isinstance(binding, kind) for binding in bindings_of(program))


def calls_function(program: Program) -> bool:
    return any(isinstance(node, relax.Call) and isinstance(node.op, tvm.ir.GlobalVar) for node in nodes_of(program))


def symbolic(program: Program) -> bool:
    return bool(program.facts.symbols)


def several_outputs(program: Program) -> bool:
    return isinstance(tvm_api.type_of(program.module["main"].body), tvm_api.TupleType)


def has_parameter(kind: Any) -> Callable[[Program], bool]:
    return lambda program: any(isinstance(tvm_api.type_of(v), kind) for v in program.module["main"].params)


def attribute_of_module(program: Program) -> bool:
    return bool(program.module.attrs)


def unknown_shape(program: Program) -> bool:
    return any(ty.shape is None for ty in tensor_types(program))


def dead_function(program: Program) -> bool:
    return any(g.name_hint.startswith("dead") for g in program.module.functions)


def impure_main(program: Program) -> bool:
    return not program.module["main"].is_pure


SOME: dict[str, Callable[[Program], bool]] = {
    "several dataflow blocks": lambda p: any(dataflow_blocks(f) > 1 for f in functions_of(p)),
    "no dataflow block": lambda p: dataflow_blocks(p.module["main"]) == 0,
    "If": holds(relax.If),
    "match_cast": binds(relax.MatchCast),
    "tuple": holds(relax.Tuple),
    "tuple item": holds(relax.TupleGetItem),
    "constant": holds(CONSTANT),
    "external function": holds(relax.ExternFunc),
    "symbolic dims": symbolic,
    "call of a private function": calls_function,
    "several outputs": several_outputs,
    "tuple parameter": has_parameter(tvm_api.TupleType),
    "shape parameter": has_parameter(tvm_api.ShapeType),
    "PrimFunc": lambda p: any(isinstance(f, tvm.tirx.PrimFunc) for f in p.module.functions.values()),
    "module attribute": attribute_of_module,
    "global info": lambda p: bool(p.module.global_infos),
    "num_input": lambda p: p.facts.num_input is not None,
    "unknown shape": unknown_shape,
    "dead function": dead_function,
    "impure main": impure_main,
    "zero extent": lambda p: any(0 in extents(ty) for ty in tensor_types(p)),
    "unit extent": lambda p: any(1 in extents(ty) for ty in tensor_types(p)),
}


@pytest.mark.parametrize("feature", SOME)
def test_feature_appears(feature: str, programs: list[Program]) -> None:
    assert any(SOME[feature](program) for program in programs)


@pytest.mark.parametrize("rank", range(6))
def test_rank_appears(rank: int, programs: list[Program]) -> None:
    assert any(ty.ndim == rank for program in programs for ty in tensor_types(program))


@pytest.mark.parametrize("dtype", [name for name, _ in DEFAULT.dtypes])
def test_dtype_appears(dtype: str, programs: list[Program]) -> None:
    assert dtype in (*FLOATS, *INTEGERS, "bool")
    assert any(tvm_api.dtype_name(ty) == dtype for program in programs for ty in tensor_types(program))


def test_most_operators_appear(programs: list[Program]) -> None:
    assert len({name for program in programs for name in program.operators}) > 0.7 * len(OPERATORS)


# --- the operator table ---------------------------------------------------------------------------------


def test_the_table_is_large_enough() -> None:
    assert len(OPERATORS) >= 90


def test_operator_denylist() -> None:
    registered = {name for name in tvm.ir.Op.list_op_names() if name.startswith("relax.")}
    placed = [set(OPERATORS), set(SPECIAL), set(EXCLUDED)]
    assert sorted(registered - set().union(*placed)) == [], "neither drawn, interpreted nor excluded with a reason"
    assert sorted(set().union(*placed) - registered) == [], "this TVM has no such operator"
    assert [sorted(a & b) for i, a in enumerate(placed) for b in placed[:i] if a & b] == []


def test_exclusions_say_why() -> None:
    assert all(name == row.name and len(row.reason.split()) >= 8 for name, row in EXCLUDED.items())


# --- sources --------------------------------------------------------------------------------------------


def simplest(strategy: Any) -> Any:
    """What a strategy gives when every choice is the simplest."""
    from hypothesis import find

    return find(strategy, lambda value: True)


@pytest.mark.parametrize("source", [SeededSource(1), HypothesisSource(simplest)], ids=["seeded", "hypothesis"])
def test_sources_refuse_what_has_no_choice(source: Source) -> None:
    with pytest.raises(ValueError, match="empty range"):
        source.integer(2, 1)
    with pytest.raises(ValueError, match="nothing to pick"):
        source.pick(())
    assert source.integer(4, 4) == 4
    assert source.pick(("only",)) == "only"
    assert weighted(source, [("never", 0), ("always", 1)]) in ("never", "always")


def test_seeded_source_stays_within_bounds() -> None:
    source = SeededSource(3, 5)
    assert {source.integer(-1, 2) for _ in range(200)} == {-1, 0, 1, 2}
    assert all(0.25 <= source.real(0.25, 0.5) <= 0.5 for _ in range(200))
    assert 20 < sum(source.flip(0.25) for _ in range(200)) < 80


def test_a_program_that_cannot_be_drawn_says_so() -> None:
    def stubborn(scope: Any) -> None:
        raise Unavailable("no")

    program = draw_program(SeededSource(SEED), patterns=[stubborn])
    assert relax.analysis.check_well_formed(program.module)
