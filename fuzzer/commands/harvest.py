"""`passfuzz harvest`: modules that `pytest --passfuzz --passfuzz-out DIR` has kept become seeds. No TVM here."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from corpus.escapes import one_line
from corpus.number_of import number_of
from fuzzer.errors import EnvironmentFault, UsageError
from fuzzer.plugin.harvested import Harvested, NoSeed, Seed
from fuzzer.processes.lines import Lines
from fuzzer.processes.start import module_command, worker_environment
from fuzzer.render import print_json
from fuzzer.versions import require_tvm
from generators.json_values import JsonObject
from reports.words import largest_first

MODULES = "modules"


@dataclass(frozen=True, slots=True)
class HarvestResult:
    """seeds: folders under SEEDS. left_out: why other modules are no seeds, and how many."""

    modules: int
    seeds: tuple[str, ...]
    left_out: dict[str, int]

    def to_json(self) -> JsonObject:
        return asdict(self)


def harvest(out: Path, seeds: Path) -> HarvestResult:
    """Writes a case folder under `seeds` for every kept module that is well-formed, that the reference interprets and
    that is not there already.

    Raises UsageError for a folder without modules, EnvironmentFault where the process that reads them ends early.
    """
    if not (out / MODULES).is_dir():
        raise UsageError(f"{out}: no folder {MODULES}; is it the --passfuzz-out folder of a pytest run?")
    require_tvm()
    seeds.mkdir(parents=True, exist_ok=True)
    command = module_command("fuzzer.plugin.harvester", str(os.getpid()), str(out.absolute()), str(seeds.absolute()))
    ended = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, env=worker_environment(), check=False
    )
    if ended.returncode != 0:
        last = (ended.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[-1]
        raise EnvironmentFault(
            f"the process that reads the modules ended with status {ended.returncode}: {one_line(last[:300])}"
        )
    said = tuple(Lines[Harvested](Harvested).take(ended.stdout))
    found = tuple(one.folder for one in said if isinstance(one, Seed))
    left_out = Counter(one.why for one in said if isinstance(one, NoSeed))
    return HarvestResult(len(said), found, dict(largest_first(left_out)))


def show_harvest(result: HarvestResult, seeds: Path, as_json: bool) -> None:
    """One line, and one per reason."""
    if as_json:
        print_json(result.to_json())
        return
    sys.stdout.write(
        f"{number_of(len(result.seeds), 'seed')} of {number_of(result.modules, 'module')} in {one_line(seeds)}\n"
    )
    for reason, number in result.left_out.items():
        sys.stdout.write(f"  left out {number}: {one_line(reason)}\n")
