"""Files and folders that a user names: what may be read, what may be written, and why not.

Everything here is asked before anything takes its time, and names the option.
"""

from __future__ import annotations

import stat
from pathlib import Path
from tempfile import TemporaryFile

from corpus.registry import SHIPPED
from corpus.regular_files import A_FOLDER
from fuzzer.errors import EnvironmentFault, UsageError

NOTHING = Path("none")
"""The FILE of `--known` that stands for no file."""
FILE_BYTES = 64 << 20
"""What a file of text that is read may have; a parser takes many times as much memory."""
PROBE_BYTES = 4096
"""Written to see whether a folder takes files."""


def existing(path: Path) -> Path:
    """A file or folder given as an argument. Raises UsageError when there is none."""
    if not path.exists():
        raise UsageError(f"{path}: no such file or folder")
    return path


def picked(path: Path) -> tuple[Path, str]:
    """The file and the name of FILE.py:NAME; the path itself and "" for any other."""
    file, colon, name = path.name.rpartition(":")
    if path.exists() or not (colon and file.endswith(".py") and name.isidentifier()):
        return path, ""
    return path.with_name(file), name


def existing_subject(path: Path) -> Path:
    """A file, a folder or FILE.py:NAME given as an argument. Raises UsageError where it is not there."""
    if path.name.endswith(".py:") and not path.exists():
        raise UsageError(
            f"{str(path)[:-1]}: no name after the colon; FILE.py:NAME takes what it names, FILE.py its module"
        )
    existing(picked(path)[0])
    return path


def case_folder(subject: Path) -> Path | None:
    """The folder of a case that the user named by that or by its case.json; None for a module."""
    return subject if subject.is_dir() else subject.parent if subject.name == "case.json" else None


def read_load(path: Path) -> Path:
    """The file of `--load`. Raises UsageError when it is not a readable Python file."""
    if path.suffix != ".py":
        raise UsageError(f"--load {path}: a Python file that defines PASSES is wanted")
    return _existing_file(path, "--load")


def unreadable(path: Path, most: int | None) -> str | None:
    """Why a file that is there must not be read: what it is (a pipe, a device, a folder), or more bytes than `most`.

    None where it may be, or is not there.
    """
    try:
        status = path.stat()
    except OSError:  # its reader says so
        return None
    if stat.S_ISDIR(status.st_mode):
        return A_FOLDER
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file; write it into one first"
    if most is not None and status.st_size > most:
        return f"larger than {most >> 20} MiB, which is what is read"
    return None


def known_file(path: Path | None, option: str = "--known") -> Path | None:
    """The file that `--known` means: the registry that comes with passfuzz for None, no file for NOTHING. Raises
    UsageError where the file is not there, or is none."""
    if path is None:
        return SHIPPED
    return None if path == NOTHING else _existing_file(path, option)


def registry_file(path: Path | None, option: str = "--known") -> Path:
    """The registry that is to be edited: the one that comes with passfuzz for None. Raises UsageError where none
    can be there, EnvironmentFault where nothing can be written."""
    if path is None:
        return SHIPPED
    if path == NOTHING:
        raise UsageError(f"{option} {NOTHING}: there must be a registry to write into")
    return output_file(path, option)


def _existing_file(path: Path, option: str) -> Path:
    if not path.exists():
        raise UsageError(f"{option} {path}: no such file")
    if (why := unreadable(path, FILE_BYTES)) is not None:
        raise UsageError(f"{option} {path}: {why}")
    return path


def existing_folder(path: Path | None, option: str) -> Path | None:
    """A folder given by an option, None where it is not given. Raises UsageError when there is none."""
    if path is not None and not path.is_dir():
        raise UsageError(f"{option} {path}: {'is a file; a folder is wanted' if path.exists() else 'no such folder'}")
    return path


def output_file(path: Path, option: str = "--output") -> Path:
    """Where a file is to be written. Raises UsageError for what is no file, EnvironmentFault where nothing can be
    written, before anything has taken its time."""
    if path.is_dir():
        raise UsageError(f"{option} {path}: {A_FOLDER}")
    if path.exists() and not path.is_file():
        raise UsageError(f"{option} {path}: is a device or a pipe; a file is wanted")
    folder = _nearest(path.absolute().parent)
    if (why := _unwritable(folder)) is not None:
        raise EnvironmentFault(f"{option} {path}: nothing can be written into {folder}: {why}")
    return path


def output_folder(path: Path, option: str) -> Path:
    """Where files are to be written, in a folder that need not be there. Raises UsageError for a file, EnvironmentFault
    where nothing can be written."""
    if path.exists() and not path.is_dir():
        raise UsageError(f"{option} {path}: is a file; a folder is wanted")
    folder = _nearest(path.absolute())
    if (why := _unwritable(folder)) is not None:
        what = "" if path.exists() else "cannot be made: "
        raise EnvironmentFault(f"{option} {path}: {what}nothing can be written into {folder}: {why}")
    return path


def _nearest(path: Path) -> Path:
    """The path, or the nearest of its parents that is there."""
    return next(one for one in (path, *path.parents) if one.exists())


def _unwritable(folder: Path) -> str | None:
    """Why no file can be written into a folder (no folder, read-only, a full disk, a limit); None where one can."""
    try:
        with TemporaryFile(dir=folder) as file:
            file.write(bytes(PROBE_BYTES))
            file.flush()
    except OSError as error:
        return error.strerror or str(error)
    return None
