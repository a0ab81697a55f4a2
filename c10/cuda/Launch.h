// Launch.h: the one way to start a kernel.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "c10/cuda/Mailbox.h"
#include "c10/cuda/MailboxRecord.h"

#if defined(TORCH_PY_CUDA_EMULATION)
#include "emulation/launch.h"
#endif

namespace c10 {
class OperatorEntry;
}

namespace c10::cuda {

/// Notes that operator `name` starts a kernel in `stream`, and returns the launch's sequence
/// number: positive, and growing within the process.
uint64_t note_launch(const char* name, cudaStream_t stream) noexcept;

/// What is known of a launch. The operators are null outside of operators.
struct LaunchRecord {
  const char* name = nullptr;             // as the caller of launch() says; null: forgotten
  const OperatorEntry* op = nullptr;      // whose kernel it is
  const OperatorEntry* caller = nullptr;  // that the program called
};
/// A launch by its number; forgotten if many followed in its stream.
LaunchRecord find_launch(uint64_t sequence) noexcept;

/// The number of the latest launch so far.
uint64_t latest_launch() noexcept;
/// Notes that all launches into `stream`, or into every stream, up to this number went well.
void mark_good(cudaStream_t stream, uint64_t sequence) noexcept;
void mark_all_good(uint64_t sequence) noexcept;
/// The operators launched since the last point that is known to be good, in order: "add, sum (3x)".
std::string suspects();

namespace detail {

/// Throws c10::Error with the operator's name unless the launch was accepted, and, where
/// TORCH_PY_CUDA_BLOCKING=1, unless the work is done without an error.
void check_launch(cudaError_t status, const char* name, cudaStream_t stream);

#if !defined(TORCH_PY_CUDA_EMULATION)
/// Lets a kernel have more dynamic shared memory than every kernel may.
void allow_dynamic_shared(const void* kernel, size_t bytes, const char* name);
#endif

template <class P>
void prepare_argument([[maybe_unused]] P& argument, [[maybe_unused]] uint64_t sequence) {
  static_assert(std::is_trivially_copyable_v<P>, "kernels get their arguments as bytes");
  if constexpr (std::is_same_v<P, simt::Reporter>) {
    argument = {current_mailbox(), sequence};
  } else if constexpr (requires { argument.reporter; }) {
    argument.reporter = {current_mailbox(), sequence};
  }
#if defined(TORCH_PY_CUDA_EMULATION)
  emulation::readable_argument(&argument, sizeof(argument));
#endif
}

}  // namespace detail

/// Puts kernel<<<grid, block, dynamic_shared, stream>>>(arguments...) into the stream. `name` is
/// the operator's, a string that lives for ever. A parameter of type simt::Reporter is filled in,
/// as is a member `reporter` of one.
template <class... P, class... A>
void launch(const char* name, void (*kernel)(P...), dim3 grid, dim3 block, size_t dynamic_shared,
            cudaStream_t stream, A&&... arguments) {
  static_assert(sizeof...(P) == sizeof...(A), "one argument for each parameter of the kernel");
  static_assert((sizeof(P) + ... + 0) <= 32764, "CUDA takes no more bytes of arguments");
  const uint64_t sequence = note_launch(name, stream);
  const void* const function = reinterpret_cast<const void*>(kernel);

  std::tuple<std::remove_cv_t<P>...> values(std::forward<A>(arguments)...);
  std::apply([&](auto&... value) { (detail::prepare_argument(value, sequence), ...); }, values);

#if defined(TORCH_PY_CUDA_EMULATION)
  const emulation::Grid shape{name, grid, block, dynamic_shared, function};
  const cudaError_t status =
      emulation::launch(shape, stream, [kernel, values] { std::apply(kernel, values); });
#else
  detail::allow_dynamic_shared(function, dynamic_shared, name);
  const cudaError_t status = std::apply(
      [&](auto&... value) {
        void* pointers[sizeof...(P) + 1] = {&value...};
        return cudaLaunchKernel(function, grid, block, pointers, dynamic_shared, stream);
      },
      values);
#endif
  detail::check_launch(status, name, stream);
}

}  // namespace c10::cuda
