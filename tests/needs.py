"""What a test needs of TVM that some releases lack: such tests are skipped there, with the name as the reason."""

from __future__ import annotations

import pytest

from generators import tvm_api as tvm_api  # first: it adds the names that are supplied
from generators.compat.names import SUPPLIED, there


def _has(name: str) -> bool:
    return there(name) and name not in SUPPLIED


def needs(*names: str) -> pytest.MarkDecorator:
    """Skips a test on a TVM that does not have all of these names itself."""
    missing = [name for name in names if not _has(name)]
    return pytest.mark.skipif(bool(missing), reason=f"this TVM has no {', '.join(missing)}")


def file_needs(name: str) -> None:
    """The same for a whole file whose programs do not parse without the name."""
    if not _has(name):
        pytest.skip(f"this TVM has no {name}", allow_module_level=True)
