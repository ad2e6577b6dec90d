"""Inputs and a tolerance of the user's own for `check` and `reduce`: the options --inputs, --rtol and --atol.

No TVM here; `fuzzer.oneshot.given` holds the arrays against the module.
"""

from __future__ import annotations

import math
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from corpus.regular_files import A_FOLDER
from fuzzer.errors import UsageError, of_system
from generators.dtypes import Array
from oracles.tolerance import Tolerance


@dataclass(frozen=True, slots=True)
class OwnNumbers:
    """file: the path of --inputs as typed, "" where inputs are drawn. arrays: what it holds, by name. tolerance: None
    for the bounds of the reference."""

    file: str = ""
    arrays: dict[str, Array] = field(default_factory=dict)
    tolerance: Tolerance | None = None

    @property
    def asked(self) -> bool:
        """Whether the user gave any."""
        return bool(self.file) or self.tolerance is not None


DRAWN = OwnNumbers()
"""Inputs are drawn, and bounds are those of the reference."""


def read_own_numbers(inputs: Path | None, rtol: float | None, atol: float | None) -> OwnNumbers:
    """What the options say. Raises UsageError for a file that is no .npz of plain arrays, and below zero."""
    for option, value in (("--rtol", rtol), ("--atol", atol)):
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise UsageError(f"{option} {value:g}: a finite number, zero or larger, is wanted")
    tolerance = None if rtol is None and atol is None else Tolerance(rtol or 0.0, atol or 0.0)
    return OwnNumbers("" if inputs is None else str(inputs), {} if inputs is None else _arrays(inputs), tolerance)


def _arrays(path: Path) -> dict[str, Array]:
    if not path.is_file():
        raise UsageError(f"--inputs {path}: {A_FOLDER if path.is_dir() else 'no such file'}")
    try:
        held = np.load(path, allow_pickle=False)
        if not isinstance(held, np.lib.npyio.NpzFile):
            raise UsageError(f"--inputs {path}: one array; a .npz that names each parameter is wanted")
        with held:
            return {name: held[name] for name in held.files}
    except OSError as error:
        raise UsageError(f"--inputs {of_system(error)}") from error
    except (ValueError, EOFError, zipfile.BadZipFile) as error:  # NumPy's text is for its callers in Python
        raise UsageError(f"--inputs {path}: no .npz file of plain arrays, as numpy.savez writes it") from error
