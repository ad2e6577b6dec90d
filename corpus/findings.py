"""Findings as case folders under a campaign's OUT: `OUT/findings/<signature>/`. No TVM is imported here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from corpus.finding import Finding
from corpus.issue import Similar, change_of, issue_text
from corpus.rate import ReproRate
from corpus.readme import STATUSES, by_chance, readme_text
from corpus.scripts.repro import can_be_unoptimised, can_go_on, fills_for, repro_text
from corpus.scripts.setting import ScriptSetting
from corpus.store import StoredCase, contents_of, record_text, write_contents
from corpus.wording import title_of_failure

PART = ".part-"
"""How the folder begins in which a finding is made; a kill may leave one."""


def stored_from(finding: Finding) -> StoredCase:
    """The case to store for a finding: it fails on the version that it was seen on."""
    culprit = finding.signature.culprit
    stored = StoredCase(
        case=finding.case,
        title="",
        oracle=finding.oracle,
        symptom=finding.verdict.symptom,
        culprit=culprit,
        message=_one_line(finding.verdict.message, 1000),
        expected=((finding.tvm, "fails"),),
        signature=finding.signature.slug,
        expectations=finding.expectations,
        setting=finding.setting,
        evidence=finding.verdict.evidence,
        cause=finding.cause or None,
        blames=finding.blames if finding.cause else None,
        rate=finding.rate,
        said=finding.said,
        fault=finding.fault,
    )
    title = title_of_failure(stored, finding.verdict.detail, finding.space)
    return replace(stored, title=str(title), difference=change_of(finding, stored))


def with_each_setting(finding: Finding) -> tuple[Finding, ...]:
    """The finding with each of the settings that its script is to be tried with, in that order; at least one. The last
    ones are of the case as it was found, where reduction may have left too little for a script."""
    small, whole = replace(finding, unreduced=None), finding.unreduced
    stored = stored_from(small)
    settings = [ScriptSetting(fill) for fill in fills_for(stored)]
    settings += [ScriptSetting(unoptimised=True)] if can_be_unoptimised(stored) else []
    settings += [replace(one, goes_on=True) for one in tuple(settings)] if can_go_on(stored) else []
    by_script: dict[str, Finding] = {}
    for setting in settings:
        one = replace(small, setting=setting)
        by_script.setdefault(repro_text(stored_from(one)), one)
    findings = [*by_script.values()]
    if whole is not None:  # What has been learnt of the finding since is in the reduced one.
        findings += with_each_setting(
            replace(whole, signature=small.signature, at_s=small.at_s, count=small.count, unreduced=None)
        )
    return tuple(findings)


def folder_of(finding: Finding, similar: Sequence[Similar] = ()) -> dict[str, bytes]:
    """The files of the folder of a finding. similar: findings and known causes that its issue names."""
    stored = stored_from(finding)
    repro, verdict = repro_text(stored), finding.verdict
    said = (verdict.difference, finding.fault, finding.promise)
    text = readme_text(stored, repro, finding.tvm, *said, detail=verdict.detail, official=finding.official)
    return contents_of(stored, repro, text, issue_text(finding, stored, similar))


def with_rate(folder: Mapping[str, bytes], rate: ReproRate) -> dict[str, bytes]:
    """The files of a case folder, with how often its script has shown the failure."""
    case = msgspec.json.decode(folder["case.json"], type=dict[str, object])
    record = record_text({**case, "rate": msgspec.structs.asdict(rate)})
    told = f"{STATUSES}{by_chance(rate)}\n".encode()
    readme = folder["README.md"].replace(str(STATUSES).encode(), told, 1)
    return {**folder, "case.json": record.encode(), "README.md": readme}


def save_finding(out: Path, finding: Finding, similar: Sequence[Similar] = (), *, made_here: bool = True) -> Path:
    """Writes `OUT/findings/<signature>/`, replacing what was there, and returns the folder. made_here: nothing of
    another user has had a say in what the finding is."""
    folder = out / finding.folder
    write_contents(folder, folder_of(finding, similar), made_here=made_here)
    return folder


def keep_finding(out: Path, finding: Finding, similar: Sequence[Similar] = (), *, made_here: bool = True) -> Path:
    """The same, written whole or not at all. Raises OSError."""
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=PART, dir=out, ignore_cleanup_errors=True) as folder:
        made = save_finding(Path(folder), finding, similar, made_here=made_here)
        target = out / finding.folder
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            target.replace(Path(folder) / "before")
        made.replace(target)
    return target


def _one_line(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 3]}..."
