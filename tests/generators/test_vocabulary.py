"""What the code of a loaded pass names, and that programs for it hold that."""

from __future__ import annotations

import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from generators.passes.loaded import rows_from_contracts
from generators.passes.table import PASSES
from generators.passes.vocabulary import SHAPES, operators_named, shapes_named, with_vocabulary, words_of
from generators.program_facts import Feature
from generators.recipes.table import RECIPES
from generators.relax.body import attempt
from generators.relax.chains import draw_chains
from generators.relax.frames import FunctionFrame, ModuleFrame
from generators.relax.scope import Scope
from generators.source import SeededSource

FILE = """
from tvm import relax
from tvm.relax.expr_functor import PyExprMutator

FLIPPED = {"relax.less": "relax.greater_equal"}


def others():
    return ["exp", "log"]


def rewritten(call):
    if call.op.name == "relax.strided_slice":
        return relax.op.nn.relu(call.args[0])
    return FLIPPED.get(call.op.name)


class Mutator(PyExprMutator):
    def visit_call_(self, call):
        return relax.If(call, *(relax.op.permute_dims(call) for _ in range(2)))


def maker(flag):
    def make():
        return Mutator() if flag else rewritten
    return make


def unrelated():
    return 1 + len("no operator here".split())


PASSES = {"Mine": maker(True), "Others": others, "Unrelated": unrelated}
"""
OF_MINE = (*SHAPES["If"], *SHAPES["relax.permute_dims"], *SHAPES["relax.less"], *SHAPES["relax.greater_equal"])
"""The recipes for the nodes and operators that the first of these names."""


@pytest.fixture
def passes(tmp_path: Path) -> Any:
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    return runpy.run_path(str(path), run_name="mine")["PASSES"]


def test_operators_are_found_in_strings_attributes_tables_and_classes(passes: Any) -> None:
    assert operators_named(words_of(passes["Mine"])) == (
        "relax.greater_equal",
        "relax.less",
        "relax.nn.relu",
        "relax.permute_dims",
        "relax.strided_slice",
    )
    assert operators_named(words_of(passes["Others"])) == ("relax.exp", "relax.log")
    assert operators_named(words_of(passes["Unrelated"])) == ()


def test_nodes_become_the_recipes_that_hold_them(passes: Any) -> None:
    assert shapes_named(words_of(passes["Mine"])) == OF_MINE
    assert shapes_named(words_of(passes["Others"])) == ()
    assert {recipe for recipes in SHAPES.values() for recipe in recipes} <= RECIPES.keys()


def test_what_is_no_function_names_nothing() -> None:
    assert operators_named(words_of(print)) == ()
    assert operators_named(words_of(len)) == shapes_named(words_of(len)) == ()


def test_rows_carry_what_the_code_names(passes: Any) -> None:
    rows = rows_from_contracts(passes, {"Others": {"phase": "tir"}})
    mine = with_vocabulary(rows["Mine"], passes["Mine"])
    assert "relax.strided_slice" in mine.fires.vocabulary.operators
    assert mine.fires.vocabulary.shapes == OF_MINE
    assert with_vocabulary(rows["Others"], passes["Others"]) == rows["Others"]


BOUND = """
import functools

from tvm import s_tir


def made(pass_, mark="relax.exp"):
    return pass_()


def plain(pass_):
    return pass_()


def with_keyword(*, pass_=s_tir.transform.InjectDoubleBuffer):
    return pass_()


PASSES = {
    "Default": lambda make=s_tir.transform.InjectSoftwarePipeline: plain(make),
    "Closure": (lambda make: lambda: plain(make))(s_tir.transform.InjectSoftwarePipeline),
    "Keyword": with_keyword,
    "Partial": functools.partial(plain, s_tir.transform.InjectPermutedLayout),
    "Nested": functools.partial(functools.partial(plain), pass_=with_keyword),
    "Text": functools.partial(made, s_tir.transform.LowerAutoCopy),
}
"""


def test_what_is_bound_as_a_default_or_by_partial_is_named_as_in_a_closure(tmp_path: Path) -> None:
    path = tmp_path / "bound.py"
    path.write_text(BOUND)
    words = {name: words_of(make) for name, make in runpy.run_path(str(path), run_name="bound")["PASSES"].items()}
    assert "InjectSoftwarePipeline" in words["Default"] & words["Closure"]
    assert "InjectDoubleBuffer" in words["Keyword"] & words["Nested"]
    assert "InjectPermutedLayout" in words["Partial"] and "InjectPermutedLayout" not in words["Nested"]
    assert {"LowerAutoCopy", "relax.exp"} <= words["Text"]


WRAPS = """
from tvm import relax
import tvm


def converted(mod):
    return relax.transform.ConvertLayout({})(mod)


def graphs():
    return relax.transform.RewriteCUDAGraph()


PASSES = {"Converted": lambda: tvm.transform.module_pass(lambda m, c: converted(m), opt_level=0), "Graphs": graphs}
"""


def test_a_pass_that_applies_one_of_tvm_gets_what_that_one_fires_on(tmp_path: Path) -> None:
    path = tmp_path / "wraps.py"
    path.write_text(WRAPS)
    passes = runpy.run_path(str(path), run_name="wraps")["PASSES"]
    rows = rows_from_contracts(passes, {"Graphs": {"phase": "lowered"}})
    converted = with_vocabulary(rows["Converted"], passes["Converted"])
    assert set(PASSES["ConvertLayout"].fires.recipes) <= set(converted.fires.vocabulary.shapes)
    graphs = with_vocabulary(rows["Graphs"], passes["Graphs"])
    assert set(PASSES["RewriteCUDAGraph"].fires.recipes) <= set(graphs.fires.vocabulary.shapes)
    assert graphs.fires.options == PASSES["RewriteCUDAGraph"].fires.options


def test_chains_of_named_operators_hold_little_else() -> None:
    found: Counter[str] = Counter()
    for seed in range(60):
        scope = Scope(SeededSource(3, seed), FunctionFrame(ModuleFrame()))
        attempt(scope, "chains", lambda scope: draw_chains(scope, ("relax.strided_slice", "relax.permute_dims")))
        found += scope.frame.module.operators
    named = found["relax.strided_slice"] + found["relax.permute_dims"]
    assert min(found["relax.strided_slice"], found["relax.permute_dims"]) > 60
    assert named > 0.7 * sum(found.values())


def test_lambdas_and_decorated_functions_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "import functools\n\n\n@functools.cache\ndef cached():\n    return 'erf'\n\n\n"
        "PASSES = {\n    'Mine': lambda: relax.op.nn.gelu,\n    'Cached': cached.__wrapped__,\n}\n"
    )
    found = runpy.run_path(str(path), run_name="mine")["PASSES"]
    assert operators_named(words_of(found["Mine"])) == ("relax.nn.gelu",)
    assert operators_named(words_of(found["Cached"])) == ("relax.erf",)


ENGLISH = """
def folds(call):
    '''Where a round pad of zeros is taken, nn.relu and relax.exp are split.'''
    return call.op.name == "relax.nn.pad"

PASSES = {"Mine": folds}
"""


def test_docstrings_name_operators_by_words_with_a_dot_alone(tmp_path: Path) -> None:
    (tmp_path / "english.py").write_text(ENGLISH)
    found = runpy.run_path(str(tmp_path / "english.py"), run_name="english")["PASSES"]
    assert operators_named(words_of(found["Mine"])) == ("relax.exp", "relax.nn.pad", "relax.nn.relu")


def test_a_long_list_of_operators_is_not_left_out(tmp_path: Path) -> None:
    names = "abs exp log sqrt sigmoid tanh sin cos floor ceil round negative square erf sign trunc tan asin acos atan"
    others = "add subtract multiply divide maximum minimum power"
    (tmp_path / "many.py").write_text(f"PASSES = {{'Mine': lambda: '{names} {others} broadcast_to'.split()}}\n")
    found = runpy.run_path(str(tmp_path / "many.py"), run_name="many")["PASSES"]
    assert len(operators_named(words_of(found["Mine"]))) == 28


def test_code_about_purity_and_names_gets_functions_for_it(tmp_path: Path) -> None:
    (tmp_path / "pure.py").write_text(
        "PASSES = {\n  'Pure': lambda f: f.is_pure,\n  'Asks': lambda op: op.get_attr('FPurity'),\n"
        "  'Named': lambda f: f.params,\n}\n"
    )
    found = runpy.run_path(str(tmp_path / "pure.py"), run_name="pure")["PASSES"]
    shapes = {name: set(shapes_named(words_of(make))) for name, make in found.items()}
    assert "private_effect_in_branch" in shapes["Pure"] & shapes["Asks"]
    assert shapes["Named"] == {"private_names_of_parameters"}


@pytest.mark.parametrize("name", ["relax.Constant", "tvm.ir.GenericConst"])
def test_code_about_constants_gets_programs_with_many_in_a_share_of_the_cases(tmp_path: Path, name: str) -> None:
    path = tmp_path / "constants.py"
    path.write_text(
        f"import tvm\nfrom tvm import relax\n\n\ndef folds(e):\n    return isinstance(e, {name})\n\n\n"
        "def other(e):\n    return isinstance(e, relax.Var)\n\n\nPASSES = {'Folds': folds, 'Other': other}\n",
        encoding="utf-8",
    )
    passes = runpy.run_path(str(path), run_name="constants")["PASSES"]
    rows = rows_from_contracts(passes, {})
    found = {key: with_vocabulary(rows[key], passes[key]).fires.vocabulary.features for key in passes}
    assert found == {"Folds": (Feature.CONSTANTS,), "Other": ()}


OF_TIR = """
from tvm import s_tir

def after(make):
    def apply(mod, ctx):
        return make()(mod)
    return apply

def waits(node):
    return node.attr_key == "async_wait_inflight_count"

def plain(node):
    return node.attr_key == "pragma_unroll"

PASSES = {
    "Wraps": after(s_tir.transform.InjectDoubleBuffer),
    "Calls": lambda: s_tir.transform.InjectVirtualThread(),
    "Waits": waits,
    "Plain": plain,
}
"""


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("Wraps", {"double_buffers", "double_buffered_tile"}),
        ("Calls", {"virtual_threads", "virtual_threads_in_kernel"}),
        ("Waits", {"asynchronous_copies", "pipelined_kernel"}),
        ("Plain", set()),
    ],
)
def test_passes_of_tir_carry_the_shapes_of_what_they_name(tmp_path: Path, name: str, shapes: set[str]) -> None:
    """A pass of the table that is wrapped or called, or a mark that one of them looks for."""
    path = tmp_path / "of_tir.py"
    path.write_text(OF_TIR, encoding="utf-8")
    passes = runpy.run_path(str(path), run_name="of_tir")["PASSES"]
    rows = rows_from_contracts(passes, {name: {"phase": "tir", "form": "loops"} for name in passes})
    assert set(with_vocabulary(rows[name], passes[name]).fires.prim_recipes) == shapes


def test_passes_of_tir_carry_the_hints_and_the_nodes_that_they_name(tmp_path: Path) -> None:
    path = tmp_path / "of_nodes.py"
    path.write_text(
        "from tvm import tirx\n\n\ndef repeats(node):\n    return isinstance(node, tirx.While)\n\n\n"
        "def aligned(block):\n    return block.annotations.get('buffer_dim_align')\n\n\n"
        "PASSES = {'Repeats': repeats, 'Aligned': aligned}\n",
        encoding="utf-8",
    )
    passes = runpy.run_path(str(path), run_name="of_nodes")["PASSES"]
    rows = rows_from_contracts(passes, {name: {"phase": "tir", "form": "loops"} for name in passes})
    found = {name: with_vocabulary(rows[name], passes[name]) for name in passes}
    assert found["Repeats"].fires.vocabulary.prim_shapes == ("counting_up",) and not found["Repeats"].fires.hints
    assert found["Aligned"].fires.hints == {"buffer_dim_align"} and not found["Aligned"].fires.vocabulary.prim_shapes


def test_shapes_of_what_few_passes_name_are_told_apart(tmp_path: Path) -> None:
    """Code that walks over statements names loops and stores, whatever it is for."""
    path = tmp_path / "of_threads.py"
    path.write_text(
        "from tvm import tirx\n\n\n"
        "def guards(node):\n    return isinstance(node, tirx.For) and node.kind == tirx.ForKind.THREAD_BINDING\n\n\n"
        "def loops(node):\n    return isinstance(node, (tirx.For, tirx.BufferStore))\n\n\n"
        "PASSES = {'Guards': guards, 'Walks': loops}\n",
        encoding="utf-8",
    )
    passes = runpy.run_path(str(path), run_name="of_threads")["PASSES"]
    rows = rows_from_contracts(passes, {name: {"phase": "tir", "form": "loops"} for name in passes})
    found = {name: with_vocabulary(rows[name], passes[name]).fires.vocabulary for name in passes}
    assert found["Guards"].telling_shapes == ("guards_of_threads", "guards_of_virtual_threads")
    assert set(found["Guards"].telling_shapes) < set(found["Guards"].prim_shapes)
    assert found["Walks"].prim_shapes and not found["Walks"].telling_shapes


def test_what_code_leaves_alone_tells_nothing_of_what_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "careful.py"
    path.write_text(
        "from tvm import tirx\n\n\n"
        "def has(body, kind):\n    return kind in body\n\n\n"
        "def jumps(body):\n    return 'break_loop' in body\n\n\n"
        "def careful(func):\n    if has(func, tirx.While) or jumps(func):\n        return func\n"
        "    return func + 1\n\n\n"
        "def only(node):\n    if not isinstance(node, tirx.While):\n        return node\n    return node + 1\n\n\n"
        "def both(node):\n    if jumps(node):\n        return None\n    return [jumps(node)]\n\n\n"
        "def made(node):\n    if isinstance(node, tirx.While):\n        return node.body\n    return node\n\n\n"
        "def other(node):\n    if type(node) is not tirx.While:\n        return node\n    return node + 1\n\n\n"
        "def new(node):\n    made = node + 1\n    if isinstance(node, tirx.While):\n        return made\n"
        "    return node\n\n\n"
        "PASSES = {'Careful': careful, 'Only': only, 'Both': both, 'Made': made, 'Other': other, 'New': new}\n",
        encoding="utf-8",
    )
    passes = runpy.run_path(str(path), run_name="careful")["PASSES"]
    rows = rows_from_contracts(passes, {name: {"phase": "tir", "form": "loops"} for name in passes})
    found = {name: with_vocabulary(rows[name], passes[name]).fires.vocabulary for name in passes}
    assert set(found["Careful"].prim_shapes) == {"counting_up", "jumps"}
    telling = {name: vocabulary.telling_shapes for name, vocabulary in found.items()}
    loops = dict.fromkeys(("Only", "Made", "Other", "New"), ("counting_up",))
    assert telling == {"Careful": (), "Both": ("jumps",), **loops}


def test_passes_of_blocks_get_the_shapes_of_the_fields_that_they_name(tmp_path: Path) -> None:
    """Statements in no block are nothing to them."""
    path = tmp_path / "of_fields.py"
    path.write_text(
        "from tvm import tirx\n\n\n"
        "def matched(block):\n    return block.match_buffers or isinstance(block, tirx.While)\n\n\n"
        "PASSES = {'Blocks': matched, 'Loops': matched}\n",
        encoding="utf-8",
    )
    passes = runpy.run_path(str(path), run_name="of_fields")["PASSES"]
    forms = {"Blocks": "sblock", "Loops": "loops"}
    rows = rows_from_contracts(passes, {name: {"phase": "tir", "form": form} for name, form in forms.items()})
    shapes = {name: with_vocabulary(rows[name], passes[name]).fires.vocabulary.prim_shapes for name in passes}
    assert shapes == {"Blocks": ("matched_regions",), "Loops": ("counting_up",)}
