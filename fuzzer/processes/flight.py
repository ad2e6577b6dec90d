"""The flight recorder: which case a child is at, and what it is doing, in shared memory backed by a file.

The file outlives every process, so that even `kill -9` of a whole campaign leaves what was in flight.
"""

from __future__ import annotations

import mmap
import numbers
from pathlib import Path

import msgspec

from corpus.named_errors import naming
from oracles.activities import Activity, Working
from oracles.pipes import require_pipes

_SIZE = 512
_LONGEST = 100


def plain(value: object) -> str | int | float:
    """For encoders: TVM's strings and NumPy's numbers are classes of their own. Raises TypeError for anything else."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    raise TypeError(f"a message holds a {type(value).__name__}")


_ENCODER = msgspec.json.Encoder(enc_hook=plain)
_DECODER: msgspec.json.Decoder[Activity] = msgspec.json.Decoder(Activity)
NOTHING = Working("nothing yet")


class Recorder:
    """One line, `index TAB activity`, overwritten in place; read by the parent of the process that writes."""

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory

    @staticmethod
    def create(path: Path) -> Recorder:
        """A recorder on a fresh file; children inherit it by fork."""
        with naming(path):
            path.unlink(missing_ok=True)
            path.write_bytes(b"\0" * _SIZE)
        with path.open("r+b") as file:
            return Recorder(mmap.mmap(file.fileno(), _SIZE))

    def write(self, index: int, activity: Activity) -> None:
        """Records that case `index` begins an activity.

        Raises CannotAnswer, and leaves the activity before, in a child whose pipes that activity has closed.
        """
        require_pipes()
        try:
            line = b"%d\t%s\n" % (index, _ENCODER.encode(activity))
        except UnicodeEncodeError:
            line = b""
        if not 0 < len(line) < _SIZE:
            cut = Working(f"something with a long name: {ascii(activity)}"[:_LONGEST])
            line = b"%d\t%s\n" % (index, _ENCODER.encode(cut))
        self._memory[: len(line) + 1] = line + b"\0"

    def read(self) -> tuple[int, Activity]:
        """(index, activity) as last written; (-1, NOTHING) before the first."""
        index, _, activity = self._memory[:].split(b"\0", 1)[0].split(b"\n", 1)[0].partition(b"\t")
        try:
            return int(index), _DECODER.decode(activity)
        except (ValueError, msgspec.DecodeError):
            return -1, NOTHING
