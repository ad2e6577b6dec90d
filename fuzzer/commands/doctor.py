"""`passfuzz doctor`: what is installed, what works here, and how to mend what does not.

What touches TVM runs in a child process (`doctor_probes`), because a broken pair of packages segfaults.
"""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from corpus import own
from fuzzer.coverage.block_map import NO_DECODER
from fuzzer.coverage.ground import NoCoverage, compiled
from fuzzer.processes import sandbox
from fuzzer.processes.sandbox import Walls
from fuzzer.processes.scratch import scratch_folder
from fuzzer.processes.start import ROOT, module_command
from fuzzer.results import Diagnosis
from fuzzer.versions import Probe, ProbeState, has_tvm, installed, pair, requirement, tvm_version, version_probe
from generators.targets import TARGETS
from oracles.builds.cpu_builds import CPU_BUILDS, GROUPS, How, no_compiler
from oracles.builds.needs import missing, row_of
from oracles.forked import Ended, forked

PROBE_TIMEOUT_S = 120.0


def examine(python: str = sys.executable) -> Diagnosis:
    """Looks at everything; probes of TVM run under `python`."""
    looked = [*_versions(), pair()]
    if has_tvm():
        importable = _run_probe("import", python)
        looked.append(importable)
        if importable.state == "ok":
            looked += [_run_probe(name, python) for name in ("llvm", "cuda-codegen", "cuda-device")]
    return Diagnosis((*looked, *_targets(looked), _other_builds(), _coverage(), *_walls()))


def _versions() -> list[Probe]:
    python = Probe("python", "ok", platform.python_version())
    tvm = version_probe("apache-tvm", tvm_version())
    others = [version_probe(name, installed(name)) for name in ("apache-tvm-ffi", "numpy", "hypothesis", "ml_dtypes")]
    return [python, tvm, *(others if has_tvm() else [])]


def _run_probe(name: str, python: str) -> Probe:
    """One probe of `fuzzer.commands.doctor_probes` in a child process, whose death is an answer too."""
    command = module_command("fuzzer.commands.doctor_probes", name, python=python)
    shown = f"tvm {name}"
    required = name in ("import", "llvm")
    mend = "reinstall the pair: pip install --force-reinstall " + " ".join(
        f"'{requirement(package)}'" for package in ("apache-tvm", "apache-tvm-ffi")
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
        return Probe(shown, "ok", ended.stdout.splitlines()[-1])
    if not required:
        return Probe(shown, "absent", _last_line(ended))
    return Probe(shown, "broken", _last_line(ended), mend)


def _last_line(ended: subprocess.CompletedProcess[str]) -> str:
    """Why a child died: its signal, or the last line of its stderr."""
    if ended.returncode < 0:
        return f"killed by {signal.Signals(-ended.returncode).name}"
    lines = [line.strip() for line in ended.stderr.splitlines() if line.strip()]
    return lines[-1][:200] if lines else f"exit status {ended.returncode}"


def _tried_walls() -> Walls:
    """What a child can be kept from here: one tries."""
    with scratch_folder() as scratch:
        walls = forked(lambda: sandbox.enter(str(scratch)), PROBE_TIMEOUT_S)
    return Walls(0, False) if isinstance(walls, Ended) else walls


def _walls() -> list[Probe]:
    """The parts of the sandbox (`fuzzer.processes.sandbox`), and whether one's own cases can be recognised."""
    there = _tried_walls()
    files = f"nothing is written outside of the scratch folder (Landlock, version {there.files})"
    lacking = "Landlock is not in this kernel: what check, reduce and replay run can write files"
    network = "no sockets (seccomp)"
    alone = there.files >= sandbox.HAS_SCOPES
    kept = own.can_mark()
    return [
        Probe("sandbox files", "ok" if there.files else "absent", files if there.files else lacking),
        Probe(
            "sandbox network", "ok" if there.sockets else "absent", network if there.sockets else "no seccomp filters"
        ),
        Probe(
            "sandbox signals",
            "ok" if alone else "absent",
            "no signal to other processes (Landlock)"
            if alone
            else "what is run can signal your processes (Linux 6.12)",
        ),
        Probe(
            "own cases",
            "ok" if kept else "absent",
            "are recognised by a key" if kept else "the key cannot be kept: replay of an OUT wants --trust",
        ),
    ]


def _coverage() -> Probe:
    """Whether TVM's own code can be mapped and counted; the map itself is made when it is first asked for."""
    try:
        compiled()
        if find_spec("capstone") is None:
            raise NoCoverage(NO_DECODER)
    except NoCoverage as error:
        return Probe("coverage", "absent", str(error))
    return Probe("coverage", "ok", "run --coverage counts the basic blocks of TVM that are reached")


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
            state: ProbeState = "ok" if why is None else "absent"
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
