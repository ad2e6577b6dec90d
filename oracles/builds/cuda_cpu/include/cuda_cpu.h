// What CUDA C++ as TVM prints it needs to compile as C++ for the CPU: keywords, built-in variables, barriers and warp
// intrinsics. Number and vector types are in cuda_cpu_types.h, functions of numbers in cuda_cpu_math.h, the scheduler
// of threads in runtime.cpp. Meanings follow NVIDIA's CUDA C++ Programming Guide; no text of NVIDIA's is used.
#ifndef CUDA_CPU_H
#define CUDA_CPU_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#define __CUDA_ARCH__ 900
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0

#define __global__
#define __device__
#define __host__
#define __constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define alignas(bytes) __attribute__((aligned(bytes)))
// No promise about aliases: other threads change what a pointer points to while this one waits at a barrier.
#define __restrict__

#include "cuda_cpu_types.h"

#include "cuda_cpu_math.h"

// --- What the scheduler provides -----------------------------------------------------------------------------------

#define CC_API extern "C" __attribute__((visibility("default")))

CC_API uint3 threadIdx, blockIdx;
CC_API dim3 blockDim, gridDim;
static const int warpSize = 32;

union cc_slot {
  void* pointer;
  int64_t integer;
  double real;
};

enum cc_kind {
  CC_ACTIVEMASK,
  CC_IN_STEP,
  CC_SYNCWARP,
  CC_SHFL,
  CC_SHFL_UP,
  CC_SHFL_DOWN,
  CC_SHFL_XOR,
  CC_BALLOT,
  CC_ALL,
  CC_ANY
};

// Waits until every thread of the block is here.
CC_API void cc_barrier(int line);
// Waits until every lane of `mask` is here, exchanges their values and gives what this lane gets.
CC_API uint64_t cc_warp(int line, cc_kind kind, unsigned mask, uint64_t value, int operand, int width);
// The block's memory for the array of this number, filled with a pattern when the block's first thread asks.
CC_API void* cc_shared(int number, size_t bytes);
CC_API void* cc_dynamic_shared();
CC_API void cc_fault(const char* kind, const char* detail, int line) __attribute__((noreturn));

template <typename T, size_t N>
inline T (&cc_shared_array(int number))[N] {
  return *reinterpret_cast<T(*)[N]>(cc_shared(number, sizeof(T) * N));
}

// A value that is stored when all lanes of the warp that come here have theirs.
template <typename T>
inline T cc_in_step(int line, T value) {
  cc_warp(line, CC_IN_STEP, 0, 0, 0, 32);
  return value;
}

template <typename T>
inline T cc_exchange(int line, cc_kind kind, unsigned mask, T value, int operand, int width) {
  static_assert(sizeof(T) <= sizeof(uint64_t), "values of a shuffle have at most 64 bits");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(T));
  bits = cc_warp(line, kind, mask, bits, operand, width);
  memcpy(&value, &bits, sizeof(T));
  return value;
}

template <typename T>
inline T cc_shuffle(int line, cc_kind kind, unsigned mask, T value, int operand, int width = 32) {
  return cc_exchange(line, kind, mask, value, operand, width);
}

// Macros, because a barrier is told from another by its line.
#define __syncthreads() cc_barrier(__LINE__)
#define __syncwarp(...) cc_syncwarp(__LINE__, ##__VA_ARGS__)
#define __activemask() ((unsigned)cc_warp(__LINE__, CC_ACTIVEMASK, 0, 0, 0, 32))
#define __shfl_sync(mask, ...) cc_shuffle(__LINE__, CC_SHFL, mask, __VA_ARGS__)
#define __shfl_up_sync(mask, ...) cc_shuffle(__LINE__, CC_SHFL_UP, mask, __VA_ARGS__)
#define __shfl_down_sync(mask, ...) cc_shuffle(__LINE__, CC_SHFL_DOWN, mask, __VA_ARGS__)
#define __shfl_xor_sync(mask, ...) cc_shuffle(__LINE__, CC_SHFL_XOR, mask, __VA_ARGS__)
#define __ballot_sync(mask, truth) ((unsigned)cc_warp(__LINE__, CC_BALLOT, mask, (truth) != 0, 0, 32))
#define __all_sync(mask, truth) ((int)cc_warp(__LINE__, CC_ALL, mask, (truth) != 0, 0, 32))
#define __any_sync(mask, truth) ((int)cc_warp(__LINE__, CC_ANY, mask, (truth) != 0, 0, 32))

inline void cc_syncwarp(int line, unsigned mask = 0xffffffffu) { cc_warp(line, CC_SYNCWARP, mask, 0, 0, 32); }

// Threads change over at barriers only, so that memory is always as the thread that runs has left it.
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}

#undef assert
#define assert(condition) ((condition) ? (void)0 : cc_fault("assertion", #condition, __LINE__))
#define __trap() cc_fault("trap", "__trap() is reached", __LINE__)

// --- Atomics: a thread runs alone until its next barrier ------------------------------------------------------------

#define CC_ATOMIC(name, result)                                     \
  template <typename T, typename U>                                 \
  inline T name(T* place, U operand) {                              \
    T old = *place, value = (T)operand;                             \
    *place = (T)(result);                                           \
    return old;                                                     \
  }
CC_ATOMIC(atomicAdd, old + value)
CC_ATOMIC(atomicSub, old - value)
CC_ATOMIC(atomicMax, old < value ? value : old)
CC_ATOMIC(atomicMin, value < old ? value : old)
CC_ATOMIC(atomicAnd, old & value)
CC_ATOMIC(atomicOr, old | value)
CC_ATOMIC(atomicXor, old ^ value)
CC_ATOMIC(atomicExch, value)
#undef CC_ATOMIC

template <typename T, typename U, typename V>
inline T atomicCAS(T* place, U expected, V desired) {
  T old = *place;
  if (old == (T)expected) *place = (T)desired;
  return old;
}

template <typename T>
inline T __ldg(const T* place) {
  return *place;
}

// --- Calling a kernel with arguments of any type --------------------------------------------------------------------

template <typename T>
inline T cc_argument(const cc_slot& slot) {
  if constexpr (std::is_pointer_v<T>) {
    return (T)slot.pointer;
  } else if constexpr (std::is_integral_v<T>) {
    return (T)slot.integer;
  } else {
    return (T)slot.real;
  }
}

template <typename... T, size_t... I>
inline void cc_call(void (*kernel)(T...), const cc_slot* slots, std::index_sequence<I...>) {
  kernel(cc_argument<std::remove_cv_t<T>>(slots[I])...);
}

template <typename... T>
inline void cc_call(void (*kernel)(T...), const cc_slot* slots) {
  cc_call(kernel, slots, std::index_sequence_for<T...>());
}

template <typename... T>
inline int cc_arity(void (*)(T...)) {
  return sizeof...(T);
}

#endif
