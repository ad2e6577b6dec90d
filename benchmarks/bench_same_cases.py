"""Two versions of passfuzz on the same cases: one draws them into a file, each judges the modules and passes in it.

Programs that are drawn change from version to version, so `bench_throughput` compares different cases. Here only
judging is compared, by every oracle that builds nothing. Judging is in this process, so that instructions can be
counted where seconds are noisy. Loading the cases is in that count: subtract the count of `--judged 0`. --without
switches caches off: MODULE.NAME with commas between, or SMALL for the group of docs/caches.md.

    python -m benchmarks.bench_same_cases draw FILE [--seed 5] [--relax 60] [--tir 15]
    python -m benchmarks.bench_same_cases judge FILE [--kind tir] [--judged 10] [--verdicts] [--without SMALL]
    valgrind --tool=cachegrind --cache-sim=no python -m benchmarks.bench_same_cases judge FILE
"""

from __future__ import annotations

import argparse
import importlib
import os
import pickle
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path

os.environ.setdefault("TVM_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import tvm

from benchmarks.batches import CHEAP, RELAX
from benchmarks.children import ToParent, in_child
from fuzzer.processes.flight import Recorder
from fuzzer.protocol import Plan
from fuzzer.trial.experiment import Experiment
from fuzzer.trial.judge import Judgement, judge
from fuzzer.trial.options import JudgeOptions, options_of
from fuzzer.trial.repertoire import Repertoire, repertoire_of
from fuzzer.worker.child import before_forking
from fuzzer.worker.draw import draw_experiment
from generators.case import EntryCall, PassCall, Tier
from generators.passes.sequence_kinds import Kind
from generators.passes.table import TIR_PASSES
from generators.source import SeededSource
from generators.tvm_api import module_from_json
from generators.unavailable import Unavailable
from oracles.ir.cache import Cache
from oracles.verdict import Verdict

KINDS: dict[str, tuple[Kind, ...]] = {"relax": RELAX, "tir": ("tir_pipeline",)}
SMALL = (
    "oracles.ir.walk._READ",
    "oracles.ir.walk._FUNCTIONS",
    "oracles.reference.tir.decode.tvm_objects._TYPES",
    "oracles.checks.type_soundness._CALLS",
    "oracles.ir.verifier._PRIM_FUNCS",
    "oracles.reference.tir.engine._BY_PARTS",
    "fuzzer.trial.operators_met._NODES",
    "fuzzer.trial.operators_met._OPERATORS",
    "fuzzer.trial.operators_met.MET",
)
"""The caches that docs/caches.md counts as one group."""


@dataclass(frozen=True, slots=True)
class SavedCase:
    """A case as plain data, whose form stays the same from version to version."""

    kind: str
    seed: int
    index: int
    module: str
    calls: tuple[EntryCall, ...]
    setup: tuple[tuple[str, str, str], ...]
    passes: tuple[tuple[str, str, str], ...]
    tiers: tuple[Tier, ...]

    def experiment(self) -> Experiment:
        """The case with its module loaded."""
        setup, passes = ([PassCall(*call) for call in calls] for calls in (self.setup, self.passes))
        module = module_from_json(self.module)
        return Experiment(self.index, module, self.calls, tuple(setup), tuple(passes), self.tiers)


def _plan(kind: str, seed: int) -> Plan:
    return Plan(seed=seed, oracles=CHEAP, kinds=KINDS[kind])


def _repertoire(kind: str, plan: Plan) -> Repertoire:
    full = repertoire_of(plan)
    left_out = TIR_PASSES if kind == "relax" else ()
    return replace(full, rows={name: row for name, row in full.rows.items() if name not in left_out})


def drawn(kind: str, seed: int) -> Iterator[SavedCase]:
    """The cases of a campaign of this kind that can be loaded and judged without an end of the process."""
    plan = _plan(kind, seed)
    repertoire = _repertoire(kind, plan)
    options = replace(options_of(plan, repertoire), build_share=0.0)
    for index in count():
        try:
            case = draw_experiment(plan, repertoire, index).experiment
        except Unavailable:
            continue
        calls = ([(call.name, call.source, call.options) for call in calls] for calls in (case.setup, case.passes))
        setup, passes = map(tuple, calls)
        module = str(tvm.ir.save_json(case.module))
        saved = SavedCase(kind, seed, index, module, case.calls, setup, passes, case.tiers)

        def judged(say: ToParent[bool], saved: SavedCase = saved) -> None:
            judge(saved.experiment(), options, SeededSource(saved.seed, saved.index))
            say(True)

        if in_child(judged, bool).messages:
            yield saved


def save(file: Path, seed: int, amounts: dict[str, int]) -> None:
    """So many cases of each kind, as dicts: no class of this file is in the pickle."""
    cases = [case for kind, amount in amounts.items() for case in islice(drawn(kind, seed), amount)]
    fields = SavedCase.__slots__
    file.write_bytes(pickle.dumps([{field: getattr(case, field) for field in fields} for case in cases]))


def judge_saved(file: Path, kind: str, most: int, verdicts: bool) -> str:
    """Judges the cases in this process; a line on what was judged and where the CPU seconds went."""
    read = [SavedCase(**fields) for fields in pickle.loads(file.read_bytes())]
    cases = [case for case in read if case.kind == kind]
    plan = _plan(kind, cases[0].seed)
    options = replace(options_of(plan, _repertoire(kind, plan)), build_share=0.0)
    before_forking()
    experiments = [case.experiment() for case in cases]
    phases, applied, spent = Counter[str](), 0, 0.0
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        recorder = Recorder.create(Path(folder) / "flight")
        for case, experiment in islice(zip(cases, experiments, strict=True), most):
            begun = time.process_time()
            said = _judged(case, experiment, options, recorder, verdicts)
            spent += time.process_time() - begun
            phases.update(said.counts.phases)
            applied += sum(row["applied"] for row in said.counts.passes.values())
    parts = ", ".join(f"{phase} {seconds:.2f}" for phase, seconds in phases.items())
    return f"{kind}: {min(most, len(cases))} cases, {applied} passes applied, {spent:.2f} s of CPU: {parts}"


def _judged(
    case: SavedCase, experiment: Experiment, options: JudgeOptions, recorder: Recorder, verdicts: bool
) -> Judgement:
    def heard(oracle: str, pass_name: str | None, verdict: Verdict) -> None:
        if verdicts:
            print(case.index, oracle, pass_name, verdict)

    told = replace(options, announce=lambda activity: recorder.write(case.index, activity), on_verdict=heard)
    return judge(experiment, told, SeededSource(case.seed, case.index))


def switch_off(names: Sequence[str]) -> None:
    """Makes each of these caches, as MODULE.NAME, one of no entries: what it would remember is computed each time."""
    for name in names:
        module, _, attribute = name.rpartition(".")
        cache = getattr(importlib.import_module(module), attribute)
        if not isinstance(cache, Cache):
            raise SystemExit(f"--without {name}: not a cache")
        cache.resize(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=("draw", "judge"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--relax", type=int, default=60)
    parser.add_argument("--tir", type=int, default=15)
    parser.add_argument("--kind", choices=tuple(KINDS), default="relax")
    parser.add_argument("--judged", type=int, default=10**6, help="at most so many cases")
    parser.add_argument("--verdicts", action="store_true", help="print each verdict")
    parser.add_argument("--without", default="", metavar="CACHES", help="caches to switch off")
    options = parser.parse_args()
    if options.do == "draw":
        save(options.file, options.seed, {"relax": options.relax, "tir": options.tir})
    else:
        switch_off(SMALL if options.without == "SMALL" else [name for name in options.without.split(",") if name])
        print(judge_saved(options.file, options.kind, options.judged, options.verdicts))


if __name__ == "__main__":
    main()
