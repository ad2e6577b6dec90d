"""What a value in a file should have been, in words for the person who wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import get_args

import msgspec


def misfit(table: Mapping[str, object], fields: Mapping[str, object], required: str) -> tuple[str, str] | None:
    """What is wrong with the fields of a table, and at which; None for nothing. fields: with their types."""
    for name, value in table.items():
        if name not in fields:
            return f"unknown field {name!r}; there are {', '.join(fields)}", name
        if (what := _wanted(value, fields[name])) is not None:
            return f"{name}: {what} is wanted, and this is {value if isinstance(value, date) else repr(value)}", name
    return None if required in table else (f"{required}: is missing", required)


def _wanted(value: object, hint: object) -> str | None:
    """What is wanted in place of a value, in words; None where it is of this type."""
    try:
        msgspec.convert(value, hint)
    except msgspec.ValidationError:
        if hint is str:
            return "a text"
        if hint is bool:
            return "true or false"
        words = [word for part in (hint, *get_args(hint)) for word in get_args(part) if isinstance(word, str)]
        return f"one of {', '.join(dict.fromkeys(filter(None, words)))}" if words else "a list of texts"
    return None
