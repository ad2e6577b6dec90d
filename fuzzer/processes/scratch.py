"""Scratch folders among the temporary files, of which none outlives its process for long.

Each is held by a lock as long as its process lives. What a killed process has left, the next one of its kind removes.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL

PREFIX = "passfuzz-shot-"
FRESH_S = 5.0
"""Seconds in which a folder that is being made may have no lock yet."""


@contextmanager
def scratch_folder(prefix: str = PREFIX) -> Iterator[Path]:
    """A folder whose name begins so, gone afterwards; those that killed processes have left go first."""
    sweep(prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield folder
    finally:
        os.close(handle)
        remove_whole(folder)


def remove_whole(folder: Path, *, ignore_errors: bool = True) -> None:
    """Removes a folder that code of strangers has written into: it may be deeper than a removal in Python can go, which
    calls itself for each level. Raises OSError where errors are not ignored."""
    try:
        shutil.rmtree(folder, ignore_errors=ignore_errors)
    except RecursionError:
        with suppress(OSError):
            subprocess.run(["rm", "-rf", "--", folder], stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, check=False)


def sweep(prefix: str) -> None:
    """Removes the scratch folders of this user, with names that begin so, whose process was killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        try:
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue  # Another process has removed it, or it is no folder.
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if time.time() - os.fstat(handle).st_ctime > FRESH_S:
                remove_whole(folder)
        except OSError:
            continue  # It is held, or not ours to lock.
        finally:
            os.close(handle)
