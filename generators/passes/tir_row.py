"""How a row of the TIR pipeline is written: what such passes promise, and a constructor that follows from the name."""

from __future__ import annotations

from generators.passes.row import Fires, PassRow, Place, Promise, Role
from generators.passes.traits import Trait

BY_ITSELF = Fires()
"""For passes that find something to do in any program, so far as it is known."""
ONCE = Promise(idempotent=False)
"""What a pass of TIR promises unless its row says more."""
AGAIN = Promise()
"""For lowerings that leave nothing of what they lower, so that a second application finds nothing."""


def tir_row(
    name: str,
    why: str,
    place: Place,
    promise: Promise = ONCE,
    *,
    argument: str = "",
    sources: tuple[str, ...] = (),
    fires: Fires = BY_ITSELF,
    traits: tuple[Trait, ...] = (),
    role: Role | None = None,
) -> PassRow:
    """A row whose constructor follows from its name: `namespace.transform.Name(argument)`, then other `sources`."""
    namespace, plain = name.split(".", 1)
    constructor = f"{namespace}.transform.{plain.split('[')[0]}({argument})"
    return PassRow(name, (constructor, *sources), why, place, promise, fires, traits, role)
