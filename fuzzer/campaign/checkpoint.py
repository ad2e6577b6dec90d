"""What a campaign needs to go on after it has ended, or was killed: OUT/resume.json, one consistent moment of it.

It names a file that is loaded and holds scripts that are run, so that it begins with a mark of who wrote it
(`corpus.own`), and another user's is gone on with only where the user asks for that.

And for people, OUT/unreduced.jsonl: what was seen and is not a finding yet.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import msgspec
from msgspec import Struct

from corpus import own
from corpus.finding_bytes import is_readable
from corpus.regular_files import read_regular
from corpus.store import why, write_atomically
from fuzzer.campaign.deck import Deck
from fuzzer.campaign.docket import AlikeFailures, Docket, FailureKey, Open
from fuzzer.engines.messages import Versions
from fuzzer.errors import UsageError
from fuzzer.processes.lines import line_of
from fuzzer.protocol import Failure, Sample, TriedDraws
from fuzzer.settings import Settings, Shard
from reports.finding_row import FindingRow
from reports.summary import MOST, UNREDUCED_FILE, write_text
from reports.tally import Count, Tally

CHECKPOINT_FILE = "resume.json"
SCHEMA = 1


class Begun(Struct, frozen=True):
    """The options that decide which cases a campaign has and how they are judged."""

    seed: int
    targets: tuple[str, ...]
    passes: tuple[str, ...]
    oracles: tuple[str, ...]
    load: str | None
    corpus: str | None
    known: str | None
    shard: tuple[int, int]
    cases: int | None = None
    """How many at most, of a run without a limit of time."""

    @staticmethod
    def with_settings(settings: Settings) -> Begun:
        """Those of `settings`; paths absolute."""
        load, corpus, known = (
            None if path is None else str(path.absolute()) for path in (settings.load, settings.corpus, settings.known)
        )
        shard = (settings.shard.index, settings.shard.count)
        chosen = (settings.targets, settings.passes, settings.oracles)
        cases = settings.cases if settings.time_s is None else None
        return Begun(settings.seed, *chosen, load, corpus, known, shard, cases)

    def within(self, settings: Settings) -> Settings:
        """The settings with these options. Where they name no end of their own, it goes on to its number of cases."""
        load, corpus, known = (None if path is None else Path(path) for path in (self.load, self.corpus, self.known))
        to_its_end = not settings.end_is_given and self.cases is not None
        return replace(
            settings,
            time_s=None if to_its_end else settings.time_s,
            cases=self.cases if to_its_end else settings.cases,
            seed=self.seed,
            targets=self.targets,
            passes=self.passes,
            oracles=self.oracles,
            load=load,
            corpus=corpus,
            known=known,
            shard=Shard(*self.shard),
        )


class Checkpoint(Struct):
    """One moment of a campaign. later: failures of cases that were answered before an earlier case.

    early: sightings of findings that are not confirmed yet, by signature. versions: what it ran with, None where an
    older passfuzz wrote it. samples: what a second process has not answered. tried: which draws its cases resemble,
    None where that is not known yet.
    """

    schema: int
    begun: Begun
    wall_s: float
    tally: Tally
    deck: Deck
    places: list[tuple[FailureKey, AlikeFailures]]
    given_up: list[Open]
    later: dict[int, list[tuple[Failure, float]]]
    rows: list[FindingRow]
    early: dict[str, Count] = {}
    versions: Versions | None = None
    samples: list[Sample] = []
    tried: TriedDraws | None = None


def write_checkpoint(out: Path, checkpoint: Checkpoint) -> None:
    """Writes OUT/resume.json whole or not at all. Raises OSError."""
    write_atomically(out / CHECKPOINT_FILE, _marked(line_of(checkpoint)))


def _marked(data: bytes) -> bytes:
    """A JSON object with the mark of its bytes as its first member; as it is where no mark can be had."""
    mark = own.mark_of({CHECKPOINT_FILE: data})
    return data if mark is None else b'{"mark":"%s",%s' % (mark.strip(), data.removeprefix(b"{"))


_MARKED = re.compile(rb'\{"mark":"([0-9a-f]+)",')


def _is_own(data: bytes) -> bool:
    """Whether this user's passfuzz has written these bytes."""
    found = _MARKED.match(data)
    return found is not None and own.is_own_mark(found[1] + b"\n", {CHECKPOINT_FILE: b"{" + data[found.end() :]})


class _RawRows(Struct):
    rows: list[dict[str, object]]


def _rows(data: bytes, rows: list[FindingRow]) -> list[FindingRow]:
    """The rows, those that an older passfuzz wrote with what it said instead of evidence."""
    raw = msgspec.json.decode(data, type=_RawRows).rows
    return [row if "evidence" in one else FindingRow.from_json(one) for row, one in zip(rows, raw, strict=True)]


def read_checkpoint(out: Path, trust: bool = False) -> Checkpoint:
    """The campaign that was begun in a folder. Raises UsageError where there is none, or none that can be read, or,
    without `trust`, one that another user has begun.

    A finding of it that cannot be read is reduced again.
    """
    path = out / CHECKPOINT_FILE
    try:
        data = read_regular(path, MOST)
        checkpoint = msgspec.json.decode(data, type=Checkpoint)
        checkpoint.rows = _rows(data, checkpoint.rows)
    except FileNotFoundError:
        raise UsageError(f"--resume: {path}: no such file; is {out} the --out folder of a run?") from None
    except (OSError, msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise UsageError(f"--resume: {path}: cannot be read: {why(error)}") from error
    if checkpoint.schema != SCHEMA:
        raise UsageError(f"--resume: {path}: schema {checkpoint.schema}; this passfuzz reads {SCHEMA}")
    if not (trust or _is_own(data)):
        raise UsageError(
            f"--resume: {path}: was not written here by you as it is; what it names is loaded and run: "
            "--trust takes it all the same"
        )
    for _, place in checkpoint.places:
        if place.open is not None and not is_readable(place.open.finding):
            place.open.finding = None
    return checkpoint


def refuse_other_tvm(out: Path, then: Versions | None, now: Versions) -> str:
    """What has changed since a campaign was begun and changes its cases, in a line for the user; "" for nothing.

    Raises UsageError where TVM is another one: its counts and findings would stand beside those of the first under one
    version, and what one TVM has failed is not there to be reduced in the other.
    """
    if then is None:
        return ""
    for name, was, has in (("TVM", then.tvm, now.tvm), ("apache-tvm-ffi", then.ffi, now.ffi)):
        if was != has:
            raise UsageError(
                f"--resume: {out}: was begun with {name} {was}, and this is {has}: go on with that one, or begin a run "
                "of this one with another --out"
            )
    others = (("passfuzz", then.passfuzz, now.passfuzz), ("Python", then.python, now.python))
    changed = [f"{name} {was}, and this is {has}" for name, was, has in others if was != has]
    if not changed and then.sources != now.sources:
        changed = ["other sources of passfuzz"]
    if not changed:
        return ""
    return f"--resume: {out}: was begun with {'; '.join(changed)}: what a case is may have changed since"


def write_unreduced(out: Path, seed: int, docket: Docket) -> None:
    """Writes OUT/unreduced.jsonl: an object for each failure that is seen and not settled. Raises OSError."""
    rows = (failure_row(seed, one) for one in docket.unsettled)
    write_text(out / UNREDUCED_FILE, "".join(f"{json.dumps(row)}\n" for row in rows))


def failure_row(seed: int, one: Open) -> dict[str, object]:
    """What is known of a failure that is no finding, as a line of a file says it."""
    failure = one.failure
    return {
        "seed": seed,
        "index": failure.index,
        "oracle": failure.oracle,
        "culprit": failure.culprit,
        "symptom": failure.symptom,
        "tier": failure.tier,
        "message": failure.message,
        "at_s": round(one.at_s, 3),
        "stage": one.stage,
        "looks_known": one.looks_known,
        "why": one.why,
        **({"traceback": one.said} if one.said else {}),
    }
