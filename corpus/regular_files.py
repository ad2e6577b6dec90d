"""Reading and copying files that another user wrote: regular ones of a bounded size, and nothing else.

A pipe would be waited for, a device never ends, and a symbolic link leads to files that are not the stranger's.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

MEBIBYTE = 1 << 20
A_FOLDER = "is a folder; a file is wanted"
"""What is wrong with a folder where a file was asked for."""


class NotRegular(OSError):
    """No regular file, or one that is too large. `strerror` says which; never a missing file."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(0, reason, str(path))
        self.reason = reason


def read_regular(path: Path, most: int, follow: bool = True) -> bytes:
    """The content of a file of at most `most` bytes. follow: whether a symbolic link is read for its target.

    Raises FileNotFoundError, NotRegular, and OSError as usual.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except ValueError as error:  # a null byte in the path
        raise NotRegular(path, str(error)) from error
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            what = A_FOLDER if stat.S_ISDIR(state.st_mode) else "not a regular file"
            raise NotRegular(path, what)
        if state.st_size > most:
            raise NotRegular(path, f"{state.st_size:,} bytes, more than the {most:,} that passfuzz reads")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(descriptor)


def regular_files(folder: Path) -> list[str]:
    """The names of the regular files in a folder, sorted; symbolic links and folders are none.

    Raises OSError for a folder that cannot be listed.
    """
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False))


def is_real_folder(path: Path) -> bool:
    """Whether it is a folder and not a symbolic link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except (OSError, ValueError):
        return False
