"""Whom a known cause says to be to blame. It is text, in a registry that people edit. Pure text."""

from __future__ import annotations

import re


def blames(cause: str, name: str) -> bool:
    """Whether it says that the pass is to blame: as "FuseOps: what", or as "place in FuseOps: what"."""
    place = r"(?:\S+\.(?:py|cc|cpp|cu|h): )?(?:(?!: ).)* in "
    return re.match(rf"(?:perhaps )?(?:{place})?{re.escape(name)}: ", cause) is not None
