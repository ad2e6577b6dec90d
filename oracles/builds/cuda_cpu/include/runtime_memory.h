// Shared memory of a block, with a red zone beside each array, and copies of the arguments between pages that nothing may
// touch. Part of runtime.cpp.
#ifndef RUNTIME_MEMORY_H
#define RUNTIME_MEMORY_H

#include "runtime_fibres.h"

namespace {

// --- Shared memory --------------------------------------------------------------------------------------------------

void check_red_zones() {
  for (int number = 0; number < arrays_known; ++number) {
    const Array& array = arrays[number];
    if (!array.start) continue;
    for (size_t place = 0; place < RED_ZONE; ++place) {
      if (array.start[array.bytes + place] == pattern() && array.start[-1 - (ptrdiff_t)place] == pattern()) continue;
      say("out of bounds", "a store beside shared array %d of %zu bytes in block (%u, %u, %u)", number, array.bytes,
          blockIdx.x, blockIdx.y, blockIdx.z);
      leave();
    }
  }
}

// --- Copies of the arguments between pages that nothing may touch ----------------------------------------------------

struct Region {
  unsigned char* start;  // of the pages that may be touched
  size_t pages;
};

struct Shadow {
  unsigned char* original;
  size_t bytes;
  Region region;
  unsigned char* copy;
};

std::vector<Region> regions;

Region region_of(size_t bytes) {
  size_t pages = (bytes + 2 * RED_ZONE + PAGE - 1) / PAGE;
  for (size_t place = 0; place < regions.size(); ++place) {
    if (regions[place].pages != pages) continue;
    Region found = regions[place];
    regions.erase(regions.begin() + place);
    return found;
  }
  void* memory = mmap(nullptr, (pages + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {nullptr, 0};
  unsigned char* start = static_cast<unsigned char*>(memory) + PAGE;
  mprotect(start, pages * PAGE, PROT_READ | PROT_WRITE);
  return {start, pages};
}

std::vector<Shadow> shadows;

bool holds(const Shadow& shadow, const void* pointer) {
  return pointer >= shadow.original && pointer < shadow.original + shadow.bytes;
}

// Arguments that overlap share one copy, as they share one memory; one of unknown size keeps its memory, and so do those
// that it is a part of.
bool make_shadows(cc_slot* slots, const int64_t* bytes, int count) {
  shadows.clear();
  for (int number = 0; number < count; ++number) {
    if (bytes[number] < 0) continue;
    Shadow whole = {static_cast<unsigned char*>(slots[number].pointer), (size_t)bytes[number], {}, nullptr};
    for (size_t place = 0; place < shadows.size();) {
      unsigned char *start = shadows[place].original, *end = start + shadows[place].bytes;
      if (end <= whole.original || whole.original + whole.bytes <= start) {
        ++place;
        continue;
      }
      unsigned char *low = std::min(start, whole.original), *high = std::max(end, whole.original + whole.bytes);
      whole.original = low;
      whole.bytes = (size_t)(high - low);
      shadows.erase(shadows.begin() + place);
      place = 0;
    }
    shadows.push_back(whole);
  }
  for (int number = 0; number < count; ++number) {
    if (bytes[number] != -2) continue;
    const void* pointer = slots[number].pointer;
    auto left = std::remove_if(shadows.begin(), shadows.end(), [&](const Shadow& s) { return holds(s, pointer); });
    shadows.erase(left, shadows.end());
  }
  for (Shadow& shadow : shadows) {
    shadow.region = region_of(shadow.bytes);
    if (!shadow.region.start) return false;
    size_t room = shadow.region.pages * PAGE, rounded = (shadow.bytes + 15) / 16 * 16;
    memset(shadow.region.start, pattern(), room);
    shadow.copy = shadow.region.start + (order == DESCENDING ? 0 : room - rounded);
    if (shadow.bytes) memcpy(shadow.copy, shadow.original, shadow.bytes);
  }
  for (int number = 0; number < count; ++number) {
    if (bytes[number] < 0) continue;
    unsigned char* pointer = static_cast<unsigned char*>(slots[number].pointer);
    for (Shadow& shadow : shadows) {
      if (!holds(shadow, pointer) && !(bytes[number] == 0 && pointer == shadow.original)) continue;
      slots[number].pointer = shadow.copy + (pointer - shadow.original);
      break;
    }
  }
  return true;
}

bool untouched(const unsigned char* from, const unsigned char* to) {
  for (; from < to; ++from) {
    if (*from != pattern()) return false;
  }
  return true;
}

void keep_shadows(bool good) {
  for (Shadow& shadow : shadows) {
    unsigned char *start = shadow.region.start, *end = start + shadow.region.pages * PAGE;
    if (good && !(untouched(start, shadow.copy) && untouched(shadow.copy + shadow.bytes, end))) {
      say("out of bounds", "a store beside an array of %zu bytes", shadow.bytes);
    }
    if (good && shadow.bytes) memcpy(shadow.original, shadow.copy, shadow.bytes);
    regions.push_back(shadow.region);
  }
  shadows.clear();
}

}  // namespace

#endif
