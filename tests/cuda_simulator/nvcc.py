"""In place of nvcc: builds the kernels of a CUDA source as `cuda-cpu` does, and says in the image where they are.

python -m tests.cuda_simulator.nvcc [any options of nvcc] -o IMAGE SOURCE
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from oracles.builds.cuda_cpu.compiler import RUNTIME, CompileError, toolchain
from oracles.builds.cuda_cpu.source import adapted

SPOILS = "CUDA_SIMULATOR_SPOILS"
"""The variable that makes wrong code of maxima: "always", or where it is told to optimise ("optimised")."""
_SLOTS = """
template <typename T>
void sim_put(void* value, cc_slot& slot, bool& pointer) {
  pointer = std::is_pointer_v<T>;
  if constexpr (std::is_pointer_v<T>) slot.pointer = (void*)*(T*)value;
  else if constexpr (std::is_integral_v<T>) slot.integer = (int64_t)*(T*)value;
  else slot.real = (double)*(T*)value;
}
template <typename... T>
void sim_slots(void (*)(T...), void** values, cc_slot* slots, bool* pointers) {
  size_t number = 0;
  ((sim_put<std::remove_cv_t<T>>(values[number], slots[number], pointers[number]), ++number), ...);
}
"""
_OF_KERNEL = """
extern "C" __attribute__((visibility("default"))) int sim_slots_{0}(void** values, cc_slot* slots, bool* pointers) {{
  return sim_slots({0}, values, slots, pointers), 0;
}}
"""


def main(arguments: list[str]) -> int:
    """What nvcc would return."""
    if "--version" in arguments:
        print("Cuda compilation tools, release 13.0, V13.0.0 (of the simulator)")
        return 0
    image, source = Path(arguments[arguments.index("-o") + 1]), Path(arguments[-1])
    cuda = source.read_text()
    optimises = "-G" not in os.environ.get("NVCC_APPEND_FLAGS", "")
    if (spoils := os.environ.get(SPOILS)) == "always" or (spoils and optimises):
        cuda = cuda.replace(" = max(", " = min(")
    library = Path(tempfile.mkdtemp(prefix="kernels-", dir=os.environ.get("CUDA_SIMULATOR"))) / "kernels.so"
    tools = toolchain()
    try:
        tools.shared_library(cuda + _SLOTS + "".join(map(_OF_KERNEL.format, adapted(cuda).bounds)), library)
    except CompileError as error:
        print(f"{source.name}(1): error: {error}")
        return 1
    image.write_text(f"{library}\n{tools.folder / RUNTIME}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
