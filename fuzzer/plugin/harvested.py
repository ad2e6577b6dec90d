"""What the process of `passfuzz harvest` says of each kept module. No TVM here."""

from __future__ import annotations

from typing import TypeAlias

import msgspec


class Digest(msgspec.Struct, frozen=True, tag="digest"):
    """Of a module that is looked at."""

    digest: str


class NoSeed(msgspec.Struct, frozen=True, tag="left out"):
    """Why a module is no seed."""

    why: str


class Seed(msgspec.Struct, frozen=True, tag="seed"):
    """The folder of a seed, by name."""

    folder: str


Harvested: TypeAlias = NoSeed | Seed
