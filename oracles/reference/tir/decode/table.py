"""The rules of all families of nodes, joined into one table for each kind of rule.

To decode a new node, add its rule to `RULES` of the family's file; for a new family, add the file to `_FAMILIES`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

from generators.tvm_api import KINDS
from oracles.reference.tir.decode import (
    asynchronous,
    blocks,
    buffers,
    callees,
    expressions,
    fragments,
    lanes,
    loops,
    packed,
    pointers,
    statements,
    threads,
    undefined,
    vectors,
)
from oracles.reference.tir.decode.state import DecodeState, Rules

_FAMILIES = (
    statements,
    loops,
    blocks,
    buffers,
    expressions,
    vectors,
    lanes,
    pointers,
    packed,
    fragments,
    callees,
    threads,
    undefined,
    asynchronous,
)


def joined(families: Iterable[Rules]) -> Rules:
    """All rules of several families. ValueError if two of them have a rule for one name."""
    whole = Rules()
    for family in families:
        for kind in fields(Rules):
            table, added = getattr(whole, kind.name), getattr(family, kind.name)
            twice = table.keys() & added.keys()
            if twice:
                raise ValueError(f"two rules for {sorted(twice)} among the {kind.name}")
            table.update(added)
    for before, now in KINDS.items():
        if now in whole.expressions:
            whole.expressions.setdefault(before, whole.expressions[now])
    return whole


RULES = joined(family.RULES for family in _FAMILIES)
"""The rules that the interpreter decodes by."""


def shape_state(name: str, symbols: dict[int, int]) -> DecodeState:
    """A state in which expressions over these symbols can be decoded, such as the extents of parameters."""
    return DecodeState(name, RULES, symbols)
