// What the kernels of attention share: matrices in device memory, tiles of them in shared memory,
// and products of tiles.
#pragma once

#include <cmath>
#include <limits>

#include "c10/cuda/Matrix.h"
#include "c10/cuda/Simt.h"

namespace at::native::cuda::attention {

// Note [Attention tiles]
// A block of kWarps warps owns rows of one matrix: queries, or keys with their values. Each warp
// has kTiles * 16 of them. The block goes through the columns, the other side of the scores, in
// tiles of kColumns, and copies the next tile while it computes with the present one. Scores exist
// in registers only, for a warp's rows and some columns, as C fragments (Note [Fragments] of
// c10/cuda/Matrix.h). Two neighbouring C fragments, rounded, are an A fragment of the next product.
//
// Heads of up to 64 or 128 elements are padded with zeros to kWidth. A row in shared memory is 16
// bytes longer: the 8 rows of 16 bytes that load_matrices reads at once are then in different
// banks.

constexpr int kWarps = 4;
constexpr int kThreads = kWarps * 32;
constexpr int kColumns = 64;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLog2e = 1.44269504f;
constexpr float kLn2 = 0.693147181f;

template <int kWidth>
constexpr int kPitch = kWidth + 8;

/// A tensor of size (N, H, L, E) whose rows are dense and begin at multiples of 16 bytes.
template <class T>
struct Heads {
  T* data;
  int64_t batch_stride;
  int64_t head_stride;
  int64_t row_stride;

  SIMT_DEVICE T* row(int batch, int head, int index) const {
    return data + batch * batch_stride + head * head_stride + index * row_stride;
  }
};

struct Shape {
  int matrices;  // of queries
  int heads;     // of queries in a batch
  int group;     // heads of queries that share keys and values
  int queries, keys;
  int width, value_width;
  bool causal;
  float scale;

  SIMT_DEVICE int key_heads() const { return heads / group; }
};

struct alignas(16) Pack {
  uint32_t words[4];
};

/// The group of 4 lanes, which has a row of each half of a C fragment, and the lane's first column.
SIMT_DEVICE int fragment_row() { return static_cast<int>(simt::lane() / 4); }
SIMT_DEVICE int fragment_column() { return static_cast<int>(simt::lane() % 4 * 2); }

/// The block starts to copy kRows rows, of which `rows` exist. The others are zeros.
template <int kRows, int kWidth, class T>
SIMT_DEVICE void copy_rows(T* to, const T* from, int64_t stride, int rows, int width) {
  constexpr int kPacks = kWidth / 8;
  SIMT_UNROLL
  for (int i = 0; i < kRows * kPacks / kThreads; ++i) {
    const int pack = static_cast<int>(simt::thread_x()) + i * kThreads;
    const int row = pack / kPacks;
    const int column = pack % kPacks * 8;

    T* const place = to + row * kPitch<kWidth> + column;
    if (row < rows && column < width) simt::copy_async<16>(place, from + row * stride + column);
    else *reinterpret_cast<Pack*>(place) = Pack{};
  }
}

/// 16 x 16 elements: an A fragment. Transposed, the B fragments of columns 0 to 7 and 8 to 15.
template <bool kTransposed, int kWidth, class T>
SIMT_DEVICE void load_square(uint32_t (&to)[4], const T* corner) {
  const int lane = static_cast<int>(simt::lane());
  simt::load_matrices<4, kTransposed>(to, corner + lane % 16 * kPitch<kWidth> + lane / 16 * 8);
}

/// 16 rows x 16 elements: the B fragments of the transposed rows 0 to 7 and 8 to 15.
template <int kWidth, class T>
SIMT_DEVICE void load_rows_as_columns(uint32_t (&to)[4], const T* corner) {
  const int lane = static_cast<int>(simt::lane());
  const int row = lane / 16 * 8 + lane % 8;
  simt::load_matrices<4, false>(to, corner + row * kPitch<kWidth> + lane / 8 % 2 * 8);
}

/// c += a times the two B fragments that were loaded together.
template <class T>
SIMT_DEVICE void multiply_pair(float (&left)[4], float (&right)[4], const uint32_t (&a)[4],
                               const uint32_t (&b)[4]) {
  const uint32_t first[2] = {b[0], b[1]};
  const uint32_t second[2] = {b[2], b[3]};
  simt::multiply_matrices<T>(left, a, first);
  simt::multiply_matrices<T>(right, a, second);
}

/// A warp's rows, as A fragments that stay in registers.
template <class T, int kWidth, int kTiles>
struct RowFragments {
  uint32_t parts[kTiles][kWidth / 16][4];

  SIMT_DEVICE void load(const T* rows) {
    SIMT_UNROLL
    for (int m = 0; m < kTiles; ++m) {
      SIMT_UNROLL
      for (int k = 0; k < kWidth / 16; ++k)
        load_square<false, kWidth>(parts[m][k], rows + m * 16 * kPitch<kWidth> + k * 16);
    }
  }

  SIMT_DEVICE void negate() {
    SIMT_UNROLL
    for (auto& row : parts) {
      SIMT_UNROLL
      for (auto& part : row) {
        SIMT_UNROLL
        for (uint32_t& pair : part) pair ^= 0x80008000u;
      }
    }
  }
};

/// C fragments of kTiles * 16 rows and kCount columns.
template <int kTiles, int kCount>
using Sums = float[kTiles][kCount / 8][4];

template <int kTiles, int kParts>
SIMT_DEVICE void clear(float (&sums)[kTiles][kParts][4]) {
  SIMT_UNROLL
  for (auto& row : sums) {
    SIMT_UNROLL
    for (auto& part : row) {
      SIMT_UNROLL
      for (float& sum : part) sum = 0;
    }
  }
}

/// scores = rows columnsᵀ.
template <class T, int kWidth, int kTiles, int kParts>
SIMT_DEVICE void multiply_by_rows(float (&scores)[kTiles][kParts][4],
                                  const RowFragments<T, kWidth, kTiles>& rows, const T* columns) {
  clear(scores);
  SIMT_UNROLL
  for (int k = 0; k < kWidth / 16; ++k) {
    SIMT_UNROLL
    for (int n = 0; n < kParts; n += 2) {
      uint32_t b[4];
      load_rows_as_columns<kWidth>(b, columns + n * 8 * kPitch<kWidth> + k * 16);
      SIMT_UNROLL
      for (int m = 0; m < kTiles; ++m)
        multiply_pair<T>(scores[m][n], scores[m][n + 1], rows.parts[m][k], b);
    }
  }
}

/// sums += weights columns, for weights that are rounded to T.
template <class T, int kWidth, int kTiles, int kParts>
SIMT_DEVICE void add_product(Sums<kTiles, kWidth>& sums, const float (&weights)[kTiles][kParts][4],
                             const T* columns) {
  SIMT_UNROLL
  for (int n = 0; n < kParts; n += 2) {
    uint32_t a[kTiles][4];
    SIMT_UNROLL
    for (int m = 0; m < kTiles; ++m) {
      SIMT_UNROLL
      for (int i = 0; i < 4; ++i) {
        const float (&part)[4] = weights[m][n + i / 2];
        a[m][i] = simt::pack_pair<T>(part[i % 2 * 2], part[i % 2 * 2 + 1]);
      }
    }

    SIMT_UNROLL
    for (int k = 0; k < kWidth / 16; ++k) {
      uint32_t b[4];
      load_square<true, kWidth>(b, columns + n * 8 * kPitch<kWidth> + k * 16);
      SIMT_UNROLL
      for (int m = 0; m < kTiles; ++m)
        multiply_pair<T>(sums[m][2 * k], sums[m][2 * k + 1], a[m], b);
    }
  }
}

/// Stores a warp's rows, of which `rows` exist. `staging` is the warp's own shared memory: packs of
/// 16 bytes then go to device memory.
template <class T, int kWidth, int kTiles>
SIMT_DEVICE void store_rows(T* to, int64_t stride, int rows, int width,
                            const Sums<kTiles, kWidth>& sums, T* staging) {
  SIMT_UNROLL
  for (int m = 0; m < kTiles; ++m) {
    SIMT_UNROLL
    for (int i = 0; i < kWidth / 4; ++i) {
      const int row = m * 16 + i % 2 * 8 + fragment_row();
      const float (&part)[4] = sums[m][i / 2];
      T* const place = staging + row * kPitch<kWidth> + i / 2 * 8 + fragment_column();
      *reinterpret_cast<uint32_t*>(place) =
          simt::pack_pair<T>(part[i % 2 * 2], part[i % 2 * 2 + 1]);
    }
  }
  simt::sync_warp();

  constexpr int kPacks = kWidth / 8;
  SIMT_UNROLL
  for (int i = 0; i < kTiles * 16 * kPacks / 32; ++i) {
    const int pack = static_cast<int>(simt::lane()) + i * 32;
    const int row = pack / kPacks;
    const int column = pack % kPacks * 8;
    if (row >= rows || column >= width) continue;
    *reinterpret_cast<Pack*>(to + row * stride + column) =
        *reinterpret_cast<const Pack*>(staging + row * kPitch<kWidth> + column);
  }
}

}  // namespace at::native::cuda::attention
