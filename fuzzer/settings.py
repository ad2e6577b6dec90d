"""What a campaign was asked to do: the options of `passfuzz run`, read, checked and frozen.

Only what needs no table is checked here; names of passes are checked by `fuzzer.selection`.
"""

from __future__ import annotations

import math
import os
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import get_args

from fuzzer.errors import UsageError
from generators.case import Tier
from generators.targets import DEFAULT, TARGETS

PASS_GROUPS = ("@relax", "@tir", "@pipelines")
TIERS: tuple[str, ...] = get_args(Tier)
DEFAULT_TIME_S = 60.0
DEFAULT_OUT = Path("passfuzz-out")

_UNIT_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_ADDRESS = re.compile(r"auto|(?:[a-z]+://)?(?:\[[0-9a-fA-F:]+\]|[^\s:/\[\]]+)(?::\d{1,5})?")
_TIME_PART = re.compile(r"(\d+(?:\.\d+)?)([smhd])")
ENGINES = ("dask", "ray")
ALL_SEATS = 1 << 20
"""No limit for the workers of a cluster."""


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `index` (counted from 0) of `count`: this process runs the cases whose index % count == index."""

    index: int = 0
    count: int = 1

    def __str__(self) -> str:
        """As the option is written, counted from 1."""
        return f"{self.index + 1}/{self.count}"


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of `passfuzz run`.

    time_s, cases: whichever ends first ends the campaign; None is no limit, and at least one is set.
    passes: names and groups (PASS_GROUPS); empty means every pass. oracles: names; empty means all.
    fail_on: tiers whose new findings give exit status 1. on: "local", "dask" or "ray" (a cluster of this
    machine alone), "dask://ADDRESS" or "ray://ADDRESS". jobs: worker processes; on a cluster
    the most, 0 for all that it has.
    fresh: results of an earlier run under `out` are removed. resume: that run is gone on with.
    """

    seed: int
    time_s: float | None = DEFAULT_TIME_S
    cases: int | None = None
    jobs: int = 1
    targets: tuple[str, ...] = (DEFAULT,)
    passes: tuple[str, ...] = ()
    oracles: tuple[str, ...] = ()
    load: Path | None = None
    corpus: Path | None = None
    known: Path | None = None
    fail_on: tuple[str, ...] = ("A", "B")
    shard: Shard = Shard()
    on: str = "local"
    out: Path = DEFAULT_OUT
    fresh: bool = False
    resume: bool = False


def read_settings(
    *,
    time: str | None = None,
    cases: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    targets: Iterable[str] = (),
    passes: str | None = None,
    oracles: str | None = None,
    load: Path | None = None,
    corpus: Path | None = None,
    known: Path | None = None,
    fail_on: str | None = None,
    shard: str | None = None,
    on: str = "local",
    out: Path | None = None,
    fresh: bool = False,
    resume: bool = False,
) -> Settings:
    """Settings from the options as typed. Raises UsageError with one line naming the option."""
    if resume:
        given = {"seed": seed, "target": targets, "passes": passes, "oracles": oracles, "load": load}
        given |= {"corpus": corpus, "known": known, "shard": shard, "fresh": fresh}
        for name, value in given.items():
            if value not in (None, (), [], False):
                raise UsageError(f"--resume goes on as the run was begun: leave out --{name}")
    return Settings(
        seed=secrets.randbits(32) if seed is None else seed,
        time_s=_time_limit(time, cases),
        cases=None if cases is None else _at_least_one(cases, "--cases"),
        jobs=_jobs(jobs, on),
        targets=read_targets(targets),
        passes=_pass_names(passes),
        oracles=read_names(oracles, "--oracles"),
        load=None if load is None else read_load(load),
        corpus=_folder(corpus, "--corpus"),
        known=_file(known, "--known"),
        fail_on=_tiers(fail_on),
        shard=read_shard(shard),
        on=_engine(on),
        out=_out_folder(DEFAULT_OUT if out is None else out),
        fresh=fresh,
        resume=resume,
    )


def available_cpus() -> int:
    """How many CPUs this process may use (its affinity, where the system says it), at least 1."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def read_time(text: str, option: str = "--time") -> float:
    """Seconds from "60s", "10m", "6h", "1h30m" or a plain number of seconds. Raises UsageError."""
    cleaned = text.strip().lower()
    parts = _TIME_PART.findall(cleaned)
    if "".join(number + unit for number, unit in parts) == cleaned and parts:
        seconds = sum(float(number) * _UNIT_SECONDS[unit] for number, unit in parts)
    else:
        seconds = _plain_number(cleaned)
    if not (math.isfinite(seconds) and seconds > 0):
        raise UsageError(f'{option} {text}: not a time; write it as "60s", "10m" or "6h"')
    return seconds


def read_shard(text: str | None) -> Shard:
    """A shard from "i/n", i counted from 1. Raises UsageError."""
    if text is None:
        return Shard()
    found = re.fullmatch(r"(\d+)/(\d+)", text.strip())
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise UsageError(f'--shard {text}: write it as "i/n" with 1 <= i <= n, for example "2/8"')
    return Shard(index=int(found[1]) - 1, count=int(found[2]))


def read_targets(texts: Iterable[str]) -> tuple[str, ...]:
    """Targets in the order given, each once; none given means DEFAULT. Raises UsageError."""
    names = tuple(dict.fromkeys(name for text in texts for name in read_names(text, "--target"))) or (DEFAULT,)
    for name in names:
        if name not in TARGETS:
            raise UsageError(f"--target {name}: unknown target; choose from {', '.join(TARGETS)}")
    return names


def read_load(path: Path) -> Path:
    """The file of `--load`. Raises UsageError when it is not a readable Python file."""
    if path.suffix != ".py":
        raise UsageError(f"--load {path}: a Python file that defines PASSES is wanted")
    if not path.is_file():
        raise UsageError(f"--load {path}: no such file")
    return path


def existing(path: Path) -> Path:
    """A file or folder given as an argument. Raises UsageError when there is none."""
    if not path.exists():
        raise UsageError(f"{path}: no such file or folder")
    return path


def output_file(path: Path, option: str = "--output") -> Path:
    """Where a file is to be written. Raises UsageError where that cannot work, before anything has taken its time."""
    if path.is_dir():
        raise UsageError(f"{option} {path}: is a folder; a file is wanted")
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    try:
        with TemporaryFile(dir=folder):
            return path
    except OSError as error:
        raise UsageError(f"{option} {path}: nothing can be written into {folder}: {error.strerror}") from error


def read_names(text: str | None, option: str) -> tuple[str, ...]:
    """Names from a comma-separated option, each once; None gives none. Raises UsageError."""
    return tuple(dict.fromkeys(read_sequence(text, option)))


def read_sequence(text: str | None, option: str) -> tuple[str, ...]:
    """The same where the order says what to do, so that a name may come again. Raises UsageError."""
    if text is None:
        return ()
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise UsageError(f"{option}: the list of names is empty")
    return names


def _plain_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _time_limit(time: str | None, cases: int | None) -> float | None:
    if time is not None:
        return read_time(time)
    return DEFAULT_TIME_S if cases is None else None


def _at_least_one(number: int, option: str) -> int:
    if number < 1:
        raise UsageError(f"{option} {number}: must be at least 1")
    return number


def _pass_names(text: str | None) -> tuple[str, ...]:
    names = read_names(text, "--passes")
    for name in names:
        if name.startswith("@") and name not in PASS_GROUPS:
            raise UsageError(f"--passes {name}: unknown group; choose from {', '.join(PASS_GROUPS)}")
    return names


def _tiers(text: str | None) -> tuple[str, ...]:
    if text is None:
        return ("A", "B")
    if text.strip().lower() == "none":
        return ()
    tiers = tuple(name.upper() for name in read_names(text, "--fail-on"))
    for tier in tiers:
        if tier not in TIERS:
            raise UsageError(f"--fail-on {tier}: unknown tier; choose from {', '.join(TIERS)} or none")
    return tiers


def _jobs(jobs: int | None, on: str) -> int:
    if jobs is None:
        return available_cpus() if on == "local" else 0
    return _at_least_one(jobs, "--jobs")


def _engine(text: str) -> str:
    engine, scheme, address = text.partition("://")
    if text != "local" and engine not in ENGINES:
        raise UsageError(f"--on {text}: write local, dask, ray, dask://ADDRESS or ray://ADDRESS")
    if scheme and not _ADDRESS.fullmatch(address):
        raise UsageError(f"--on {text}: write the address as {engine}://HOST:PORT")
    return text


def _folder(path: Path | None, option: str) -> Path | None:
    if path is not None and not path.is_dir():
        raise UsageError(f"{option} {path}: no such folder")
    return path


def _file(path: Path | None, option: str) -> Path | None:
    if path is not None and not path.is_file():
        raise UsageError(f"{option} {path}: no such file")
    return path


def _out_folder(path: Path) -> Path:
    if path.exists() and not path.is_dir():
        raise UsageError(f"--out {path}: is a file; a folder is wanted")
    return path
