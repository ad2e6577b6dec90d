"""What TVM documents of the modules that a pass takes, held against the module that it would be given.

The facts are in the rows (`generators.passes.row.Documented`), each with the sentence of TVM's. A pass is not applied
to a module that such a sentence rules out: what it does there proves nothing.
"""

from __future__ import annotations

from generators.passes.row import Documented, PassRow
from generators.tvm_api import IRModule
from oracles.ir.contents import odd_floats
from oracles.trace import Raised

KIND = "documented precondition"
"""The kind of what is raised in place of such a pass."""


def refused(row: PassRow, module: IRModule) -> Raised | None:
    """What stands against applying a pass to this module, as a refusal with TVM's words; None for nothing."""
    said = next((said for said in row.place.documented if _rules_out(said, module)), None)
    if said is None:
        return None
    return Raised(KIND, f'TVM documents of {row.name}: "{said.quote.strip(" ,")}" ({said.where})')


def _rules_out(said: Documented, module: IRModule) -> bool:
    if said.infos and not said.infos <= set(map(str, dict(module.global_infos))):
        return True
    return bool(said.floats) and not said.floats >= {*odd_floats(module)}
