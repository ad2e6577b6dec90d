"""Every ratio of the sequences of passes and of their arguments, with the reason for its value.

The weights of the kinds of sequence stand in their table (`sequences.py`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SequenceKnobs:
    """Sequences of passes."""

    tir: float = 0.12
    """A single pass, or the first of a walk, is one of TIR, where both may come: small, since a module must go through
    the whole Relax pipeline first."""
    schedule_lowered: float = 0.1
    """A scheduled function goes through both pipelines, which cost as much as seventeen single passes."""
    firing_phase: float = 0.6
    """A sequence begins with its pass in a phase in which that has something to do, where this is known: else in any of
    its phases, in most of which it must leave the module as it is."""
    bare: float = 0.5
    """A pass of any loops gets them untidied: they begin anywhere and step by any number, nothing in them is
    simplified, and their buffers may be larger than needed."""
    pipeline_whole: float = 0.6
    """A pipeline goes to its end, as users run it, else to any of its passes, which is cheaper."""


@dataclass(frozen=True, slots=True)
class ArgumentKnobs:
    """Arguments of constructors."""

    bound_everywhere: float = 0.5
    """BindSymbolicVars names no function, where a symbol means the same in all of them."""
    some_gradients: float = 0.3
    """Gradient is asked for that of one parameter, else for those of all."""
    bound: float = 0.7
    """BindParams and BindSymbolicVars bind a name: most of them, so that free ones stay among bound ones."""


@dataclass(frozen=True, slots=True)
class RepeatKnobs:
    """How often a recipe stands in a list of recipes for one pass, where others stand once."""

    chains: int = 9
    """For a loaded pass: most rewrite operators, and the one that its code names is drawn in chains."""
    if_on_truths: int = 4
    """For code that names If: of the recipes with an If, this one has the most to tell."""
    nested: int = 3
    """For code that names tuples: nested ones have more to tell than flat ones."""
    effects: int = 2
    """For code that asks what is pure: effects in a branch have more to tell than those at the top."""
    lowered: int = 3
    """For a loaded pass on lowered calls, which names no operators any more: together they stand as often as chains."""


@dataclass(frozen=True, slots=True)
class TuningKnobs:
    """How large a search of MetaSchedule is."""

    seeds: tuple[int, ...] = (1, 2, 3, 5, 8, 13)
    """Of searches, each a constructor of its own: the more, the more kinds of candidate, and the longer the table."""
    population: int = 6
    """Candidates of a search that mutates. TVM's 512 take a minute."""
    generations: int = 1
    """Of these, each mutated once."""
    tries: int = 5
    """Draws that may be turned down before a function counts as one without a candidate."""


@dataclass(frozen=True, slots=True)
class PassKnobs:
    """The ratios of each family."""

    sequences: SequenceKnobs = SequenceKnobs()
    arguments: ArgumentKnobs = ArgumentKnobs()
    repeats: RepeatKnobs = RepeatKnobs()
    tuning: TuningKnobs = TuningKnobs()


KNOBS = PassKnobs()
