"""The search: applies the steps of the table, biggest first, until none of them helps or the budget is spent.

Greedy and deterministic. A candidate is tried once; only `interesting` decides, so the search never slips to
another bug. Worker processes only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from corpus.module_text import text_of
from corpus.reduce.candidate import Candidate, Smallest, count_bindings, count_statements
from corpus.reduce.draft import NotApplicable
from corpus.reduce.plan import Edit, PlanView, ReductionPlan, plan_of, pruned, view_of
from corpus.reduce.realise import GaveUp, Realised, realise
from generators import tvm_api as T
from generators.case import Argument, EntryCall, Shape


@dataclass(frozen=True, slots=True)
class ReductionStep:
    """One way of making candidates smaller: the edits that it has to offer for a plan.

    together: edits are independent of each other, so chunks of them are tried at once (delta debugging);
    otherwise they are alternatives, and the first that is interesting is taken. repeat: after a success the
    step is asked again at once.
    """

    name: str
    edits: Callable[[PlanView], Sequence[Edit]]
    together: bool = True
    repeat: bool = False


class OutOfBudget(Exception):
    """Time or calls of `interesting` are spent; raised and caught in this file."""


class Search:
    """The current best plan, and what has been tried."""

    def __init__(
        self,
        candidate: Candidate,
        interesting: Callable[[Candidate], bool],
        *,
        max_calls: int,
        deadline: float,
        clock: Callable[[], float],
    ) -> None:
        self.calls = 0
        self.best = candidate
        self.accepted: Counter[str] = Counter()
        self._interesting = interesting
        self._max_calls = max_calls
        self._deadline = deadline
        self._clock = clock
        self._plan = plan_of(candidate)
        self._taken = [(self._plan, candidate)]
        """What was the best so far, one after another."""
        self._only_said = False
        self._seen: set[tuple[object, ...]] = set()
        self._view = self._start(candidate)

    def run(self, steps: Sequence[ReductionStep]) -> bool:
        """Whether every step was tried on the final candidate without success (False: out of budget)."""
        finished = self._run(steps)
        if self._back_to_a_script():
            finished = self._run(steps)
        return finished

    def _run(self, steps: Sequence[ReductionStep]) -> bool:
        if self._view is None:
            return True
        idle = 0
        try:
            while idle < len(steps):
                for step in steps:
                    idle = 0 if self._run_step(step) else idle + 1
                    if idle >= len(steps):
                        break
        except OutOfBudget:
            return False
        return True

    def _start(self, candidate: Candidate) -> PlanView | None:
        """None when the module does not survive being taken apart and rebuilt."""
        try:
            realised = realise(self._plan.draft)
        except GaveUp:
            return None
        if T.structural_hash(realised.module) != T.structural_hash(candidate.module):
            self.calls += 1
            if not self._interesting(self._plan.candidate(realised.module)):
                return None
        self._seen.add(_key(self._plan, realised.module))
        return PlanView(self._plan, realised.types)

    def _run_step(self, step: ReductionStep) -> bool:
        succeeded = False
        while self._view is not None:
            edits = list(step.edits(self._view))
            found = self._chunks(edits, step.name) if step.together else self._first(edits, step.name)
            succeeded |= found
            if found:
                self._view = view_of(self._plan, self.best.module)
                self._plan = self._view.plan
            if not (found and step.repeat):
                break
        return succeeded

    def _chunks(self, edits: list[Edit], name: str) -> bool:
        """Delta debugging: all at once, then ever smaller chunks; what was accepted leaves the list."""
        succeeded = False
        size = len(edits)
        while size >= 1:
            index = 0
            while index < len(edits):
                if self._consider(edits[index : index + size], name):
                    succeeded = True
                    del edits[index : index + size]
                else:
                    index += size
            size = min(size // 2, len(edits))
        return succeeded

    def _first(self, edits: Sequence[Edit], name: str) -> bool:
        return any(self._consider([edit], name) for edit in edits)

    def _consider(self, edits: Sequence[Edit], name: str) -> bool:
        """Tries the current plan with these edits; takes it when it is interesting."""
        if self._clock() >= self._deadline:
            raise OutOfBudget
        attempt = self._attempt(edits)
        if attempt is None:
            return False
        plan, realised = attempt
        key = _key(plan, realised.module)
        if key in self._seen:
            return False
        self._seen.add(key)
        if self.calls >= self._max_calls:
            raise OutOfBudget
        self.calls += 1
        if not self._interesting(plan.candidate(realised.module)):
            return False
        if self._only_said and text_of(realised.module).json is not None:
            return False
        # Built anew: passes under test may change the module that they are given.
        realised = realise(plan.draft)
        self.best, self._plan = plan.candidate(realised.module), plan
        self._view = PlanView(plan, realised.types)
        self._taken.append((plan, self.best))
        self.accepted[name] += len(edits)
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

    def _attempt(self, edits: Sequence[Edit]) -> tuple[ReductionPlan, Realised] | None:
        plan = self._plan
        for edit in edits:
            try:
                plan = edit(plan)
            except NotApplicable:
                continue
        if plan is self._plan:
            return None
        try:
            plan = pruned(plan)
            return plan, realise(plan.draft)
        except (GaveUp, NotApplicable):
            return None


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
) -> Smallest:
    """See `corpus.reduce.reduce`; with the steps as an argument."""
    start = clock()
    run = Search(candidate, interesting, max_calls=max_calls, deadline=start + budget_s, clock=clock)
    finished = run.run(steps)
    return Smallest(
        candidate=run.best,
        oracle_calls=run.calls,
        seconds=clock() - start,
        bindings_before=count_bindings(candidate.module),
        bindings_after=count_bindings(run.best.module),
        statements_before=count_statements(candidate.module),
        statements_after=count_statements(run.best.module),
        passes_before=len(candidate.passes),
        passes_after=len(run.best.passes),
        finished=finished,
        accepted=tuple((step.name, run.accepted[step.name]) for step in steps if run.accepted[step.name]),
    )
