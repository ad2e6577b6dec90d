"""The rows of a replay that is under way, on disk, so that one that was interrupted can go on.

One JSON object per line, each with the key of its case on its TVM: the files of the case, and the build of TVM. A row
whose key is another by now is run again.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec

from corpus.arrays_file import MOST_ARRAYS
from corpus.regular_files import MEBIBYTE, read_regular
from fuzzer.replaying.environments import cache
from reports.matrix import ReplayRow

MOST = 64 * MEBIBYTE


class _Line(msgspec.Struct):
    key: str
    row: ReplayRow


class Journal:
    """Of one corpus. Where nothing can be written, nothing is kept."""

    def __init__(self, corpus: Path, resume: bool) -> None:
        name = hashlib.sha256(os.fsencode(corpus.resolve())).hexdigest()[:16]
        self.path = cache() / "replays" / f"{name}.jsonl"
        self._rows = self._read() if resume else {}
        if not resume:
            self._remove()

    def row(self, key: str, label: str) -> ReplayRow | None:
        """The row of a case that has been run."""
        row = self._rows.get(key)
        return row if row is not None and row.tvm == label else None

    def keep(self, key: str, row: ReplayRow) -> None:
        """Adds a row. A line is written in one call, so that what is there is whole. A case in a folder whose name is
        no text is not kept, and is run again by --resume."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "ab") as file:
                file.write(msgspec.json.encode(_Line(key, row)) + b"\n")
        except (OSError, UnicodeEncodeError):
            return

    def done(self) -> None:
        """The replay has come to its end."""
        self._remove()

    def _remove(self) -> None:
        try:
            self.path.unlink(missing_ok=True)
        except OSError:
            return

    def _read(self) -> dict[str, ReplayRow]:
        try:
            lines = read_regular(self.path, MOST).splitlines()
        except (OSError, ValueError):
            return {}
        decoder = msgspec.json.Decoder(_Line)
        rows = {}
        for line in lines:
            try:
                one = decoder.decode(line)
            except (msgspec.MsgspecError, RecursionError):
                continue
            rows[one.key] = one.row
        return rows


def key_of(folder: Path, build: str) -> str:
    """What the row of a case follows from: its name, the files that say it, and the TVM."""
    digest = hashlib.sha256(f"{build}\0{folder.name}".encode("utf-8", "surrogateescape"))
    for name in ("case.json", "repro.py", "module.json", "inputs.npz"):
        try:
            content = read_regular(folder / name, MOST_ARRAYS if name == "inputs.npz" else MOST)
        except OSError:
            content = b""
        digest.update(f"\0{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()
