"""`passfuzz run`: a campaign, watched, with its results left under OUT and said at the end."""

from __future__ import annotations

import sys
from dataclasses import replace

from corpus.replayable import replayable
from corpus.store import CorruptCase
from fuzzer.campaign.loop import run_campaign
from fuzzer.campaign.observer import Observers
from fuzzer.errors import EnvironmentFault, ExitStatus, PassfuzzError
from fuzzer.render import console, print_json
from fuzzer.results import CampaignResult
from fuzzer.settings import Settings
from fuzzer.versions import passfuzz_version, require_tvm, tvm_version
from oracles.builds.needs import missing
from reports.finding_row import row_of
from reports.formats import FORMATS
from reports.live import LiveDisplay
from reports.out_writer import OutWriter
from reports.summary import Report, RunFacts, write_out
from reports.view import show


def run_and_report(settings: Settings, as_json: bool) -> ExitStatus:
    """Runs the campaign and leaves every report format under OUT. Raises EnvironmentFault when nothing can run."""
    require_tvm()
    settings = able(settings)
    _make_out(settings)
    terminal = console(stderr=as_json)
    _tell_corrupt(settings)
    observers = Observers((OutWriter(settings.out, _facts(settings)), LiveDisplay(terminal)))
    try:
        result = run_campaign(settings, observers)
    except PassfuzzError:
        _leave_no_empty(settings)
        raise
    report = report_of(settings, result)
    write_out(settings.out, report)
    for row in FORMATS:
        row.write(settings.out, report)
    if as_json:
        print_json(report.to_json())
    else:
        show(report, terminal)
        terminal.print(f"reports are in {settings.out}", markup=False, highlight=False, soft_wrap=True)
    fault = result.fault()
    if fault is not None:
        print(f"passfuzz: error: {fault}", file=sys.stderr)
    return result.status(settings.fail_on)


def able(settings: Settings) -> Settings:
    """The settings with the targets that this machine has what it needs for; a line on stderr for each of the others.

    Raises EnvironmentFault where none is left.
    """
    lacking = {target: why for target in settings.targets if (why := missing(target)) is not None}
    left = tuple(target for target in settings.targets if target not in lacking)
    for target, why in lacking.items():
        if not left:
            raise EnvironmentFault(f"--target {target}: {why}")
        print(f"passfuzz: warning: --target {target}: left out: {why}", file=sys.stderr)
    return replace(settings, targets=left)


def report_of(settings: Settings, result: CampaignResult) -> Report:
    """A campaign's result as the report formats take it."""
    facts = _facts(settings, result.wall_s, result.interrupted, result.fault())
    return Report(facts, result.tally, tuple(row_of(finding) for finding in result.findings))


def _facts(
    settings: Settings, wall_s: float = 0.0, interrupted: bool = False, own_fault: str | None = None
) -> RunFacts:
    return RunFacts(
        tvm=tvm_version(),
        passfuzz=passfuzz_version(),
        seed=settings.seed,
        targets=settings.targets,
        wall_s=wall_s,
        shard=str(settings.shard),
        interrupted=interrupted,
        own_fault=own_fault,
    )


def _tell_corrupt(settings: Settings) -> None:
    """A line on stderr for each case of --corpus that cannot be read; the others count."""
    for found in replayable(settings.corpus) if settings.corpus is not None else ():
        if isinstance(found.case, CorruptCase):
            print(f"passfuzz: warning: --corpus: left out: {found.case}", file=sys.stderr)


def _leave_no_empty(settings: Settings) -> None:
    """Removes the results folder of a campaign that was refused, unless something is in it."""
    if not any(settings.out.iterdir()):
        settings.out.rmdir()


def _make_out(settings: Settings) -> None:
    try:
        settings.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EnvironmentFault(f"--out {settings.out}: cannot be made: {error.strerror}") from error
