"""Substitution in expressions."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from oracles.reference.tir.nodes import Call, Const, Expr, Load, Var


def substitute(expr: Expr, by: dict[Expr, Expr]) -> Expr:
    """`expr` with the variables that are keys of `by` replaced."""
    if not by or isinstance(expr, Const):
        return expr
    match expr:
        case Var():
            return by.get(expr, expr)
        case Load(buffer, indices, dtype):
            return Load(buffer, tuple(substitute(index, by) for index in indices), dtype)
        case Call(name, args, dtype):
            return Call(name, tuple(substitute(arg, by) for arg in args), dtype)
        case _:
            parts = {f.name: getattr(expr, f.name) for f in fields(expr) if f.name not in ("op", "dtype", "var")}
            changed: Any = {name: substitute(part, by) for name, part in parts.items()}
            return replace(expr, **changed)
