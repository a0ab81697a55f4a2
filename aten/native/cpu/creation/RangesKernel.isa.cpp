// Fills a new tensor with equally spaced numbers.
#include "aten/native/declarations/cpu/creation/RangesKernel.isa.h"
#include "aten/Dispatch.h"
#include "aten/native/functors/Ranges.h"
#include "aten/parallel/Parallel.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

void check_is_fresh(const char* op_name, const Tensor& self) {
  TORCH_CHECK(self.is_contiguous(), op_name, ": expected contiguous memory, got a tensor of size ",
              self.sizes(), " and strides ", self.strides());
}

template <class T, class F>
void fill_by_index(const Tensor& self, const F& functor) {
  T* out = self.data_ptr<T>();
  parallel_for(0, self.numel(), TensorIterator::kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = functor(i);
  });
}

}  // namespace

void arange_fill_kernel(const Tensor& self, const Scalar& start, const Scalar& step) {
  check_is_fresh("_arange_fill_", self);
  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), "arange", [&] {
    using Steps = EqualSteps<scalar_t>;
    using acc_t = typename Steps::acc_t;
    fill_by_index<scalar_t>(self, Steps{start.to<acc_t>(), step.to<acc_t>()});
  });
}

void linspace_fill_kernel(const Tensor& self, const Scalar& start, const Scalar& end) {
  check_is_fresh("_linspace_fill_", self);
  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), "linspace", [&] {
    fill_by_index<scalar_t>(self, BetweenBounds<scalar_t>(start, end, self.numel()));
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
