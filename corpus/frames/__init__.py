"""What stands around the check of a repro script, and the parts that several checks have: one template each.

The checks themselves are in `oracles.scripts`. No TVM is imported here.
"""

from __future__ import annotations

from collections.abc import Sequence

import jinja2

from corpus.answers import WORDS
from oracles.scripts import ENVIRONMENT

WIDTH = 120
"""Characters of a line of entries, where it can be broken."""


def entries(values: Sequence[str], head: str, brackets: str = "()", tail: str = "") -> str:
    """`head(values)tail`, one line where it fits, else one line per value."""
    line = f"{head}{brackets[0]}{', '.join(values)}{brackets[1]}{tail}"
    if len(line.splitlines()[-1]) <= WIDTH:
        return line
    rows = "".join(f"    {value},\n" for value in values)
    return f"{head}{brackets[0]}\n{rows}{brackets[1]}{tail}"


FRAMES = ENVIRONMENT.overlay(loader=jinja2.PackageLoader("corpus", "frames"))
FRAMES.filters = {**ENVIRONMENT.filters, "repr": repr, "entries": entries}
FRAMES.globals = {**ENVIRONMENT.globals, **WORDS}
