"""Numbers of blocks: reached in a folder, a file, the files of a pass; reached by one and not by another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fuzzer.coverage.hits import Hits, UnreadableHits, read_hits
from fuzzer.coverage.sources import FOLDERS
from reports.reached import ALL, Grown, Reached

FIRST_S = 15.0
"""Seconds of a run after which growth is noted first."""
STEP = 1.3
"""From then on whenever so many times the seconds have passed."""
_SOURCE = re.compile(r"src/(?:[\w.+-]+/)*[\w.+-]+\.cc")


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """The blocks of a folder, a file or a pass. reached: by what is shown; theirs: by what it is compared with; both;
    each None without that."""

    name: str
    blocks: int
    reached: int
    theirs: int | None = None
    both: int | None = None

    @property
    def missed(self) -> int:
        """What only the other has reached; without another, what was not reached."""
        return self.blocks - self.reached if self.theirs is None or self.both is None else self.theirs - self.both


def rows(hits: Hits, named: Mapping[str, Iterable[str]], other: Hits | None = None) -> list[CoverageRow]:
    """A row for each name, of the files that stand under it."""
    starts = {run.file: (run.start, run.end) for run in hits.runs}
    cumulated = [_cumulated(hits.hit)]
    if other is not None:
        cumulated += [_cumulated(other.hit), _cumulated(hits.hit & other.hit)]
    found = []
    for name, files in named.items():
        spans = [starts[file] for file in files if file in starts]
        counts = [sum(int(sums[end] - sums[start]) for start, end in spans) for sums in cumulated]
        if spans:
            found.append(CoverageRow(name, sum(end - start for start, end in spans), *counts))
    return found


def by_folder(hits: Hits) -> dict[str, list[str]]:
    """The files of each of FOLDERS, and those of TVM in all."""
    files = [run.file for run in hits.runs]
    inside = {folder: [file for file in files if file.startswith(f"src/{folder}/")] for folder in FOLDERS}
    return {**{folder: of for folder, of in inside.items() if of}, ALL: files}


def by_file(hits: Hits) -> dict[str, list[str]]:
    """Each file by itself, without `src/`."""
    return {run.file.removeprefix("src/"): [run.file] for run in hits.runs}


def by_pass(reasons: Mapping[str, str]) -> dict[str, list[str]]:
    """The source files of each pass. reasons: what the rows of the passes say of their source."""
    named = {name: list(dict.fromkeys(_SOURCE.findall(reason))) for name, reason in reasons.items()}
    return {name: files for name, files in sorted(named.items()) if files}


def _cumulated(hit: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(hit, dtype=np.int64)))


@dataclass(slots=True)
class Meter:
    """What a run has reached, read while it counts. growth: what was noted so far."""

    hits: Path
    growth: list[Grown] = field(default_factory=list)

    def __call__(self, now: float) -> Reached | None:
        """At `now` seconds of the run; None where nothing is counted."""
        try:
            hits = read_hits(self.hits)
        except UnreadableHits:
            return None
        if not hits.hit.any():
            return None
        found = rows(hits, by_folder(hits))
        reached = {row.name: row.reached for row in found}
        due = FIRST_S if not self.growth else self.growth[-1].at_s * STEP
        if now >= due:
            self.growth.append(Grown(round(now, 1), reached))
        return Reached(hits.build_id, reached, {row.name: row.blocks for row in found}, tuple(self.growth))
