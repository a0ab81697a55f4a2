#include "aten/native/cuda/reduction/RunningExtrema.h"

#include "aten/native/cuda/RunningNumbers.cuh"

namespace at::native::cuda {

namespace {

/// An element and its index, which is -1 for none.
template <class T>
struct Found {
  T value;
  int64_t index;
};

template <class T>
struct FoundPlace : InOut<T> {
  SIMT_DEVICE FoundPlace(const LaneTable& lanes, int64_t lane)
      : InOut<T>(lanes, lane), indices(lanes.find(2, lane)), index_step(lanes.steps[2]) {}
  char* indices;
  int64_t index_step;
};

template <class T>
struct RunningExtremum {
  using State = Found<T>;
  using Place = FoundPlace<T>;
  using Number = opmath_type<T>;
  bool is_max;  // known at run time only, which halves the number of kernels

  SIMT_DEVICE State start() const { return {T{}, -1}; }
  SIMT_DEVICE State load(const Place& place, int64_t i) const { return {place.load(i), i}; }

  /// The later one wins if it is at least as extreme or NaN. A number never replaces a NaN.
  SIMT_DEVICE State combine(const State& a, const State& b) const {
    if (a.index < 0) return b;
    if (b.index < 0) return a;
    const auto before = static_cast<Number>(a.value);
    const auto after = static_cast<Number>(b.value);
    if (after != after) return b;
    if (before != before) return a;
    return (is_max ? after >= before : after <= before) ? b : a;
  }

  SIMT_DEVICE void store(const Place& place, int64_t i, const State& found) const {
    place.store(i, found.value);
    *reinterpret_cast<int64_t*>(place.indices + i * place.index_step) = found.index;
  }
};

}  // namespace

void running_extrema(const char* name, bool is_max, const Tensor& self, int64_t dim,
                     const Tensor& values, const Tensor& indices) {
  if (self.numel() == 0) return;
  const LaneTable lanes = lane_table(wrap_dim(dim, self.dim()), {&self, &values, &indices});
  AT_DISPATCH_REAL_AND_BOOL(self.scalar_type(), name, [&] {
    scan(name, lanes, static_cast<int64_t>(sizeof(scalar_t)), RunningExtremum<scalar_t>{is_max});
  });
}

}  // namespace at::native::cuda
