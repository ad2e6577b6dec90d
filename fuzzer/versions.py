"""Versions of what is installed, and whether they work together, without importing any of it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Literal, TypeAlias

from fuzzer.errors import EnvironmentFault
from fuzzer.processes import lent

MISSING = "missing"
ProbeState: TypeAlias = Literal["ok", "absent", "broken"]
"""absent: passfuzz works without it. broken: fuzzing is impossible."""

KNOWN_PAIRS = {"0.27.0.post1": "0.1.14.post1", "0.26.0": "0.1.13.post3", "0.25.0.post1": "0.1.12"}
"""TVM wheel -> the apache-tvm-ffi that it was seen to work with."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One thing that was looked at; `mend` is one line of what to do when it is broken."""

    name: str
    state: ProbeState
    detail: str
    mend: str = ""


def installed(*distributions: str) -> str:
    """The version of the first of these distributions that is installed, else "missing"."""
    for name in distributions:
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return MISSING


def tvm_version() -> str:
    """The version of the TVM that is installed: the wheel, or a build of its own; under `--tvm`, what that one says."""
    return lent.TAKEN.tvm if lent.TAKEN else installed("apache-tvm", "tvm")


def passfuzz_version() -> str:
    """The version of passfuzz; "missing" when it runs from a checkout that is not installed."""
    return lent.TAKEN.passfuzz if lent.TAKEN else installed("passfuzz")


def ffi_version() -> str:
    """The version of TVM's foreign function interface that is installed."""
    return lent.TAKEN.ffi if lent.TAKEN else installed("apache-tvm-ffi")


def has_tvm() -> bool:
    """Whether there is a package tvm, wherever it comes from."""
    return find_spec("tvm") is not None


def version_probe(name: str, version: str) -> Probe:
    """The probe of a distribution; a TVM on PYTHONPATH has no version, and its ffi may be its own."""
    if version != MISSING:
        return Probe(name, "ok", version)
    if name in ("apache-tvm", "apache-tvm-ffi") and has_tvm():
        return Probe(name, "ok", "not installed as a distribution; found on the path")
    wanted = ("apache-tvm", "apache-tvm-ffi") if name == "apache-tvm" else (name,)
    return Probe(name, "broken", "not installed", " ".join(["pip install", *(f"'{requirement(n)}'" for n in wanted)]))


def requirement(name: str) -> str:
    """What to ask pip for."""
    tvm, ffi = next(iter(KNOWN_PAIRS.items()))
    return {"apache-tvm": f"apache-tvm=={tvm}", "apache-tvm-ffi": f"apache-tvm-ffi=={ffi}"}.get(name, name)


def pair() -> Probe:
    """Whether this TVM was seen to work with this ffi. A newer ffi than the known one segfaults in save_json."""
    return judge_pair(tvm_version(), ffi_version())


def judge_pair(tvm: str, ffi: str) -> Probe:
    """The probe of a pair of versions: broken only when the pair is known to crash."""
    name = "tvm + ffi"
    wanted = KNOWN_PAIRS.get(tvm)
    if MISSING in (tvm, ffi):
        return Probe(name, "absent", "not both installed as distributions: the pair cannot be judged")
    if wanted is None:
        return Probe(name, "absent", f"{tvm} + {ffi}: not a pair that was tried; the probes below decide")
    if ffi == wanted:
        return Probe(name, "ok", f"{tvm} + {ffi}: a pair known to work")
    mend = f"pip install 'apache-tvm-ffi=={wanted}'"
    if tvm.startswith("0.27.") and ffi.startswith("0.1.15"):
        return Probe(name, "broken", f"apache-tvm {tvm} segfaults with apache-tvm-ffi {ffi}", mend)
    return Probe(name, "absent", f"{tvm} + {ffi}: not a pair that was tried; known to work: {wanted} ({mend})")


def require_tvm() -> None:
    """Raises EnvironmentFault when TVM is not installed or its ffi is known to crash it. Cheap: imports nothing."""
    missing = version_probe("apache-tvm", tvm_version())
    for probe in (missing, pair()):
        if probe.state == "broken":
            raise EnvironmentFault(f"{probe.name}: {probe.detail}; {probe.mend}")
