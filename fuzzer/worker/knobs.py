"""Every size and ratio with which a case is drawn, in one place, with the reason for its value. Those of a program's
own parts are in the knobs of the generators."""

from __future__ import annotations

from dataclasses import dataclass

from generators.program_facts import Feature


@dataclass(frozen=True, slots=True)
class ShapeKnobs:
    """Shapes that passes fire on, planted into the program of a case."""

    plain: float = 0.25
    """Programs without a recipe of their passes: what fires on a shape must not fire on others."""
    firing: int = 2
    """How many of the passes drawn one by one get a shape that they fire on."""
    firing_in_pipelines: int = 2
    """The same for those steps of a pipeline that may have nothing to do: what leads to another phase always acts."""
    costly: float = 0.6
    """Of the pipeline steps chosen so, those that get a shape where it costs as much as the rest of a case."""
    named: float = 0.75
    """Chains among the shapes for a pass, where the operators that it looks for are known."""
    named_dtypes: float = 0.3
    """The same where dtypes are known and no operators: many passes ask for float32 alone, and for another shape."""
    nodes: float = 0.75
    """Passes that get a second shape with the nodes that they look for, where these are known."""
    fewest: int = 1
    """The fewest shapes to plant."""
    most: int = 2
    """The most, unless the passes fire on more: every pass must also keep quiet on what it does not fire on."""
    unasked: int = 5
    """Weight of the shapes that no pass of TVM asks for: they come from bugs of any pass."""


@dataclass(frozen=True, slots=True)
class PrimFuncKnobs:
    """Programs that are a drawn PrimFunc with a Relax caller."""

    lowering: float = 0.5
    """Where TIR passes are under test."""
    relax: float = 0.03
    """Where none is."""
    scheduled: float = 0.35
    """Where a pass schedules PrimFuncs: few drawn ones have the shapes that a rule is for."""
    planted: float = 0.6
    """A shape of PrimFunc that a pass fires on, where the pass was drawn by itself."""
    planted_in_pipelines: float = 0.35
    """The same where the pass is a step of a pipeline."""
    in_order: float = 0.5
    """Where passes of TIR, or of blocks, are under test and no shape of their own was planted: statements and blocks
    whose order, predicates and indices matter. `lowering` and `scheduled` are of the rest."""
    telling: float = 0.35
    """Of these, where a loaded pass names what few passes do: the shapes of that. Code often names what it leaves
    alone."""
    hinted: float = 0.75
    """Annotations and attributes that the passes read: without any, they must not do what those ask for."""
    integers: float = 0.7
    """Programs that go through small ranges of integers, where only rewrites of integer expressions are under test."""
    dead: float = 0.03
    """A PrimFunc without callers, where everything is under test."""
    dead_of_some: float = 0.25
    """The same where some passes are, or one that schedules PrimFuncs."""


@dataclass(frozen=True, slots=True)
class KinKnobs:
    """Cases that resemble a draw on which a pass fired that rarely does."""

    share: float = 0.5
    """The share of such cases, where such draws were found."""
    anew: float = 0.005
    """Choices that are made anew, of some 600: of draws with four in a hundred no more than one in seven fires."""


@dataclass(frozen=True, slots=True)
class SeedKnobs:
    """Cases that start from a seed."""

    share: float = 0.25
    """The share of such cases, while there are seeds: most are drawn, since few seeds show all that passes do."""
    largest: int = 1 << 16
    """Elements that the arguments of a seed may have together: a campaign looks at hundreds of cases a minute."""
    tries: int = 4
    """So many seeds are picked before a program is drawn after all."""


@dataclass(frozen=True, slots=True)
class FeatureKnobs:
    """Features that a program gets though no pass of the sequence asks for them: passes must bear them."""

    num_input: float = 0.1
    """The attribute that says how many parameters are no weights."""
    vdevice: float = 0.08
    """Device hints."""
    private_functions: float = 0.1
    """Functions that only others call."""
    symbolic: float = 0.1
    """Dims that are symbols."""
    local_functions: float = 0.04
    """Functions inside of functions: few passes handle them, and what they do to one hides other faults."""

    named: float = 0.5
    """Each feature that the code of a loaded pass is about: it may as well ask for it in order to pass over it."""

    @property
    def shares(self) -> tuple[tuple[Feature, float], ...]:
        """Each feature with its share."""
        return (
            (Feature.NUM_INPUT, self.num_input),
            (Feature.VDEVICE, self.vdevice),
            (Feature.PRIVATE_FUNCTIONS, self.private_functions),
            (Feature.SYMBOLIC, self.symbolic),
            (Feature.LOCAL_FUNCTIONS, self.local_functions),
        )


@dataclass(frozen=True, slots=True)
class CaseKnobs:
    """How a case is drawn."""

    shape: ShapeKnobs = ShapeKnobs()
    prim_func: PrimFuncKnobs = PrimFuncKnobs()
    kin: KinKnobs = KinKnobs()
    seed: SeedKnobs = SeedKnobs()
    feature: FeatureKnobs = FeatureKnobs()
    tail: float = 0.05
    """Cases that go on after the last pass under test, where only some passes are: they show what later passes die of,
    cost ten times as much, and what the others show of a pass is there before."""


KNOBS = CaseKnobs()
