"""How a process is started that runs a module of ours, from any current folder. No TVM here."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder that holds our packages."""
_START = (
    "import sys; sys.path[0] or sys.path.pop(0); import runpy; runpy.run_module({module!r}, None, '__main__', True)"
)
_ENVIRONMENT = {"TVM_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "TVM_LOG_DEBUG": ""}


def module_command(module: str, *arguments: str, python: str = sys.executable) -> list[str]:
    """What `python -m` does, but with no file of the current folder (a user's random.py) in the place of the standard
    library's. PYTHONSAFEPATH=1 says the same from Python 3.11 on."""
    return [python, "-c", _START.format(module=module), *arguments]


def worker_environment(hash_seed: int | None = None) -> dict[str, str]:
    """The environment of a process that imports TVM: one thread, and our own modules found from any folder.

    hash_seed: PYTHONHASHSEED, where that is not left as it is.
    """
    search = os.pathsep.join(part for part in (os.environ.get("PYTHONPATH"), str(ROOT)) if part)
    seed = {} if hash_seed is None else {"PYTHONHASHSEED": str(hash_seed)}
    return {**os.environ, **_ENVIRONMENT, **seed, "PYTHONPATH": search, "PYTHONSAFEPATH": "1"}
