"""Whether CUDA source is valid by the word of NVIDIA's own compiler, where there is one."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

TIMEOUT_S = 120.0


def to_ptx(cuda: str, arch: str = "sm_90") -> str | None:
    """What nvcc says against the source when it compiles it to PTX; None where it takes it.

    Raises FileNotFoundError where there is no nvcc (`shutil.which("nvcc")` says so beforehand).
    """
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        raise FileNotFoundError("nvcc")
    with tempfile.TemporaryDirectory(prefix="passfuzz-ptx-") as place:
        source = Path(place) / "kernels.cu"
        source.write_text(cuda)
        command = [nvcc, "--ptx", f"-arch={arch}", "-w", source.name, "-o", "kernels.ptx"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, cwd=place)
        except subprocess.TimeoutExpired:
            return f"nvcc takes longer than {TIMEOUT_S:.0f} s"
    return None if done.returncode == 0 else done.stderr.strip() or f"exit status {done.returncode}"
