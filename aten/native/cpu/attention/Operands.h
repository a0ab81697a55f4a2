#pragma once
// The matrices of attention and their parts as register tiles read them. Included by files compiled
// once per instruction set.
#include <algorithm>
#include <cstring>

#include "aten/blas/tile/Elements.h"
#include "aten/blas/tile/RoundedPairs.h"
#include "aten/native/cpu/shared/Tasks.h"

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace attention {

namespace tile = blas::tile::CPU_CAPABILITY;

// Note [Tiles of attention]
// In all products, vectors run over queries or over the width; keys are rows of tiles. Scores are
// stored as keys times queries, which makes a softmax over keys a loop over vectors:
//   scores[key][query]  = keys        x  queries, transposed once when they are packed
//   out[width][query]  += values      x  weights[key][query]
//   grad_value[key]    += weights     x  grad[query]
//   grad_key[key]      += grad_scores x  query[query]
//   grad_query[width][query] += keys  x  grad_scores[key][query]
// So nothing else is transposed, and floats are multiplied where they are in memory. Reduced floats
// are converted a block at a time, to float or to pairs of BFloat16.
//
// Blocks of keys start at multiples of their size, and one task sums up all blocks of a result in
// their order. So bits do not depend on the number of threads.

constexpr int64_t rounded_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/// Memory of one thread for any type of elements.
template <class T>
class Buffer {
 public:
  explicit Buffer(int64_t elements)
      : memory_((elements * int64_t{sizeof(T)} + 63) / int64_t{sizeof(double)}) {}
  T* data() const { return reinterpret_cast<T*>(memory_.data()); }

 private:
  Scratch<double> memory_;
};

/// The matrices of a tensor (N, H, rows, columns), copied if their rows are not dense.
template <class T>
class Matrices {
 public:
  explicit Matrices(const Tensor& given)
      : tensor_(given.stride(3) == 1 || given.size(3) == 1 ? given : given.contiguous()),
        data_(static_cast<T*>(tensor_.data())),
        heads_(tensor_.size(1)),
        of_batch_(tensor_.stride(0)),
        of_head_(tensor_.stride(1)),
        of_row_(tensor_.stride(2)) {}

  /// A row of a matrix, counted over batches and heads.
  T* row(int64_t matrix, int64_t row) const {
    return data_ + matrix / heads_ * of_batch_ + matrix % heads_ * of_head_ + row * of_row_;
  }
  int64_t step() const { return of_row_; }

 private:
  Tensor tensor_;
  T* data_;
  int64_t heads_, of_batch_, of_head_, of_row_;
};

/// Rows or steps of the depth, `step_bytes` apart.
template <class T>
struct Block {
  const T* data;
  int64_t step_bytes;
  bool padded;  // whole vectors may be read

  int64_t step() const { return step_bytes / int64_t{sizeof(T)}; }
  /// The block from an element of a row on.
  Block at(int64_t row, int64_t element) const {
    const char* const from = reinterpret_cast<const char*>(data) + row * step_bytes;
    return {reinterpret_cast<const T*>(from) + element, step_bytes, padded};
  }
};

/// What multiplies the elements that E packs.
template <class E>
struct MultiplierOf {
  using type = E;
};
template <class In>
struct MultiplierOf<tile::Widened<In>> {
  using type = tile::Floats<float>;
};

/// Parts of matrices for elements of type E, see aten/blas/tile/Elements.h.
template <class E>
struct Operands {
  using Stored = typename E::Stored;
  using Packed = typename E::Packed;
  using Sum = typename E::Sum;
  static constexpr int64_t kGroup = E::kGroup;
  static constexpr int64_t kLanes = tile::kTileVectors * tile::kWidth<Packed>;

  /// The steps of a depth of n elements.
  static int64_t groups(int64_t n) { return (n + kGroup - 1) / kGroup; }

  /// The elements of buffers for lines() and across().
  static int64_t line_elements(int64_t count, int64_t width) { return count * line_step(width); }
  static int64_t across_elements(int64_t count, int64_t width) {
    return groups(count) * rounded_up(width, kLanes);
  }

  /// `count` rows whose elements are the depth.
  static Block<Packed> lines(const Stored* rows, int64_t step, int64_t count, int64_t width,
                             Packed* buffer) {
    const int64_t step_bytes = step * int64_t{sizeof(Stored)};
    if (kAsStored && width % kGroup == 0 && spreads(step_bytes))
      return {reinterpret_cast<const Packed*>(rows), step_bytes, false};

    for (int64_t i = 0; i < count; ++i)
      copy_line(rows + i * step, width, buffer + i * line_step(width));
    return {buffer, line_step(width) * int64_t{sizeof(Packed)}, true};
  }

  /// `count` rows that are the depth: a step holds the elements of `kGroup` rows.
  static Block<Packed> across(const Stored* rows, int64_t step, int64_t count, int64_t width,
                              Packed* buffer) {
    const int64_t step_bytes = step * int64_t{sizeof(Stored)};
    if (kAsStored && kGroup == 1 && spreads(step_bytes))
      return {reinterpret_cast<const Packed*>(rows), step_bytes, false};

    const int64_t panel = rounded_up(width, kLanes);
    for (int64_t first = 0; first < width; first += kLanes) {
      E::pack_lanes({rows + first, 1, step}, std::min(kLanes, width - first), count, buffer + first,
                    panel);
    }
    return {buffer, panel * int64_t{sizeof(Packed)}, true};
  }

  /// Up to kLanes rows as lanes, whose elements are the depth.
  static void transposed(const Stored* rows, int64_t step, int64_t count, int64_t width,
                         Packed* out) {
    E::pack_lanes({rows, step, 1}, count, width, out, kLanes);
  }

 private:
  static constexpr bool kAsStored = sizeof(Packed) == kGroup * sizeof(Stored);

  /// Whether rows so far apart do not all fall into the same set of the first-level cache.
  static bool spreads(int64_t step_bytes) { return step_bytes % 2048 != 0; }

  static int64_t line_step(int64_t width) {
    constexpr int64_t W = tile::kWidth<Packed>;
    return rounded_up(groups(width), W) + W;
  }

  static void copy_line(const Stored* from, int64_t width, Packed* out) {
    if constexpr (kAsStored) {
      if (width % kGroup != 0) out[width / kGroup] = Packed();
      std::memcpy(out, from, static_cast<size_t>(width) * sizeof(Stored));
    } else {
      constexpr int64_t W = tile::kWidth<Packed>;
      for (int64_t p = 0; p < width; p += W)
        tile::store(out + p, tile::load_converted<Packed>(from + p, std::min(W, width - p)));
    }
  }
};

/// c = alpha * rows x lanes + beta * c for any number of rows, in tiles of about the same height.
/// In `order` Lines, a row is a row of the block; in order Packed, it is an element of each step.
template <class E>
void multiply(int64_t depth, const tile::Lanes<typename E::Packed>& lanes, int64_t rows,
              const Block<typename E::Packed>& block, tile::RowOrder order,
              tile::Target<typename E::Sum> to) {
  using M = typename MultiplierOf<E>::type;
  using Packed = typename E::Packed;
  const int64_t tiles = (rows + M::kRows - 1) / M::kRows;
  const int64_t row_bytes =
      order == tile::RowOrder::Lines ? block.step_bytes : int64_t{sizeof(Packed)};
  const char* from = reinterpret_cast<const char*>(block.data);

  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t height = rows / tiles + (i < rows % tiles);
    M::multiply(depth, lanes, height, reinterpret_cast<const Packed*>(from), block.step_bytes,
                order, to);
    from += height * row_bytes;
    to.c += height * to.ldc;
  }
}

/// Stores the first `count` columns of a matrix (width, columns) as rows, each times its factor.
/// The buffer is for `count` rows of `width`, rounded up to whole vectors.
template <class T, class Sum>
void store_columns(const Sum* from, int64_t columns, int64_t width, int64_t count,
                   const Sum* factors, T* to, int64_t to_step, Sum* buffer) {
  constexpr int64_t W = tile::kWidth<Sum>;
  const int64_t step = rounded_up(width, W);
  for (int64_t first = 0; first < width; first += W) {
    const auto read = [&](int64_t i, int64_t p, int64_t) {
      return tile::load(from + (first + i) * columns + p) * tile::load(factors + p);
    };
    tile::pack_transposed<Sum>(read, std::min(W, width - first), count, buffer + first, step);
  }

  for (int64_t row = 0; row < count; ++row) {
    const Sum* const line = buffer + row * step;
    T* const out = to + row * to_step;
    for (int64_t j = 0; j < width; ++j) out[j] = static_cast<T>(line[j]);
  }
}

}  // namespace attention
}  // namespace CPU_CAPABILITY
}  // namespace at::native
