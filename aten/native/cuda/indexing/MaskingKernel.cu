// The kernels of where and masked_fill. They only move elements, so each element size has one.
#include "aten/iteration/MemoryOverlap.h"
#include "aten/iteration/TensorIterator.h"
#include "aten/native/cuda/Elementwise.cuh"
#include "aten/native/shared/NumberBits.h"
#include "c10/util/complex.h"

namespace at::native::cuda {

namespace {

template <class T>
struct Select {
  C10_HOST_DEVICE T operator()(uint8_t condition, T self, T other) const {
    return condition != 0 ? self : other;
  }
};

template <class T>
struct FillMasked {
  T fill;

  C10_HOST_DEVICE T operator()(T element, uint8_t masked) const {
    return masked != 0 ? fill : element;
  }
};

}  // namespace

void masked_fill_kernel(const Tensor& self, const Tensor& mask, const Scalar& value,
                        const Tensor& out0) {
  if (out0.numel() == 0) return;

  const LaunchPlan plan = launch_plan(TensorIterator::over("masked_fill", {&out0, &self, &mask}));
  with_bits_of(value, self.scalar_type(),
               [&](auto fill) { elementwise(plan, FillMasked<decltype(fill)>{fill}); });
}

void masked_fill_in_place_kernel(const Tensor& self, const Tensor& mask, const Scalar& value) {
  masked_fill_kernel(self, readable_beside(self, mask), value, self);
}

void where_kernel(const Tensor& condition, const Tensor& self, const Tensor& other,
                  const Tensor& out0) {
  if (out0.numel() == 0) return;

  const ScalarType type = out0.scalar_type();
  const Tensor first = self.to(type);
  const Tensor second = other.to(type);
  const LaunchPlan plan =
      launch_plan(TensorIterator::over("where", {&out0, &condition, &first, &second}));

  switch (element_size(type)) {
    case 1: return elementwise(plan, Select<uint8_t>());
    case 2: return elementwise(plan, Select<uint16_t>());
    case 4: return elementwise(plan, Select<uint32_t>());
    case 8: return elementwise(plan, Select<uint64_t>());
    default: return elementwise(plan, Select<c10::complex<double>>());
  }
}

}  // namespace at::native::cuda
