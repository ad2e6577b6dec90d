"""The memory that a program allocates itself, as data: storages, and the part of one that a tensor takes.

`memory.py` has the operations on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from generators.dtypes import Array


@dataclass(slots=True, eq=False)
class Storage:
    """Bytes in which tensors are allocated. name: for messages, with its function. tensors: all tensors so far."""

    name: str
    size: int
    tensors: list[Memory] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Memory:
    """The state of one tensor's allocation; views of the tensor share it.

    known: which elements are initialised, flat in row-major order; None for all. used: whether a call has had the
    tensor as an argument; it may have left elements uninitialised on purpose. start, width: its first byte in its
    storage, and the bytes of an element. taken_by: the tensor that has overwritten a part of it.
    """

    name: str
    count: int
    known: Array | None
    used: bool = False
    storage: Storage | None = None
    start: int = 0
    width: int = 1
    taken_by: str = ""

    @property
    def shares(self) -> bool:
        """Whether other tensors were made in the same storage."""
        return self.storage is not None and len(self.storage.tensors) > 1
