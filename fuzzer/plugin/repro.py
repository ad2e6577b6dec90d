"""A script for a finding in a pass that no line of Python constructs: it runs the test that applies the pass again.

Scripts for all other findings are `corpus.repro`'s, and need tvm and numpy only.
"""

from __future__ import annotations

from corpus.store import StoredCase
from fuzzer.versions import MISSING, passfuzz_version

_TEXT = '''\
"""{title}

Exit status: 1 the bug is there, 0 it is gone, 2 the test cannot be run here. Needs the test and passfuzz.
"""

import json, os, subprocess, sys, tempfile

TEST = {test!r}
FOLDER = os.environ.get("PASSFUZZ_TESTS", {folder!r})
SIGNATURE = {signature!r}

with tempfile.TemporaryDirectory() as out:
    options = ["-q", *{plugin!r}, "--passfuzz-out", out]
    if not os.path.isdir(FOLDER):
        sys.exit(print(FOLDER, "is not there; PASSFUZZ_TESTS=... says where the tests are") or 2)
    subprocess.run([sys.executable, "-m", "pytest", *options, TEST], cwd=FOLDER, stdout=subprocess.DEVNULL)
    summary = os.path.join(out, "summary.json")
    if not os.path.exists(summary):
        sys.exit(print("pytest does not run here") or 2)
    with open(summary, encoding="utf-8") as file:
        result = json.load(file)
    if not result["cases"]:
        sys.exit(print("the test applies no pass here") or 2)
    found = [row for row in result["findings"] if row["signature"] == SIGNATURE]
    if found:
        sys.exit(print(found[0]["culprit"], found[0]["symptom"], found[0]["message"][:200], sep=": ") or 1)
print("the bug is gone")
'''


def script_that_runs_the_test(stored: StoredCase, folder: str) -> str:
    """The text of `repro.py`. folder: where pytest was called."""
    plugin = [] if passfuzz_version() != MISSING else ["-p", "fuzzer.plugin.hooks"]
    title = " ".join(stored.title.replace("\\", "/").replace('"', "'").split())
    return _TEXT.format(
        title=title, test=stored.case.origin.file, folder=folder, signature=stored.signature, plugin=plugin
    )
