"""The TVMs that a replay runs on: a released version in an environment of its own, an interpreter, or a build of TVM.

An environment is made once for each released version, by pip, and kept in the user's cache. Its folder is marked when
it is whole; one that could not be made whole is removed.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

from fuzzer.errors import EnvironmentFault, UsageError, tell
from fuzzer.versions import KNOWN_PAIRS, tvm_version

INSTALL_TIMEOUT_S = 900.0
READY = ".ready"
_LIBRARIES = ("libtvm.so", "libtvm_compiler.so", "libtvm_runtime.so", "libtvm.dylib", "libtvm_compiler.dylib")
_LIBRARY_FOLDERS = ("build/lib", "build", "lib", ".", "python/tvm/lib", "python/tvm", "tvm/lib")


@dataclass(frozen=True, slots=True)
class Tvm:
    """A TVM that can be asked for its version. given: as the user named it, "" for the one that is installed.

    python: what runs it, with `path` before its own modules and `library` as TVM's folder of libraries. own_path:
    whether the user's PYTHONPATH holds there. wanted: the version that it must say, and within: the folder that its
    package must lie in; None for any.
    """

    given: str
    python: Path
    path: tuple[Path, ...] = ()
    library: Path | None = None
    own_path: bool = True
    wanted: str | None = None
    within: Path | None = None

    def environment(self) -> dict[str, str]:
        """The environment of its processes: one thread, no bytecode written."""
        one = {
            "TVM_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        kept = {name: value for name, value in os.environ.items() if self.own_path or name != "PYTHONPATH"}
        own = [kept["PYTHONPATH"]] if kept.get("PYTHONPATH") else []
        search = os.pathsep.join([*map(str, self.path), *own])
        places = {"PYTHONPATH": search} if search else {}
        return {**kept, **one, **places, **({"TVM_LIBRARY_PATH": str(self.library)} if self.library else {})}

    def complaint(self, version: str, file: str) -> str | None:
        """What is wrong with the TVM that was imported; None for nothing."""
        if self.within is not None and not Path(file).resolve().is_relative_to(self.within.resolve()):
            return f"imports the TVM in {Path(file).parent}, not its own"
        if self.wanted is not None and not _is_release(version, self.wanted):
            return f"its tvm says that it is {version}"
        return None


def _is_release(version: str, wanted: str) -> bool:
    try:
        return Version(version) == Version(wanted)
    except InvalidVersion:
        return version == wanted


def check_name(given: str) -> None:
    """Raises UsageError where `--tvm` names neither a version nor what is there and could be a TVM."""
    path = Path(given)
    if os.sep in given or given.startswith(".") or not _is_version(given):
        if not path.exists():
            raise UsageError(f"--tvm {given}: no version of TVM, no Python and no folder of TVM")
        if path.is_file() and not os.access(path, os.X_OK):
            raise UsageError(f"--tvm {given}: a file that is no Python interpreter")
        if not (path.is_file() or path.is_dir()):
            raise UsageError(f"--tvm {given}: neither a Python interpreter nor a folder")


def _is_version(given: str) -> bool:
    try:
        Version(given)
    except InvalidVersion:
        return False
    return given.isascii()


def find_tvm(given: str) -> Tvm:
    """The TVM that `--tvm` names: an interpreter or a folder that is there, else a released version, which is installed
    where need be. Raises EnvironmentFault, in one line, where it cannot be had.
    """
    path = Path(given)
    if given == "":
        return Tvm("", Path(sys.executable))
    if not _is_version(given) or (os.sep in given and path.exists()):
        absolute = Path(os.path.abspath(path))  # Not resolved: the Python of an environment is a link.
        return _of_folder(given, absolute) if path.is_dir() else Tvm(given, absolute)
    return Tvm(given, python_with(given), own_path=False, wanted=given)


def _of_folder(given: str, folder: Path) -> Tvm:
    """An environment, or a tree of TVM: its package in python/, its libraries in build/ or lib/. The folder of the
    build stands for the tree that it lies in."""
    if (folder / "bin" / "python").exists():
        return Tvm(given, folder / "bin" / "python", own_path=False)
    roots = (folder, folder.parent)
    packages = [
        root / inner for root in roots for inner in ("python", ".") if (root / inner / "tvm/__init__.py").is_file()
    ]
    if not packages:
        raise EnvironmentFault(f"{given}: no Python package tvm in it: neither python/tvm nor tvm has an __init__.py")
    package = Path(os.path.abspath(packages[0]))
    places = [folder / inner for inner in _LIBRARY_FOLDERS]
    if package.is_relative_to(folder.parent):
        places += [package / "tvm" / "lib", package / "tvm", package.parent / "build" / "lib", package.parent / "build"]
    libraries = [place for place in places if any((place / name).is_file() for name in _LIBRARIES)]
    if not libraries:
        raise EnvironmentFault(
            f"{given}: no library of TVM in it: no {' or '.join(_LIBRARIES[:2])} in build/lib, build or lib"
        )
    ffi = package.parent / "3rdparty" / "tvm-ffi" / "python"
    own_ffi = (ffi,) if list(ffi.glob("tvm_ffi/core*.so")) else ()
    return Tvm(given, Path(sys.executable), (package, *own_ffi), Path(os.path.abspath(libraries[0])), within=package)


# --- released versions ----------------------------------------------------------------------------------


def python_with(version: str) -> Path:
    """The Python that imports this TVM: our own when it is the installed one, else that of a cached environment.

    Raises EnvironmentFault with pip's last line when the version cannot be installed.
    """
    if version == tvm_version() and not os.environ.get("PYTHONPATH"):
        return Path(sys.executable)
    folder = cache() / f"tvm-{Version(version)}-py{sys.version_info.major}.{sys.version_info.minor}"
    python = folder / "bin" / "python"
    try:
        with _held(folder):
            if not (folder / READY).exists():
                tell(f"TVM {version} is installed into {folder}, once; it takes about 400 MB")
                _make(folder, version)
    except OSError as error:
        raise EnvironmentFault(f"TVM {version} cannot be installed: {error.filename}: {error.strerror}") from error
    return python


def _make(folder: Path, version: str) -> None:
    """Makes an environment whole, or leaves none."""
    try:
        venv.create(folder, with_pip=True, clear=True)
        _install(folder / "bin" / "python", version)
        (folder / READY).touch()
    except subprocess.CalledProcessError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise EnvironmentFault(
            f"TVM {version} cannot be installed: no environment: ensurepip ends with {error.returncode}"
        ) from error
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Holds the name of an environment for one process."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.with_name(f".{folder.name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


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
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements(version)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False, env=environment
        )
    except subprocess.TimeoutExpired as error:
        raise EnvironmentFault(f"TVM {version}: pip took longer than {INSTALL_TIMEOUT_S:.0f} s") from error
    if ended.returncode != 0:
        lines = [line for line in ended.stderr.splitlines() if line.startswith("ERROR")] or [f"pip: {ended.returncode}"]
        raise EnvironmentFault(f"TVM {version} cannot be installed: {lines[-1]}")
