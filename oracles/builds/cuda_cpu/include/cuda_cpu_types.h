// Vector types of CUDA, and its 16-bit floats with their operators. Included by cuda_cpu.h.
#ifndef CUDA_CPU_TYPES_H
#define CUDA_CPU_TYPES_H

// --- Vectors, aligned as on the device so that a misaligned access of one is seen -----------------------------------

#define CC_VECTORS(name, T, align2, align4)                                                                    \
  struct name##1 {                                                                                             \
    T x;                                                                                                       \
  };                                                                                                           \
  struct __align__(align2) name##2 {                                                                           \
    T x, y;                                                                                                    \
  };                                                                                                           \
  struct name##3 {                                                                                             \
    T x, y, z;                                                                                                 \
  };                                                                                                           \
  struct __align__(align4) name##4 {                                                                           \
    T x, y, z, w;                                                                                              \
  };                                                                                                           \
  inline name##1 make_##name##1(T x) { return {x}; }                                                           \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }                                                   \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                                           \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

CC_VECTORS(char, signed char, 2, 4)
CC_VECTORS(uchar, unsigned char, 2, 4)
CC_VECTORS(short, short, 4, 8)
CC_VECTORS(ushort, unsigned short, 4, 8)
CC_VECTORS(int, int, 8, 16)
CC_VECTORS(uint, unsigned int, 8, 16)
CC_VECTORS(longlong, long long, 16, 16)
CC_VECTORS(ulonglong, unsigned long long, 16, 16)
CC_VECTORS(float, float, 8, 16)
CC_VECTORS(double, double, 16, 16)
#undef CC_VECTORS

struct dim3 {
  unsigned int x, y, z;
  dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
};

// --- Rounding -------------------------------------------------------------------------------------------------------

inline uint32_t cc_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float cc_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// The float on the way from a double to fewer bits: rounded to odd, so that rounding again rounds once.
inline float cc_to_odd(double value) {
  float near = (float)value;
  if ((double)near == value || value != value || std::isinf(near)) return near;
  uint32_t bits = cc_bits(near);
  if (std::fabs((double)near) > std::fabs(value)) bits -= 1;
  return cc_float(bits | 1);
}

struct cc_binary16 {
  static uint16_t pack(float value) {
    uint32_t bits = cc_bits(value), sign = (bits >> 16) & 0x8000u, size = bits & 0x7fffffffu;
    if (size > 0x7f800000u) return (uint16_t)(sign | 0x7fffu);
    if (size >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u);
    if (size < 0x38800000u) {  // Below 2^-14 the last place is 2^-24, as that of 0.5f.
      return (uint16_t)(sign | (cc_bits(cc_float(size) + 0.5f) - cc_bits(0.5f)));
    }
    uint32_t even = (size >> 13) & 1u;
    return (uint16_t)(sign | ((size - 0x38000000u + 0xfffu + even) >> 13));
  }
  static float unpack(uint16_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, size = bits & 0x7fffu;
    if (size >= 0x7c00u) return cc_float(sign | 0x7f800000u | (size & 0x3ffu) << 13);
    if (size < 0x400u) return cc_float(sign | cc_bits((float)size * 0x1p-24f));
    return cc_float(sign | ((size << 13) + 0x38000000u));
  }
};

struct cc_bfloat16 {
  static uint16_t pack(float value) {
    uint32_t bits = cc_bits(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fffu;
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
  }
  static float unpack(uint16_t bits) { return cc_float((uint32_t)bits << 16); }
};

// A 16-bit float: every operation is done in float and rounded to nearest, ties to even. The float has more than
// twice its digits, so that this is the correctly rounded result.
template <typename Format>
struct __align__(2) cc_small {
  uint16_t bits;
  cc_small() = default;
  cc_small(const cc_small& other) : bits(other.bits) {}
  cc_small(const volatile cc_small& other) : bits(other.bits) {}
  cc_small(float value) : bits(Format::pack(value)) {}
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  cc_small(T value) : bits(Format::pack(cc_to_odd((double)value))) {}
  template <typename Other, typename = std::enable_if_t<!std::is_same_v<Other, Format>>, typename = void>
  explicit cc_small(cc_small<Other> value) : cc_small((float)value) {}
  operator float() const { return Format::unpack(bits); }
  operator float() const volatile { return Format::unpack(bits); }
  cc_small& operator=(const cc_small& other) {
    bits = other.bits;
    return *this;
  }
  void operator=(const cc_small& other) volatile { bits = other.bits; }
  void operator=(const volatile cc_small& other) volatile { bits = other.bits; }
  cc_small operator-() const { return of((uint16_t)(bits ^ 0x8000u)); }
  cc_small operator+() const { return *this; }
  static cc_small of(uint16_t bits) {
    cc_small result;
    result.bits = bits;
    return result;
  }
#define CC_OPERATOR(op)                                                                         \
  friend cc_small operator op(const cc_small& a, const cc_small& b) { return (float)a op(float) b; } \
  cc_small& operator op##=(const cc_small& other) { return *this = *this op other; }
  CC_OPERATOR(+) CC_OPERATOR(-) CC_OPERATOR(*) CC_OPERATOR(/)
#undef CC_OPERATOR
#define CC_COMPARISON(op) \
  friend bool operator op(const cc_small& a, const cc_small& b) { return (float)a op(float) b; }
  CC_COMPARISON(<) CC_COMPARISON(>) CC_COMPARISON(<=) CC_COMPARISON(>=) CC_COMPARISON(==) CC_COMPARISON(!=)
#undef CC_COMPARISON
};

typedef cc_small<cc_binary16> __half;
typedef __half half;
typedef cc_small<cc_bfloat16> __nv_bfloat16;
typedef __nv_bfloat16 nv_bfloat16;

template <typename T>
struct __align__(4) cc_pair {
  T x, y;
  cc_pair() = default;
  cc_pair(T x, T y) : x(x), y(y) {}
};
typedef cc_pair<half> __half2;
typedef __half2 half2;
typedef cc_pair<nv_bfloat16> __nv_bfloat162;
typedef __nv_bfloat162 nv_bfloat162;
inline half2 make_half2(half x, half y) { return half2(x, y); }

#endif
