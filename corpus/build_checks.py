"""What a repro script does for a module that is wrong in one of the other builds of `oracles.builds.cpu_builds`.

The lines end in an open block, in which entry calls are run on `executable`. No TVM is imported here.
"""

from __future__ import annotations

from oracles.builds.cpu_builds import CpuBuild, How

_COMPILER = """\
from tvm.support.cc import get_cc

if get_cc() is None:
    print("this needs a C++ compiler", flush=True)
    os._exit(2)
"""
_LOADED = """\
    folder = tempfile.TemporaryDirectory()
    executable.export_library(f"{folder.name}/exported.so")
    executable = tvm.runtime.load_module(f"{folder.name}/exported.so")
    folder.cleanup()
"""
_EMITTED = """\
    for library in [part for part in executable.mod.imports if part.kind == "llvm"]:
        library.write_to_file(os.devnull, "o")
"""


def build_text(row: CpuBuild) -> str:
    """The lines that build `mod` by a row, as users do; what does not run here is made into object code."""
    options = f", config={row.options}" if row.options else ""
    how = f', exec_mode="{row.exec_mode}"' if row.exec_mode != "bytecode" else ""
    lines = _COMPILER if row.how is How.LOAD else ""
    if row.last:
        lines += f'pipeline = tvm.transform.Sequential([relax.get_pipeline("default"), {row.last}])\n'
        how += ", relax_pipeline=pipeline"
    lines += f"with tvm.transform.PassContext(opt_level=3{options}):\n"
    lines += f"    executable = relax.build(mod, tvm.target.Target({row.target}){how})\n"
    match row.how:
        case How.RUN:
            return lines
        case How.LOAD:
            return f"import tempfile\n{lines}{_LOADED}"
        case How.EMIT:
            return lines + _EMITTED
