"""The folder of one run: held by one process at a time, empty of other runs, swept of what killed ones have left."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from corpus.findings import PART
from fuzzer.campaign.checkpoint import CHECKPOINT_FILE
from fuzzer.coverage.hits import HITS_FILE
from fuzzer.errors import EnvironmentFault, UsageError
from fuzzer.processes.scratch import remove_whole
from reports.formats import FORMATS
from reports.summary import FINDINGS, FINDINGS_FILE, SUMMARY_FILE, UNCONFIRMED, UNREDUCED_FILE

OWN_FAULTS = "own-faults.txt"
OF_A_RUN = (
    *(SUMMARY_FILE, FINDINGS_FILE, CHECKPOINT_FILE, UNREDUCED_FILE, FINDINGS, UNCONFIRMED, OWN_FAULTS, HITS_FILE),
    *(row.file for row in FORMATS),
)
"""Files and folders that a run leaves; nothing else under OUT is ours."""
_SCRATCH = ".scratch-"


@contextmanager
def held(out: Path, *, fresh: bool, resume: bool) -> Iterator[Path]:
    """Holds `out` for this run, made if need be, and gives a scratch folder in it, which is gone afterwards.

    fresh: results of an earlier run are removed. resume: they are gone on with. Raises UsageError where there are any
    and neither is said, or where another run holds the folder, and EnvironmentFault where it cannot be written.
    """
    made = not out.exists()
    try:
        out.mkdir(parents=True, exist_ok=True)
        handle = os.open(out, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        why = "a link to nothing" if out.is_symlink() and not out.exists() else error.strerror
        raise EnvironmentFault(f"--out {out}: cannot be made: {why}") from error
    try:
        _lock(handle, out)
        left = [name for name in OF_A_RUN if os.path.lexists(out / name)]
        if left and not (fresh or resume):
            raise UsageError(
                f"--out {out}: holds {left[0]} of an earlier run; --fresh removes it, --resume goes on with that run"
            )
        yield from _with_scratch(out, [] if resume else left)
    finally:
        os.close(handle)
        if made:
            _leave_no_empty(out)


@contextmanager
def refused_leaves_nothing(out: Path) -> Iterator[None]:
    """Of a run that is refused before its first case nothing stays in its folder, which held no other."""
    try:
        yield
    except BaseException:
        for name in OF_A_RUN:
            with suppress(OSError):
                remove(out / name)
        raise


def _lock(handle: int, out: Path) -> None:
    """The kernel lets go of the lock when this process ends, however that is."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(f"--out {out}: another run is writing there") from None
    except OSError as error:
        raise EnvironmentFault(f"--out {out}: cannot be locked: {error.strerror}") from error


def _with_scratch(out: Path, left: list[str]) -> Iterator[Path]:
    try:
        for pattern in (f"{_SCRATCH}*", f"{PART}*", f"{UNCONFIRMED}/{PART}*"):
            for leftover in out.glob(pattern):
                remove(leftover)
        for name in left:
            remove(out / name)
        scratch = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=out))
    except OSError as error:
        raise EnvironmentFault(f"--out {out}: cannot be written: {error.strerror}") from error
    try:
        yield scratch.absolute()
    finally:
        remove_whole(scratch)


def remove(path: Path) -> None:
    """Removes a file, a link (not what it points at) or a folder with all in it. Raises OSError."""
    if path.is_dir() and not path.is_symlink():
        remove_whole(path, ignore_errors=False)
    else:
        path.unlink(missing_ok=True)


def _leave_no_empty(out: Path) -> None:
    """Removes the folder of a run that was refused, unless something is in it."""
    if out.is_dir() and not any(out.iterdir()):
        out.rmdir()
