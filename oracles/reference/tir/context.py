"""What a PrimFunc runs among."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from generators import tvm_api
from oracles.ir.walk import items
from oracles.reference.tir.recorded import RecordedCall

SET_DEVICE = "__tvm_set_device"
DEVICE_KERNEL_LAUNCH = 2
"""CallingConv::kDeviceKernelLaunch: what SplitHostDevice makes of the device part of a function."""


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """The rest of a module. kernels: device functions that a PrimFunc may launch, by symbol. functions: PrimFuncs that
    it may call, by the names of their GlobalVars. synchronised: the module is past ThreadSync, so that accesses that no
    barrier orders may race; where a function has barriers for a scope of memory, that is so for this memory in any
    case. record: where calls are kept that may be made again; None keeps none. carrying: uninitialised
    elements may be copied; see `poison.py`."""

    kernels: Mapping[str, Any] = field(default_factory=dict)
    synchronised: bool = False
    functions: Mapping[str, Any] = field(default_factory=dict)
    record: list[RecordedCall] | None = None
    carrying: bool = False


ALONE = Context()


def chooses_device(func: Any) -> bool:
    """Whether a packed function is for tensors of a device other than the CPU: MakePackedAPI makes it choose one."""
    left = [func.body]
    while left:
        node = left.pop()
        match type(node).__name__:
            case "SeqStmt":
                left += items(node.seq)
            case "AttrStmt":
                left.append(node.body)
            case "Evaluate" if isinstance(node.value, tvm_api.Call) and (args := items(node.value.args)):
                first = args[0]
                if type(first).__name__ == "StringImm" and str(first.value) == SET_DEVICE:
                    return True
    return False


def kernels_of(functions: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The device functions of a module by their symbols, from its functions by name."""
    found: dict[str, Any] = {}
    for name, function in functions:
        attrs = function.attrs
        if attrs is not None and "calling_conv" in attrs and int(attrs["calling_conv"]) == DEVICE_KERNEL_LAUNCH:
            found[str(attrs["global_symbol"]) if "global_symbol" in attrs else name] = function
    return found
