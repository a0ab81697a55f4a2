// The loop of kernels that fill a tensor with random numbers.
#pragma once
#include <type_traits>

#include "aten/iteration/LaunchPlan.h"
#include "aten/iteration/TensorIterator.h"
#include "aten/native/cuda/Pack.cuh"
#include "aten/native/functors/Philox.h"
#include "c10/cuda/Launch.h"
#include "c10/cuda/Philox.h"
#include "c10/cuda/Runtime.h"
#include "c10/cuda/Simt.h"
#include "c10/util/Exception.h"

// Note [Random numbers on a device]
// The numbers of an element are a function of the seed, of the generator's counter at the launch,
// and of the element's index in the order of memory. They are the same on every device and for
// every shape of a launch, but not those of the CPU. One counter gives four words, from which a
// functor makes kCount neighbouring elements: four of up to 32 random bits, or two of 64.

namespace at::native::cuda {

inline constexpr int kRandomThreads = 256;

/// The generator to draw from: the device's own where none is given.
inline c10::PhiloxGenerator& device_generator(c10::Generator* given, c10::Device device) {
  c10::Generator& generator = given != nullptr ? *given : c10::default_generator(device);
  auto* const philox = dynamic_cast<c10::PhiloxGenerator*>(&generator);
  TORCH_CHECK(philox != nullptr, "Expected a 'cuda' device type for generator but found '",
              c10::device_type_name(generator.device.type), "'");
  return *philox;
}

/// Where the elements of the written operand are.
struct RandomTarget {
  char* data;
  int64_t numel;
  int dims;
  bool is_contiguous;
  int64_t sizes[LaunchPlan::kMaxDims];
  int64_t strides[LaunchPlan::kMaxDims];

  SIMT_DEVICE char* find(int64_t index) const {
    char* address = data;
    for (int d = 0; d + 1 < dims; ++d) {
      const int64_t rest = index / sizes[d];
      address += (index - rest * sizes[d]) * strides[d];
      index = rest;
    }
    return address + index * strides[dims - 1];
  }
};

/// What a thread does once, as finding the key, costs as much as the rounds of a counter.
inline constexpr int kCountersOfThread = 4;

/// Sets the elements of one counter, which is number `block` of the launch.
template <class T, class F>
SIMT_DEVICE void store_random(const RandomTarget& target, int64_t block, const PhiloxWords& words,
                              const F& functor) {
  constexpr int kCount = F::kCount;
  const int64_t first = block * kCount;
  T values[kCount];
  functor(words, values);

  if (target.is_contiguous && first + kCount <= target.numel) {
    Pack<T, kCount> pack;
    SIMT_UNROLL
    for (int i = 0; i < kCount; ++i) pack.values[i] = values[i];
    reinterpret_cast<Pack<T, kCount>*>(target.data)[block] = pack;
    return;
  }
  for (int i = 0; i < kCount && first + i < target.numel; ++i)
    *reinterpret_cast<T*>(target.find(first + i)) = values[i];
}

template <class T, class F>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kRandomThreads)
    random_kernel_of(RandomTarget target, c10::cuda::PhiloxArguments philox_arguments, F functor) {
  const int64_t begin =
      int64_t{simt::block_x()} * (kCountersOfThread * kRandomThreads) + simt::thread_x();
  const uint64_t key = philox_arguments.key();
  const uint64_t first_counter = philox_arguments.first_counter() / 4;

  // Not unrolled: functors are long.
  for (int k = 0; k < kCountersOfThread; ++k) {
    const int64_t block = begin + k * kRandomThreads;
    if (block * F::kCount >= target.numel) return;
    const PhiloxWords words = philox(key, first_counter + static_cast<uint64_t>(block), 0);
    store_random<T>(target, block, words, functor);
  }
}

inline RandomTarget random_target(const LaunchPlan& plan, int64_t pack_bytes) {
  RandomTarget target{};
  target.data = plan.operand[0].data;
  target.numel = plan.numel;
  target.dims = plan.dims;
  for (int d = 0; d < plan.dims; ++d) {
    target.sizes[d] = plan.sizes[d];
    target.strides[d] = plan.strides[0][d];
  }

  const auto itemsize = static_cast<int64_t>(c10::element_size(plan.dtype(0)));
  target.is_contiguous = plan.dims == 1 && plan.strides[0][0] == itemsize &&
                         reinterpret_cast<uintptr_t>(target.data) % pack_bytes == 0;
  return target;
}

/// Calls functor(words, values) for every kCount elements of `self`; T is its element type.
template <class T, class F>
void fill_random(const Tensor& self, const char* name, c10::Generator* given, const F& functor) {
  c10::PhiloxGenerator& generator = device_generator(given, self.device());
  if (self.numel() == 0) return;

  const LaunchPlan plan = launch_plan(TensorIterator::over(name, {&self}));
  const int64_t counters = (plan.numel + F::kCount - 1) / F::kCount;
  const c10::cuda::PhiloxArguments drawn =
      c10::cuda::take_philox(generator, 4 * static_cast<uint64_t>(counters));
  constexpr int64_t kTile = int64_t{kCountersOfThread} * kRandomThreads;
  c10::cuda::launch(
      name, &random_kernel_of<T, F>, dim3(static_cast<unsigned>((counters + kTile - 1) / kTile)),
      dim3(kRandomThreads), 0, c10::cuda::current_stream(),
      random_target(plan, F::kCount * static_cast<int64_t>(sizeof(T))), drawn, functor);
}

/// A number as an element, which bool is if it is not 0.
template <class T, class Number>
SIMT_DEVICE T as_element(Number number) {
  if constexpr (std::is_same_v<T, bool>) {
    return number != Number(0);
  } else {
    return static_cast<T>(static_cast<opmath_type<T>>(number));
  }
}

/// Functors that make one element of each number: 32 bits for float, 64 for double.
template <class Number>
inline constexpr int kNumbersPerCounter = sizeof(Number) == 4 ? 4 : 2;

template <class Number>
SIMT_DEVICE auto word_for(const PhiloxWords& words, int i) {
  if constexpr (sizeof(Number) == 4) {
    return words.words[i];
  } else {
    return words.wide(i);
  }
}

/// Numbers of a normal distribution, each changed by Map::of.
template <class T, class Map>
struct NormalNumbers {
  using Number = opmath_type<T>;
  static constexpr int kCount = kNumbersPerCounter<Number>;
  Number mean;
  Number std;

  SIMT_DEVICE void operator()(const PhiloxWords& words, T (&values)[kCount]) const {
    SIMT_UNROLL
    for (int i = 0; i < kCount; i += 2) {
      const NormalPair<Number> pair =
          normal_pair(word_for<Number>(words, i), word_for<Number>(words, i + 1));
      values[i] = static_cast<T>(Map::of(pair.first * std + mean));
      values[i + 1] = static_cast<T>(Map::of(pair.second * std + mean));
    }
  }
};

}  // namespace at::native::cuda
