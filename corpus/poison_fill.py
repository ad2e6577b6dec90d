"""What uninitialised memory holds while a script runs. No TVM is imported here.

The reference says of every read of such memory that it is wrong; a run shows it only where what the memory holds
matters. glibc fills what it allocates with one byte, the complement of MALLOC_PERTURB_. What PrimFuncs allocate is
often on the stack, where LLVM takes any value that suits it: there the module itself writes the byte.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fill:
    """byte: a key of `MEANINGS`. scratch: whether what PrimFuncs allocate holds it too, after the passes."""

    byte: int = 0x4E
    scratch: bool = False


MEANINGS = {0x4E: "a large number", 0xCE: "a large negative number", 0x01: "a number next to zero"}
"""The bytes, each with what it makes of a float. MALLOC_PERTURB_ cannot say 0xff."""
FILLS = (*map(Fill, MEANINGS), *(Fill(byte, scratch=True) for byte in MEANINGS))
"""In the order in which scripts are tried with them."""

_MALLOC = """\
if os.environ.get("MALLOC_PERTURB_") != "{perturb}":  # Unwritten memory holds {byte:#04x}, {meaning} as a float.
    os.execve(sys.executable, [sys.executable, *sys.argv], {{**os.environ, "MALLOC_PERTURB_": "{perturb}"}})
"""

_SCRATCH = """\
import math

def filled(mod):  # What PrimFuncs allocate holds BYTE as well; it may hold anything.
    def write(buffer):
        dtype = tvm.DataType(buffer.dtype)
        size = math.prod(buffer.shape, start=tirx.const(dtype.bits * dtype.lanes, "int64")) // 8
        return tirx.Evaluate(tirx.call_extern("int32", "memset", buffer.data, BYTE, size))

    def in_block(block):
        if not len(block.alloc_buffers):
            return block
        body = tirx.SeqStmt([*map(write, block.alloc_buffers), block.body])
        before = (block.iter_vars, block.reads, block.writes, block.name_hint)
        return s_tir.SBlock(*before, body, block.init, block.alloc_buffers, block.match_buffers, block.annotations)

    def in_sequence(sequence):
        pairs = [[one, write(one.buffer)] if isinstance(one, tirx.AllocBuffer) else [one] for one in sequence.seq]
        return tirx.SeqStmt([one for pair in pairs for one in pair])

    result = mod.clone()
    for name, function in mod.functions.items():
        if isinstance(function, tirx.PrimFunc):
            changes = [(s_tir.SBlock, in_block), (tirx.SeqStmt, in_sequence)]
            result[name] = function.with_body(tvm_ffi.structural_map(function.body, changes))
    return result

mod = filled(mod)
"""


def malloc_text(fill: Fill) -> str:
    """The lines of a script that start it again with memory that holds the byte."""
    return _MALLOC.format(perturb=fill.byte ^ 0xFF, byte=fill.byte, meaning=MEANINGS[fill.byte])


def scratch_text(fill: Fill) -> str:
    """The lines that write the byte into what the PrimFuncs of `mod` allocate; none where it is not to be there."""
    return _SCRATCH.replace("BYTE", f"{fill.byte:#04x}") if fill.scratch else ""
