"""Copies of what nobody has written.

A read of such an element is a trap, also where it is only copied and the copy never asked for: an accumulator that is
loaded before its first iteration, the rim of a tile that is read into a cache. Where that is all that is wrong, nothing
is: here the copy of an element that holds nothing holds nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from oracles.reference.tir.nodes import Block, Cast, For, Forget, Function, If, Known, Load, Seq, Stmt, Store, While


def carrying(function: Function) -> Function:
    """The function with every copy of an element made so. Unchanged where threads share memory, whose accesses are
    watched one by one, and for memory that is seen in more than one way."""
    if function.watched:
        return function
    shared = function.viewed | function.units.keys()
    unsure: set[int] = set()

    def copied(store: Store) -> Stmt:
        source = store.value.a if isinstance(store.value, Cast) else store.value
        if not isinstance(source, Load) or {source.buffer.memory, store.buffer.memory} & shared:
            return store
        unsure.add(store.buffer.slot)
        return If(Known(source.buffer, source.indices), store, Forget(store.buffer, store.indices))

    def visit(node: Any) -> Any:
        match node:
            case Store():
                return copied(node)
            case Seq(body, single) if not single:
                return Seq(tuple(visit(child) for child in body))
            case For() | While():
                return replace(node, body=visit(node.body))
            case If(cond, then, other):
                return If(cond, visit(then), None if other is None else visit(other))
            case Block():
                return replace(node, body=visit(node.body), init=None if node.init is None else visit(node.init))
        return node

    body = visit(function.body)
    return replace(function, body=body, unsure=function.unsure | unsure)
