"""Buffers that live from round to round: a transformation that takes a round for all of their life changes results."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from typing import Any

import numpy as np
import tvm_ffi
from tvm import tirx

from oracles.ir.walk import nodes_of, prim_funcs
from tests.generators.tir.recipes.test_order_matters import drawn, results, rewritten

NAME = "carried_lives"


def buffers(module: Any) -> tuple[Any, Any]:
    """The buffer that the rounds carry, and one that each of them fills anew. They are allocated after each other; the
    first is stored before the rounds as well."""
    body = next(f.body for _, f in prim_funcs(module) if nodes_of(f.body, tirx.AllocBuffer))
    stored = [store.buffer for store in nodes_of(body, tirx.BufferStore)]
    allocated = [node.buffer for node in nodes_of(body, tirx.AllocBuffer)]
    times = [sum(buffer.same_as(one) for one in stored) for buffer in allocated]
    place = max(at for at in range(len(times) - 1) if times[at : at + 2] == [2, 1])
    return allocated[place], allocated[place + 1]


def test_a_buffer_that_shares_the_memory_of_a_carried_one_shows() -> None:
    programs = drawn(NAME)
    changed = 0
    for program in programs:
        wanted = results(program.module, program)
        carried, own = buffers(program.module)
        assert tvm_ffi.structural_equal(carried.ty.shape, own.ty.shape)
        shared = rewritten(program.module, (tirx.Var, lambda var, own=own, c=carried: c if var.same_as(own) else var))
        try:
            found = results(shared, program)
        except Exception:  # noqa: BLE001 a use that only the merge makes undefined shows as well
            changed += 1
            continue
        changed += not all(np.array_equal(one, other) for one, other in zip(wanted, found, strict=True))
    assert len(programs) > 40 and changed > len(programs) // 2


def test_what_a_round_leaves_is_read_in_the_next() -> None:
    """Filling the carried buffer anew at the start of each round is another program in most draws."""
    programs = drawn(NAME)
    assert all("carried_lives" in program.features for program in programs)
    held = sum(bool(nodes_of(f.body, tirx.IfThenElse)) for program in programs for _, f in prim_funcs(program.module))
    assert held > len(programs) // 3
    assert not tvm_ffi.structural_equal(programs[0].module, programs[1].module, map_free_vars=True)
