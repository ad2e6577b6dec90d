"""How a row of the TIR pipeline is written: what such passes promise, and a constructor that follows from the name."""

from __future__ import annotations

from typing_extensions import TypedDict, Unpack

from generators.passes.records import Blame, Builds, Census, Excuses, Foreign
from generators.passes.row import Fires, PassRow, Place, Promise, Role, Setup

ONCE = Promise(idempotent=False)
"""What a pass of TIR promises unless its row says more."""
AGAIN = Promise()
"""For lowerings that leave nothing of what they lower, so that a second application finds nothing."""


class Records(TypedDict, total=False):
    """What a row may say besides."""

    fires: Fires
    foreign: Foreign
    setup: Setup
    excuses: Excuses
    blame: Blame
    builds: Builds
    census: Census
    role: Role


def tir_row(
    name: str,
    why: str,
    place: Place,
    promise: Promise = ONCE,
    *,
    argument: str = "",
    sources: tuple[str, ...] = (),
    **records: Unpack[Records],
) -> PassRow:
    """A row whose constructor follows from its name: `namespace.transform.Name(argument)`, then other `sources`."""
    namespace, plain = name.split(".", 1)
    constructor = f"{namespace}.transform.{plain.split('[')[0]}({argument})"
    return PassRow(name, (constructor, *sources), why, place, promise, **records)
