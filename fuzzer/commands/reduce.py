"""`passfuzz reduce`: makes one failing case or module small, in a process of its own. No TVM here."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from typing_extensions import assert_never

from corpus.number_of import number_of
from corpus.store import CorruptCase, StoredCase, read_case
from fuzzer.campaign.interrupts import Interrupts
from fuzzer.commands.reduce_asked import ReduceOptions, read_predicate
from fuzzer.commands.reduce_output import ReductionOutput, identity
from fuzzer.commands.reduce_shown import Shown, shown
from fuzzer.errors import EnvironmentFault, UsageError, tell
from fuzzer.given_paths import case_folder
from fuzzer.oneshot.ask import ask
from fuzzer.oneshot.messages import (
    STOP,
    Better,
    Culprit,
    FaultLine,
    Keep,
    Kept,
    Note,
    NothingFails,
    OracleAnswer,
    Printed,
    Recorded,
    Reduction,
    Reply,
    Request,
    VariableValue,
)
from fuzzer.oneshot.read_case import judged_on, read_subject, refuse_groups
from fuzzer.processes.scratch import scratch_folder
from fuzzer.protocol import Done, Ready, Refused, Warned
from fuzzer.results import NothingToReduce, ReduceResult
from fuzzer.trust import admit, is_trusted_subject
from reports.summary import write_text
from reports.terminal import Terminal

SLACK_S = 600.0
"""Seconds beyond the budget: judging the start, and a last candidate that hangs."""
LONGER = 5
"""So many times as long is what a user is told to give a reduction whose time ran out."""


class Display(Protocol):
    """Shows a person how a reduction gets on."""

    def on_start(self, bindings: int, statements: int, passes: int) -> None: ...
    def on_better(self, bindings: int, statements: int, passes: int, trials: int) -> None: ...
    def on_end(self) -> None: ...


def reduce_case(path: Path, options: ReduceOptions, display: Display | None = None) -> ReduceResult | NothingToReduce:
    """The smallest case found in time that fails as the given one does, written to `options.output`.

    Kept is a failure under the passes: of several the one that a user minds most (`fuzzer.oneshot.keep`), as far as
    `options.keep` leaves a choice. The script is run to see that it shows the failure. With a predicate of the user's
    the script is the module that the predicate keeps, and passes are not applied. No walls are put around what is the
    user's own.

    Ctrl-C ends it with the smallest so far; where there is none yet, and where a second one does not wait for it,
    KeyboardInterrupt is raised and says what is there. Raises UsageError for
    what cannot be read or is ill-formed; EnvironmentFault for a TVM that does not work and for a failure that does not
    show again, which is then left as a script that is not confirmed.
    """
    request = _request(path, options)
    trusted = request.trust or is_trusted_subject(path)
    out = None if options.output is None else _output(options.output, request, options.interesting, trusted)
    before: dict[str, float] = {}
    if options.resume:
        request, before = _resumed(request, out)
        if out is not None and not trusted:
            admit(out.resume, request.case, options.load)
    reducing = _Reducing(request, out, display)
    try:
        reduction = reducing.reduction()
        if isinstance(reduction, NothingFails):
            return NothingToReduce(reduction.tried)
        reduction = replace_sizes(reduction, before)
        tries = max(options.keep.flaky, 1 if reduction.shows is None else 2)
        asked = (reduction, request.trust, tries, request.case.load, request.own)
        what = None if request.predicate is not None else shown(*asked)
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(_what_is_there(out, reducing.best)) from stop
    return _result(reduction, what, request, out)


def _what_is_there(out: ReductionOutput | None, best: Better | None) -> str:
    """What an interrupted reduction leaves."""
    if out is None and best is not None:
        return "something smaller was found, and nothing was written"
    if out is None or not out.written:
        return "nothing smaller was found, and nothing was written"
    return f"the smallest so far, not confirmed, is in {out.script}; --resume goes on"


def _request(path: Path, options: ReduceOptions) -> Request:
    """What the process is asked. Raises UsageError."""
    refuse_groups(options.passes)
    keep, predicate = options.keep, None
    if options.interesting is not None:
        predicate = read_predicate(options.interesting, keep, options.passes, path)
        if options.own.asked:
            raise UsageError("--interesting and --inputs, --rtol, --atol: a predicate of yours compares numbers itself")
    case = judged_on(read_subject(path, options.load, options.trust), options.target, path)
    if case.origin.captured and keep.oracle is None:  # What a user's command fails by is what he means.
        keep = replace(keep, rejections=True)
    if not options.trust:
        admit(path, case, options.load)
    return Request(
        "reduce",
        case,
        options.passes,
        keep,
        predicate,
        _recorded(path),
        options.time_s,
        subject=str(path),
        trust=options.trust or case.load is not None,
        own=options.own,
        jobs=options.jobs,
    )


def _output(path: Path, request: Request, interesting: str | None, trusted: bool) -> ReductionOutput:
    """Where the result goes, and what tells it from that of another reduction."""
    asked = identity(request.case, request.passes, request.keep.oracle, request.keep.message, interesting)
    return ReductionOutput(path, asked, trusted, request.recorded is None)


def replace_sizes(reduction: Reduction, before: dict[str, float]) -> Reduction:
    """The reduction with the sizes at the start of the one that it goes on with."""
    fields = {name: getattr(reduction, name) for name in reduction.__struct_fields__}
    return Reduction(**{**fields, "reduced": {**reduction.reduced, **before}})


def _recorded(path: Path) -> Recorded | None:
    """What the case in a folder is known to fail by; None for a module."""
    folder = case_folder(path)
    if folder is None:
        return None
    try:
        return _recorded_of(read_case(folder))
    except CorruptCase:
        return None  # said by who reads the case


def _recorded_of(stored: StoredCase) -> Recorded:
    return Recorded(stored.oracle, stored.symptom, stored.culprit, stored.message, stored.evidence)


def _resumed(request: Request, out: ReductionOutput | None) -> tuple[Request, dict[str, float]]:
    """The request that goes on with the best of an earlier reduction, and the sizes at its start."""
    if out is None:
        raise UsageError("--resume: there is no output to go on with")
    resumed = out.resumed()
    request = replace(request, own=replace(request.own, file="", arrays={}))  # The best so far has inputs of its own.
    if request.predicate is not None:
        case = judged_on(read_subject(resumed.folder / "module.py", None), request.case.target, resumed.folder)
        return replace(request, case=replace(case, load=request.case.load)), resumed.before
    try:
        stored = read_case(resumed.folder)
    except CorruptCase as error:
        raise UsageError(f"--resume: {error}") from error
    case = replace(stored.case, load=request.case.load)
    names = tuple(call.name for call in case.passes) if request.passes else ()
    return replace(request, case=case, passes=names, recorded=_recorded_of(stored)), resumed.before


# --- the process ----------------------------------------------------------------------------------------


def ask_to_stop(scratch: Path) -> None:
    """Has the process that reduces end with its smallest. A link that a case has left there is not followed."""
    path = scratch / STOP
    if path.is_symlink():
        path.unlink()
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))


@dataclass(slots=True)
class _Reducing:
    """Asks the process that reduces, and keeps what it sends."""

    request: Request
    out: ReductionOutput | None
    display: Display | None
    best: Better | None = None
    refused: Path | None = None
    scratch: Path = Path()
    interrupted: Callable[[], bool] = lambda: False

    def reduction(self) -> Reduction | NothingFails:
        with scratch_folder() as scratch, Interrupts() as interrupts:
            self.scratch, self.interrupted = scratch, lambda: interrupts.happened
            open_air = self.request.trust or self.request.predicate is not None
            request = replace(self.request, scratch=str(scratch), trust=open_air)
            try:
                replies = ask(request, request.time_s + SLACK_S, self._hear, self._look)
            except EnvironmentFault as fault:
                raise self._with_best(fault) from fault
            except UsageError as refusal:
                raise self._with_candidate(refusal) from refusal
            finally:
                if self.display is not None:
                    self.display.on_end()
        return next(reply for reply in replies if isinstance(reply, Reduction | NothingFails))

    def _with_best(self, fault: EnvironmentFault) -> EnvironmentFault:
        if self.best is None or self.out is None:
            return fault
        return EnvironmentFault(f"{fault}; the smallest so far, not confirmed, is in {self.out.script}")

    def _with_candidate(self, refusal: UsageError) -> UsageError:
        return UsageError(f"{refusal}; it was given {self.refused}") if self.refused is not None else refusal

    def _look(self) -> None:
        if not self.interrupted():
            return
        if self.best is None:
            raise KeyboardInterrupt
        ask_to_stop(self.scratch)

    def _hear(self, reply: Reply) -> None:
        match reply:
            case Kept(line, bindings, statements, passes, others):
                also = f"; also met: {'; '.join(others)}" if others else ""
                tell(f"keeps: {line}{also}")
                if self.out is not None:
                    self.out.before = self.out.before or reply.before
                if self.display is not None:
                    self.display.on_start(bindings, statements, passes)
            case Better():
                self.best = reply
                if self.out is not None:
                    self.out.better(reply)
                if self.display is not None:
                    self.display.on_better(reply.bindings, reply.statements, reply.passes, reply.calls)
            case Printed(text, candidate):
                self._show_first(text, candidate)
            case Reduction() | NothingFails() | Ready() | Refused() | Warned() | Done():
                pass  # `ask` gives them back, tells or raises.
            case OracleAnswer() | Culprit() | FaultLine() | Note() | VariableValue():
                pass  # What a check says.
            case _:
                assert_never(reply)

    def _show_first(self, text: str, candidate: str) -> None:
        """Shows what the predicate printed of the first candidate, and keeps that, if it is not the user's file."""
        terminal = Terminal(stderr=True)
        for line in text.splitlines():
            terminal.say(f"| {line}")
        if self.out is not None and candidate:
            self.refused = self.out.candidate
            write_text(self.refused, candidate)


# --- the result -----------------------------------------------------------------------------------------


def _result(reduction: Reduction, what: Shown | None, request: Request, out: ReductionOutput | None) -> ReduceResult:
    """Writes what was found, and says it. Raises EnvironmentFault where no fresh process shows it."""
    number = 0 if what is None else what.number
    confirmed = what is None or what.rate.each_time or (request.keep.flaky > 1 and what.rate.times > 0)
    if not confirmed:
        assert what is not None
        if out is not None:
            out.leave_unconfirmed(reduction, number)
        raise EnvironmentFault(_not_confirmed(reduction, what, request.keep, out))
    if out is not None:
        by_reference = what is not None and what.by_reference
        out.finish(reduction, number, None if what is None or what.rate.each_time else what.rate, by_reference)
    return ReduceResult(
        reduction.repros[number],
        reduction.reduced,
        reduction.finding,
        reduction.module_json,
        kept=reduction.kept,
        others=reduction.others,
        finished=reduction.finished,
        notes=_notes(reduction, what, request),
        steps=reduction.steps,
        known=reduction.known,
    )


def _not_confirmed(reduction: Reduction, what: Shown, keep: Keep, out: ReductionOutput | None) -> str:
    """In one line: that no fresh process shows it each time, its rates, and how to go on."""
    here = "" if reduction.shows is None else f" in {reduction.shows} tries here and"
    where = "" if out is None else f"; {out.unconfirmed} has what was found"
    flaky = reduction.shows is not None or what.rate.times > 0
    how = f"; --flaky {(reduction.shows or what.rate).tries} reduces with so many tries per candidate" if flaky else ""
    if flaky and not here and keep.flaky == 1:
        how = f"; --flaky {what.rate.tries} allows for it"
    if flaky:
        return f"flaky: {reduction.kept}: fails{here} in {what.rate} fresh processes{where}{how}"
    return f"fails here, but not in a fresh process ({what.rate} runs{what.said}){where}"


def _notes(reduction: Reduction, what: Shown | None, request: Request) -> tuple[str, ...]:
    notes = []
    if not reduction.finished:
        notes.append(_unfinished(reduction, request.time_s))
    if reduction.whole:
        notes.append(
            "bodies of functions are left as they are: built anew, the module does not fail, or TVM does not take it"
        )
    notes += [
        f"an error of passfuzz in the step {row.step!r}, which was passed over: {row.fault}"
        for row in reduction.steps
        if row.fault
    ]
    if what is not None and what.by_reference:
        notes.append(
            "TVM does not build or run what comes of it, so that the script ends with 2: `passfuzz check` has shown "
            "the failure by the reference (-o FOLDER keeps a case for it)"
        )
    if what is not None and not what.rate.each_time:
        notes.append(f"flaky: shows in {what.rate} fresh processes")
    if reduction.no_numbers:
        notes.append(f"numbers were not judged: {reduction.no_numbers}")
    return tuple(notes)


def _unfinished(reduction: Reduction, time_s: float) -> str:
    if reduction.stopped:
        return "interrupted; --resume goes on"
    if reduction.reduced["seconds"] < time_s / 2:
        return f"stopped after {number_of(int(reduction.reduced['oracle_calls']), 'trial')}; --resume goes on"
    return f"time ran out; --time {_written(LONGER * time_s)} --resume goes on"


def _written(seconds: float) -> str:
    """Seconds as the option takes them."""
    return f"{seconds / 60:g}m" if seconds >= 60 and seconds % 60 == 0 else f"{seconds:g}s"
