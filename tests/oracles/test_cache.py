"""The one cache: what it remembers, how much of it, and that an address is never taken for another object's."""

from __future__ import annotations

import pytest
from tvm import relax, tirx

from generators.tvm_api import PrimFunc
from oracles.checks import well_formed
from oracles.ir.cache import Cache, CacheByAddress, Key, addresses
from oracles.ir.walk import prim_func_parts
from oracles.verdict import Failed, Passed
from tests.oracles.modules import DATAFLOW
from tests.oracles.oracle_bench import RealBench, module_of, module_pass, poke_type, step_of


def by_value(number: int) -> Key:
    return number, None


def test_a_result_is_computed_once() -> None:
    asked = list[int]()
    cache = Cache(lambda number: asked.append(number) or number * 2, by_value, 4)  # type: ignore[func-returns-value]
    assert [cache.of(3), cache.of(3), cache.of(5)] == [6, 6, 10]
    assert asked == [3, 5]
    assert cache.fresh(3) == 6
    assert asked == [3, 5, 3]


def test_the_oldest_entries_are_forgotten() -> None:
    cache = Cache(lambda number: -number, by_value, 3)
    for number in range(10):
        cache.of(number)
    assert len(cache) == 3
    assert [cache.get(number) for number in (6, 7, 8, 9)] == [None, -7, -8, -9]


def test_a_new_result_takes_the_place_of_the_old_one_and_is_the_newest() -> None:
    cache = Cache(lambda number: number, by_value, 2)
    cache.of(1), cache.of(2)
    cache.put(1, 10)
    cache.of(3)
    assert [cache.get(number) for number in (1, 2, 3)] == [10, None, 3]


def test_a_smaller_cache_forgets_at_once_and_one_of_no_entries_is_off() -> None:
    asked = list[int]()
    cache: Cache[int, int] = Cache(lambda number: asked.append(number) or number, by_value, 4)  # type: ignore[func-returns-value]
    for number in (1, 2, 3):
        cache.of(number)
    cache.resize(2)
    assert [cache.get(number) for number in (1, 2, 3)] == [None, 2, 3]
    cache.resize(0)
    assert [cache.of(4), cache.of(4)] == [4, 4]
    assert asked == [1, 2, 3, 4, 4]


def test_none_is_a_result() -> None:
    asked = list[int]()
    cache: Cache[int, None] = Cache(asked.append, by_value, 2)
    cache.of(1), cache.of(1)
    assert asked == [1]


def test_an_entry_keeps_its_object_so_that_its_address_is_not_used_again() -> None:
    cache: CacheByAddress[tirx.Var, str] = CacheByAddress(lambda var: var.name, 1_000)
    for number in range(500):
        assert cache.of(tirx.Var(f"v{number}", "int32")) == f"v{number}"


def function(value: int) -> PrimFunc:
    return tirx.PrimFunc([tirx.Var("n", "int64")], tirx.Evaluate(tirx.IntImm("int32", value)))


def test_functions_of_the_same_parts_have_one_entry() -> None:
    one = function(1)
    other = PrimFunc(one.params, one.body, one.ret_type, attrs=one.attrs)
    assert not one.same_as(other)
    assert prim_func_parts(one)[0] == prim_func_parts(other)[0]
    assert prim_func_parts(one)[0] != prim_func_parts(function(1))[0]


@pytest.mark.parametrize("value", [1, 2])
def test_no_part_has_the_address_zero(value: int) -> None:
    assert addresses([None, function(value)])[0] == 0
    assert addresses([None, function(value)])[1] != 0


def test_a_relax_function_changed_in_place_is_verified_again() -> None:
    bench, module = RealBench(), module_of(DATAFLOW)
    assert isinstance(well_formed.judge(step_of(module_pass(lambda m: m), module, bench), bench), Passed)
    step = step_of(module_pass(lambda m: poke_type(m, relax.TensorType((7, 9), "float32"))), module, bench)
    assert step.after["main"].same_as(module["main"])
    assert isinstance(well_formed.judge(step, bench), Failed)
