"""What the plugin counts of calls that are not judged."""

from __future__ import annotations

from pathlib import Path

from fuzzer.plugin.spy import Missed
from fuzzer.plugin.watch import Ledger, Watch


def test_the_first_exception_of_ours_is_kept_and_each_is_counted() -> None:
    one, other = Ledger(), Ledger()
    one.missed["own fault would begin like this"] += 1
    other.at_fault("KeyError: 'x'")
    other.at_fault("ValueError: y")
    one.merge(other)
    assert one.fault == "own fault: KeyError: 'x'"
    assert one.missed.total() == 3


def test_a_pass_that_raises_is_counted_as_rejecting_its_module(tmp_path: Path) -> None:
    watch = Watch(tmp_path, 1.0)
    watch._missed(Missed("whatever is said", raised=True), "Mine")
    watch._missed(Missed("the pass raised"), "Mine")
    assert watch.ledger.tally.passes["Mine"]["rejected"] == 1
    assert watch.ledger.missed == {"whatever is said": 1, "the pass raised": 1}
