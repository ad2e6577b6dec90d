"""Passes that are one expression of several steps, written as statements."""

from __future__ import annotations

import pytest

from corpus.scripts.statements import WIDTH, folded, statements_of


def pass_of(*steps: str) -> str:
    return f"tvm.transform.module_pass(lambda mod, ctx: ({', '.join(steps)})[-1], opt_level=0)"


def test_each_kind_of_step_is_what_a_person_would_write() -> None:
    steps = (
        "out := mod.clone()",
        '[(of := one(f, "a b"), out.update(g, of)) for g, f in mod.functions.items() if f.attrs]',
        "(first(out), second(out))",
        "out",
    )
    assert statements_of(pass_of(*steps), "Module") == (
        [
            "out = Module.clone()",
            "for g, f in Module.functions.items():",
            "    if f.attrs:",
            '        of = one(f, "a b")',
            "        out.update(g, of)",
            "first(out)",
            "second(out)",
        ],
        "out",
    )


@pytest.mark.parametrize(("name", "apart"), [("described", True), ("sch", False)])
def test_a_prim_func_in_a_text_is_a_function_before_its_step(name: str, apart: bool) -> None:
    text = f"@T.prim_func(s_tir=True)\ndef {name}(a: T.handle):\n    A = T.match_buffer(a, (2,))\n"
    step = f'register("a name", tvm.script.from_source({text!r}), override=True)'
    lines, _ = statements_of(pass_of("sch := Schedule(mod)", step, "sch.mod"), "Module")
    function = ["", *text.split("\n"), f'register("a name", {name}, override=True)']
    assert lines[1:] == (function if apart else [step]), "the name has a meaning already"


def test_the_statements_do_what_the_expression_does() -> None:
    steps = (
        "seen := list(mod)",
        "[seen.append((a, b)) for a in mod if a > 1 for b in mod if a > b and not b == 'a long condition, with commas, "
        "and or more of them, so that it does not fit in one line of any width that people use for code at all']",
        "seen.append(mod[0])",
        "seen[1:]",
    )
    source = pass_of(*steps)
    lines, result = statements_of(source, "given")
    names = {"given": [1, 2, 3]}
    exec("\n".join([*lines, f"got = {result}"]), names)
    body = source.removeprefix("tvm.transform.module_pass(").removesuffix(", opt_level=0)")
    assert names["got"] == eval(body)([1, 2, 3], None) == [2, 3, (2, 1), (3, 1), (3, 2), 1]


def test_brackets_of_a_condition_stay() -> None:
    name = "a_long_name_" * 4
    steps = (f"[got.append(x) for x in mod if ({name}1 or {name}2) and {name}3]", "got")
    lines, _ = statements_of(pass_of(*steps), "given")
    names = {"got": [], "given": [1], f"{name}1": True, f"{name}2": False, f"{name}3": False}
    exec("\n".join(lines), names)
    assert names["got"] == []
    assert max(map(len, lines)) <= WIDTH


@pytest.mark.parametrize(
    "source",
    [
        "relax.transform.FuseOps()",
        "p",
        "tvm.transform.module_pass(lambda mod, ctx: mod)",
        pass_of("f(mod)", "mod").replace("[-1]", "[0]"),
        pass_of("f(mod)", "mod").replace("module_pass", "prim_func_pass"),
        pass_of("f(m)", "m").replace("lambda mod", "lambda m"),
        pass_of("sorted(x, key=lambda mod: mod.name)", "mod"),
        pass_of("[mod for mod in x]", "mod"),
    ],
)
def test_any_other_expression_has_no_steps(source: str) -> None:
    assert statements_of(source, "Module") == ([], "")


def test_a_long_line_is_broken_where_that_changes_nothing() -> None:
    call = f"x = f({', '.join(f'argument_{i}' for i in range(20))})"
    assert max(map(len, folded(call).split("\n"))) <= WIDTH
    assert folded(f"and {call[4:]}").count("\n")
    text = f"x = '{', '.join(f'word{i}' for i in range(30))}'"
    assert folded(text) == text
