"""`--tvm` of `run`, `check` and `reduce`: the command begins again under the Python of that TVM.

What is known of TVM without loading it (names that its sources define, its version) is then of the TVM under test, in
the process of the command as in those that it starts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from fuzzer.errors import EnvironmentFault, UsageError
from fuzzer.processes import lent
from fuzzer.processes.start import ROOT, lending_command
from fuzzer.replaying.environments import Tvm, check_name, find_tvm
from fuzzer.replaying.server_messages import TvmReady
from fuzzer.replaying.warm import started
from fuzzer.versions import MISSING, passfuzz_version


def go_on_under(tvms: Sequence[str] | None, arguments: Sequence[str]) -> None:
    """Does not return where `--tvm` names a TVM and this process is not under it yet.

    arguments: the whole command line. Raises UsageError for several, and for what can be no TVM; EnvironmentFault where
    it cannot be installed or imported. A Python that cannot run passfuzz says so itself and ends with 3.
    """
    if not tvms or lent.TAKEN is not None:
        return
    if len(tvms) > 1:
        raise UsageError(f"--tvm {tvms[1]}: one TVM for one command; `passfuzz replay` takes several")
    check_name(tvms[0])
    tvm = find_tvm(tvms[0])
    with started(tvm) as warm:
        greeting = warm.greeting
    command = command_under(tvm, greeting, arguments)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    try:
        os.execve(command[0], command, environment_of(tvm))
    except OSError as error:
        raise EnvironmentFault(f"{command[0]}: {error.strerror}") from error


def command_under(tvm: Tvm, greeting: TvmReady, arguments: Sequence[str]) -> list[str]:
    """The command line of passfuzz under this TVM."""
    lend = lent.to_lend(str(ROOT), greeting.version, greeting.ffi or MISSING, passfuzz_version())
    return lending_command(str(tvm.python), lend, "fuzzer.__main__", arguments)


def environment_of(tvm: Tvm) -> dict[str, str]:
    """As for its scripts, but bytecode is written as the user has it: every worker reads our sources."""
    kept = {name: value for name, value in tvm.environment().items() if name != "PYTHONDONTWRITEBYTECODE"}
    said = os.environ.get("PYTHONDONTWRITEBYTECODE")
    return {**kept, **({} if said is None else {"PYTHONDONTWRITEBYTECODE": said})}
