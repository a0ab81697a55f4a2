#pragma once
// Loops of pointwise CPU kernels.
//
// Note [CPU_CAPABILITY]
// Files that include this header are compiled once per instruction set. The inline namespace named
// by CPU_CAPABILITY keeps their functions apart: without it, the linker would keep one copy of a
// template, for whichever instruction set came first.
#include <algorithm>
#include <tuple>
#include <utility>

#include "aten/iteration/Gather.h"
#include "aten/iteration/PackLoop.h"
#include "aten/iteration/Rows.h"
#include "aten/iteration/TensorIterator.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

template <typename F>
struct function_traits : function_traits<decltype(&F::operator())> {};
template <typename C, typename R, typename... A>
struct function_traits<R (C::*)(A...) const> {
  using result = R;
  using arguments = std::tuple<std::decay_t<A>...>;
  static constexpr size_t arity = sizeof...(A);
};

template <typename F, typename R, typename... A, size_t... I>
inline void contiguous_loop(const F& captured, R* out, const std::tuple<const A*...>& in, int64_t n,
                            std::index_sequence<I...>) {
  // The copy cannot alias `out`, so captured numbers are loaded once, before the loop. A load
  // inside a branch of the formula would keep the loop from vectorising.
  const F op = captured;
  // An in-place call has out == in, element by element: iterations do not depend on each other.
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = op(std::get<I>(in)[i]...);
}

/// Not inline: callers have two uses of it, and formulas are long.
template <typename F, typename R, typename... A, size_t... I>
C10_NOINLINE void run_contiguous(const F& op, R* out, const std::tuple<const A*...>& in, int64_t n,
                                 std::index_sequence<I...> indices) {
  if constexpr (ComputesConverted<F, R, A...>) {
    converted_loop<F, R, A...>(op, out, in, n, indices);
  } else {
    contiguous_loop<F, R, A...>(op, out, in, n, indices);
  }
}

/// One inner loop over n elements. Contiguous operands are used in place, others through blocks.
template <typename F, typename R, typename... A, size_t... I>
void element_loop(const F& op, char* const* data, const int64_t* strides, int64_t n,
                  std::index_sequence<I...> indices) {
  const bool out_direct = strides[0] == static_cast<int64_t>(sizeof(R)) || n == 1;
  const bool direct[] = {(strides[I + 1] == static_cast<int64_t>(sizeof(A)) || n == 1)..., true};

  if (out_direct && (direct[I] && ...)) {
    run_contiguous<F, R, A...>(op, reinterpret_cast<R*>(data[0]),
                               std::tuple<const A*...>(reinterpret_cast<const A*>(data[I + 1])...),
                               n, indices);
    return;
  }

  alignas(64) char out_block[kBlock * sizeof(R)];
  alignas(64) char blocks[std::max<size_t>(sizeof...(A), 1)][kBlock * 16];
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t count = std::min(kBlock, n - start);

    [[maybe_unused]] auto pointer = [&](auto position, auto* typed) {
      constexpr size_t k = decltype(position)::value;
      using T = std::remove_pointer_t<decltype(typed)>;
      const char* source = data[k + 1] + start * strides[k + 1];
      if (direct[k]) return reinterpret_cast<const T*>(source);

      // A broadcast value stays in its block.
      const bool filled = strides[k + 1] == 0 && start != 0;
      if (!filled) gather(blocks[k], source, strides[k + 1], sizeof(T), count);
      return reinterpret_cast<const T*>(blocks[k]);
    };

    const std::tuple<const A*...> in(
        pointer(std::integral_constant<size_t, I>(), static_cast<A*>(nullptr))...);
    char* target = data[0] + start * strides[0];
    R* out = reinterpret_cast<R*>(out_direct ? target : out_block);
    run_contiguous<F, R, A...>(op, out, in, count, indices);
    if (!out_direct) scatter(target, strides[0], out_block, sizeof(R), count);
  }
}

template <typename F, typename R, typename... A>
void pointwise_loop(const F& op, const Rows& rows, std::tuple<A...>*) {
  constexpr auto indices = std::make_index_sequence<sizeof...(A)>();
  if constexpr (ComputesPacks<F, R, A...>) {
    pointwise_pack_loop<F, R, A...>(op, rows, indices);
  } else {
    char* data[sizeof...(A) + 1];
    std::copy_n(rows.data, sizeof...(A) + 1, data);
    for (int64_t row = 0; row < rows.count; ++row) {
      element_loop<F, R, A...>(op, data, rows.strides, rows.n, indices);
      for (size_t k = 0; k < sizeof...(A) + 1; ++k) data[k] += rows.row_strides[k];
    }
  }
}

/// Applies `op` to every element. The lambda's result and argument types are the element types of
/// the operands.
template <typename F>
void cpu_kernel(const TensorIteratorBase& iter, const F& op,
                int64_t grain = TensorIterator::kGrain) {
  using traits = function_traits<F>;
  using arguments = typename traits::arguments;
  // A mistake of the kernel's author, who may work outside of this repository.
  TORCH_CHECK(iter.ntensors() == static_cast<int>(traits::arity) + 1, iter.op_name(),
              ": the function that its kernel passes to cpu_kernel takes ", traits::arity,
              " elements, but the operator has ", iter.ntensors() - 1, " inputs");

  auto loop = [](const void* context, const Rows& rows) {
    pointwise_loop<F, typename traits::result>(*static_cast<const F*>(context), rows,
                                               static_cast<arguments*>(nullptr));
  };
  for_each_row(iter, loop, &op, grain);
}

/// For kernels that must run in order, such as random numbers: one thread, no blocks.
template <typename F>
void cpu_serial_kernel(const TensorIteratorBase& iter, const F& op) {
  using traits = function_traits<F>;
  using R = typename traits::result;
  static_assert(traits::arity <= 1, "serial kernels take at most one input");

  auto loop = [](const void* context, char* const* data, const int64_t* strides, int64_t n) {
    const F& f = *static_cast<const F*>(context);
    for (int64_t i = 0; i < n; ++i) {
      R* out = reinterpret_cast<R*>(data[0] + i * strides[0]);
      if constexpr (traits::arity == 0) {
        *out = f();
      } else {
        using A = std::tuple_element_t<0, typename traits::arguments>;
        *out = f(*reinterpret_cast<const A*>(data[1] + i * strides[1]));
      }
    }
  };

  iter.serial_for_each(loop, &op, 0, iter.numel());
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
