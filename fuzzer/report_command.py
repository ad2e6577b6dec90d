"""`passfuzz report`: the results of a run shown again or written in other formats, from the files alone."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from fuzzer.errors import EnvironmentFault, UsageError
from fuzzer.render import console, print_json
from reports.formats import format_named
from reports.summary import Report, UnreadableOut
from reports.view import read_outs, show, write_merged


def report_on(outs: Sequence[Path], formats: Sequence[str], merge: Path | None, as_json: bool) -> None:
    """Writes each format into the (merged, or first) folder; a single one goes to stdout as well.

    Without a format: a summary for people, or with `as_json` the merged summary.json.
    """
    folder = outs[0] if merge is None else merge
    try:
        report = read_outs(outs) if merge is None else write_merged(outs, merge)
        paths = {name: str(format_named(name).write(folder, report)) for name in formats}
    except UnreadableOut as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise EnvironmentFault(f"cannot write into {folder}: {error.strerror}") from error
    _print(report, paths, as_json)


def _print(report: Report, paths: dict[str, str], as_json: bool) -> None:
    if as_json:
        print_json(dict(paths) if paths else report.to_json())
    elif not paths:
        show(report, console())
    elif len(paths) == 1:
        (name,) = paths
        sys.stdout.write(format_named(name).render(report))
    else:
        for path in paths.values():
            print(path)
