"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
Passes = Annotated[
    str | None,
    typer.Option(
        "--passes",
        help="Passes in order: names, calls such as 'ConvertLayout({...})', pipelines (zero, default_build), "
        "FILE.py:PASSES.",
        metavar="A,B",
    ),
]
Config = Annotated[
    list[str] | None,
    typer.Option("--config", help="Option of the PassContext of --passes; repeatable.", metavar="KEY=VALUE"),
]
Load = Annotated[
    Path | None, typer.Option("--load", help="Python file that defines PASSES under test.", metavar="FILE.py")
]
Target = Annotated[str | None, typer.Option("--target", help="llvm, cuda or cuda-cpu; a case's own, else llvm.")]
SubjectPath = Annotated[
    Path,
    typer.Argument(
        help="A module (TVMScript .py, FILE.py:NAME, TVM JSON, .onnx, .pt2) or a case (folder).",
        metavar="SUBJECT",
        readable=False,  # its reader says so, as of any other file
    ),
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
    typer.Option("--trust", help="Let cases of another user join the corpus of passfuzz, which is trusted."),
]

OneTvm = Annotated[
    list[str] | None,
    typer.Option(
        "--tvm",
        help="Under this TVM: a released version, a Python interpreter, or a folder with a build of it.",
        metavar="VERSION|PYTHON|BUILD",
    ),
]
