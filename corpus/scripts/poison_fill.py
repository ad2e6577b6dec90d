"""What uninitialised memory holds while a script runs. No TVM is imported here.

The reference says of every read of such memory that it is wrong; a run shows it only where what the memory holds
matters. glibc fills what it allocates with one byte, the complement of MALLOC_PERTURB_. What PrimFuncs allocate is
often on the stack, where LLVM takes any value that suits it: there the module itself writes the byte.
The lines of the script are in `corpus/frames`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fill:
    """byte: a key of `MEANINGS`. scratch: whether what PrimFuncs allocate holds it too, after the passes."""

    byte: int = 0x4E
    scratch: bool = False

    @property
    def text(self) -> str:
        """The byte as scripts write it."""
        return f"{self.byte:#04x}"

    @property
    def meaning(self) -> str:
        """What the byte makes of a float."""
        return MEANINGS[self.byte]

    @property
    def perturb(self) -> int:
        """The value of MALLOC_PERTURB_."""
        return self.byte ^ 0xFF


MEANINGS = {0x4E: "a large number", 0xCE: "a large negative number", 0x01: "a number next to zero"}
"""The bytes, each with what it makes of a float. MALLOC_PERTURB_ cannot say 0xff."""
FILLS = (*map(Fill, MEANINGS), *(Fill(byte, scratch=True) for byte in MEANINGS))
"""In the order in which scripts are tried with them."""
