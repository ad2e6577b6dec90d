"""Runs the command of the user with the watch in its interpreters. No TVM here, and no walls: it is the user's own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fuzzer.errors import UsageError
from fuzzer.versions import tvm_version
from oracles.family import adopt_orphans, children, die_with_parent, end_children

HOOK = Path(__file__).with_name("hook")
_PLUGIN = "passfuzz_capture_pytest"
_SETTLE_S = 5.0
"""Seconds that a command gets to end after Ctrl-C, which it has got too."""


@dataclass(frozen=True, slots=True)
class CommandEnd:
    """How a command ended: with an exit status, negative for a signal; or it took too long, or was interrupted."""

    status: int
    late: bool = False
    interrupted: bool = False

    @property
    def how(self) -> str:
        """For readers."""
        if self.late:
            return "was ended when its time was up"
        if self.interrupted:
            return "was interrupted"
        if self.status < 0:
            return f"was killed by {signal.Signals(-self.status).name}"
        return f"ended with status {self.status}"


def watched_environment(spool: Path, keep: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of the command: the folder of the hook comes first on the path, and pytest loads a plugin of it.

    keep: which calls are kept though they do not fail: "all", "NAME:N", or "" for none.
    """
    path = os.pathsep.join(part for part in (str(HOOK), environment.get("PYTHONPATH")) if part)
    plugins = ",".join(part for part in (environment.get("PYTEST_PLUGINS"), _PLUGIN) if part)
    ours = {"PASSFUZZ_CAPTURE_SPOOL": str(spool), "PASSFUZZ_CAPTURE_KEEP": keep, "PASSFUZZ_CAPTURE_TVM": tvm_version()}
    return {**environment, **ours, "PYTHONPATH": path, "PYTEST_PLUGINS": plugins}


def require_command(command: Sequence[str]) -> None:
    """Raises UsageError for a command that cannot be started."""
    if not command:
        raise UsageError("no command; write it after --: passfuzz capture -- python issue.py")
    if shutil.which(command[0]) is None:
        raise UsageError(f"{command[0]}: no such program, or it may not be executed")


def run_command(command: Sequence[str], spool: Path, keep: str, limit_s: float | None) -> CommandEnd:
    """Runs the command to its end, with the streams of this process. What it has started ends with it.

    limit_s: None waits for ever. Raises UsageError where it cannot be started.
    """
    adopt_orphans()
    siblings, ours = children(), os.getpid()
    try:
        process = subprocess.Popen(
            list(command),
            env=watched_environment(spool, keep, os.environ),
            preexec_fn=partial(die_with_parent, ours),
        )
    except OSError as error:
        raise UsageError(f"{command[0]}: {error.strerror}") from error
    try:
        return CommandEnd(process.wait(limit_s))
    except subprocess.TimeoutExpired:
        return CommandEnd(_ended(process), late=True)
    except KeyboardInterrupt:
        try:
            process.wait(_SETTLE_S)
        except subprocess.TimeoutExpired:
            _ended(process)
        return CommandEnd(process.wait(), interrupted=True)
    finally:
        if process.returncode is None:
            _ended(process)
        end_children(siblings)


def _ended(process: subprocess.Popen[bytes]) -> int:
    process.kill()
    return process.wait()
