"""Counts what a command of the user's reaches, with all that it starts. No TVM here, and no walls: it is the user's."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fuzzer.coverage.ground import Ground, NoCoverage
from fuzzer.coverage.hits import Hits, read_hits
from fuzzer.errors import UsageError
from oracles.family import adopt_orphans, children, die_with_parent, end_children


@dataclass(frozen=True, slots=True)
class CountedRun:
    """status: of the command, negative for a signal. hits: what it has reached."""

    status: int
    hits: Hits


def count_command(command: Sequence[str], output: Path, ground: Ground) -> CountedRun:
    """Runs the command to its end, with the streams of this process. What it has started ends with it.

    Raises UsageError for a command that cannot be started, NoCoverage where it cannot be counted, OSError where
    `output` cannot be written.
    """
    if not command or shutil.which(command[0]) is None:
        raise UsageError(f"--of {command[0] if command else ''}: no such program, or it may not be executed")
    if set(str(ground.code)) & set(" :"):
        raise NoCoverage(f"the loader cannot be told of {ground.code}: set XDG_CACHE_HOME to a path without spaces")
    probes = ground.probes(output)
    adopt_orphans()
    siblings = children()
    environment = probes.environment(os.environ)
    process = subprocess.Popen(list(command), env=environment, preexec_fn=partial(die_with_parent, os.getpid()))
    try:
        status = process.wait()
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        end_children(siblings)
    return CountedRun(status, read_hits(output))
