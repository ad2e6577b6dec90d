"""What has to be changed in the text of CUDA C++ before it is C++: shared memory, and ways in.

- Declarations of shared arrays become references to memory of the block.
- Before a store to a shared array of what was computed from the same array, the lanes of a warp wait for each other:
  what one statement loads, it loads before any lane stores. TVM's cumsum for GPUs scans so, with no barrier in between,
  and the reference takes it as it is meant (`oracles/reference/tir/races.py`).
- Each kernel gets a function that takes its arguments from slots.
Everything else of CUDA is a macro or a function of `include/cuda_cpu.h`. Lines keep their numbers, which faults
name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ALIGNED = r"(?:(?:alignas|__align__)\(\d+\)\s+)?"
_DYNAMIC = re.compile(rf"\bextern\s+__shared__\s+{_ALIGNED}([\w ]+?)\s+(\w+)\[\];")
_STATIC = re.compile(rf"\b__shared__\s+{_ALIGNED}([\w ]+?)\s+(\w+)\[(\d+)\];")
_KERNEL = re.compile(r"\b__global__\s+void\s+(?:__launch_bounds__\((\d+)[^)]*\)\s+)?(\w+)\s*\(")
_ASSIGNMENT = re.compile(r"^(\s*)(\S.*?[)\]]) = (.*);$")
_WORD = re.compile(r"\w+")
ENTRY = "cc_run_"
"""Begins the name of the function that runs one thread of a kernel."""


class UnknownDeclaration(Exception):
    """A declaration of shared memory in a form that is not understood."""


@dataclass(frozen=True, slots=True)
class Adapted:
    """C++ text, and for each kernel in it the most threads that a block may have (None: not said)."""

    text: str
    bounds: dict[str, int | None]


def adapted(cuda: str) -> Adapted:
    """The source as C++ that includes `cuda_cpu.h`. Raises UnknownDeclaration."""
    numbers = iter(range(len(cuda)))
    shared = {name for _, name, *_ in (*_STATIC.findall(cuda), *_DYNAMIC.findall(cuda))}
    text = _DYNAMIC.sub(r"\1* const \2 = (\1*)cc_dynamic_shared();", _in_step(cuda, shared))
    text = _STATIC.sub(lambda found: _reference(found, next(numbers)), text)
    left = re.search(r"^.*\b__shared__\b.*$", text, re.MULTILINE)
    if left is not None:
        raise UnknownDeclaration(left.group(0).strip())
    bounds: dict[str, int | None] = {}
    for most, name in _KERNEL.findall(text):
        bounds[name] = int(most) if most else None
    return Adapted("\n".join([text, *map(_way_in, bounds), ""]), bounds)


def _in_step(cuda: str, shared: set[str]) -> str:
    """The source with the lanes of a warp in step where a statement loads from a shared array and stores to it."""
    lines = cuda.splitlines()
    for number, line in enumerate(lines):
        found = _ASSIGNMENT.match(line)
        if found is None:
            continue
        indent, place, value = found.groups()
        arrays = shared.intersection(_WORD.findall(place))
        if arrays and arrays.intersection(_WORD.findall(_computed(lines, number, value))):
            lines[number] = f"{indent}{place} = cc_in_step(__LINE__, {value});"
    return "\n".join(lines)


def _computed(lines: list[str], number: int, value: str) -> str:
    """The text that computes the value stored in a line: that of a vector begins where its variable is declared."""
    if not value.isidentifier():
        return value
    declared = re.compile(rf"\s*\w[\w ]* {value};")
    first = next((back for back in range(number - 1, -1, -1) if declared.fullmatch(lines[back])), number)
    return "\n".join(lines[first:number])


def _reference(found: re.Match[str], number: int) -> str:
    """A shared array as a reference to memory of the block."""
    element, name, extent = found.groups()
    return f"{element} (&{name})[{extent}] = cc_shared_array<{element}, {extent}>({number});"


def _way_in(kernel: str) -> str:
    visible = 'extern "C" __attribute__((visibility("default")))'
    return (
        f"{visible} void {ENTRY}{kernel}(const cc_slot* slots) {{ cc_call({kernel}, slots); }} "
        f"{visible} int {ENTRY}{kernel}_arity() {{ return cc_arity({kernel}); }}"
    )
