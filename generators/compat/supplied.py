"""Importing this file lets an older TVM answer to the names of the newest release."""

from generators.compat import before_0_27
from generators.compat.names import SUPPLIED, supply, there

# Before 0.26, Relax, TIR and their buffers have classes of their own.
if there("tvm.relax.Var") and not there("tvm.ir.Var"):
    raise ImportError("passfuzz judges TVM 0.26 and newer: this one has no tvm.ir.Var (passfuzz replay takes it)")

ROWS = before_0_27.ROWS
"""All rows, of the newest release first."""
supply(ROWS)

KINDS = {old: new.rpartition(".")[2] for old, new in before_0_27.KINDS.items() if new in SUPPLIED}
"""Names of classes of nodes in this TVM that the newest release calls otherwise, and its names."""
