"""The options of `passfuzz reduce`, `promote` and those of numbers, with their help. Commands read what they mean."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Oracle = Annotated[str | None, typer.Option(help="Keep a failure of this oracle.")]
Message = Annotated[
    str | None, typer.Option(help="Keep a failure, or a rejection, whose message matches.", metavar="REGEX")
]
Rejections = Annotated[
    bool, typer.Option("--rejections", help="Keep what a pass refuses on purpose, where nothing fails.")
]
Builds = Annotated[bool, typer.Option("--builds", help="Keep a failure of any build, where nothing else fails.")]
Interesting = Annotated[
    str | None,
    typer.Option(
        help="Called as CMD FILE.py; exit status 0 is interesting. FILE.py:function is called with the IRModule.",
        metavar="CMD",
    ),
]
Flaky = Annotated[int, typer.Option(help="Tries per candidate, for a failure that does not always show.", metavar="N")]
Jobs = Annotated[int, typer.Option(help="Judge so many candidates at the same time.", metavar="N")]
Time = Annotated[str, typer.Option(help="Stop after this long with the smallest so far.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="FILE.py for a script; any other name for a case folder.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with what an earlier reduction has left at --output.")]
Stats = Annotated[bool, typer.Option("--stats", help="Show how much each step took away.")]

Inputs = Annotated[Path | None, typer.Option("--inputs", help="Arrays by parameter, or arg0, ...", metavar="FILE.npz")]
Rtol = Annotated[float | None, typer.Option("--rtol", help="Floats may be off by this share, instead of the bounds.")]
Atol = Annotated[float | None, typer.Option("--atol", help="Floats may be off by this much, instead of the bounds.")]

Case = Annotated[Path, typer.Argument(help="The folder of a finding, or of `reduce -o DIR`.", metavar="DIR")]
Corpus = Annotated[
    Path | None,
    typer.Option(help="Into this folder of cases, and no registry. [default: beside the registry]", metavar="DIR"),
]
Title = Annotated[str, typer.Option(help="One line, as of an issue. [default: that of the case]")]
Slug = Annotated[str, typer.Option(help="Name of the new folder. [default: made of the title]")]
Note = Annotated[str, typer.Option(help="For people.")]
