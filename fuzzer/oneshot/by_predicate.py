"""What `passfuzz reduce --interesting` does in its process: keeps what the user's command or function accepts."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from corpus.finding import stats_row
from corpus.named_errors import naming
from corpus.reduce import Candidate, reduce
from fuzzer.oneshot.answer import Accepted, OneShotAnswer, Refusal, answer_of_command, answer_of_function
from fuzzer.oneshot.load_function import NoFunction, loaded_function
from fuzzer.oneshot.messages import Better, Kept, Predicate, Printed, Reduction, Request
from fuzzer.oneshot.prepare import NotCarriedOut
from fuzzer.oneshot.reduce import clock_of, sizes_of, step_rows, stopped
from fuzzer.oneshot.style import UserStyle, style_of
from fuzzer.processes.lines import Say
from fuzzer.protocol import Warned
from generators.tvm_api import IRModule
from oracles.forked import Ended, Pending, begun

CALL_S = 60.0
"""Seconds that one call of the user's predicate may take; longer is not interesting."""
QUICK_S = 5.0
"""Seconds that any call may take, however quick the first one was."""
PATIENCE = 10
"""A process that calls the predicate may take so many times as long as the call: the call has its own limit."""
SLOWER = 10
"""A call on a smaller module that takes so many times as long as the first one hangs."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks the user's predicate, `typed`, about a module in some seconds. style: how candidates are written.
    reads_text: whether it is given a file, and not the module."""

    typed: str
    style: UserStyle
    ask: Callable[[IRModule, str, float, bool], OneShotAnswer]
    reads_text: bool

    def answer(self, module: IRModule, limit_s: float, text: str | None = None, shown: bool = False) -> OneShotAnswer:
        """text: of the file, None for the module in the style. shown: whether what it prints is wanted."""
        written = text if text is not None else self.style.text(module) if self.reads_text else ""
        return self.ask(module, written, limit_s, shown)


def reduce_by_predicate(request: Request, start: Candidate, say: Say) -> None:
    """Says Better for each success and Reduction with the smallest module that the predicate accepts.

    Raises NotCarriedOut where it refuses the first."""
    predicate = request.predicate
    assert predicate is not None
    first = replace(start, setup=(), passes=(), calls=())
    longest = min(CALL_S, request.time_s)
    asker = _asker(predicate, Path(request.scratch))
    began = time.monotonic()
    asker = _accepting(asker, predicate, first.module, longest, say)
    limit = min(longest, max(QUICK_S, SLOWER * (time.monotonic() - began)))
    say(Kept(f"what {predicate.typed} accepts", *sizes_of(first)))
    if isinstance(asker.answer(IRModule({}), limit), Accepted):
        line = "accepts a module without any function, too: what is left may say nothing"
        say(Warned(f"--interesting {predicate.typed}: {line}"))
    _Search(request, asker, limit, say).run(first)


@dataclass(slots=True)
class _Search:
    request: Request
    asker: Asker
    limit_s: float
    say: Say
    calls: int = 0
    began: float = 0.0

    def run(self, first: Candidate) -> None:
        self.began = time.monotonic()
        reduction = reduce(
            first,
            self.interesting,
            budget_s=self.request.time_s,
            clock=clock_of(self.request),
            elsewhere=_AtOnce(self, self.request.jobs) if self.request.jobs > 1 else None,
        )
        seconds = time.monotonic() - self.began
        row = {**stats_row(reduction.stats(), 0), "seconds": round(seconds, 3)}
        text = self.asker.style.text(reduction.candidate.module)
        self.say(
            Reduction(
                (text,),
                row,
                None,
                finished=reduction.finished,
                steps=step_rows(reduction),
                kept=f"what {self.asker.typed} accepts",
                stopped=stopped(self.request),
                whole=reduction.whole,
            )
        )

    def interesting(self, candidate: Candidate) -> bool:
        return self.told(candidate, self.accepts(candidate))

    def accepts(self, candidate: Candidate) -> bool:
        return isinstance(self.asker.answer(candidate.module, self.limit_s), Accepted)

    def told(self, candidate: Candidate, accepted: bool) -> bool:
        """Says it, where the predicate has accepted the candidate."""
        self.calls += 1
        if not accepted:
            return False
        module = candidate.module
        text = self.asker.style.text(module)
        spent = time.monotonic() - self.began
        self.say(Better(*sizes_of(candidate), self.calls, spent, text, folder={"module.py": text.encode()}))
        return True


@dataclass(frozen=True, slots=True)
class _AtOnce:
    """Begins calls of the predicate in copies of this process."""

    search: _Search
    at_once: int

    def __call__(self, candidate: Candidate) -> _Called:
        return _Called(self.search, candidate, begun(lambda: self.search.accepts(candidate)))


@dataclass(frozen=True, slots=True)
class _Called:
    """A call of the predicate in a copy of this process."""

    search: _Search
    candidate: Candidate
    pending: Pending[bool]

    def interesting(self) -> bool:
        said = self.pending.result(PATIENCE * self.search.limit_s)
        return self.search.told(self.candidate, False if isinstance(said, Ended) else said)

    def drop(self) -> None:
        self.pending.drop()


def _asker(predicate: Predicate, scratch: Path) -> Asker:
    style = style_of(predicate.text)
    if predicate.command:

        def by_command(module: IRModule, text: str, limit_s: float, shown: bool) -> OneShotAnswer:
            with naming(scratch), TemporaryDirectory(prefix="call-", dir=scratch) as folder:
                file = Path(folder) / "candidate.py"
                file.write_text(text, encoding="utf-8")
                return answer_of_command((*predicate.command, str(file)), limit_s, shown)

        return Asker(predicate.typed, style, by_command, True)
    try:
        function = loaded_function(predicate.file, predicate.function)
    except NoFunction as error:
        raise NotCarriedOut(f"--interesting {predicate.typed}: {error}") from error
    return Asker(
        predicate.typed,
        style,
        lambda module, text, limit_s, shown: answer_of_function(function, module, limit_s, shown),
        False,
    )


def _accepting(asker: Asker, predicate: Predicate, module: IRModule, limit_s: float, say: Say) -> Asker:
    """The asker in the first style in which the predicate accepts the module. Raises NotCarriedOut where it does not,
    after Printed."""
    given = predicate.text if predicate.text is not None else asker.style.text(module)
    answer = asker.answer(module, limit_s, given, shown=True)
    if isinstance(answer, Refusal):
        raise _refused(predicate, answer, given if predicate.text is None else "", "on the module as it is", say)
    if not asker.reads_text:
        return asker
    tried: list[str] = []
    for manner, text in enumerate(asker.style.texts(module)):
        if text in tried:
            continue
        tried.append(text)
        answer = asker.answer(module, limit_s, text, shown=True)
        if isinstance(answer, Accepted):
            return replace(asker, style=replace(asker.style, manner=manner))
    assert isinstance(answer, Refusal)
    raise _refused(predicate, answer, tried[0], "on the module as TVM prints it, and accepts the file as it is", say)


def _refused(predicate: Predicate, answer: Refusal, candidate: str, where: str, say: Say) -> NotCarriedOut:
    say(Printed(answer.printed, candidate))
    return NotCarriedOut(f"--interesting {predicate.typed}: {answer.how} {where}; {answer.wanted}")
