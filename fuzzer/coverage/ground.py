"""What must be there before anything can be counted: the library of TVM, its map, and probes.c, compiled."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fuzzer.coverage.block_map import BlockMap, map_of
from fuzzer.coverage.compile import NoCCompiler, cache, library_of
from fuzzer.coverage.elf import NoMap
from fuzzer.coverage.hits import make_hits
from fuzzer.coverage.probes import Probes
from fuzzer.processes.start import worker_environment

LIBRARIES = ("libtvm_compiler.so", "libtvm.so")
"""The file that holds TVM's passes: of TVM 0.27, and of older ones."""
_LOADED = (
    "import json, tvm\n"
    "with open('/proc/self/maps') as maps:\n"
    "    print(json.dumps(sorted({line.split(None, 5)[5].strip() for line in maps if '/' in line})))\n"
)
IMPORT_S = 180.0


class NoCoverage(Exception):
    """Nothing can be counted here; the message is one line that says why."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What counting stands on. code: probes.c as a shared library."""

    code: Path
    blocks: BlockMap

    def probes(self, hits: Path) -> Probes:
        """Of processes that count into a file, which is made. Raises OSError."""
        make_hits(hits, self.blocks)
        return self.counting_into(hits)

    def counting_into(self, hits: Path) -> Probes:
        """Of processes that count into a file that is there."""
        return Probes(str(self.code), self.blocks.library, str(self.blocks.blocks), str(hits.absolute()))


def ground(tell: Callable[[str], None], library: Path | None = None) -> Ground:
    """Finds or makes what is needed, in the user's cache. library: what is counted, by default the TVM that is
    installed. tell: is given lines on what takes long. Raises NoCoverage."""
    code = compiled()
    library = installed_library() if library is None else library
    try:
        return Ground(code, map_of(library, cache(), tell))
    except (NoMap, NoCCompiler) as error:
        raise NoCoverage(f"there is no map of {library.name}: {error}") from error
    except OSError as error:
        raise NoCoverage(f"{error.filename or library}: {error.strerror or error}") from error


def compiled() -> Path:
    """probes.c as a shared library. Raises NoCoverage, also for machines that it is not for."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise NoCoverage(f"it works on x86-64 Linux alone, and this is {platform.machine()} {platform.system()}")
    if platform.libc_ver()[0] != "glibc":
        raise NoCoverage("it works with glibc alone")
    try:
        return library_of("probes.c", cache())
    except NoCCompiler as error:
        raise NoCoverage(str(error)) from error
    except OSError as error:
        raise NoCoverage(f"{error.filename}: {error.strerror or error}") from error


def installed_library() -> Path:
    """The library with TVM's passes, as a process that imports TVM has it. Raises NoCoverage."""
    command = [sys.executable, "-c", _LOADED]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=IMPORT_S, check=False, env=worker_environment()
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoCoverage(f"TVM cannot be imported: {error}") from error
    if done.returncode != 0:
        raise NoCoverage("TVM cannot be imported; `passfuzz doctor` says more")
    loaded: list[str] = json.loads(done.stdout.splitlines()[-1])
    for name in LIBRARIES:
        for path in loaded:
            if os.path.basename(path) == name:
                return Path(path)
    raise NoCoverage(f"TVM has loaded none of {', '.join(LIBRARIES)}")
