"""The options of `passfuzz capture`. What it does is in `fuzzer.commands.capture`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fuzzer.cli_options import Json


def capture(
    command: Annotated[list[str], typer.Argument(help="Your command, after --.", metavar="-- CMD...")],
    out: Annotated[Path, typer.Option("--output", "-o", help="Folder of the case.", metavar="DIR")] = Path(
        "passfuzz-case"
    ),
    every: Annotated[bool, typer.Option("--all", help="Keep every outermost pass call, failing or not.")] = False,
    named: Annotated[
        str | None, typer.Option("--pass", help="Keep a call of this pass, failing or not.", metavar="NAME")
    ] = None,
    nth: Annotated[int | None, typer.Option(help="Which call of --pass, from 1.", show_default=False)] = None,
    time: Annotated[str | None, typer.Option(help="End the command after this long: a hang is a case.")] = None,
    as_json: Json = False,
) -> None:
    """Run your own command, and keep the pass call at which it fails as a case."""
    from fuzzer.commands.capture import capture as run_and_capture
    from fuzzer.commands.capture import read_keep, show_capture
    from fuzzer.settings import read_time

    keep = read_keep(every, named, nth)
    result = run_and_capture(tuple(command), out, keep, None if time is None else read_time(time))
    show_capture(result, as_json)
    raise typer.Exit(result.status())
