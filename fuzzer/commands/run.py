"""`passfuzz run`: a campaign, watched, with its results left under OUT and said at the end."""

from __future__ import annotations

from dataclasses import replace

from corpus.replayable import replayable
from corpus.store import CorruptCase
from fuzzer.campaign.begin import run_campaign
from fuzzer.campaign.checkpoint import read_checkpoint
from fuzzer.campaign.interrupts import Interrupts
from fuzzer.campaign.observer import Observers
from fuzzer.campaign.plan import MakesPlan, plan_of
from fuzzer.coverage.counting import Counting, counting
from fuzzer.errors import EnvironmentFault, ExitStatus, UsageError, tell
from fuzzer.render import console, print_json
from fuzzer.results import CampaignResult
from fuzzer.settings import Settings
from fuzzer.trust import warn_of_missing_walls
from fuzzer.versions import passfuzz_version, require_tvm, tvm_version
from oracles.builds.needs import missing
from reports.causes import headline
from reports.finding_row import FindingRow
from reports.formats import write_formats
from reports.live import LiveDisplay
from reports.out_writer import OutWriter
from reports.reached import Reached
from reports.summary import (
    UNCONFIRMED,
    UNREDUCED_FILE,
    Report,
    RunEnd,
    RunFacts,
    UnreadableOut,
    read_findings,
    unconfirmed_in,
)
from reports.terminal import Terminal
from reports.view import show_run
from reports.words import not_reduced, not_shown_again


def run_and_report(settings: Settings, as_json: bool) -> ExitStatus:
    """Runs the campaign and leaves every report format under OUT. Raises EnvironmentFault when nothing can run."""
    with Interrupts() as interrupts:
        require_tvm()
        rows: tuple[FindingRow, ...] = ()
        if settings.resume:
            settings = read_checkpoint(settings.out, settings.trust).begun.within(settings)
            rows = _rows_of(settings)
        settings = able(settings)
        counted = counting(settings)
        terminal = console(stderr=as_json)
        _tell_corrupt(settings)
        if settings.corpus is not None and not settings.trust:
            warn_of_missing_walls()
        writer = OutWriter(settings.out, _facts(settings), others=write_formats, rows=rows, reached=counted.reached)
        observers = Observers((writer, LiveDisplay(terminal)))
        result = run_campaign(settings, observers, interrupts, _counting_plan(counted))
        result = counted.noted_in(result)
        report = report_of(settings, result, counted.reached(result.wall_s))
        writer.write(report)
    if as_json:
        print_json(report.to_json())
    else:
        show_run(report, terminal)
    for note in result.notes:
        tell(f"warning: {note}")
    _say_last(settings, result, terminal, as_json)
    fault = result.fault()
    if fault is not None:
        tell(f"error: {fault}")
    return result.status(settings.fail_on)


def _counting_plan(counted: Counting) -> MakesPlan:
    """Whose workers count what of TVM they reach, where anything is counted."""
    return lambda settings, scratch: replace(plan_of(settings, scratch), probes=counted.probes())


def _rows_of(settings: Settings) -> tuple[FindingRow, ...]:
    """The findings of the run that is gone on with. Raises UsageError."""
    try:
        return read_findings(settings.out)
    except UnreadableOut as error:
        raise UsageError(f"--resume: {error}") from error


def _say_last(settings: Settings, result: CampaignResult, terminal: Terminal, as_json: bool) -> None:
    """Where the results are, and what is not in them; what is new, where that has not been shown. Last, on a line of
    its own, what nobody has made small yet: the counts of causes leave it out, and so does the exit status."""
    said = f"{headline(result.findings)}; " if as_json else ""
    said += f"reports are in {settings.out}"
    if number := unconfirmed_in(settings.out):
        said += f"; {not_shown_again(number)}: {settings.out / UNCONFIRMED}"
    terminal.say(said)
    if result.unreduced:
        terminal.say(
            f"{not_reduced(result.unreduced, result.unreduced_known)}: see {settings.out / UNREDUCED_FILE}; "
            f"`passfuzz run --resume --out {settings.out}` goes on"
        )


def able(settings: Settings) -> Settings:
    """The settings with the targets that this machine has what it needs for; a line on stderr for each of the others.

    Raises EnvironmentFault where none is left.
    """
    lacking = {target: why for target in settings.targets if (why := missing(target)) is not None}
    left = tuple(target for target in settings.targets if target not in lacking)
    for target, why in lacking.items():
        if not left:
            raise EnvironmentFault(f"--target {target}: {why}")
        tell(f"warning: --target {target}: left out: {why}")
    return replace(settings, targets=left)


def report_of(settings: Settings, result: CampaignResult, reached: Reached | None) -> Report:
    """A campaign's result as the report formats take it. reached: of TVM's own code."""
    fault = result.fault()
    ended: RunEnd = "fault" if fault is not None else "interrupted" if result.interrupted else "done"
    facts = replace(
        _facts(settings),
        wall_s=result.wall_s,
        interrupted=result.interrupted,
        own_fault=fault,
        ended=ended,
        unreduced=result.unreduced,
        unreduced_known=result.unreduced_known,
        unconfirmed=unconfirmed_in(settings.out),
        notes=result.notes,
        coverage=reached,
    )
    return Report(facts, result.tally, result.findings, facts.notes)


def _facts(settings: Settings) -> RunFacts:
    return RunFacts(
        tvm=tvm_version(),
        passfuzz=passfuzz_version(),
        seed=settings.seed,
        targets=settings.targets,
        shard=str(settings.shard),
        fail_on=settings.fail_on,
    )


def _tell_corrupt(settings: Settings) -> None:
    """A line on stderr for each case of --corpus that cannot be read; the others count."""
    for found in replayable(settings.corpus) if settings.corpus is not None else ():
        if isinstance(found.case, CorruptCase):
            tell(f"warning: --corpus: left out: {found.case}")
