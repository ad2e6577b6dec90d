"""The C++ compiler: which one, its options, and what it has compiled beforehand."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import stat
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from oracles.builds.cuda_cpu.source import UnknownDeclaration, adapted
from oracles.builds.room import compiled
from oracles.forked import KEPT_TMPDIR

INCLUDE = Path(__file__).parent / "include"
HEADER = "cuda_cpu.h"
RUNTIME = "runtime.so"
"""The scheduler, which all kernels of a process share."""
NAMES = ("g++", "c++", "clang++")
TIMEOUT_S = 120.0
KERNELS_S = 10.0
"""Seconds that the source of a module may take, which is a second's work."""
FLAGS = (
    *("-std=gnu++17", "-O1", "-fPIC", "-w", "-fvisibility=hidden", "-U_FORTIFY_SOURCE"),
    # Integers wrap and pointers are cast as on the device.
    *("-fwrapv", "-fno-strict-aliasing", "-fno-delete-null-pointer-checks"),
)
CHECKS = (
    # A misaligned vector, or an index outside of an array of known extent, raises a signal.
    ("-fsanitize=alignment,bounds", "-fsanitize-undefined-trap-on-error"),
    # Uninitialised local variables hold a pattern.
    ("-ftrivial-auto-var-init=pattern",),
)
"""Options that not every compiler has."""


class CompileError(Exception):
    """The compiler refuses a source; the message begins with its first error."""


class TooSlow(CompileError):
    """The compiler takes too long, or the disk is full: nothing is said of the source."""


class NoCppCompiler(Exception):
    """There is no C++ compiler that works; the message says what was tried."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A compiler with its options, and the folder of the precompiled header and the scheduler."""

    command: tuple[str, ...]
    flags: tuple[str, ...]
    folder: Path

    def shared_library(self, cuda: str, to: Path) -> dict[str, int | None]:
        """Compiles CUDA C++ into the shared library `to`; its kernels, with the most threads of a block of each.

        Raises CompileError, also for sources that are not understood.
        """
        try:
            source = adapted(cuda)
        except UnknownDeclaration as error:
            raise CompileError(f"shared memory declared as `{error}`") from error
        text = to.with_suffix(".cpp")
        text.write_text(source.text)
        include = (f"-I{self.folder}", f"-I{INCLUDE}", "-include", HEADER)
        _run([*self.command, *self.flags, *include, "-shared", text.name, "-o", to.name], to.parent, KERNELS_S)
        return source.bounds


def available() -> str | None:
    """Why no CUDA source can be compiled for this machine's CPU, or None. Takes seconds on its first call ever."""
    if os.name != "posix":
        return "needs a POSIX system"
    try:
        toolchain()
    except NoCppCompiler as error:
        return str(error)
    return None


def toolchain() -> Toolchain:
    """The compiler of $CXX, else the first of NAMES that is there. Raises NoCompiler."""
    return _toolchain(os.environ.get("CXX", ""), os.environ.get("PATH", ""))


def compiler_path() -> str:
    """Where the compiler is. Raises NoCompiler."""
    return toolchain().command[0]


@cache
def _toolchain(asked: str, path: str) -> Toolchain:
    command = tuple(shlex.split(asked)) or next(((name,) for name in NAMES if shutil.which(name, path=path)), ())
    if not command:
        raise NoCppCompiler(f"no C++ compiler: neither $CXX nor any of {', '.join(NAMES)}")
    found = shutil.which(command[0], path=path)
    if found is None:
        raise NoCppCompiler(f"no C++ compiler: $CXX is {asked}, which is not there")
    command = (os.path.abspath(found), *command[1:])
    try:
        version = _run([*command, "--version"])
        folder = _cache() / _digest(version, *command)
        if not (folder / RUNTIME).exists():
            _prepare(command, folder)
    except (CompileError, OSError) as error:
        raise NoCppCompiler(f"the C++ compiler {command[0]} does not work: {error}") from error
    return Toolchain(command, tuple((folder / "flags").read_text().splitlines()), folder)


def _cache() -> Path:
    """A folder of this user's alone: what is in it gets loaded."""
    folder = Path(os.environ.get(KEPT_TMPDIR) or tempfile.gettempdir()) / f"passfuzz-cuda-cpu-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    held = folder.lstat()
    if not stat.S_ISDIR(held.st_mode) or held.st_uid != os.getuid() or held.st_mode & 0o022:
        return Path(tempfile.mkdtemp(prefix="passfuzz-cuda-cpu-"))
    return folder


def _digest(*parts: str) -> str:
    files = sorted(path for path in INCLUDE.iterdir() if path.suffix in (".h", ".cpp"))
    content = [path.read_text() for path in files]
    return hashlib.sha256("\0".join([*parts, *FLAGS, *map(str, CHECKS), *content]).encode()).hexdigest()[:16]


def _prepare(command: tuple[str, ...], folder: Path) -> None:
    """Compiles header and scheduler. The folder appears whole, even if other processes make it too."""
    made = Path(tempfile.mkdtemp(dir=folder.parent))
    flags = list(FLAGS)
    for optional in CHECKS:
        if _accepts(command, optional, made):
            flags += optional
    _run([*command, *flags, "-x", "c++-header", str(INCLUDE / HEADER), "-o", str(made / f"{HEADER}.gch")])
    source, library = str(INCLUDE / "runtime.cpp"), str(made / RUNTIME)
    _run([*command, *FLAGS, "-O2", f"-I{INCLUDE}", "-shared", source, "-o", library])
    (made / "flags").write_text("\n".join(flags))
    # clang looks for a precompiled header next to a header of that name, and g++ does not mind one.
    shutil.copy(INCLUDE / HEADER, made / HEADER)
    try:
        made.rename(folder)
    except OSError:  # Another process was faster.
        shutil.rmtree(made)
        if not (folder / RUNTIME).exists():
            raise


def _accepts(command: tuple[str, ...], options: tuple[str, ...], folder: Path) -> bool:
    text = folder / "empty.cpp"
    text.write_text("int nothing;\n")
    try:
        _run([*command, "-Werror", *options, "-c", str(text), "-o", str(folder / "empty.o")])
    except CompileError:
        return False
    return True


def _run(command: list[str], folder: Path | None = None, timeout_s: float = TIMEOUT_S) -> str:
    """What a compiler prints. Raises CompileError with its complaint, which has no path of a file in the folder."""
    try:
        done = compiled(command, folder, timeout_s)
    except TimeoutError as error:
        raise TooSlow(str(error)) from error
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
        first = errors[0] if errors else f"exit status {done.returncode}"
        raise CompileError(f"{first}\n{done.stderr}")
    return done.stdout
