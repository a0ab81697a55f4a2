// Tensors of uniform random numbers: rand and rand_like.
#include "aten/native/declarations/random/Uniform.h"
#include "aten/native/shared/FactoryArguments.h"
#include "aten/ops/empty_like.h"
#include "aten/ops/uniform.h"
#include "c10/core/Generator.h"

namespace at::native {

Tensor rand(IntArrayRef size, Generator* generator, std::optional<ScalarType> dtype,
            std::optional<Layout> layout, std::optional<Device> device,
            std::optional<bool> pin_memory) {
  return at::uniform_(uninitialised("rand", size, dtype.value_or(default_dtype()), layout, device,
                                    pin_memory),
                      0, 1, generator)
      .as_new();
}

Tensor rand_like_generator(const Tensor& self, Generator* generator,
                           std::optional<ScalarType> dtype, std::optional<Layout> layout,
                           std::optional<Device> device, std::optional<bool> pin_memory,
                           std::optional<MemoryFormat> memory_format) {
  return at::uniform_(at::empty_like(self, dtype, layout, device, pin_memory, memory_format), 0, 1,
                      generator)
      .as_new();
}

Tensor rand_like(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                 std::optional<Device> device, std::optional<bool> pin_memory,
                 std::optional<MemoryFormat> memory_format) {
  return at::uniform_(at::empty_like(self, dtype, layout, device, pin_memory, memory_format))
      .as_new();
}

}  // namespace at::native
