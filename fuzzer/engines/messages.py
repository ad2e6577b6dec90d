"""What a campaign and its seats on a cluster tell each other, beside the lines of `fuzzer.protocol`. No TVM here.

A seat is one worker process on a node of the cluster. Engines carry these records as bytes.
"""

from __future__ import annotations

import hashlib
import sys
from functools import cache

import msgspec
from msgspec import Struct

from fuzzer.processes.start import ROOT
from fuzzer.protocol import Plan
from fuzzer.versions import ffi_version, passfuzz_version, tvm_version

OPENING = 0
"""The number of a seat's first task, in which it is opened; those of commands count from 1."""
_ROOMS = ("generators", "oracles", "corpus", "reports", "fuzzer")
_KINDS = (".py", ".j2")


class Versions(Struct, frozen=True):
    """What decides what a case is and how it is judged. sources: a digest of passfuzz's files, which tells apart two
    checkouts of one version."""

    tvm: str
    ffi: str
    passfuzz: str
    python: str
    sources: str

    def difference(self, other: Versions) -> str:
        """For people, how `other` is not the same; "" where it is."""
        names = {"tvm": "TVM", "ffi": "apache-tvm-ffi", "passfuzz": "passfuzz", "python": "Python"}
        for field, name in names.items():
            ours, theirs = getattr(self, field), getattr(other, field)
            if ours != theirs:
                return f"it has {name} {theirs}, this campaign {ours}"
        return "" if self.sources == other.sources else "it has other sources of passfuzz than this campaign"


class Opening(Struct, frozen=True):
    """What a seat is opened with. plan: its paths are those of the campaign's machine."""

    campaign: str
    seat: str
    plan: Plan
    hash_seed: int


class SeatSaid(Struct, frozen=True):
    """A part of what a seat says of a task. part: counted from 0. lines: Answers.

    ended: no part follows. lost: how the seat has ended with the task, for people; "" where it lives.
    useless: the node cannot carry out tasks of ours. versions: of the node, in the first part of an opening.
    """

    seat: str
    task: int
    part: int = 0
    lines: bytes = b""
    ended: bool = False
    lost: str = ""
    useless: bool = False
    versions: Versions | None = None


_SAID = msgspec.msgpack.Decoder(SeatSaid)
_OPENING = msgspec.msgpack.Decoder(Opening)


def packed(record: Struct) -> bytes:
    """A record as an engine carries it."""
    return msgspec.msgpack.encode(record)


def said_of(data: bytes) -> SeatSaid:
    """What a seat has said."""
    return _SAID.decode(data)


def opening_of(data: bytes) -> Opening:
    """What a seat is to be opened with."""
    return _OPENING.decode(data)


@cache
def versions() -> Versions:
    """Those of this machine."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return Versions(tvm_version(), ffi_version(), passfuzz_version(), python, _digest_of_sources())


def _digest_of_sources() -> str:
    digest = hashlib.sha256()
    for room in _ROOMS:
        files = (path for path in (ROOT / room).rglob("*") if path.suffix in _KINDS)
        for path in sorted(path for path in files if "cases" not in path.relative_to(ROOT).parts):
            digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
