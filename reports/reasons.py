"""Why something was not judged, in words for a reader who does not know passfuzz."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reports.words import largest_first

MEANINGS: Mapping[str, str] = {
    "build": "The module was not built, or not compared with its build, so the other oracles judge it alone.",
    "calling convention": "A pass changed how the functions are called in a way that passfuzz cannot follow.",
    "discarded": "The inputs have no defined result in this program, for example an integer overflow.",
    "does not show again": "A failure was seen once and not when the same case was judged again; it is no finding.",
    "draw refused by type inference": "A drawn operator that TVM's type inference refused; another was drawn.",
    "entry call": "A call after which the inputs do not fit the function any more; it was not made.",
    "input": "The module that the pass was given has this flaw already, so nothing is said of its result.",
    "invalid": "The drawn program is wrong before any pass: a fault of passfuzz, not of TVM.",
    "not drawn": "No program or pass sequence could be drawn for this case.",
    "not under test": "The pass that went wrong is not one of those that were asked for.",
    "numbers": "The values after the pass are not those before it, on purpose or since an earlier pass.",
    "pipelines": "The official pipelines could not be compared on this module.",
    "reference": "The interpreter that values are compared with does not know this construct.",
    "rejected": "The pass refused the module with an error that explains itself, as it may.",
    "repro does not show it": "A failure was seen, and the script made of it does not show it; it is no finding.",
    "seed left out": "A module of --corpus that campaigns cannot start from.",
    "setup": "A pass that only prepares the module stopped, so the passes under test were not applied.",
}
"""What the beginning of a reason, up to its colon, means."""


@dataclass(frozen=True, slots=True)
class ReasonGroup:
    """The reasons that begin alike. meaning: "" where the reasons speak for themselves. reasons: the largest first."""

    head: str
    meaning: str
    total: int
    reasons: tuple[tuple[str, int], ...]


def grouped(counts: Mapping[str, int]) -> tuple[ReasonGroup, ...]:
    """The reasons by how they begin, the largest group first; those that begin otherwise are one group, the last."""
    by_head: dict[str, dict[str, int]] = {}
    for reason, number in counts.items():
        head, _, rest = reason.partition(":")
        known = head in MEANINGS and rest
        by_head.setdefault(head if known else "", {})[rest.strip() if known else reason] = number
    groups = (
        ReasonGroup(head or "others", MEANINGS.get(head, ""), sum(of.values()), tuple(largest_first(of)))
        for head, of in by_head.items()
    )
    return tuple(sorted(groups, key=lambda group: (not group.meaning, -group.total, group.head)))
