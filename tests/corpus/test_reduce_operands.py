"""Nested results, what builtins take, options of passes and contents of inputs lose their parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tvm import relax

from corpus.reduce import Candidate, reduce
from corpus.reduce.draft import lift, module_binds
from corpus.scripts.module_text import live_module
from generators import tvm_api as T
from generators.case import EntryCall, ModuleText, PassCall

HEAD = "@I.ir_module(s_tir=True)\nclass Module:\n"


def of(source: str) -> Candidate:
    return Candidate(live_module(ModuleText(HEAD + source)), (), (), ())


def values(candidate: Candidate) -> list[Any]:
    return [bind.value for _, bind in module_binds(lift(candidate.module))]


def calls_of(candidate: Candidate, name: str) -> list[Any]:
    return [value for value in values(candidate) if T.op_name(value) == name]


def cached(layers: int) -> str:
    """A step of a decoder: an addition, and a cache of objects that come in and go out in one nested tuple."""
    caches = ", ".join(f"c{number}: R.Any" for number in range(layers))
    whole = ", ".join(f"c{number}" for number in range(layers))
    return f"""
    @R.function
    def main(x: R.Tensor((2,), dtype="float32"), {caches}):
        with R.dataflow():
            a = R.add(x, x)
            kept = ({whole})
            out = (a, kept)
            R.output(out)
        return out
"""


@pytest.mark.parametrize("layers", [4, 46])
def test_a_cache_that_is_handed_through_goes_in_chunks(layers: int) -> None:
    reduction = reduce(of(cached(layers)), lambda c: bool(calls_of(c, "relax.add")))
    function = reduction.candidate.module["main"]
    assert len(function.params) == 1 and len(values(reduction.candidate)) == 1
    assert reduction.oracle_calls <= 12


def test_of_nested_results_those_stay_that_are_asked_for() -> None:
    def returns_the_third(candidate: Candidate) -> bool:
        """The addition comes with a cache that was a parameter from the start."""
        result = T.return_type(candidate.module["main"])
        leaves = list(_leaves(result))
        return any(isinstance(leaf, relax.AnyType) for leaf in leaves) and len(leaves) >= 2

    small = reduce(of(cached(9)), returns_the_third).candidate
    assert len(list(_leaves(T.return_type(small.module["main"])))) == 2
    assert len(small.module["main"].params) <= 2


def _leaves(ty: Any) -> Any:
    if isinstance(ty, T.TupleType):
        for field in ty.fields:
            yield from _leaves(field)
    else:
        yield ty


PACKED = """
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32"), y: R.Tensor((3,), "float32"), z: R.Tensor((4,), "float32")):
        a = R.call_dps_packed("outside", (x, y, z), out_ty=R.Tensor((2,), dtype="float32"))
        b = R.call_packed("elsewhere", y, a, z, ty_args=R.Tensor((2,), dtype="float32"))
        return b
"""


def test_a_tuple_that_a_builtin_takes_loses_its_fields() -> None:
    small = reduce(of(PACKED), lambda c: bool(calls_of(c, "relax.call_dps_packed"))).candidate
    (call,) = values(small)
    assert len(call.args[1].fields) <= 1 and len(small.module["main"].params) <= 1


def test_a_call_of_an_external_function_loses_its_arguments() -> None:
    def takes_something(candidate: Candidate) -> bool:
        calls = [v for v in values(candidate) if isinstance(getattr(v, "op", None), relax.ExternFunc)]
        return any(len(call.args) > 0 for call in calls)

    small = reduce(of(PACKED), takes_something).candidate
    (call,) = values(small)
    assert len(call.args) == 1 and len(small.module["main"].params) == 1


def test_options_of_a_pass_go_one_by_one() -> None:
    options = '{"tirx.disable_vectorize": True, "relax.a": [1, 2], "relax.b": {"c": 1}}'
    passes = (PassCall("A", "A()"), PassCall("B", "B()", options))
    start = Candidate(of(PACKED).module, (), passes, ())

    def needs_one(candidate: Candidate) -> bool:
        return any('"relax.a"' in call.options or "'relax.a'" in call.options for call in candidate.passes)

    (left,) = reduce(start, needs_one).candidate.passes
    assert eval(left.options) == {"relax.a": [1, 2]}


def test_options_that_are_no_plain_dict_go_as_a_whole() -> None:
    start = Candidate(of(PACKED).module, (), (PassCall("B", "B()", "dict(a=1, b=2)"),), ())
    (left,) = reduce(start, lambda c: len(c.passes) == 1).candidate.passes
    assert left.options == ""


IDENTITY = """
    @R.function
    def main(x: R.Tensor((3,), dtype="float32"), n: R.Tensor((3,), dtype="int32")):
        a = R.add(x, x)
        b = R.add(n, n)
        return (a, b)
"""


def test_inputs_become_small_whole_numbers_where_ones_will_not_do() -> None:
    odd = np.array([0.3, -1000.7, np.inf], "float32"), np.array([90000, 5, -2], "int32")
    start = Candidate(of(IDENTITY).module, (), (), (EntryCall("main", odd),))

    def differs_and_has_a_negative(candidate: Candidate) -> bool:
        given = [a for call in candidate.calls for a in call.arguments if isinstance(a, np.ndarray)]
        return len(given) == 2 and all((array < 0).any() and (array >= 0).any() for array in given)

    small = reduce(start, differs_and_has_a_negative).candidate
    for array in small.calls[0].arguments:
        finite = array[np.isfinite(array)]
        assert (finite == np.rint(finite)).all() and (np.abs(finite) <= 4).all()


SPLIT = """
    @R.function
    def main(x: R.Tensor((8,), "float32")) -> R.Tensor((2,), "float32"):
        a = R.split(x, 4, axis=0)
        b = a[0]
        c = R.sigmoid(b)
        return c
"""


def test_no_type_has_an_extent_below_zero() -> None:
    """TVM infers -2 for the rest of one element in four parts. The predicate does not look at types."""

    def splits(candidate: Candidate) -> bool:
        return bool(calls_of(candidate, "relax.split")) and bool(calls_of(candidate, "relax.sigmoid"))

    small = reduce(of(SPLIT), splits).candidate
    assert splits(small) and "(-" not in small.module.script()


def test_a_module_that_has_such_a_type_itself_is_reduced_nevertheless() -> None:
    start = of(
        SPLIT.replace("(8,)", "(1,)").replace("(2,)", "(1,)").replace("return c", "d = R.exp(c)\n        return d")
    )
    assert "(-2" in start.module.script()
    small = reduce(start, lambda candidate: bool(calls_of(candidate, "relax.split"))).candidate
    assert len(values(small)) < len(values(start))
