"""Axis orders and window attributes that convolution, pooling and image operators share.

A layout is a string with one capital letter per axis ("NHWC"); the canonical data layouts are N, C and then the
spatial axes in the order D, H, W. Packed layouts ("NCHW4c") are not drawn: no operator here can be lowered in one.
"""

from __future__ import annotations

from collections.abc import Sequence

from generators.dtypes import Array
from generators.operators.knobs import KNOBS
from generators.relax.scope import Scope
from generators.relax.values import Value, extent
from generators.source import Source, weighted
from generators.unavailable import Unavailable

SPATIAL = {1: "W", 2: "HW", 3: "DHW"}
"""The spatial axes of an operator with this many of them, in canonical order."""
MARGIN = 1e-3
"""The distance, in pixels, of sample points from places where the result jumps."""

_DATA: dict[int, tuple[tuple[str, int], ...]] = {
    1: (("NCW", 8), ("NWC", 3)),
    2: (("NCHW", 20), ("NHWC", 6), ("HWCN", 1), ("CHWN", 1)),
    3: (("NCDHW", 8), ("NDHWC", 3)),
}


def draw_data_layout(source: Source, spatial: int) -> str:
    """The axis order of an operator's data; the canonical one most often."""
    return weighted(source, _DATA[spatial])


def draw_out_layout(source: Source, spatial: int, layout: str) -> str | None:
    """The axis order of the result: absent, the data's, or rarely another one."""
    if source.flip(KNOBS.shared.rare):
        return source.pick(_DATA[spatial])[0]
    return layout if source.flip(KNOBS.windows.out_layout_named) else None


def draw_data(s: Scope, dtypes: tuple[str, ...], layout: str) -> Value:
    """Data in this layout: static, but the batch and the channels may be symbolic."""
    rank = len(layout)
    x = s.tensor(dtypes, (rank, rank), static=not s.source.flip(KNOBS.shared.symbolic), nonempty=True)
    assert x.dims is not None
    if not all(isinstance(d, int) or axis in "NC" for d, axis in zip(x.dims, layout, strict=True)):
        raise Unavailable("only batch and channels may be symbolic")
    return x


def moved(array: Array, source: str, target: str) -> Array:
    """`array`, whose axes are in the order `source`, with its axes in the order `target`."""
    return array if source == target else array.transpose([source.index(axis) for axis in target])


def extents(value: Value, layout: str, axes: str) -> list[int]:
    """The run-time extents of the named axes of a value whose shape the IR knows."""
    assert value.dims is not None
    return [extent(value.dims[layout.index(axis)]) for axis in axes]


def spelled(source: Source, numbers: Sequence[int]) -> int | tuple[int, ...]:
    """An attribute with one number per spatial axis, also in its short forms where those mean the same."""
    if all(n == numbers[0] for n in numbers) and source.flip(KNOBS.windows.short_form):
        return numbers[0] if source.flip() else (numbers[0],)
    return tuple(numbers)


def spelled_padding(source: Source, before: Sequence[int], after: Sequence[int]) -> int | tuple[int, ...]:
    """Padding in one of its forms: one number, one per spatial axis, or all before and then all after."""
    if list(before) == list(after) and source.flip(KNOBS.windows.short_padding):
        # One axis has only two forms: a tuple of length one means both sides there too.
        return spelled(source, before)
    return (*before, *after)


def window_extent(kernel: int, dilation: int) -> int:
    """How many elements a dilated window spans."""
    return (kernel - 1) * dilation + 1
