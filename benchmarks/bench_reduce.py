"""How small and how fast: random 12-statement modules with a planted predicate, reduced.

Predicates: "operator A feeds operator B" (the pair drawn from the module) and "pass P raises". Prints the median and
the worst number of bindings, calls of `interesting`, and seconds, and how often each step was of use.

    python -m benchmarks.bench_reduce [--modules 50] [--seed 2]

`bench_reduction.py` measures the other half: what became of the findings of real campaigns.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections import Counter
from collections.abc import Callable
from typing import Any

from corpus.reduce import Candidate, Smallest, reduce
from corpus.reduce.draft import all_binds, leaves, lift
from corpus.reduce.realise import TVM_ERRORS
from generators import tvm_api as T
from generators.case import PassCall
from generators.relax.knobs import Knobs
from generators.relax.relax_program import draw_program
from generators.source import SeededSource

CRASHES = {
    "FastMathTransform": lambda: T.relax.transform.FastMathTransform(),
    "CombineParallelMatmul": lambda: T.relax.transform.CombineParallelMatmul(),
}
PASSES = tuple(PassCall(f"P{number}", "") for number in range(6))


def feeding_pairs(module: Any) -> frozenset[tuple[str, str]]:
    """(A, B) for every operator A whose result is an operand of operator B."""
    pairs: set[tuple[str, str]] = set()
    for _, function in lift(module).drafts():
        made: dict[Any, str] = {}
        for bind in all_binds(function.body):
            name = T.op_name(bind.value)
            if name is not None:
                pairs.update((made[leaf], name) for leaf in leaves(bind.value) if leaf in made)
                made[bind.var] = name
    return frozenset(pairs)


def _raises(make: Callable[[], Any], module: Any) -> str | None:
    try:
        make()(module)
    except (*TVM_ERRORS, AssertionError) as error:  # te asserts that shapes are known
        return type(error).__name__
    return None


def predicates(module: Any, seed: int) -> list[tuple[str, Callable[[Candidate], bool]]]:
    """Named predicates that hold for the module with PASSES."""
    found: list[tuple[str, Callable[[Candidate], bool]]] = []
    pairs = sorted(feeding_pairs(module))
    if pairs:
        pair = random.Random(seed).choice(pairs)
        needed = random.Random(seed).choice(PASSES)
        found.append(("feeds", lambda c: needed in c.passes and pair in feeding_pairs(c.module)))
    for name, make in CRASHES.items():
        kind = _raises(make, module)
        if kind is not None:
            found.append((name, lambda c, make=make, kind=kind: _raises(make, c.module) == kind))  # type: ignore[misc]
    return found


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", type=int, default=50)
    parser.add_argument("--seed", type=int, default=2)
    options = parser.parse_args()
    results: dict[str, list[Smallest]] = {}
    useful: Counter[str] = Counter()
    for index in range(options.modules):
        program = draw_program(SeededSource(options.seed, index), Knobs(operators=(12, 12)))
        for name, predicate in predicates(program.module, index):
            reduction = reduce(Candidate(program.module, (), PASSES, program.calls), predicate)
            results.setdefault(name, []).append(reduction)
            useful.update(dict(reduction.accepted))
    for name, reductions in results.items():
        print(f"{name}: {len(reductions)} modules")
        for field in ("bindings_before", "bindings_after", "oracle_calls", "seconds"):
            numbers = [getattr(reduction, field) for reduction in reductions]
            print(f"  {field:16} median {statistics.median(numbers):8.3f}  worst {max(numbers):8.3f}")
    print("accepted edits:", dict(useful.most_common()))


if __name__ == "__main__":
    main()
