"""How often the reference and the LLVM build disagree, and on what: to be read one by one.

Every case is judged by the reference after every pass and then built and run. What is left is a disagreement of which
the reference may be the reason, or a wrong pass of the lowering, or the code generator. Disagreements are
gathered by culprit, symptom and the operators of the case, each with its first case, which `passfuzz run --seed` draws
again.

    python -m benchmarks.bench_agreement [--cases 2000] [--seed 5] [--first 0]
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict

os.environ.setdefault("TVM_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.batches import judge_indices
from fuzzer.protocol import Failure, Plan
from oracles.table import BUILD

AT_ONCE = 960
"""Cases between two lines that say how far it is."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    plan = Plan(seed=options.seed, build_share=1.0, oracles=("numeric", BUILD, "definedness", "well_formed"))
    last = options.first + options.cases
    compared, found = 0, defaultdict[tuple[str, str], list[Failure]](list)
    for first in range(options.first, last, AT_ONCE):
        judged = judge_indices(plan, range(first, min(first + AT_ONCE, last)))
        compared += judged.tally.oracles.get(BUILD, {}).get("passed", 0)
        for failure in judged.failures:
            if failure.oracle == BUILD:
                found[failure.culprit, failure.symptom].append(failure)
        print(f"up to case {first + AT_ONCE}: {compared} builds agree", flush=True)
    for (culprit, symptom), failures in sorted(found.items()):
        print(f"{culprit}: {symptom}: {len(failures)} cases")
        for failure in failures:
            print(f"    case {failure.index}: {failure.message[:120]}")


if __name__ == "__main__":
    main()
