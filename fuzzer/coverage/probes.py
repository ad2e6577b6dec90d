"""Begins counting in a process that is to load TVM; the work is done by probes.c. Imports nothing of ours."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass

ENVIRONMENT = "PASSFUZZ_COVERAGE"


@dataclass(frozen=True, slots=True)
class Probes:
    """What a process needs to count: paths of probes.c as a shared library, of the blocks, and of the hits, which is
    written. library: the file name of what is counted."""

    code: str
    library: str
    blocks: str
    hits: str

    def environment(self, others: Mapping[str, str]) -> dict[str, str]:
        """The environment of a command that counts with all that it starts: `others`, and what it needs for that.

        The loader takes spaces and colons in LD_PRELOAD for ends of names: `code` must have none.
        """
        loaded = ":".join(filter(None, (self.code, others.get("LD_PRELOAD"))))
        return {**others, "LD_PRELOAD": loaded, ENVIRONMENT: "\n".join((self.library, self.blocks, self.hits))}


def begin(probes: Probes) -> str:
    """Counts in this process and its forks from when the library is loaded. Why that cannot be; "" where it can."""
    try:
        code = ctypes.CDLL(probes.code)
    except OSError as error:
        return f"{error}"
    code.coverage_begin.restype = ctypes.c_char_p
    paths = (probes.library, probes.blocks, probes.hits)
    return bytes(code.coverage_begin(*(path.encode() for path in paths))).decode()


def why_not(probes: Probes) -> str:
    """The same, asked when the library has been loaded."""
    try:
        code = ctypes.CDLL(probes.code)
    except OSError as error:
        return f"{error}"
    code.coverage_why_not.restype = ctypes.c_char_p
    return bytes(code.coverage_why_not()).decode()
