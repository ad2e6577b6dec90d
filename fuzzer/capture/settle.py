"""The process of `passfuzz capture` that makes cases of what was captured: each in a forked child. Loads TVM.

`python -m fuzzer.capture.settle PARENT` reads pickled Tasks and answers with a Made or a NotMade for each. The case is
that of the innermost pass which fails alone as it did in the command.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from corpus.causes.cause import cause_of
from corpus.escapes import Markdown, one_line
from corpus.readme import readme_text, seed_text
from corpus.scripts.module_text import text_of
from corpus.scripts.repro import repro_text
from corpus.store import MOST_TEXT, StoredCase, contents_of, write_contents
from fuzzer.capture.expression import guessed, pass_file, readable, row_for
from fuzzer.capture.messages import CaseMade, NotMade, Settled, Task
from fuzzer.capture.raw import Level
from fuzzer.processes.flight import Recorder
from fuzzer.processes.lines import in_child, send
from fuzzer.processes.scratch import scratch_folder
from fuzzer.protocol import Done, Failure
from fuzzer.trial.end_of_child import judged_end
from fuzzer.trial.load_file import first_line
from fuzzer.trial.repertoire import LoadFault, load_passes
from fuzzer.versions import tvm_version
from generators import externs, tvm_api
from generators.case import Case, Origin, PassCall
from generators.source import SeededSource
from generators.targets import of_kind
from oracles.activities import Applying, Working, described
from oracles.checks import survives
from oracles.family import go_on_guarded
from oracles.forked import ChildRaised, Ended, forked
from oracles.process_state import limit_memory
from oracles.reference.numbers import Numbers
from oracles.trace import Raised
from oracles.tvm_errors import headline
from oracles.verdict import CRASH, HANG, Failed
from oracles.workbench import Workbench

APPLY_S = 30.0
"""Seconds that the pass may take when it is tried again."""
MAKE_S = 600.0
MEMORY_BYTES = 4 << 30
MOST_TRIED = 4
"""Passes inside of each other that are tried alone, innermost first."""
LOADED = "passes.py"


@dataclass(frozen=True, slots=True)
class PassCandidate:
    """A pass that may be what fails, as a case constructs it. text: of the file that it is loaded from; "" for none."""

    level: Level
    case: Case
    module: tvm_api.IRModule
    text: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownAlone:
    """What a case shows alone. failed: its verdict, None where the pass gives a module."""

    failed: Failed | None
    same: bool


def make(task: Task) -> CaseMade | NotMade:
    """Makes the case in its folder."""
    refused: list[str] = []
    candidates = list(_candidates(task, refused))
    if not candidates:
        return NotMade(task.raw.levels[-1].name, one_line("; ".join(refused) or "nothing is known of it"))
    if task.why == "asked":
        chosen, shown = candidates[0], ShownAlone(None, True)
    else:
        tried = ((one, _shown(task, one)) for one in candidates)
        pairs = list(_until_same(islice(tried, MOST_TRIED)))
        chosen, shown = next((pair for pair in pairs if pair[1].same), pairs[0])
    _write(task, chosen, shown)
    call = chosen.case.passes[0]
    said = shown.failed.message if shown.failed is not None else one_line(task.raw.message)[:300]
    notes = (*chosen.notes, *(("the command caught the exception",) if task.why == "caught" else ()))
    if task.why != "asked" and not shown.same:
        other = f"fails otherwise: {shown.failed.message}" if shown.failed is not None else "gives a module"
        setting = f"target {chosen.level.target_text}, opt_level {chosen.level.opt_level}"
        notes += (f"the case alone {other}; the command had {setting}",)
    return CaseMade(str(task.out), chosen.level.name, str(call), said or task.how, shown.same, notes)


def _until_same(tried: Iterator[tuple[PassCandidate, ShownAlone]]) -> Iterator[tuple[PassCandidate, ShownAlone]]:
    for pair in tried:
        yield pair
        if pair[1].same:
            return


def _candidates(task: Task, refused: list[str]) -> Iterator[PassCandidate]:
    """The passes that ran inside of each other, innermost first, of which a constructor is known. Of calls that were
    asked for, that call alone."""
    levels = task.raw.levels[-1:] if task.why == "asked" else task.raw.levels[::-1]
    known = {level.name for level in levels if level.constructor}
    for level in levels:
        if not level.constructor and level.name in known:  # a pass around it of the same name is what was made
            continue
        expression = readable(level.constructor) if level.constructor else guessed(level.name)
        if not expression:
            refused.append("; ".join(level.unsaid) or f"no constructor of {level.name} is known")
            continue
        try:
            module = _module(task.raw.module(level), level.tvm)
        except Exception as error:  # noqa: BLE001 - the boundary to TVM: what it says of a text of another version
            refused.append(f"this TVM cannot read the module of {level.name}: {first_line(error)}")
            continue
        row = row_for(level.name, expression)
        text = ""
        if level.definitions or not row or len(expression) > MOST_TEXT >> 12:
            text, expression = pass_file(level.name, expression, level.definitions, bool(row))
        call = PassCall(row or level.name, expression, level.config)
        load = LOADED if text else None
        origin = Origin(file=level.test or level.place or task.command, captured=True)
        case = Case(text_of(module), (call,), target=of_kind(level.target), origin=origin, load=load)
        yield PassCandidate(level, case, module, text, tuple(_notes(level)))


def _module(text: str, version: str) -> tvm_api.IRModule:
    if version == tvm_api.VERSION and text.lstrip().startswith("{"):
        return tvm_api.module_from_json(text)
    return tvm_api.module_from_script(text)


def _notes(level: Level) -> Iterator[str]:
    if not level.constructor:
        yield "only the name of the pass was seen, so its arguments are the usual ones"
    if level.tvm != tvm_api.VERSION:
        yield f"the command ran on TVM {level.tvm}, passfuzz on {tvm_api.VERSION}"
    if level.unsaid:
        yield f"left out: {', '.join(level.unsaid)}"


# --- is it so -----------------------------------------------------------------------------------------------


def _shown(task: Task, candidate: PassCandidate) -> ShownAlone:
    """What the pass does to the module in a child, and whether it is what the command saw."""
    name = candidate.case.passes[0].name
    try:
        outcome = forked(lambda: _applied(candidate), APPLY_S)
    except ChildRaised as fault:
        return ShownAlone(Failed(CRASH, str(fault), "", name), False)
    if isinstance(outcome, Ended):
        end = judged_end(0, Applying(name), outcome, deadline_s=APPLY_S)
        if not isinstance(end, Failure):
            return ShownAlone(None, False)
        failed = Failed(end.symptom, end.message, end.detail, end.culprit, end.evidence)
        return ShownAlone(failed, task.why == "unended")
    if outcome is None:
        return ShownAlone(None, False)
    failed = replace(survives.crashed(outcome), culprit=name)
    if failed.evidence is not None and task.why == "unended":  # what has no end may have no memory
        return ShownAlone(failed, True)
    return ShownAlone(failed, outcome.kind == task.raw.kind and _alike(outcome.message, task.raw.message))


def _applied(candidate: PassCandidate) -> Raised | None:
    limit_memory(MEMORY_BYTES)
    with scratch_folder() as folder:
        names = {}
        if candidate.text:
            file = folder / LOADED
            file.write_text(candidate.text, encoding="utf-8")
            try:
                names = load_passes(file)[1]
            except LoadFault as fault:
                return Raised("LoadFault", str(fault), True, "")
        bench = Workbench(SeededSource(0), Numbers(candidate.module, ()), names, candidate.case.target)
        outcome = bench.apply(candidate.case.passes[0], candidate.module)
        return outcome if isinstance(outcome, Raised) else None


def _alike(one: str, other: str) -> bool:
    """Whether two messages of exceptions of one kind begin alike, but for numbers and addresses."""
    return _skeleton(one) == _skeleton(other)


def _skeleton(text: str) -> str:
    return "".join("#" if letter.isdigit() else letter for letter in headline(text))[:80]


# --- the folder ---------------------------------------------------------------------------------------------


def _write(task: Task, candidate: PassCandidate, shown: ShownAlone) -> None:
    name = candidate.level.name
    failed = shown.failed or Failed(HANG if task.why == "unended" else CRASH, one_line(task.raw.message)[:1000])
    fails = task.why != "asked"
    cause = cause_of(survives.ORACLE.name, failed, name) if fails else None
    stored = StoredCase(
        case=candidate.case,
        title=f"captured: {name}: {failed.message[:120]}" if fails else f"captured: what is given to {name}",
        oracle=survives.ORACLE.name,
        symptom=failed.symptom,
        culprit=candidate.case.passes[0].name,
        message=failed.message[:1000],
        expected=((tvm_version(), "fails" if fails and shown.failed is not None else "passes"),),
        evidence=failed.evidence,
        cause=None if cause is None else str(cause),
        blames=None if cause is None else cause.blames,
    )
    with scratch_folder() as folder:
        script = stored
        extra = {}
        if candidate.text:
            file = folder / LOADED
            file.write_text(candidate.text, encoding="utf-8")
            extra[LOADED] = candidate.text.encode()
            script = replace(stored, case=replace(stored.case, load=str(file)))
        repro = repro_text(script)
        if fails:
            readme = readme_text(script, repro, tvm_version(), detail=failed.detail)
        else:
            readme = seed_text(stored.title, candidate.level.test or candidate.level.place, name)
    readme += _how(task, candidate)
    write_contents(task.out, {**contents_of(stored, repro, readme), **extra}, made_here=True)


def _how(task: Task, candidate: PassCandidate) -> str:
    """The part of the report on the command."""
    level, code = candidate.level, Markdown.code
    rows = [
        ("command", code(task.command)),
        ("where", code(level.test or level.place)),
        ("inside of", code(" > ".join(level.inside)) if level.inside else Markdown("")),
        ("application", Markdown.of("number {} of {}", level.number, code(level.name))),
        ("target in scope", code(level.target_text) if level.target_text else Markdown("")),
        ("opt_level", Markdown.of("{}", level.opt_level)),
        *(("note", Markdown.of("{}", note)) for note in candidate.notes),
    ]
    lines = Markdown.joined("", (Markdown.of("- {}: {}\n", name, value) for name, value in rows if value))
    return Markdown.of("\n## Captured\n\n{}", lines)


def settle(task: Task) -> CaseMade | NotMade:
    """Makes the case in a child, whose end is a reason for none."""
    with scratch_folder() as scratch:
        recorder = Recorder.create(scratch / "flight")
        recorder.write(0, Working("making a case"))
        heard = in_child(lambda say: say(make(task)), Settled, recorder, MAKE_S)
    for message in heard.messages:
        if isinstance(message, (CaseMade, NotMade)):
            return message
    ended = heard.ended
    assert ended is not None, "a child that gets through says what it has made"
    how = ended.what or ended.how
    return NotMade(task.raw.levels[-1].name, f"the process that makes the case: {how} in {described(heard.activity)}")


def main() -> None:
    go_on_guarded(int(sys.argv[1]))
    tasks: list[Task] = pickle.load(sys.stdin.buffer)
    answers = os.dup(1)
    os.dup2(2, 1)  # what TVM prints is not an answer
    externs.register()
    say = partial(send, answers)
    for task in tasks:
        say(settle(task))
    say(Done())


if __name__ == "__main__":
    main()
