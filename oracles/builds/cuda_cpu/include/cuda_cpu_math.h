// Functions of numbers that CUDA has and the C library has not, or has under another name. Included by cuda_cpu.h.
#ifndef CUDA_CPU_MATH_H
#define CUDA_CPU_MATH_H

// --- Minimum and maximum: of floats, the number where the other is NaN ----------------------------------------------

template <typename A, typename B, typename C = std::common_type_t<A, B>,
          typename = std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>>>
inline C max(A a, B b) {
  if constexpr (std::is_floating_point_v<C>) {
    return std::fmax((C)a, (C)b);
  } else {
    return (C)a < (C)b ? (C)b : (C)a;
  }
}

template <typename A, typename B, typename C = std::common_type_t<A, B>,
          typename = std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>>>
inline C min(A a, B b) {
  if constexpr (std::is_floating_point_v<C>) {
    return std::fmin((C)a, (C)b);
  } else {
    return (C)b < (C)a ? (C)b : (C)a;
  }
}

// --- float and double: the fast ones are as exact here as the others ------------------------------------------------

inline float rsqrtf(float x) { return (float)(1.0 / sqrt((double)x)); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float cc_exp10(float x) { return (float)pow(10.0, (double)x); }
inline double cc_exp10(double x) { return pow(10.0, x); }
#define exp10f(x) cc_exp10((float)(x))
#define exp10(x) cc_exp10((double)(x))

// The C library declares some of these names for itself.
#define __expf(x) expf(x)
#define __exp10f(x) exp10f(x)
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __tanhf(x) tanhf(x)
#define __powf(x, y) powf(x, y)
inline float __fdividef(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frsqrt_rn(float x) { return rsqrtf(x); }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

// --- Integers -------------------------------------------------------------------------------------------------------

inline int __popc(unsigned int x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz((unsigned int)x) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned int __brev(unsigned int x) {
  unsigned int result = 0;
  for (int place = 0; place < 32; ++place) result |= ((x >> place) & 1u) << (31 - place);
  return result;
}
inline unsigned long long __brevll(unsigned long long x) {
  return ((unsigned long long)__brev((unsigned int)x) << 32) | __brev((unsigned int)(x >> 32));
}
inline int __mulhi(int x, int y) { return (int)(((long long)x * y) >> 32); }
inline unsigned int __umulhi(unsigned int x, unsigned int y) { return (unsigned int)(((uint64_t)x * y) >> 32); }
inline long long __mul64hi(long long x, long long y) { return (long long)(((__int128)x * y) >> 64); }
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)(((unsigned __int128)x * y) >> 64);
}
inline int __mul24(int x, int y) { return ((x << 8) >> 8) * ((y << 8) >> 8); }
inline int __sad(int x, int y, unsigned int z) { return (int)((x > y ? x - y : y - x) + z); }
inline int __dp4a(int a, int b, int c) {
  for (int place = 0; place < 32; place += 8) c += (int)(signed char)(a >> place) * (signed char)(b >> place);
  return c;
}
inline unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
  for (int place = 0; place < 32; place += 8) c += ((a >> place) & 255u) * ((b >> place) & 255u);
  return c;
}

// --- Conversions ----------------------------------------------------------------------------------------------------

inline float __int2float_rn(int x) { return (float)x; }
inline float __uint2float_rn(unsigned int x) { return (float)x; }
inline float __ll2float_rn(long long x) { return (float)x; }
inline float __double2float_rn(double x) { return (float)x; }
inline double __int2double_rn(int x) { return (double)x; }
inline int __float2int_rz(float x) { return (int)x; }
inline int __float2int_rn(float x) { return (int)nearbyintf(x); }
inline int __float2int_rd(float x) { return (int)floorf(x); }
inline int __float2int_ru(float x) { return (int)ceilf(x); }
inline float __int_as_float(int x) { return cc_float((uint32_t)x); }
inline float __uint_as_float(unsigned int x) { return cc_float(x); }
inline int __float_as_int(float x) { return (int)cc_bits(x); }
inline unsigned int __float_as_uint(float x) { return cc_bits(x); }

inline half __float2half(float x) { return half(x); }
inline half __float2half_rn(float x) { return half(x); }
inline half __double2half(double x) { return half(x); }
inline float __half2float(half x) { return (float)x; }
inline half __int2half_rn(int x) { return half(x); }
inline int __half2int_rz(half x) { return (int)(float)x; }
inline half __ushort_as_half(unsigned short x) { return half::of(x); }
inline unsigned short __half_as_ushort(half x) { return x.bits; }
inline nv_bfloat16 __float2bfloat16(float x) { return nv_bfloat16(x); }
inline nv_bfloat16 __float2bfloat16_rn(float x) { return nv_bfloat16(x); }
inline nv_bfloat16 __double2bfloat16(double x) { return nv_bfloat16(x); }
inline float __bfloat162float(nv_bfloat16 x) { return (float)x; }
inline nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return nv_bfloat16::of(x); }
inline unsigned short __bfloat16_as_ushort(nv_bfloat16 x) { return x.bits; }

// --- 16-bit floats: in float, then rounded --------------------------------------------------------------------------

#define CC_UNARY(name, result)                                           \
  template <typename F>                                                  \
  inline cc_small<F> name(cc_small<F> small) {                           \
    float x = (float)small;                                              \
    return cc_small<F>((float)(result));                                 \
  }
CC_UNARY(hexp, expf(x))
CC_UNARY(hexp2, exp2f(x))
CC_UNARY(hexp10, cc_exp10(x))
CC_UNARY(hlog, logf(x))
CC_UNARY(hlog2, log2f(x))
CC_UNARY(hlog10, log10f(x))
CC_UNARY(hsqrt, sqrtf(x))
CC_UNARY(hrsqrt, rsqrtf(x))
CC_UNARY(hrcp, 1.0f / x)
CC_UNARY(hsin, sinf(x))
CC_UNARY(hcos, cosf(x))
CC_UNARY(htanh, tanhf(x))
CC_UNARY(hfloor, floorf(x))
CC_UNARY(hceil, ceilf(x))
CC_UNARY(htrunc, truncf(x))
CC_UNARY(hrint, nearbyintf(x))
CC_UNARY(__habs, fabsf(x))
CC_UNARY(__hneg, -x)
#undef CC_UNARY

#define CC_BINARY(name, result)                                          \
  template <typename F>                                                  \
  inline cc_small<F> name(cc_small<F> first, cc_small<F> second) {       \
    float x = (float)first, y = (float)second;                           \
    return cc_small<F>((float)(result));                                 \
  }
CC_BINARY(__hadd, x + y)
CC_BINARY(__hsub, x - y)
CC_BINARY(__hmul, x * y)
CC_BINARY(__hdiv, x / y)
CC_BINARY(__hmax, fmaxf(x, y))
CC_BINARY(__hmin, fminf(x, y))
#undef CC_BINARY

#define CC_TEST(name, result)                                            \
  template <typename F>                                                  \
  inline bool name(cc_small<F> first, cc_small<F> second) {              \
    float x = (float)first, y = (float)second;                           \
    return result;                                                       \
  }
CC_TEST(__hgt, x > y)
CC_TEST(__hlt, x < y)
CC_TEST(__hge, x >= y)
CC_TEST(__hle, x <= y)
CC_TEST(__heq, x == y)
CC_TEST(__hne, x != y)
#undef CC_TEST

template <typename F>
inline bool __hisnan(cc_small<F> x) {
  return std::isnan((float)x);
}

// The product of two is exact in double, and so is its sum with a third but for places far below the last of either.
template <typename F>
inline cc_small<F> __hfma(cc_small<F> a, cc_small<F> b, cc_small<F> c) {
  return cc_small<F>((double)(float)a * (double)(float)b + (double)(float)c);
}

#endif
