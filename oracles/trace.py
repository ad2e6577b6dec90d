"""What happened to a case, step by step. Live objects of one worker; nothing here is written to disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from generators.case import EntryCall, PassCall
from generators.passes.row import PassRow, Phase
from generators.source import Source
from generators.targets import DEFAULT
from oracles.calls.protocol import Calling, direct
from oracles.reference.numbers import Numbers


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception of TVM as a value.

    kind: the class name. message: its text. explicit: raised on purpose with an explanation (a C++
    diagnostic or a Python `raise`), as opposed to an error that happened to the code (TypeError on None).
    """

    kind: str
    message: str
    explicit: bool = True
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One pass applied: the module before, and after or the error.

    phase: where the module stood before. hash_before: structural hash of `before` taken before the pass
    ran, and script_before its text where the input-unchanged oracle asked for it.
    under_test: False for setup passes, whose failures are not findings. tier: "A", "B" or "C".
    """

    index: int
    call: PassCall
    row: PassRow
    phase: Phase
    before: Any
    after: Any | None
    error: Raised | None
    hash_before: int
    tier: str = "B"
    under_test: bool = True

    @property
    def changed(self) -> bool:
        """Whether the pass gave another module object than it got."""
        return self.after is not None and not self.after.same_as(self.before)


@dataclass(frozen=True, slots=True)
class Trace:
    """A whole case: the starting module, every step, the entry calls with exact inputs."""

    start: Any
    calls: tuple[EntryCall, ...]
    steps: tuple[Step, ...]
    target: str = DEFAULT


@dataclass(slots=True)
class MeaningState:
    """What is known of the numbers along one case. lost: why later steps are not compared, None while they are.

    calling: how to make the entry calls in the current module; it leaves out those of which nobody can say.
    synchronised: barriers between GPU threads are explicit in it.
    """

    numbers: Numbers
    calling: Calling = direct
    lost: str | None = None
    synchronised: bool = False


class Bench(Protocol):
    """What an oracle may do besides looking: the worker provides it."""

    source: Source
    """For sampling decisions; depends on the case alone."""
    meaning: MeaningState
    """The numbers of the case being judged."""
    trusting: bool
    """Whether all that is said of a case is thrown away where a pass has changed anything in place."""

    def apply(self, call: PassCall, module: Any) -> Any | Raised:
        """Constructs the pass anew and applies it; exceptions of TVM come back as values."""
        ...

    def apply_all(self, calls: Sequence[PassCall], module: Any) -> Any | Raised:
        """The passes as one tvm.transform.Sequential."""
        ...

    def guarded(self, action: Callable[[], Any]) -> Any | Raised:
        """What `action` gives, or what TVM raised, as a value."""
        ...
