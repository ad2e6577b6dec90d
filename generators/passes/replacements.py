"""Operators by name that AlterOpImpl replaces: what each takes, and the equal PrimFunc in another layout.

No TVM here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Replaced:
    """The sum of two tensors of this shape and dtype, and possibly their difference as a second output.

    layout: how an element's place changes, as Python text of a function. stored: the shape in that layout; larger than
    the shape's elements where a factor does not divide an extent, so that the result is padded.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    layout: str
    stored: tuple[int, ...]
    outputs: int = 1

    @property
    def function(self) -> str:
        """The expression of the replacement."""
        indices = ", ".join("ijkl"[: len(self.stored)])
        computed = ", ".join(
            f"tvm.te.compute({self.stored}, lambda {indices}: a[{indices}] {sign} b[{indices}], name='{name}')"
            for sign, name in (("+", "plus"), ("-", "minus"))[: self.outputs]
        )
        tensors = ", ".join(f"tvm.te.placeholder({self.stored}, '{self.dtype}', name='{name}')" for name in "ab")
        return f"(lambda a, b: tvm.te.create_prim_func([a, b, {computed}]).without_attr('global_symbol'))({tensors})"

    @property
    def layouts(self) -> str:
        """The expression of the layouts of its operands and results."""
        return f"[{', '.join([self.layout] * (2 + self.outputs))}]"


REPLACED = (
    Replaced("passfuzz.add16", (16,), "float32", "lambda i: (i // 4, i % 4)", (4, 4)),
    Replaced("passfuzz.padded", (18,), "float32", "lambda i: (i // 4, i % 4)", (5, 4)),
    Replaced("passfuzz.padded_integers", (7,), "int32", "lambda i: (i // 2, i % 2)", (4, 2)),
    Replaced("passfuzz.padded_twice", (3, 5), "float32", "lambda i, j: (i // 2, j // 2, i % 2, j % 2)", (2, 3, 2, 2)),
    Replaced("passfuzz.turned", (4, 6), "float32", "lambda i, j: (j, i)", (6, 4)),
    Replaced("passfuzz.split_turned", (4, 6), "float16", "lambda i, j: (j // 3, i, j % 3)", (2, 4, 3)),
    Replaced("passfuzz.both", (8,), "float32", "lambda i: (i % 4, i // 4)", (4, 2), outputs=2),
    Replaced("passfuzz.both_padded", (5,), "float32", "lambda i: (i // 3, i % 3)", (2, 3), outputs=2),
)


def altered(rows: tuple[Replaced, ...]) -> str:
    """The expression that constructs AlterOpImpl for these operators."""
    functions = ", ".join(f"'{row.name}': {row.function}" for row in rows)
    layouts = ", ".join(f"'{row.name}': {row.layouts}" for row in rows)
    return f"relax.transform.AlterOpImpl({{{functions}}}, {{{layouts}}})"
