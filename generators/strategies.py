"""Hypothesis strategies of modules, pass sequences and cases, for property tests of your own passes.

    @given(relax_modules())
    def test_my_pass_keeps_modules_well_formed(module):
        assert tvm.relax.analysis.check_well_formed(MyPass()(module))

PrimFuncs are drawn by `prim_funcs`, `integer_funcs` and `scheduled_prim_funcs`, which live in
`generators.tir.strategies`.

Every choice is Hypothesis', so that a failing example shrinks and replays. How programs and sequences are drawn is in
`generators.relax` and `generators.passes`; nothing here draws by itself. Wherever a program cannot be finished
(`Unavailable`) the example is rejected, which Hypothesis counts as an invalid example and not as a failure.
Programs take some hundred choices: `suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]` may be
needed in the settings, and `Knobs(operators=(1, 4))` keeps examples small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import hypothesis
import tvm
from hypothesis import strategies as st

from generators import tvm_api
from generators.case import Case, ModuleText
from generators.passes.sequence_kinds import Kind
from generators.passes.sequences import DrawnSequence, draw_names, instantiate, to_fire
from generators.passes.table import PASSES
from generators.program import Program
from generators.program_facts import Feature, ProgramFacts
from generators.recipes.table import patterns_for
from generators.relax.knobs import Knobs
from generators.relax.relax_program import draw_program
from generators.source import HypothesisSource
from generators.targets import DEFAULT
from generators.tir.strategies import integer_funcs as integer_funcs
from generators.tir.strategies import prim_funcs as prim_funcs
from generators.tir.strategies import scheduled_prim_funcs as scheduled_prim_funcs
from generators.tvm_api import IRModule
from generators.unavailable import Unavailable

SMALL = Knobs(operators=(1, 6))
"""Smaller programs than a campaign's: an example should fit Hypothesis' buffer and be read at a glance."""


def programs(
    knobs: Knobs = SMALL, *, recipes: Sequence[str] = (), wants: Iterable[str] = ()
) -> st.SearchStrategy[Program]:
    """Programs: a well-formed module, the entry calls of its public `main` with exact inputs, and its features.

    knobs: sizes and probabilities. recipes: names of `generators.recipes.table.RECIPES`, of which one is planted.
    wants: names of features (values of `generators.passes.row.Feature`). KeyError for a recipe that is in no row,
    ValueError for no feature.
    """
    return _programs(knobs, tuple(recipes), frozenset(map(Feature, wants)))


def relax_modules(
    knobs: Knobs = SMALL, *, recipes: Sequence[str] = (), wants: Iterable[str] = ()
) -> st.SearchStrategy[IRModule]:
    """Well-formed high-level Relax modules (`tvm.IRModule`) with a public `main`; parameters as for `programs`."""
    return programs(knobs, recipes=recipes, wants=wants).map(lambda program: program.module)


def pass_sequences(
    under_test: Sequence[str] | None = None,
    *,
    kinds: Sequence[Kind] | None = None,
    length: int = 4,
    facts: ProgramFacts | None = None,
) -> st.SearchStrategy[DrawnSequence]:
    """Pass sequences with their constructors: the setup of a phase, the passes, and the tier of each.

    under_test, kinds, length: as for `generators.passes.sequences.draw_names`. facts: of the program that the
    sequence is for; without them only passes whose constructor needs nothing of a program are given. A
    sequence has one pass at least. ValueError (when drawn) for names that the table does not know.
    """
    known = ProgramFacts() if facts is None else facts
    return _sequences(None if under_test is None else tuple(under_test), kinds, length, known)


def cases(
    under_test: Sequence[str] | None = None,
    knobs: Knobs = SMALL,
    *,
    kinds: Sequence[Kind] | None = None,
    length: int = 4,
    target: str = DEFAULT,
) -> st.SearchStrategy[Case]:
    """Whole cases as plain data: a module with shapes that its passes fire on, the passes, exact inputs, a target.

    The module is TVMScript with metadata, and TVM's JSON besides where that does not parse back. Parameters as for
    `pass_sequences` and `programs`.
    """
    return _cases(None if under_test is None else tuple(under_test), knobs, kinds, length, target)


@st.composite
def _programs(draw: st.DrawFn, knobs: Knobs, recipes: tuple[str, ...], wants: frozenset[Feature]) -> Program:
    try:
        source = HypothesisSource(draw)
        patterns = patterns_for([source.pick(recipes)] if recipes else [])
        return draw_program(source, knobs, patterns, wants)
    except Unavailable:
        hypothesis.reject()


@st.composite
def _sequences(
    draw: st.DrawFn,
    under_test: tuple[str, ...] | None,
    kinds: Sequence[Kind] | None,
    length: int,
    facts: ProgramFacts,
) -> DrawnSequence:
    source = HypothesisSource(draw)
    steps = draw_names(source, PASSES, under_test=under_test, kinds=kinds, length=length)
    return _usable(instantiate(source, steps, facts, PASSES))


@st.composite
def _cases(
    draw: st.DrawFn,
    under_test: tuple[str, ...] | None,
    knobs: Knobs,
    kinds: Sequence[Kind] | None,
    length: int,
    target: str,
) -> Case:
    source = HypothesisSource(draw)
    steps = draw_names(source, PASSES, under_test=under_test, kinds=kinds, length=length)
    rows = to_fire(steps, PASSES)
    program = draw(_programs(knobs, rows.recipes, rows.wants))
    drawn = _usable(instantiate(source, steps, program.facts, PASSES))
    return Case(_text_of(program.module), drawn.passes, program.calls, target, drawn.setup)


def _text_of(module: IRModule) -> ModuleText:
    """The module as TVMScript, with TVM's JSON where the script does not parse back to the same module.

    Rejects modules that TVM reads back from neither: it writes a constant without elements, but does not read it.
    """
    script = tvm_api.script_of(module)
    if _reads_back(lambda: tvm_api.module_from_script(script), module):
        return ModuleText(script)
    exact = tvm_api.json_of(module)
    hypothesis.assume(_reads_back(lambda: tvm_api.module_from_json(exact), module))
    return ModuleText(script, exact)


def _reads_back(read: Callable[[], IRModule], module: IRModule) -> bool:
    try:
        return bool(tvm_api.structural_equal(module, read()))
    except (tvm.error.DiagnosticError, tvm.error.InternalError, ValueError, TypeError):
        return False


def _usable(drawn: DrawnSequence) -> DrawnSequence:
    """The sequence, where it has a pass."""
    hypothesis.assume(drawn.passes)
    return drawn
