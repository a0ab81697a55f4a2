#pragma once
// The stages of a formula over rows, and the loops of one stage over a piece of a row.
//
// Note [Stages of a formula over rows]. Such a formula is computed in passes: each reads the
// elements of a row and gives one or more row values, which later stages use. The generator plans
// the passes (codegen/expressions/row_plan.py); between them, a RowValue computes what is the same
// along the row. Lambdas take the row values so far, then the elements: first those of the tensors,
// then those that earlier passes kept because a later one needs them again.
#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "aten/iteration/LaneLoop.h"
#include "aten/iteration/RowPacks.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

/// Reads the elements of a row. `map` returns an array: what each of Ops combines, then kKept
/// elements to keep.
template <int64_t kKeptElements, class Map, class... Ops>
struct RowPass {
  static constexpr int64_t kValues = sizeof...(Ops);
  static constexpr int64_t kKept = kKeptElements;
  template <size_t k>
  using Op = std::tuple_element_t<k, std::tuple<Ops...>>;
  Map map;
};

template <int64_t kKept, class... Ops, class Map>
RowPass<kKept, Map, Ops...> row_pass(const Map& map) {
  return {map};
}

/// Computes one row value from earlier ones.
template <class Compute>
struct RowValue {
  static constexpr int64_t kValues = 1;
  static constexpr int64_t kKept = 0;
  Compute compute;
};

template <class Compute>
RowValue<Compute> row_value(const Compute& compute) {
  return {compute};
}

/// The operation of one value of a pass.
template <class Pass, size_t k>
using RowOp = typename Pass::template Op<k>;

constexpr int64_t kRowLanes = 32;        // accumulators of a row
constexpr int64_t kRowChunk = 4096;      // elements that are added up before chunks are combined
constexpr int64_t kRowPiece = 65536;     // elements of a task, and of a buffer
constexpr int64_t kNeighbours = 64;      // rows that are computed together
constexpr int64_t kNeighbourChunk = 64;  // elements of each of them in a chunk
constexpr int kRowLevels = 12;

/// Combines the results of chunks pairwise, like a binary counter (Note [Reduction order]): `width`
/// numbers for each value of the pass.
template <class Pass, class T, int64_t kWidth>
class ChunkCounter {
 public:
  static constexpr size_t kValues = Pass::kValues;
  using Totals = T[kValues][kWidth];

  explicit ChunkCounter(int64_t width) : width_(width) {}

  void push(Totals& totals) {
    int level = 0;
    for (; (chunks_ >> level) & 1; ++level) combine(levels_[level], totals);
    copy(totals, levels_[level]);
    ++chunks_;
  }

  void result(Totals& totals) {
    for (uint64_t left = chunks_; left != 0; left &= left - 1)
      combine(levels_[std::countr_zero(left)], totals);
  }

 private:
  void combine(const Totals& earlier, Totals& totals) {
    [&]<size_t... k>(std::index_sequence<k...>) {
      (
          [&] {
            for (int64_t j = 0; j < width_; ++j)
              totals[k][j] = RowOp<Pass, k>::combine(earlier[k][j], totals[k][j]);
          }(),
          ...);
    }(std::make_index_sequence<kValues>());
  }

  void copy(const Totals& from, Totals& to) {
    for (size_t k = 0; k < kValues; ++k) std::copy_n(from[k], width_, to[k]);
  }

  int64_t width_;
  uint64_t chunks_ = 0;
  T levels_[kRowLevels + 8][kValues][kWidth];
};

template <class Pass, class T, int64_t kWidth>
void start_totals(T (&totals)[Pass::kValues][kWidth], int64_t width) {
  [&]<size_t... k>(std::index_sequence<k...>) {
    (std::fill_n(totals[k], width, row_start<RowOp<Pass, k>, T>()), ...);
  }(std::make_index_sequence<Pass::kValues>());
}

// --- Along a row: vectors of neighbouring elements ---

/// Combines the accumulators of each value with the rest of the elements, one after another.
template <class Pass, class T, int64_t kCount, size_t... k>
C10_ALWAYS_INLINE void fold_lanes(T (&lanes)[Pass::kValues][kCount],
                                  const T (&rest)[Pass::kValues][kCount], int64_t left,
                                  T (&totals)[Pass::kValues][1], std::index_sequence<k...>) {
  const auto fold = [&]<size_t c>(std::integral_constant<size_t, c>) {
    using Op = RowOp<Pass, c>;
    T tail = row_start<Op, T>();
    for (int64_t j = 0; j < left; ++j) tail = Op::combine(tail, rest[c][j]);
#pragma GCC unroll 5
    for (int64_t width = kCount / 2; width > 0; width /= 2) {
      for (int64_t j = 0; j < width; ++j)
        lanes[c][j] = Op::combine(lanes[c][j], lanes[c][j + width]);
    }
    totals[c][0] = Op::combine(lanes[c][0], tail);
  };
  (fold(std::integral_constant<size_t, k>()), ...);
}

/// Adds n contiguous elements of a row to the totals, in kCount accumulators for each value.
template <int64_t kCount, class Pass, class T, size_t kValues, size_t kInputs, size_t... v,
          size_t... i, size_t... k>
void reduce_row_chunk(const Pass& captured, const RowArray<T, kValues>& given,
                      const RowArray<const T*, kInputs>& in_given,
                      const RowArray<T*, Pass::kKept>& kept_given, int64_t begin, int64_t n,
                      T (&totals)[Pass::kValues][1], std::index_sequence<v...>,
                      std::index_sequence<i...>, std::index_sequence<k...>) {
  // Copies, which stores cannot change.
  const Pass pass = captured;
  const RowArray<T, kValues> values = given;
  const RowArray<const T*, kInputs> in = in_given;
  const RowArray<T*, Pass::kKept> kept = kept_given;

  T lanes[Pass::kValues][kCount];
  T rest[Pass::kValues][kCount];
  start_totals<Pass>(lanes, kCount);

#ifdef AT_VEC_HAS_PACKS
  constexpr std::index_sequence<v...> all_values;
  constexpr std::index_sequence<i...> all_inputs;
  constexpr std::index_sequence<k...> all_results;
  if constexpr (takes_packs<decltype(pass.map), T>(all_values, all_inputs)) {
    const int64_t left = reduce_packs<Pass, kCount>(pass, values, in, kept, begin, n, lanes, rest,
                                                    all_values, all_inputs, all_results);
    return fold_lanes<Pass>(lanes, rest, left, totals, all_results);
  }
#endif

  const auto element = [&](int64_t at) __attribute__((always_inline)) {
    const auto found = pass.map(values[v]..., in[i][at]...);
    for (size_t c = 0; c < Pass::kKept; ++c) kept[c][at] = found[Pass::kValues + c];
    return found;
  };

  int64_t at = begin;
  const int64_t end = begin + n;
  for (; at + kCount <= end; at += kCount) {
    for_each_lane<kCount>([&](int64_t j) __attribute__((always_inline)) {
      const auto found = element(at + j);
      ((lanes[k][j] = RowOp<Pass, k>::combine(lanes[k][j], found[k])), ...);
    });
  }

  // The rest in vectors as well, as functions take long.
  const int64_t left = end - at;
#pragma GCC ivdep
  for (int64_t j = 0; j < left; ++j) {
    const auto found = element(at + j);
    ((rest[k][j] = found[k]), ...);
  }

  fold_lanes<Pass>(lanes, rest, left, totals, std::index_sequence<k...>());
}

/// Reduces n elements of a row, of which chunks are combined pairwise.
template <class Pass, class T, size_t kValues, size_t kInputs>
void reduce_row_piece(const Pass& pass, const RowArray<T, kValues>& values,
                      const RowArray<const T*, kInputs>& in, const RowArray<T*, Pass::kKept>& kept,
                      int64_t n, T (&totals)[Pass::kValues][1]) {
  constexpr std::make_index_sequence<kValues> v;
  constexpr std::make_index_sequence<kInputs> i;
  constexpr std::make_index_sequence<Pass::kValues> k;
  constexpr int64_t kFew = 256;
  if (n < kFew) {
    return reduce_row_chunk<kRowLanes / 2>(pass, values, in, kept, 0, n, totals, v, i, k);
  }
  if (n <= kRowChunk)
    return reduce_row_chunk<kRowLanes>(pass, values, in, kept, 0, n, totals, v, i, k);

  ChunkCounter<Pass, T, 1> counter(1);
  for (int64_t begin = 0; begin < n; begin += kRowChunk) {
    const int64_t count = std::min(kRowChunk, n - begin);
    reduce_row_chunk<kRowLanes>(pass, values, in, kept, begin, count, totals, v, i, k);
    counter.push(totals);
  }
  start_totals<Pass>(totals, 1);
  counter.result(totals);
}

/// out[at] = finish(values, elements), for n elements of a row.
template <class Finish, class Result, class T, size_t kValues, size_t kInputs, size_t... v,
          size_t... i>
void finish_row_piece(const Finish& captured, const RowArray<T, kValues>& given,
                      const RowArray<const T*, kInputs>& in_given, Result* out, int64_t n,
                      std::index_sequence<v...>, std::index_sequence<i...>) {
  const Finish finish = captured;
  const RowArray<T, kValues> values = given;
  const RowArray<const T*, kInputs> in = in_given;

#ifdef AT_VEC_HAS_PACKS
  constexpr std::index_sequence<v...> all_values;
  constexpr std::index_sequence<i...> all_inputs;
  constexpr bool kTakesPacks = takes_packs<Finish, T>(all_values, all_inputs);
  if constexpr (kTakesPacks && std::is_same_v<Result, float>)
    return finish_packs(finish, values, in, out, n, all_values, all_inputs);
#endif

#pragma GCC ivdep
  for (int64_t at = 0; at < n; ++at)
    out[at] = static_cast<Result>(finish(values[v]..., in[i][at]...));
}

// --- Across rows: vectors of the elements of neighbouring rows ---

/// Adds one element of each row to the totals.
template <class Pass, class T, size_t kInputs, size_t... v, size_t... i, size_t... k>
void add_elements(const Pass& captured, const T (*values)[kNeighbours],
                  const RowArray<const T*, kInputs>& in_given,
                  const RowArray<T*, Pass::kKept>& kept_given, int64_t width,
                  T (&totals)[Pass::kValues][kNeighbours], std::index_sequence<v...>,
                  std::index_sequence<i...>, std::index_sequence<k...>) {
  const Pass pass = captured;
  const RowArray<const T*, kInputs> in = in_given;
  const RowArray<T*, Pass::kKept> kept = kept_given;
#pragma GCC ivdep
  for (int64_t j = 0; j < width; ++j) {
    const auto found = pass.map(values[v][j]..., in[i][j]...);
    ((totals[k][j] = RowOp<Pass, k>::combine(totals[k][j], found[k])), ...);
    for (size_t c = 0; c < Pass::kKept; ++c) kept[c][j] = found[Pass::kValues + c];
  }
}

/// out[j] = finish(values, elements), for one element of each row.
template <class Finish, class Result, class T, size_t kInputs, size_t... v, size_t... i>
void finish_elements(const Finish& captured, const T (*values)[kNeighbours],
                     const RowArray<const T*, kInputs>& in_given, Result* out, int64_t width,
                     std::index_sequence<v...>, std::index_sequence<i...>) {
  const Finish finish = captured;
  const RowArray<const T*, kInputs> in = in_given;
#pragma GCC ivdep
  for (int64_t j = 0; j < width; ++j)
    out[j] = static_cast<Result>(finish(values[v][j]..., in[i][j]...));
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
