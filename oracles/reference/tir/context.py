"""The rest of a module, as a PrimFunc that is run sees it: kernels and functions that it may call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from generators import tvm_api
from generators.tvm_api import PrimFunc
from oracles.ir.walk import items
from oracles.reference.tir.recorded import RecordedCall

SET_DEVICE = "__tvm_set_device"
DEVICE_KERNEL_LAUNCH = 2
"""CallingConv::kDeviceKernelLaunch: the device part of a function, as SplitHostDevice makes it."""


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """The rest of a module.

    kernels: device functions that a PrimFunc may launch, by symbol. functions: PrimFuncs that it may call, by the names
    of their GlobalVars. synchronised: the scopes of memory (`EVERY_SCOPE`) for which the module is past ThreadSync, so
    that accesses which no barrier orders may race; memory of a scope for which a function has barriers is checked for
    races in any case. record: receives the calls, which may be repeated later; None records none. carrying:
    uninitialised elements may be copied; see `poison.py`.
    widened: floats of 16 bits are float64 in arguments and while computing; see `widened.py`.
    """

    kernels: Mapping[str, PrimFunc] = field(default_factory=dict)
    synchronised: frozenset[str] = frozenset()
    functions: Mapping[str, PrimFunc] = field(default_factory=dict)
    record: list[RecordedCall] | None = None
    carrying: bool = False
    widened: bool = False


ALONE = Context()


def chooses_device(func: PrimFunc) -> bool:
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


def kernels_of(functions: Iterable[tuple[str, PrimFunc]]) -> dict[str, PrimFunc]:
    """The device functions of a module by their symbols, from its functions by name."""
    found: dict[str, PrimFunc] = {}
    for name, function in functions:
        attrs = function.attrs
        if attrs is not None and "calling_conv" in attrs and int(attrs["calling_conv"]) == DEVICE_KERNEL_LAUNCH:
            found[str(attrs["global_symbol"]) if "global_symbol" in attrs else name] = function
    return found
