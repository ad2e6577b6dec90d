"""The process of `passfuzz harvest`: kept modules become case folders, one forked child each. Loads TVM.

PrimFuncs without a caller get a Relax function that calls them, where call_tir can: a seed needs values.

`python -m fuzzer.plugin.harvester PARENT OUT SEEDS` answers with a Seed or a NoSeed per module, one JSON
object per line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from corpus.escapes import one_line, slug_of
from corpus.readme import seed_text
from corpus.regular_files import read_regular
from corpus.scripts.module_text import text_of
from corpus.scripts.repro import repro_text
from corpus.store import MOST_TEXT, UNREADABLE, CorruptCase, StoredCase, why, write_case
from fuzzer.plugin.harvested import Digest, Harvested, NoSeed, Seed
from fuzzer.plugin.modules import FOLDER
from fuzzer.processes.flight import Recorder
from fuzzer.processes.lines import Heard, in_child, send
from fuzzer.processes.scratch import scratch_folder
from fuzzer.trial.foreign.foreign_trial import MEMORY_BYTES
from fuzzer.trial.subject.entries import with_entries
from fuzzer.trial.subject.unpromised_inputs import NoInputs, meaning_of, seed_of
from fuzzer.versions import tvm_version
from generators import tvm_api as T
from generators.case import Case, Origin, PassCall
from oracles.activities import Interpreting, Working, described
from oracles.checks import survives
from oracles.checks.well_formed import complaint
from oracles.family import go_on_guarded
from oracles.ir.compare import digest
from oracles.process_state import limit_memory
from oracles.verdict import CRASH

DEADLINE_S = 30.0


class _KeptFile(msgspec.Struct):
    name: str = msgspec.field(name="pass")
    test: str
    module: str


@dataclass(frozen=True, slots=True)
class KeptModule:
    """A file under OUT/modules: TVM's JSON of a module, the pass that was applied to it, and by which test."""

    file: Path
    name: str
    test: str
    module: str

    @staticmethod
    def read(file: Path) -> KeptModule:
        """Raises CorruptCase for what is no such file."""
        try:
            said = msgspec.json.decode(read_regular(file, MOST_TEXT), type=_KeptFile)
        except UNREADABLE as error:
            raise CorruptCase(file, why(error)) from error
        return KeptModule(file, one_line(said.name), one_line(said.test), said.module)

    @property
    def folder(self) -> str:
        """What the folder of its seed is called, but for the digest."""
        return slug_of(self.name.replace(".", "_"))


def harvest(out: Path, seeds: Path, say: Callable[[Harvested], None]) -> None:
    """Says Seed or NoSeed of every file, in the order of their names."""
    seen: set[str] = set()
    with scratch_folder() as scratch:
        recorder = Recorder.create(scratch / "flight")
        for file in sorted((out / FOLDER).glob("*.json")):
            recorder.write(0, Working("read"))
            maker, union = _maker(file, seeds, seen, recorder), Digest | NoSeed | Seed
            heard = in_child(maker, union, recorder, DEADLINE_S, per_activity=True)
            seen.update(message.digest for message in heard.messages if isinstance(message, Digest))
            last = heard.messages[-1] if heard.messages else None
            if isinstance(last, (Seed, NoSeed)):
                say(last)
            else:
                say(NoSeed(_unfinished(heard)))


def _unfinished(heard: Heard[Digest | NoSeed | Seed]) -> str:
    """Why a child has not said whether its module is a seed."""
    where, ended = described(heard.activity), heard.ended
    assert ended is not None, "a child that gets through says whether the module is a seed"
    if ended.raised:
        return f"own fault in {where}: {ended.what}"
    return f"killed from outside in {where}" if ended.from_outside else f"{ended.how} in {where}"


def _maker(
    file: Path, seeds: Path, seen: set[str], recorder: Recorder
) -> Callable[[Callable[[msgspec.Struct], None]], None]:
    def make(say: Callable[[msgspec.Struct], None]) -> None:
        limit_memory(MEMORY_BYTES)
        try:
            kept = KeptModule.read(file)
        except CorruptCase as error:
            say(NoSeed(f"{file.name} cannot be read: {error.reason}"))
            return
        live = _module(kept.module)
        if live is None:
            say(NoSeed("this TVM cannot read it"))
            return
        module = with_entries(live)
        name = digest(module)
        if name in seen:
            say(NoSeed("the same as another but for names of variables"))
            return
        say(Digest(name))
        if complaint(module):
            say(NoSeed("ill-formed"))
            return
        recorder.write(0, Interpreting())
        numbers = meaning_of(module, seed_of(module))
        if isinstance(numbers, NoInputs):
            say(NoSeed(numbers.reason))
            return
        recorder.write(0, Working("text"))
        case = Case(text_of(module), _passes(kept.name), numbers.calls, origin=Origin(file=kept.test))
        folder = seeds / f"{kept.folder}-{name}"
        _write(folder, kept, case)
        say(Seed(folder.name))

    return make


def _module(text: str) -> T.IRModule | None:
    """The module; None where this TVM cannot read it."""
    try:
        return T.module_from_json(text)
    except Exception:  # noqa: BLE001 - what TVM says of a text that is none of its own
        return None


def _passes(name: str) -> tuple[PassCall, ...]:
    """The pass as its row constructs it first; () for a pass of no row, or one that depends on the program."""
    from generators.passes.table import rows_named

    rows = [row for row in rows_named(name) if row.sources]
    return (PassCall(rows[0].name, rows[0].sources[0]),) if rows else ()


def _write(folder: Path, kept: KeptModule, case: Case) -> None:
    stored = StoredCase(
        case=case,
        title=f"seed: what {kept.test or 'a test'} gives to {kept.name}",
        oracle=survives.ORACLE.name,
        symptom=CRASH,
        culprit=kept.name,
        expected=((tvm_version(), "passes"),),
    )
    write_case(folder, stored, repro_text(stored), seed_text(stored.title, kept.test, kept.name))


def main() -> None:
    go_on_guarded(int(sys.argv[1]))
    answers = os.dup(1)
    os.dup2(2, 1)  # what TVM prints is not an answer
    harvest(Path(sys.argv[2]), Path(sys.argv[3]), lambda message: send(answers, message))


if __name__ == "__main__":
    main()
