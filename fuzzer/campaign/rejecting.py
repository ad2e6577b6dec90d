"""What a campaign says of the user's own passes that have done nothing but reject."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from corpus.number_of import number_of
from reports.tally import OTHER_REASONS, Tally


def always_rejecting(tally: Tally, loaded: Sequence[str]) -> Iterator[str]:
    """A line for each of these passes that has rejected every module that it was given, with its commonest reason: no
    finding shows it, and nothing of the pass was judged."""
    for name in loaded:
        row = tally.passes.get(name, {})
        applied = row.get("applied", 0)
        if not applied or row.get("rejected", 0) < applied:
            continue
        reasons = dict(tally.refusals.get(name, {}))
        alone = len(reasons) == 1
        reasons.pop(OTHER_REASONS, None)
        reason = max(reasons, key=reasons.__getitem__, default="")
        said = f", {'' if alone else 'most often '}with {reason}" if reason else ""
        which = "the one module" if applied == 1 else f"all {number_of(applied, 'module')}"
        yield f"{name} rejected {which} that it was given{said}"
