// The kernels of random_ and randperm. See Note [Random numbers on a device].
#include "aten/Dispatch.h"
#include "aten/native/cuda/Random.cuh"
#include "aten/native/cuda/Sort.h"
#include "aten/native/random/Ranges.h"

namespace at::native::cuda {

namespace {

template <class T>
struct Integer {
  static constexpr int kCount = 4;
  int64_t base;
  uint32_t size;

  SIMT_DEVICE void operator()(const PhiloxWords& words, T (&values)[kCount]) const {
    SIMT_UNROLL
    for (int i = 0; i < kCount; ++i)
      values[i] = as_element<T>(base + static_cast<int64_t>(words.words[i] % size));
  }
};

/// From a range that needs 64 bits; a size of 0 means 2^64.
template <class T>
struct WideInteger {
  static constexpr int kCount = 2;
  int64_t base;
  uint64_t size;

  SIMT_DEVICE void operator()(const PhiloxWords& words, T (&values)[kCount]) const {
    SIMT_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const uint64_t offset = size == 0 ? words.wide(i) : words.wide(i) % size;
      values[i] = as_element<T>(static_cast<int64_t>(static_cast<uint64_t>(base) + offset));
    }
  }
};

template <class T>
void draw_integers(const Tensor& self, const IntegerRange& range, Generator* generator) {
  if (range.wide) {
    fill_random<T>(self, "random_", generator, WideInteger<T>{range.base, range.size});
  } else {
    fill_random<T>(self, "random_", generator,
                   Integer<T>{range.base, static_cast<uint32_t>(range.size)});
  }
}

/// Each place gets a random key; sorted by them, the places are in random order.
SIMT_KERNEL draw_keys(uint64_t* keys, int64_t* places, int64_t count,
                      c10::cuda::PhiloxArguments philox_arguments) {
  const int64_t i = int64_t{simt::block_x()} * kRandomThreads + simt::thread_x();
  if (2 * i >= count) return;

  const uint64_t counter = philox_arguments.first_counter() / 4 + static_cast<uint64_t>(i);
  const PhiloxWords words = philox(philox_arguments.key(), counter, 0);
  for (int k = 0; k < 2 && 2 * i + k < count; ++k) {
    keys[2 * i + k] = words.wide(k);
    places[2 * i + k] = 2 * i + k;
  }
}

}  // namespace

void random_from_kernel(const Tensor& self, int64_t from, std::optional<int64_t> to,
                        Generator* generator) {
  const ScalarType type = self.scalar_type();

  // The wide unsigned dtypes take the same draws as int64.
  if (c10::is_wide_unsigned(type)) {
    const int64_t largest = check_wide_unsigned(type, from, to);
    const Tensor drawn = empty_tensor(self.sizes(), kLong, self.device());
    const bool has_end = to.has_value() || type == kUInt64;
    draw_integers<int64_t>(drawn, integer_range<int64_t>(from, has_end ? to : largest + 1),
                           generator);
    self.copy_(drawn);
    return;
  }

  AT_DISPATCH_REAL_AND_BOOL(type, "random_", [&] {
    draw_integers<scalar_t>(self, integer_range<scalar_t>(from, to), generator);
  });
}

void random_to_kernel(const Tensor& self, int64_t to, Generator* generator) {
  random_from_kernel(self, 0, to, generator);
}

void random_kernel(const Tensor& self, Generator* generator) {
  AT_DISPATCH_REAL_AND_BOOL(self.scalar_type(), "random_", [&] {
    const bool wide = self.scalar_type() == kLong || self.scalar_type() == kDouble;
    const auto size = static_cast<uint64_t>(largest_integer<scalar_t>()) + 1;
    draw_integers<scalar_t>(self, {0, size, wide || size > 0xffffffffu}, generator);
  });
}

void shuffled_kernel(const Tensor& self, Generator* chosen) {
  TORCH_CHECK(self.is_contiguous(), "_shuffled_: expected a contiguous vector, got strides ",
              self.strides());
  c10::PhiloxGenerator& generator = device_generator(chosen, self.device());
  const int64_t n = self.numel();
  if (n == 0) return;

  const int64_t counters = (n + 1) / 2;
  const c10::cuda::PhiloxArguments drawn =
      c10::cuda::take_philox(generator, 4 * static_cast<uint64_t>(counters));
  SortMemory<uint64_t> memory(n);
  const cudaStream_t stream = c10::cuda::current_stream();
  c10::cuda::launch("_shuffled_", &draw_keys,
                    dim3(static_cast<unsigned>((counters + kRandomThreads - 1) / kRandomThreads)),
                    dim3(kRandomThreads), 0, stream, memory.buffers.keys, memory.buffers.positions,
                    n, drawn);
  sort_pairs("_shuffled_", memory.buffers, n, 64);
  C10_CUDA_CHECK(cudaMemcpyAsync(self.data_ptr<int64_t>(), memory.buffers.positions,
                                 static_cast<size_t>(n) * sizeof(int64_t), cudaMemcpyDeviceToDevice,
                                 stream));
}

}  // namespace at::native::cuda
