"""Importing this file lets an older TVM answer to the names of the newest release."""

from typing import Any

from generators.compat import before_0_26, before_0_27
from generators.compat.names import SUPPLIED, found, joined, supply, there

ROWS = (*before_0_27.ROWS, *before_0_26.ROWS)
"""All rows, of the newest release first."""
supply(ROWS)

PRIM_TYPE: Any = (
    joined("PrimType", ("tvm.ir.PrimType", "tvm.relax.PrimStructInfo"))
    if there("tvm.relax.PrimStructInfo")
    else found("tvm.ir.PrimType")
)
"""The class of types of scalars."""

KINDS = {old: new.rpartition(".")[2] for old, new in before_0_27.KINDS.items() if new in SUPPLIED}
"""Names of classes of nodes in this TVM that the newest release calls otherwise, and its names."""
