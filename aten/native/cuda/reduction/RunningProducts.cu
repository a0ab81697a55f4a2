#include "aten/native/cuda/reduction/RunningProducts.h"

#include "aten/native/cuda/RunningNumbers.cuh"

namespace at::native::cuda {

namespace {

template <class T, class Accumulator>
struct RunningProduct : RunningNumbers<T, Accumulator> {
  using State = Accumulator;
  SIMT_DEVICE State start() const { return State(1); }
  SIMT_DEVICE State combine(State a, State b) const {
    if constexpr (std::is_integral_v<State>) {
      return multiply_modular<State>(a, b);
    } else {
      return a * b;
    }
  }
};

}  // namespace

void running_products(const Tensor& self, int64_t dim, const Tensor& out) {
  run_numbers<RunningProduct>("cumprod", self, dim, out);
}

}  // namespace at::native::cuda
