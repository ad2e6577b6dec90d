"""TVM, imported without PyTorch.

Where PyTorch is installed, `import tvm_ffi` imports it and asks it for devices, which starts the driver of CUDA
(tvm_ffi/_optional_torch_c_dlpack.py: `torch.cuda.is_available()`). No child of such a process can use a device: the
driver answers CUDA_ERROR_NOT_INITIALIZED. PyTorch also brings threads of its own, seconds and memory. A `--load` file
may import it later; TVM then takes no dtypes of PyTorch (tvm_ffi/_convert.py), and tensors by DLPack only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_HIDDEN = "torch"


@contextmanager
def without_torch() -> Iterator[None]:
    """No PyTorch can be imported in the block; what is loaded already stays. For the first import of TVM in a process
    that forks children."""
    if _HIDDEN in sys.modules:
        yield
        return
    sys.modules[_HIDDEN] = None  # type: ignore[assignment]  # what `import` takes for "there is none"
    try:
        yield
    finally:
        del sys.modules[_HIDDEN]
