"""What a loaded pass names in files that lie beside its own, which its file imports."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fuzzer.trial.repertoire import load_passes
from generators.passes.vocabulary import SHAPES, operators_named, words_of

LOADED = """
import beside_rules
import beside_package.deep
from beside_rules import imported

TABLE = {"relax.exp": imported}


def by_module():
    return beside_rules.by_name()


def of_package():
    return beside_package.deep.far()


def inside():
    from beside_late import rewritten

    return rewritten


def of_another():
    import json

    return json.dumps("plain")


PASSES = {
    "Imported": lambda: imported,
    "ByModule": by_module,
    "OfPackage": of_package,
    "Inside": inside,
    "OfAnother": of_another,
    "Itself": beside_rules.by_name,
}
"""
RULES = """
from tvm import relax


def imported(call):
    return relax.op.nn.relu(call) if "relax.add" else relax.If(call, call, call)


def by_name():
    return relax.op.sigmoid


def unnamed():
    return relax.op.log
"""
DEEP = (
    "from tvm import relax\n\nfrom . import near\n\n\ndef far():\n    from .near import cosine\n\n    return cosine\n"
)
NEAR = "from tvm import relax\n\n\ndef cosine():\n    return relax.op.cos\n"
LATE = "raise RuntimeError('not to be run')\n\n\ndef rewritten(call):\n    return relax.op.permute_dims(call)\n"
NAMES = ("beside_rules", "beside_late", "beside_package", "beside_package.deep", "beside_package.near")


@pytest.fixture
def loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "beside_package").mkdir()
    texts = {"mine": LOADED, "beside_rules": RULES, "beside_late": LATE, "beside_package/__init__": ""}
    for name, text in {**texts, "beside_package/deep": DEEP, "beside_package/near": NEAR}.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path / "mine.py"
    for name in NAMES:
        sys.modules.pop(name, None)


def operators(path: Path, name: str) -> tuple[str, ...]:
    passes: dict[str, Any] = runpy.run_path(str(path), run_name="mine")["PASSES"]
    return operators_named(words_of(passes[name], path.parent))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Imported", ("relax.add", "relax.nn.relu")),
        ("ByModule", ("relax.sigmoid",)),
        ("OfPackage", ("relax.cos",)),
        ("Itself", ("relax.sigmoid",)),
        ("OfAnother", ()),
    ],
)
def test_functions_of_files_beside_the_loaded_one_are_read(loaded: Path, name: str, expected: tuple[str, ...]) -> None:
    assert operators(loaded, name) == expected


def test_a_file_that_no_import_has_reached_is_read_and_not_run(loaded: Path) -> None:
    assert operators(loaded, "Inside") == ("relax.permute_dims",)
    assert "beside_late" not in sys.modules


def test_files_elsewhere_are_not_read(loaded: Path, tmp_path: Path) -> None:
    passes = runpy.run_path(str(loaded), run_name="mine")["PASSES"]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert operators_named(words_of(passes["Imported"], elsewhere)) == ()
    assert operators_named(words_of(passes["Imported"])) == ()


PASS = """
import beside_rules
import tvm


def made():
    return tvm.transform.module_pass(lambda mod, ctx: beside_rules.imported(mod), opt_level=0, name="Mine")


PASSES = {"Mine": made}
"""


def test_rows_of_a_load_file_carry_what_the_files_beside_it_name(loaded: Path) -> None:
    loaded.write_text(PASS, encoding="utf-8")
    rows, _ = load_passes(loaded)
    assert rows["Mine"].fires.vocabulary.operators == ("relax.add", "relax.nn.relu")
    assert set(SHAPES["If"]) <= set(rows["Mine"].fires.vocabulary.shapes)


OPTIONAL = """
import beside_optional


def by_attribute():
    return beside_optional.missing


def by_import():
    from beside_optional import missing

    return missing


def by_dots():
    try:
        from .... import far
    except ImportError:
        far = None
    return far


PASSES = {"ByAttribute": by_attribute, "ByImport": by_import, "ByDots": by_dots}
"""
LAZY = """
def __getattr__(name):
    raise ImportError(f"{name} is an extra")
"""


@pytest.mark.parametrize("name", ["ByAttribute", "ByImport", "ByDots"])
def test_what_a_file_makes_on_demand_is_not_asked_for(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "beside_optional", raising=False)
    (tmp_path / "beside_optional.py").write_text(LAZY)
    (tmp_path / "load.py").write_text(OPTIONAL)
    held = runpy.run_path(str(tmp_path / "load.py"))
    assert words_of(held["PASSES"][name], tmp_path) is not None
    assert "beside_optional" in sys.modules
    monkeypatch.delitem(sys.modules, "beside_optional")
