"""Plain TVMScript is let through, and nothing by which TVM's parser would run what a stranger wrote."""

from __future__ import annotations

import ast
from contextlib import suppress
from pathlib import Path

import pytest

from corpus.replayable import CORPUS
from corpus.scripts.module_text import live_module, text_of, without_imports
from generators.case import ModuleText
from generators.script_shape import NAMES_FILE, complaint_about
from generators.tir.primitives import PRIMITIVES
from oracles.forked import ChildRaised, forked
from tests.generators.names_of_scripts import names
from tests.patience import HANGS_S

RELAX = """\
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        with R.dataflow():
            y: R.Tensor((2,), "float32") = R.add(x, {value})
            R.output(y)
        return y
"""
ANNOTATED = """\
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(({shape},), "float32")):
        return x
"""
TIR = """\
@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((2,), "float32")):
        for i in range(2):
            A[i] = {value}
"""
DECORATED = """\
@I.ir_module
class Module:
    @{decorator}
    def main(x: R.Tensor((2,), "float32")):
        return x
"""
RUNS = '__import__("os").system("touch {marker}")'
OPENS = 'open("{marker}", "w")'

VALUES = {
    "an import": f"R.const(np.array([3.0, 4.0 + 0*{RUNS}]))",
    "a builtin": f"R.const(np.array([1.0, 2.0 + len(str({OPENS})) * 0]))",
    "NumPy writes": 'R.const(np.zeros((2,), "float32").tofile("{marker}") or np.zeros((2,), "float32"))',
    "NumPy saves": 'R.const(np.save("{marker}", [1.0]) or np.zeros((2,), "float32"))',
    "an attribute of TVM": 'R.const(tvm.get_global_func("runtime.SaveParams")("{marker}"))',
    "a module that TVM imports": 'R.const(float(tvm.os.system("touch {marker}")))',
    "a module that NumPy imports": 'R.const(float(np.os.system("touch {marker}")))',
    "dunders of a function": f"R.const(R.add.__globals__['__builtins__']['eval']('{OPENS}'.replace('~','')))",
    "dunders of a literal": "R.const(float(().__class__.__base__.__subclasses__()[0].x('{marker}')))",
    "a list comprehension": f"R.const(np.array([{OPENS} and 1.0 for _ in range(2)]))",
    "a generator": f"R.const(np.array(list(({OPENS} and 1.0) for _ in range(2))))",
    "a lambda that is called": f"R.const((lambda: {OPENS} and 1.0)())",
    "an assignment in an expression": f"R.const((f := {OPENS}) and 1.0)",
    "an f-string": "R.const(float(f'{{x}}'))",
    "getattr": "R.const(getattr(np, 'sa' 've')('{marker}', [1.0]) or 1.0)",
    "a starred call": f"R.const(*[{OPENS} and 1.0])",
    "keywords from a dict": f"R.const(**{{{{'value': {OPENS} and 1.0}}}})",
    "a subscript": f"R.const([1.0, 2.0][{OPENS} and 0])",
    "a conditional": f"R.const(1.0 if {OPENS} else 2.0)",
    "a comparison": f"R.const(1.0 < {OPENS}.fileno())",
    "emit_te": f"R.emit_te(lambda a: {OPENS} and a, x)",
    "a Python function": 'R.call_py_func("eval", [x])',
    "a method of what TVM gives": f"R.const(1.0).show({OPENS})",
    "a library that is loaded": 'R.const(tvm.runtime.load_module("{marker}"))',
    "from_source": f"R.const(tvm.script.from_source('''{OPENS}'''))",
}
SHAPES = {
    "a text": f"'{OPENS}'",
    "a text with a space before it": f"' {OPENS}'",
    "a text in two parts": "'open(\"{marker}\"' ', \"w\")'",
    "texts put together": "'open(\"{marker}\"' + ', \"w\")'",
    "a text that is formatted": "'%s(\"{marker}\", \"w\")' % 'open'",
    "a part of a text": f"'{OPENS}~'[:-1]",
    "texts of an array": "np.array(['open(\"{marker}\"'])[0] + np.array([', \"w\")'])[0]",
    "a text among others": f"('2', '{OPENS}')[1]",
    "a text with dunders": '\'T.int64.__class__.__init__.__globals__["__builtins__"]["open"]("{marker}", "w")\'',
    "the larger of two texts": "max('', 'open(\"{marker}\"') + ', \"w\")'",
    "a text on trust": '\'len(open("{marker}", "w").name)\'',
    "a value that TVM hands through": "T.meta_var('open(\"{marker}\"') + T.meta_var(', \"w\")')",
}
TIR_VALUES = {
    "in a store": f"T.float32(0) if {OPENS} else T.float32(1)",
    "a packed function at once": 'tvm.ffi.get_global_func("runtime.ModuleLoadFromFile")("{marker}")',
    "source of a kernel": 'T.call_kernel("{marker}", [1], 1)',
    "a macro": "T.macro(lambda: 1)()",
    "an index": f"A[{OPENS} and 0]",
    "a method that writes": 'np.ones((2,), "float32").dump("{marker}")',
}
DECORATORS = {
    "a call": f"({OPENS} and R.function)",
    "a method of TVM's": 'tvm.register_global_func("x")',
    "an argument": f"R.function(private={OPENS} and True)",
    "of Python functions": "I.pyfunc",
}
WHOLE = {
    "a statement beside an import": 'import tvm; open("{marker}", "w")\n' + RELAX.format(value="x"),
    "code in a text that imports uncover": (
        'import tvm; """\n@I.ir_module(open("{marker}", "w"))\nclass Module:\n    pass\n"""; import tvm\n'
        + RELAX.format(value="x")
    ),
    "a line break of few readers": '# \x0c\n"""\n' + RELAX.format(value=OPENS) + '"""\n' + RELAX.format(value="x"),
    "a line break of Unicode": "# \u2028\n" + RELAX.format(value="x"),
    "another import": "import os\n" + RELAX.format(value="x"),
    "an import inside": TIR.format(value="1.0") + "        import os\n",
    "a root with another meaning": "np = tvm\n" + RELAX.format(value="R.const(np.array(1.0))"),
    "a loop over a builtin": RELAX.format(value="x") + "for R in (open,):\n    R('{marker}', 'w')\n",
    "a builtin by another name": "f = open\n" + RELAX.format(value='R.const(f("{marker}", "w"))'),
    "a class of a class": RELAX.format(value="x").replace("Module:", f"Module({OPENS}.__class__):"),
    "a metaclass": RELAX.format(value="x").replace("Module:", f"Module(metaclass={OPENS}):"),
    "a default": RELAX.format(value="x").replace('"float32")) ->', f'"float32") = {OPENS}) ->'),
    "a result": RELAX.format(value="x").replace('-> R.Tensor((2,), "float32")', f"-> {OPENS}"),
    "an annotation": RELAX.format(value="x").replace('y: R.Tensor((2,), "float32")', f"y: {OPENS}"),
    "JSON of an expression": f"metadata = tvm.ir.load_json({OPENS}.name)\n" + RELAX.format(value="x"),
    "a parameter that hides a builtin": ANNOTATED.format(shape=OPENS).replace("main(x:", "main(open:"),
    "a line after the module": RELAX.format(value="x") + f'Module["main"] = retyped(Module["main"], y={OPENS})\n',
    "a while": TIR.format(value="1.0") + f"        while {OPENS}:\n            A[0] = 1.0\n",
    "an assertion": TIR.format(value="1.0") + f"        assert {OPENS}, 'x'\n",
    "a with": TIR.format(value="1.0") + f"        with {OPENS}:\n            A[0] = 1.0\n",
    "a raise": TIR.format(value="1.0") + f"        raise ValueError({OPENS})\n",
    "a deletion": TIR.format(value="1.0") + f"        del A[{OPENS}]\n",
    "depth": ANNOTATED.format(shape="(" * 60 + OPENS + ")" * 60),
}
ATTACKS = {
    **{f"value: {name}": RELAX.format(value=value) for name, value in VALUES.items()},
    **{f"shape: {name}": ANNOTATED.format(shape=shape) for name, shape in SHAPES.items()},
    **{f"TIR: {name}": TIR.format(value=value) for name, value in TIR_VALUES.items()},
    **{f"decorator: {name}": DECORATED.format(decorator=text) for name, text in DECORATORS.items()},
    **WHOLE,
}


def attack(name: str, marker: Path) -> str:
    """The script, which would make a file."""
    return ATTACKS[name].replace("{marker}", str(marker)).replace("{{", "{").replace("}}", "}")


@pytest.mark.parametrize("name", ATTACKS)
def test_what_would_run_is_refused(name: str, tmp_path: Path) -> None:
    script = attack(name, tmp_path / "marker")
    assert complaint_about(script) is not None
    assert ast.parse(script), "a script that Python cannot read attacks no one"


REAL = (
    "value: an import",
    "value: a builtin",
    "value: NumPy writes",
    "shape: a text",
    "shape: texts put together",
    "TIR: an index",
    "decorator: a call",
    "an annotation",
    "a result",
)


@pytest.mark.parametrize("name", REAL)
def test_the_attacks_are_real(name: str, tmp_path: Path) -> None:
    """Without the check TVM's parser runs them: the list is not of what fails anyway."""
    marker = tmp_path / "marker"

    def read() -> None:
        live_module(ModuleText(attack(name, marker)))

    with suppress(ChildRaised):
        forked(read, HANGS_S)
    assert marker.exists()


def test_the_line_of_the_first_is_told() -> None:
    refused = complaint_about(RELAX.format(value="R.const(open('x'))"))
    assert refused is not None
    assert (refused.line, refused.text) == (6, "open('x')")


def test_the_names_are_those_of_tvm() -> None:
    """`python -m tests.generators.names_of_scripts > generators/script_names.txt` writes them anew."""
    assert NAMES_FILE.read_text(encoding="utf-8").split() == names()


UNKNOWN_TO_THE_PARSER = {"legalize-ops-offset-of-a-tensor-is-int64": "R.inspect"}
"""What TVM's printer writes and its parser does not know: such a module is read from JSON."""


@pytest.mark.parametrize("folder", sorted(CORPUS.iterdir()), ids=lambda folder: folder.name)
def test_modules_of_the_corpus_are_plain(folder: Path) -> None:
    text = (folder / "module.py").read_text(encoding="utf-8")
    if folder.name in UNKNOWN_TO_THE_PARSER:
        complaint = complaint_about(text)
        assert complaint is not None and UNKNOWN_TO_THE_PARSER[folder.name] in complaint.text
        assert (folder / "module.json").exists()
        return
    assert complaint_about(text) is None
    assert complaint_about(without_imports(text)) is None


PLAIN = {
    "operators": RELAX.format(value='R.const(np.array([1.0, float("nan")], "float32"))'),
    "a name that hides a builtin": RELAX.format(value="input").replace("(x", "(input"),
    "a shape as a text": ANNOTATED.format(shape='"n", "n + T.int64(1)", "(T.max(n, 0) + 2) // 3"'),
    "loops": TIR.format(value="T.float32(2.0) * A[i] + T.Cast('float32', i)"),
    "infinity": TIR.format(value='T.float32("inf")'),
    "a reducer": TIR.format(value="T.float32(1)")
    + "        T.attr(T.comm_reducer(lambda a, b: a + b, [T.float32(0)]), 'reduce_scope', 0)\n",
    "bfloat16": RELAX.format(value='R.const(np.array([1.0], "float32").astype("bfloat16"), "bfloat16")'),
}


@pytest.mark.parametrize("script", PLAIN.values(), ids=PLAIN)
def test_plain_scripts_are_let_through(script: str) -> None:
    assert complaint_about(script) is None


def test_what_the_printer_writes_is_plain() -> None:
    from tests.oracles.oracle_bench import module_of

    text = text_of(module_of(TIR.format(value="T.float32(2)")))
    assert complaint_about(text.script) is None


def test_every_primitive_is_a_step_that_cases_may_take() -> None:
    from generators.passes.constructors import STEPS

    assert {row.name for row in PRIMITIVES} == STEPS
