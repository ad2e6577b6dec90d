"""The types of what is JSON. Nothing here reads or writes any."""

from __future__ import annotations

from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A value that is written as JSON."""
JsonObject: TypeAlias = dict[str, object]
"""An object by its names, to be written or printed as it is. What is read is converted to a record, or narrowed."""
