// Fills a new tensor with equally spaced numbers.
#include "aten/native/declarations/cpu/creation/RangesKernel.h"
#include "aten/Dispatch.h"
#include "aten/parallel/Parallel.h"
#include "aten/vec/wrapping.h"

namespace at::native {

namespace {

void check_is_fresh(const char* op_name, const Tensor& self) {
  TORCH_CHECK(self.is_contiguous(), op_name, ": expected contiguous memory, got a tensor of size ",
              self.sizes(), " and strides ", self.strides());
}

/// A bound of a range of T, in the type in which the numbers between are computed.
template <class T, class Wide>
Wide bound_in(const Scalar& bound) {
  if constexpr (is_integral(scalar_type_of<T>, false)) {
    return static_cast<Wide>(bound.to<T>());
  } else {
    return bound.to<Wide>();
  }
}

}  // namespace

void arange_fill_kernel(const Tensor& self, const Scalar& start, const Scalar& step) {
  check_is_fresh("_arange_fill_", self);
  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), "arange", [&] {
    // Each element is computed from its index in the accumulation type: errors do not add up, and
    // the number of threads does not matter.
    using acc_t = std::conditional_t<
        is_integral(scalar_type_of<scalar_t>, true), int64_t,
        std::conditional_t<c10::is_complex(scalar_type_of<scalar_t>), scalar_t, double>>;
    const acc_t first = start.to<acc_t>();
    const acc_t width = step.to<acc_t>();

    scalar_t* out = self.data_ptr<scalar_t>();
    parallel_for(0, self.numel(), TensorIterator::kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        out[i] = convert<scalar_t>(static_cast<acc_t>(
            vec::wrapping_sum(first, vec::wrapping_product(width, convert<acc_t>(i)))));
    });
  });
}

void linspace_fill_kernel(const Tensor& self, const Scalar& start, const Scalar& end) {
  check_is_fresh("_linspace_fill_", self);
  const int64_t n = self.numel();
  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), "linspace", [&] {
    using acc_t =
        std::conditional_t<c10::is_complex(scalar_type_of<scalar_t>), c10::complex<double>, double>;
    // The numbers between the bounds as the dtype holds them: integers without their fractions.
    const acc_t first = bound_in<scalar_t, acc_t>(start);
    const acc_t last = bound_in<scalar_t, acc_t>(end);
    const acc_t step = n > 1 ? (last - first) / convert<acc_t>(n - 1) : acc_t(0);

    // From both ends, so that the last element is exactly `end`.
    scalar_t* out = self.data_ptr<scalar_t>();
    for (int64_t i = 0; i < n; ++i) {
      const acc_t value = i < n / 2 || n == 1 ? first + step * convert<acc_t>(i)
                                              : last - step * convert<acc_t>(n - 1 - i);
      out[i] = convert<scalar_t>(value);
    }
  });
}

}  // namespace at::native
