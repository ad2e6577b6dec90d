"""The probes of `passfuzz doctor` that touch TVM: run as a module with the name of one, in a process of its own.

Prints what it found as its last line and exits 0 when the thing works; dies in any other way when it does not.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from fuzzer.processes.tvm_alone import without_torch
from generators.targets import TARGETS


def probe_import() -> str:
    """TVM can be imported, and its JSON writer (what a mismatched ffi breaks) works."""
    from generators import tvm_api

    tvm_api.json_of(_module())
    return f"tvm {tvm_api.VERSION}"


def probe_llvm() -> str:
    """A small module compiles for LLVM and gives the right numbers."""
    import numpy as np
    import tvm
    from tvm import relax

    from generators import tvm_api

    executable = tvm.compile(_module(), target=tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    given = np.arange(6, dtype="float32").reshape(2, 3)
    got = tvm_api.to_array(machine["main"](tvm_api.to_tensor(given, "float32")))
    if not np.array_equal(got, given + given):
        raise SystemExit(f"x + x gave {got.tolist()}")
    return "compiles and runs"


def probe_cuda_codegen() -> str:
    """CUDA source can be generated; needs neither a device nor nvcc."""
    import tvm

    from oracles.builds.cuda_cpu.lowering import NO_COMPILER

    os.environ[NO_COMPILER] = "1"
    executable = tvm.compile(_module(), target=_cuda(), relax_pipeline=_cuda_pipeline())
    source = executable.mod.imports[0].imports[0].inspect_source("cuda")
    return f"generates {len(source.splitlines())} lines without a device"


def probe_cuda_device() -> str:
    """A CUDA device is here, and a small module that this TVM builds for it gives the right numbers there."""
    with without_torch():
        import tvm

    from oracles.builds.cuda_device import unusable

    if (why := unusable()) is not None:
        raise SystemExit(why)
    device = tvm.cuda(0)
    if not device.exist:  # The driver has no names until it has been asked what there is.
        raise SystemExit("the device was there, and is gone")
    return str(device.device_name)


def _module() -> Any:
    """main(x: float32[2, 3]) = x + x."""
    from tvm import relax

    from generators import tvm_api

    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.tensor_type((2, 3), "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            y = builder.emit_output(relax.op.add(x, x))
        builder.emit_func_output(y)
    return builder.finalize()


def _cuda() -> Any:
    import tvm

    return eval(TARGETS["cuda"].source, {"tvm": tvm})


def _cuda_pipeline() -> Any:
    from tvm import relax

    return relax.get_default_pipeline(_cuda())


PROBES = {
    "import": probe_import,
    "llvm": probe_llvm,
    "cuda-codegen": probe_cuda_codegen,
    "cuda-device": probe_cuda_device,
}

if __name__ == "__main__":
    print(PROBES[sys.argv[1]]())
