"""How much of what the numeric oracle says of deep modules is decided, and whether it says the right thing.

Rows: each module of `benchmarks.decided_modules` under each Relax pass of the table that keeps meaning and takes a
high-level module, one by one, and under the default pipelines of the targets, pass by pass: verdicts, those undecided,
failures (false alarms, unless TVM is at fault), the faults of `benchmarks.decided_faults` that have a place in the
module, how many of them are seen and which are not. The last lines say what is undecided, by pass.

    python -m benchmarks.bench_decided [--modules "encoder 1,mlp"] [--rounds 3] [--families]

--families: the 30 modules of `benchmarks.reduce_families` instead, under the pipeline alone.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeAlias

os.environ.setdefault("TVM_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.children import ToParent, in_child
from benchmarks.decided_faults import FAULTS, planted
from benchmarks.decided_modules import MODULES
from benchmarks.reduce_families import FAMILIES
from fuzzer.trial.subject.inputs import drawn_calls, facts_of
from generators.case import EntryCall, PassCall
from generators.passes.row import Meaning, Phase
from generators.passes.table import PASSES, PIPELINES, default_call
from generators.source import SeededSource
from oracles.checks import numeric
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import Wrong
from oracles.trace import Position
from oracles.verdict import Failed, Inconclusive, Passed
from oracles.walk import walk
from oracles.workbench import Workbench

Word: TypeAlias = tuple[str, str, str]
"""A pass, the verdict on it, and the message of a failed one."""


def judged(module: Any, calls: Sequence[EntryCall], passes: Sequence[PassCall]) -> tuple[list[Word], float]:
    """The numeric oracle's word on each pass, up to one that raises or crashes."""

    def work(say: ToParent[Word]) -> None:
        bench = Workbench(SeededSource(0), Numbers(module, calls), {})
        for step in walk(Position.at(module), passes, PASSES, bench):
            if step.after is not None and step.changed:
                verdict = numeric.judge(step, bench)
                message = verdict.message if isinstance(verdict, Failed) else ""
                say((step.call.name, type(verdict).__name__, message))

    said = in_child(work, Word)
    return said.messages, said.cpu_s


def alone(module: Any, calls: Sequence[EntryCall]) -> list[PassCall]:
    """Each pass that keeps the meaning of a high-level module, with its first constructor."""
    facts = facts_of(module, tuple(calls))
    found = []
    for name, row in PASSES.items():
        if Phase.HIGH not in row.place.phases or row.promise.meaning is Meaning.CHANGED or not row.of_relax:
            continue
        text = row.sources[0] if row.sources else row.draw(SeededSource(0), facts)
        if text is not None:
            found.append(PassCall(name, text))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules")
    parser.add_argument("--families", action="store_true")
    parser.add_argument("--targets", default="llvm")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    undecided: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    print(f"{'module':20}{'verdicts':>9}{'undecided':>10}{'failed':>7}{'faults':>8}{'seen':>6}{'cpu s':>8}")
    models = FAMILIES if options.families else MODULES
    for name in options.modules.split(",") if options.modules else models:
        module = models[name]()
        calls = drawn_calls(module, 0, options.rounds)
        pipelines = [[default_call(each) for each in PIPELINES[target]] for target in options.targets.split(",")]
        said, spent = list[Word](), 0.0
        singles = [] if options.families else [[call] for call in alone(module, calls)]
        for passes in [*singles, *pipelines]:
            told, cpu_s = judged(module, calls, passes)
            said, spent = said + told, spent + cpu_s
        counts = Counter(verdict for _, verdict, _ in said)
        undecided.update(each for each, verdict, _ in said if verdict == Inconclusive.__name__)
        for each, verdict, message in said:
            if verdict == Failed.__name__:
                print(f"  {each}: {message}")
        seen, missed = 0, list[str]()
        for what, fault in FAULTS.items():
            wrong = planted(fault, module)
            if wrong is None:
                continue
            found = isinstance(Numbers(module, calls).judge_module(wrong), Wrong)
            seen += found
            missed += [] if found else [what]
        decided = counts[Passed.__name__] + counts[Failed.__name__] + counts[Inconclusive.__name__]
        print(
            f"{name:20}{decided:9}{counts[Inconclusive.__name__]:10}{counts[Failed.__name__]:7}"
            f"{seen + len(missed):8}{seen:6}{spent:8.1f}  {', '.join(missed)}",
            flush=True,
        )
        totals.update(counts)
    print(f"in all: {dict(totals)}")
    print(f"undecided, by pass: {dict(undecided.most_common())}")


if __name__ == "__main__":
    main()
