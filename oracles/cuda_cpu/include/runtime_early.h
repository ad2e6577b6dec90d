// The order EARLY: as ASCENDING, but what other threads are about to write to shared memory before the next barrier
// holds something else until they do. So who reads it too early shows it, even where it held the same number before.
// The grid runs twice on the same memory: to see who writes what, then with that hidden. Part of runtime.cpp.
//
// Lanes of a warp that wait for each other are as if a barrier were there: a round is what each does up to the next
// such place, and hidden from a lane is what others of its warp write in the same round. Of other warps it is all that
// they write.
#ifndef RUNTIME_EARLY_H
#define RUNTIME_EARLY_H

#include "runtime_memory.h"

namespace {

// Places in shared memory are numbered: the arrays of known size, then dynamic shared memory.
struct Span {
  size_t start, bytes;
};

struct Writes {
  int thread, round;
  std::vector<Span> spans;
};

enum Watch { OFF, SEEING, HIDING } watch;

const size_t MOST_LOOKED_AT = 128 << 20;  // bytes, each time a thread is looked at; about 0.1 s
std::vector<std::vector<Writes>> seen;    // by interval between barriers of the whole grid
size_t interval, looked_at, used_before;
std::vector<unsigned char> image, hidden, own;
std::vector<uint16_t> of_warps, of_lanes;  // how many others still write a place, in this interval and in this round

unsigned char& at(size_t place) { return place < arena_size ? arena[place] : dynamic_start[place - arena_size]; }

template <class Act>
void each_place(Act act) {
  for (size_t place = 0; place < arena_used; ++place) act(place);
  for (size_t place = 0; place < dynamic_bytes; ++place) act(arena_size + place);
}

template <class Act>
void each_place(const Writes& writes, Act act) {
  for (const Span& span : writes.spans) {
    for (size_t place = span.start; place < span.start + span.bytes; ++place) act(place);
  }
}

template <class Wanted, class Act>
void each_of_interval(Wanted wanted, Act act) {
  if (watch != HIDING || interval >= seen.size()) return;
  for (const Writes& writes : seen[interval]) {
    if (wanted(writes)) each_place(writes, act);
  }
}

void begin_watch(Watch what) {
  watch = what;
  interval = looked_at = 0;
  if (what == SEEING) seen.clear();
  size_t places = arena_size + dynamic_bytes;
  for (auto* bytes : {&image, &hidden, &own}) bytes->assign(places, 0);
  for (auto* counts : {&of_warps, &of_lanes}) counts->assign(places, 0);
}

void begin_interval() {
  if (watch == SEEING && looked_at < MOST_LOOKED_AT) seen.resize(interval + 1);
  each_of_interval([](const Writes&) { return true; }, [](size_t place) { ++of_warps[place]; });
}

void begin_warp(int warp) {
  each_of_interval([=](const Writes& w) { return w.thread / WARP == warp; }, [](size_t place) { --of_warps[place]; });
}

void begin_round(int warp, int round) {
  each_of_interval([=](const Writes& w) { return w.thread / WARP == warp && w.round == round; },
                   [](size_t place) { ++of_lanes[place]; });
}

void end_round() {
  if (watch == HIDING) std::fill(of_lanes.begin(), of_lanes.end(), 0);
}

void before_thread(int thread, int round) {
  if (watch == OFF) return;
  used_before = arena_used;
  looked_at += arena_used + dynamic_bytes;
  if (looked_at >= MOST_LOOKED_AT) {
    if (watch == HIDING) watch = OFF;
    return;
  }
  each_place([](size_t place) { image[place] = at(place); });
  each_of_interval([=](const Writes& w) { return w.thread == thread && w.round == round; },
                   [](size_t place) { --of_lanes[place]; });
  each_of_interval([=](const Writes& w) { return w.thread == thread; }, [](size_t place) { own[place] = 1; });
  if (watch != HIDING) return;
  each_place([](size_t place) {
    hidden[place] = (of_warps[place] || of_lanes[place]) && !own[place];
    if (hidden[place]) at(place) = pattern();
  });
}

void after_thread(int thread, int round) {
  if (watch == OFF || looked_at >= MOST_LOOKED_AT) return;
  if (watch == HIDING) {
    each_place([](size_t place) {
      if (hidden[place] && at(place) == pattern()) at(place) = image[place];
      hidden[place] = own[place] = 0;
    });
    return;
  }
  for (size_t place = used_before; place < arena_used; ++place) image[place] = pattern();
  Writes writes = {thread, round, {}};
  each_place([&](size_t place) {
    if (at(place) == image[place]) return;
    bool on = !writes.spans.empty() && writes.spans.back().start + writes.spans.back().bytes == place;
    if (on) {
      ++writes.spans.back().bytes;
    } else {
      writes.spans.push_back({place, 1});
    }
  });
  if (!writes.spans.empty() && interval < seen.size()) seen[interval].push_back(writes);
}

}  // namespace

#endif
