"""`--passes` where one module is judged: names, calls with arguments, pipelines, a file; read and not evaluated."""

from __future__ import annotations

from pathlib import Path

import pytest
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

from fuzzer.errors import UsageError
from fuzzer.pass_items import LOADED, call_of, is_call, name_of, options_in, options_text, read_passes, split
from generators.passes.table import NAMED_PIPELINES, PASSES, object_name

LAYOUTS = "ConvertLayout({'relax.nn.conv2d': ['NHWC', 'OHWI']})"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text("PASSES = {'Mine': lambda: 0, 'Other': lambda: 0}\n")
    return path


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("A, B", ["A", "B"]),
        (f"LegalizeOps,{LAYOUTS}", ["LegalizeOps", LAYOUTS]),
        ("tirx.StmtSimplify[again],A", ["tirx.StmtSimplify[again]", "A"]),
        ("F('a,b)', x=[1, (2, 3)]),B", ["F('a,b)', x=[1, (2, 3)])", "B"]),
        (r"F('it\'s, so'),B", [r"F('it\'s, so')", "B"]),
    ],
)
def test_commas_inside_of_brackets_and_texts_divide_nothing(text: str, items: list[str]) -> None:
    assert split(text) == items


def test_a_call_is_that_of_its_row() -> None:
    call = call_of(LAYOUTS, trust=False)
    assert (call.name, call.source) == ("ConvertLayout", f"relax.transform.{LAYOUTS}")
    assert call_of(f"tvm.relax.transform.{LAYOUTS}", trust=False) == call
    assert is_call(LAYOUTS)
    assert not is_call("tirx.StmtSimplify[again]")


@pytest.mark.parametrize(
    "text", ["tvm.transform.module_pass(lambda mod, ctx: mod)", "tirx.transform.prim_func_pass(f)"]
)
def test_what_makes_the_passes_of_several_rows_names_none_of_them(text: str) -> None:
    with pytest.raises(UsageError, match="unknown pass"):
        call_of(text, trust=True)


def test_options_go_to_every_pass_and_stay_with_it() -> None:
    asked = read_passes(f"FuseOps,{LAYOUTS}", None, ("tirx.disable_assert=True", "testing.text=plain (text)"))
    options = "{'tirx.disable_assert': True, 'testing.text': 'plain (text)'}"
    assert [options_in(item) for item in asked.items] == [options, options]
    assert [name_of(item) for item in asked.items] == ["FuseOps", "ConvertLayout"]
    assert call_of(asked.items[1], trust=False).options == options
    assert not is_call(asked.items[0])


def test_a_file_brings_its_passes(mine: Path) -> None:
    asked = read_passes(f"FuseOps,{mine}:PASSES,FuseTIR", None)
    assert (asked.items, asked.load) == (("FuseOps", LOADED, "FuseTIR"), mine)
    assert read_passes(f"{mine}:Mine", mine).items == ("Mine",)


def test_with_trust_any_expression_is_an_argument() -> None:
    text = "LegalizeOps({'relax.add': tvm.topi.add})"
    with pytest.raises(UsageError, match="--trust takes it all the same"):
        read_passes(text, None)
    assert read_passes(text, None, trust=True).items == (text,)


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        with R.dataflow():
            y = R.add(x, x)
            R.output(y)
        return y


@tvm.ir.instrument.pass_instrument
class Names:
    """The names of the passes that run inside of exactly `depth` others."""

    def __init__(self, depth: int) -> None:
        self.depth, self.running, self.names = depth, 0, list[str]()

    def run_before_pass(self, mod: tvm.IRModule, info: tvm.transform.PassInfo) -> None:
        if self.running == self.depth:
            self.names.append(str(info.name))
        self.running += 1

    def run_after_pass(self, mod: tvm.IRModule, info: tvm.transform.PassInfo) -> None:
        self.running -= 1


@pytest.mark.parametrize("name", NAMED_PIPELINES)
def test_a_pipeline_is_what_tvm_applies(name: str) -> None:
    seen = Names(2)  # inside of the pipeline and of its Sequential
    with tvm.target.Target("llvm"), tvm.transform.PassContext(opt_level=3, instruments=[seen]):
        relax.get_pipeline(name)(Module)
    assert seen.names == [object_name(PASSES[row]) for row in NAMED_PIPELINES[name]]
    assert read_passes(f"{name},FuseOps", None).items == (*NAMED_PIPELINES[name], "FuseOps")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ConvertLayout({", "has no end"),
        ("FuseOps)", "no beginning"),
        (",", "a name is empty"),
        ("FuseOps,,FuseTIR", "--passes FuseOps,,FuseTIR: a name is empty"),
        ("FuseOps,", "a name is empty"),
        ("Fuseops()", "unknown pass; did you mean FuseOps?"),
        ("no.such.Pass(1)", "unknown pass"),
        ("FuseOps(1)(2)", "more than one call"),
        ("FuseOps(1) + 1", "more than one call"),
        ("FuseOps(fuse_opt_level=)", "no call as Python writes it"),
        ("FuseOps(open('x'))", "not of the pass table: open('x'); --trust"),
        ("FuseOps(__import__('os').system('true'))", "not of the pass table"),
        ("gone.py:PASSES", "no such file"),
    ],
)
def test_what_is_refused_without_a_run(text: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as refused:
        read_passes(text, None)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_one_file_only(mine: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text("PASSES = {}\n")
    with pytest.raises(UsageError, match="only one file can bring passes"):
        read_passes(f"{mine}:PASSES,{other}:PASSES", None)


@pytest.mark.parametrize("entry", ["nope", "=3", ""])
def test_an_option_without_a_key(entry: str) -> None:
    with pytest.raises(UsageError, match="write it as KEY=VALUE"):
        options_text((entry,))


def test_options_want_passes() -> None:
    with pytest.raises(UsageError, match="--config: is for the passes that --passes names"):
        read_passes(None, None, ("a=1",))
