"""Rewriting of expressions and statements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from oracles.reference.errors import Unsupported
from oracles.reference.tir.nodes import (
    Assert,
    Bind,
    Block,
    Buffer,
    Call,
    Const,
    Copying,
    Expr,
    For,
    If,
    Initialised,
    Jump,
    Load,
    Seq,
    Stmt,
    Store,
    Var,
    While,
)

Relocation = Callable[[Buffer, tuple[Expr, ...]], tuple[Buffer, tuple[Expr, ...]]]
"""Where an element of a buffer lies."""


def _same_place(buffer: Buffer, indices: tuple[Expr, ...]) -> tuple[Buffer, tuple[Expr, ...]]:
    return buffer, indices


def substitute(expr: Expr, by: dict[Expr, Expr], place: Relocation = _same_place) -> Expr:
    """`expr` with the variables that are keys of `by` replaced, and accesses where `place` says."""
    if isinstance(expr, Const) or (not by and place is _same_place):
        return expr
    match expr:
        case Var():
            return by.get(expr, expr)
        case Load(buffer, indices, dtype):
            return Load(*place(buffer, tuple(substitute(index, by, place) for index in indices)), dtype)
        case Initialised(buffer, indices, dtype):
            return Initialised(*place(buffer, tuple(substitute(index, by, place) for index in indices)), dtype)
        case Call(name, args, dtype):
            return Call(name, tuple(substitute(arg, by, place) for arg in args), dtype)
        case _:
            parts = {f.name: getattr(expr, f.name) for f in fields(expr) if f.name not in ("op", "dtype", "var")}
            changed: dict[str, Any] = {name: substitute(part, by, place) for name, part in parts.items()}
            return replace(expr, **changed)


def rewritten(stmt: Stmt, change: Callable[[Expr], Expr], place: Relocation) -> Stmt:
    """A statement with every expression changed, and stores where `place` says. Unsupported where that has no meaning
    for a statement on its own (allocations, views, barriers)."""

    def visit(node: Stmt) -> Stmt:
        match node:
            case Store(buffer, value, indices):
                target, where = place(buffer, tuple(change(index) for index in indices))
                return Store(target, change(value), where)
            case Seq(body):
                return Seq(tuple(visit(child) for child in body))
            case For(var, extent, kind, thread, body):
                return For(var, change(extent), kind, thread, visit(body))
            case If(cond, then, other):
                return If(change(cond), visit(then), None if other is None else visit(other))
            case While(cond, body):
                return While(change(cond), visit(body))
            case Bind(var, value):
                return Bind(var, change(value))
            case Assert(cond, message):
                return Assert(change(cond), message)
            case Block(name, predicate, reduce, init, allocs, body):
                where_reduced = tuple((change(binding), change(start)) for binding, start in reduce)
                first = None if init is None else visit(init)
                guard = None if predicate is None else change(predicate)
                return Block(name, guard, where_reduced, first, allocs, visit(body))
            case Copying(body):
                return Copying(visit(body))
            case Jump():
                return node
            case _:
                raise Unsupported(f"{type(node).__name__} of one thread")

    return visit(stmt)
