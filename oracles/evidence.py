"""What kind of wrong a failed verdict is, as data.

Messages are for people and for signatures; no decision depends on their wording. Evidence goes with a failure from
process to process and is stored in `case.json`. A new kind is a new record here and a member of `Evidence`; a record
that was once stored keeps its name and fields. No TVM is imported here.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from generators.json_values import JsonObject


class AcrossProcesses(msgspec.Struct, frozen=True, tag=True):
    """A result follows addresses or hash seeds."""


class Hung(msgspec.Struct, frozen=True, tag=True):
    """A pass or a build does not end in its time."""


class OutOfMemory(msgspec.Struct, frozen=True, tag=True):
    """A pass takes memory without bound."""


class WithoutDead(msgspec.Struct, frozen=True, tag=True):
    """The dead function was in the input already, and its absence makes the difference."""


class DeadBinding(msgspec.Struct, frozen=True, tag=True):
    """A dead binding makes the difference. value: what it binds, a key of `oracles.live_part.DEAD_VALUES`."""

    value: str


class GivenToCallTir(msgspec.Struct, frozen=True, tag=True):
    """A tensor given to call_tir contradicts the PrimFunc's buffer."""


class ChangedSignature(msgspec.Struct, frozen=True, tag=True):
    """A public function is gone, or is called in another way."""


class AttributeGone(msgspec.Struct, frozen=True, tag=True):
    """A function or the module has lost an attribute."""

    key: str


TrapKind: TypeAlias = Literal[
    "uninitialised",
    "out-of-bounds",
    "use-after-kill",
    "double-free",
    "storage-overlap",
    "integer-overflow",
    "division-by-zero",
    "type",
    "match-cast",
    "operand",
    "domain",
    "undefined-variable",
    "assertion",
    "data-race",
    "divergent-barrier",
    "host-memory",
    "float8-range",
    "fuel",
]
"""What the reference interpreter finds undefined: a closed set."""


class ReferenceTrap(msgspec.Struct, frozen=True, tag=True):
    """The reference interpreter stops at something undefined.

    of_storage: a tensor does not fit into its storage, so that the text of the module shows it.
    """

    kind: TrapKind
    of_storage: bool = False


class NotInterpreted(msgspec.Struct, frozen=True, tag=True):
    """The reference does not know a construct: see `oracles.reference.errors.Unsupported`."""

    node: str
    outside: bool = False


Stop: TypeAlias = ReferenceTrap | NotInterpreted
"""Why the reference has no result: of what is not judged, never of what is wrong."""


KernelTrapKind: TypeAlias = Literal[
    "out of bounds",
    "bad access",
    "divergent barrier",
    "divergent warp",
    "division by zero",
    "memory",
    "stack",
    "assertion",
    "trap",
    "deadline",
    "launch",
    "empty launch",
]
"""What the run time of kernels on the CPU finds undefined (`oracles/builds/cuda_cpu/include`). "launch": there is no
such kernel, or not for these arguments or extents; "empty launch": for no element."""


class InKernel(msgspec.Struct, frozen=True, tag=True):
    """A kernel that was run on the CPU does something undefined. detail: what, without the kernel's name."""

    kind: KernelTrapKind
    kernel: str
    detail: str


class OrderOfThreads(msgspec.Struct, frozen=True, tag=True):
    """A result is wrong, or another one, only when the threads of a kernel run in this order."""

    order: str


class HostTouchesDevice(msgspec.Struct, frozen=True, tag=True):
    """Host code reads or writes memory of a device: no thread is bound around an access."""


class RefusedByNvcc(msgspec.Struct, frozen=True, tag=True):
    """nvcc refuses the kernels that TVM prints. unknown: the function that they call and that nvcc does not know, as
    the code generator names it; "" where it refuses for another reason."""

    unknown: str = ""


class WrongGradient(msgspec.Struct, frozen=True, tag=True):
    """The adjoint of a function is not its derivative. function: its name. parameter, element: by what. gradient: the
    place of it among those that the adjoint gives. result: the place of what is derived among the results, None where
    the function gives one tensor. shifted: at inputs that are `oracles.checks.gradient.shifted`."""

    function: str
    parameter: int
    element: tuple[int, ...]
    gradient: int
    result: int | None
    shifted: bool


class NotANumber(msgspec.Struct, frozen=True, tag=True):
    """A result is NaN where the reference gives a number."""


FormKind: TypeAlias = Literal["shape", "dtype", "structure"]
"""In what a result is another thing than the reference's."""


class AnotherForm(msgspec.Struct, frozen=True, tag=True):
    """A result is another thing than the reference's."""

    what: FormKind


class BuiltUntyped(msgspec.Struct, frozen=True, tag=True):
    """A pass builds a call that cannot be typed. said: what TVM raises of it, in a line, without words of ours."""

    said: str


TextForm: TypeAlias = Literal["script", "JSON"]
"""How a module is written as text."""


class NotReadBack(msgspec.Struct, frozen=True, tag=True):
    """TVM does not read what it has written of a module: an exception shows it. What it reads back as another module
    is no such thing.

    statement: where the parser gives no reason, the statement at which it stops, without the names that it binds; ""
    where there is none, or a reason. None only in what was written before there was this field.
    """

    form: TextForm
    statement: str | None = None


class LeftForVm(msgspec.Struct, frozen=True, tag=True):
    """An operator is left that the virtual machine cannot run. The oracle says why; a build fails with other words."""


CLOSED_DESCRIPTORS = "closed descriptors"
"""How a process ends, for `Died`, that can say nothing any more."""


class Died(msgspec.Struct, frozen=True, tag=True):
    """A pass, a build or built code ends its process. how: a signal's name, the exit status, or
    `CLOSED_DESCRIPTORS`."""

    how: str


KILLED_EACH_TIME = Died("SIGKILL")
"""What was killed each time, where the same was done: nobody from outside does that."""


class SpoiltProcess(msgspec.Struct, frozen=True, tag=True):
    """A pass leaves its process in a state in which other code fails or ends (`oracles.process_state`). what: with what
    it leaves it."""

    what: str


Evidence: TypeAlias = (
    AcrossProcesses
    | Hung
    | OutOfMemory
    | WithoutDead
    | DeadBinding
    | GivenToCallTir
    | ChangedSignature
    | AttributeGone
    | ReferenceTrap
    | InKernel
    | OrderOfThreads
    | HostTouchesDevice
    | RefusedByNvcc
    | WrongGradient
    | NotANumber
    | AnotherForm
    | BuiltUntyped
    | NotReadBack
    | LeftForVm
    | Died
    | SpoiltProcess
)


def to_json(evidence: Evidence | None) -> JsonObject | None:
    """Plain values for JSON; None where there is no evidence."""
    return None if evidence is None else msgspec.to_builtins(evidence)


def from_json(data: object) -> Evidence | None:
    """The evidence that `to_json` wrote. Raises ValueError for anything else."""
    if data is None:
        return None
    evidence: Evidence = msgspec.convert(data, Evidence)
    return evidence
