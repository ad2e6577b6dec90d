"""What threads may not do at once in some versions of Python: make syntax trees.

There `ast.parse` counts how deep it is for all threads together, and raises "SystemError: AST constructor recursion
depth mismatch" where another one parses meanwhile (python/cpython#106905, mended in 3.11.8 and 3.12.2).
"""

from __future__ import annotations

import sys
import threading
from contextlib import AbstractContextManager, nullcontext

_MENDED = {(3, 11): 8, (3, 12): 2}
"""The first release of each series with the mend; others never had the fault."""


def threads_can_parse(version: tuple[int, int, int] = sys.version_info[:3]) -> bool:
    """Whether several threads may make syntax trees at once."""
    return version[2] >= _MENDED.get(version[:2], 0)


PARSING: AbstractContextManager[object] = nullcontext() if threads_can_parse() else threading.RLock()
"""Held by a thread that may make a syntax tree while others do."""
