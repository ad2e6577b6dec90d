"""The changes that a pass made to the functions of a module, for people: a unified diff of their TVMScript."""

from __future__ import annotations

import difflib

from generators import tvm_api
from generators.tvm_api import BaseFunc, IRModule
from oracles.ir.walk import functions_of

HEAD = "--- before\n+++ after\n"
LONGEST = 12_000
"""Characters of a difference that are kept."""


def difference(before: IRModule, after: IRModule) -> str:
    """The functions that differ, before and after.

    Functions are matched by name; one that only one of the modules has is compared with an empty text.
    """
    old, new = functions_of(before), functions_of(after)
    lines: list[str] = []
    for name in dict.fromkeys((*old, *new)):
        if name in old and name in new and tvm_api.structural_equal(old[name], new[name]):
            continue
        changed = difflib.unified_diff(_script(old.get(name)), _script(new.get(name)), lineterm="", n=3)
        lines += [f"@@ {name} @@", *list(changed)[3:]]
    text = "\n".join(lines)
    return HEAD + (text if len(text) <= LONGEST else f"{text[:LONGEST]}\n...")


def _script(function: BaseFunc | None) -> list[str]:
    """Lines of a function's script without the imports that TVM writes above it."""
    if function is None:
        return []
    lines = function.script(show_meta=False).splitlines()
    return [line for line in lines if line.strip() and not line.startswith(("# from", "# Metadata"))]
