"""`passfuzz report`: the results of a run shown again or written in other formats, from the files alone."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from corpus.escapes import inert, one_line
from corpus.number_of import number_of
from corpus.registry import BadRegistry, KnownCause, change_entries
from corpus.signature_baseline import add_known
from corpus.store import CorruptCase
from fuzzer.commands.promote import not_written, registry_to_edit
from fuzzer.commands.triage import Triage, first_version, refuse_those, told_again
from fuzzer.errors import EnvironmentFault, UsageError, of_system, tell
from fuzzer.known_causes import Known, is_baseline
from fuzzer.render import console, print_json
from reports.causes import CauseRow
from reports.formats import FORMATS, format_named, write_formats
from reports.merge import NoMerge, read_outs, write_merged
from reports.summary import Report, UnreadableOut
from reports.view import show


def report_on(
    outs: Sequence[Path],
    formats: Sequence[str],
    merge: Path | None,
    as_json: bool,
    known: Known | None = None,
    update: Path | None = None,
    trust: bool = False,
) -> None:
    """Writes each format into the (merged, or first) folder; a single one goes to stdout as well.

    Without a format: a summary for people, or with `as_json` the merged summary.json. known: what to count as known,
    None for what the runs said. With `update`, the causes of the findings are added to that registry, which is made if
    need be and whose entries stay, with a case for each; that is said instead of the summary. A baseline of signatures,
    as older versions wrote them, gets signatures. trust: as of `fuzzer.commands.promote.promote`.
    """
    folder = outs[0] if merge is None else merge
    try:
        report = read_outs(outs) if merge is None else _merged(outs, merge)
        if known is not None:
            retold = replace(known, tvm=first_version(report))
            report = replace(report, findings=tuple(told_again(retold, row) for row in report.findings))
        written = write_formats(folder, report, formats) if formats else {}
    except (UnreadableOut, NoMerge) as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise EnvironmentFault(f"cannot write into {one_line(folder)}: {one_line(of_system(error))}") from error
    paths = {name: str(path) for name, path in written.items()}
    for note in report.notes:
        tell(f"warning: {one_line(note)}")
    if update is not None:
        where = outs if merge is None else (merge,)
        said = _add_to(update, Triage(tuple(where), update, report, date.today(), trust))
        if not paths and not as_json:
            print(said)
            return
        paths["update"] = str(update)
    _print(report, paths, as_json)


def _merged(outs: Sequence[Path], into: Path) -> Report:
    """The merge, written; reports of an earlier one in the same folder are gone."""
    report = write_merged(outs, into)
    for row in FORMATS:
        (into / row.file).unlink(missing_ok=True)
    return report


def _add_to(path: Path, triage: Triage) -> str:
    try:
        baseline = is_baseline(path)
    except OSError as error:
        raise UsageError(f"--update {one_line(path)}: {error.strerror or error}") from error
    if baseline:
        return _add_to_baseline(path, triage.report)
    registry_to_edit(path, "--update")
    return _add_to_registry(path, triage)


def _add_to_registry(path: Path, triage: Triage) -> str:
    """Adds an entry for each cause that is in none, and says in the others that they were seen; in one line. Raises
    UsageError for causes that could not be added, when all others are."""
    refused: list[UsageError] = []
    seen: dict[str, dict[str, str | tuple[str, ...]]] = {}
    added = without = 0
    for cause in triage.causes():
        known = triage.as_known()
        entry = next((one for row in cause.findings if (one := known.entry_of(row))), None)
        if entry is not None:
            seen[entry.identity] = _sighting(entry, cause, triage)
        elif not cause.cause:
            without += 1
        elif not cause.known:
            try:
                triage.add(cause)
                added += 1
            except UsageError as error:
                refused.append(error)
    try:
        change_entries(path, seen)
    except (BadRegistry, OSError) as error:
        raise not_written(path, error) from error
    refuse_those(refused, added + len(seen))
    left_out = f"; left out: {number_of(without, 'finding')} of an older passfuzz, without a cause" if without else ""
    total = len(triage.known.entries)
    return f"{one_line(path)}: {number_of(added, 'cause')} added, {len(seen)} seen again, {total} known{left_out}"


def _sighting(entry: KnownCause, cause: CauseRow, triage: Triage) -> dict[str, str | tuple[str, ...]]:
    """What an entry says after its cause was seen in a run."""
    versions = dict.fromkeys((*entry.versions, *triage.versions))
    return {
        "seen": max(entry.seen, triage.today.isoformat()),
        "versions": tuple(versions),
        "tier": min(entry.tier, cause.tier),
    }


def _add_to_baseline(path: Path, report: Report) -> str:
    """Adds every finding of the report; what was added, in one line."""
    notes = {
        row.signature: f"{row.where}: {row.symptom}: {' '.join(row.message.split())[:160]}" for row in report.findings
    }
    try:
        added, total = add_known(path, notes)
    except CorruptCase as error:
        raise UsageError(f"--update {error}") from error
    except OSError as error:
        raise EnvironmentFault(f"--update {one_line(path)}: cannot be written: {error.strerror or error}") from error
    return f"{one_line(path)}: {added} of {number_of(len(notes), 'finding')} added, {total} known"


def _print(report: Report, paths: dict[str, str], as_json: bool) -> None:
    shown = [name for name in paths if name != "update"]
    if as_json:
        print_json(dict(paths) if paths else report.to_json())
    elif not paths:
        show(report, console())
    elif len(shown) == 1:
        row = format_named(shown[0])
        sys.stdout.write(inert(Path(paths[row.name]).read_text(encoding="utf-8"), row.escape))
    else:
        for path in paths.values():
            print(one_line(path))
