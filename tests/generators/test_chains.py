"""Chains: each operator takes what the one before gave; what nothing reads usually comes out."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import tvm
from tvm import relax

from generators import tvm_api
from generators.relax.body import attempt
from generators.relax.chains import draw_chain, draw_chains
from generators.relax.frames import FunctionFrame, ModuleFrame
from generators.relax.relax_program import draw_program
from generators.relax.scope import Scope
from generators.source import SeededSource


def chains(count: int) -> list[list[Any]]:
    """The bindings of chains that stand."""
    found: list[list[Any]] = []
    for seed in range(count):
        scope = Scope(SeededSource(5, seed), FunctionFrame(ModuleFrame()))
        if attempt(scope, "chain", draw_chain):
            found.append(scope.bindings)
    return found


def operands(value: Any) -> list[Any]:
    return relax.analysis.free_vars(value)


def test_each_operator_takes_what_the_one_before_gave() -> None:
    stand = chains(200)
    assert len(stand) > 100
    for bindings in stand:
        read = {var for binding in bindings for var in operands(binding.value)}
        unread = [binding.var for binding in bindings if binding.var not in read]
        clips = [b for b in bindings if tvm_api.op_name(b.value) == "relax.clip"]
        assert len(unread) <= 1 + len(clips)  # an operand brought into a domain may be left by one that did not stand


def test_two_of_a_kind_follow_each_other() -> None:
    pairs = Counter[tuple[str, str]]()
    for bindings in chains(1200):
        names = {binding.var: tvm_api.op_name(binding.value) for binding in bindings}
        for binding in bindings:
            pairs.update((names[v], names[binding.var]) for v in operands(binding.value) if names.get(v))
    same = sum(number for (one, other), number in pairs.items() if one == other)
    assert same > 0.15 * sum(pairs.values())
    for pair in (("reshape", "permute_dims"), ("flip", "flip"), ("concat", "concat"), ("clip", "clip")):
        assert pairs[f"relax.{pair[0]}", f"relax.{pair[1]}"], pair


def test_chains_of_named_operators_hold_what_their_rows_draw() -> None:
    """Softmax of numbers whose exponential is beyond float32 is wrong where the largest is not taken off first."""
    large = 0
    for seed in range(60):
        program = draw_program(SeededSource(7, seed), patterns=(lambda s: draw_chains(s, ("relax.nn.softmax",)),))
        numbers = [a for call in program.calls for a in call.arguments if getattr(a, "dtype", None) == np.float32]
        large += any(a.size and np.nanmax(np.where(np.isfinite(a), a, 0)) > 89 for a in numbers)
    assert large > 10


def test_some_fork_and_join_again() -> None:
    joined = Counter[str]()
    for bindings in chains(800):
        readers = {binding.var: [b for b in bindings if binding.var in operands(b.value)] for binding in bindings}
        for join in bindings:
            arms = [b for b in bindings if b.var in operands(join.value)]
            shared = {v for b in arms for v in operands(b.value) if all(v in operands(other.value) for other in arms)}
            if len(arms) == 2 and shared and all(readers[arm.var] == [join] for arm in arms):
                joined[tvm_api.op_name(join.value) or ""] += 1
    assert {"relax.add", "relax.multiply", "relax.concat", "relax.where", "relax.maximum"} <= joined.keys()
    assert sum(joined.values()) > 40


def live_share(programs: int) -> float:
    """Of the calls of operators in main, those that its result depends on."""
    calls = live = 0
    for index in range(programs):
        main = draw_program(SeededSource(8, index)).module["main"]
        bindings = [binding for block in main.body.blocks for binding in block.bindings]
        needed = set(operands(main.body.body))
        for binding in reversed(bindings):
            is_call = isinstance(binding.value, tvm.ir.Call)
            calls += is_call
            if binding.var in needed:
                live += is_call
                needed |= set(operands(binding.value))
    return live / calls


def test_most_of_a_program_is_seen_in_its_result_and_some_is_dead() -> None:
    assert 0.6 < live_share(450) < 0.95
