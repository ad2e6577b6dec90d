"""Who agrees on what a program computes: the reference and builds of it, before and after the passes.

One engine is enough for an oracle to call a result wrong. Whose fault it is shows when all are asked: a pass is wrong
when what the builds give changes with it, code generation when every pass agrees and the build does not. Where the
reference alone differs, it may be wrong. Builds run in children, since they may crash.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from generators.source import SeededSource
from generators.targets import DEFAULT
from oracles.activities import unannounced
from oracles.builds import build as llvm
from oracles.builds.builders import BUILDERS, unusable
from oracles.builds.needs import LLVM, builder_of
from oracles.forked import Ended, forked
from oracles.reference.calling import Calling, LeftOut, Run
from oracles.reference.compare import Difference, compare, widened
from oracles.reference.engine import interpreted
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning
from oracles.reference.values import Runtime, from_argument
from oracles.trace import Bench, Position, Raised
from oracles.tvm_errors import headline
from oracles.verdict import Failed, Skipped
from oracles.workbench import Workbench

BUILD_S = 20
"""Seconds for one build and its runs."""
LEVELS = (0, 3)
"""LLVM's optimisation levels that a module is built with."""

BuildAnswer: TypeAlias = "tuple[Runtime, ...] | str"
"""The result of every entry call, or in words why there is none."""


@dataclass(frozen=True, slots=True)
class Engine:
    """Who computes. after: the module after the passes, else the one before. builder: None for the reference.

    level: LLVM's optimisation level.
    """

    after: bool
    builder: str | None = None
    level: int | None = None

    def __str__(self) -> str:
        """For a person."""
        when = "after" if self.after else "before"
        if self.builder == LLVM.name:
            return f"build {when} at -O{self.level}"
        return f"{self.builder or 'reference'} {when}"


@dataclass(frozen=True, slots=True)
class Group:
    """Engines that give one result. says: how it differs from what the program means, "" where it does not."""

    members: tuple[Engine, ...]
    says: str


def engines(
    before: Position, after: Position | None, numbers: Numbers, bench: Bench, target: str = DEFAULT
) -> dict[Engine, BuildAnswer]:
    """What each engine says; `after` None where there are no passes. The first is what the program means.

    For a target whose modules another builder runs, LLVM is asked about the program as it was before the passes; for
    one without a builder here there are no builds.
    """
    assert not isinstance(numbers.expected, NoMeaning)
    answers: dict[Engine, BuildAnswer] = {Engine(after=False): numbers.expected}
    states = {False: before} if after is None else {False: before, True: after}
    if after is not None:
        answers[Engine(after=True)] = _results(interpreted(after.module, after.synchronised), after.calling, numbers)
    builder = builder_of(target) if unusable(target) is None else None
    if builder == LLVM.name:
        for passed, state in states.items():
            answers |= _by_llvm(passed, state, numbers, bench)
    elif builder is not None:
        answers |= _by_llvm(False, before, numbers, Workbench(SeededSource(0), bench.numbers))
        for passed, state in states.items():
            answers[Engine(passed, builder)] = _built(builder, state, 0, numbers, bench)
    return answers


def _by_llvm(after: bool, state: Position, numbers: Numbers, bench: Bench) -> dict[Engine, BuildAnswer]:
    return {Engine(after, LLVM.name, level): _built(LLVM.name, state, level, numbers, bench) for level in LEVELS}


def groups(answers: Mapping[Engine, BuildAnswer], numbers: Numbers) -> tuple[Group, ...]:
    """The engines by what they say, those who agree with the program's meaning first."""
    assert not isinstance(numbers.expected, NoMeaning)
    expected = numbers.expected
    found: list[tuple[list[Engine], BuildAnswer, str]] = [([], expected, "")]
    for engine, said in answers.items():
        for members, known, _ in found:
            if _agree(known, said, expected):
                members.append(engine)
                break
        else:
            found.append(([engine], said, said if isinstance(said, str) else _difference(expected, said)))
    return tuple(Group(tuple(members), says) for members, _, says in found)


def conclusion(groups: Sequence[Group]) -> str:
    """Whose fault it looks like, in a sentence; "" where the groups do not say."""
    place = {member: number for number, group in enumerate(groups) for member in group.members}
    before, after = ({place[e] for e in place if e.builder == LLVM.name and e.after is when} for when in (False, True))
    if not before | after:
        return ""
    last = Engine(after=Engine(after=True) in place)
    if place[last] == 0:
        agreed = "So far the reference agrees: a pass of the build, or code generation, is wrong."
        return "" if {place[e] for e in place if e.after is last.after} <= {0} else agreed
    if after == {0}:
        return "Only the reference sees it: what is undefined may go well, or the reference is wrong."
    if before == {0}:
        return "The pass is wrong: the reference and the builds say so."
    if before == after:
        return "The builds agree with each other: LegalizeOps gives an operator another meaning than the reference."
    return ""


def _results(run: Run, calling: Calling, numbers: Numbers) -> BuildAnswer:
    try:
        return tuple(calling(run, c.function, [from_argument(a) for a in c.arguments]) for c in numbers.calls)
    except LeftOut as why:
        return why.reason
    except Unsupported as error:
        return f"not interpreted: {error.node}"
    except Trap as trap:
        return f"{trap.kind}: {trap.detail}"


def _built(builder: str, state: Position, level: int, numbers: Numbers, bench: Bench) -> BuildAnswer:
    """What a build says, or what ended it. Raises ChildRaised."""

    def results() -> BuildAnswer:
        built = BUILDERS[builder].build(state.module, state.phase, bench, level, unannounced)
        if isinstance(built, llvm.NotBuilt):
            return f"does not build: {headline(built.error.message)}"
        if isinstance(built, (Failed, Skipped)):
            return f"does not build: {built.message if isinstance(built, Failed) else built.reason}"
        return _answer(bench.guarded(_of(BUILDERS[builder].run(built), state.calling, numbers)))

    ended = forked(results, BUILD_S)
    if isinstance(ended, Ended):
        return "killed from outside, or out of memory" if ended.from_outside else ended.how
    return ended


def _of(run: Run, calling: Calling, numbers: Numbers) -> Callable[[], BuildAnswer]:
    return lambda: _results(run, calling, numbers)


def _answer(outcome: BuildAnswer | Raised) -> BuildAnswer:
    return f"does not run: {headline(outcome.message)}" if isinstance(outcome, Raised) else outcome


def _agree(known: BuildAnswer, given: BuildAnswer, expected: tuple[Runtime, ...]) -> bool:
    """Whether two results may be of one computation; one that is what the program means is held to its bounds."""
    if isinstance(known, str) or isinstance(given, str):
        return known == given
    bounded = known if known is expected else tuple(map(widened, expected, known))
    return _difference(bounded, given) == ""


def _difference(expected: tuple[Runtime, ...], given: tuple[Runtime, ...]) -> str:
    for want, got in zip(expected, given, strict=True):
        found = compare(want, got)
        if isinstance(found, Difference):
            return found.sentence
    return ""
