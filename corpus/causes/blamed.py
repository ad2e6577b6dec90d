"""Whom a known cause blames. Pure text."""

from __future__ import annotations

import re
from collections.abc import Iterable


def only(blamed: str | None) -> tuple[str, ...] | None:
    """Whom an entry with one cause blames: that, or no pass; None where it is not known."""
    return None if blamed is None else tuple(filter(None, (blamed,)))


def blamed_by_text(causes: Iterable[str], name: str) -> bool:
    """Whether one of them says that the pass is to blame: as "FuseOps: what", or as "place in FuseOps: what".

    Of entries without `blames` alone, which older versions and people write. What such texts say never changes, so
    neither does this; nothing else reads them.
    """
    place = r"(?:\S+\.(?:py|cc|cpp|cu|h): )?(?:(?!: ).)* in "
    return any(re.match(rf"(?:perhaps )?(?:{place})?{re.escape(name)}: ", cause) is not None for cause in causes)
