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


def buffers(module: Any) -> list[Any]:
    """Of the last loop that stores to several allocations: the one that it carries, and then its own."""
    functions = [function for _, function in prim_funcs(module)]
    allocated = [node.buffer for f in functions for node in nodes_of(f.body, tirx.AllocBuffer)]
    return allocated[-3:] if len(allocated) >= 3 else allocated[-2:]


def test_a_buffer_that_shares_the_memory_of_a_carried_one_shows() -> None:
    programs = drawn(NAME)
    changed = 0
    for program in programs:
        wanted = results(program.module, program)
        carried, own = buffers(program.module)[-2:]
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
