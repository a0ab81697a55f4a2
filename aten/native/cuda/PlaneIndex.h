// Elements of dense tensors of (outer, up to three spatial dimensions, inner), by their index.
#pragma once
#include "aten/native/cuda/WideDivisor.h"
#include "aten/native/shared/ResultFormat.h"

namespace at::native::cuda {

/// Where an element is. Missing dimensions come first and have one element.
struct PlanePlace {
  int64_t outer;
  int64_t at[3];
  int64_t inner;
};

/// Splits indices of a tensor: see PlaneLayout for what is outer and inner.
class PlaneIndex {
 public:
  PlaneIndex() = default;
  /// `sizes` ends with the `spatial` sizes of the plane.
  PlaneIndex(IntArrayRef sizes, int64_t spatial, int64_t inner) : inner_(inner) {
    for (int64_t d = 0; d < spatial; ++d)
      sizes_[3 - spatial + d] =
          WideDivisor(sizes[sizes.size() - static_cast<size_t>(spatial) + static_cast<size_t>(d)]);
  }

  C10_HOST_DEVICE int64_t size(int d) const { return sizes_[d].value(); }
  C10_HOST_DEVICE int64_t inner() const { return inner_.value(); }
  C10_HOST_DEVICE int64_t plane() const { return size(0) * size(1) * size(2); }

  C10_HOST_DEVICE PlanePlace find(int64_t index) const {
    PlanePlace place;
    index = split(inner_, index, place.inner);
    for (int d = 2; d >= 0; --d) index = split(sizes_[d], index, place.at[d]);
    place.outer = index;
    return place;
  }

  /// The index of element (z, y, x) of the same block and channel as `place`, in this tensor.
  C10_HOST_DEVICE int64_t offset(const PlanePlace& place, int64_t z, int64_t y, int64_t x) const {
    return (((place.outer * size(0) + z) * size(1) + y) * size(2) + x) * inner() + place.inner;
  }

 private:
  C10_HOST_DEVICE static int64_t split(const WideDivisor& size, int64_t index, int64_t& rest) {
    const int64_t quotient = size.quotient(index);
    rest = index - quotient * size.value();
    return quotient;
  }

  WideDivisor sizes_[3] = {WideDivisor(1), WideDivisor(1), WideDivisor(1)};
  WideDivisor inner_ = WideDivisor(1);
};

}  // namespace at::native::cuda
