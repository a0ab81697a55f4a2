// The kernel of repeat_interleave: indices, each repeated its own number of times.
#include "aten/core/Tensor.h"
#include "aten/native/cuda/PerIndex.cuh"
#include "aten/ops/cat.h"
#include "aten/ops/cumsum.h"
#include "aten/ops/min.h"
#include "aten/ops/narrow.h"
#include "aten/ops/reshape.h"
#include "aten/ops/to.h"

namespace at::native::cuda {

namespace {

/// Writes the index whose repetitions place i belongs to: the first one that ends after i.
template <class T>
struct RepeatedIndex {
  const int64_t* ends;
  int64_t count;
  T* out;

  SIMT_DEVICE void operator()(int64_t i) const {
    int64_t low = 0;
    int64_t high = count - 1;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (ends[middle] > i) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    out[i] = static_cast<T>(low);
  }
};

/// The sum of the repeats, the last of `ends`. Waits for the device.
int64_t checked_total(const Tensor& counts, const Tensor& ends) {
  const int64_t last = counts.numel() - 1;
  const Tensor both =
      at::to(at::cat({at::reshape(at::min(counts), {1}), at::narrow(ends, 0, last, 1)}, 0), kCPU);
  const int64_t* numbers = both.const_data_ptr<int64_t>();
  TORCH_CHECK(numbers[0] >= 0, "repeats can not be negative");
  TORCH_CHECK(numbers[1] >= 0,
              "repeat_interleave: the sum of the repeats exceeds the largest tensor size");
  return numbers[1];
}

}  // namespace

Tensor repeat_interleave_indices(const Tensor& repeats, std::optional<int64_t> output_size) {
  const ScalarType type = repeats.scalar_type();
  TORCH_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  TORCH_CHECK_NOT_IMPLEMENTED(type == kLong || type == kInt,
                              "\"repeat_interleave_cuda\" not implemented for '",
                              scalar_type_name(type), "'");

  const Tensor counts = repeats.to(kLong).contiguous();
  const Tensor ends = at::cumsum(counts, 0);
  const int64_t total = counts.numel() == 0 ? 0 : checked_total(counts, ends);
  TORCH_CHECK(output_size.value_or(total) == total, "allocated size does not match required size");

  const Tensor result = empty_tensor({total}, type, repeats.device());
  const auto fill = [&](auto number) {
    using T = decltype(number);
    per_index(
        "repeat_interleave", total,
        RepeatedIndex<T>{ends.const_data_ptr<int64_t>(), counts.numel(), result.data_ptr<T>()});
  };
  type == kLong ? fill(int64_t()) : fill(int32_t());
  return result;
}

}  // namespace at::native::cuda
