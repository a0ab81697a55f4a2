// Tensors of random integers, and random permutations: randint, randint_like and randperm.
#include <limits>

#include "aten/native/declarations/random/RandomIntegers.h"
#include "aten/native/shared/FactoryArguments.h"
#include "aten/ops/_shuffled.h"
#include "aten/ops/copy.h"
#include "aten/ops/empty_like.h"
#include "aten/ops/random.h"
#include "c10/core/Generator.h"

namespace at::native {

namespace {

/// The largest n for which the dtype represents all numbers from 0 to n - 1.
int64_t permutation_limit(ScalarType type) {
  switch (type) {
    case kByte: return 256;
    case kChar: return 128;
    case kShort: return 32768;
    case kInt: return int64_t{1} << 31;
    case kHalf: return (1 << 11) + 1;
    case kBFloat16: return (1 << 8) + 1;
    case kFloat: return (1 << 24) + 1;
    case kDouble: return (int64_t{1} << 53) + 1;
    default: return std::numeric_limits<int64_t>::max();
  }
}

}  // namespace

// The last parameters of every randint_like.
#define LIKE_OPTIONS                                                                           \
  std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device, \
      std::optional<bool> pin_memory, std::optional<MemoryFormat> memory_format

Tensor randint_like_low_generator(const Tensor& self, int64_t low, int64_t high,
                                  Generator* generator, LIKE_OPTIONS) {
  return at::random_(at::empty_like(self, dtype, layout, device, pin_memory, memory_format), low,
                     high, generator)
      .as_new();
}

Tensor randint_like_generator(const Tensor& self, int64_t high, Generator* generator,
                              LIKE_OPTIONS) {
  return randint_like_low_generator(self, 0, high, generator, dtype, layout, device, pin_memory,
                                    memory_format);
}

Tensor randint_like_tensor_generator(const Tensor& self, const Tensor& high, Generator* generator,
                                     LIKE_OPTIONS) {
  const bool is_meta = self.is_meta() && high.is_meta();  // no values to draw
  TORCH_CHECK(high.dim() == 0 && (high.is_cpu() || is_meta),
              "high must be a scalar tensor and on CPU");

  if (is_meta) return at::empty_like(self, dtype, layout, device, pin_memory, memory_format);
  const int64_t limit = high.item().to<int64_t>();
  return randint_like_low_generator(self, 0, limit, generator, dtype, layout, device, pin_memory,
                                    memory_format);
}

Tensor randint_like_low(const Tensor& self, int64_t low, int64_t high, LIKE_OPTIONS) {
  return randint_like_low_generator(self, low, high, nullptr, dtype, layout, device, pin_memory,
                                    memory_format);
}

Tensor randint_like(const Tensor& self, int64_t high, LIKE_OPTIONS) {
  return randint_like_low_generator(self, 0, high, nullptr, dtype, layout, device, pin_memory,
                                    memory_format);
}

Tensor randint_like_tensor(const Tensor& self, const Tensor& high, LIKE_OPTIONS) {
  return randint_like_tensor_generator(self, high, nullptr, dtype, layout, device, pin_memory,
                                       memory_format);
}

#undef LIKE_OPTIONS

Tensor randint(int64_t high, IntArrayRef size, Generator* generator,
               std::optional<ScalarType> dtype, std::optional<Layout> layout,
               std::optional<Device> device, std::optional<bool> pin_memory) {
  return randint_low(0, high, size, generator, dtype, layout, device, pin_memory);
}

Tensor randint_low(int64_t low, int64_t high, IntArrayRef size, Generator* generator,
                   std::optional<ScalarType> dtype, std::optional<Layout> layout,
                   std::optional<Device> device, std::optional<bool> pin_memory) {
  return at::random_(
             uninitialised("randint", size, dtype.value_or(kLong), layout, device, pin_memory), low,
             high, generator)
      .as_new();
}

Tensor randperm(int64_t n, Generator* generator, std::optional<ScalarType> dtype,
                std::optional<Layout> layout, std::optional<Device> device,
                std::optional<bool> pin_memory) {
  const ScalarType type = dtype.value_or(kLong);
  TORCH_CHECK(n >= 0, "n must be non-negative, got ", n);
  TORCH_CHECK_NOT_IMPLEMENTED(type != kBool && !c10::is_complex(type),
                              "\"randperm\" not implemented for '", type, "'");
  TORCH_CHECK(n <= permutation_limit(type), "n cannot be greater than ", permutation_limit(type),
              " for ", type, " type.");

  const Tensor result = uninitialised("randperm", {n}, type, layout, device, pin_memory);
  if (result.is_meta()) return result;

  // Permuted in place, or as int64 and converted.
  if (type == kLong) return at::_shuffled_(result, generator).as_new();
  const Tensor numbers = empty_tensor({n}, kLong, result.device());
  return at::copy_(result, at::_shuffled_(numbers, generator)).as_new();
}

}  // namespace at::native
