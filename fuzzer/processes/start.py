"""How a process is started that runs a module of ours, from any current folder. No TVM here."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fuzzer.processes import lent
from oracles.forked import KEPT_TMPDIR

ROOT = Path(__file__).resolve().parents[2]
"""The folder that holds our packages."""
_SAFE = "import sys; sys.path[0] or sys.path.pop(0);"
_START = "import runpy; runpy.run_module({module!r}, None, '__main__', True)"
_ENVIRONMENT = {"TVM_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "TVM_LOG_DEBUG": ""}


def module_command(module: str, *arguments: str, python: str = sys.executable) -> list[str]:
    """What `python -m` does, but with no file of the current folder (a user's random.py) in place of the standard
    library's. PYTHONSAFEPATH=1 says the same from Python 3.11 on. What is lent to this process is lent to that one."""
    taken = "" if lent.TAKEN is None else lent.start(lent.TAKEN)
    return [python, "-c", f"{_SAFE} {taken} {_START.format(module=module)}", *arguments]


def lending_command(python: str, lend: lent.Lent, module: str, arguments: Sequence[str]) -> list[str]:
    """The same under a Python that is not our own, with what we lend to it."""
    return [python, "-c", f"{_SAFE} {lent.start(lend, first=True)} {_START.format(module=module)}", *arguments]


def worker_environment(hash_seed: int | None = None, scratch: str = "") -> dict[str, str]:
    """The environment of a process that imports TVM: one thread, and our own modules found from any folder.

    hash_seed: PYTHONHASHSEED, where that is not left as it is. scratch: where the process and all that it starts put
    their temporary files, so that nothing of one that is killed stays; what is made once for all runs is not there.
    """
    own = os.environ.get("PYTHONPATH")
    # A folder of ours may hold another TVM: what is lent is found without it.
    search = own or "" if lent.TAKEN else os.pathsep.join(part for part in (own, str(ROOT)) if part)
    seed = {} if hash_seed is None else {"PYTHONHASHSEED": str(hash_seed)}
    places = {"TMPDIR": scratch, KEPT_TMPDIR: os.environ.get(KEPT_TMPDIR) or tempfile.gettempdir()} if scratch else {}
    return {**os.environ, **_ENVIRONMENT, **seed, **places, "PYTHONPATH": search, "PYTHONSAFEPATH": "1"}
