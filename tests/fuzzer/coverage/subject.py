"""A small library whose blocks are known, as its functions are written in assembler: what the tests count.

Its two files tell their names as TVM's do: a function loads the address of a text. In the order of linking:

    number  block
    0       first_file, all of it
    1       choose(x), its beginning
    2       ... where x <= 0: gives 1
    3       ... where x > 0: gives 2
    4       second_file, all of it
    5       at_load, which the loader calls
    6       count_down(n), its beginning
    7       ... once for each: the loop
    8       ... its end, where it loads the name of the second file again
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from fuzzer.processes.start import ROOT
from tests.patience import HANGS_S

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
NAME = "libsubject.so"
FILES = ("src/relax/first.cc", "src/tirx/second.cc")
COUNT = 9
RUNS = ((FILES[0], 0, 4), (FILES[1], 4, COUNT))

WORKS_HERE = pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64") or platform.libc_ver()[0] != "glibc" or COMPILER is None,
    reason="coverage needs x86-64 Linux with glibc, and a C compiler",
)

_FIRST = r"""
.section .rodata
first: .asciz "/home/somebody/tvm/src/relax/first.cc"
.text
.globl first_file
first_file:
.cfi_startproc
    lea first(%rip), %rax
    ret
.cfi_endproc
.globl choose
choose:
.cfi_startproc
    test %edi, %edi
    jg 1f
    mov $1, %eax
    ret
1:  mov $2, %eax
    ret
.cfi_endproc
.section .note.GNU-stack,"",@progbits
"""
_SECOND = r"""
.section .rodata
second: .asciz "/home/somebody/tvm/src/tirx/second.cc"
.section .init_array,"aw"
.quad at_load
.text
.globl second_file
second_file:
.cfi_startproc
    lea second(%rip), %rax
    ret
.cfi_endproc
.globl at_load
at_load:
.cfi_startproc
    ret
.cfi_endproc
.globl count_down
count_down:
.cfi_startproc
    xor %eax, %eax
1:  inc %eax
    dec %edi
    jnz 1b
    lea second(%rip), %rdx
    ret
.cfi_endproc
.section .note.GNU-stack,"",@progbits
"""


def build(folder: Path, *options: str, name: str = NAME) -> Path:
    """The library, linked with more options."""
    assert COMPILER is not None
    sources = []
    for source, text in (("first.s", _FIRST), ("second.s", _SECOND)):
        (folder / source).write_text(text)
        sources.append(str(folder / source))
    made = folder / name
    command = [COMPILER, "-shared", "-nostdlib", "-Wl,--build-id", *options, *sources, "-o", str(made)]
    subprocess.run(command, check=True, timeout=HANGS_S)
    return made


def run(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Python code in a process of its own, as one process counts one library."""
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=HANGS_S, cwd=ROOT, check=False)
