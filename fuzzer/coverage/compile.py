"""Builds a C file of this folder with the compiler of the system, once, into the user's cache."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
NAMES = ("cc", "gcc", "clang")
FLAGS = ("-std=gnu11", "-O2", "-fPIC", "-shared", "-pthread", "-Wl,-z,now")
TIMEOUT_S = 120.0


class NoCCompiler(Exception):
    """There is no C compiler, or it refuses our file; the message is one line."""


def cache() -> Path:
    """Where what is made once is kept: $XDG_CACHE_HOME/passfuzz/coverage, else ~/.cache/passfuzz/coverage."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "passfuzz" / "coverage"


def library_of(name: str, folder: Path) -> Path:
    """The shared library of the C file `name`, in `folder`. Raises NoCompiler, and OSError for the folder."""
    command = _compiler()
    source = HERE / name
    key = hashlib.sha256(b"\0".join([*map(os.fsencode, (*command, *FLAGS)), source.read_bytes()])).hexdigest()[:16]
    made = folder / f"{source.stem}-{key}.so"
    if not made.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as room:
            fresh = Path(room) / made.name
            _run([*command, *FLAGS, str(source), "-o", str(fresh)])
            fresh.replace(made)
    return made


def _compiler() -> list[str]:
    """The compiler of $CC, else the first of NAMES that is there."""
    asked = shlex.split(os.environ.get("CC", ""))
    found = shutil.which(asked[0]) if asked else next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        what = f"$CC is {asked[0]}, which is not there" if asked else f"none of {', '.join(NAMES)} is there"
        raise NoCCompiler(f"no C compiler: {what}")
    return [os.path.abspath(found), *asked[1:]]


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoCCompiler(f"the C compiler {command[0]} does not work: {error}") from error
    if done.returncode != 0:
        lines = done.stderr.splitlines() or [f"exit status {done.returncode}"]
        first = next((line for line in lines if "error" in line), lines[0])
        raise NoCCompiler(f"the C compiler {command[0]} refuses {Path(command[-3]).name}: {first}")
