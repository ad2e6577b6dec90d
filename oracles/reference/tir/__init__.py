"""The reference interpreter for TIR: runs a PrimFunc on NumPy arrays, strictly, without TVM's passes or
runtime.

`run_prim_func` is the entry; `run_tracked` also takes and returns what is initialised, element by element;
`run_returning` gives the returned number too.
"""

from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.context import ALONE, Context, kernels_of
from oracles.reference.tir.engine import gives_again, run_prim_func, run_returning, run_tracked

__all__ = [
    "ALONE",
    "Context",
    "Trap",
    "Unsupported",
    "gives_again",
    "kernels_of",
    "run_prim_func",
    "run_returning",
    "run_tracked",
]
