"""Where a reduction goes: a script, or a case folder, and what `--resume` goes on from. Each is written whole.

The best so far is there after every success, so that nothing that ends the command loses it. What a reduction goes on
from lies beside the output, in a folder that is removed when nothing is left to try.
"""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from corpus.findings import with_rate
from corpus.named_errors import naming
from corpus.own import MARK
from corpus.rate import ReproRate
from corpus.regular_files import read_regular
from corpus.scripts.repro import json_beside
from corpus.store import MOST_TEXT, write_contents
from corpus.whole_folder import write_folder
from fuzzer.errors import UsageError
from fuzzer.given_paths import output_file, output_folder
from fuzzer.oneshot.messages import Better, Reduction
from fuzzer.trust import is_plain
from generators.case import Case
from reports.summary import write_text

SCRIPT, UNCONFIRMED = "repro.py", "repro.unconfirmed.py"
STATE = "reduction.json"
FILES = frozenset(
    ("case.json", "module.py", "module.json", SCRIPT, UNCONFIRMED, "README.md", "issue.md", "inputs.npz", MARK)
)
"""What a case folder has that a reduction may replace."""


class ReductionState(msgspec.Struct, frozen=True):
    """What a reduction goes on from, besides the case. of: which reduction this is. before: the sizes at its start."""

    of: str
    before: dict[str, float] = {}


@dataclass(frozen=True, slots=True)
class Resumed:
    """An earlier reduction. folder: of its best; before: the sizes at its start."""

    folder: Path
    before: dict[str, float]


@dataclass(slots=True)
class ReductionOutput:
    """path: as the user gave it. of: which reduction this is (`identity`). before: the sizes at its start, once they
    are known. trusted: what is reduced is the user's own. of_module: it is a module, not a stored case. written:
    whether this run has put something there."""

    path: Path
    of: str
    trusted: bool = False
    of_module: bool = False
    before: dict[str, float] = field(default_factory=dict)
    written: bool = False

    @property
    def is_folder(self) -> bool:
        """A name that ends in .py is that of a script."""
        return self.path.suffix != ".py"

    @property
    def script(self) -> Path:
        """Where the script is."""
        return self.path / SCRIPT if self.is_folder else self.path

    @property
    def unconfirmed(self) -> Path:
        """Where a script goes that a fresh process did not confirm."""
        return self.path / UNCONFIRMED if self.is_folder else self.path.with_suffix(".unconfirmed.py")

    @property
    def candidate(self) -> Path:
        """Where the first candidate goes, where the user's predicate refuses it."""
        return self.path.with_name(f"{self.path.stem}.candidate.py")

    @property
    def resume(self) -> Path:
        """The folder that `--resume` goes on from."""
        return self.path.with_name(f"{self.path.name}.resume")

    def resumed(self) -> Resumed:
        """What an earlier reduction has left. Raises UsageError where there is nothing, or it is of another one."""
        try:
            state = msgspec.json.decode(read_regular(self.resume / STATE, MOST_TEXT), type=ReductionState)
        except FileNotFoundError:
            raise UsageError(f"--resume: nothing to go on with: no folder {self.resume}") from None
        except (OSError, msgspec.DecodeError) as error:
            raise UsageError(f"--resume: {self.resume / STATE}: {error}") from error
        if state.of != self.of:
            raise UsageError(f"--resume: {self.resume} is of another module, or keeps something else")
        self.before = state.before
        return Resumed(self.resume, state.before)

    # --- writing ------------------------------------------------------------------------------------------

    def better(self, best: Better) -> None:
        """Keeps the best so far."""
        self.written = True
        state = msgspec.json.encode(ReductionState(self.of, self.before))
        with naming(self.resume):
            write_folder(self.resume, {**best.folder, STATE: state})
        if self.is_folder:
            write_contents(self.path, best.folder)
        else:
            self._script(self.path, best.repro, best.module_json)

    def finish(
        self, reduction: Reduction, number: int, rate: ReproRate | None = None, by_reference: bool = False
    ) -> None:
        """Keeps the script with this number, which a fresh process has confirmed, and its case. rate: where not each
        process did. by_reference: the case is one that `passfuzz check` has confirmed."""
        if self.is_folder:
            shown = reduction.by_reference if by_reference else None
            files = shown.folder if shown is not None else reduction.folders[number]
            files = files if rate is None else with_rate(files, rate)
            write_contents(self.path, files)
            # The answer of a process inside walls becomes the user's own only if it holds no code.
            if self.trusted or (self.of_module and is_plain(self.path)):
                write_contents(self.path, files, made_here=True)
        else:
            self._script(self.path, reduction.repros[number], reduction.module_json)
        if reduction.finished:
            self._end()

    def leave_unconfirmed(self, reduction: Reduction, number: int) -> None:
        """Keeps the script under the other name, and no other one of this run."""
        if self.is_folder:
            files = dict(reduction.folders[number])
            files[UNCONFIRMED] = files.pop(SCRIPT)
            write_contents(self.path, files)
        else:
            if self.written:
                self.path.unlink(missing_ok=True)
                json_beside(self.path).unlink(missing_ok=True)
            self._script(self.unconfirmed, reduction.repros[number], reduction.module_json)
        if reduction.finished:
            self._end()

    def _script(self, path: Path, text: str, module_json: str | None) -> None:
        if module_json is not None:
            write_text(json_beside(path), module_json)
        elif self.written:
            json_beside(path).unlink(missing_ok=True)
        write_text(path, text)

    def _end(self) -> None:
        shutil.rmtree(self.resume, ignore_errors=True)


def identity(case: Case, *asked: object) -> str:
    """Which reduction this is: of which module, and what it keeps."""
    text = "\0".join((case.module.script, case.module.json or "", repr(case.setup), repr(case.passes), repr(asked)))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def output_of_reduction(path: Path, by_predicate: bool) -> Path:
    """The path, where a reduction can be written there. Raises UsageError, so that no folder of anything else is
    replaced, and EnvironmentFault where nothing can be written."""
    if path.suffix == ".py":
        return output_file(path)
    if by_predicate:
        raise UsageError(
            f"--output {path}: with --interesting there is no failure to describe in a case; name a FILE.py"
        )
    output_folder(path, "--output")
    others = sorted({entry.name for entry in path.iterdir()} - FILES) if path.is_dir() else []
    if others:
        raise UsageError(f"--output {path}: holds other files ({others[0]}); a folder of its own is wanted")
    return path
