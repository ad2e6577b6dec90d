"""What repro scripts check: one template for each oracle, `NAME.py.j2`, and one for each evidence with its own check.

A template is the text of a script between the passes and its end. Its first lines say what it looks at:

    {% set judges = "case" %}           it looks at `mod`, the module after all passes;
                                        otherwise at `after`, what the last pass gave
    {% set keeps_input = true %}        it uses `before`, what the last pass (or all of them) got
    {% set applies_the_pass = true %}   it applies the last pass itself
    {% set forks = true %}              a native crash or a hang may show the bug, so the script runs in a child
    {% set says = "crashes" %}          what a wrong pass does, as the verb of a title whose subject is the pass
    {% set again = true %}              it applies the last pass to its own result, which that changes
    {% set verified = true %}           TVM's own verifier may show it alone, instead of this check

A failed assertion is the bug. `{{ from_here }}` stands where from then on every exception is the bug.
`{{ apply("again", "given") }}` stands for `again = PASS(given)` with the last pass under its target and options,
`{{ calls(...) }}` for the entry calls in a built module and the comparison with the reference's results,
`{{ inputs("main") }}` for the arrays that the first of main is given. `target` is
the case's target, `build_target` and `device` what a build is for and runs on, `compiled` the expression that compiles
`mod`. `plain` is true where the script is for an issue: it has no child and no exit status of its own.
`TIDYING` and `DEAD_VALUES` are those of `oracles.live_part`.
A script may use tvm, relax, np, os and sys, and imports what else it needs.

No TVM is imported here: the campaign's process writes scripts, and it loads none.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

import jinja2
import msgspec
from jinja2 import meta, nodes
from typing_extensions import assert_never

from oracles.builds.cpu_builds import CPU_BUILDS
from oracles.evidence import (
    AcrossProcesses,
    AnotherForm,
    AttributeGone,
    BuiltUntyped,
    ChangedSignature,
    DeadBinding,
    Died,
    Evidence,
    GivenToCallTir,
    HostTouchesDevice,
    Hung,
    InKernel,
    LeftForVm,
    NotANumber,
    NotReadBack,
    OrderOfThreads,
    OutOfMemory,
    ReferenceTrap,
    RefusedByNvcc,
    SpoiltProcess,
    WithoutDead,
    WrongGradient,
)
from oracles.live_part import DEAD_VALUES, TIDYING
from oracles.verdict import BUILD

_TEMPLATES = jinja2.PackageLoader("oracles", "scripts")
ENVIRONMENT = jinja2.Environment(
    loader=_TEMPLATES,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,  # noqa: S701 - Python is written, not HTML
)
ENVIRONMENT.globals.update(TIDYING=TIDYING, DEAD_VALUES=DEAD_VALUES)
_ENDING = ".py.j2"
_ON_CPU = "build_on_cpu"
"""The template of all oracles in CPU_BUILDS."""


class MissingScript(Exception):
    """An oracle has no template here, so that no finding of it could be shown. The message names the file."""


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the first lines of a template say, and what follows from the names that it uses."""

    name: str
    judges: Literal["pass", "case"] = "pass"
    keeps_input: bool = False
    applies_the_pass: bool = False
    forks: bool = False
    runs: bool = False
    """Entry calls are run and compared."""
    exception_is_the_bug: bool = False
    says: str = "is wrong"
    verified: bool = False
    again: bool = False

    def text(self, **names: Any) -> str:
        """The template with these names filled in."""
        return ENVIRONMENT.get_template(f"{self.name}{_ENDING}").render(names)


def script_for(oracle: str, evidence: Evidence | None, *, expectations: bool, on_device: bool) -> Script:
    """The script that shows a failure. Raises MissingScript.

    expectations: the reference's results are known. on_device: inputs lie in the memory of a GPU, which no script can
    put a wall around.
    """
    return _script(_of_evidence(evidence, expectations and not on_device) or _of_oracle(oracle, expectations))


def require_script(oracle: str) -> None:
    """Raises MissingScript where the oracle has no script, without which no finding of it could be shown."""
    _source(_of_oracle(oracle, False))


def named() -> frozenset[str]:
    """The names of the templates that show what an oracle found, without those of one kind of evidence."""
    names = (name.removesuffix(_ENDING) for name in ENVIRONMENT.list_templates() if name.endswith(_ENDING))
    return frozenset(name for name in names if not {".", "/"} & set(name) and name != _ON_CPU)


def _of_evidence(evidence: Evidence | None, walls: bool) -> str | None:
    """The check that this evidence has for itself; None where the oracle's shows it."""
    match evidence:
        case AcrossProcesses() | WithoutDead() | GivenToCallTir() | ChangedSignature() | SpoiltProcess():
            return _OF_ITS_OWN[type(evidence)]
        case ReferenceTrap(kind="use-after-kill" | "double-free"):
            return "numeric.killed"
        case ReferenceTrap(kind="out-of-bounds", of_storage=True):
            return "numeric.storage"
        case ReferenceTrap(kind="out-of-bounds") if walls:
            return "numeric.out_of_bounds"
        case ReferenceTrap(kind="type" | "match-cast" | "undefined-variable" | "assertion") if walls:
            return "numeric.ill_typed"
        case Hung() | OutOfMemory() | DeadBinding() | AttributeGone() | NotANumber() | ReferenceTrap():
            return None
        case InKernel() | OrderOfThreads() | HostTouchesDevice() | RefusedByNvcc():
            return None
        case None | WrongGradient() | AnotherForm() | BuiltUntyped() | Died() | NotReadBack() | LeftForVm():
            return None
        case _:
            assert_never(evidence)


_OF_ITS_OWN: Mapping[type[Evidence], str] = {
    AcrossProcesses: "determinism.across_processes",
    WithoutDead: "dead_code.without_dead",
    GivenToCallTir: "type_soundness.given_to_call_tir",
    ChangedSignature: "attributes.changed_signature",
    SpoiltProcess: "survives.spoilt_process",
}


def _of_oracle(oracle: str, expectations: bool) -> str:
    if oracle in CPU_BUILDS:
        return _ON_CPU
    return "build.run" if oracle == BUILD and expectations else oracle


def _source(name: str) -> str:
    try:
        return _TEMPLATES.get_source(ENVIRONMENT, f"{name}{_ENDING}")[0]
    except jinja2.TemplateNotFound as error:
        raise MissingScript(f"the oracle {name} has no script: write oracles/scripts/{name}{_ENDING}") from error


@cache
def _script(name: str) -> Script:
    tree = ENVIRONMENT.parse(_source(name))
    used = meta.find_undeclared_variables(tree)
    says = {
        assignment.target.name: assignment.node.as_const()
        for assignment in tree.body
        if isinstance(assignment, nodes.Assign)
        and isinstance(assignment.target, nodes.Name)
        and isinstance(assignment.node, nodes.Expr)
    }
    return msgspec.convert(
        {"name": name, **says, "runs": "calls" in used, "exception_is_the_bug": "from_here" in used}, Script
    )
