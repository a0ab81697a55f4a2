// Copies, to and from the device and on it, and constants.
#include "aten/ops/copy.h"
#include "Loops.h"
#include "aten/Dispatch.h"
#include "aten/ops/to.h"

namespace at::native::walled {

namespace {

Tensor on_host(const Tensor& tensor, ScalarType dtype) {
  return at::to(tensor, dtype, std::nullopt, kCPU, std::nullopt, false, false, std::nullopt);
}

}  // namespace

void copy_kernel(const Tensor& self, const Tensor& src, bool /*non_blocking: there is no queue*/) {
  if (self.numel() == 0 || self.is_same(src)) return;

  // The device moves bytes; the host converts.
  if (self.scalar_type() != src.scalar_type()) {
    const Tensor same = on_host(src, src.scalar_type());
    at::copy_(self, on_host(same, self.scalar_type()));
    return;
  }

  const size_t bytes = self.itemsize();
  each_element<2>(TensorIterator::over("copy_", {&self, &src}),
                  [=](char* const* data) { std::memmove(data[0], data[1], bytes); });
}

void fill_kernel(const Tensor& self, const Scalar& value) {
  const TensorIterator iter = TensorIterator::over("fill_", {&self});
  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), "fill_", [&] {
    const scalar_t element = value.to<scalar_t>();
    each_element<1>(iter,
                    [=](char* const* data) { std::memcpy(data[0], &element, sizeof(element)); });
  });
}

}  // namespace at::native::walled
