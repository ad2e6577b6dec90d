"""How well causes agree with bugs that people have told apart by hand.

Every case folder is judged again in a process of its own, which gives the failure with its details; the causes are held
against clusters of the same findings that a person made by reading TVM. A pair is merged wrongly where two bugs have
one cause, and left apart where one bug has two. Both are counted twice: by cause alone, and as runs count, for which
the causes of one entry of the registry are one.

    python -m benchmarks.bench_causes OUT... [--hand FILE.json] [--show]

OUT: a folder of a campaign, or of case folders. FILE.json: {cluster: [folder name, ...]}.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

os.environ.setdefault("TVM_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from corpus.registry import SHIPPED, Registry, read_registry
from corpus.replayable import case_folders
from fuzzer.trial.cause.stored_cause import cause_of_case
from oracles.forked import ChildRaised

HAND = Path(__file__).parent.parent / "tests" / "corpus" / "data" / "causes-by-hand.json"


@dataclass(frozen=True, slots=True)
class ComparedPairs:
    """Pairs of findings: of different clusters with one cause, and of one cluster with two; and how many there are."""

    merged: tuple[tuple[str, str], ...]
    apart: tuple[tuple[str, str], ...]
    same: int
    other: int


def compared(causes: Mapping[str, str], clusters: Mapping[str, Sequence[str]]) -> ComparedPairs:
    """The causes of findings against clusters; findings that are in no cluster do not count."""
    of = {name: cluster for cluster, names in clusters.items() for name in names}
    both = sorted(name for name in causes if name in of)
    pairs = list(combinations(both, 2))
    same = [pair for pair in pairs if of[pair[0]] == of[pair[1]]]
    other = [pair for pair in pairs if of[pair[0]] != of[pair[1]]]
    merged = tuple((a, b) for a, b in other if causes[a] == causes[b])
    apart = tuple((a, b) for a, b in same if causes[a] != causes[b])
    return ComparedPairs(merged, apart, len(same), len(other))


def folders_of(outs: Iterable[Path]) -> list[Path]:
    """The case folders under campaigns' folders, and under plain ones."""
    return [folder for out in outs for folder in case_folders(out / "findings" if (out / "findings").is_dir() else out)]


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("outs", nargs="+", type=Path)
    parser.add_argument("--hand", type=Path, default=HAND)
    parser.add_argument("--show", action="store_true", help="the cause of every finding")
    arguments = parser.parse_args()
    clusters = json.loads(arguments.hand.read_text(encoding="utf-8"))
    causes: dict[str, str] = {}
    silent: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        for folder in folders_of(arguments.outs):
            try:
                cause = cause_of_case(folder, Path(scratch))
            except ChildRaised:  # It needs what is not here, a device or a file of passes.
                cause = None
            if cause is None:
                silent.append(folder.name)
                continue
            causes[folder.name] = str(cause)
            if arguments.show:
                print(f"{folder.name}\n    {cause}", flush=True)
    print(f"{len(causes)} findings, {len(set(causes.values()))} causes; {len(silent)} do not fail here: {silent}")
    by_hand = {cluster for cluster, names in clusters.items() if set(names) & set(causes)}
    print(f"by hand {len(by_hand)} clusters")
    _print("by cause alone", compared(causes, clusters))
    _print("as runs count", compared(_by_entry(causes, read_registry(SHIPPED)), clusters))


def _by_entry(causes: Mapping[str, str], registry: Registry) -> dict[str, str]:
    """The causes with that of their entry in place of those that a person has joined with it."""
    entries = {name: registry.match(cause) for name, cause in causes.items()}
    return {name: cause if (entry := entries[name]) is None else entry.identity for name, cause in causes.items()}


def _print(how: str, pairs: ComparedPairs) -> None:
    print(f"{how}: pairs of one: {pairs.same}, of two: {pairs.other}")
    for what, found in (("merged though two", pairs.merged), ("apart though one", pairs.apart)):
        print(f"  {what}: {len(found)}")
        for one, other in found:
            print(f"    {one}\n    {other}\n")


if __name__ == "__main__":
    main()
