"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
Passes = Annotated[str | None, typer.Option("--passes", help="Passes by name, comma-separated.", metavar="A,B")]
Load = Annotated[
    Path | None, typer.Option("--load", help="Python file that defines PASSES under test.", metavar="FILE.py")
]
Target = Annotated[str | None, typer.Option("--target", help="llvm, cuda or cuda-cpu; a case's own, else llvm.")]
SubjectPath = Annotated[
    Path,
    typer.Argument(help="A module (TVMScript .py or TVM JSON) or a case (folder or case.json).", metavar="SUBJECT"),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust", help="Run what the data says as code, with no sandbox: for data that you would run as a script."
    ),
]

Known = Annotated[
    Path | None,
    typer.Option("--known", help="Registry of known causes, or none. [default: the one in passfuzz]", metavar="FILE"),
]
Join = Annotated[
    bool,
    typer.Option(
        "--trust", help="Let cases of somebody else join the corpus of passfuzz, which runs without a sandbox."
    ),
]
