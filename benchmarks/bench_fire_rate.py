"""How often a pass changes the program, and how soon in a campaign.

By itself (the default): for each row of the pass table, cases drawn as `passfuzz run --passes NAME` draws them:
how often it was applied, the share that changed the module, refusals. Rows below their floor are marked.

--mixed N: a campaign of N cases over the targets, as `passfuzz run` draws it: the passes that never fired, the cases to
the first firing of each pass (median, quartile, nine in ten; N where there was none), and the rates. With --even every
row is drawn as often as any other: then the rates are those that the rows of the pass table say (`Fires.rate`). One
that now gives another weight is marked with what its row says.

    python -m benchmarks.bench_fire_rate [--cases 40] [--seed 1] [--target llvm] [--only NAME ...] [--mixed N [--even]]
"""

from __future__ import annotations

import argparse
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from benchmarks.fires import Fired, fired
from fuzzer.protocol import Plan
from fuzzer.trial.repertoire import repertoire_of
from generators.passes.need import weight_of
from generators.passes.row import PassRow, Rate
from generators.passes.table import PASSES
from generators.passes.traits import Quiet
from generators.targets import TARGETS

LOUD = [name for name, row in PASSES.items() if not row.has(Quiet)]
"""The passes that can fire."""


@dataclass(slots=True)
class Firings:
    """What a campaign has shown. first: of each pass that fired, how many cases that took."""

    cases: int = 0
    applied: Counter[str] = field(default_factory=Counter)
    cases_with: Counter[str] = field(default_factory=Counter)
    first: dict[str, int] = field(default_factory=dict)

    def add(self, case: Fired) -> None:
        """One more case."""
        self.cases += 1
        self.applied += case.applied
        for name in case.changed:
            self.cases_with[name] += 1
            self.first.setdefault(name, self.cases)

    @property
    def never(self) -> list[str]:
        """The passes that can fire and did not."""
        return sorted(name for name in LOUD if not self.cases_with[name])

    @property
    def waits(self) -> list[int]:
        """The cases to the first firing of each pass that can fire, sorted; all cases where there was none."""
        return sorted(self.first.get(name, self.cases) for name in LOUD)

    @property
    def rates(self) -> dict[str, Rate]:
        """How often each pass fired, where that was in one of 1,000 cases or more."""
        rates = {name: round(1000 * number / self.cases) for name, number in self.cases_with.items()}
        return {name: Rate(rate) for name, rate in sorted(rates.items()) if rate}


def firings(cases: Iterable[Fired]) -> Firings:
    """What these cases show."""
    found = Firings()
    for case in cases:
        found.add(case)
    return found


def unrated(row: PassRow) -> PassRow:
    """The row as one that is drawn as often as any other."""
    return replace(row, fires=replace(row.fires, rate=None))


def mixed(cases: int, seed: int, targets: Sequence[str], even: bool) -> str:
    """A mixed campaign, as text."""
    plan = Plan(seed, targets=tuple(targets))
    repertoire = repertoire_of(plan)
    if even:
        repertoire = replace(repertoire, rows={name: unrated(row) for name, row in repertoire.rows.items()})
    found = firings(fired(plan, repertoire, range(cases)))
    waits = found.waits
    some = [f"{share:.0%} of passes within {waits[int(share * (len(waits) - 1))]}" for share in (0.75, 0.9)]
    return "\n".join(
        (
            f"never fired in {cases} cases: {', '.join(found.never) or 'none'}",
            f"cases to the first firing: median {statistics.median(waits):g}, {', '.join(some)}",
            *(f"{name:50}{rate.per_1000:5}{_renewed(name, rate)}" for name, rate in found.rates.items()),
        )
    )


def _renewed(name: str, rate: Rate) -> str:
    """A mark where the row is to be given this rate."""
    said = PASSES[name].fires.rate
    return "" if weight_of(said) == weight_of(rate) else f"  <-- its row says {0 if said is None else said.per_1000}"


def alone(name: str, cases: int, seed: int, target: str) -> str:
    """The line of one row."""
    plan = Plan(seed, targets=(target,), under_test=(name,), kinds=("single",))
    applied: Counter[str] = Counter()
    for case in fired(plan, repertoire_of(plan), range(cases)):
        applied += Counter(applied=case.applied[name], changed=case.changed[name], raised=case.raised[name])
    share = applied["changed"] / applied["applied"] if applied["applied"] else 0.0
    mark = "" if name not in LOUD or share >= PASSES[name].floor else "  <--"
    return f"{name:40}{applied['applied']:8}{share:8.0%}{applied['raised']:8}{mark}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", nargs="*", default=["llvm"], choices=list(TARGETS))
    parser.add_argument("--only", nargs="*", default=list(PASSES))
    parser.add_argument("--mixed", type=int, default=0)
    parser.add_argument("--even", action="store_true")
    options = parser.parse_args()
    if options.mixed:
        print(mixed(options.mixed, options.seed, options.target, options.even))
        return
    print(f"{'pass':40}{'applied':>8}{'changed':>8}{'raised':>8}")
    for name in options.only:
        print(alone(name, options.cases, options.seed, options.target[0]), flush=True)


if __name__ == "__main__":
    main()
