"""Scripts of passes that a user's file brings travel: with the text of the file, or with a line on what must go too."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from corpus.scripts import imported_files
from corpus.scripts.loaded_file import MOST_BYTES, literal_of, loaded_environment, loaded_file
from corpus.scripts.repro import repro_text
from corpus.store import StoredCase, write_case
from generators.case import Case, ModuleText, PassCall
from tests import source_trees
from tests.patience import HANGS_S

pytestmark = pytest.mark.warm
MODULE = """\
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        return x
"""
ALONE = '''\
"""Passes of mine: \\\\ and \\'quotes\\'."""

import tvm
from tvm.script import relax as R


@R.function(private=True)
def template(y: R.Tensor((2,), "float32")):
    return y  # TVMScript reads its own source


@tvm.transform.module_pass(opt_level=0, name="Mine")
def mine(mod, context):
    raise RuntimeError(f"the bug is there: {len(template.params)} parameter")


PASSES = {"Mine": lambda: mine}
'''
HELPED = ALONE.replace("import tvm\n", "import tvm\nimport of_mine\n", 1).replace("the bug", "{of_mine.WHAT}")
PLACED = HELPED.replace("import of_mine\n", "import of_mine, os\n\nHERE = os.path.dirname(__file__)\n", 1)
"""It asks where it is, so that no script can carry it."""


def put(folder: Path, text: str, single: bool = False, **others: str) -> Path:
    """The script of a finding of `mine.py`, in a folder of its own. others: files that stand beside `mine.py`."""
    file = folder / "home" / "mine.py"
    for name, what in {"mine.py": text, "of_mine.py": "WHAT = 'the helper'\n", **others}.items():
        (file.parent / name).parent.mkdir(parents=True, exist_ok=True)
        (file.parent / name).write_text(what)
    case = Case(ModuleText(MODULE), (PassCall("Mine", "PASSES['Mine']()"),), load=str(file))
    stored = StoredCase(case, "a title", "survives", "crash", "Mine")
    write_case(folder / "finding", stored, repro_text(stored, single), "")
    return folder / "finding"


def run(folder: Path, **variables: str) -> tuple[int, str]:
    command, environment = [sys.executable, str(folder / "repro.py")], {**os.environ, **variables}
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=HANGS_S, check=False, env=environment, cwd=folder
    )
    return ended.returncode, ended.stdout


@pytest.mark.parametrize("single", [False, True])
def test_a_script_runs_where_the_file_is_not(single: bool, tmp_path: Path) -> None:
    folder = shutil.move(put(tmp_path, ALONE, single), tmp_path / "elsewhere")
    shutil.rmtree(tmp_path / "home")
    status, output = run(folder)
    assert (status, "the bug is there: 1 parameter" in output) == (1, True)
    assert str(tmp_path) not in (folder / "repro.py").read_text()
    assert ALONE in (folder / "repro.py").read_text()


SHAPED = """
from tvm.script import relax as R


@R.function(private=True)
def helped(y: R.Tensor((2,), "float32")):
    return y  # TVMScript reads the source of a module that is carried


WHAT = f"the helper of {len(helped.params)} parameter"
"""
IMPORTS = {
    "a file beside": ("from of_mine import WHAT", {"of_mine.py": SHAPED}),
    "an import in a function": (
        "def f():\n    from of_mine import WHAT\n    return WHAT\nWHAT = f()",
        {"of_mine.py": SHAPED},
    ),
    "a file that imports another": (
        "from of_mine import WHAT",
        {"of_mine.py": "from deep import WHAT\n", "deep.py": SHAPED},
    ),
    "files that import each other": (
        "import of_mine\nWHAT = of_mine.what()",
        {"of_mine.py": "import deep\ndef what(): return deep.WHAT\n", "deep.py": f"import of_mine\n{SHAPED}"},
    ),
    "a module of a package": (
        "from parts.one import WHAT",
        {"parts/__init__.py": "", "parts/one.py": "from .two import WHAT\n", "parts/two.py": SHAPED, "two.py": "1 / 0"},
    ),
    "a module taken from a package": (
        "from parts import one\nWHAT = one.WHAT",
        {"parts/__init__.py": "", "parts/one.py": SHAPED},
    ),
    "a package that takes from inside": (
        "from parts import WHAT",
        {
            "parts/__init__.py": "from .inner import *\n",
            "parts/inner/__init__.py": "from ..two import WHAT\n",
            "parts/two.py": SHAPED,
        },
    ),
    "a package without a file of its own": (
        "import parts.one\nWHAT = parts.one.WHAT",
        {"parts/one.py": SHAPED},
    ),
}
"""How a user's file comes by WHAT, and the files that it imports."""


@pytest.mark.parametrize("elsewhere", [False, True], ids=["beside it", "elsewhere on the path"])
@pytest.mark.parametrize("what", [*IMPORTS][:1] + [pytest.param(one, marks=pytest.mark.deep) for one in [*IMPORTS][1:]])
def test_a_script_carries_what_the_file_imports(
    what: str, elsewhere: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines, files = IMPORTS[what]
    text = ALONE.replace("import tvm\n", f"import tvm\n{lines}\n", 1).replace("the bug", "{WHAT}")
    if elsewhere:
        monkeypatch.syspath_prepend(tmp_path / "libraries")
        files = {f"../libraries/{name}": said for name, said in files.items()}
        (tmp_path / "home").mkdir()
    files["../home/of_mine.py"] = "" if elsewhere else files.get("of_mine.py", "")
    folder = shutil.move(put(tmp_path, text, **files), tmp_path / "moved")
    shutil.rmtree(tmp_path / "home")
    shutil.rmtree(tmp_path / "libraries", ignore_errors=True)
    status, output = run(folder)
    assert (status, "the helper of 1 parameter is there" in output) == (1, True), output
    assert str(tmp_path) not in (folder / "repro.py").read_text()


def test_a_script_says_what_must_stand_beside_it(tmp_path: Path) -> None:
    folder = put(tmp_path, PLACED)
    assert str(tmp_path) not in (folder / "repro.py").read_text()
    needed = "put beside this script, or into a folder that PASSFUZZ_LOADED names: mine.py, of_mine.py\n"
    assert run(folder) == (2, needed)
    shown = (1, True)
    status, output = run(folder, **loaded_environment(str(tmp_path / "home" / "mine.py")))
    assert (status, "the helper is there" in output) == shown
    shutil.copytree(tmp_path / "home", folder, dirs_exist_ok=True)
    for variables in ({}, {"PASSFUZZ_LOADED": "/nonexistent"}):
        status, output = run(folder, **variables)
        assert (status, "the helper is there" in output) == shown


READS = ALONE.replace("import tvm\n", "import tvm\n\nWHAT = open(NAME).read()\n", 1).replace("the bug", "{WHAT}")
"""It reads a file as it begins."""


@pytest.mark.parametrize("name", ["words.txt", "data/words.txt", "../words.txt"])
def test_data_that_a_file_names_must_go_with_it(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = put(tmp_path, READS.replace("NAME", repr(name)), **{name: "the data"})
    needed = f"put beside this script, or into a folder that PASSFUZZ_LOADED names: mine.py, {name}\n"
    assert run(folder) == (2, needed)
    shutil.copytree(tmp_path / "home", folder, dirs_exist_ok=True)
    status, output = run(folder)
    assert (status, "the data is there" in output) == (1, True)


LOOKS = {
    "by the module's own place": "import of_mine\nWHAT = of_mine.__file__",
    "by a package's data": "import pkgutil\nWHAT = pkgutil.get_data('parts', 'words.txt')",
    "by resources": "from importlib import resources\nWHAT = resources.files('parts')",
    "by globals": "WHAT = globals()['__file__']",
    "by its loader": "WHAT = __loader__.path",
    "by a search path": "import sys\nsys.path.insert(0, 'sub')\nWHAT = 'x'",
    "by another name of a finder": "from importlib import import_module as im\nWHAT = im('of_mine').WHAT",
}


@pytest.mark.parametrize("text", LOOKS.values(), ids=LOOKS)
def test_a_file_that_looks_around_is_put_beside_its_script(text: str, tmp_path: Path) -> None:
    folder = put(tmp_path, ALONE.replace("import tvm\n", f"import tvm\n{text}\n", 1))
    status, said = run(folder)
    assert status == 2 and said.startswith("put beside this script")


def test_a_text_that_names_no_file_beside_changes_nothing(tmp_path: Path) -> None:
    others = "NAMES = ['no_such.txt', '/etc/passwd', 'home', '.', '', 'x\\0', 'mine.py', %r]\n" % ("a" * 5000)
    folder = put(tmp_path, ALONE.replace("import tvm\n", f"import tvm\n\n{others}", 1))
    shutil.rmtree(tmp_path / "home")
    assert run(folder)[0] == 1


@pytest.mark.parametrize(
    ("text", "carried"),
    [
        ("import tvm\nPASSES = {}\n", []),
        ("from tvm import relax\nimport numpy.linalg, os.path, pytest, corpus.store\n", []),
        ("import of_mine\n", ["of_mine"]),
        ("import not_there, of_mine.deeper\n", ["of_mine"]),
        ("def f():\n    from of_mine import x\n", ["of_mine"]),
        ("import parts.one as one\n", ["parts", "parts.one"]),
        ("from parts import one, x\n", ["parts", "parts.one"]),
        ("from parts import *\n", ["parts"]),
        ("from . import of_mine\n", ["of_mine"]),
        ("from .of_mine import x\n", ["of_mine"]),
        ("import mine\n", ["mine"]),
        ("import tokenize, random\n", []),
    ],
)
def test_what_a_script_carries(text: str, carried: list[str], tmp_path: Path) -> None:
    found = loaded_file(beside(tmp_path, text))
    assert found.literal is not None
    assert [module.name for module in found.carried] == carried
    assert found.beside == ()


def beside(folder: Path, text: str) -> Path:
    """`mine.py` among other files; one has the name of a module of Python's own."""
    for name in ("of_mine.py", "random.py", "unreadable.py"):
        (folder / name).write_text("")
    (folder / "unreadable.py").write_bytes(b"\xff")
    (folder / f"compiled{EXTENSION_SUFFIXES[0]}").write_bytes(b"")
    (folder / "large.py").write_text("#" * MOST_BYTES)
    (folder / "parts").mkdir()
    (folder / "parts" / "one.py").write_text("")
    (folder / "mine.py").write_text(text)
    return folder / "mine.py"


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("print(__file__)\n", ["mine.py"]),
        ("import of_mine\nprint(__file__)\n", ["mine.py", "of_mine.py"]),
        ("import importlib, parts.one\nimportlib.import_module('x')\n", ["mine.py", "parts"]),
        ("from importlib import import_module\nimport_module('x')\n", ["mine.py"]),
        ("import compiled\n", ["mine.py", f"compiled{EXTENSION_SUFFIXES[0]}"]),
        ("import unreadable\n", ["mine.py", "unreadable.py"]),
        ("import large, of_mine\n", ["mine.py", "large.py", "of_mine.py"]),
        ("def (", ["mine.py"]),
        ("", ["mine.py"]),
        ("#" * MOST_BYTES + "\n", ["mine.py"]),
    ],
)
def test_what_must_stand_beside_a_script(text: str, needed: list[str], tmp_path: Path) -> None:
    found = loaded_file(beside(tmp_path, text))
    assert (found.literal, found.carried) == (None, ())
    assert found.beside == (*needed[:1], *sorted(needed[1:]))


def test_our_folders_are_known() -> None:
    assert imported_files.ROOMS == source_trees.ROOMS


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    assert loaded_file(tmp_path / "gone.py").beside == ("gone.py",)


@pytest.mark.parametrize(
    "text", ["x\n", "'''\n", "'''\n\"\"\"\n", "\\\n", "a\\", "'", '"""\n', "\r\n", "\0", "é\u2028", "{{ x }}"]
)
def test_literals_give_the_text_back(text: str) -> None:
    assert ast.literal_eval(literal_of(text)) == text


def test_a_readable_literal_is_the_text_itself() -> None:
    assert literal_of("a = '\\n'\n") == "r'''a = '\\n'\n'''"
