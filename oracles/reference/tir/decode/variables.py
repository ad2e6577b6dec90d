"""New variables of the decoded function."""

from __future__ import annotations

from itertools import count

from generators import tvm_api
from oracles.reference.tir.constants import is_index
from oracles.reference.tir.decode.state import DecodeState
from oracles.reference.tir.nodes import Bind, DType, Expr, Stmt, Var

_KEYS = count()


def new_var(name: str, dtype: DType) -> Var:
    """A new variable."""
    return Var(next(_KEYS), name, dtype)


def fresh(state: DecodeState, tvm_var: tvm_api.Var, dtype: DType) -> Var:
    """A new variable of ours for `tvm_var` from here on."""
    var = new_var(str(tvm_var.name), dtype)
    state.variables.scalars[tvm_var.__chandle__()] = var
    return var


def named(state: DecodeState, tvm_var: tvm_api.Var, value: Expr) -> tuple[tuple[Stmt, ...], Expr]:
    """`value` itself if it gives the same wherever it is evaluated; otherwise a variable, and the statement that binds
    it to the value here.
    """
    if is_index(value):
        return (), value
    var = fresh(state, tvm_var, value.dtype)
    return (Bind(var, value),), var
