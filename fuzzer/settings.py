"""What a campaign was asked to do: the options of `passfuzz run`, read, checked and frozen.

Only what needs no table is checked here: paths by `fuzzer.given_paths`, names of passes by `fuzzer.selection`.
"""

from __future__ import annotations

import math
import os
import re
import secrets
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from corpus.number_of import number_of
from corpus.registry import SHIPPED
from fuzzer.errors import UsageError
from fuzzer.given_paths import existing_folder, known_file, output_folder, read_load
from generators.case import Tier
from generators.targets import DEFAULT, TARGETS

PASS_GROUPS = ("@relax", "@tir", "@pipelines")
TIERS: tuple[str, ...] = get_args(Tier)
DEFAULT_TIME_S = 60.0
DEFAULT_OUT = Path("passfuzz-out")

WORKER_BYTES = 210 << 20
"""What a worker takes that has imported TVM (resident, measured)."""
CGROUP = Path("/sys/fs/cgroup")
_UNIT_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_ADDRESS = re.compile(r"auto|(?:[a-z]+://)?(?:\[[0-9a-fA-F:]+\]|\w[\w.-]*)(?::\d{1,5})?")
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

    time_s, cases: whichever ends first ends the campaign; None is no limit, and at least one is set. end_is_given:
    whether the user named one of them.
    passes: names and groups (PASS_GROUPS); empty means every pass. oracles: names; empty means all.
    known: the registry of known causes, or an older baseline; None counts nothing as known.
    fail_on: tiers whose new causes give exit status 1. on: "local", "dask" or "ray" (a cluster of this
    machine alone), "dask://ADDRESS" or "ray://ADDRESS". jobs: worker processes; on a cluster
    the most, 0 for all that it has.
    fresh: results of an earlier run under `out` are removed. resume: that run is gone on with. trust: what the cases of
    `corpus` say may run as Python. coverage: TVM's basic blocks that are reached are counted.
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
    known: Path | None = SHIPPED
    fail_on: tuple[str, ...] = ("A", "B")
    shard: Shard = Shard()
    on: str = "local"
    out: Path = DEFAULT_OUT
    fresh: bool = False
    resume: bool = False
    trust: bool = False
    coverage: bool = False
    end_is_given: bool = False


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
    trust: bool = False,
    coverage: bool = False,
) -> Settings:
    """Settings from the options as typed. Raises UsageError with one line naming the option."""
    if resume:
        given = {"seed": seed, "target": targets, "passes": passes, "oracles": oracles, "load": load}
        given |= {"corpus": corpus, "known": known, "shard": shard, "fresh": fresh}
        if refused := [f"--{name}" for name, value in given.items() if value not in (None, (), [], False)]:
            raise UsageError(f"--resume goes on as the run was begun: leave out {', '.join(refused)}")
    return Settings(
        seed=secrets.randbits(32) if seed is None else seed,
        time_s=_time_limit(time, cases),
        cases=None if cases is None else _at_least_one(cases, "--cases"),
        jobs=_jobs(jobs, on),
        targets=read_targets(targets),
        passes=_pass_names(passes),
        oracles=read_names(oracles, "--oracles"),
        load=None if load is None else read_load(load),
        corpus=existing_folder(corpus, "--corpus"),
        known=known_file(known),
        fail_on=_tiers(fail_on),
        shard=read_shard(shard),
        on=_engine(on),
        out=output_folder(DEFAULT_OUT if out is None else out, "--out"),
        fresh=fresh,
        resume=resume,
        trust=trust,
        coverage=coverage,
        end_is_given=time is not None or cases is not None,
    )


def available_cpus() -> int:
    """How many CPUs this process may use (its affinity, where the system says it), at least 1."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def memory_bytes() -> int:
    """The memory of this machine, or of the control group (container) that this process is in where that is less."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):  # version 2 and version 1
        with suppress(OSError, ValueError):  # ValueError: "max"
            limits.append(int((CGROUP / name).read_text(encoding="ascii")))
    return min(limits)


def jobs_warning(jobs: int) -> str | None:
    """A warning about the number of workers: more than CPUs gain nothing. None where there is nothing to say."""
    cpus = available_cpus()
    return f"--jobs {jobs}: more workers than CPUs ({cpus}) judge no more cases" if jobs > 2 * cpus else None


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


def read_jobs(jobs: int | None) -> int | None:
    """How many cases are replayed at once; None is one for each CPU. Raises UsageError."""
    return None if jobs is None else _jobs(jobs, "local")


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


def read_names(text: str | None, option: str) -> tuple[str, ...]:
    """Names from a comma-separated option, each once; None gives none. Raises UsageError."""
    return tuple(dict.fromkeys(read_sequence(text, option)))


def read_sequence(text: str | None, option: str) -> tuple[str, ...]:
    """The same where the order says what to do, so that a name may come again. Raises UsageError."""
    if text is None:
        return ()
    names = tuple(name.strip() for name in text.split(","))
    if "" in names:
        raise UsageError(f"{option} {text}: a name is empty")
    return names


def _plain_number(text: str) -> float:
    return float(text) if re.fullmatch(r"\d+(?:\.\d+)?", text, re.ASCII) else math.nan


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
    """Raises UsageError for more workers than the memory of this machine holds, where they run on it."""
    if jobs is None:
        return available_cpus() if on == "local" else 0
    most = max(1, memory_bytes() // WORKER_BYTES)
    if on == "local" and jobs > most:
        held = f"{memory_bytes() / (1 << 30):.1f} GiB of memory hold {number_of(most, 'worker')}"
        has = f"this machine has {number_of(available_cpus(), 'CPU')}"
        raise UsageError(f"--jobs {jobs}: {held} of {WORKER_BYTES >> 20} MiB; {has}")
    return _at_least_one(jobs, "--jobs")


def _engine(text: str) -> str:
    engine, scheme, address = text.partition("://")
    if text != "local" and engine not in ENGINES:
        raise UsageError(f"--on {text}: write local, dask, ray, dask://ADDRESS or ray://ADDRESS")
    if scheme and not _ADDRESS.fullmatch(address):
        raise UsageError(f"--on {text}: write the address as {engine}://HOST:PORT")
    return text
