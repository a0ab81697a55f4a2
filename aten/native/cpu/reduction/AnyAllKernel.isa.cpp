// Reductions that tell whether any or all elements are true.
#include <algorithm>
#include <atomic>

#include "aten/iteration/ReductionLoops.h"
#include "aten/native/declarations/cpu/reduction/AnyAllKernel.isa.h"
#include "aten/native/functors/AnyAll.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// Whether one of n elements, `stride` bytes apart, decides the result. Blocks are searched without
/// branches.
template <typename T>
bool is_decided_in_row(const char* row, int64_t stride, int64_t n, bool negated) {
  constexpr int64_t kBlock = 1024;
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t count = std::min(kBlock, n - start);
    const char* block = row + start * stride;

    int found = 0;
    if (stride == static_cast<int64_t>(sizeof(T))) {
      const auto* values = reinterpret_cast<const T*>(block);
      for (int64_t i = 0; i < count; ++i) found |= is_nonzero(values[i]) != negated;
    } else {
      for (int64_t i = 0; i < count; ++i)
        found |= is_nonzero(*reinterpret_cast<const T*>(block + i * stride)) != negated;
    }

    if (found != 0) return true;
  }
  return false;
}

/// The same for the reduced elements `begin` to `end` of one result.
template <typename T>
bool is_decided(const ReductionDims& dims, const char* in, int64_t begin, int64_t end,
                bool negated) {
  if (dims.reduced_size.empty()) return is_decided_in_row<T>(in, sizeof(T), end - begin, negated);

  const int64_t row_size = dims.reduced_size[0];
  while (begin < end) {
    const int64_t run = std::min(row_size - begin % row_size, end - begin);
    const char* row = in + offset_of(begin, dims.reduced_size, dims.reduced_stride);
    if (is_decided_in_row<T>(row, dims.reduced_stride[0], run, negated)) return true;
    begin += run;
  }
  return false;
}

/// The same for all reduced elements of one result, searched in pieces by several threads. Pieces
/// that begin after the result is decided are not read.
template <typename T>
bool is_decided_in_pieces(const ReductionDims& dims, const char* in, bool negated) {
  if (dims.reduced <= kPiece) return is_decided<T>(dims, in, 0, dims.reduced, negated);

  std::atomic<bool> decided{false};
  const int64_t pieces = (dims.reduced + kPiece - 1) / kPiece;
  parallel_for(0, pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end && !decided.load(std::memory_order_relaxed); ++p) {
      if (is_decided<T>(dims, in, p * kPiece, std::min(dims.reduced, (p + 1) * kPiece), negated))
        decided = true;
    }
  });

  return decided;
}

/// Like cpu_reduce, but stops at an element that decides the result. Two cases are left to
/// cpu_reduce: results next to each other in memory, which are read row by row, and rows so short
/// that reading all of them takes less time than looking for the end.
template <typename T>
void any_or_all_of(const TensorIteratorBase& iter, const AnyNonzero<T>& ops) {
  constexpr int64_t kShort = 128;
  const ReductionDims dims(iter);
  if (iter.numel() == 0 || dims.fastest_is_kept || dims.reduced <= kShort)
    return cpu_reduce(iter, ops);

  const bool is_all = ops.negated;
  char* out = iter.data(0);
  const char* in = iter.data(1);
  if (dims.kept == 1) {
    *reinterpret_cast<bool*>(out) = is_decided_in_pieces<T>(dims, in, is_all) != is_all;
    return;
  }

  const int64_t grain = std::max<int64_t>(1, TensorIterator::kGrain / dims.reduced);
  parallel_for(0, dims.kept, grain, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const char* source = in + offset_of(k, dims.kept_size, dims.kept_stride_in);
      auto* target =
          reinterpret_cast<bool*>(out + offset_of(k, dims.kept_size, dims.kept_stride_out));
      *target = is_decided<T>(dims, source, 0, dims.reduced, is_all) != is_all;
    }
  });
}

void any_or_all(const TensorIteratorBase& iter, bool is_all) {
  with_any_or_all_ops(iter.common_dtype(), iter.op_name(), is_all,
                      [&](const auto& ops) { any_or_all_of(iter, ops); });
}

}  // namespace

void any_kernel(TensorIteratorBase& iter) { any_or_all(iter, false); }

void all_kernel(TensorIteratorBase& iter) { any_or_all(iter, true); }

}  // namespace CPU_CAPABILITY
}  // namespace at::native
