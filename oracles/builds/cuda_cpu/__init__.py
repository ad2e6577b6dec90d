"""The CUDA C++ that TVM generates for a lowered module, compiled for the CPU and run there, thread by thread.

What it is for: CUDA code generation and missing barriers, on any machine with a C++ compiler. Each thread of a block is
a fibre that runs until its next barrier, and the threads of an interval between barriers run in several orders. A
result that depends on the order is a race; poisoned memory shows reads of uninitialised elements.

Why the real host code runs, and not the reference interpreter with natively run kernels: the host part decides how many
threads there are and which pointer goes where, and is compiled by TVM as well. Built by LLVM for the CPU and driven by
TVM's virtual machine, it is exactly what users run, and nothing here shares a line with the reference that judges the
numbers. Only three things of the host part are changed (`lowering.py`): kernels are looked up among the registered
functions of the process, where ours are; memory is the CPU's; asserts, which would say so, are left out.

    available()                  why this machine cannot, or None
    compile_source(text)         CUDA C++ -> CompiledSource, whose kernels can be launched on NumPy arrays
    build(module, phase)         a module after the Relax pipeline for CUDA  -> CudaCpuModule | NotBuilt
    CudaCpuModule.run(...)       one entry call in one order of threads; raises Fault
    judge(built, numbers, ...)   every entry call in every order, compared with the reference and with each other
    to_ptx(text)                 what nvcc says against the source

Where things are: `include/` the C++ side; `source.py` what is changed in the text; `compiler.py` compiling;
`program.py` launching; `lowering.py` TVM's side; `machine.py` running and judging; `ptx.py` nvcc.
"""

from oracles.builds.cuda_cpu.compiler import CompileError, available, compiler_path
from oracles.builds.cuda_cpu.program import ORDERS, CompiledSource, Fault, Order, compile_source
from oracles.builds.cuda_cpu.ptx import to_ptx

__all__ = [
    "ORDERS",
    "CompileError",
    "Fault",
    "Order",
    "CompiledSource",
    "available",
    "compile_source",
    "compiler_path",
    "to_ptx",
]
