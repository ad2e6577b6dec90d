"""What tells the live part of a module from what is dead: the passes that tidy a module, and values that nothing uses.

Oracles apply them, and the scripts of `oracles.scripts` write them. No TVM is imported here.
"""

from __future__ import annotations

from generators.passes.row import Role
from generators.passes.table import default_call, the

TIDYING = tuple(default_call(the(role).name) for role in (Role.TIDIES_BINDINGS, Role.DROPS_DEAD_CODE))
"""The calls of passes after which only the live part is left."""

_ZEROS = 'relax.const(np.zeros(2, "float32"), "float32")'
DEAD_VALUES = {
    "constant": _ZEROS,
    "relax.zeros": 'relax.op.zeros((2,), "float32")',
    "relax.add": f"relax.op.add({_ZEROS}, {_ZEROS})",
}
"""Expressions of values that a dead binding may have, by their names (`oracles.evidence.DeadBinding`)."""
