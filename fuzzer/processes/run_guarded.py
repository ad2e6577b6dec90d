"""A command that is run to its end, ends with this process, and is ended with all that it has started when it takes too
long. No TVM here."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

from fuzzer.processes.guard import end, guarded
from fuzzer.processes.start import worker_environment


def run_guarded(command: list[str], seconds: float, variables: Mapping[str, str] | None = None) -> tuple[int, bytes]:
    """Exit status and standard output. variables: of the environment, besides those of workers.

    Raises subprocess.TimeoutExpired."""
    with subprocess.Popen(
        guarded(command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**worker_environment(), **(variables or {})},
        start_new_session=True,
    ) as process:
        try:
            said, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            end(process)
            raise
        return process.returncode, said
