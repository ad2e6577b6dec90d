"""The reference interpreter for TIR: runs a PrimFunc on NumPy arrays, strictly, without TVM's passes or
runtime.

`run_prim_func` is the entry; `run_tracked` also takes and returns what is initialised, element by element.
"""

from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.engine import run_prim_func, run_tracked

__all__ = ["Trap", "Unsupported", "run_prim_func", "run_tracked"]
