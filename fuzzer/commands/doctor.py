"""`passfuzz doctor`: what is installed, what works here, and how to mend what does not.

Whatever touches TVM runs in a child process (`doctor_probes`), because a broken pair of packages segfaults.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias

from fuzzer.errors import EnvironmentFault
from fuzzer.processes.start import module_command
from fuzzer.versions import MISSING, installed, tvm_version
from generators.targets import TARGETS
from oracles.builds.cpu_builds import CPU_BUILDS, GROUPS, How, no_compiler
from oracles.builds.needs import missing, row_of

State: TypeAlias = Literal["ok", "absent", "broken"]
"""absent: passfuzz works without it. broken: fuzzing is impossible."""

KNOWN_PAIRS = {"0.27.0.post1": "0.1.14.post1", "0.26.0": "0.1.13.post3", "0.25.0.post1": "0.1.12"}
"""TVM wheel -> the apache-tvm-ffi that it was seen to work with."""

PROBE_TIMEOUT_S = 120.0
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Probe:
    """One thing that was looked at; `mend` is one line of what to do when it is broken."""

    name: str
    state: State
    detail: str
    mend: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything that was looked at."""

    probes: tuple[Probe, ...]

    @property
    def fault(self) -> str | None:
        """One line that says what makes fuzzing impossible and how to mend it, else None."""
        broken = next((probe for probe in self.probes if probe.state == "broken"), None)
        return None if broken is None else f"{broken.name}: {broken.detail}; {broken.mend}"

    def to_json(self) -> dict[str, Any]:
        return {"fault": self.fault, "probes": [asdict(probe) for probe in self.probes]}


def examine(python: str = sys.executable) -> Diagnosis:
    """Looks at everything; probes of TVM run under `python`."""
    looked = [*_versions(), _pair()]
    if _has_tvm():
        importable = _run_probe("import", python)
        looked.append(importable)
        if importable.state == "ok":
            looked += [_run_probe(name, python) for name in ("llvm", "cuda-codegen", "cuda-device")]
    return Diagnosis((*looked, *_targets(looked), _other_builds()))


def require_tvm() -> None:
    """Raises EnvironmentFault when TVM is not installed or its ffi is known to crash it. Cheap: imports nothing."""
    missing = _version_probe("apache-tvm", tvm_version())
    for probe in (missing, _pair()):
        if probe.state == "broken":
            raise EnvironmentFault(f"{probe.name}: {probe.detail}; {probe.mend}")


def _has_tvm() -> bool:
    return find_spec("tvm") is not None


def _versions() -> list[Probe]:
    python = Probe("python", "ok", platform.python_version())
    tvm = _version_probe("apache-tvm", tvm_version())
    others = [_version_probe(name, installed(name)) for name in ("apache-tvm-ffi", "numpy", "hypothesis", "ml_dtypes")]
    return [python, tvm, *(others if _has_tvm() else [])]


def _version_probe(name: str, version: str) -> Probe:
    """A distribution; a TVM on PYTHONPATH has no version, and its ffi may be its own."""
    if version != MISSING:
        return Probe(name, "ok", version)
    if name in ("apache-tvm", "apache-tvm-ffi") and _has_tvm():
        return Probe(name, "ok", "not installed as a distribution; found on the path")
    return Probe(name, "broken", "not installed", f"pip install '{_requirement(name)}'")


def _requirement(name: str) -> str:
    tvm, ffi = next(iter(KNOWN_PAIRS.items()))
    return {"apache-tvm": f"apache-tvm=={tvm}", "apache-tvm-ffi": f"apache-tvm-ffi=={ffi}"}.get(name, name)


def _pair() -> Probe:
    """Whether this TVM was seen to work with this ffi. A newer ffi than the known one segfaults in save_json."""
    return judge_pair(tvm_version(), installed("apache-tvm-ffi"))


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


def _run_probe(name: str, python: str) -> Probe:
    """One probe of `fuzzer.commands.doctor_probes` in a child process, whose death is an answer too."""
    command = module_command("fuzzer.commands.doctor_probes", name, python=python)
    shown = f"tvm {name}"
    required = name in ("import", "llvm")
    mend = "reinstall the pair: pip install --force-reinstall " + " ".join(
        f"'{_requirement(package)}'" for package in ("apache-tvm", "apache-tvm-ffi")
    )
    search = os.pathsep.join(part for part in (os.environ.get("PYTHONPATH"), str(ROOT)) if part)
    environment = {**os.environ, "PYTHONPATH": search, "PYTHONSAFEPATH": "1"}
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=PROBE_TIMEOUT_S, check=False, env=environment
        )
    except subprocess.TimeoutExpired:
        return Probe(shown, "broken" if required else "absent", f"hangs (over {PROBE_TIMEOUT_S:.0f} s)", mend)
    if ended.returncode == 0:
        return Probe(shown, "ok", json.loads(ended.stdout.splitlines()[-1])["detail"])
    if not required:
        return Probe(shown, "absent", _last_line(ended))
    return Probe(shown, "broken", _last_line(ended), mend)


def _last_line(ended: subprocess.CompletedProcess[str]) -> str:
    """Why a child died: its signal, or the last line of its stderr."""
    if ended.returncode < 0:
        return f"killed by {signal.Signals(-ended.returncode).name}"
    lines = [line.strip() for line in ended.stderr.splitlines() if line.strip()]
    return lines[-1][:200] if lines else f"exit status {ended.returncode}"


def _targets(looked: Sequence[Probe]) -> list[Probe]:
    """A line for each target whose builder has one: what can be done for it here."""
    tried = next((probe for probe in looked if probe.name == "tvm cuda-device"), None)
    works = tried is not None and tried.state == "ok"
    device = tried.detail if tried is not None and works else None
    why_not = tried.detail if tried is not None and not works else ""
    lines = []
    for name in TARGETS:
        says = row_of(name).doctor
        if says is not None:
            why = missing(name)
            state: State = "ok" if why is None else "absent"
            lines.append(Probe(f"target {name}", state, says(device, why_not) if why is None else why))
    return lines


def _other_builds() -> Probe:
    """What of the other builds for a CPU can be done here."""
    lacking = no_compiler()
    loaded = [row.name for row in CPU_BUILDS.values() if row.how is How.LOAD]
    if lacking is not None:
        return Probe("other builds", "absent", f"without {' and '.join(loaded)}: {lacking}")
    return Probe(
        "other builds", "ok", f"{len(GROUPS['cpu_builds'])} ways to run, {len(GROUPS['cross_builds'])} machines"
    )
