"""Memory of tensors that a program allocates itself: which elements hold something, and storages that several share.

A storage is bytes; the tensors made in it have carriers of their own, and share nothing but validity. The rule: of the
tensors in a storage, at most one holds each byte, the one that was written last. Writing an element takes its bytes
from every other tensor of the storage; nothing is wrong until what was taken is read. Operators are in `storage`.

Sources: src/runtime/memory/memory_manager.cc (StorageObj::AllocTensor: a tensor is a pointer into its storage and
holds a reference to it) and `GetDataSize` of tvm_ffi (bytes of a tensor).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from generators.dtypes import is_float, numpy_dtype
from oracles.evidence import ReferenceTrap
from oracles.reference.errors import Trap
from oracles.reference.values import Array, Runtime, Tensor


@dataclass(slots=True, eq=False)
class Storage:
    """Bytes that tensors are made in. name: for messages, with its function. tensors: all made in it so far."""

    name: str
    size: int
    tensors: list[Memory] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Memory:
    """What one allocation of a tensor holds; views of the tensor share it.

    known: which of its elements hold something, flat in row-major order; None for all. used: whether any call has had
    it as an argument, and may so have left elements unwritten on purpose. start, width: its first byte in its storage,
    and the bytes of an element. taken_by: the tensor that has overwritten a part of it.
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


def blank(shape: tuple[int, ...], dtype: str, name: str, storage: Storage | None = None, start: int = 0) -> Tensor:
    """A tensor that nobody has written to: NaN, or a recognisable pattern for integers.

    Trap("type") for negative extents, Trap("out-of-bounds") where it does not fit into its storage.
    """
    if min(shape, default=0) < 0:
        raise Trap("type", f"{name} is a tensor of shape {list(shape)}")
    carrier: Array
    if is_float(dtype):
        carrier = np.full(shape, np.nan)
    else:
        carrier = np.full(shape, 1 if dtype == "bool" else 77, numpy_dtype(dtype))
    count, width = carrier.size, numpy_dtype(dtype).itemsize
    memory = Memory(name, count, np.zeros(count, np.bool_) if count else None, False, storage, start, width)
    if storage is not None:
        if start < 0 or start + count * width > storage.size:
            raise Trap(
                "out-of-bounds",
                f"{name} takes {count * width} bytes at {start} of {storage.name}, of {storage.size}",
                ReferenceTrap("out-of-bounds", of_storage=True),
            )
        storage.tensors.append(memory)
    return Tensor(carrier, dtype, memory=memory)


def mask_of(tensor: Tensor) -> Array | None:
    """Which elements hold something, in the tensor's shape and to be changed in place; None for all."""
    memory = tensor.memory
    if memory is None or memory.known is None:
        return None
    return memory.known[_part(tensor, memory)].reshape(tensor.shape)


def _part(tensor: Tensor, memory: Memory) -> slice:
    """Where the elements of a tensor stand in its allocation: a view may begin behind it."""
    size = tensor.value.size
    return slice(0, size) if size == memory.count else slice(tensor.first, tensor.first + size)


def written(tensor: Tensor, now: Array | None, before: Array | None) -> None:
    """Notes what a call has left in a tensor. now: which elements it holds, None for all; before: which elements its
    whole allocation held, None where nobody shares its storage. Others lose the bytes of new elements."""
    memory = tensor.memory
    if memory is None:
        return
    memory.used = True
    if memory.known is None:
        return
    if now is None:
        memory.known[_part(tensor, memory)] = True
    else:
        memory.known[_part(tensor, memory)] = now.reshape(-1)
    if before is not None:
        _take(memory, memory.known & ~before)
    if memory.known.all():
        memory.known = None
        memory.taken_by = ""


def overwrite(tensor: Tensor, values: Array) -> None:
    """Writes a whole tensor."""
    before = before_call(tensor)
    tensor.value[...] = values
    written(tensor, None, before)


def before_call(tensor: Tensor) -> Array | None:
    """What `written` is to be told of the state before a call."""
    memory = tensor.memory
    return memory.known.copy() if memory is not None and memory.known is not None and memory.shares else None


def _take(owner: Memory, fresh: Array) -> None:
    """Takes the bytes of these elements of `owner` from the other tensors of its storage."""
    assert owner.storage is not None
    if not fresh.any():
        return
    for other in owner.storage.tensors:
        if other is owner:
            continue
        hit = _overlap(other, owner, fresh)
        if hit is None:
            continue
        known: Array = np.ones(other.count, np.bool_) if other.known is None else other.known
        if (known & hit).any():
            other.known = known & ~hit
            other.taken_by = owner.name


def _overlap(memory: Memory, other: Memory, elements: Array | None = None) -> Array | None:
    """Which elements of `memory` share a byte with `elements` of another tensor of its storage (None: any of them);
    None where no element does."""
    end, other_end = (m.start + m.count * m.width for m in (memory, other))
    low, high = max(memory.start, other.start), min(end, other_end)
    if low >= high:
        return None
    touched = np.zeros(memory.count * memory.width, np.bool_)
    if elements is None:
        touched[low - memory.start : high - memory.start] = True
    else:
        theirs = np.repeat(elements, other.width)[low - other.start : high - other.start]
        touched[low - memory.start : high - memory.start] = theirs
    return np.asarray(touched.reshape(memory.count, memory.width).any(axis=1))


def without_overlap(tensors: Iterable[Tensor]) -> dict[int, Array]:
    """For tensors that one call is given: what they may be read for, by the id of their memory, where that is less
    than they hold. Elements whose bytes another of them has as well may be overwritten before they are read."""
    memories = {id(t.memory): t.memory for t in tensors if t.memory is not None}
    readable: dict[int, Array] = {}
    for key, memory in memories.items():
        for other in memories.values():
            if other is memory or other.storage is not memory.storage or other.known is None:
                continue
            hit = _overlap(memory, other, ~other.known)
            if hit is not None:
                known: Array = np.ones(memory.count, np.bool_) if memory.known is None else memory.known
                readable[key] = readable.get(key, known) & ~hit
    return readable


def check_read(value: Runtime, reader: str) -> None:
    """Trap where a tensor that is read whole has never been written ("uninitialised"), or is partly overwritten
    ("storage-overlap"). Elements that a call has left unwritten, on purpose or not, are no trap: they hold no number,
    and a comparison says so where they matter."""
    if isinstance(value, tuple):
        for part in value:
            check_read(part, reader)
    elif isinstance(value, Tensor) and value.memory is not None and value.memory.known is not None:
        memory = value.memory
        found = f"{memory.name} is read by {reader}"
        if memory.taken_by:
            raise Trap("storage-overlap", f"{found}, but {memory.taken_by} has overwritten it")
        if not memory.used:
            raise Trap("uninitialised", f"{found}, and nobody has written it")
