"""Options of every command: an empty value is refused, names are checked without TVM, errors keep their kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer

from fuzzer import cli, errors
from fuzzer.results import ReplayResult
from fuzzer.selection import check_oracle_names
from oracles import scripts
from oracles.builds.cpu_builds import CPU_BUILDS


def parameters() -> list[tuple[str, ...]]:
    """Every option of every command that takes a value, with an empty one; every argument, too."""
    group: Any = typer.main.get_command(cli.app)
    found = [("run", "--out="), ("check", ""), ("",)]
    for name, command in group.commands.items():
        for parameter in command.params:
            if getattr(parameter, "is_flag", False):
                continue
            option = [parameter.opts[0]] if parameter.param_type_name == "option" else []
            found.append((name, *option, ""))
    return found


@pytest.mark.parametrize("arguments", parameters(), ids=" ".join)
def test_an_empty_value_is_wrong_usage(
    passfuzz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """A script with an unset variable writes `--out ""`, which is no wish for the current folder."""
    monkeypatch.chdir(tmp_path)
    status, stdout, err = passfuzz(*arguments)
    assert (status, stdout) == (2, "")
    assert err.startswith("passfuzz: error: ")
    assert err.endswith(": is empty\n")
    assert list(tmp_path.iterdir()) == []


def test_an_argument_is_named_as_in_the_help(passfuzz: Any) -> None:
    for command, argument in (("check", "SUBJECT"), ("reduce", "SUBJECT"), ("report", "OUT"), ("list", "TABLE")):
        assert passfuzz(command)[2] == f"passfuzz: error: Missing argument '{argument}'.\n"
        assert argument in passfuzz(command, "--help")[1]


def test_names_of_oracles_are_known_without_tvm() -> None:
    from oracles.table import ORACLES

    assert scripts.named() | CPU_BUILDS.keys() == ORACLES.keys()
    with pytest.raises(errors.UsageError, match="--oracles nummeric: unknown oracle; did you mean numeric?"):
        check_oracle_names(("purity", "cpu_builds", "nummeric"), "--oracles")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (EOFError("no data left"), "passfuzz: internal error: EOFError: no data left"),
        (BrokenPipeError(32, "Broken pipe"), "passfuzz: error: broken pipe"),
        (MemoryError(), "passfuzz: error: out of memory"),
        (RecursionError("too deep"), "passfuzz: internal error: RecursionError: too deep"),
    ],
)
def test_no_error_of_a_command_is_taken_for_another(
    passfuzz: Any, monkeypatch: pytest.MonkeyPatch, error: Exception, line: str
) -> None:
    """Typer takes an EOFError for Ctrl-C, and ends with 1, our status of a finding, for any broken pipe."""

    def replay(*given: object, **named: object) -> ReplayResult:
        raise error

    monkeypatch.setattr("fuzzer.commands.replay.replay", replay)
    status, _, err = passfuzz("replay")
    assert status == 3
    assert err.startswith(line)
    assert err.count("\n") == 1
