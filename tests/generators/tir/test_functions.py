"""Drawn PrimFuncs: well-formed, without undefined results, and of all the kinds that the generator is to know."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from collections import Counter, defaultdict
from functools import cache
from typing import Any

import numpy as np
import pytest
import tvm_ffi
from hypothesis import HealthCheck, given, settings
from tvm import relax, s_tir, tirx
from tvm.ir import TensorLoad

from generators import tvm_api
from generators.dtypes import is_float
from generators.program_facts import Feature
from generators.source import SeededSource
from generators.tir.functions import draw_prim_func, draw_schedulable
from generators.tir.prim_program import PrimProgram
from generators.tir.relax_caller import CALLED, wrapped
from generators.tir.strategies import prim_funcs
from oracles.reference.engine import Interpreter
from oracles.reference.tir import run_prim_func
from oracles.reference.values import Tensor
from tests.quick import one_in

SEEDS = 400
FEATURES = (
    *("sblocks", "opaque_function", "predicate", "split_loops", "fused_loops", "shifted_loop", "loop_step"),
    *("reordered_loops", "axis_without_loop", "annotated_loop", "parallel", "vectorized", "unrolled"),
    *("match_buffer", "nested_block", "loop_in_block", "two_writers", "in_place", "scan", "block_without_axes"),
    *("reduce_sum", "reduce_max", "reduce_min", "reduce_product", "argmax", "window", "matmul", "bias"),
    *("read_apart", "read_in_pairs", "read_transposed"),
    *("part_of_axis", "narrow_axis", "part_over_whole", "part_beside_parts"),
    *("padding", "reshape", "guarded_read", "index_reversed", "index_wrapped", "index_clamped", "index_gathered"),
    *("symbolic", "scalar_parameter", "extent_0", "extent_1", "int32_index", "symbolic_strides", "elem_offset"),
    *("strides", "scope_local", "view", "alloc_buffer", "scratch", "dead_function"),
    *(
        "while",
        "if_then_else_statement",
        "triangular_loop",
        "jump",
        "gate",
        "loop_for_some",
        "assert",
        "bind",
        "let",
        "ramp",
        "broadcast",
    ),
    *("accumulate", "if_then_else", "select", "likely", "logic", "cast", "special_values", "elementary_function"),
    *("floordiv", "floormod", "truncdiv", "truncmod", "negative_division", "shift_left", "shift_right"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "popcount", "min", "max"),
    *(f"dtype_{name}" for name in ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "bool")),
    *("dtype_int32", "dtype_int64"),
)


@cache
def drawn(seed: int) -> PrimProgram:
    """A program; the tests look at the same ones."""
    return draw_prim_func(SeededSource(11, seed))


def results(program: PrimProgram) -> list[Any]:
    """What the reference gives for the outputs."""
    arguments = program.fresh_arguments()
    run_prim_func(program.func, arguments, program.initialised())
    return [arguments[number] for number in program.outputs]


@pytest.mark.parametrize("first", one_in(2, range(0, SEEDS, 50)))
def test_functions_are_well_formed_and_defined(first: int) -> None:
    for seed in range(first, first + 50):
        program = drawn(seed)
        assert s_tir.analysis.verify_well_formed(program.func, assert_mode=False), seed
        outputs = results(program)
        assert outputs, seed


FRACTIONS_CAST = (10055, 10100)
"""Draws of seed 4711 that cast a float with a fraction to an integer and go on with it."""


def test_results_are_in_the_declared_range() -> None:
    cast = {seed: draw_prim_func(SeededSource(4711, seed)) for seed in FRACTIONS_CAST}
    for seed, program in {**{seed: drawn(seed) for seed in range(SEEDS)}, **cast}.items():
        for number, array in zip(program.outputs, results(program), strict=True):
            values = array.astype(np.float64)
            finite = values[np.isfinite(values)]
            declared = program.parameters[number].range
            special = "special_values" in program.features
            if finite.size and not special:
                assert declared.low <= finite.min() and finite.max() <= declared.high, (seed, number)


@pytest.mark.parametrize("feature", FEATURES)
def test_every_feature_is_drawn(feature: str) -> None:
    assert any(feature in drawn(seed).features for seed in range(SEEDS))


def test_no_feature_is_in_every_function() -> None:
    counts = Counter(name for seed in range(SEEDS) for name in drawn(seed).features)
    assert max(counts.values()) < SEEDS


def test_the_same_source_gives_the_same_function() -> None:
    for seed in range(20):
        again = draw_prim_func(SeededSource(11, seed))
        assert tvm_ffi.structural_equal(again.module, drawn(seed).module)
        for one, other in zip(again.arguments, drawn(seed).arguments, strict=True):
            np.testing.assert_array_equal(one, other)


def test_arguments_are_as_declared() -> None:
    for seed in range(100):
        program = drawn(seed)
        assert len(program.parameters) == len(program.arguments) == len(program.func.params)
        for parameter, value in zip(program.parameters, program.arguments, strict=True):
            if parameter.dims is None:
                assert value == program.symbols[parameter.name]
            else:
                assert value.dtype.name == parameter.dtype and value.ndim == len(parameter.dims)


def _blocks(program: PrimProgram) -> list[tuple[Any, list[Any]]]:
    """Every block with its realize, and the loops around it."""
    found: list[tuple[Any, list[Any]]] = []

    def go(statement: Any, loops: list[Any]) -> None:
        match statement:
            case tirx.SeqStmt():
                for part in statement.seq:
                    go(part, loops)
            case tirx.For():
                go(statement.body, [*loops, statement])
            case s_tir.SBlockRealize():
                found.append((statement, loops))
                go(statement.block.body, loops)

    go(program.func.body, [])
    return found


def _loads(block: Any) -> dict[str, set[str]]:
    """The index tuples at which a block reads each buffer that it does not write."""
    places: dict[str, set[str]] = defaultdict(set)
    own = {str(region.source.name) for region in block.writes}

    def see(load: Any) -> Any:
        if str(load.source.name) not in own:
            places[str(load.source.name)].add(str(load.indices))
        return load

    tvm_ffi.structural_map(block.body, (TensorLoad, see))
    return places


def test_blocks_read_what_an_elementwise_block_wrote_at_several_places_at_once() -> None:
    """Both plain blocks and such with an init, of buffers between blocks and in a good part of those that read them."""
    readers, apart, reducing = 0, 0, 0
    for seed in range(SEEDS):
        program = drawn(seed)
        given = {str(p.name) for p in program.parameters}
        for realize, _ in _blocks(program):
            scratch = {name: places for name, places in _loads(realize.block).items() if name[0] == "T"}
            several = any(len(places) > 1 for name, places in scratch.items() if name not in given)
            readers += any(name not in given for name in scratch)
            apart += several
            reducing += several and realize.block.init is not None
    assert apart > readers / 8 and reducing > 3, (readers, apart, reducing)


def _partial(realize: Any, loops: list[Any]) -> bool:
    """Whether an axis is a loop variable that begins at another number than 0."""
    begins = {str(loop.loop_var): int(loop.min) for loop in loops if isinstance(loop.min, tirx.IntImm)}
    return any(isinstance(v, tirx.Var) and begins.get(str(v)) for v in realize.iter_values)


def test_blocks_go_over_a_part_of_what_they_write() -> None:
    """Both plain blocks and such with an init, with the domain of the whole axis and with that of the part."""
    parts: Counter[tuple[bool, bool]] = Counter()
    for seed in range(SEEDS):
        for realize, loops in _blocks(drawn(seed)):
            if _partial(realize, loops):
                narrow = any(isinstance(v.dom.min, tirx.IntImm) and int(v.dom.min) for v in realize.block.iter_vars)
                parts[realize.block.init is not None, narrow] += 1
    assert len(parts) == 4 and min(parts.values()) > 3, parts


def test_functions_to_be_scheduled_go_over_all_of_their_axes() -> None:
    for seed in range(60):
        program = draw_schedulable(SeededSource(12, seed))
        assert not any(_partial(realize, loops) for realize, loops in _blocks(program)), seed


def test_modules_survive_as_json() -> None:
    for seed in range(40):
        module = drawn(seed).module
        assert tvm_ffi.structural_equal(tvm_api.module_from_json(tvm_api.json_of(module)), module), seed


def test_a_wrapped_function_gives_the_same() -> None:
    for seed in range(60):
        program = drawn(seed)
        module = wrapped(program)
        assert relax.analysis.check_well_formed(module.module), seed
        assert CALLED in {g.name_hint for g in module.module.functions}
        value = Interpreter(module.module).run(module.calls[0])
        fields = value if isinstance(value, tuple) else (value,)
        for one, other in zip(fields, results(program), strict=True):
            assert isinstance(one, Tensor)
            expected = other.astype(np.float64) if is_float(one.dtype) else other
            np.testing.assert_array_equal(one.value, expected, err_msg=str(seed))


def test_functions_that_share_a_module_give_what_each_gives_alone() -> None:
    """Their names meet nowhere: parameters, symbols and dead functions are distinguished."""
    for seed in range(0, 60, 3):
        programs = [drawn(seed + number) for number in range(3)]
        together = wrapped(*programs)
        assert relax.analysis.check_well_formed(together.module), seed
        names = {parameter.name for parameter in together.facts.parameters}
        assert len(names) == len(together.calls[0].arguments)
        assert (Feature.LOOPS_ALONE in together.facts.features) == any(not program.schedulable for program in programs)
        value = Interpreter(together.module).run(together.calls[0])
        assert isinstance(value, tuple)
        for found, program in zip(value, programs, strict=True):
            fields = found if isinstance(found, tuple) else (found,)
            for one, other in zip(fields, results(program), strict=True):
                assert isinstance(one, Tensor)
                expected = other.astype(np.float64) if is_float(one.dtype) else other
                np.testing.assert_array_equal(one.value, expected, err_msg=str(seed))


@settings(max_examples=10, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(prim_funcs())
def test_the_strategy_draws_valid_functions(program: PrimProgram) -> None:
    assert s_tir.analysis.verify_well_formed(program.func, assert_mode=False)
    assert results(program)


def test_loops_that_something_jumps_out_of_are_plain() -> None:
    irregular = 0
    for index in range(400):
        program = draw_prim_func(SeededSource(17, index))
        if "jump" in program.features:
            irregular += 1
            s_tir.transform.AnnotateIrregularLoop()(program.module)  # raises for any other
    assert irregular > 5
