"""`passfuzz replay`: runs the repro of every corpus case on one or several TVMs and compares with what is recorded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from corpus.number_of import number_of
from corpus.registry import Registry
from corpus.replayable import CORPUS, Replayable, replayable
from corpus.store import StoredCase
from fuzzer.errors import EnvironmentFault, UsageError, tell
from fuzzer.known_causes import read_known_causes
from fuzzer.replaying.case import REPRO, Replayer
from fuzzer.replaying.environments import check_name, find_tvm
from fuzzer.replaying.journal import Journal, key_of
from fuzzer.replaying.warm import WarmTvm, started
from fuzzer.results import ReplayResult
from fuzzer.settings import available_cpus
from fuzzer.trust import is_trusted
from fuzzer.versions import require_tvm
from oracles.verdict import HANG
from reports.matrix import Column, ReplayRow
from reports.terminal import Terminal

Advance: TypeAlias = Callable[[], None]
NOT_OURS = "not of this machine's making: replaying runs its repro.py as a program; --trust does"


@dataclass(frozen=True, slots=True)
class _Task:
    """What is done on every TVM. refused: why the scripts of some cases do not run, by slug. jobs: how many cases at
    once."""

    cases: Sequence[Replayable]
    refused: Mapping[str, str]
    registry: Registry
    journal: Journal
    trust: bool
    jobs: int


def replay(
    corpus: Path | None,
    versions: Sequence[str],
    trust: bool = False,
    known: Path | None = None,
    jobs: int | None = None,
    resume: bool = False,
) -> ReplayResult:
    """A column for each TVM, with a row for each case. None is the corpus that comes with passfuzz, no version the
    installed TVM, no number of jobs one for each CPU.

    versions: as `--tvm` has them. trust: whether scripts of another user may run, and all of them without walls around
    them. known: the registry of known causes. resume: rows of an interrupted replay of this corpus are taken as they
    are, where neither the case nor the TVM has changed.

    A TVM that cannot be had has a column that says why. Raises UsageError where there is no case, for a `--tvm` that
    can be none, or no case but those that only trust has run; EnvironmentFault where no TVM is named and the
    installed one does not work.
    """
    begun = time.monotonic()
    folder = CORPUS if corpus is None else corpus
    for given in versions:
        check_name(given)
    registry = read_known_causes(known, "").registry
    cases = read_cases(folder)
    refused = {} if trust else {found.slug: why for found in cases if (why := _refusal(found))}
    if len(refused) == len(cases):
        raise UsageError(f"{folder}: {number_of(len(cases), 'case')}, {NOT_OURS}")
    if not versions:
        require_tvm()
    journal = Journal(folder, resume)
    task = _Task(cases, refused, registry, journal, trust, jobs or available_cpus())
    columns: list[Column] = []
    rows: list[ReplayRow] = []
    for given in dict.fromkeys(versions or ("",)):
        column, found = _column(given, columns, task)
        columns.append(column)
        rows += found
    journal.done()
    return ReplayResult(tuple(rows), tuple(columns), round(time.monotonic() - begun, 3))


def read_cases(folder: Path) -> list[Replayable]:
    """The cases of a corpus. Raises UsageError where there is none."""
    try:
        cases = list(replayable(folder))
    except NotADirectoryError as error:
        raise UsageError(str(error)) from error
    if not cases:
        raise UsageError(f"{folder}: no case in it")
    return cases


def _refusal(found: Replayable) -> str:
    """Why the script of a case must not run without --trust; empty where it may, or there is nothing to run."""
    scripted = isinstance(found.case, StoredCase) and (found.folder / REPRO).is_file()
    return NOT_OURS if scripted and not is_trusted(found.folder) else ""


def _column(given: str, others: Sequence[Column], task: _Task) -> tuple[Column, list[ReplayRow]]:
    """A column with its rows; without any, and with the reason, where its TVM cannot be had."""
    try:
        with started(find_tvm(given)) as warm:
            column = Column(_label(given, warm.greeting.version, others), warm.greeting.version, given)
            return column, _rows(Replayer(warm, column.label, task.registry, task.trust), task)
    except EnvironmentFault as error:
        if not given:
            raise EnvironmentFault(f"{error}; `passfuzz doctor` looks closer") from error
        tell(f"warning: {error}")
        return Column(given, given=given, fault=str(error)), []


def _label(given: str, version: str, others: Sequence[Column]) -> str:
    """The version, and what the user has named where that says more, or another column has the version."""
    taken = version in [other.label for other in others]
    return f"{version} ({given})" if "/" in given or taken else version


def _rows(replayer: Replayer, task: _Task) -> list[ReplayRow]:
    cases, journal = task.cases, task.journal
    build = _build(replayer.warm)
    keys = {found.slug: key_of(found.folder, build) for found in cases}
    kept = {slug: row for slug, key in keys.items() if (row := journal.row(key, replayer.label)) is not None}
    done = kept | {slug: ReplayRow(slug, replayer.label, "error", why) for slug, why in task.refused.items()}
    left = sorted((found for found in cases if found.slug not in done), key=_waits_less)
    with _progress(replayer.label, cases=len(cases), kept=len(kept), done=len(done)) as tick:
        pool = ThreadPoolExecutor(task.jobs)
        try:
            for future in as_completed([pool.submit(replayer.row, found) for found in left]):
                row = future.result()
                done[row.case] = row
                journal.keep(keys[row.case], row)
                tick()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        pool.shutdown()
    return [done[found.slug] for found in cases]


def _build(warm: WarmTvm) -> str:
    return f"{warm.tvm.python} {warm.greeting.version} {warm.greeting.file} {warm.greeting.stamp}"


def _waits_less(found: Replayable) -> bool:
    """Sorts what waits for a hang before all others, so that nothing waits for it at the end."""
    return not (isinstance(found.case, StoredCase) and found.case.symptom == HANG)


@contextmanager
def _progress(label: str, *, cases: int, kept: int, done: int) -> Iterator[Advance]:
    """A bar on stderr, or two lines where that is no terminal. done: those of the cases that there is nothing to do
    about, of which `kept` were judged before."""
    terminal = Terminal(stderr=True)
    if not terminal.is_terminal:
        tell(f"TVM {label}: {number_of(cases, 'case')}" + (f", {kept} of them judged before" if kept else ""))
        yield lambda: None
        return
    bar = Progress(
        TextColumn("TVM {task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=terminal
    )
    with bar:
        task = bar.add_task(label, total=cases, completed=done)
        yield lambda: bar.advance(task)
