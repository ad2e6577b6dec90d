"""Copies of uninitialised elements: copying an uninitialised element yields an uninitialised element instead of a trap.

Programs make such copies without using them: an accumulator is loaded before its first iteration, the rim of a tile is
read into a cache. A program that is wrong in nothing else is not wrong.
"""

from __future__ import annotations

from dataclasses import replace

from oracles.reference.tir.nodes import (
    Block,
    Cast,
    Copying,
    For,
    Forget,
    Function,
    If,
    Initialised,
    Load,
    Seq,
    Stmt,
    Store,
    While,
)


def carrying(function: Function) -> Function:
    """The function with such copies. Unchanged are functions whose threads share memory, where each access is checked
    for data races, and copies from or to memory that views share."""
    if function.watched:
        return function
    shared = function.viewed | function.units.keys()
    unsure: set[int] = set()

    def copied(store: Store) -> Store | If:
        source = store.value.a if isinstance(store.value, Cast) else store.value
        if not isinstance(source, Load) or {source.buffer.memory, store.buffer.memory} & shared:
            return store
        unsure.add(store.buffer.slot)
        return If(Initialised(source.buffer, source.indices), store, Forget(store.buffer, store.indices))

    def visit(node: Stmt) -> Stmt:
        match node:
            case Store():
                return copied(node)
            case Seq(body, single) if not single:
                return Seq(tuple(visit(child) for child in body))
            case For() | While() | Copying():
                return replace(node, body=visit(node.body))
            case If(cond, then, other):
                return If(cond, visit(then), None if other is None else visit(other))
            case Block():
                return replace(node, body=visit(node.body), init=None if node.init is None else visit(node.init))
        return node

    body = visit(function.body)
    return replace(function, body=body, unsure=function.unsure | unsure)
