// The kernels of the bitwise operations and shifts of integers.
#include "aten/native/declarations/cpu/elementwise/BitwiseKernel.isa.h"
#include "aten/Dispatch.h"
#include "aten/iteration/Loops.h"
#include "aten/native/cpu/shared/Modular.h"
#include "aten/vec/math.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// Applies `op` to integers and to bool, whose values 0 and 1 these operations preserve.
template <typename Op>
void bitwise(const TensorIteratorBase& iter, const Op& op) {
  const ScalarType type = iter.common_dtype();
  if (!is_integral(type, true)) throw_not_implemented(iter.op_name(), type);
  dispatch_modular(type, [&]<typename T>() {
    cpu_kernel(iter, [op](T a, T b) -> T { return static_cast<T>(op(a, b)); });
  });
}

}  // namespace

void bitwise_and_kernel(TensorIteratorBase& iter) {
  bitwise(iter, [](auto a, auto b) { return a & b; });
}

void bitwise_or_kernel(TensorIteratorBase& iter) {
  bitwise(iter, [](auto a, auto b) { return a | b; });
}

void bitwise_xor_kernel(TensorIteratorBase& iter) {
  bitwise(iter, [](auto a, auto b) { return a ^ b; });
}

void lshift_kernel(TensorIteratorBase& iter) {
  AT_DISPATCH_INTEGRAL(iter.common_dtype(), "lshift", [&] {
    using unsigned_t = std::make_unsigned_t<scalar_t>;
    constexpr unsigned_t kBits = 8 * sizeof(scalar_t);

    // A negative count becomes a large unsigned one, so that all bits are shifted out.
    cpu_kernel(iter, [](scalar_t a, scalar_t count) -> scalar_t {
      const bool out = static_cast<unsigned_t>(count) >= kBits;
      return out ? scalar_t(0)
                 : static_cast<scalar_t>(static_cast<modular_t<scalar_t>>(a) << (out ? 0 : count));
    });
  });
}

void rshift_kernel(TensorIteratorBase& iter) {
  AT_DISPATCH_INTEGRAL(iter.common_dtype(), "rshift", [&] {
    using unsigned_t = std::make_unsigned_t<scalar_t>;
    constexpr bool kSigned = std::is_signed_v<scalar_t>;
    constexpr unsigned_t kBits = 8 * sizeof(scalar_t);

    // Shifting out all bits leaves the sign: -1 for negative numbers, else 0.
    cpu_kernel(iter, [](scalar_t a, scalar_t count) -> scalar_t {
      const bool out = static_cast<unsigned_t>(count) >= kBits;
      const scalar_t shifted = static_cast<scalar_t>(a >> (out ? 0 : count));
      return out ? static_cast<scalar_t>(kSigned && a < 0 ? -1 : 0) : shifted;
    });
  });
}

void bitwise_not_kernel(TensorIteratorBase& iter) {
  const ScalarType type = iter.common_dtype();
  if (type == kBool) return cpu_kernel(iter, [](bool value) -> bool { return !value; });
  if (!is_integral(type, false)) throw_not_implemented("bitwise_not", type);
  dispatch_modular(type, [&]<typename T>() {
    cpu_kernel(iter, [](T value) -> T { return static_cast<T>(~value); });
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
