"""A CUDA device made of the CPU, for tests: TVM's own run time for CUDA on `driver.cpp`, kernels built by `nvcc.py`.

What depends on the hardware is not in it; what a program may ask of a driver, and in which process, is.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from oracles.builds import cuda_cpu

ROOT = Path(__file__).resolve().parents[2]
_VERSIONS = "libcudart.so.13 { global: *; };\n"
"""TVM's library asks for symbols of this version."""
_NVCC = """\
#!/bin/sh
PYTHONPATH='{root}' CUDA_SIMULATOR='{folder}' exec '{python}' -m tests.cuda_simulator.nvcc "$@"
"""
_TORCH = """\
import ctypes

ctypes.CDLL("libcudart.so.13").cudaGetDeviceCount(ctypes.byref(ctypes.c_int()))
raise ImportError("a stand-in")
"""
"""PyTorch as far as it matters: whoever imports it has begun with the driver, and its children can use no device."""
_HERE = """\
import oracles.builds.needs

oracles.builds.needs.DRIVER_FILES = ("/",)
"""
"""Runs at the start of every process: there is no file of a driver, and one is to be seen."""


def installed(folder: Path) -> dict[str, str]:
    """The environment of processes that are to see the device, whose files go into the folder."""
    libraries, programs, start, kernels = (folder / name for name in ("lib", "bin", "start", "kernels"))
    for room in (libraries, programs, start, kernels):
        room.mkdir(parents=True)
    (folder / "versions").write_text(_VERSIONS)
    build = [cuda_cpu.compiler_path(), "-std=c++17", "-O1", "-shared", "-fPIC"]
    driver = str(Path(__file__).parent / "driver.cpp")
    runtime = libraries / "libcudart.so.13"
    named = ["-Wl,-soname,libcudart.so.13", f"-Wl,--version-script={folder / 'versions'}"]
    subprocess.run([*build, driver, "-o", str(runtime), *named, "-ldl"], check=True)
    empty = ["-x", "c++", os.devnull, "-x", "none", "-o", str(libraries / "libcuda.so.1")]
    subprocess.run([*build, *empty, "-Wl,-soname,libcuda.so.1", "-Wl,--no-as-needed", str(runtime)], check=True)
    nvcc = programs / "nvcc"
    nvcc.write_text(_NVCC.format_map({"root": ROOT, "folder": kernels, "python": sys.executable}))
    nvcc.chmod(0o755)
    (start / "sitecustomize.py").write_text(_HERE)
    (start / "torch.py").write_text(_TORCH)
    return {
        **os.environ,
        "LD_LIBRARY_PATH": str(libraries),
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT}{os.pathsep}{start}",
    }
