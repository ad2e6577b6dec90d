"""A Python with another TVM: one virtual environment per released version, made once and kept in the user's cache."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

from fuzzer.errors import EnvironmentFault
from fuzzer.versions import KNOWN_PAIRS, tvm_version

INSTALL_TIMEOUT_S = 900.0
READY = ".ready"


def python_with(version: str) -> Path:
    """The Python that imports this TVM: our own when it is the installed one, else that of a cached environment.

    Raises EnvironmentFault with pip's last line when the version cannot be installed.
    """
    if version == tvm_version():
        return Path(sys.executable)
    folder = cache() / f"tvm-{version}-py{sys.version_info.major}.{sys.version_info.minor}"
    python = folder / "bin" / "python"
    if not (folder / READY).exists():
        venv.create(folder, with_pip=True, clear=True)
        _install(python, version)
        (folder / READY).touch()
    return python


def cache() -> Path:
    """Where environments are kept: $XDG_CACHE_HOME/passfuzz, else ~/.cache/passfuzz."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "passfuzz"


def requirements(version: str) -> list[str]:
    """What pip installs for a TVM version; the ffi is pinned where a pair is known to work."""
    ffi = KNOWN_PAIRS.get(version)
    pinned = [f"apache-tvm-ffi=={ffi}"] if ffi else []
    return [f"apache-tvm=={version}", *pinned, "numpy", "ml_dtypes"]


def _install(python: Path, version: str) -> None:
    command = [str(python), "-m", "pip", "install", "--quiet", *requirements(version)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise EnvironmentFault(f"TVM {version}: pip took longer than {INSTALL_TIMEOUT_S:.0f} s") from error
    if ended.returncode != 0:
        lines = [line for line in ended.stderr.splitlines() if line.startswith("ERROR")] or [f"pip: {ended.returncode}"]
        raise EnvironmentFault(f"TVM {version} cannot be installed: {lines[-1]}")
