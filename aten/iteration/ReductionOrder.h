#pragma once
// The order in which a reduction combines the elements of one result.
//
// Ops, here and in the other Reduction headers, is a struct with the types input_t, acc_t and
// output_t and the functions identity(), reduce(acc, input), combine(acc, acc) and project(acc).
#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "aten/iteration/BlockCopy.h"
#include "aten/iteration/Gather.h"
#include "aten/iteration/LaneLoop.h"
#include "aten/iteration/TensorIterator.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

// Note [Reduction order]
// The order of additions depends on the shape only, never on the number of threads: elements go to
// kLanes accumulators, these are folded every kChunk elements, and chunk results are combined
// pairwise like a binary counter. The error of a float sum therefore grows with log(n). Long single
// reductions are cut into pieces of kPiece elements, which threads share out. Short rows take half
// as many accumulators, and what is left at their ends is reduced on its own.
constexpr int64_t kLanes = 32;
constexpr int64_t kChunk = 4096;
constexpr int64_t kPiece = 65536;
constexpr int kLevels = 40;

/// The result of kCount accumulators, combined in halves. The halves are loops of constant lengths
/// each, so that they stay in registers whether or not the compiler unrolls loops.
template <int64_t kCount, typename Ops>
C10_ALWAYS_INLINE typename Ops::acc_t fold_lanes(const Ops& ops, typename Ops::acc_t* lanes) {
  if constexpr (kCount > 1) {
    constexpr int64_t kHalf = kCount / 2;
    for_each_lane<kHalf>([&](int64_t j) { lanes[j] = ops.combine(lanes[j], lanes[j + kHalf]); });
    return fold_lanes<kHalf>(ops, lanes);
  }
  return lanes[0];
}

/// A contiguous row in kCount accumulators. What is left at its end is reduced on its own, so that
/// the accumulators are folded in registers.
template <int64_t kCount, typename Ops>
typename Ops::acc_t reduce_row_in_lanes(const Ops& ops, const typename Ops::input_t* row,
                                        int64_t n) {
  typename Ops::acc_t lanes[kCount];
  for (int64_t j = 0; j < kCount; ++j) lanes[j] = ops.identity();

  int64_t i = 0;
  for (; i + kCount <= n; i += kCount)
    for_each_lane<kCount>([&](int64_t j) { lanes[j] = ops.reduce(lanes[j], row[i + j]); });

  typename Ops::acc_t rest = ops.identity();
  for (; i < n; ++i) rest = ops.reduce(rest, row[i]);
  return ops.combine(fold_lanes<kCount>(ops, lanes), rest);
}

/// Accumulates rows of elements in the order of Note [Reduction order].
template <typename Ops>
class Cascade {
 public:
  using input_t = typename Ops::input_t;
  using acc_t = typename Ops::acc_t;

  explicit Cascade(const Ops& ops) : ops_(ops) { clear_lanes(); }

  void feed(const input_t* row, int64_t n) {
    while (n > 0) {
      // Whole chunks do not pass through the members.
      if (filled_ == 0 && n >= kChunk) {
        push_chunk(reduce_row_in_lanes<kLanes>(ops_, row, kChunk));
        row += kChunk;
        n -= kChunk;
        continue;
      }

      const int64_t count = std::min(n, kChunk - filled_);
      feed_lanes(row, count);

      filled_ += count;
      row += count;
      n -= count;
      if (filled_ < kChunk) continue;
      push_chunk(fold());
      clear_lanes();
    }
  }

  /// A row whose elements are `stride` bytes apart, fed through a contiguous block.
  void feed_strided(const char* row, int64_t stride, int64_t n) {
    if (stride == static_cast<int64_t>(sizeof(input_t)))
      return feed(reinterpret_cast<const input_t*>(row), n);

    alignas(64) char block[256 * sizeof(input_t)];
    for (int64_t start = 0; start < n; start += 256) {
      const int64_t count = std::min<int64_t>(256, n - start);
      gather(block, row + start * stride, stride, sizeof(input_t), count);
      feed(reinterpret_cast<const input_t*>(block), count);
    }
  }

  acc_t result() {
    acc_t total = fold();
    for (uint64_t left = chunks_; left != 0; left &= left - 1)
      total = ops_.combine(levels_[std::countr_zero(left)], total);
    return total;
  }

 private:
  void clear_lanes() {
    for (int64_t j = 0; j < kLanes; ++j) lanes_[j] = ops_.identity();
    filled_ = 0;
  }

  void feed_lanes(const input_t* row, int64_t n) {
    // Local accumulators stay in registers; members would be stored in every iteration.
    acc_t lanes[kLanes];
    for (int64_t j = 0; j < kLanes; ++j) lanes[j] = lanes_[j];

    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
      for_each_lane<kLanes>([&](int64_t j) { lanes[j] = ops_.reduce(lanes[j], row[i + j]); });
    int64_t lane = 0;  // of the next element
    if (i + kLanes / 2 <= n) {
      for_each_lane<kLanes / 2>([&](int64_t j) { lanes[j] = ops_.reduce(lanes[j], row[i + j]); });
      lane = kLanes / 2;
      i += lane;
    }
    for (int64_t j = 0; j < kLanes; ++j) lanes_[j] = lanes[j];

    // Members again: local accumulators that are chosen at run time would be in memory throughout.
    for (; i < n; ++i, ++lane) lanes_[lane] = ops_.reduce(lanes_[lane], row[i]);
  }

  acc_t fold() {
    acc_t lanes[kLanes];
    for (int64_t j = 0; j < kLanes; ++j) lanes[j] = lanes_[j];
    return fold_lanes<kLanes>(ops_, lanes);
  }

  /// Adds the result of a chunk to the binary counter of chunk results, with carry.
  void push_chunk(acc_t value) {
    int level = 0;
    for (; (chunks_ >> level) & 1; ++level) value = ops_.combine(levels_[level], value);
    levels_[level] = value;
    ++chunks_;
  }

  const Ops& ops_;
  acc_t lanes_[kLanes];
  acc_t levels_[kLevels];  // levels_[k] holds 2^k chunks where bit k of chunks_ is set
  uint64_t chunks_ = 0;
  int64_t filled_ = 0;  // elements in the lanes
};

/// A contiguous row of at most kChunk elements. Folding takes longer than adding up a row of a few
/// vectors, and is shorter with half as many lanes.
template <typename Ops>
typename Ops::acc_t reduce_short_row(const Ops& ops, const typename Ops::input_t* row, int64_t n) {
  constexpr int64_t kFew = 256;
  return n < kFew ? reduce_row_in_lanes<kLanes / 2>(ops, row, n)
                  : reduce_row_in_lanes<kLanes>(ops, row, n);
}

// Rows of up to kTiny elements are reduced element by element, kTinyRows of them at a time. Most
// are transposed for that, twice as many at a time: a vector then holds the same element of its
// rows.
constexpr int64_t kTiny = 24;
constexpr int64_t kTinyRows = 16;

/// Whether tiny rows are transposed. Numbers of 8 bytes are added up faster where they are; for
/// comparisons there, the compiler finds no vector instructions.
template <typename Ops>
constexpr bool transposes_tiny_rows() {
  using input_t = typename Ops::input_t;
  if constexpr (requires { Ops::kCompares; }) return true;
  return !(std::is_arithmetic_v<input_t> && sizeof(input_t) == 8);
}

/// Reduces `count` rows of n elements, `step` bytes apart, and calls f(k, result) for each.
template <typename Ops, typename F>
void reduce_tiny_rows(const Ops& ops, const char* in, int64_t step, int64_t n, int64_t count,
                      const F& f) {
  using input_t = typename Ops::input_t;
  constexpr int64_t kSize = sizeof(input_t);
  constexpr bool kTransposed = transposes_tiny_rows<Ops>();
  constexpr int64_t kRows = kTransposed ? 2 * kTinyRows : kTinyRows;
  alignas(64) char buffer[kTiny * kRows * kSize];

  for (int64_t k = 0; k < count; k += kRows) {
    const int64_t rows = std::min(kRows, count - k);
    const char* source = in + k * step;
    int64_t row = step / kSize;  // elements from one row to the next, if they are not transposed

    // A group that is not full is filled up with zeros. All results come from the same loop then: a
    // second one could round differently, where only one of them has fused multiply-add.
    if (kTransposed || rows < kRows) {
      row = n;
      if (rows < kRows) std::memset(buffer, 0, static_cast<size_t>(n * kRows * kSize));
      const BlockSide staged = {buffer, kTransposed ? kSize : n * kSize,
                                kTransposed ? kRows * kSize : kSize};
      copy_block(staged, {const_cast<char*>(source), step, kSize}, kSize, rows, n,
                 /*stream=*/false);
      source = buffer;
    }

    const auto* elements = reinterpret_cast<const input_t*>(source);
    typename Ops::acc_t acc[kRows];
    for (int64_t w = 0; w < kRows; ++w) acc[w] = ops.identity();
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t w = 0; w < kRows; ++w)
        acc[w] = ops.reduce(acc[w], elements[kTransposed ? i * kRows + w : w * row + i]);
    }
    for (int64_t w = 0; w < rows; ++w) f(k + w, acc[w]);
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
