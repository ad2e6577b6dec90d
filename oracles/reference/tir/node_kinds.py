"""The two kinds of nodes: expressions compare by structure, statements by identity.

Both are frozen for the type checker only: making a node that is frozen at run time takes three times as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object) -> object:  # in `typing` from Python 3.11 on
        return lambda decorator: decorator


N = TypeVar("N")


@dataclass_transform(frozen_default=True)
def by_structure(node: type[N]) -> type[N]:
    """A node that compares by structure."""
    return dataclass(slots=True, unsafe_hash=True)(node)


@dataclass_transform(frozen_default=True, eq_default=False)
def by_identity(node: type[N]) -> type[N]:
    """A node that compares by identity."""
    return dataclass(slots=True, eq=False)(node)
