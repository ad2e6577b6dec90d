"""The options of `passfuzz run`, and the command. What it does is in `fuzzer.commands.run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fuzzer.cli_options import Json, Known, Load, OneTvm, Trust
from fuzzer.errors import UsageError, tell

if TYPE_CHECKING:
    from fuzzer.settings import Settings

Time = Annotated[str | None, typer.Option(help="How long: 60s, 10m, 6h. [default: 60s without --cases]")]
Cases = Annotated[int | None, typer.Option(help="How many cases.", show_default=False)]
Seed = Annotated[int | None, typer.Option(help="Campaign seed. [default: random, printed]")]
Jobs = Annotated[int | None, typer.Option(help="Worker processes. [default: CPUs]")]
Targets = Annotated[list[str] | None, typer.Option(help="llvm, cuda or cuda-cpu; repeatable.")]
Passes = Annotated[str | None, typer.Option(help="Names, or @relax, @tir, @pipelines.", metavar="A,B")]
Oracles = Annotated[
    str | None,
    typer.Option(help="Oracles by name; costly ones are then asked more often. [default: all]", metavar="A,B"),
]
Corpus = Annotated[
    Path | None,
    typer.Option(
        help="Case folders: their findings are known, their modules start a quarter of the cases.", metavar="DIR"
    ),
]
FailOn = Annotated[str | None, typer.Option(help="Tiers that fail. [default: A,B]", metavar="A,B")]
ShardOption = Annotated[str | None, typer.Option(help="Part i of n, from 1.", metavar="i/n")]
On = Annotated[str, typer.Option(help="local, dask, ray, dask://ADDRESS or ray://ADDRESS.")]
Out = Annotated[Path | None, typer.Option(help="Results. [default: passfuzz-out]", metavar="DIR")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Remove the results of an earlier run under --out.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the run under --out, and reduce what it has left.")]
Coverage = Annotated[
    bool, typer.Option("--coverage", help="Count the basic blocks of TVM's own code that are reached.")
]


def run(
    context: typer.Context,
    time: Time = None,
    cases: Cases = None,
    seed: Seed = None,
    jobs: Jobs = None,
    target: Targets = None,
    passes: Passes = None,
    oracles: Oracles = None,
    load: Load = None,
    corpus: Corpus = None,
    known: Known = None,
    fail_on: FailOn = None,
    shard: ShardOption = None,
    on: On = "local",
    tvm: OneTvm = None,
    out: Out = None,
    fresh: Fresh = False,
    resume: Resume = False,
    trust: Trust = False,
    coverage: Coverage = False,
    as_json: Json = False,
) -> None:
    """Fuzz passes until the time or the cases are spent; results are under --out."""
    from fuzzer.engines import driver
    from fuzzer.settings import read_settings
    from fuzzer.under_test import go_on_under

    ends_driver = driver.is_ended_by(on)
    last_word = driver.last_word_descriptor() if ends_driver else None
    if ends_driver and last_word is None:
        raise typer.Exit(driver.in_child(context.obj))
    settings = read_settings(
        time=time,
        cases=cases,
        seed=seed,
        jobs=jobs,
        targets=target or (),
        passes=passes,
        oracles=oracles,
        load=load,
        corpus=corpus,
        known=known,
        fail_on=fail_on,
        shard=shard,
        on=on,
        out=out,
        fresh=fresh,
        resume=resume,
        trust=trust,
        coverage=coverage,
    )
    if tvm and settings.on != "local":
        raise UsageError(f"--tvm {tvm[0]}: is for workers of this machine; those of --on {on} have a TVM of their own")
    go_on_under(tvm, context.obj)
    status = _run(settings, as_json)
    if last_word is not None:
        driver.say_last_word(last_word, status)
    raise typer.Exit(status)


def _run(settings: Settings, as_json: bool) -> int:
    """Refuses names that there are not, and runs the campaign; its exit status."""
    from fuzzer.selection import check_oracle_names, check_pass_names
    from fuzzer.settings import jobs_warning

    check_pass_names(settings.passes, settings.load is not None)
    check_oracle_names(settings.oracles, "--oracles")
    if settings.on == "local" and (warning := jobs_warning(settings.jobs)) is not None:
        tell(f"warning: {warning}")
    from fuzzer.commands.run import run_and_report  # after the options were checked: it takes longer than they do

    return run_and_report(settings, as_json)
