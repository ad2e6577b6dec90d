"""The process that makes a module of a model by TVM's front ends, or takes it from a Python script. Loads TVM.

`python -m fuzzer.oneshot.import_model KIND FILE TARGET NAME` writes TVM's JSON into TARGET. Exit statuses are those of
`fuzzer.oneshot.front_end`; what is wrong is the last line on stderr.
"""

from __future__ import annotations

import importlib
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

from fuzzer.oneshot.front_end import NEEDS, NOT_INSTALLED, REFUSED, ModelKind
from generators import tvm_api
from generators.tvm_api import BaseFunc, IRModule

RUN_NAME = "passfuzz_subject"
"""`__name__` of a script that is run: what stands under `if __name__ == "__main__"` does not run."""


class NoModule(Exception):
    """What was given makes no IRModule; one line that says why."""


def of_onnx(file: Path) -> object:
    """By `relax.frontend.onnx.from_onnx`, parameters as constants."""
    onnx = importlib.import_module("onnx")
    front_end = importlib.import_module("tvm.relax.frontend.onnx")
    return front_end.from_onnx(onnx.load(str(file)))


def of_exported_program(file: Path) -> object:
    """By `relax.frontend.torch.from_exported_program`, parameters as constants."""
    torch = importlib.import_module("torch")
    front_end = importlib.import_module("tvm.relax.frontend.torch")
    program = torch.export.load(str(file))
    return front_end.from_exported_program(program, keep_params_as_input=False)


def of_script(file: Path, name: str) -> object:
    """The value of that name after the script ran, or what a function of that name gives."""
    sys.path.insert(0, str(file.parent))
    sys.argv = [str(file)]
    namespace = runpy.run_path(str(file), run_name=RUN_NAME)
    if name not in namespace:
        raise NoModule(f"the script has nothing of the name {name}")
    value = namespace[name]
    return value() if not _is_module(value) and callable(value) else value


def _is_module(value: object) -> bool:
    return isinstance(value, (IRModule, BaseFunc))


def made(kind: ModelKind, file: Path, name: str) -> IRModule | BaseFunc:
    """The IRModule, or a function that stands for one. Raises NoModule, and what the front end or the script raises."""
    makers: dict[ModelKind, Callable[[], object]] = {
        "onnx": lambda: of_onnx(file),
        "pt2": lambda: of_exported_program(file),
        "python": lambda: of_script(file, name),
    }
    value = makers[kind]()
    if isinstance(value, tuple):  # front ends give parameters besides, where they are kept apart
        value = value[0]
    if not _is_module(value):
        raise NoModule(f"gives a value of type {type(value).__name__}, which is no IRModule")
    return value


def main() -> None:
    kind, file, target, name = sys.argv[1:5]
    try:
        module = made(kind, Path(file), name)  # type: ignore[arg-type]
        Path(target).write_text(tvm_api.json_of(module), encoding="utf-8")
    except ModuleNotFoundError as error:
        if error.name == NEEDS.get(kind):  # type: ignore[call-overload]
            raise SystemExit(NOT_INSTALLED) from error
        _refuse(error)
    except BaseException as error:  # noqa: BLE001 - a user's script or model may raise anything, SystemExit included
        _refuse(error)


def _refuse(error: BaseException) -> None:
    text = next(iter(str(error).strip().splitlines()), "no message")
    said = str(error) if isinstance(error, NoModule) else f"{type(error).__name__}: {text}"
    print(said, file=sys.stderr)
    raise SystemExit(REFUSED) from error


if __name__ == "__main__":
    main()
