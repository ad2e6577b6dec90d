"""What a campaign counts of TVM's blocks: nothing where that was not asked for, or cannot be, which is said once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from fuzzer.coverage.count import Meter
from fuzzer.coverage.ground import Ground, NoCoverage, ground
from fuzzer.coverage.hits import HITS_FILE, UnreadableHits, read_hits
from fuzzer.coverage.probes import Probes
from fuzzer.errors import tell
from fuzzer.results import CampaignResult
from fuzzer.settings import Settings
from reports.reached import Grown, Reached
from reports.summary import UnreadableOut, read_out


@dataclass(frozen=True, slots=True)
class Counting:
    """Of one campaign. ground: None where nothing is counted."""

    ground: Ground | None
    meter: Meter

    def probes(self) -> Probes | None:
        """With which workers count, into the file of the run that is gone on with, or into a new one."""
        if self.ground is None:
            return None
        path = self.meter.hits
        try:
            if path.exists() and _is_of(path, self.ground):
                return self.ground.counting_into(path)
            return self.ground.probes(path)
        except OSError as error:
            tell(_without(f"{path}: {error.strerror}"))
            return None

    def reached(self, now: float) -> Reached | None:
        """What has been reached after `now` seconds."""
        return None if self.ground is None else self.meter(now)

    def noted_in(self, result: CampaignResult) -> CampaignResult:
        """The result, with a note where workers could not count."""
        if not result.uncounted:
            return result
        return replace(result, notes=(*result.notes, f"--coverage: not counted: {result.uncounted}"))


def counting(settings: Settings) -> Counting:
    """What a campaign with these settings counts. A run that was begun with --coverage is gone on with so."""
    path = settings.out / HITS_FILE
    meter = Meter(path)
    if not (settings.coverage or (settings.resume and path.exists())):
        return Counting(None, meter)
    if settings.on != "local":
        tell(_without(f"workers on {settings.on.partition(':')[0]} are not counted"))
        return Counting(None, meter)
    try:
        found = ground(lambda line: tell(f"--coverage: {line}"))
    except NoCoverage as error:
        tell(_without(str(error)))
        return Counting(None, meter)
    if settings.resume:
        meter.growth.extend(_grown(settings, found))
    return Counting(found, meter)


def _is_of(path: Path, ground: Ground) -> bool:
    """Whether a file of hits is of the library that is counted."""
    try:
        hits = read_hits(path)
    except UnreadableHits:
        return False
    return (hits.build_id, len(hits.hit)) == (ground.blocks.build_id, ground.blocks.count)


def _grown(settings: Settings, ground: Ground) -> tuple[Grown, ...]:
    """The growth of the run that is gone on with, where it is of the same library."""
    try:
        before = read_out(settings.out).facts.coverage
    except UnreadableOut:
        return ()
    return before.growth if before is not None and before.build_id == ground.blocks.build_id else ()


def _without(why: str) -> str:
    return f"warning: --coverage: {why}; the run goes on without"
