// The kernels of arange and linspace.
#include "aten/core/Tensor.h"
#include "aten/native/cuda/PerIndex.cuh"
#include "aten/native/functors/Ranges.h"

namespace at::native::cuda {

namespace {

template <class T, class F>
struct FillByIndex {
  T* out;
  F functor;

  SIMT_DEVICE void operator()(int64_t index) const { out[index] = functor(index); }
};

template <class T, class F>
void fill_by_index(const char* name, const Tensor& self, const F& functor) {
  TORCH_CHECK(self.is_contiguous(), name, ": expected contiguous memory, got a tensor of size ",
              self.sizes(), " and strides ", self.strides());
  per_index(name, self.numel(), FillByIndex<T, F>{self.data_ptr<T>(), functor});
}

}  // namespace

void arange_fill_kernel(const Tensor& self, const Scalar& start, const Scalar& step) {
  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), "arange", [&] {
    using Steps = EqualSteps<scalar_t>;
    using acc_t = typename Steps::acc_t;
    fill_by_index<scalar_t>("_arange_fill_", self, Steps{start.to<acc_t>(), step.to<acc_t>()});
  });
}

void linspace_fill_kernel(const Tensor& self, const Scalar& start, const Scalar& end) {
  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), "linspace", [&] {
    fill_by_index<scalar_t>("_linspace_fill_", self,
                            BetweenBounds<scalar_t>(start, end, self.numel()));
  });
}

}  // namespace at::native::cuda
