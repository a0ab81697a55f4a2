// RowFormula.cuh: formulas over rows (codegen/expressions/rows.py) as formulas of Rows.cuh.
#pragma once
#include "aten/iteration/RowOps.h"
#include "aten/iteration/RowPlan.h"
#include "aten/native/cuda/IndexedDims.h"
#include "aten/native/cuda/Reduce.cuh"
#include "aten/native/cuda/Rows.cuh"

// Note [Formulas over rows on a device]
// The generator writes a struct for each formula, whose operator() is the formula of Note [Rows]:
//
//   const FormulaRow<scalar_t, 1, Walk> row(operands, place, walk);
//   RowTotal<RowMaximum, opmath_t, Walk> total0;
//   row.each([&](opmath_t self) { total0.add(self); });
//   const opmath_t row0 = total0.join(threads);
//   ...
//   row.template store<scalar_t>([&](opmath_t self) { return vec::exp(self - row0) / row1; });
//
// The passes are those of Note [Stages of a formula over rows], but nothing is kept between them:
// elements are in registers, or computing them again takes less time than memory. A formula of one
// reduction is one of Note [Device reductions], which cuts long rows into pieces.

namespace at::native::cuda {

/// The result and the tensors of a formula: operand 0 and those from 1 on.
template <int kTensors>
struct RowFormulaOperands {
  char* data[kTensors + 1];
  IndexedDims<kTensors + 1> kept;
  IndexedDims<kTensors + 1> row;
};

namespace detail {

template <int kOperands>
IndexedDims<kOperands> indexed(const RowDims& dims) {
  TORCH_CHECK(dims.sizes.size() <= LaunchPlan::kMaxDims, "more than ", LaunchPlan::kMaxDims,
              " dimensions of rows that cannot be merged");
  IndexedDims<kOperands> found;
  found.dims = static_cast<int>(dims.sizes.size());
  found.count = dims.count;
  for (int d = 0; d < found.dims; ++d) {
    found.sizes[d] = dims.sizes[static_cast<size_t>(d)];
    for (int k = 0; k < kOperands; ++k)
      found.strides[k][d] = dims.strides[static_cast<size_t>(k)][static_cast<size_t>(d)];
  }
  found.finish(int64_t{1} << 31);
  return found;
}

/// Whether the rows of operand k consist of packs of `width` elements.
inline bool has_packs(const RowPlan& plan, size_t k, int64_t itemsize, int64_t width) {
  const int64_t size = itemsize * width;
  const int64_t stride = plan.row.sizes.empty() ? itemsize : plan.row.strides[k][0];
  if (k > 0 && stride == 0) return true;  // one element for the whole row

  bool found = stride == itemsize && reinterpret_cast<uintptr_t>(plan.data[k]) % size == 0;
  if (plan.kept.strides.empty()) return found;
  for (const int64_t step : plan.kept.strides[k]) found = found && step % size == 0;
  return found;
}

/// Whether neighbouring rows lie next to each other in memory, unlike the elements of a row.
inline bool has_columns(const RowPlan& plan, int64_t itemsize) {
  if (plan.kept.sizes.empty() || plan.row.sizes.empty()) return false;
  return plan.kept.strides[1][0] == itemsize && plan.row.strides[1][0] != itemsize;
}

}  // namespace detail

template <int kTensors>
RowFormulaOperands<kTensors> row_formula_operands(const RowPlan& plan) {
  RowFormulaOperands<kTensors> operands;
  for (int k = 0; k <= kTensors; ++k) operands.data[k] = plan.data[static_cast<size_t>(k)];
  operands.kept = detail::indexed<kTensors + 1>(plan.kept);
  operands.row = detail::indexed<kTensors + 1>(plan.row);
  return operands;
}

/// A row of each of the tensors, in the type that kernels compute in.
template <class T, int kTensors, class Walk>
class FormulaRow {
 public:
  using Acc = opmath_type<T>;
  using Values = RowPack<Acc, Walk::kWidth>;

  SIMT_DEVICE FormulaRow(const RowFormulaOperands<kTensors>& operands, const RowPlace& place,
                         const Walk& walk)
      : operands_(operands), walk_(walk) {
    SIMT_UNROLL
    for (int k = 0; k <= kTensors; ++k)
      begin_[k] = operands.data[k] + operands.kept.offset(k, place.row);

    if constexpr (Walk::kIsHeld) {
      walk.each([&](int slot, auto first) {
        SIMT_UNROLL
        for (int k = 0; k < kTensors; ++k) held_[k][slot] = load(k + 1, first);
      });
    }
  }

  /// Calls f(elements...) for all elements of this thread.
  template <class F>
  SIMT_DEVICE void each(const F& f) const {
    each_pack([&](int, int64_t, const auto&... values) {
      SIMT_UNROLL
      for (int j = 0; j < Walk::kWidth; ++j) f(values[j]...);
    });
  }

  /// Writes f(elements...) for all elements of this thread.
  template <class Result, class F>
  SIMT_DEVICE void store(const F& f) const {
    each_pack([&](int, int64_t first, const auto&... values) {
      RowPack<Result, Walk::kWidth> pack;
      SIMT_UNROLL
      for (int j = 0; j < Walk::kWidth; ++j) pack[j] = static_cast<Result>(f(values[j]...));
      *reinterpret_cast<RowPack<Result, Walk::kWidth>*>(begin_[0] + offset(0, first)) = pack;
    });
  }

  /// Writes the one result of the row.
  template <class Result>
  SIMT_DEVICE void store_value(Result value) const {
    *reinterpret_cast<Result*>(begin_[0]) = value;
  }

 private:
  template <class F>
  SIMT_DEVICE void each_pack(const F& f) const {
    walk_.each([&](int slot, auto first) {
      call_with_pack(slot, first, f, std::make_integer_sequence<int, kTensors>());
    });
  }
  template <class F, int... k>
  SIMT_DEVICE void call_with_pack(int slot, int64_t first, const F& f,
                                  std::integer_sequence<int, k...>) const {
    if constexpr (Walk::kIsHeld) {
      f(slot, first, held_[k][slot]...);
    } else {
      f(slot, first, load(k + 1, first)...);
    }
  }

  SIMT_DEVICE int64_t offset(int k, int64_t first) const {
    const auto& dims = operands_.row;
    return dims.dims == 1 ? first * dims.strides[k][0] : dims.offset(k, first);
  }

  /// The elements of operand k from `first` on.
  SIMT_DEVICE Values load(int k, int64_t first) const {
    const char* const address = begin_[k] + offset(k, first);
    Values values;
    if (Walk::kWidth == 1 || operands_.row.strides[k][0] == 0) {
      const Acc value = static_cast<Acc>(*reinterpret_cast<const T*>(address));
      SIMT_UNROLL
      for (int j = 0; j < Walk::kWidth; ++j) values[j] = value;
      return values;
    }

    const auto pack = *reinterpret_cast<const RowPack<T, Walk::kWidth>*>(address);
    SIMT_UNROLL
    for (int j = 0; j < Walk::kWidth; ++j) values[j] = static_cast<Acc>(pack[j]);
    return values;
  }

  const RowFormulaOperands<kTensors>& operands_;
  const Walk& walk_;
  char* begin_[kTensors + 1];
  Values held_[kTensors][Walk::kSlots];
};

/// One reduction of a row. The error grows with the number of threads and of blocks of kSerial
/// elements rather than with the length of the row.
template <class Op, class T, class Walk>
class RowTotal {
 public:
  SIMT_DEVICE void add(T value) {
    block_ = Op::combine(block_, value);
    if constexpr (!Walk::kIsHeld) {
      if (++count_ < kSerial) return;
      blocks_ = Op::combine(blocks_, block_);
      block_ = row_start<Op, T>();
      count_ = 0;
    }
  }

  /// The total of all threads that share the row.
  template <class Threads>
  SIMT_DEVICE T join(Threads& threads) const {
    const auto combine = [](T a, T b) { return Op::combine(a, b); };
    return threads.combine(combine(blocks_, block_), row_start<Op, T>(), combine);
  }

 private:
  T block_ = row_start<Op, T>();
  T blocks_ = row_start<Op, T>();
  int count_ = 0;
};

/// Runs a formula on all rows of `plan`, of elements T; its results are of type Result.
template <class T, class Result, int kTensors, class Formula>
void for_each_formula_row(const char* name, const RowPlan& plan, bool is_reduction,
                          const Formula& formula) {
  if (plan.kept.count == 0) return;

  constexpr int64_t kWidth = 16 / sizeof(T);
  const auto itemsize = static_cast<int64_t>(sizeof(T));
  if (detail::has_columns(plan, itemsize)) {
    const int64_t inner = plan.kept.sizes[0];
    return for_each_column(name, {plan.kept.count / inner, plan.row.count, inner}, formula);
  }

  bool has_packs = plan.row.sizes.size() == 1;
  for (size_t k = 1; k <= kTensors; ++k)
    has_packs = has_packs && detail::has_packs(plan, k, itemsize, kWidth);
  if (!is_reduction)
    has_packs = has_packs && detail::has_packs(plan, 0, int64_t{sizeof(Result)}, kWidth);
  for_each_row<T>(name, plan.kept.count, plan.row.count, has_packs, formula);
}

}  // namespace at::native::cuda
