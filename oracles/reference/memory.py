"""Which elements of an allocated tensor are initialised, and which of them another tensor has overwritten.

The data is in `allocations.py`; the operators that allocate, view and kill are in `storage.py`. A storage is bytes.
The tensors in it have arrays of their own here and share only validity: each byte belongs to the tensor that wrote it
last. Writing an element takes its bytes from every other tensor of the storage. Only a read of a lost element traps.

Sources: src/runtime/memory/memory_manager.cc (StorageObj::AllocTensor: a tensor is a pointer into its storage and
holds a reference to it) and `GetDataSize` of tvm_ffi (bytes of a tensor).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from generators.dtypes import Array, is_float, numpy_dtype
from oracles.evidence import ReferenceTrap
from oracles.reference.allocations import Memory, Storage
from oracles.reference.errors import Trap
from oracles.reference.values import Runtime, Tensor


def blank(shape: tuple[int, ...], dtype: str, name: str, storage: Storage | None = None, start: int = 0) -> Tensor:
    """An uninitialised tensor: NaN for floats, a recognisable number for integers.

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
                ReferenceTrap("out-of-bounds", of_storage=True),
                f"{name} takes {count * width} bytes at {start} of {storage.name}, of {storage.size}",
            )
        storage.tensors.append(memory)
    return Tensor(carrier, dtype, memory=memory)


def mask_of(tensor: Tensor) -> Array | None:
    """Which elements are initialised, in the tensor's shape, to be changed in place; None for all."""
    memory = tensor.memory
    if memory is None or memory.known is None:
        return None
    return memory.known[_part(tensor, memory)].reshape(tensor.shape)


def _part(tensor: Tensor, memory: Memory) -> slice:
    """Where a tensor's elements are in its allocation: a view may begin after the first of them."""
    size = tensor.value.size
    return slice(0, size) if size == memory.count else slice(tensor.first, tensor.first + size)


def written(tensor: Tensor, now: Array | None, before: Array | None) -> None:
    """Records the state of a tensor after a call. now: its initialised elements, None for all; before: those of its
    whole allocation before the call, None if no tensor shares its storage. The others lose the bytes of new elements.
    """
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
    """The state before a call, for the argument `before` of `written`."""
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
    """For the tensors that one call gets: the elements it may read, by the id of their memory, where these are fewer
    than the initialised ones. The call may overwrite an element before it reads it if another tensor has its bytes."""
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
    """Trap where a tensor that is read whole was never written ("uninitialised"), or is partly overwritten
    ("storage-overlap"). Single elements that a call left uninitialised do not trap here: they are NaN or a pattern, and
    the comparison of results reports them where they matter."""
    if isinstance(value, tuple):
        for part in value:
            check_read(part, reader)
    elif isinstance(value, Tensor) and value.memory is not None and value.memory.known is not None:
        memory = value.memory
        found = f"{memory.name} is read by {reader}"
        if memory.taken_by:
            raise Trap("storage-overlap", f"{found}, but {memory.taken_by} has overwritten it")
        if not memory.used:
            raise Trap("uninitialised", f"{found}, but is not initialised")
