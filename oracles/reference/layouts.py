"""Layouts with split axes ("NCHW4c"), of which the operator table knows nothing: operands are put into the layout
without them, and the result is split again.

Element c of C lies at place c // 4 of C and c % 4 of 4c (src/s_tir/ir/data_layout.cc). Rows draw plain layouts only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from generators.dtypes import Array
from generators.operators.row import Attributes

_AXIS = re.compile(r"([A-Z])|(\d+)([a-z])")
_OF_OPERAND = {"data_layout": 0, "layout": 0, "kernel_layout": 1}
"""Which operand an attribute speaks of; out_layout is the result's, and that of the data where it is empty."""

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Split:
    """A layout. axes: in order, upper case for whole axes, lower case for inner parts. factors: of the inner parts."""

    axes: tuple[str, ...]
    factors: Mapping[str, int]

    @staticmethod
    def read(layout: str) -> Split:
        found = [(whole or inner, factor) for whole, factor, inner in _AXIS.findall(layout)]
        return Split(tuple(axis for axis, _ in found), {axis: int(factor) for axis, factor in found if factor})

    @property
    def plain(self) -> str:
        """The layout without the inner parts."""
        return "".join(axis for axis in self.axes if axis.isupper())

    def merged(self, array: Array) -> Array:
        """An array in this layout, put into the plain one."""
        order = [self.axes.index(axis) for axis in self._nested()]
        extents = dict(zip(self.axes, array.shape, strict=True))
        shape = [extents[axis] * extents.get(axis.lower(), 1) for axis in self.plain]
        return array.transpose(order).reshape(shape)

    def split(self, array: Array) -> Array:
        """An array in the plain layout, put into this one. ValueError where an axis cannot be split."""
        shape: list[int] = []
        for axis, extent in zip(self.plain, array.shape, strict=True):
            factor = self.factors.get(axis.lower())
            shape += [extent] if factor is None else [extent // factor, factor]
        nested = self._nested()
        return np.ascontiguousarray(array.reshape(shape).transpose([nested.index(axis) for axis in self.axes]))

    def _nested(self) -> list[str]:
        """The axes, each followed by its inner part."""
        return [part for axis in self.plain for part in (axis, axis.lower()) if part in self.axes]


def is_split(attributes: Attributes) -> bool:
    """Whether a layout among the attributes has an inner part."""
    return any(
        name.endswith("layout") and isinstance(value, str) and any(c.isdigit() for c in value)
        for name, value in attributes.items()
    )


def plain_attributes(attributes: Attributes) -> Attributes:
    """The attributes with plain layouts."""
    return {
        name: Split.read(value).plain if name.endswith("layout") and isinstance(value, str) else value
        for name, value in attributes.items()
    }


def on_split(meaning: Callable[..., R], attributes: Mapping[str, Any]) -> Callable[..., R]:
    """The meaning of an operator for operands and results in the layouts of `attributes`; itself is called with plain
    ones."""
    places = {_OF_OPERAND[name]: Split.read(attributes[name]) for name in _OF_OPERAND if attributes.get(name)}
    asked = attributes.get("out_layout") or attributes.get("data_layout") or attributes.get("layout")
    result = Split.read(asked) if asked else None
    plain = plain_attributes(attributes)

    def split(*operands: Any, **ignored: object) -> Any:
        merged = [places[k].merged(o) if k in places else o for k, o in enumerate(operands)]
        value = meaning(*merged, **plain)
        return result.split(value) if result is not None and isinstance(value, np.ndarray) else value

    return split
