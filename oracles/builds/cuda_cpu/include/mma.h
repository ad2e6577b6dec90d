// Stands in for NVIDIA's file of this name: products of matrices by a warp (nvcuda::wmma), with the meaning that the CUDA
// C++ Programming Guide gives them. Every lane holds the factors whole and a share of the sum, so that lanes need
// nothing of each other.
#ifndef CUDA_CPU_MMA_H
#define CUDA_CPU_MMA_H

#include "cuda_cpu.h"

namespace nvcuda {
namespace wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };

inline int lane() {
  return (int)((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) % 32;
}

template <typename Use, int M, int N, int K, typename T, typename Layout = void>
struct fragment;

template <int M, int N, int K, typename T, typename Layout>
struct fragment<matrix_a, M, N, K, T, Layout> {
  static const int rows = M, columns = K;
  T held[M * K];
};

template <int M, int N, int K, typename T, typename Layout>
struct fragment<matrix_b, M, N, K, T, Layout> {
  static const int rows = K, columns = N;
  T held[K * N];
};

// Of element e, row-major, lane e % 32 holds number e / 32.
template <int M, int N, int K, typename T>
struct fragment<accumulator, M, N, K, T, void> {
  static const int num_elements = M * N / 32;
  T x[num_elements];
};

template <typename Use, int M, int N, int K, typename T, typename Layout, typename V>
inline void fill_fragment(fragment<Use, M, N, K, T, Layout>& to, V value) {
  for (T& element : to.held) element = (T)value;
}

template <int M, int N, int K, typename T, typename V>
inline void fill_fragment(fragment<accumulator, M, N, K, T>& to, V value) {
  for (T& element : to.x) element = (T)value;
}

template <typename Use, int M, int N, int K, typename T, typename Layout>
inline void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& to, const T* from, unsigned stride) {
  const bool by_row = std::is_same_v<Layout, row_major>;
  for (int row = 0; row < to.rows; ++row) {
    for (int column = 0; column < to.columns; ++column) {
      to.held[row * to.columns + column] = from[by_row ? row * stride + column : column * stride + row];
    }
  }
}

inline size_t place(int row, int column, unsigned stride, layout_t layout) {
  return layout == mem_row_major ? (size_t)row * stride + column : (size_t)column * stride + row;
}

template <int M, int N, int K, typename T>
inline void load_matrix_sync(fragment<accumulator, M, N, K, T>& to, const T* from, unsigned stride, layout_t layout) {
  for (int number = 0; number < to.num_elements; ++number) {
    int element = number * 32 + lane();
    to.x[number] = from[place(element / N, element % N, stride, layout)];
  }
}

template <int M, int N, int K, typename T>
inline void store_matrix_sync(T* to, const fragment<accumulator, M, N, K, T>& from, unsigned stride, layout_t layout) {
  for (int number = 0; number < from.num_elements; ++number) {
    int element = number * 32 + lane();
    to[place(element / N, element % N, stride, layout)] = from.x[number];
  }
}

// Whole numbers are added up as such, others in float and rounded once.
template <int M, int N, int K, typename T, typename A, typename LayoutA, typename B, typename LayoutB, typename S>
inline void mma_sync(fragment<accumulator, M, N, K, T>& to, const fragment<matrix_a, M, N, K, A, LayoutA>& a,
                     const fragment<matrix_b, M, N, K, B, LayoutB>& b, const fragment<accumulator, M, N, K, S>& c) {
  using Sum = std::conditional_t<std::is_integral_v<T>, int, std::conditional_t<std::is_same_v<T, double>, double, float>>;
  for (int number = 0; number < to.num_elements; ++number) {
    int element = number * 32 + lane(), row = element / N, column = element % N;
    Sum sum = (Sum)c.x[number];
    for (int k = 0; k < K; ++k) sum += (Sum)a.held[row * K + k] * (Sum)b.held[k * N + column];
    to.x[number] = (T)sum;
  }
}

}  // namespace wmma
}  // namespace nvcuda

#endif
