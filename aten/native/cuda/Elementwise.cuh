// The loop of pointwise kernels on a device.
#pragma once
#include <type_traits>
#include <utility>

#include "aten/iteration/LaunchPlan.h"
#include "aten/native/cuda/Division.h"
#include "aten/native/cuda/Pack.cuh"
#include "c10/cuda/Launch.h"
#include "c10/cuda/Runtime.h"
#include "c10/cuda/Simt.h"
#include "c10/util/Exception.h"

// Note [Packs]
// Memory is read and written in packs of up to 16 bytes, so that a warp asks for whole lines. The
// loop runs over packs of kWidth elements along the fastest dimension, in which every operand is
// either contiguous or the same for the whole pack: a number, or an element that is broadcast. A
// second loop, with packs of one element, serves all other layouts and addresses that are not
// aligned. Both are one kernel template, so x + y, x + 2.0 and x + row need no further instances.

namespace at::native::cuda {

inline constexpr int kElementwiseThreads = 256;

/// How a kernel reads the elements of a pack.
enum class PackAccess : uint8_t {
  Packed,  // adjacent elements
  Single,  // one element for the whole pack
  Number   // one number, in the arguments
};

/// Memory and layout of kOperands operands; operand 0 is written.
template <int kOperands>
struct ElementwiseArguments {
  char* data[kOperands];
  PackAccess access[kOperands];
  alignas(16) unsigned char numbers[kOperands][16];

  uint32_t packs;  // the number of packs
  uint32_t tail;   // elements after the last pack, where there is one dimension only
  int dims;
  Divisor sizes[LaunchPlan::kMaxDims];  // the first in packs; the last is not set
  int32_t strides[kOperands][LaunchPlan::kMaxDims];

  /// The byte offsets of a pack in all operands.
  SIMT_DEVICE void find(uint32_t pack, int32_t (&offsets)[kOperands]) const {
    for (int k = 0; k < kOperands; ++k) offsets[k] = 0;

    for (int d = 0; d + 1 < dims; ++d) {
      const uint32_t rest = sizes[d].quotient(pack);
      const auto index = static_cast<int32_t>(pack - rest * sizes[d].value());
      for (int k = 0; k < kOperands; ++k) offsets[k] += index * strides[k][d];
      pack = rest;
    }
    for (int k = 0; k < kOperands; ++k)
      offsets[k] += static_cast<int32_t>(pack) * strides[k][dims - 1];
  }
};

namespace detail {

template <class T, int kWidth>
SIMT_DEVICE Pack<T, kWidth> load_pack(const char* address, PackAccess access,
                                      const unsigned char* number) {
  if (access == PackAccess::Packed) return *reinterpret_cast<const Pack<T, kWidth>*>(address);

  // Read before the branch: one load for both would hide which kind of memory it reads.
  T value = *reinterpret_cast<const T*>(number);
  if (access == PackAccess::Single) value = *reinterpret_cast<const T*>(address);

  Pack<T, kWidth> pack;
  SIMT_UNROLL
  for (int i = 0; i < kWidth; ++i) pack.values[i] = value;
  return pack;
}

/// One element of an operand of a contiguous loop.
template <class T>
SIMT_DEVICE T load_element(const char* data, PackAccess access, const unsigned char* number,
                           uint32_t index) {
  T value = *reinterpret_cast<const T*>(number);
  if (access != PackAccess::Number)
    value = reinterpret_cast<const T*>(data)[access == PackAccess::Packed ? index : 0];
  return value;
}

/// The packs that one thread reads before it computes.
template <int kWidth, class F, class... A>
constexpr int pack_steps() {
  if constexpr (requires { F::kSteps; }) {
    return F::kSteps;
  } else {
    constexpr int kMost = sizeof...(A) <= 1 ? 4 : sizeof...(A) <= 3 ? 2 : 1;
    constexpr int kElements = kWidth <= 2 ? 8 : 16;  // bounds the code of long formulas
    return kWidth * kMost <= kElements ? kMost : kElements / kWidth;
  }
}

/// The inputs' packs of one step.
template <int kWidth, class... A>
struct PackRow;
template <int kWidth>
struct PackRow<kWidth> {};
template <int kWidth, class First, class... Rest>
struct PackRow<kWidth, First, Rest...> {
  Pack<First, kWidth> first;
  PackRow<kWidth, Rest...> rest;
};

template <int k, int kWidth, class... A>
SIMT_DEVICE const auto& pack_of(const PackRow<kWidth, A...>& row) {
  if constexpr (k == 0) {
    return row.first;
  } else {
    return pack_of<k - 1>(row.rest);
  }
}

template <int k, int kOperands, int kWidth>
SIMT_DEVICE void load_row(const ElementwiseArguments<kOperands>&, const int32_t (&)[kOperands],
                          PackRow<kWidth>&) {}
template <int k, int kOperands, int kWidth, class First, class... Rest>
SIMT_DEVICE void load_row(const ElementwiseArguments<kOperands>& arguments,
                          const int32_t (&offsets)[kOperands],
                          PackRow<kWidth, First, Rest...>& row) {
  row.first = load_pack<First, kWidth>(arguments.data[k] + offsets[k], arguments.access[k],
                                       arguments.numbers[k]);
  load_row<k + 1>(arguments, offsets, row.rest);
}

template <int kWidth, class R, class... A, class F, int... I>
SIMT_DEVICE Pack<R, kWidth> apply(const F& functor, const PackRow<kWidth, A...>& row,
                                  std::integer_sequence<int, I...>) {
  Pack<R, kWidth> out;
  SIMT_UNROLL
  for (int i = 0; i < kWidth; ++i)
    out.values[i] = static_cast<R>(functor(pack_of<I>(row).values[i]...));
  return out;
}

template <class R, class... A, class F, int... I>
SIMT_DEVICE void apply_to_element(const ElementwiseArguments<sizeof...(A) + 1>& arguments,
                                  const F& functor, uint32_t index,
                                  std::integer_sequence<int, I...>) {
  reinterpret_cast<R*>(arguments.data[0])[index] = static_cast<R>(functor(load_element<A>(
      arguments.data[I + 1], arguments.access[I + 1], arguments.numbers[I + 1], index)...));
}

}  // namespace detail

/// Note [Packs]. Each thread takes kSteps packs, kElementwiseThreads apart: their loads are under
/// way together.
template <int kWidth, class F, class R, class... A>
SIMT_KERNEL elementwise_kernel(ElementwiseArguments<sizeof...(A) + 1> arguments, F functor) {
  constexpr int kOperands = sizeof...(A) + 1;
  constexpr int kSteps = detail::pack_steps<kWidth, F, A...>();
  constexpr auto kInputs = std::make_integer_sequence<int, sizeof...(A)>();

  const uint32_t begin = simt::block_x() * (kElementwiseThreads * kSteps) + simt::thread_x();
  detail::PackRow<kWidth, A...> rows[kSteps];
  int32_t targets[kSteps];

  SIMT_UNROLL
  for (int step = 0; step < kSteps; ++step) {
    const uint32_t pack = begin + step * kElementwiseThreads;
    if (pack >= arguments.packs) continue;
    int32_t offsets[kOperands];
    arguments.find(pack, offsets);
    targets[step] = offsets[0];
    detail::load_row<1>(arguments, offsets, rows[step]);
  }

  SIMT_UNROLL
  for (int step = 0; step < kSteps; ++step) {
    if (begin + step * kElementwiseThreads >= arguments.packs) continue;
    *reinterpret_cast<Pack<R, kWidth>*>(arguments.data[0] + targets[step]) =
        detail::apply<kWidth, R>(functor, rows[step], kInputs);
  }

  // The elements after the last whole pack: the first block has a thread for each of them.
  if constexpr (kWidth > 1) {
    if (simt::block_x() == 0 && simt::thread_x() < arguments.tail) {
      const uint32_t index = arguments.packs * kWidth + simt::thread_x();
      detail::apply_to_element<R, A...>(arguments, functor, index, kInputs);
    }
  }
}

namespace detail {

/// Whether the loop over packs of `width` elements fits the plan; see Note [Packs].
inline bool is_packed(const LaunchPlan& plan, int width) {
  if (plan.dims > 1 && plan.sizes[0] % width != 0) return false;

  for (int k = 0; k < plan.operands; ++k) {
    if (plan.operand[k].is_number) continue;
    const auto itemsize = static_cast<int64_t>(element_size(plan.operand[k].dtype));
    const bool is_single = k > 0 && plan.strides[k][0] == 0;
    if (!is_single && plan.strides[k][0] != itemsize) return false;
    if (is_single) continue;

    // Every pack begins at a multiple of its own size.
    const int64_t bytes = itemsize * width;
    if (reinterpret_cast<uintptr_t>(plan.operand[k].data) % bytes != 0) return false;
    for (int d = 1; d < plan.dims; ++d) {
      if (plan.strides[k][d] % bytes != 0) return false;
    }
  }
  return true;
}

template <int kOperands>
ElementwiseArguments<kOperands> elementwise_arguments(const LaunchPlan& plan, int width) {
  ElementwiseArguments<kOperands> arguments{};  // the emulation looks at every byte
  arguments.dims = plan.dims;
  arguments.packs = static_cast<uint32_t>(plan.numel / width);
  arguments.tail = static_cast<uint32_t>(plan.numel % width);
  for (int d = 0; d + 1 < plan.dims; ++d)  // nothing divides by the last
    arguments.sizes[d] = Divisor(static_cast<uint32_t>(plan.sizes[d] / (d == 0 ? width : 1)));

  for (int k = 0; k < kOperands; ++k) {
    const LaunchOperand& operand = plan.operand[k];
    arguments.data[k] = operand.data;
    std::memcpy(arguments.numbers[k], operand.number, sizeof(operand.number));

    const bool is_single = k > 0 && plan.strides[k][0] == 0 && width > 1;
    arguments.access[k] = operand.is_number ? PackAccess::Number
                          : is_single       ? PackAccess::Single
                                            : PackAccess::Packed;
    for (int d = 0; d < plan.dims; ++d)
      arguments.strides[k][d] = static_cast<int32_t>(plan.strides[k][d] * (d == 0 ? width : 1));
  }
  return arguments;
}

template <int kWidth, class R, class... A, class F>
void launch_elementwise(const LaunchPlan& plan, const char* name, const F& functor) {
  constexpr int kPacks = kElementwiseThreads * pack_steps<kWidth, F, A...>();
  const auto arguments = elementwise_arguments<sizeof...(A) + 1>(plan, kWidth);
  const uint32_t blocks = arguments.packs == 0 ? 1 : (arguments.packs - 1) / kPacks + 1;
  c10::cuda::launch(name, &elementwise_kernel<kWidth, F, R, A...>, dim3(blocks),
                    dim3(kElementwiseThreads), 0, c10::cuda::current_stream(), arguments, functor);
}

template <class... T>
constexpr size_t largest_size() {
  size_t largest = 1;
  ((largest = sizeof(T) > largest ? sizeof(T) : largest), ...);
  return largest;
}

}  // namespace detail

/// Writes functor(a...) for every element. R and A are the element types of the operands; the
/// functor is copied to the device. `limit` is for tests; see for_each_part.
template <class R, class... A, class F>
void elementwise(const LaunchPlan& plan, const char* name, const F& functor,
                 int64_t limit = LaunchPlan::kMaxSpan) {
  static_assert(sizeof...(A) < LaunchPlan::kMaxOperands);
  static_assert(std::is_trivially_copyable_v<F>, "functors are copied byte by byte");
  constexpr size_t kSizes[] = {sizeof(R), sizeof(A)...};
  // Mistakes of the kernel's author, who may work outside of this repository.
  TORCH_CHECK(plan.operands == static_cast<int>(sizeof...(A)) + 1, name,
              ": the functor that its kernel passes to elementwise takes ", sizeof...(A),
              " elements, but the operator has ", plan.operands - 1, " inputs");
  for (int k = 0; k < plan.operands; ++k) {
    TORCH_CHECK(element_size(plan.dtype(k)) == kSizes[k], name, ": its kernel's type of operand ",
                k, " has ", kSizes[k], " bytes, but that of the tensor ",
                element_size(plan.dtype(k)));
  }

  constexpr int kWidth = 16 / static_cast<int>(detail::largest_size<R, A...>());
  for_each_part(
      plan,
      [&](const LaunchPlan& part) {
        if (kWidth > 1 && detail::is_packed(part, kWidth)) {
          detail::launch_elementwise<kWidth, R, A...>(part, name, functor);
        } else {
          detail::launch_elementwise<1, R, A...>(part, name, functor);
        }
      },
      limit);
}

namespace detail {

template <class F, class R, class... A>
void elementwise_of(const LaunchPlan& plan, const F& functor, R (F::*)(A...) const) {
  elementwise<R, A...>(plan, plan.op_name, functor);
}

}  // namespace detail

/// The same with the element types of the functor's operator().
template <class F>
void elementwise(const LaunchPlan& plan, const F& functor) {
  detail::elementwise_of(plan, functor, &F::operator());
}

/// The same for an iterator.
template <class R, class... A, class F>
void elementwise(const TensorIterator& iter, const char* name, const F& functor) {
  elementwise<R, A...>(launch_plan(iter), name, functor);
}

/// The functor of a fill.
template <class T>
struct Constant {
  T value;

  C10_HOST_DEVICE T operator()() const { return value; }
};

}  // namespace at::native::cuda
