"""The search: applies the steps of the table, biggest first, until none of them helps or the budget is spent.

Greedy and deterministic. A candidate is tried once; only `interesting` decides, so the search never slips to
another bug. First come the steps that need no module taken apart, on the module as it is. Worker processes only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest

from corpus.reduce.ahead import Ahead, Elsewhere, PriorAnswers, attempts_after
from corpus.reduce.candidate import Candidate, Smallest, StepStats, smallest_of
from corpus.reduce.draft import ModuleDraft, NotApplicable
from corpus.reduce.plan import Edit, PlanView, ReductionPlan, applied, is_impossible, plan_of, view_of
from corpus.reduce.prim_func import named_operators
from corpus.reduce.prune import pruned
from corpus.reduce.realise import GaveUp, Realised, as_it_is, realise
from corpus.reduce.strategies import Attempt, all_that_can_go
from corpus.scripts.module_text import text_of
from generators import tvm_api as T
from generators.case import Argument, EntryCall, Shape


@dataclass(frozen=True, slots=True)
class ReductionStep:
    """One way of making candidates smaller: the edits that it has to offer for a plan.

    strategy: how they are tried (`corpus.reduce.strategies`). repeat: after a success the step is asked again at once.
    as_it_is: its edits leave the bodies of all functions alone. simpler: its edits remove nothing of what is computed,
    and make sense one after another.
    """

    name: str
    edits: Callable[[PlanView], Sequence[Edit]]
    strategy: Callable[[Sequence[Edit], Attempt[Edit]], bool] = all_that_can_go
    repeat: bool = False
    as_it_is: bool = False
    simpler: bool = False


REBUILDING = "the module built anew"
"""What stands for a step where the module is taken apart and rebuilt."""
READING = "the module as it is"
"""The same where it is read."""
LONGEST_FAULT = 200
LOOKED_AT = 16
"""So many attempts of one step are foreseen at once, most of which are tried already or no candidates."""


class OutOfBudget(Exception):
    """Time or calls of `interesting` are spent; raised and caught in this file."""


class _NoView(Exception):
    """An error of ours: what was taken last cannot be looked at again; raised and caught in this file."""


@dataclass(slots=True)
class Limits:
    """What a search may cost: calls of `interesting`, and the time of `clock` at which it ends."""

    max_calls: int
    deadline: float
    clock: Callable[[], float]


@dataclass(slots=True)
class _Spent:
    tried: int = 0
    accepted: int = 0
    seconds: float = 0.0
    fault: str = ""


@dataclass(slots=True)
class _Ledger:
    """What each step has cost, by name, and the step that is at work."""

    steps: dict[str, _Spent] = field(default_factory=dict)
    current: _Spent = field(default_factory=_Spent)


@dataclass(slots=True)
class _Course:
    """Where the search is: the step at work with its edits and the answers to its attempts, and the steps that follow
    if nothing is taken."""

    step: ReductionStep
    edits: Sequence[Edit]
    answers: list[bool]
    following: Sequence[ReductionStep] = ()


class Search:
    """The current best plan, and what has been tried."""

    def __init__(
        self,
        candidate: Candidate,
        interesting: Callable[[Candidate], bool],
        limits: Limits,
        on_success: Callable[[Candidate], None] | None = None,
        elsewhere: Elsewhere[Candidate] | None = None,
    ) -> None:
        self.calls = 0
        self.best = candidate
        self._interesting = interesting
        self._limits = limits
        self._on_success = on_success
        self._ledger = _Ledger()
        self._following: Sequence[ReductionStep] = ()
        self._course: _Course
        self._ahead = None if elsewhere is None else Ahead(elsewhere)
        self._realise: Callable[[ModuleDraft], Realised] = as_it_is(candidate.module)
        self._plan = plan_of(candidate)
        self._taken = [(self._plan, candidate)]
        """What was the best so far, one after another."""
        self._only_said = False
        self.whole = False
        """Whether bodies are left as they are, since the module does not fail once it is built anew."""
        self._seen: set[tuple[object, ...]] = {_key(self._plan, candidate.module)}
        self._view = view_of(self._plan, candidate.module)
        self._operators = named_operators(candidate.module)
        self._impossible = any(map(is_impossible, self._view.types.values()))
        """Whether the module itself has types that no value is of; else nothing smaller may have."""

    def run(self, steps: Sequence[ReductionStep]) -> bool:
        """Whether every step was tried on the final candidate without success (False: out of budget)."""
        try:
            self._until_idle([step for step in steps if step.as_it_is])
            if not self._rebuilt():
                self.whole = True
                return True
            self._until_idle(steps)
            if self._back_to_a_script():
                self._until_idle(steps)
        except (OutOfBudget, _NoView):
            return False
        finally:
            if self._ahead is not None:
                self._ahead.drop()
        return True

    def stats(self) -> tuple[StepStats, ...]:
        """What each step has cost and given, in the order in which they were first tried."""
        spent = self._ledger.steps.items()
        return tuple(StepStats(name, each.tried, each.accepted, each.seconds, each.fault) for name, each in spent)

    def _until_idle(self, steps: Sequence[ReductionStep]) -> None:
        idle = 0
        while idle < len(steps):
            for number, step in enumerate(steps):
                self._following = (*steps[number + 1 :], *steps[:number])[: len(steps) - idle - 1]
                idle = 0 if self._run_step(step) else idle + 1
                if idle >= len(steps):
                    break

    def _rebuilt(self) -> bool:
        """Whether the module survives being taken apart and rebuilt; from then on candidates are."""
        try:
            realised = realise(self._plan.draft)
        except GaveUp:
            return False
        except Exception as error:  # noqa: BLE001 - an error of ours: what needs nothing rebuilt has been tried
            self._blame(REBUILDING, error)
            return False
        key = _key(self._plan, realised.module)
        if key not in self._seen:
            self.calls += 1
            if not self._interesting(self._plan.candidate(realised.module)):
                return False
        self._seen.add(key)
        self._realise = realise
        return True

    def _run_step(self, step: ReductionStep) -> bool:
        self._ledger.current = self._ledger.steps.setdefault(step.name, _Spent())
        began = self._limits.clock()
        try:
            return self._asked(step)
        finally:
            self._ledger.current.seconds += self._limits.clock() - began

    def _asked(self, step: ReductionStep) -> bool:
        succeeded = False
        while True:
            found = self._tried(step, self._edits(step, self._view))
            succeeded |= found
            if found:
                self._view = self._looked_at(self._plan)
                self._plan = self._view.plan
                self._seen.add(_key(self._plan, self.best.module))
            if not (found and step.repeat):
                return succeeded

    def _edits(self, step: ReductionStep, view: PlanView) -> list[Edit]:
        """What a step has to offer: nothing where it raises, which is an error of ours and told."""
        try:
            return list(step.edits(view))
        except Exception as error:  # noqa: BLE001 - a step that fails must not cost what the others find
            self._blame(step.name, error)
            return []

    def _looked_at(self, plan: ReductionPlan) -> PlanView:
        try:
            return view_of(plan, self.best.module)
        except Exception as error:
            self._blame(self._course.step.name, error)
            raise _NoView from error

    def _blame(self, step: str, error: Exception) -> None:
        """Keeps the first error of ours in a step, in one line."""
        spent = self._ledger.steps.setdefault(step, _Spent())
        spent.fault = spent.fault or _in_one_line(error)

    def _tried(self, step: ReductionStep, edits: Sequence[Edit]) -> bool:
        answers = list[bool]()
        self._course = _Course(step, edits, answers, self._following)

        def attempt(some: Sequence[Edit]) -> bool:
            answers.append(self._consider(some))
            return answers[-1]

        return step.strategy(edits, attempt)

    def _consider(self, edits: Sequence[Edit]) -> bool:
        """Tries the current plan with these edits; takes it when it is interesting."""
        if self._limits.clock() >= self._limits.deadline:
            raise OutOfBudget
        attempt = self._attempt(self._plan, edits)
        if attempt is None:
            return False
        plan, realised = attempt
        key = _key(plan, realised.module)
        if key in self._seen:
            return self._prunes_nothing(plan, key)
        self._seen.add(key)
        if self.calls >= self._limits.max_calls:
            raise OutOfBudget
        self.calls += 1
        self._ledger.current.tried += 1
        if not self._is_interesting(plan, realised.module, key):
            return False
        if self._only_said and text_of(realised.module).json is not None:
            return False
        self._take(plan, len(edits))
        return True

    def _is_interesting(self, plan: ReductionPlan, module: T.IRModule, key: tuple[object, ...]) -> bool:
        candidate = plan.candidate(module)
        if self._ahead is None:
            return self._interesting(candidate)
        return self._ahead.interesting(key, candidate, self._coming(plan, module))

    def _coming(self, plan: ReductionPlan, module: T.IRModule) -> Iterator[tuple[PriorAnswers, object, Candidate]]:
        """What may be judged after the candidate at hand, what is more likely first."""
        assert self._ahead is not None
        branches = {False: self._if_refused(), True: self._if_taken(plan, module)}
        for likely, unlikely in zip_longest(branches[self._ahead.likely], branches[not self._ahead.likely]):
            yield from (one for one in (likely, unlikely) if one is not None)

    def _if_refused(self) -> Iterator[tuple[PriorAnswers, object, Candidate]]:
        """Once something is taken, a step ends with another view of the module, which its followers are asked for."""
        course, plan = self._course, self._plan
        attempts = chain(
            attempts_after(course.step.strategy, course.edits, [*course.answers, False], LOOKED_AT),
            () if any(course.answers) else self._of_steps(course.following, self._view),
        )
        yield from self._candidates(plan, attempts, False)

    def _if_taken(self, plan: ReductionPlan, module: T.IRModule) -> Iterator[tuple[PriorAnswers, object, Candidate]]:
        course = self._course
        attempts = attempts_after(course.step.strategy, course.edits, [*course.answers, True], LOOKED_AT)
        if attempts:
            yield from self._candidates(plan, attempts, True)
            return
        try:
            view = view_of(plan, module)
        except Exception:  # noqa: BLE001 - told when its turn comes
            return
        steps = (course.step, *course.following) if course.step.repeat else course.following
        yield from self._candidates(view.plan, self._of_steps(steps, view), True)

    def _of_steps(self, steps: Iterable[ReductionStep], view: PlanView) -> Iterator[Sequence[Edit]]:
        for step in steps:
            yield from attempts_after(step.strategy, self._edits(step, view), (), LOOKED_AT)

    def _candidates(
        self, plan: ReductionPlan, attempts: Iterable[Sequence[Edit]], first: bool
    ) -> Iterator[tuple[PriorAnswers, object, Candidate]]:
        path: PriorAnswers = (first,)
        for edits in attempts:
            if (attempt := self._attempt(plan, edits)) is None:
                continue
            smaller, realised = attempt
            if (key := _key(smaller, realised.module)) not in self._seen:
                yield path, key, smaller.candidate(realised.module)
                path = (*path, False)

    def _take(self, plan: ReductionPlan, edits: int) -> None:
        # Built anew: passes under test may change the module that they are given.
        self.best, self._plan = plan.candidate(self._realise(plan.draft).module), plan
        self._taken.append((plan, self.best))
        self._ledger.current.accepted += edits
        if self._on_success is not None:
            self._on_success(self.best)

    def _prunes_nothing(self, plan: ReductionPlan, key: tuple[object, ...]) -> bool:
        """Whether the plan is the present one but for what may be pruned from now on, which is taken."""
        if plan.prune == self._plan.prune or key != _key(self._plan, self.best.module):
            return False
        self._plan = replace(self._plan, prune=plan.prune)
        return True

    def _back_to_a_script(self) -> bool:
        """Goes back to the last candidate that a script says all of, where none does of `best` but one did before.

        From then on all must be said. Looked at in the end alone: printing and reading takes longer than a trial."""
        if self._only_said or text_of(self.best.module).json is None:
            return False
        for plan, candidate in reversed(self._taken):
            if text_of(candidate.module).json is None:
                self.best, self._only_said = candidate, True
                self._view = view_of(plan, candidate.module)
                self._plan = self._view.plan
                return True
        return False

    def _attempt(self, before: ReductionPlan, edits: Sequence[Edit]) -> tuple[ReductionPlan, Realised] | None:
        try:
            plan = applied(before, edits)
            if plan is before:
                return None
            plan = pruned(plan)
            realised = self._realise(plan.draft)
        except (GaveUp, NotApplicable):
            return None
        except Exception as error:  # noqa: BLE001 - an error of ours is one refused candidate
            self._blame(self._course.step.name, error)
            return None
        if not self._impossible and any(map(is_impossible, realised.types.values())):
            return None
        return (plan, realised) if named_operators(realised.module) <= self._operators else None


def _key(plan: ReductionPlan, module: T.IRModule) -> tuple[object, ...]:
    # The hash does not see names, which the last step changes.
    names = tuple(plan.draft.names.values())
    return T.structural_hash(module), names, plan.setup, plan.passes, tuple(_call_key(call) for call in plan.calls)


def _call_key(call: EntryCall) -> tuple[object, ...]:
    return call.function, tuple(_argument_key(argument) for argument in call.arguments)


def _argument_key(argument: Argument) -> object:
    if isinstance(argument, tuple):
        return tuple(_argument_key(field) for field in argument)
    if isinstance(argument, (Shape, int, float)):
        return argument
    return str(argument.dtype), argument.shape, argument.tobytes()


def search(
    candidate: Candidate,
    interesting: Callable[[Candidate], bool],
    steps: Sequence[ReductionStep],
    *,
    budget_s: float,
    max_calls: int,
    clock: Callable[[], float],
    on_success: Callable[[Candidate], None] | None = None,
    elsewhere: Elsewhere[Candidate] | None = None,
) -> Smallest:
    """See `corpus.reduce.reduce`; with the steps as an argument."""
    start = clock()
    limits = Limits(max_calls, start + budget_s, clock)
    try:
        run = Search(candidate, interesting, limits, on_success, elsewhere)
    except Exception as error:  # noqa: BLE001 - an error of ours: the failure is told as it was found
        unread = StepStats(READING, 0, 0, clock() - start, _in_one_line(error))
        return smallest_of(candidate, candidate, clock() - start, (unread,))
    finished = run.run(steps)
    found = smallest_of(candidate, run.best, clock() - start, run.stats())
    return replace(found, oracle_calls=run.calls, finished=finished, whole=run.whole)


def _in_one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST_FAULT]
