// Tensors of normal random numbers: normal, randn and randn_like.
#include "aten/native/declarations/random/Normal.h"
#include "aten/native/shared/FactoryArguments.h"
#include "aten/native/shared/HostValues.h"
#include "aten/ops/add.h"
#include "aten/ops/all.h"
#include "aten/ops/empty_like.h"
#include "aten/ops/ge.h"
#include "aten/ops/mul.h"
#include "aten/ops/normal.h"
#include "c10/core/Generator.h"

namespace at::native {

namespace {

void check_deviations(const Tensor& std) {
  TORCH_CHECK(!std.is_complex(), "normal expects standard deviation to be non-complex");
  TORCH_CHECK(!has_elements(std) || std.numel() == 0 ||
                  at::all(at::ge(std, Scalar(0))).item().to_bool(),
              "normal expects all elements of std >= 0.0");
}

}  // namespace

Tensor normal_tensor_float(const Tensor& mean, double std, Generator* generator) {
  TORCH_CHECK(std >= 0, "normal expects std >= 0.0, but found std ", std);
  const Tensor result = at::normal_(at::empty_like(mean), 0, std, generator);
  return at::add_(result, mean).as_new();
}

Tensor normal_float_tensor(double mean, const Tensor& std, Generator* generator) {
  check_deviations(std);
  const Tensor result = at::normal_(at::empty_like(std), 0, 1, generator);
  return at::add_(at::mul_(result, std), wrapped_scalar(Scalar(mean))).as_new();
}

Tensor normal_tensor_tensor(const Tensor& mean, const Tensor& std, Generator* generator) {
  check_deviations(std);

  const DimVector sizes = broadcast_sizes(mean.sizes(), std.sizes());
  const Tensor result =
      at::normal_(empty_tensor(sizes, mean.scalar_type(), mean.device()), 0, 1, generator);
  return at::add_(at::mul_(result, std), mean).as_new();
}

Tensor randn(IntArrayRef size, Generator* generator, std::optional<ScalarType> dtype,
             std::optional<Layout> layout, std::optional<Device> device,
             std::optional<bool> pin_memory) {
  return normal_float(0, 1, size, generator, dtype, layout, device, pin_memory);
}

Tensor randn_like_generator(const Tensor& self, Generator* generator,
                            std::optional<ScalarType> dtype, std::optional<Layout> layout,
                            std::optional<Device> device, std::optional<bool> pin_memory,
                            std::optional<MemoryFormat> memory_format) {
  return at::normal_(at::empty_like(self, dtype, layout, device, pin_memory, memory_format), 0, 1,
                     generator)
      .as_new();
}

Tensor randn_like(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                  std::optional<Device> device, std::optional<bool> pin_memory,
                  std::optional<MemoryFormat> memory_format) {
  return at::normal_(at::empty_like(self, dtype, layout, device, pin_memory, memory_format))
      .as_new();
}

Tensor normal_float(double mean, double std, IntArrayRef size, Generator* generator,
                    std::optional<ScalarType> dtype, std::optional<Layout> layout,
                    std::optional<Device> device, std::optional<bool> pin_memory) {
  return at::normal_(uninitialised("normal", size, dtype.value_or(default_dtype()), layout, device,
                                   pin_memory),
                     mean, std, generator)
      .as_new();
}

}  // namespace at::native
