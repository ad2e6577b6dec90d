// The threads of a grid: blocks one after another, each in intervals between barriers. Part of runtime.cpp.
#ifndef RUNTIME_THREADS_H
#define RUNTIME_THREADS_H

#include "runtime_memory.h"

namespace {

// --- Threads --------------------------------------------------------------------------------------------------------

void begin() {
  entry(arguments);
  current->state = ENDED;
  Context gone;
  cc_switch(&gone, &scheduler);
  abort();
}

void wait_as(State state, int line) {
  current->state = state;
  current->line = line;
  cc_switch(&current->context, &scheduler);
}

unsigned char* new_stack() {
  void* memory = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    say("memory", "no room for the stacks of %d threads", threads);
    leave();
  }
  mprotect(memory, PAGE, PROT_NONE);
  return static_cast<unsigned char*>(memory);
}

bool runnable(const Fibre& fibre) { return fibre.state == FRESH || fibre.state == READY; }

void resume(Fibre& fibre) {
  if (fibre.state == FRESH) {
    if (stacks.empty()) stacks.push_back(new_stack());
    fibre.stack = stacks.back();
    stacks.pop_back();
    prepare(&fibre.context, fibre.stack, begin);
  }
  current = &fibre;
  threadIdx = fibre.index;
  cc_switch(&scheduler, &fibre.context);
  if (fibre.state == ENDED) {
    stacks.push_back(fibre.stack);
    fibre.stack = nullptr;
  }
}

// --- Warps ----------------------------------------------------------------------------------------------------------

unsigned lanes_where(int first, int lanes, State state) {
  unsigned mask = 0;
  for (int lane = 0; lane < lanes; ++lane) mask |= (unsigned)(fibres[first + lane].state == state) << lane;
  return mask;
}

const char* const NAMES[] = {"__activemask", "a store", "__syncwarp", "__shfl_sync", "__shfl_up_sync", "__shfl_down_sync",
                             "__shfl_xor_sync", "__ballot_sync", "__all_sync", "__any_sync"};

// Whether whoever comes is enough; else the lanes of the mask must come.
bool takes_any(cc_kind kind) { return kind == CC_ACTIVEMASK || kind == CC_IN_STEP; }

// The lane that a lane reads from; itself where there is none in its segment.
int source(int lane, const Fibre& fibre) {
  int segment = lane & ~(fibre.width - 1), last = segment + fibre.width - 1, from = lane;
  switch (fibre.kind) {
    case CC_SHFL: from = segment | (fibre.operand & (fibre.width - 1)); break;
    case CC_SHFL_UP: from = lane - fibre.operand < segment ? lane : lane - fibre.operand; break;
    case CC_SHFL_DOWN: from = lane + fibre.operand > last ? lane : lane + fibre.operand; break;
    case CC_SHFL_XOR: from = (lane ^ fibre.operand) > last ? lane : lane ^ fibre.operand; break;
    default: break;
  }
  return from;
}

uint64_t exchanged(int first, int lane, unsigned group, const uint64_t* values) {
  const Fibre& fibre = fibres[first + lane];
  switch (fibre.kind) {
    case CC_ACTIVEMASK: return group;
    case CC_IN_STEP:
    case CC_SYNCWARP: return 0;
    case CC_BALLOT:
    case CC_ALL:
    case CC_ANY: {
      unsigned truths = 0;
      for (int other = 0; other < WARP; ++other) truths |= (unsigned)(group >> other & 1u && values[other]) << other;
      if (fibre.kind == CC_BALLOT) return truths;
      return fibre.kind == CC_ALL ? truths == group : truths != 0;
    }
    default: {
      int from = source(lane, fibre);
      // What a lane gives that takes no part is undefined.
      return group >> from & 1u ? values[from] : 0x0101010101010101ull * pattern();
    }
  }
}

// Lets those lanes of a warp go on that wait for no other; false where there are none.
bool exchange(int first) {
  int lanes = std::min(WARP, threads - first);
  unsigned waiting = lanes_where(first, lanes, AT_WARP), ended = lanes_where(first, lanes, ENDED);
  bool any = false;
  for (unsigned rest = waiting; rest;) {
    const Fibre& leader = fibres[first + __builtin_ctz(rest)];
    unsigned same = 0;
    for (int lane = 0; lane < lanes; ++lane) {
      const Fibre& fibre = fibres[first + lane];
      if (!(waiting >> lane & 1u) || fibre.kind != leader.kind) continue;
      bool with = takes_any(leader.kind) ? fibre.line == leader.line : fibre.mask == leader.mask;
      same |= (unsigned)with << lane;
    }
    rest &= ~same;
    unsigned wanted = takes_any(leader.kind) ? same : leader.mask & ~ended;
    if (lanes < WARP) wanted &= (1u << lanes) - 1;
    if (!takes_any(leader.kind) && (same & ~leader.mask)) {
      say("divergent warp", "a lane is not in its own mask 0x%08x of %s in line %d", leader.mask, NAMES[leader.kind],
          leader.line);
      leave();
    }
    if (wanted != same) continue;
    uint64_t values[WARP] = {}, results[WARP] = {};
    for (int lane = 0; lane < lanes; ++lane) values[lane] = fibres[first + lane].value;
    for (int lane = 0; lane < lanes; ++lane) {
      if (same >> lane & 1u) results[lane] = exchanged(first, lane, same, values);
    }
    for (int lane = 0; lane < lanes; ++lane) {
      if (!(same >> lane & 1u)) continue;
      fibres[first + lane].value = results[lane];
      fibres[first + lane].state = READY;
    }
    any = true;
  }
  return any;
}

// --- Blocks ---------------------------------------------------------------------------------------------------------

// One interval, warp by warp: threads in the order of their numbers, or backwards.
void in_turn() {
  int warps = (threads + WARP - 1) / WARP;
  for (int turn = 0; turn < warps; ++turn) {
    int first = WARP * (order == ASCENDING ? turn : warps - 1 - turn), lanes = std::min(WARP, threads - first);
    do {
      for (int lane = 0; lane < lanes; ++lane) {
        Fibre& fibre = fibres[first + (order == ASCENDING ? lane : lanes - 1 - lane)];
        if (runnable(fibre)) resume(fibre);
      }
    } while (exchange(first));
  }
}

// One interval in an order drawn anew, warps mixed.
void shuffled() {
  for (int rank = threads - 1; rank > 0; --rank) std::swap(ranks[rank], ranks[random_number() % (rank + 1)]);
  bool more = true;
  while (more) {
    for (int rank = 0; rank < threads; ++rank) {
      if (runnable(fibres[ranks[rank]])) resume(fibres[ranks[rank]]);
    }
    more = false;
    for (int first = 0; first < threads; first += WARP) more |= exchange(first);
  }
}

// All threads are at one barrier, or have ended; anything else is a fault.
bool past_barrier() {
  int ended = 0, waiting = 0, line = -1, others = 0;
  for (int thread = 0; thread < threads; ++thread) {
    const Fibre& fibre = fibres[thread];
    if (fibre.state == AT_WARP) {
      say("divergent warp", "thread %d waits at %s in line %d for lanes that do not come (mask 0x%08x)", thread,
          NAMES[fibre.kind], fibre.line, fibre.mask);
      leave();
    }
    ended += fibre.state == ENDED;
    if (fibre.state != AT_BARRIER) continue;
    ++waiting;
    if (line < 0) line = fibre.line;
    others = fibre.line == line ? others : fibre.line;
  }
  if (ended == threads) return false;
  if (others) {
    say("divergent barrier", "threads of block (%u, %u, %u) wait in line %d and in line %d", blockIdx.x, blockIdx.y,
        blockIdx.z, line, others);
    leave();
  }
  if (ended) {
    say("divergent barrier", "%d of %d threads of block (%u, %u, %u) wait in line %d, the others have ended", waiting,
        threads, blockIdx.x, blockIdx.y, blockIdx.z, line);
    leave();
  }
  for (int thread = 0; thread < threads; ++thread) fibres[thread].state = READY;
  return true;
}

void run_block() {
  arena_used = shared_used = 0;
  std::fill(arrays, arrays + arrays_known, Array{nullptr, 0});
  if (dynamic_start) memset(dynamic_start, pattern(), dynamic_bytes);
  for (int thread = 0; thread < threads; ++thread) fibres[thread].state = FRESH;
  do {
    order == SHUFFLED ? shuffled() : in_turn();
  } while (past_barrier());
  check_red_zones();
}

void run_grid() {
  unsigned thread = 0;
  for (unsigned z = 0; z < blockDim.z; ++z) {
    for (unsigned y = 0; y < blockDim.y; ++y) {
      for (unsigned x = 0; x < blockDim.x; ++x) fibres[thread++].index = {x, y, z};
    }
  }
  for (int rank = 0; rank < threads; ++rank) ranks[rank] = rank;
  uint64_t blocks = (uint64_t)gridDim.x * gridDim.y * gridDim.z;
  // An odd step far from 1 visits all blocks where it shares no factor with their number.
  uint64_t step = 1, place = order == DESCENDING ? blocks - 1 : 0;
  if (order == DESCENDING) step = blocks - 1;
  if (order == SHUFFLED && blocks > 2) {
    step = blocks / 2 + 1;
    while (std::gcd(step, blocks) != 1) ++step;
    place = random_number() % blocks;
  }
  for (uint64_t turn = 0; turn < blocks; ++turn, place = (place + step) % blocks) {
    blockIdx.x = (unsigned)(place % gridDim.x);
    blockIdx.y = (unsigned)(place / gridDim.x % gridDim.y);
    blockIdx.z = (unsigned)(place / gridDim.x / gridDim.y);
    run_block();
  }
}

}  // namespace

#endif
