#pragma once
// reduce_rows and transform_rows, which run a formula over rows (Note [Stages of a formula over
// rows]). Note [CPU_CAPABILITY] in Loops.h says why these headers are in an inline namespace.
#include <memory>

#include "aten/iteration/RowMemory.h"
#include "aten/parallel/Parallel.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

// Note [Order of formulas over rows]
// As in Note [Reduction order], what is added up in which order depends on sizes and strides only.
// Rows are cut into pieces of kRowPiece elements, pieces into chunks. Where the rows are
// neighbours in memory, or have few elements, kNeighbours of them are computed together and
// vectors run across the rows. Threads share rows, or the pieces of a long row.

/// Computes one row, or up to kNeighbours neighbouring rows, stage by stage.
template <class S, class T, size_t kTensors, class... Stages>
class RowGroup {
 public:
  using Source = RowSource<S, T, kTensors>;
  using Scratch = typename Source::Scratch;
  static constexpr size_t kAll = (size_t{0} + ... + size_t{Stages::kValues});
  static constexpr size_t kAllKept = (size_t{0} + ... + size_t{Stages::kKept});

  /// With `keeps_in_result`, the first of the kept elements are where the results will be.
  RowGroup(const RowPlan& plan, bool is_across, bool keeps_in_result,
           const std::tuple<Stages...>& stages)
      : plan_(plan),
        is_across_(is_across),
        keeps_in_result_(keeps_in_result),
        stages_(stages),
        source_(plan) {
    const int64_t block = is_across ? kNeighbours : 1;
    for (size_t c = keeps_in_result ? 1 : 0; c < kAllKept; ++c) {
      const auto elements = static_cast<size_t>(plan.row.count * block);
      kept_memory_[c] = std::make_unique_for_overwrite<T[]>(elements);
    }
  }

  /// Computes the row values of the rows from `first` on behind `row`.
  void compute(const RowWalker& row, int64_t first, int64_t width) {
    source_.move_to(row, first);
    scratch_.begin = -1;
    width_ = width;
    [&]<size_t... s>(std::index_sequence<s...>) {
      (run_stage<s>(std::get<s>(stages_)), ...);
    }(std::make_index_sequence<sizeof...(Stages)>());
  }

  /// Writes finish(values) for each row.
  template <class Result, class Finish>
  void store_values(const Finish& finish) const {
    const int64_t step = plan_.kept.sizes.empty() ? 0 : plan_.kept.strides[0][0];
    [&]<size_t... v>(std::index_sequence<v...>) {
      for (int64_t j = 0; j < width_; ++j)
        *reinterpret_cast<Result*>(source_.result() + j * step) =
            static_cast<Result>(finish(values_[v][j]...));
    }(std::make_index_sequence<kAll>());
  }

  /// Writes finish(values, elements) for each element.
  template <class Result, class Finish>
  void store_elements(const Finish& finish) {
    for_each_piece([&](int64_t, int64_t begin, int64_t n, Scratch& scratch) {
      if (is_across_) store_across<Result>(finish, begin, n, scratch);
      else store_along<Result>(finish, begin, n, scratch);
    });
  }

 private:
  template <size_t s>
  static constexpr size_t values_before() {
    size_t found = 0;
    size_t stage = 0;
    ((found += stage++ < s ? size_t{Stages::kValues} : 0), ...);
    return found;
  }
  template <size_t s>
  static constexpr size_t kept_before() {
    size_t found = 0;
    size_t stage = 0;
    ((found += stage++ < s ? size_t{Stages::kKept} : 0), ...);
    return found;
  }

  int64_t piece_length() const {
    return is_across_ ? std::max(kNeighbourChunk, kRowPiece / width_) : kRowPiece;
  }
  int64_t pieces() const { return (plan_.row.count + piece_length() - 1) / piece_length(); }

  /// Calls f(piece, begin, n, scratch) for all pieces, on several threads if there are many.
  template <class F>
  void for_each_piece(const F& f) {
    const int64_t length = piece_length();
    const int64_t count = pieces();
    const auto call = [&](int64_t p, Scratch& scratch) {
      f(p, p * length, std::min(length, plan_.row.count - p * length), scratch);
    };

    if (count == 1) return call(0, scratch_);
    parallel_for(0, count, 1, [&](int64_t begin, int64_t end) {
      Scratch own;
      for (int64_t p = begin; p < end; ++p) call(p, own);
    });
  }

  template <size_t s, class Compute>
  void run_stage(const RowValue<Compute>& value) {
    constexpr size_t kKnown = values_before<s>();
    [&]<size_t... v>(std::index_sequence<v...>) {
      for (int64_t j = 0; j < width_; ++j) values_[kKnown][j] = value.compute(values_[v][j]...);
    }(std::make_index_sequence<kKnown>());
  }

  template <size_t s, int64_t kKept, class Map, class... Ops>
  void run_stage(const RowPass<kKept, Map, Ops...>& pass) {
    if (is_across_) run_pass<s, kNeighbours>(pass);
    else run_pass<s, 1>(pass);
  }

  template <size_t s, int64_t kWidth, class Pass>
  void run_pass(const Pass& pass) {
    constexpr size_t kKnown = values_before<s>();
    constexpr size_t kValues = Pass::kValues;
    using Totals = T[kValues][kWidth];

    // Most rows are one piece.
    const int64_t count = pieces();
    Totals only;
    std::unique_ptr<Totals[]> several;
    if (count > 1) several = std::make_unique_for_overwrite<Totals[]>(static_cast<size_t>(count));
    Totals* totals = count > 1 ? several.get() : &only;
    start_totals<Pass>(totals[0], width_);

    for_each_piece([&](int64_t p, int64_t begin, int64_t n, Scratch& scratch) {
      if constexpr (kWidth == 1) reduce_along<s>(pass, begin, n, scratch, totals[p]);
      else reduce_across<s>(pass, begin, n, scratch, totals[p]);
    });

    [&]<size_t... k>(std::index_sequence<k...>) {
      for (int64_t step = 1; step < count; step *= 2) {
        for (int64_t p = 0; p + step < count; p += 2 * step) {
          for (int64_t j = 0; j < width_; ++j)
            ((totals[p][k][j] = RowOp<Pass, k>::combine(totals[p][k][j], totals[p + step][k][j])),
             ...);
        }
      }
      for (int64_t j = 0; j < width_; ++j) ((values_[kKnown + k][j] = totals[0][k][j]), ...);
    }(std::make_index_sequence<kValues>());
  }

  /// The elements of the tensors and those that earlier passes kept, at position `at` of the row
  /// or, of neighbouring rows, of `at` times kNeighbours.
  template <size_t kKnownKept>
  RowArray<const T*, kTensors + kKnownKept> with_kept(const RowArray<const T*, kTensors>& own,
                                                      int64_t at) const {
    RowArray<const T*, kTensors + kKnownKept> found;
    std::copy(own.begin(), own.end(), found.begin());
    for (size_t c = 0; c < kKnownKept; ++c) found[kTensors + c] = kept_at(c, at);
    return found;
  }
  T* kept_at(size_t c, int64_t at) const {
    if (c == 0 && keeps_in_result_) return reinterpret_cast<T*>(source_.result()) + at;
    return kept_memory_[c].get() + at;
  }
  template <size_t kFirst, size_t kCount>
  RowArray<T*, kCount> to_keep(int64_t at) const {
    RowArray<T*, kCount> found{};
    for (size_t c = 0; c < kCount; ++c) found[c] = kept_at(kFirst + c, at);
    return found;
  }

  template <size_t kKnown>
  RowArray<T, kKnown> values_of_row() const {
    RowArray<T, kKnown> found{};
    for (size_t v = 0; v < kKnown; ++v) found[v] = values_[v][0];
    return found;
  }

  template <size_t s, class Pass>
  void reduce_along(const Pass& pass, int64_t begin, int64_t n, Scratch& scratch,
                    T (&totals)[Pass::kValues][1]) const {
    const auto in = with_kept<kept_before<s>()>(source_.piece(begin, n, scratch), begin);
    const auto kept = to_keep<kept_before<s>(), Pass::kKept>(begin);
    reduce_row_piece(pass, values_of_row<values_before<s>()>(), in, kept, n, totals);
  }

  template <size_t s, class Pass>
  void reduce_across(const Pass& pass, int64_t begin, int64_t n, Scratch& scratch,
                     T (&totals)[Pass::kValues][kNeighbours]) const {
    constexpr size_t kInputs = kTensors + kept_before<s>();
    ChunkCounter<Pass, T, kNeighbours> counter(width_);

    RowWalker walk(plan_.row, begin);
    for (int64_t at = begin; at < begin + n;) {
      start_totals<Pass>(totals, width_);
      const int64_t last = std::min(begin + n, at + kNeighbourChunk);
      for (; at < last; ++at, walk.advance(1)) {
        const auto in =
            with_kept<kept_before<s>()>(source_.elements(walk, width_, scratch), at * kNeighbours);
        const auto kept = to_keep<kept_before<s>(), Pass::kKept>(at * kNeighbours);
        add_elements(
            pass, values_, in, kept, width_, totals, std::make_index_sequence<values_before<s>()>(),
            std::make_index_sequence<kInputs>(), std::make_index_sequence<Pass::kValues>());
      }

      if (n <= kNeighbourChunk) return;
      counter.push(totals);
    }

    start_totals<Pass>(totals, width_);
    counter.result(totals);
  }

  template <class Result>
  void store_along(const auto& finish, int64_t begin, int64_t n, Scratch& scratch) const {
    auto in = with_kept<kAllKept>(source_.piece(begin, n, scratch), begin);
    const auto compute = [&](auto* out, int64_t count) {
      finish_row_piece(finish, values_of_row<kAll>(), in, out, count,
                       std::make_index_sequence<kAll>(), kElements);
      for (const T*& pointer : in) pointer += count;
    };

    const int64_t stride = plan_.row.sizes.empty() ? 0 : plan_.row.strides[0][0];
    for_each_run(plan_.row, 0, begin, n, [&](int64_t offset, int64_t, int64_t run) {
      char* target = source_.result() + offset;
      if (!c10::ReducedFloat<Result> && (stride == int64_t{sizeof(Result)} || run == 1)) {
        compute(reinterpret_cast<Result*>(target), run);
      } else {
        Computed<Result> block[kBlock];
        for (int64_t at = 0; at < run; at += kBlock) {
          const int64_t count = std::min(kBlock, run - at);
          compute(block, count);
          write_elements<Result>(block, target + at * stride, stride, count);
        }
      }
    });
  }

  template <class Result>
  void store_across(const auto& finish, int64_t begin, int64_t n, Scratch& scratch) const {
    const int64_t step = plan_.kept.strides[0][0];
    RowWalker walk(plan_.row, begin);
    for (int64_t at = begin; at < begin + n; ++at, walk.advance(1)) {
      const auto own = source_.elements(walk, width_, scratch);
      const auto in = with_kept<kAllKept>(own, at * kNeighbours);
      const auto compute = [&](auto* out) {
        finish_elements(finish, values_, in, out, width_, std::make_index_sequence<kAll>(),
                        kElements);
      };

      char* target = source_.result() + walk.offset(0);
      if (!c10::ReducedFloat<Result> && step == int64_t{sizeof(Result)}) {
        compute(reinterpret_cast<Result*>(target));
      } else {
        Computed<Result> block[kNeighbours];
        compute(block);
        write_elements<Result>(block, target, step, width_);
      }
    }
  }

  /// What is computed before it is written as a Result.
  template <class Result>
  using Computed = std::conditional_t<c10::ReducedFloat<Result>, T, Result>;
  static constexpr std::make_index_sequence<kTensors + kAllKept> kElements{};

  const RowPlan& plan_;
  const bool is_across_;
  const bool keeps_in_result_;
  const std::tuple<Stages...>& stages_;
  Source source_;
  Scratch scratch_;
  int64_t width_ = 1;
  T values_[kAll == 0 ? 1 : kAll][kNeighbours];
  RowArray<std::unique_ptr<T[]>, kAllKept> kept_memory_;
};

/// Whether vectors run across neighbouring rows: they are next to each other in memory, or too
/// short for vectors.
template <class S>
bool runs_across(const RowPlan& plan) {
  constexpr int64_t kFewRows = 16;
  constexpr int64_t kShortRow = 24;
  if (plan.kept.sizes.empty() || plan.kept.sizes[0] < kFewRows) return false;
  const bool is_next = plan.kept.strides[1][0] == int64_t{sizeof(S)};
  return plan.row.count <= kShortRow ||
         (is_next && (plan.row.sizes.empty() || plan.row.strides[1][0] != int64_t{sizeof(S)}));
}

/// Whether results of type T lie next to each other along a row.
template <class T>
bool has_contiguous_results(const RowPlan& plan) {
  const size_t dims = plan.row.sizes.size();
  return dims == 0 || (dims == 1 && plan.row.strides[0][0] == int64_t{sizeof(T)});
}

/// Calls f(group) for all rows when their row values are known.
template <class S, class T, size_t kTensors, class... Stages, class F>
void for_each_row_group(const RowPlan& plan, bool has_results_of_t,
                        const std::tuple<Stages...>& stages, const F& f) {
  using Group = RowGroup<S, T, kTensors, Stages...>;
  if (plan.kept.count == 0) return;

  const bool across = runs_across<S>(plan);
  const int64_t last = across ? plan.kept.sizes[0] : 1;
  const int64_t block = across ? kNeighbours : 1;
  const int64_t parts = (last + block - 1) / block;
  const int64_t groups = plan.kept.count / last * parts;

  const auto compute = [&](int64_t begin, int64_t end) {
    const bool keeps_in_result = has_results_of_t && !across && has_contiguous_results<T>(plan);
    Group group(plan, across, keeps_in_result, stages);
    RowWalker walk(plan.kept, begin / parts * last);
    for (int64_t g = begin; g < end; ++g) {
      const int64_t first = g % parts * block;
      const int64_t width = std::min(block, last - first);
      group.compute(walk, first, width);
      f(group);
      if (first + width == last) walk.advance(last);
    }
  };

  // Few long rows: one after another, so that threads share their pieces.
  const bool share_pieces = groups < 2 * get_num_threads() && plan.row.count > kRowPiece / block;
  if (share_pieces) return compute(0, groups);

  const int64_t cost = std::max<int64_t>(1, plan.row.count * std::min(last, block) * 4);
  parallel_for(0, groups, std::max<int64_t>(1, kDefaultGrainSize / cost), compute);
}

/// One result for each row: finish(row values).
template <class S, class Result, class... Stages, class Finish>
void reduce_rows(const RowPlan& plan, const std::tuple<Stages...>& stages, const Finish& finish) {
  for_each_row_group<S, opmath_type<S>, 1>(
      plan, false, stages, [&](auto& group) { group.template store_values<Result>(finish); });
}

/// One result for each element of kTensors tensors: finish(row values, elements).
template <class S, class Result, size_t kTensors, class... Stages, class Finish>
void transform_rows(const RowPlan& plan, const std::tuple<Stages...>& stages,
                    const Finish& finish) {
  if (plan.row.count == 0) return;
  for_each_row_group<S, opmath_type<S>, kTensors>(
      plan, std::is_same_v<Result, opmath_type<S>>, stages,
      [&](auto& group) { group.template store_elements<Result>(finish); });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
