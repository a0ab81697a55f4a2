// Indices, each repeated its own number of times.
#include <algorithm>

#include "aten/native/declarations/cpu/shape/RepetitionKernel.h"

namespace at::native {

Tensor repeat_interleave_indices(const Tensor& repeats, std::optional<int64_t> output_size) {
  TORCH_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  TORCH_CHECK_NOT_IMPLEMENTED(repeats.scalar_type() == kLong || repeats.scalar_type() == kInt,
                              "\"repeat_interleave_cpu\" not implemented for '",
                              scalar_type_name(repeats.scalar_type()), "'");

  const Tensor counts = repeats.to(kLong).contiguous();
  const int64_t* count = counts.data_ptr<int64_t>();

  int64_t total = 0;
  for (int64_t i = 0; i < counts.numel(); ++i) {
    TORCH_CHECK(count[i] >= 0, "repeats can not be negative");
    TORCH_CHECK(!__builtin_add_overflow(total, count[i], &total),
                "repeat_interleave: the sum of the repeats exceeds the largest tensor size");
  }
  TORCH_CHECK(output_size.value_or(total) == total, "allocated size does not match required size");

  const Tensor result = empty_tensor({total}, kLong, kCPU);
  int64_t* out = result.data_ptr<int64_t>();
  for (int64_t i = 0; i < counts.numel(); ++i) out = std::fill_n(out, count[i], i);
  return result.to(repeats.scalar_type());
}

}  // namespace at::native
