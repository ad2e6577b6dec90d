"""How a process is started that runs a module of ours, from whatever folder the user stands in."""

from __future__ import annotations

import sys

_START = (
    "import sys; sys.path[0] or sys.path.pop(0); import runpy; runpy.run_module({module!r}, None, '__main__', True)"
)


def module_command(module: str, *arguments: str, python: str = sys.executable) -> list[str]:
    """What `python -m` does, but with no file of the current folder (a user's random.py) in the place of the standard
    library's. PYTHONSAFEPATH=1 says the same from Python 3.11 on."""
    return [python, "-c", _START.format(module=module), *arguments]
