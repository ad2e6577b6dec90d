"""The passes of a campaign or a check: those of the table and those of a `--load` file. Worker processes only."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from corpus.replayable import case_folders
from fuzzer.protocol import Plan
from fuzzer.trial.load_file import RUN_NAME, Tell, UselessFactory, complaint_about, complaint_about_error, pass_of
from generators.passes.loaded import ignored, rows_from_contracts
from generators.passes.row import PassRow
from generators.passes.table import PASSES
from generators.passes.vocabulary import with_vocabulary
from generators.source import Choices


class LoadFault(Exception):
    """The file of --load cannot be used; the message is one line that says why."""


@dataclass(frozen=True, slots=True)
class Repertoire:
    """The passes of a campaign: rows by name, what their constructors may name, and which are under test.

    seeds: case folders whose modules a share of the cases starts from. kin: by target, the choices of draws that a
    share of the cases resembles (`fuzzer.worker.kin`).
    """

    rows: Mapping[str, PassRow]
    names: Mapping[str, object] = field(default_factory=dict)
    under_test: tuple[str, ...] | None = None
    seeds: tuple[Path, ...] = ()
    kin: Mapping[str, tuple[Choices, ...]] = field(default_factory=dict)

    @property
    def loaded(self) -> tuple[str, ...]:
        """The passes of the `--load` file."""
        return tuple(name for name in self.rows if name not in PASSES)

    def space_of(self, culprit: str) -> str:
        """`PassRow.space` of a culprit; "" for what is no pass."""
        return self.rows[culprit].space if culprit in self.rows else ""


def repertoire_of(plan: Plan, tell: Tell = lambda _line: None) -> Repertoire:
    """The pass table with the loaded file's passes. tell: is given what in the file is ignored, and what takes long.
    Raises LoadFault where the file is of no use."""
    loaded = load_passes(Path(plan.load), tell) if plan.load else ({}, {})
    rows = {**PASSES, **loaded[0]}
    under_test = tuple(plan.under_test) or (tuple(loaded[0]) if plan.load else None)
    unknown = [n for n in under_test or () if n not in rows]
    if unknown:
        where = f"the pass table nor in PASSES of {plan.load}" if plan.load else "the pass table"
        raise LoadFault(f"--passes {unknown[0]}: not in {where}; `passfuzz list passes` shows the table")
    if plan.load and not under_test:
        raise LoadFault(f"{plan.load}: no pass in PASSES can stand in a Relax sequence")
    return Repertoire(rows, loaded[1], under_test, _seeds(plan.corpus))


def _seeds(corpus: str | None) -> tuple[Path, ...]:
    """The case folders of `--corpus` by name; () without one. Read once: a campaign's seeds do not change."""
    return () if corpus is None else tuple(case_folders(Path(corpus)))


def load_passes(path: Path, tell: Tell = lambda _line: None) -> tuple[dict[str, PassRow], dict[str, object]]:
    """Rows and constructor names of a `--load` file. Raises LoadFault."""
    sys.path.append(str(path.parent.absolute()))  # last, so that it shadows nothing
    why = complaint_about(path, tell=tell)
    if why is not None:
        raise LoadFault(f"{path}: {why}")
    try:
        namespace = runpy.run_path(str(path), run_name=RUN_NAME)
        passes, contracts = (_plain(namespace.get(name, {})) for name in ("PASSES", "CONTRACTS"))
    except BaseException as error:  # noqa: BLE001 - a user's file may raise anything, SystemExit included
        raise LoadFault(complaint_about_error(path, error)) from error
    if (
        not isinstance(passes, dict)
        or not passes
        or not all(isinstance(name, str) and callable(make) for name, make in passes.items())
    ):
        raise LoadFault(f"{path}: defines no PASSES: dict[str, Callable[[], tvm.transform.Pass]]")
    if not isinstance(contracts, dict) or not all(isinstance(contract, dict) for contract in contracts.values()):
        raise LoadFault(f"{path}: CONTRACTS is no dict[str, dict]")
    taken = sorted(set(passes) & set(PASSES))
    if taken:
        raise LoadFault(f"{path}: {taken[0]} is the name of a pass of TVM")
    try:
        rows = rows_from_contracts(passes, contracts)
    except ValueError as error:
        raise LoadFault(f"{path}: {error}") from error
    try:
        rows = {name: _in_its_space(row, pass_of(path, name, passes[name])) for name, row in rows.items()}
    except UselessFactory as useless:
        raise LoadFault(str(useless)) from useless
    for line in ignored(passes, contracts):
        tell(f"{path}: ignored: {line}")
    folder = path.parent.absolute()
    return {name: with_vocabulary(row, passes[name], folder) for name, row in rows.items()}, {"PASSES": passes}


def _plain(given: object) -> object:
    """A dict as it is, whatever class of the user's it has."""
    return dict(given) if isinstance(given, dict) else given


def _in_its_space(row: PassRow, made: object) -> PassRow:
    """The row with the name space of what its factory gave: a pass over PrimFuncs is one of TIR, whatever the contract
    says of its phase."""
    from tvm import tirx

    of_tir = isinstance(made, tirx.transform.PrimFuncPass)
    return replace(row, space=row.space or "tirx") if of_tir else row
