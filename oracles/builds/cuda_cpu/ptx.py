"""Whether CUDA source is valid by the word of NVIDIA's own compiler, where there is one."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from oracles.builds.room import compiled

TIMEOUT_S = 120.0


def to_ptx(cuda: str, arch: str = "sm_90", timeout_s: float = TIMEOUT_S) -> str | None:
    """What nvcc says against the source when it compiles it to PTX; None where it takes it.

    Raises FileNotFoundError where there is no nvcc (`shutil.which("nvcc")` says so beforehand), TimeoutError where it
    takes longer or finds no room.
    """
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        raise FileNotFoundError("nvcc")
    with tempfile.TemporaryDirectory(prefix="passfuzz-ptx-") as place:
        source = Path(place) / "kernels.cu"
        source.write_text(cuda)
        command = [nvcc, "--ptx", f"-arch={arch}", "-w", source.name, "-o", "kernels.ptx"]
        done = compiled(command, Path(place), timeout_s)
    return None if done.returncode == 0 else done.stderr.strip() or f"exit status {done.returncode}"
