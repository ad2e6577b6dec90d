// Runs the threads of a kernel: blocks one after another, each thread of a block as a fibre that runs until it ends or
// waits. Compiled once, into the library that all kernels of a process share.
//
// A block is done in intervals between barriers. Within an interval the order of threads is what `order` says, so that
// accesses which no barrier orders happen in another order in another run. What cannot go on is a fault: it leaves the
// fibre it happens in by siglongjmp, as do the signals of wrong accesses and of the deadline.
#include "runtime_threads.h"

namespace {

// --- Signals --------------------------------------------------------------------------------------------------------

const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGVTALRM};
const int SIGNAL_COUNT = sizeof SIGNALS / sizeof *SIGNALS;
unsigned char signal_stack[64 << 10];

void tell_access(const unsigned char* address) {
  if (current && current->stack && address >= current->stack && address < current->stack + PAGE) {
    say("stack", "the local variables of a thread take more than %zu KiB", STACK >> 10);
    return;
  }
  for (const Shadow& shadow : shadows) {
    unsigned char *start = shadow.region.start - PAGE, *end = start + (shadow.region.pages + 2) * PAGE;
    if (address < start || address >= end) continue;
    say("out of bounds", "byte %td of an array of %zu bytes, by thread (%u, %u, %u) of block (%u, %u, %u)",
        address - shadow.copy, shadow.bytes, threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x, blockIdx.y, blockIdx.z);
    return;
  }
  say("out of bounds", "address %p, by thread (%u, %u, %u) of block (%u, %u, %u)", (const void*)address, threadIdx.x,
      threadIdx.y, threadIdx.z, blockIdx.x, blockIdx.y, blockIdx.z);
}

void caught(int number, siginfo_t* info, void*) {
  if (!inside) {  // Not of a kernel: as if nothing had asked.
    signal(number, SIG_DFL);
    return;
  }
  switch (number) {
    case SIGVTALRM: say("deadline", "the kernel does not end"); break;
    case SIGFPE: say("division by zero", "an integer divided by zero"); break;
    case SIGILL: say("bad access", "misaligned, or outside of a local array"); break;
    default: tell_access(static_cast<const unsigned char*>(info->si_addr));
  }
  leave();
}

void set_timer(double seconds) {
  struct itimerval timer = {};
  timer.it_value.tv_sec = (time_t)seconds;
  timer.it_value.tv_usec = (suseconds_t)((seconds - (double)timer.it_value.tv_sec) * 1e6);
  setitimer(ITIMER_VIRTUAL, &timer, nullptr);
}

void forget_fibres() {
  for (Fibre& fibre : fibres) {
    if (fibre.stack) stacks.push_back(fibre.stack);
    fibre.stack = nullptr;
  }
  current = nullptr;
}

bool guarded_run(double seconds) {
  struct sigaction before[SIGNAL_COUNT], ours = {};
  stack_t stack_before, stack_ours = {};
  stack_ours.ss_sp = signal_stack;
  stack_ours.ss_size = sizeof signal_stack;
  sigaltstack(&stack_ours, &stack_before);
  ours.sa_sigaction = caught;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  for (int number = 0; number < SIGNAL_COUNT; ++number) sigaction(SIGNALS[number], &ours, &before[number]);
  bool good = false;
  if (sigsetjmp(leaving, 1) == 0) {
    inside = 1;
    set_timer(seconds);
    run_grid();
    good = true;
  }
  inside = 0;
  set_timer(0);
  forget_fibres();
  for (int number = 0; number < SIGNAL_COUNT; ++number) sigaction(SIGNALS[number], &before[number], nullptr);
  sigaltstack(&stack_before, nullptr);
  return good;
}

bool launchable(size_t dynamic) {
  uint64_t of_block = (uint64_t)blockDim.x * blockDim.y * blockDim.z;
  if (of_block == 0 || of_block > MOST_THREADS || blockDim.z > 64) {
    say("launch", "blocks of (%u, %u, %u) threads", blockDim.x, blockDim.y, blockDim.z);
  } else if (gridDim.x == 0 || gridDim.x > 0x7fffffffu || gridDim.y == 0 || gridDim.y > 65535 || gridDim.z == 0 ||
             gridDim.z > 65535) {
    say("launch", "a grid of (%u, %u, %u) blocks", gridDim.x, gridDim.y, gridDim.z);
  } else if (dynamic > DYNAMIC_SHARED) {
    say("launch", "%zu bytes of dynamic shared memory", dynamic);
  }
  threads = (int)of_block;
  return !*message;
}

}  // namespace

// --- What kernels call ----------------------------------------------------------------------------------------------

void cc_barrier(int line) { wait_as(AT_BARRIER, line); }

uint64_t cc_warp(int line, cc_kind kind, unsigned mask, uint64_t value, int operand, int width) {
  current->kind = kind;
  current->mask = mask;
  current->value = value;
  current->operand = operand;
  current->width = width;
  wait_as(AT_WARP, line);
  return current->value;
}

void* cc_shared(int number, size_t bytes) {
  if (number >= MOST_ARRAYS) cc_fault("memory", "too many shared arrays", 0);
  Array& array = arrays[number];
  if (array.start) return array.start;
  arrays_known = std::max(arrays_known, number + 1);
  size_t rounded = (bytes + 63) / 64 * 64;
  shared_used += rounded;
  if (shared_used > STATIC_SHARED || arena_used + rounded + 2 * RED_ZONE > arena_size) {
    say("launch", "more than %zu KiB of static shared memory", STATIC_SHARED >> 10);
    leave();
  }
  memset(arena + arena_used, pattern(), rounded + 2 * RED_ZONE);
  array = {arena + arena_used + RED_ZONE, bytes};
  arena_used += rounded + 2 * RED_ZONE;
  return array.start;
}

void* cc_dynamic_shared() { return dynamic_start; }

void cc_fault(const char* kind, const char* detail, int line) {
  say(kind, "%s in line %d", detail, line);
  leave();
}

// Runs a kernel. bytes: for each argument the size of the memory that it points to, -1 where it is a number, -2 where
// the size is not known. extents: of the grid, then of a block. Gives 0, or 1 and leaves "kind: what happened" in `text`.
extern "C" __attribute__((visibility("default"))) int cc_launch(Entry kernel, cc_slot* slots, const int64_t* bytes,
                                                                int count, const uint32_t* extents, uint64_t dynamic,
                                                                int in_order, uint64_t seed, double seconds, char* text,
                                                                uint64_t text_size) {
  message = text;
  message_size = text_size;
  *message = 0;
  entry = kernel;
  arguments = slots;
  order = (Order)in_order;
  randomness = seed * 0x9e3779b97f4a7c15ull | 1;
  gridDim = dim3(extents[0], extents[1], extents[2]);
  blockDim = dim3(extents[3], extents[4], extents[5]);
  if (!launchable(dynamic)) return 1;
  if (!arena) {
    arena_size = STATIC_SHARED + 2 * RED_ZONE * 1024;
    arena = static_cast<unsigned char*>(aligned_alloc(256, arena_size));
  }
  Region pages = {nullptr, 0};
  dynamic_start = nullptr;
  dynamic_bytes = (dynamic + 15) / 16 * 16;
  if (dynamic) {
    pages = region_of(dynamic_bytes);
    dynamic_start = pages.start + (pages.pages * PAGE - dynamic_bytes);
  }
  if (!make_shadows(slots, bytes, count)) {
    say("memory", "no room for copies of the arguments");
    return 1;
  }
  bool good = guarded_run(seconds);
  keep_shadows(good);
  if (pages.start) regions.push_back(pages);
  return *message != 0;
}
