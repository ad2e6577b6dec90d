"""Whether a failure is the one that a case records, and what that makes of the case on one TVM. No TVM here.

Two failures are one where they show in the same way and, for an exception, where they have one cause: the same by
`corpus.causes.cause`, or one that the registry has for the case, or the same message without names and numbers. A
script may show a bug in another way than the oracle that found it: what it said when it was found is recorded, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

from packaging.version import InvalidVersion, Version
from typing_extensions import assert_never

from corpus.case_record import ScriptOutcome
from corpus.causes.cause import cause_of
from corpus.causes.signature import message_of_failure, normalise, told_by
from corpus.portable.wording import in_words_of_today
from corpus.registry import Registry
from corpus.store import StoredCase
from fuzzer.replaying.ending import BrokenScript, Ending, Fails, Gone, Unportable, WrongByReference
from oracles.evidence import AnotherForm, Died, Hung, LeftForVm, NotReadBack, OutOfMemory, ReferenceTrap, SpoiltProcess
from oracles.verdict import CRASH, HANG, WRONG_RESULT, Failed
from reports.matrix import ReplayWord

SHORTEST = 12
"""Characters of a message that says anything."""
HEAD = 60
"""Characters at the start of a message that tell it from others; what follows quotes the program."""
QUOTE = 24
"""Characters of a sentence that stands somewhere in a message."""
MOST_LABELS = 4
Expected: TypeAlias = ScriptOutcome | Literal[""]
"""What is expected on a TVM; "" where nothing is known of it."""


def expected_on(case: StoredCase, version: str, registry: Registry | None = None) -> Expected:
    """What a script is expected to do on a version: what is recorded for it, or for the newest version that is recorded
    and at most as new. A cause that is fixed in it, as the registry has it, is expected to pass.

    A release candidate or a development version comes before its release and after the one before it.
    """
    entry = None if registry is None else registry.match(case.cause or "")
    if entry is not None and entry.is_fixed_in(version):
        return "passes"
    try:
        wanted = Version(version)
    except InvalidVersion:
        return case.outcome_on(version) or ""
    if not wanted.is_prerelease and (recorded := case.outcome_on(version)) is not None:
        return recorded
    older = [(at, outcome) for prefix, outcome in case.expected if (at := _version(prefix)) <= wanted]
    return max(older)[1] if older else ""


def _version(prefix: str) -> Version:
    """A recorded version; what cannot be compared is older than all others."""
    try:
        return Version(prefix or "0")
    except InvalidVersion:
        return Version("0")


def outcome_of(case: StoredCase, ending: Ending, expected: Expected, registry: Registry) -> ReplayWord:
    """The word for what a case does on a TVM."""
    match ending:
        case Gone():
            return "fixed" if expected == "fails" else "passes"
        case Fails():
            if ending.out_of_time and not _is_hang(case):
                return "error"
            return _failing(expected, is_recorded(case, ending, registry))
        case WrongByReference(known=known):
            return _failing(expected, known)
        case Unportable():
            return "unportable"
        case BrokenScript():
            return "error"
        case _:
            assert_never(ending)


def _failing(expected: Expected, known: bool) -> ReplayWord:
    if expected == "passes":
        return "regressed"
    return "fails as known" if known else "changed"


def is_recorded(case: StoredCase, failure: Fails, registry: Registry) -> bool:
    """Whether a failure is the one that the case records, or shows as it did when it was found."""
    if case.said and _says_as_then(case.said, failure):
        return True
    match failure.kind:
        case "hang":
            return _is_hang(case)
        case "exit":
            return isinstance(case.evidence, Died)
        case "signal":
            return isinstance(case.evidence, (Died, OutOfMemory)) or _runs_into_a_wall(case)
        case "check":
            return not _is_thrown(case) and _same_form(case, failure)
        case "exception":
            return not isinstance(case.evidence, (Died, Hung)) and _same_error(case, failure, registry)
        case _:
            assert_never(failure.kind)


def _says_as_then(recorded: str, failure: Fails) -> bool:
    """Whether an exception says, or a child ends, as the script did when it was found."""
    match failure.kind:
        case "signal" | "exit" | "hang":
            return told_by(failure.message) == recorded
        case "exception":
            return in_words_of_today(normalise(_message_of(failure))) == in_words_of_today(recorded)
        case "check":
            return False
        case _:
            assert_never(failure.kind)


def _message_of(failure: Fails) -> str:
    """What an exception says, after the name of its class without its modules."""
    kind, _, text = failure.error.partition(": ")
    return f"{kind.rpartition('.')[2]}: {text}"


def _is_hang(case: StoredCase) -> bool:
    return isinstance(case.evidence, Hung) or case.symptom == HANG


def _runs_into_a_wall(case: StoredCase) -> bool:
    """Whether the script shows an access out of bounds: its inputs then stand between pages that cannot be read."""
    return isinstance(case.evidence, ReferenceTrap) and case.evidence.kind == "out-of-bounds"


def _is_thrown(case: StoredCase) -> bool:
    """Whether something else than the script's own check showed the failure."""
    if isinstance(case.evidence, SpoiltProcess):
        return False
    return case.symptom == CRASH or isinstance(case.evidence, (Died, Hung, NotReadBack))


def _same_form(case: StoredCase, failure: Fails) -> bool:
    """Whether a wrong result differs in its values where it did so before, or in its form where it did so before."""
    if case.symptom != WRONG_RESULT and not isinstance(case.evidence, ReferenceTrap):
        return True
    of_type = isinstance(case.evidence, ReferenceTrap) and case.evidence.kind == "type"  # A value is not as annotated.
    return of_type or isinstance(case.evidence, AnotherForm) or not failure.of_form


def _same_error(case: StoredCase, failure: Fails, registry: Registry) -> bool:
    """Whether an exception has the cause that is recorded, says what is recorded, or what the cause does."""
    if isinstance(case.evidence, LeftForVm):  # What the oracle says of it is not what the build does.
        return True
    message = _message_of(failure)
    failed = Failed(case.symptom, message, failure.trace, case.culprit, case.evidence)
    cause = str(cause_of(case.oracle, failed, case.culprit))
    entry = registry.match(case.cause or "")
    known = {case.cause or "", *(() if entry is None else (entry.cause, *entry.also))} - {""}
    if in_words_of_today(cause) in map(in_words_of_today, known):
        return True
    recorded = message_of_failure(replace(failed, message=case.message))
    return _same_message(in_words_of_today(recorded), in_words_of_today(message))


def _same_message(recorded: str, message: str) -> bool:
    """Whether one text begins as the other does, or as a part of it after a colon, before which stands who speaks; or
    whether the record, made by hand, quotes a sentence."""
    quoted = normalise(recorded)
    if len(quoted) >= QUOTE and quoted in normalise(message):
        return True
    one, other = (_parts(normalise(text)) for text in (recorded, message))
    return any(a.startswith(b[:HEAD]) or b.startswith(a[:HEAD]) for a in one for b in other)


def _parts(text: str) -> list[str]:
    """The text, and what is left of it after each of its first colons."""
    words = text.split(": ")
    parts = [": ".join(words[at:]) for at in range(min(len(words), MOST_LABELS + 1))]
    return [part for part in parts if len(part) >= SHORTEST and " " in part]
