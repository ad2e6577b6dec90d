/* The basic blocks of functions of x86-64, found by decoding them from their first byte to their last.

The decoder is capstone's, of which this file is given one function; which instructions are branches is read from their
opcodes (Intel's manual, volume 2, appendix A). A block begins with the function, at the target of a direct branch within
the function, and after a conditional branch. What is entered by a table of addresses or by an exception alone, is not
told apart: most of these are the ends of functions that fail. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef bool decode(size_t handle, const uint8_t **code, size_t *size, uint64_t *address, void *instruction);

enum { INSTRUCTION = 1, BLOCK = 2 };

static bool is_prefix(uint8_t byte) {
  return byte == 0x66 || byte == 0x67 || byte == 0xF0 || byte == 0xF2 || byte == 0xF3 || byte == 0x2E || byte == 0x36 ||
         byte == 0x3E || byte == 0x26 || byte == 0x64 || byte == 0x65 || (byte & 0xF0) == 0x40;
}

/* How many bytes a direct branch has for its distance, which are its last ones; 0 for all else. */
static int distance_bytes(const uint8_t *code, const uint8_t *end, bool *conditional) {
  while (code < end && is_prefix(*code)) code++;
  if (end - code < 2) return 0;
  *conditional = *code != 0xE9 && *code != 0xEB;
  if ((*code & 0xF0) == 0x70 || (*code & 0xFC) == 0xE0 || *code == 0xEB) return 1;
  return *code == 0xE9 || (*code == 0x0F && (code[1] & 0xF0) == 0x80) ? 4 : 0;
}

static int32_t distance(const uint8_t *end, int bytes) {
  if (bytes == 1) return (int8_t)end[-1];
  return (int32_t)((uint32_t)end[-4] | (uint32_t)end[-3] << 8 | (uint32_t)end[-2] << 16 | (uint32_t)end[-1] << 24);
}

/* Marks a function's instructions and blocks; false where it cannot be decoded, or branches into the midst of an
instruction. */
static bool mark(decode *next, size_t handle, void *instruction, const uint8_t *code, size_t size, uint8_t *marks) {
  const uint8_t *at = code;
  size_t left = size;
  uint64_t address = 0;
  marks[0] = BLOCK;
  while (left > 0) {
    const uint8_t *start = at;
    bool conditional = false;
    if (!next(handle, &at, &left, &address, instruction)) return false;
    marks[start - code] |= INSTRUCTION;
    int bytes = distance_bytes(start, at, &conditional);
    if (bytes == 0) continue;
    if (conditional && left > 0) marks[at - code] |= BLOCK;
    ptrdiff_t target = at - code + distance(at, bytes);
    if (target >= 0 && target < (ptrdiff_t)size) marks[target] |= BLOCK;
  }
  for (size_t i = 0; i < size; i++)
    if (marks[i] == BLOCK) return false;
  return true;
}

/* Writes the places of a function's blocks into `places`, ascending, the function's being `from`: how many, at most
`size`; -1 for a function that is not understood. */
int64_t blocks_of(decode *next, size_t handle, void *instruction, const uint8_t *code, size_t size, uint32_t from,
                  uint32_t *places) {
  uint8_t *marks = calloc(size + 1, 1);
  int64_t found = -1;
  if (marks != NULL && mark(next, handle, instruction, code, size, marks)) {
    found = 0;
    for (size_t i = 0; i < size; i++)
      if (marks[i] & BLOCK) places[found++] = from + (uint32_t)i;
  }
  free(marks);
  return found;
}
