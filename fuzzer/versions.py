"""Versions of what is installed, without importing it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

MISSING = "missing"


def installed(*distributions: str) -> str:
    """The version of the first of these distributions that is installed, else "missing"."""
    for name in distributions:
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return MISSING


def tvm_version() -> str:
    """The version of the TVM that is installed: the wheel, or a build of its own."""
    return installed("apache-tvm", "tvm")


def passfuzz_version() -> str:
    """The version of passfuzz; "missing" when it runs from a checkout that is not installed."""
    return installed("passfuzz")
