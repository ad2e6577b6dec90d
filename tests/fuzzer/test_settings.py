"""The options of `passfuzz run`: what is read, what is refused, and that the refusal names the option."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fuzzer import settings as of_settings
from fuzzer.errors import UsageError
from fuzzer.settings import (
    WORKER_BYTES,
    Settings,
    Shard,
    available_cpus,
    jobs_warning,
    memory_bytes,
    read_settings,
    read_time,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("60s", 60), ("10m", 600), ("6h", 21600), ("1d", 86400), ("90", 90), ("1.5m", 90), ("1h30m", 5400), (" 2M ", 120)],
)
def test_times(text: str, seconds: float) -> None:
    assert read_time(text) == seconds


@pytest.mark.parametrize("text", ["", "s", "-5s", "0s", "0", "nan", "inf", "10 minutes", "5x", "1h x", "--", "1e400"])
def test_what_is_not_a_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--time"):
        read_time(text)


@pytest.mark.parametrize(
    ("options", "time_s", "cases"),
    [
        ({}, 60.0, None),
        ({"time": "5s"}, 5.0, None),
        ({"cases": 10}, None, 10),
        ({"time": "5s", "cases": 10}, 5.0, 10),
    ],
)
def test_whichever_limit_is_given_counts(options: dict[str, Any], time_s: float | None, cases: int | None) -> None:
    settings = read_settings(**options)
    assert (settings.time_s, settings.cases) == (time_s, cases)


def test_defaults() -> None:
    settings = read_settings(seed=5)
    assert settings == Settings(seed=5, jobs=available_cpus())
    assert settings.fail_on == ("A", "B")
    assert settings.targets == ("llvm",)
    assert settings.out == Path("passfuzz-out")
    assert str(settings.shard) == "1/1"


def test_the_default_seed_differs_between_runs() -> None:
    assert len({read_settings().seed for _ in range(4)}) > 1


def test_lists_keep_their_order_and_lose_their_doubles() -> None:
    settings = read_settings(
        targets=["cuda", "llvm,cuda"], passes="FuseOps, @tir,FuseOps", oracles="well_formed", fail_on="c,a"
    )
    assert settings.targets == ("cuda", "llvm")
    assert settings.passes == ("FuseOps", "@tir")
    assert settings.oracles == ("well_formed",)
    assert settings.fail_on == ("C", "A")


def test_nothing_fails_a_campaign_that_asks_for_nothing() -> None:
    assert read_settings(fail_on="none").fail_on == ()


@pytest.mark.parametrize(
    ("text", "shard"), [("1/1", Shard(0, 1)), ("1/8", Shard(0, 8)), ("8/8", Shard(7, 8)), (None, Shard(0, 1))]
)
def test_shards_count_from_one(text: str | None, shard: Shard) -> None:
    assert read_settings(shard=text).shard == shard


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("time", "soon"),
        ("cases", 0),
        ("cases", -3),
        ("jobs", 0),
        ("targets", ["metal"]),
        ("targets", [","]),
        ("passes", ""),
        ("passes", " , "),
        ("passes", "@relay"),
        ("oracles", ","),
        ("fail_on", "D"),
        ("fail_on", ""),
        ("shard", "0/4"),
        ("shard", "5/4"),
        ("shard", "1/0"),
        ("shard", "half"),
        ("on", "slurm://x"),
        ("on", "dask://"),
        ("load", Path("passes.txt")),
        ("load", Path("missing.py")),
        ("corpus", Path("missing")),
        ("known", Path("missing.jsonl")),
        ("out", Path(__file__)),
    ],
)
def test_wrong_options_are_refused_by_name_in_one_line(option: str, value: Any) -> None:
    with pytest.raises(UsageError) as raised:
        read_settings(**{option: value})
    name = {"targets": "target", "fail_on": "fail-on"}.get(option, option)
    assert str(raised.value).startswith(f"--{name}")
    assert "\n" not in str(raised.value)


def test_a_run_that_goes_on_names_every_option_that_it_refuses() -> None:
    with pytest.raises(UsageError, match="leave out --seed, --passes, --fresh$"):
        read_settings(resume=True, seed=1, passes="FuseOps", fresh=True, time="5s", fail_on="A")


# --- workers and memory ---------------------------------------------------------------------------------


def test_more_workers_than_the_memory_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_settings, "memory_bytes", lambda: 10 * WORKER_BYTES)
    assert read_settings(jobs=10).jobs == 10
    with pytest.raises(UsageError, match="--jobs 11: 2.1 GiB of memory hold 10 workers of 210 MiB"):
        read_settings(jobs=11)
    with pytest.raises(UsageError, match="--jobs 0: must be at least 1"):
        read_settings(jobs=0)


def test_more_workers_than_twice_the_cpus_are_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_settings, "available_cpus", lambda: 4)
    assert jobs_warning(8) is None
    assert jobs_warning(9) == "--jobs 9: more workers than CPUs (4) judge no more cases"


@pytest.mark.parametrize(
    ("name", "text", "bytes_"),
    [
        ("memory.max", str(1 << 20), 1 << 20),
        ("memory/memory.limit_in_bytes", str(2 << 20), 2 << 20),
        ("memory.max", "max", None),
        ("memory.max", str(1 << 60), None),
        ("other", "1", None),
    ],
)
def test_the_memory_of_a_container_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, bytes_: int | None
) -> None:
    monkeypatch.setattr(of_settings, "CGROUP", tmp_path / "none")
    machine = memory_bytes()
    monkeypatch.setattr(of_settings, "CGROUP", tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text + "\n")
    assert memory_bytes() == (machine if bytes_ is None else bytes_)
