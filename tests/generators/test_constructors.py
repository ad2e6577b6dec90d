"""Expressions that construct passes are read as they would be evaluated, and nothing else is read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus.replayable import CORPUS
from fuzzer.protocol import Plan
from fuzzer.trial.repertoire import repertoire_of
from fuzzer.worker.draw import draw_experiment
from generators.passes.constructors import NotOfTheTable, constructor, literal, options_of
from generators.passes.table import PASSES
from generators.targets import TARGETS
from generators.tvm_api import PASS_NAMES
from generators.unavailable import Unavailable
from oracles.forked import Ended, forked
from oracles.workbench import constructed
from tests.patience import HANGS_S

RUNS = "__import__('os').system('true')"
EVIL_SCRIPT = f"@T.prim_func\ndef f(a: {RUNS}):\n    T.evaluate(0)"
NOT_READ = (
    RUNS,
    f"({RUNS}, relax.transform.FoldConstant())[1]",
    f"relax.transform.FoldConstant() if {RUNS} else None",
    f"relax.transform.DeadCodeElimination([{RUNS}])",
    f"relax.transform.DeadCodeElimination(entry={RUNS})",
    f"relax.transform.BindParams('main', {{'x': {RUNS}}})",
    f"relax.transform.BindParams('main', {{{RUNS}: 1}})",
    f"relax.transform.BindParams('main', {{**{RUNS}}})",
    "relax.transform.BindParams(*['main', {}])",
    "relax.transform.BindParams(**{'x': 1})",
    "relax.transform.FoldConstant.__init__.__globals__",
    "relax.transform.FoldConstant()(mod)",
    "relax.transform.__dict__",
    "relax.transform.NoSuchPass()",
    "tvm.os.system('true')",
    "np.load('x', allow_pickle=True)",
    "np.array([1.0]).tofile('x')",
    "np.array([1.0]).reshape.__self__",
    "tvm.get_global_func('x')()",
    "tvm.runtime.load_module('x')",
    "open('x', 'w')",
    "eval('1')",
    "[c for c in ().__class__.__base__.__subclasses__()]",
    "(lambda: relax.transform.FoldConstant())()",
    f"tvm.transform.module_pass(lambda mod, ctx: {RUNS}, opt_level=0)",
    f"tvm.transform.module_pass(lambda mod, ctx: (sch := tvm.s_tir.Schedule(mod), {RUNS}, sch.mod)[-1], opt_level=0)",
    "tvm.transform.module_pass(lambda mod, ctx: (sch := tvm.s_tir.Schedule(mod), sch.show(), sch.mod)[-1])",
    "tvm.transform.module_pass(lambda mod, ctx: (sch := tvm.os, sch.split(1), sch.mod)[-1], opt_level=0)",
    "tvm.transform.module_pass(lambda mod, ctx, x=open('x', 'w'): (sch := tvm.s_tir.Schedule(mod), sch.mod)[-1])",
    "tvm.transform.module_pass(lambda mod, ctx: (sch := tvm.s_tir.Schedule(mod), "
    f"tvm.s_tir.TensorIntrin.register('x', tvm.script.from_source({EVIL_SCRIPT!r})), sch.mod)[-1], opt_level=0)",
    f"relax.transform.AlterOpImpl({{}}, {{'x': [lambda i: {RUNS}]}})",
    "f'{relax}'",
    "relax.transform.FoldConstant(), 1 if True else 2",
    "PASSES['x'](1)",
    "PASSES[open('x', 'w')]()",
    "x := 1",
    "",
    "(" * 5000 + ")" * 5000,
    "-" * 100_000 + "1",
)


@pytest.mark.parametrize("source", NOT_READ, ids=lambda source: source[:50])
def test_what_is_not_of_the_table_is_not_read(source: str) -> None:
    with pytest.raises(NotOfTheTable):
        constructor(source)


@pytest.mark.parametrize(
    "text", [RUNS, f"{{'x': {RUNS}}}", "{**{}}", "[1]", "{1: 2}", "{'x': open}", "dict()", "{'x': f''}"]
)
def test_options_are_literals(text: str) -> None:
    with pytest.raises(NotOfTheTable):
        options_of(text)


def test_options_of_the_table_are_read() -> None:
    options = {text for row in PASSES.values() for text in row.fires.options}
    assert options
    assert all(options_of(text) for text in options)
    assert options_of("") == {}


def test_every_expression_of_the_table_constructs() -> None:
    for row in PASSES.values():
        for source in row.sources:
            assert constructor(source).fixed


def test_expressions_of_the_corpus_are_read() -> None:
    for path in sorted(CORPUS.glob("*/case.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        for entry in (*data["setup"], *data["passes"]):
            assert constructor(entry["source"]).source == entry["source"]
            options_of(entry.get("options", ""))


class Seen:
    """Stands for everything that has a name: what is done with it is text."""

    def __init__(self, said: str) -> None:
        self.said = said

    def __getattr__(self, name: str) -> Seen:
        if name.startswith("__"):
            raise AttributeError(name)
        return Seen(f"{self.said}.{name}")

    def __getitem__(self, index: object) -> Seen:
        return Seen(f"{self.said}[{said(index)}]")

    def __call__(self, *given: object, **named: object) -> Seen:
        parts = [*map(said, given), *(f"{name}={said(value)}" for name, value in named.items())]
        return Seen(f"{self.said}({', '.join(parts)})")

    def __floordiv__(self, other: object) -> Seen:
        return Seen(f"({self.said} // {said(other)})")

    def __mod__(self, other: object) -> Seen:
        return Seen(f"({self.said} % {said(other)})")

    def __mul__(self, other: object) -> Seen:
        return Seen(f"({self.said} * {said(other)})")

    def __neg__(self) -> Seen:
        return Seen(f"-{self.said}")

    def __add__(self, other: object) -> Seen:
        return Seen(f"({self.said} + {said(other)})")


def said(value: Any) -> str:
    """What was done, as text; functions are called with names for their parameters."""
    if isinstance(value, Seen):
        return value.said
    if isinstance(value, dict):
        return str({said(key): said(one) for key, one in value.items()})
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({[*map(said, value)]})"
    if callable(value):
        import inspect

        parameters = inspect.signature(value).parameters
        return f"{value.__name__}({[*parameters]}) -> {said(value(*map(Seen, parameters)))}"
    return repr(value)


NAMED = {name: Seen(name) for name in (*PASS_NAMES, "PASSES")}


def drawn_sources(target: str, seed: int) -> list[tuple[str, str]]:
    """The expressions of some cases of a campaign, with their options."""
    plan = Plan(seed, targets=(target,))
    found: list[tuple[str, str]] = []
    for index in range(4):
        try:
            experiment = draw_experiment(plan.at(index), repertoire_of(plan), index).experiment
        except Unavailable:
            continue
        found += [(call.source, call.options) for call in (*experiment.setup, *experiment.passes)]
    return found


@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(sorted(TARGETS)), st.integers(0, 1 << 20))
def test_what_campaigns_draw_is_read_as_it_would_be_evaluated(target: str, seed: int) -> None:
    drawn = forked(lambda: drawn_sources(target, seed), HANGS_S)
    assert not isinstance(drawn, Ended)
    for source, options in drawn:
        read = constructor(source)
        if not read.fixed:
            assert said(read(NAMED)) == said(eval(source, dict(NAMED)))
        assert options_of(options) == eval(options or "{}")


SCHEDULE = (
    "tvm.transform.module_pass(lambda mod, ctx: (sch := tvm.s_tir.Schedule(mod), sch.work_on('main'), "
    'sch.split(sch.get_loops(sch.get_sblock("b"))[0], [None, 2]), '
    'sch.transform_layout(sch.get_sblock("b"), ("write", 0), lambda i: (i // 4, i % 4), pad_value=0), '
    "sch.mod)[-1], opt_level=0)"
)
BOUND = "relax.transform.BindParams('main', {'x': np.array([1.0, -np.inf, np.nan], 'float32').reshape((3, 1))})"


@pytest.mark.parametrize("source", [SCHEDULE, BOUND, "PASSES['Mine']()", "relax.VDevice('llvm', 0, 'global')"])
def test_what_is_read_is_what_would_be_evaluated(source: str) -> None:
    assert said(constructor(source)(NAMED)) == said(eval(source, dict(NAMED)))


def test_a_schedule_that_was_read_schedules() -> None:
    from tests.oracles.oracle_bench import module_of

    module = module_of(
        "@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n"
        '    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):\n'
        '        for i in range(8):\n            with T.sblock("b"):\n                vi = T.axis.spatial(8, i)\n'
        "                B[vi] = A[vi]\n"
    )
    text = SCHEDULE.replace(
        'sch.transform_layout(sch.get_sblock("b"), ("write", 0), ', "sch.annotate(sch.get_sblock('b'), 'k', 1), "
    )
    text = text.replace("lambda i: (i // 4, i % 4), pad_value=0), ", "")
    assert "i_0" in constructed(text)(module).script()


def test_literals_are_arrays_and_numbers() -> None:
    import ast

    assert literal(ast.parse("np.array([1, 2], 'int32')", mode="eval").body).tolist() == [1, 2]
    for text in ("relax.VDevice('llvm')", RUNS, "np.load('x')", "tvm"):
        with pytest.raises(NotOfTheTable):
            literal(ast.parse(text, mode="eval").body)
