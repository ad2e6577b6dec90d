"""What happened to a case, step by step. Live objects of one worker; nothing here is written to disk.

How steps are taken is in `oracles.walk`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from generators.case import EntryCall, PassCall, Tier
from generators.passes.row import PassRow, Phase
from generators.source import Source
from generators.targets import DEFAULT
from generators.tvm_api import IRModule
from oracles.ir.fingerprint import fingerprint
from oracles.reference.calling import Calling, direct
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import Outcome, Unsure
from oracles.verdict import CODEGEN

R = TypeVar("R")


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
class Position:
    """The state of a case between two passes: the module, and all that is known of it from the passes before.

    phase: how far the module has been lowered. calling: how to make the entry calls of the starting module in this one.
    synchronised: the scopes of memory in which barriers between GPU threads are explicit. between: a pass out of its
    phase left the module between two phases, so it is unknown which passes are still to come. code: the fingerprint of
    the module when this position was reached (`oracles.ir.fingerprint`). floor: the dtype to whose precision a pass has
    lowered the module on purpose, None where none has. lost: why its numbers say nothing any more, None while they do.
    """

    module: IRModule
    phase: Phase
    calling: Calling
    synchronised: frozenset[str]
    between: bool
    code: int
    floor: str | None = None
    lost: str | None = None

    @staticmethod
    def at(
        module: IRModule,
        phase: Phase = Phase.HIGH,
        calling: Calling = direct,
        synchronised: frozenset[str] = frozenset(),
        code: int | None = None,
    ) -> Position:
        """A position to start from, as the module is now. code: its fingerprint, where that is known."""
        return Position(module, phase, calling, synchronised, False, fingerprint(module) if code is None else code)

    def __str__(self) -> str:
        """For a person: the phase, what is special, and the names of the functions."""
        special = [
            word
            for word, holds in (
                ("called in another way", self.calling is not direct),
                ("barriers explicit", bool(self.synchronised)),
                ("between two phases", self.between),
                (f"in the precision of {self.floor}", self.floor is not None),
                ("numbers lost", self.lost is not None),
            )
            if holds
        ]
        names = ", ".join(sorted(str(name.name_hint) for name in self.module.functions))
        return "; ".join((self.phase.name, *special, f"functions {names}"))


@dataclass(frozen=True, slots=True)
class Step:
    """One pass applied at a position, with its result.

    index: its number among the passes of the case. outcome: the module that the pass returned, or what it raised.
    end: the position after it, None where it raised. changed: whether the result is another program than the input was.
    input_kept: whether the input module, after the pass, is what it was before.
    tier: "A", "B" or "C". under_test: False for setup passes and others whose failures are not findings.
    broken: an oracle of structure has said that the result is; a trap of the reference says no more than that.
    """

    index: int
    call: PassCall
    row: PassRow
    start: Position
    outcome: IRModule | Raised
    end: Position | None
    changed: bool
    input_kept: bool
    tier: Tier = "B"
    under_test: bool = True
    broken: bool = False

    def losing(self, why: str) -> Step:
        """The same step where the numbers of its input say nothing any more."""
        end = None if self.end is None else replace(self.end, lost=why)
        return replace(self, start=replace(self.start, lost=why), end=end)

    @property
    def before(self) -> IRModule:
        """The module that the pass was given, as it is now."""
        return self.start.module

    @property
    def after(self) -> IRModule | None:
        """The module that the pass returned; None where it raised."""
        return None if isinstance(self.outcome, Raised) else self.outcome

    @property
    def error(self) -> Raised | None:
        """What the pass raised, None where it returned."""
        return self.outcome if isinstance(self.outcome, Raised) else None

    @property
    def phase(self) -> Phase:
        """The phase of the module before the pass."""
        return self.start.phase

    @property
    def means_anew(self) -> bool:
        """Whether the same program means something else after the pass: it is called in another way, or barriers are
        explicit that were implied."""
        start, end = self.start, self.end
        return end is not None and (end.calling, end.synchronised) != (start.calling, start.synchronised)

    @property
    def returned_input(self) -> bool:
        """Whether the pass returned the very module object that it was given."""
        return self.after is not None and bool(self.after.same_as(self.before))


def last_changer(steps: Sequence[Step]) -> str:
    """The last pass that made another program of its module, who is to blame where nothing else says who is; CODEGEN
    where none has."""
    return next((step.call.name for step in reversed(steps) if step.changed), CODEGEN)


@dataclass(frozen=True, slots=True)
class Trace:
    """A whole case: the starting module, every step, the entry calls with exact inputs."""

    start: IRModule
    calls: tuple[EntryCall, ...]
    steps: tuple[Step, ...]
    target: str = DEFAULT


def outcome_at(position: Position, numbers: Numbers) -> Outcome:
    """What the reference says of the module at a position, held to what the passes before leave of the numbers."""
    if position.lost is not None:
        return Unsure(position.lost)
    held = numbers.held_to(position.floor)
    return held.judge_module(position.module, position.calling, position.synchronised)


class Bench(Protocol):
    """What an oracle of steps may do besides looking."""

    source: Source
    """For sampling decisions; depends on the case alone."""
    numbers: Numbers
    """What the entry calls of the case give in its starting module."""
    applications: int
    """How many times it has applied passes."""

    def apply(self, call: PassCall, module: IRModule) -> IRModule | Raised:
        """Constructs the pass anew and applies it; exceptions of TVM come back as values."""
        ...

    def guarded(self, action: Callable[[], R]) -> R | Raised:
        """What `action` gives, or what TVM raised, as a value."""
        ...


class CaseBench(Bench, Protocol):
    """What an oracle of whole cases may do: of a case it knows every pass, and how each is constructed."""

    def apply_all(self, calls: Sequence[PassCall], module: IRModule) -> IRModule | Raised:
        """The passes as one tvm.transform.Sequential."""
        ...
