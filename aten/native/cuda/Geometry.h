// Geometry: strided loops over indices as plain data, for kernels that compute addresses
// themselves.
#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "aten/native/cuda/Division.h"
#include "c10/util/Exception.h"
#include "c10/util/SmallVector.h"

namespace at::native::cuda {

/// The sizes of a loop and the strides of K operands along them, first dimension fastest. Strides
/// are in the caller's unit, and may be 0 or negative.
template <int K>
struct Geometry {
  static constexpr int kMaxDims = 12;
  static constexpr int64_t kMostBy32Bits = int64_t{1} << 31;

  int64_t numel = 1;
  int dims = 0;
  bool is_small = true;  // numel < 2^31, so that indices are divided by multiplication
  Divisor divisors[kMaxDims] = {};
  int64_t sizes[kMaxDims] = {};
  int64_t strides[K][kMaxDims] = {};

  /// The offsets of element `index` in all operands.
  C10_HOST_DEVICE void find(int64_t index, int64_t (&offsets)[K]) const {
    for (int k = 0; k < K; ++k) offsets[k] = 0;

    for (int d = 0; d + 1 < dims; ++d) {
      const int64_t rest = quotient(index, d);
      const int64_t position = index - rest * sizes[d];
      for (int k = 0; k < K; ++k) offsets[k] += position * strides[k][d];
      index = rest;
    }
    if (dims == 0) return;
    for (int k = 0; k < K; ++k) offsets[k] += index * strides[k][dims - 1];
  }

  /// Chooses how indices are divided, once the sizes are known.
  void prepare() {
    is_small = numel < kMostBy32Bits;
    for (int d = 0; d < dims && is_small && numel > 0; ++d)
      divisors[d] = Divisor(static_cast<uint32_t>(sizes[d]));
  }

 private:
  C10_HOST_DEVICE int64_t quotient(int64_t index, int d) const {
    return is_small ? divisors[d].quotient(static_cast<uint32_t>(index)) : index / sizes[d];
  }
};

/// Collects dimensions, slowest first as tensors have them, and joins those that are one in memory.
template <int K>
class GeometryBuilder {
 public:
  void add(int64_t size, std::initializer_list<int64_t> strides) {
    if (size == 1) return;

    Dimension dimension{size, {}};
    std::copy(strides.begin(), strides.end(), dimension.strides);
    dimensions_.push_back(dimension);
  }

  /// Lets the dimension with the smallest stride of operand 0 run fastest, then joins.
  Geometry<K> sorted() {
    std::stable_sort(dimensions_.begin(), dimensions_.end(),
                     [](const Dimension& a, const Dimension& b) {
                       return magnitude(a.strides[0]) > magnitude(b.strides[0]);
                     });
    return build();
  }

  /// Keeps the order of the dimensions.
  Geometry<K> build() const {
    Geometry<K> result;
    for (size_t i = dimensions_.size(); i-- > 0;) append(result, dimensions_[i]);

    for (int d = 0; d < result.dims; ++d) result.numel *= result.sizes[d];
    result.prepare();
    return result;
  }

 private:
  struct Dimension {
    int64_t size;
    int64_t strides[K];
  };

  static int64_t magnitude(int64_t stride) { return stride < 0 ? -stride : stride; }

  static void append(Geometry<K>& result, const Dimension& dimension) {
    const int last = result.dims - 1;
    bool joins = last >= 0;
    for (int k = 0; joins && k < K; ++k)
      joins = dimension.strides[k] == result.strides[k][last] * result.sizes[last];
    if (joins) {
      result.sizes[last] *= dimension.size;
      return;
    }

    TORCH_CHECK(result.dims < Geometry<K>::kMaxDims, "tensors of more than ", Geometry<K>::kMaxDims,
                " dimensions that cannot be joined are not supported");
    const int d = result.dims++;
    result.sizes[d] = dimension.size;
    for (int k = 0; k < K; ++k) result.strides[k][d] = dimension.strides[k];
  }

  c10::SmallVector<Dimension, 8> dimensions_;
};

}  // namespace at::native::cuda
