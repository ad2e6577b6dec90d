"""What TVM's documentation says of the order of passes, held against a sequence.

The facts are in the rows (`generators.passes.row.Documented`), each with the sentence of TVM's. A module that has been
lowered already has been through the setup of its phase: callers put these passes first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from generators.passes.row import Documented, PassRow
from generators.passes.traits import Undoes


@dataclass(frozen=True, slots=True)
class Breach:
    """A pass of a sequence that stands where TVM documents that it does not.

    index: of the pass in the sequence. other: the pass that it stands on the wrong side of. missing: whether `other`
    should come before it and does not; else it should not and does. said: TVM's words, about either of the two.
    """

    index: int
    name: str
    other: str
    missing: bool
    said: Documented

    @property
    def sentence(self) -> str:
        """For a person, with TVM's words and where they are."""
        side = "after" if self.missing else "before"
        quote = self.said.quote.strip(" ,")
        return f'TVM documents that {self.name} runs {side} {self.other}: "{quote}" ({self.said.where})'


def breaches(names: Sequence[str], table: Mapping[str, PassRow], since: int = 0) -> tuple[Breach, ...]:
    """What stands against the documentation in a sequence that starts with a high-level module, in its order.

    Passes of no row count as saying nothing. since: the index of the first pass that is asked about.
    """
    found: list[Breach] = []
    done: list[str] = []
    for index, name in enumerate(names):
        row = table.get(name)
        if row is None:
            continue
        if index >= since:
            found.extend(_against(index, row, done, table))
        done = [other for other in done if other not in row.named(Undoes)]
        done.append(name)
    return tuple(found)


def _against(index: int, row: PassRow, done: Sequence[str], table: Mapping[str, PassRow]) -> list[Breach]:
    """What a pass would stand against after these."""
    found: list[Breach] = []
    for said in row.place.documented:
        found += [Breach(index, row.name, other, True, said) for other in said.after if other not in done]
        found += [Breach(index, row.name, other, False, said) for other in said.before if other in done]
    for other in dict.fromkeys(done):
        if other == row.name:
            continue
        for said in table[other].place.documented:
            if said.ends_rewriting and not _may_follow(row, table[other]):
                found.append(Breach(index, row.name, other, False, said))
    return found


def _may_follow(row: PassRow, lowering: PassRow) -> bool:
    """Whether a pass is for the module that this lowering leaves, or for a later one."""
    place = lowering.place
    return max(row.place.phases) >= place.phase_after(max(place.phases))


def standing(names: Sequence[str], table: Mapping[str, PassRow]) -> tuple[str, ...]:
    """Those of the passes whose effect holds for all that the module has after the last one."""
    done: tuple[str, ...] = ()
    for name in names:
        undone = table[name].named(Undoes)
        done = (*(other for other in done if other not in undone), name)
    return done
