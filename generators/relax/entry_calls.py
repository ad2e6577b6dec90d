"""Entry calls of a finished program: exact inputs for main, possibly two sets, and for other public functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from generators import tvm_api
from generators.arrays import draw_array, with_specials
from generators.case import Argument, EntryCall, Shape
from generators.prim_expr import evaluate
from generators.relax.frames import FunctionFrame, ModuleFrame, ParameterSpec
from generators.source import Source
from generators.tvm_api import Type, Var

UPPER_BOUNDS = "tir_var_upper_bound"
LOWER_BOUNDS = "tir_var_lower_bound"
"""The function attributes that say to StaticPlanBlockMemory how large and how small a symbolic dim can be."""


def draw_arguments(source: Source, frame: FunctionFrame) -> tuple[Argument, ...]:
    """The arguments that the function was drawn for."""
    return tuple(_argument(source, spec) for _, spec in frame.parameters)


def draw_calls(
    source: Source, module: ModuleFrame, frame: FunctionFrame, arguments: tuple[Argument, ...]
) -> tuple[EntryCall, ...]:
    """The call of main with `arguments`, then others.

    A second call of main has inputs in the same ranges; whether its extents suit the body (an index that only a
    larger extent admits, a cast to a number) is for the reference to say.
    """
    calls = [EntryCall("main", arguments)]
    if frame.parameters and source.flip(module.knobs.entries.again):
        specs = _resized(source, frame) if source.flip(module.knobs.entries.resized) else None
        drawn = specs or [spec for _, spec in frame.parameters]
        calls.append(EntryCall("main", tuple(_argument(source, spec) for spec in drawn)))
    for name, other in module.public.items():
        if source.flip(module.knobs.entries.others):
            calls.append(EntryCall(name, draw_arguments(source, other)))
    return tuple(calls)


def _argument(source: Source, spec: ParameterSpec) -> Argument:
    if spec.fields is not None:
        return tuple(_argument(source, f) for f in spec.fields)
    if spec.is_shape:
        return Shape(spec.shape)
    seed = source.array_seed()
    return with_specials(draw_array(seed, spec.shape, spec.dtype, spec.range), seed, spec.specials, spec.meant)


def _resized(source: Source, frame: FunctionFrame) -> list[ParameterSpec] | None:
    """The parameters with new values for the symbolic dims; None without any, and where a type hides its shape."""
    own = {v: n for v, n in frame.symbols.items() if v.name not in frame.late}
    if not own:
        return None
    most: Mapping[str, int] = frame.attributes.get(UPPER_BOUNDS, {})
    least: Mapping[str, int] = frame.attributes.get(LOWER_BOUNDS, {})
    symbols = {v: _extent(source, n, least.get(v.name, 0), most.get(v.name)) for v, n in own.items()}
    specs = [_with_symbols(tvm_api.type_of(var), spec, symbols) for var, spec in frame.parameters]
    known = [spec for spec in specs if spec is not None]
    if len(known) < len(specs) or any(prod(spec.shape) > frame.module.knobs.max_elements for spec in known):
        return None
    return known


def _extent(source: Source, extent: int, least: int, most: int | None) -> int:
    """Another extent within the bounds, more often a larger one, in which every index into the old one is good."""
    wanted = source.pick((extent + 1, extent + 3, 2 * extent, max(extent - 1, 1), 1))
    return max(least, wanted if most is None else min(wanted, most))


def _with_symbols(ty: Type, spec: ParameterSpec, symbols: Mapping[Var, int]) -> ParameterSpec | None:
    """How to fill a parameter of this type where its symbols have these values; None where the type does not say."""
    if spec.fields is not None:
        fields = [_with_symbols(t, f, symbols) for t, f in zip(ty.fields, spec.fields, strict=True)]
        known = tuple(field for field in fields if field is not None)
        return replace(spec, fields=known) if len(known) == len(fields) else None
    extents = ty.values if spec.is_shape else ty.shape
    if extents is None or isinstance(extents, tvm_api.relax.Var):
        return None
    dims = extents if spec.is_shape else extents.values
    return replace(spec, shape=tuple(int(evaluate(dim, symbols)) for dim in dims))
