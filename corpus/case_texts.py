"""What a case folder says to a reader besides its script: its title, what the culprit did, whose fault it is."""

from __future__ import annotations

import msgspec

from corpus.migration import difference_before_fields, fault_before_fields


class CaseTexts(msgspec.Struct, frozen=True):
    """title: one line. difference: what the culprit did to the functions, as a unified diff; "" where that is not what
    is wrong. fault: lines on whose fault it is."""

    title: str = ""
    difference: str = ""
    fault: tuple[str, ...] = ()


class _TextFields(msgspec.Struct):
    """These fields of a `case.json`; None in older ones."""

    title: str = ""
    difference: str | None = None
    fault: tuple[str, ...] | None = None


def texts_of(record: str, readme: str = "", issue: str = "") -> CaseTexts:
    """The texts in a `case.json`; what an older one lacks is read in its reports. Nothing of what is no such file."""
    try:
        read = msgspec.json.decode(record, type=_TextFields)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        read = _TextFields()
    return CaseTexts(
        read.title,
        difference_before_fields(readme, issue) if read.difference is None else read.difference,
        fault_before_fields(readme) if read.fault is None else read.fault,
    )
