"""The files of a plan, which travel to the nodes by content: the `--load` file and the case folders of `--corpus`.

On a node they lie in a scratch folder, and the plan is rewritten to name them there. What goes back names the files of
the campaign's machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
from msgspec import Struct

from corpus.arrays_file import MOST_ARRAYS
from corpus.finding import Finding
from corpus.finding_bytes import from_bytes, to_bytes
from corpus.regular_files import read_regular
from corpus.replayable import case_folders
from fuzzer.protocol import Answer, Command, Confirm, Confirmed, Plan, Reduced

_LOAD, _CORPUS = "load", "corpus"


class Baggage(Struct, frozen=True):
    """Files by the place that they have in the scratch folder: its parts, and the content."""

    files: list[tuple[tuple[str, ...], bytes]]


def pack(plan: Plan) -> bytes:
    """The files that a plan names. Raises OSError. Of a case folder, those that lie directly in it."""
    files: list[tuple[tuple[str, ...], bytes]] = []
    if plan.load is not None:
        files.append(((_LOAD, Path(plan.load).name), Path(plan.load).read_bytes()))
    if plan.corpus is not None:
        corpus = Path(plan.corpus)
        for folder in case_folders(corpus):
            inside = folder.relative_to(corpus).parts
            for path in sorted(path for path in folder.iterdir() if path.is_file()):
                files.append(((_CORPUS, *inside, path.name), read_regular(path, MOST_ARRAYS)))
    return msgspec.msgpack.encode(Baggage(files))


def unpack(baggage: bytes, plan: Plan, scratch: Path) -> Plan:
    """Leaves the files under `scratch`: the plan that names them there. Raises OSError."""
    for parts, content in msgspec.msgpack.decode(baggage, type=Baggage).files:
        path = scratch.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    load = None if plan.load is None else str(scratch / _LOAD / Path(plan.load).name)
    corpus = None if plan.corpus is None else str(scratch / _CORPUS)
    if corpus is not None:
        Path(corpus).mkdir(exist_ok=True)
    return replace(plan, load=load, corpus=corpus, scratch=str(scratch))


@dataclass(frozen=True, slots=True)
class Paths:
    """Between the names that a plan's files have on the campaign's machine and on this node."""

    there: Plan
    here: Plan

    def arriving(self, command: Command) -> Command:
        """A command of the campaign as the worker of this node takes it."""
        if isinstance(command, Confirm):
            return msgspec.structs.replace(command, finding=_moved(command.finding, self.there, self.here))
        return command

    def leaving(self, answer: Answer) -> Answer:
        """An answer of the worker as the campaign takes it."""
        if isinstance(answer, (Reduced, Confirmed)) and answer.finding is not None:
            return msgspec.structs.replace(answer, finding=_moved(answer.finding, self.here, self.there))
        return answer


def _moved(data: bytes, from_plan: Plan, to_plan: Plan) -> bytes:
    """A finding in bytes whose case names the files of the other plan."""
    if from_plan.load is None and from_plan.corpus is None:
        return data
    return to_bytes(_moved_finding(from_bytes(data), from_plan, to_plan))


def _moved_finding(finding: Finding, from_plan: Plan, to_plan: Plan) -> Finding:
    case, whole = finding.case, finding.unreduced
    load = to_plan.load if case.load == from_plan.load else case.load
    origin = replace(case.origin, file=_seed(case.origin.file, from_plan.corpus, to_plan.corpus))
    moved = None if whole is None else _moved_finding(whole, from_plan, to_plan)
    return replace(finding, case=replace(case, load=load, origin=origin), unreduced=moved)


def _seed(file: str | None, from_corpus: str | None, to_corpus: str | None) -> str | None:
    if file is None or from_corpus is None or to_corpus is None or not Path(file).is_relative_to(from_corpus):
        return file
    return str(Path(to_corpus) / Path(file).relative_to(from_corpus))
