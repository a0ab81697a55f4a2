#pragma once
// The elements of rows in memory: walking over dimensions, and operands as contiguous numbers of
// the arithmetic type.
#include <algorithm>
#include <vector>

#include "aten/iteration/PackLoop.h"
#include "aten/iteration/RowPlan.h"
#include "aten/iteration/RowStages.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

/// Walks over dimensions and keeps the byte offset of each operand.
class RowWalker {
 public:
  RowWalker(const RowDims& dims, int64_t begin) : dims_(dims), offsets_(dims.strides.size(), 0) {
    for (size_t d = 0; d < dims.sizes.size(); ++d) {
      const int64_t index = begin % dims.sizes[d];
      begin /= dims.sizes[d];
      index_.push_back(index);
      for (size_t k = 0; k < offsets_.size(); ++k) offsets_[k] += index * dims.strides[k][d];
    }
  }

  int64_t offset(size_t operand) const { return offsets_[operand]; }
  /// Elements of the fastest dimension from here on.
  int64_t left() const { return dims_.sizes.empty() ? 1 : dims_.sizes[0] - index_[0]; }

  /// Goes on by at most left() elements.
  void advance(int64_t count) {
    for (size_t d = 0; d < index_.size(); ++d) {
      index_[d] += count;
      for (size_t k = 0; k < offsets_.size(); ++k) offsets_[k] += count * dims_.strides[k][d];
      if (index_[d] < dims_.sizes[d]) return;

      // Behind its last element, a dimension starts again and the next one goes on.
      for (size_t k = 0; k < offsets_.size(); ++k) offsets_[k] -= index_[d] * dims_.strides[k][d];
      index_[d] = 0;
      count = 1;
    }
  }

 private:
  const RowDims& dims_;
  DimVector index_;
  SmallVector<int64_t, 4> offsets_;
};

/// Calls f(offset, done, count) for the runs that elements [begin, begin + n) of an operand consist
/// of: `offset` is where a run of `count` elements starts, in bytes.
template <class F>
void for_each_run(const RowDims& dims, size_t operand, int64_t begin, int64_t n, const F& f) {
  if (dims.sizes.size() <= 1)
    return f(dims.sizes.empty() ? 0 : begin * dims.strides[operand][0], int64_t{0}, n);

  RowWalker walk(dims, begin);
  for (int64_t done = 0; done < n;) {
    const int64_t count = std::min(walk.left(), n - done);
    f(walk.offset(operand), done, count);
    walk.advance(count);
    done += count;
  }
}

/// n elements, `stride` bytes apart, as numbers of the arithmetic type.
template <class S, class T>
void read_elements(const char* source, int64_t stride, T* target, int64_t n) {
  if (stride == static_cast<int64_t>(sizeof(S))) {
    const auto* elements = reinterpret_cast<const S*>(source);
#ifdef AT_VEC_HAS_PACKS
    if constexpr (c10::ReducedFloat<S>) return convert_elements(elements, target, n);
#endif
    for (int64_t i = 0; i < n; ++i) target[i] = static_cast<T>(elements[i]);
    return;
  }

  if (stride == 0 && n > 0)
    return static_cast<void>(
        std::fill_n(target, n, static_cast<T>(*reinterpret_cast<const S*>(source))));
  for (int64_t i = 0; i < n; ++i)
    target[i] = static_cast<T>(*reinterpret_cast<const S*>(source + i * stride));
}

/// The reverse: n computed numbers as elements that are `stride` bytes apart.
template <class Result, class Computed>
void write_elements(const Computed* source, char* target, int64_t stride, int64_t n) {
  auto* elements = reinterpret_cast<Result*>(target);
  if (stride == static_cast<int64_t>(sizeof(Result))) {
#ifdef AT_VEC_HAS_PACKS
    if constexpr (c10::ReducedFloat<Result> && std::is_same_v<Computed, float>)
      return convert_elements(source, elements, n);
#endif
    for (int64_t i = 0; i < n; ++i) elements[i] = static_cast<Result>(source[i]);
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    *reinterpret_cast<Result*>(target + i * stride) = static_cast<Result>(source[i]);
}

/// Buffers of one thread.
template <class T, size_t kTensors>
struct RowScratch {
  std::vector<T> memory[kTensors];
  RowArray<const T*, kTensors> piece;
  int64_t begin = -1;  // of the piece that is loaded
};

/// The operands of one row, or of neighbouring rows.
template <class S, class T, size_t kTensors>
class RowSource {
 public:
  using Elements = RowArray<const T*, kTensors>;
  using Scratch = RowScratch<T, kTensors>;

  explicit RowSource(const RowPlan& plan) : plan_(plan) {}

  /// Moves to the row at these offsets of the operands.
  void move_to(const RowWalker& row, int64_t first) {
    for (size_t k = 0; k <= kTensors; ++k) {
      const int64_t step = plan_.kept.sizes.empty() ? 0 : plan_.kept.strides[k][0];
      base_[k] = plan_.data[k] + row.offset(k) + first * step;
    }
  }

  char* result() const { return base_[0]; }

  /// Elements [begin, begin + n) of the row; a piece that is loaded is not loaded again.
  const Elements& piece(int64_t begin, int64_t n, Scratch& scratch) const {
    if (scratch.begin == begin) return scratch.piece;
    for (size_t k = 0; k < kTensors; ++k) {
      if (is_direct(k)) {
        scratch.piece[k] = reinterpret_cast<const T*>(base_[k + 1]) + begin;
        continue;
      }

      scratch.memory[k].resize(static_cast<size_t>(std::max(n, kNeighbours)));
      T* target = scratch.memory[k].data();
      scratch.piece[k] = target;

      const int64_t stride = plan_.row.sizes.empty() ? 0 : plan_.row.strides[k + 1][0];
      for_each_run(plan_.row, k + 1, begin, n, [&](int64_t offset, int64_t done, int64_t count) {
        read_elements<S>(base_[k + 1] + offset, stride, target + done, count);
      });
    }
    scratch.begin = begin;
    return scratch.piece;
  }

  /// The element at which `walk` is, of `width` neighbouring rows.
  Elements elements(const RowWalker& walk, int64_t width, Scratch& scratch) const {
    Elements found;
    for (size_t k = 0; k < kTensors; ++k) {
      const char* source = base_[k + 1] + walk.offset(k + 1);
      const int64_t step = plan_.kept.strides[k + 1][0];
      if (std::is_same_v<S, T> && step == static_cast<int64_t>(sizeof(T))) {
        found[k] = reinterpret_cast<const T*>(source);
        continue;
      }
      if (scratch.memory[k].empty()) scratch.memory[k].resize(kNeighbours);
      read_elements<S>(source, step, scratch.memory[k].data(), width);
      found[k] = scratch.memory[k].data();
    }
    return found;
  }

 private:
  /// Whether elements can be used where they are.
  bool is_direct(size_t k) const {
    if (!std::is_same_v<S, T> || plan_.row.sizes.size() > 1) return false;
    return plan_.row.sizes.empty() ||
           plan_.row.strides[k + 1][0] == static_cast<int64_t>(sizeof(T));
  }

  const RowPlan& plan_;
  RowArray<char*, kTensors + 1> base_{};
};

}  // namespace CPU_CAPABILITY
}  // namespace at::native
