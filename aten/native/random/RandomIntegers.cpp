// Tensors of random numbers.
#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>
#include <vector>

#include "aten/native/declarations/random/RandomIntegers.h"
#include "aten/ops/all.h"
#include "aten/ops/argmax.h"
#include "aten/ops/copy.h"
#include "aten/ops/div.h"
#include "aten/ops/empty_like.h"
#include "aten/ops/exponential.h"
#include "aten/ops/ge.h"
#include "aten/ops/isfinite.h"
#include "aten/ops/item.h"
#include "aten/ops/le.h"
#include "aten/ops/logical_and.h"
#include "aten/ops/lt.h"
#include "aten/ops/normal.h"
#include "aten/ops/random.h"
#include "aten/ops/sum.h"
#include "aten/ops/to.h"
#include "aten/ops/topk.h"
#include "aten/ops/uniform.h"
#include "c10/core/Generator.h"

namespace at::native {

namespace {

Tensor uninitialised(const char* op, IntArrayRef size, ScalarType dtype,
                     std::optional<Layout> layout, std::optional<Device> device,
                     std::optional<bool> pin_memory) {
  TORCH_CHECK_NOT_IMPLEMENTED(layout.value_or(Layout::Strided) == Layout::Strided, op, ": layout ",
                              layout_name(*layout), " is not available");
  TORCH_CHECK(!pin_memory.value_or(false), op,
              "(): pinned memory needs an accelerator, and none is available");
  const Device where = device.value_or(kCPU);
  return empty_tensor(size, dtype, where.is_cpu() ? kCPU : where);
}

}  // namespace

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

namespace {

/// The numbers from 0 to n - 1, each place swapped with a random later one.
void shuffle_into(int64_t* out, int64_t n, Generator* chosen) {
  Generator& generator = chosen != nullptr ? *chosen : default_cpu_generator();
  const std::lock_guard<std::mutex> lock(generator.mutex);
  std::iota(out, out + n, int64_t{0});
  const bool wide = n > int64_t{0xffffffff};
  for (int64_t i = 0; i < n - 1; ++i) {
    const uint64_t word = wide ? generator.random64() : generator.random();
    std::swap(out[i], out[i + static_cast<int64_t>(word % static_cast<uint64_t>(n - i))]);
  }
}

/// The largest n whose numbers 0 to n - 1 the dtype all holds.
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
  const bool direct = type == kLong && result.is_cpu();
  const Tensor numbers = direct ? result : empty_tensor({n}, kLong, kCPU);
  shuffle_into(numbers.data_ptr<int64_t>(), n, generator);
  return direct ? result : at::copy_(result, numbers).as_new();
}

Tensor bernoulli(const Tensor& self, Generator* generator) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "\"bernoulli\" not implemented for '",
                              self.scalar_type(), "'");
  if (self.is_meta()) return at::empty_like(self);
  const Tensor valid = at::logical_and(at::ge(self, Scalar(0)), at::le(self, Scalar(1)));
  TORCH_CHECK(at::all(valid).item().to_bool(),
              "bernoulli(): expected all probabilities to be in [0, 1]");
  const ScalarType type = to_accumulate(self.scalar_type());
  const Tensor draws = at::empty_like(self, type);
  at::uniform_(draws, 0, 1, generator);
  return at::lt(draws, self.to(type)).to(self.scalar_type());
}

namespace {

void check_multinomial(const Tensor& self, int64_t num_samples, bool replacement) {
  TORCH_CHECK(self.dim() == 1 || self.dim() == 2, "prob_dist must be 1 or 2 dim");
  TORCH_CHECK(
      self.is_floating_point(),
      "multinomial only supports floating-point dtypes for input, got: ", self.scalar_type());
  TORCH_CHECK(num_samples > 0, "cannot sample n_sample <= 0 samples");
  TORCH_CHECK(replacement || num_samples <= self.size(-1),
              "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  TORCH_CHECK(self.size(-1) <= (int64_t{1} << 24), "number of categories cannot exceed 2^24");
  if (self.is_meta() || self.numel() == 0) return;
  const Tensor valid = at::logical_and(at::isfinite(self), at::ge(self, Scalar(0)));
  TORCH_CHECK(at::all(valid).item().to_bool(),
              "probability tensor contains either `inf`, `nan` or element < 0");
  const Tensor empty = at::le(at::sum(self, IntArrayRef{-1}), Scalar(0));
  TORCH_CHECK(!at::sum(empty).item().to_bool(),
              "invalid multinomial distribution (sum of probabilities <= 0)");
}

/// Each exponential clock of rate p rings first with probability p: the order of the times is a
/// sample without replacement.
Tensor sample_by_clocks(const Tensor& self, int64_t num_samples, Generator* generator) {
  const Tensor clocks = at::empty_like(self);
  at::exponential_(clocks, 1, generator);
  const Tensor speed = at::div(self, clocks);
  if (num_samples == 1) return at::argmax(speed, -1, true);
  return std::get<1>(at::topk(speed, num_samples));
}

/// The first of the running sums that reaches a uniform number.
template <typename T>
void sample_by_sums(const Tensor& weights, int64_t num_samples, const Tensor& out,
                    Generator* chosen) {
  Generator& generator = chosen != nullptr ? *chosen : default_cpu_generator();
  const std::lock_guard<std::mutex> lock(generator.mutex);
  const int64_t categories = weights.size(-1), rows = weights.numel() / categories;
  std::vector<T> sums(static_cast<size_t>(categories));
  for (int64_t row = 0; row < rows; ++row) {
    const T* weight = weights.const_data_ptr<T>() + row * categories;
    T sum = 0;
    for (int64_t j = 0; j < categories; ++j) sums[static_cast<size_t>(j)] = sum += weight[j];
    for (T& value : sums) value /= sum;
    int64_t last =
        categories - 1;  // not one of weight 0, even when rounding leaves the sums below 1
    while (last > 0 && !(weight[last] > 0)) --last;
    for (int64_t s = 0; s < num_samples; ++s) {
      const double draw =
          static_cast<double>(generator.random64() & ((uint64_t{1} << 53) - 1)) * 0x1p-53;
      const auto found =
          std::lower_bound(sums.begin(), sums.end(), draw, [](T value, double wanted) {
            return static_cast<double>(value) < wanted;
          });
      int64_t index = std::min<int64_t>(found - sums.begin(), last);
      while (!(weight[index] > 0)) ++index;  // a draw of exactly 0 finds leading weights of 0
      out.data_ptr<int64_t>()[row * num_samples + s] = index;
    }
  }
}

}  // namespace

Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement,
                   Generator* generator) {
  check_multinomial(self, num_samples, replacement);
  DimVector sizes(self.sizes());
  sizes.back() = num_samples;
  if (self.is_meta() || self.numel() == 0) {
    TORCH_CHECK(self.numel() > 0 || self.size(-1) > 0,
                "multinomial(): expected at least one category");
    return empty_tensor(sizes, kLong, self.device());
  }
  if (!replacement || num_samples == 1) return sample_by_clocks(self, num_samples, generator);
  const Tensor result = empty_tensor(sizes, kLong, kCPU);
  const Tensor weights = at::to(self, kCPU, to_accumulate(self.scalar_type())).contiguous();
  if (weights.scalar_type() == kDouble) {
    sample_by_sums<double>(weights, num_samples, result, generator);
  } else {
    sample_by_sums<float>(weights, num_samples, result, generator);
  }
  return self.is_cpu() ? result : at::to(result, self.device());
}

}  // namespace at::native
