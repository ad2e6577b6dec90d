"""Placeholder until recipes land."""
from __future__ import annotations
from typing import Any
def patterns_for(names: Any) -> list[Any]:
    return []
