"""The command line: reads options, calls one function per command, and gives its exit status.

What a command does lives in its own module and is imported when it is called, so that `--help` is fast.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fuzzer import cli_reduce as options
from fuzzer.cli_capture import capture
from fuzzer.cli_coverage import coverage
from fuzzer.cli_options import Config, Join, Json, Known, Load, OneTvm, Passes, SubjectPath, Target, Trust
from fuzzer.cli_replay import replay, since
from fuzzer.cli_run import run
from fuzzer.errors import (
    EnvironmentFault,
    ExitStatus,
    UsageError,
    end_like_ctrl_c,
    refuse_empty,
    status_of_command,
)
from fuzzer.streams import swallowing_streams

app = typer.Typer(
    name="passfuzz",
    help="Finds wrong compiler passes in Apache TVM, names the pass, and hands back a minimal script.",
    epilog="Exit status: 0 no new cause, 1 new cause, 2 wrong usage, 3 environment or own fault, 4 regression.",
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from fuzzer.versions import passfuzz_version, tvm_version

        print(f"passfuzz {passfuzz_version()}, tvm {tvm_version()}")
        raise typer.Exit()


@app.callback()
def passfuzz(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Versions.")
    ] = False,
) -> None:
    """Finds wrong compiler passes in Apache TVM, names the pass, and hands back a minimal script."""


app.command()(run)


@app.command()
def check(
    context: typer.Context,
    subject: SubjectPath,
    passes: Passes = None,
    target: Target = None,
    config: Config = None,
    load: Load = None,
    inputs: options.Inputs = None,
    rtol: options.Rtol = None,
    atol: options.Atol = None,
    tvm: OneTvm = None,
    explain: Annotated[bool, typer.Option(help="Show the values that flow, before and after the culprit.")] = False,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Judge one module, or one case, by every oracle."""
    from fuzzer.commands.check import check_module
    from fuzzer.given_paths import existing_subject
    from fuzzer.own_numbers import read_own_numbers
    from fuzzer.pass_items import read_passes
    from fuzzer.render import show_check
    from fuzzer.settings import read_targets
    from fuzzer.under_test import go_on_under

    wanted = None if target is None else read_targets([target])[0]
    own = read_own_numbers(inputs, rtol, atol)
    subject_path = existing_subject(subject)
    go_on_under(tvm, context.obj)
    asked = read_passes(passes, load, config or (), trust)
    result = check_module(subject_path, asked.items, wanted, asked.load, explain=explain, trust=trust, own=own)
    show_check(result, as_json)
    raise typer.Exit(result.status())


@app.command()
def reduce(
    context: typer.Context,
    subject: SubjectPath,
    passes: Passes = None,
    target: Target = None,
    config: Config = None,
    oracle: options.Oracle = None,
    message: options.Message = None,
    rejections: options.Rejections = False,
    builds: options.Builds = False,
    interesting: options.Interesting = None,
    flaky: options.Flaky = 1,
    jobs: options.Jobs = 1,
    time: options.Time = "60s",
    output: options.Output = Path("repro.py"),
    resume: options.Resume = False,
    stats: options.Stats = False,
    load: Load = None,
    tvm: OneTvm = None,
    inputs: options.Inputs = None,
    rtol: options.Rtol = None,
    atol: options.Atol = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Make a failing case or module small and write a script, or a case, that shows the failure."""
    from fuzzer.commands.reduce import reduce_case
    from fuzzer.commands.reduce_asked import ReduceOptions, read_keep
    from fuzzer.commands.reduce_output import output_of_reduction
    from fuzzer.given_paths import existing_subject
    from fuzzer.own_numbers import read_own_numbers
    from fuzzer.pass_items import read_passes
    from fuzzer.render import console, show_reduction
    from fuzzer.selection import check_oracle_names
    from fuzzer.settings import read_jobs, read_targets, read_time
    from fuzzer.under_test import go_on_under
    from reports.shrinking import ShrinkDisplay

    check_oracle_names(() if oracle is None else (oracle,), "--oracle")
    subject_path = existing_subject(subject)
    wanted = ReduceOptions(
        keep=read_keep(oracle, message, rejections, builds, flaky),
        interesting=interesting,
        jobs=read_jobs(jobs) or 1,
        time_s=read_time(time),
        target=None if target is None else read_targets([target])[0],
        trust=trust,
        own=read_own_numbers(inputs, rtol, atol),
        output=output_of_reduction(output, interesting is not None),
        resume=resume,
    )
    go_on_under(tvm, context.obj)
    asked = read_passes(passes, load, config or (), trust)
    wanted = replace(wanted, passes=asked.items, load=asked.load)
    result = reduce_case(subject_path, wanted, ShrinkDisplay(console(stderr=True)))
    show_reduction(result, output, as_json, stats)


app.command(context_settings={"ignore_unknown_options": True})(capture)
app.command()(replay)
app.command()(since)
app.command()(coverage)


@app.command()
def report(
    out: Annotated[
        list[Path], typer.Argument(help="The --out folder of a run; several (shards) are merged.", metavar="OUT")
    ],
    html: Annotated[bool, typer.Option("--html", help="One self-contained page.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="A CI job summary.")] = False,
    junit: Annotated[bool, typer.Option("--junit", help="JUnit XML.")] = False,
    sarif: Annotated[bool, typer.Option("--sarif", help="SARIF 2.1.0.")] = False,
    merge: Annotated[Path | None, typer.Option(help="Write the merged results there.", metavar="DIR")] = None,
    known: Annotated[
        Path | None,
        typer.Option(help="Registry of known causes, or none. [default: what the run said]", metavar="FILE"),
    ] = None,
    update: Annotated[
        Path | None, typer.Option(help="Add the causes to this registry, and a case of each beside it.", metavar="FILE")
    ] = None,
    trust: Join = False,
    as_json: Json = False,
) -> None:
    """Show results again, from the files alone. Formats are written into OUT; a single one is printed too."""
    from fuzzer.commands.report import report_on
    from fuzzer.given_paths import known_file, output_file, output_folder
    from fuzzer.known_causes import read_known_causes

    if merge is not None:
        output_folder(merge, "--merge")
    if update is not None:
        output_file(update, "--update")
    said = None if known is None else read_known_causes(known_file(known), "")
    asked = {"html": html, "markdown": markdown, "junit": junit, "sarif": sarif}
    formats = tuple(name for name, wanted in asked.items() if wanted)
    report_on(tuple(out), formats, merge, as_json, said, update, trust)


@app.command()
def triage(
    out: Annotated[Path, typer.Argument(help="The --out folder of a run.", metavar="OUT")],
    known: Known = None,
    promote: Annotated[
        list[str] | None,
        typer.Option(help="Add this cause, or all new ones, as open, with its case.", metavar="ID|all"),
    ] = None,
    mark: Annotated[
        list[str] | None,
        typer.Option(help="Give it a status: open, wont-fix, limitation, fixed-in:VERSION.", metavar="ID=STATUS"),
    ] = None,
    merge: Annotated[
        list[str] | None, typer.Option(help="Say that it is one with a known cause.", metavar="ID=ID")
    ] = None,
    note: Annotated[str, typer.Option(help="For people, with --mark or --promote.")] = "",
    quote: Annotated[str, typer.Option(help="TVM's sentence that states the limit, with --mark.")] = "",
    trust: Join = False,
    as_json: Json = False,
) -> None:
    """Decide what the new causes of a run are: at a terminal one by one, or by options. Each decision is kept."""
    from datetime import date

    from fuzzer.commands.triage import Actions, open_triage
    from fuzzer.commands.triage_walk import triage_by
    from fuzzer.given_paths import existing, known_file, registry_file

    actions = Actions(promote or (), mark or (), merge or (), note, quote)
    registry = known_file(known) if as_json and not actions else registry_file(known)
    opened = open_triage(existing(out), registry, date.today(), trust)
    triage_by(opened, actions, as_json)


@app.command()
def promote(
    folder: options.Case,
    known: Known = None,
    corpus: options.Corpus = None,
    title: options.Title = "",
    slug: options.Slug = "",
    note: options.Note = "",
    trust: Join = False,
    as_json: Json = False,
) -> None:
    """Copy a finding, or what `reduce` has written, into a corpus; with an entry in the registry of known causes."""
    from datetime import date

    from fuzzer.commands.promote import Words, keep_and_tell, promote_and_tell
    from fuzzer.given_paths import existing, output_folder, registry_file

    words = Words(title=title, slug=slug, note=note)
    if corpus is None:
        promote_and_tell(existing(folder), registry_file(known), words, date.today(), trust, as_json)
    else:
        own = output_folder(corpus, "--corpus")
        keep_and_tell(existing(folder), own, words, known is not None, trust, as_json)


@app.command()
def harvest(
    out: Annotated[Path, typer.Argument(help="The --passfuzz-out folder of a pytest run.", metavar="OUT")],
    seeds: Annotated[Path, typer.Option("--output", "-o", help="Folder for the seeds.")] = Path("seeds"),
    as_json: Json = False,
) -> None:
    """Turn the modules that `pytest --passfuzz` has seen into a folder of seeds."""
    from fuzzer.commands.harvest import harvest as harvest_modules
    from fuzzer.commands.harvest import show_harvest
    from fuzzer.given_paths import existing, output_folder

    show_harvest(harvest_modules(existing(out), output_folder(seeds, "--output")), seeds, as_json)


@app.command("list")
def list_rows(
    table: Annotated[str, typer.Argument(help="passes, ops, oracles, targets or causes.", metavar="TABLE")],
    known: Known = None,
    stale: Annotated[bool, typer.Option("--stale", help="Of causes: that matched nothing for a month.")] = False,
    as_json: Json = False,
) -> None:
    """List a table: passes, ops, oracles, targets, or the known causes."""
    from datetime import date

    from fuzzer.commands.listing import CAUSES, list_causes, read_listing
    from fuzzer.given_paths import known_file
    from fuzzer.render import show_listing

    if table != CAUSES and (stale or known is not None):
        raise UsageError(f"list {table}: --known and --stale are for {CAUSES}")
    listing = list_causes(known_file(known), date.today(), stale) if table == CAUSES else read_listing(table)
    show_listing(listing, as_json)


@app.command()
def doctor(as_json: Json = False) -> None:
    """Say what is installed, what works here, and how to mend what does not."""
    from fuzzer.commands.doctor import examine
    from fuzzer.render import show_diagnosis

    diagnosis = examine()
    show_diagnosis(diagnosis, as_json)
    if diagnosis.fault is not None:
        raise EnvironmentFault(diagnosis.fault)


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point. Ends the process with an ExitStatus; errors are one line on stderr."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    end_like_ctrl_c()
    with swallowing_streams() as streams:
        status = streams.status(status_of_command(lambda: _invoke(given or ["--help"])))
    raise SystemExit(int(status))


def _invoke(arguments: list[str]) -> int:
    """Runs a command. Not by Typer's `main`, which ends with 1 for any broken pipe and takes an EOFError for Ctrl-C."""
    refuse_empty(arguments)
    command = typer.main.get_command(app)
    with command.make_context("passfuzz", arguments, obj=list(arguments)) as context:
        command.invoke(context)
    return ExitStatus.CLEAN


if __name__ == "__main__":  # `python -m fuzzer.cli`, of scripts
    main()
