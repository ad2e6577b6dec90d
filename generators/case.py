"""The Case: everything needed to run one experiment again, as plain data that outlives a TVM process.

A live program (with a real IRModule) is `generators.program.Program`; turning one into the other happens
in workers. Nothing here imports TVM, so that the campaign process can hold cases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from generators.dtypes import Array
from generators.targets import DEFAULT

Tier: TypeAlias = Literal["A", "B", "C"]
"""How a pass comes into a case: A = a step of an official pipeline, B = in its documented phase, C = at any phase."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape value (R.Shape) given as an argument or returned as an output."""

    extents: tuple[int, ...]


Argument: TypeAlias = "Array | Shape | int | float | tuple[Argument, ...]"
"""An argument of a Relax function: arrays in their declared dtype, shape values, scalars, nested tuples."""


@dataclass(frozen=True, slots=True)
class PassCall:
    """One application of a pass: its name in the table and the expression that constructs it.

    `source` is Python over the names of `generators.tvm_api.PASS_NAMES` (tvm, relax, dpl, np), and is
    printed into repros as it stands. `options` is the `config` of the PassContext around it, a dict as Python text, or
    nothing.
    """

    name: str
    source: str
    options: str = ""

    def __str__(self) -> str:
        return f"{self.source} with {self.options}" if self.options else self.source


@dataclass(frozen=True, slots=True)
class EntryCall:
    """A call of a public function with exact inputs."""

    function: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a case came from: the campaign's seed and the case's index, or the file it was read from.

    captured: whether a command of the user has given the module to the passes, at whatever phase it was.
    """

    seed: int | None = None
    index: int | None = None
    file: str | None = None
    captured: bool = False


@dataclass(frozen=True, slots=True)
class ModuleText:
    """An IRModule as text: `script` is TVMScript with metadata, `json` TVM's own JSON.

    `json` is kept only where the script does not parse back to the same module.
    """

    script: str
    json: str | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """An IRModule, a pass sequence, exact inputs, a target, and where they came from.

    `setup` passes are applied first and are not under test; `passes` are. `load` names the file that
    brings passes which the table does not know.
    """

    module: ModuleText
    passes: tuple[PassCall, ...]
    calls: tuple[EntryCall, ...] = ()
    target: str = DEFAULT
    setup: tuple[PassCall, ...] = ()
    origin: Origin = Origin()
    load: str | None = None
