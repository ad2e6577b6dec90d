"""The options of `passfuzz replay` and `passfuzz since`. What they do is in `fuzzer.commands`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fuzzer.cli_options import Json, Known, Trust

Tvms = Annotated[
    list[str] | None,
    typer.Option(
        "--tvm",
        help="A released version, a Python interpreter, or a folder with a build of TVM; repeatable.",
        metavar="VERSION|PYTHON|BUILD",
    ),
]


def replay(
    corpus: Annotated[
        Path | None, typer.Argument(help="Corpus folder. [default: the one in passfuzz]", metavar="CORPUS")
    ] = None,
    tvm: Tvms = None,
    junit: Annotated[Path | None, typer.Option(help="Also write JUnit XML.", metavar="FILE")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Also write Markdown, as for a CI job.", metavar="FILE")] = None,
    html: Annotated[Path | None, typer.Option(help="Also write one self-contained page.", metavar="FILE")] = None,
    jobs: Annotated[int | None, typer.Option(help="Cases at once. [default: CPUs]")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a replay of this corpus that was interrupted.")
    ] = False,
    known: Known = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Replay a corpus of known bugs, on this TVM, on released ones, or on a build of one's own."""
    from fuzzer.commands.replay import replay as replay_corpus
    from fuzzer.given_paths import existing, known_file, output_file
    from fuzzer.render import show_replay
    from fuzzer.settings import read_jobs
    from reports.replay_matrix import write

    files = {"junit": junit, "markdown": markdown, "html": html}
    wanted = {name: output_file(file, f"--{name}") for name, file in files.items() if file is not None}
    result = replay_corpus(
        None if corpus is None else existing(corpus),
        tuple(tvm or ()),
        trust=trust,
        known=known_file(known),
        jobs=read_jobs(jobs),
        resume=resume,
    )
    write(result.matrix, wanted)
    show_replay(result, as_json)
    raise typer.Exit(result.status())


def since(
    case: Annotated[
        Path, typer.Argument(help="A case folder, or the name of a case in the corpus of passfuzz.", metavar="CASE")
    ],
    tvm: Tvms = None,
    known: Known = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Say which releases of TVM show a case: the first and the last."""
    from fuzzer.commands.since import show_since, since_when
    from fuzzer.given_paths import known_file

    found = since_when(case, tuple(tvm or ()), known_file(known), trust)
    show_since(found, as_json)
    raise typer.Exit(found.status())
