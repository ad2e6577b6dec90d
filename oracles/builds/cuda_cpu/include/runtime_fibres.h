// Changing from one stack to another, and the state of the launch that the fibres belong to. Part of runtime.cpp.
#ifndef RUNTIME_FIBRES_H
#define RUNTIME_FIBRES_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>

#include <algorithm>
#include <numeric>
#include <vector>

#if !(defined(__x86_64__) && defined(__ELF__))
#include <ucontext.h>
#endif

// Behind the others, which its macros are no good for.
#include "cuda_cpu.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace {

typedef void (*Entry)(const cc_slot*);

enum Order { ASCENDING, DESCENDING, SHUFFLED };
enum State { FRESH, READY, AT_BARRIER, AT_WARP, ENDED };

const size_t STACK = 256 << 10, PAGE = 4096, RED_ZONE = 64;
const int WARP = 32, MOST_THREADS = 1024, MOST_ARRAYS = 4096;
const size_t STATIC_SHARED = 48 << 10, DYNAMIC_SHARED = 227 << 10;

// --- Changing from one stack to another -----------------------------------------------------------------------------

#if defined(__x86_64__) && defined(__ELF__)

struct Context {
  void* top;
};

extern "C" void cc_switch(Context* from, const Context* to);
asm(R"(
.text
.hidden cc_switch
.globl cc_switch
.type cc_switch,@function
cc_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq (%rsi), %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size cc_switch,.-cc_switch
)");

void prepare(Context* context, unsigned char* stack, void (*begin)()) {
  void** top = reinterpret_cast<void**>(stack + STACK);
  top[-1] = nullptr;
  top[-2] = reinterpret_cast<void*>(begin);
  context->top = top - 8;  // Six registers, which may hold anything, below the address to return to.
}

#else

struct Context {
  ucontext_t saved;
};

void cc_switch(Context* from, const Context* to) { swapcontext(&from->saved, &to->saved); }

void prepare(Context* context, unsigned char* stack, void (*begin)()) {
  getcontext(&context->saved);
  context->saved.uc_stack.ss_sp = stack + PAGE;
  context->saved.uc_stack.ss_size = STACK - PAGE;
  context->saved.uc_link = nullptr;
  makecontext(&context->saved, begin, 0);
}

#endif

// --- The state of a launch ------------------------------------------------------------------------------------------

struct Fibre {
  Context context;
  unsigned char* stack;
  uint3 index;
  State state;
  int line;
  cc_kind kind;
  unsigned mask;
  uint64_t value;
  int operand, width;
};

struct Array {
  unsigned char* start;
  size_t bytes;
};

Fibre fibres[MOST_THREADS];
int ranks[MOST_THREADS];
int threads;
Fibre* current;
Context scheduler;
std::vector<unsigned char*> stacks;
Entry entry;
const cc_slot* arguments;
Order order;
uint64_t randomness;

unsigned char* arena;
size_t arena_size, arena_used, shared_used, dynamic_bytes;
unsigned char* dynamic_start;
Array arrays[MOST_ARRAYS];
int arrays_known;

sigjmp_buf leaving;
volatile sig_atomic_t inside;
char* message;
size_t message_size;

void say(const char* kind, const char* format, ...) {
  int used = snprintf(message, message_size, "%s: ", kind);
  va_list rest;
  va_start(rest, format);
  if (used >= 0 && (size_t)used < message_size) vsnprintf(message + used, message_size - used, format, rest);
  va_end(rest);
}

__attribute__((noreturn)) void leave() { siglongjmp(leaving, 1); }

const unsigned char PATTERNS[] = {0xff, 0xcd, 0x7f};  // NaN, a number far off, another NaN
unsigned char pattern() { return PATTERNS[order]; }

uint64_t random_number() {
  randomness ^= randomness << 13;
  randomness ^= randomness >> 7;
  randomness ^= randomness << 17;
  return randomness;
}

}  // namespace

#endif
