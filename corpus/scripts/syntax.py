"""Syntax trees of texts of modules and scripts, each parsed once: a script of 1,000 bindings takes a third of a second,
and is asked for again for every setting that a finding is tried with. No TVM is imported here."""

from __future__ import annotations

import ast
from functools import lru_cache

TEXTS = 4
"""So many are remembered: a module as it is printed and without its imports, a script with it, and one more."""


@lru_cache(maxsize=TEXTS)
def syntax_of(text: str) -> ast.Module:
    """The tree, to be read only. Raises SyntaxError, and ValueError for a null byte."""
    return ast.parse(text)
