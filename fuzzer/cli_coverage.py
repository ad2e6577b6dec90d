"""The options of `passfuzz coverage`. What it does is in `fuzzer.commands.coverage`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fuzzer.cli_options import Json
from fuzzer.errors import UsageError


def coverage(
    outs: Annotated[
        list[Path] | None,
        typer.Argument(help="--out folders of runs with --coverage, or files of --of.", metavar="OUT"),
    ] = None,
    against: Annotated[
        list[Path] | None, typer.Option(help="Compare with this folder or file; repeatable.", metavar="OUT")
    ] = None,
    of: Annotated[str | None, typer.Option(help="Run this command, and count what it reaches.", metavar="CMD")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where --of leaves what it has counted.", metavar="FILE")
    ] = None,
    rows: Annotated[int, typer.Option(help="Most passes, and files, that are shown.", min=1)] = 25,
    as_json: Json = False,
) -> None:
    """Show what runs, or a command of yours, reach of TVM's own code: by folder, pass and file."""
    from fuzzer.commands.coverage import count, look
    from fuzzer.given_paths import existing, output_file

    if of is not None:
        if outs or against or output is None:
            raise UsageError("--of CMD: goes with -o FILE, and neither with OUT nor with --against")
        count(of, output_file(output, "--output"), as_json)
        return
    if not outs or output is not None:
        raise UsageError("coverage: name the --out folder of a run, or a command: --of CMD -o FILE")
    look([existing(path) for path in outs], [existing(path) for path in against or ()], rows, as_json)
