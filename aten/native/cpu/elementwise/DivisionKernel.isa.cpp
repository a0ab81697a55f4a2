// The kernels of div, floor_divide, remainder and fmod.
#include <optional>

#include "aten/iteration/Loops.h"
#include "aten/native/declarations/cpu/elementwise/DivisionKernel.isa.h"
#include "aten/native/functors/Division.h"
#include "aten/native/functors/RepeatedDivisor.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

[[noreturn]] C10_NOINLINE void throw_zero_division() { TORCH_THROW(Error, "ZeroDivisionError"); }

/// The address of `count` operands: in place if they are contiguous, else gathered into `memory`. A
/// broadcast operand is gathered for the first block only.
template <typename T>
const T* operands(const char* source, int64_t stride, int64_t count, bool is_first, T* memory) {
  if (stride == static_cast<int64_t>(sizeof(T))) return reinterpret_cast<const T*>(source);
  if (stride != 0 || is_first) gather(memory, source, stride, sizeof(T), count);
  return memory;
}

/// Applies Op to every element, first quickly, then exactly where that gave NaN. `number` is a
/// common divisor that scalar_t may not represent.
template <typename scalar_t, typename Op>
void divide_floats(const TensorIteratorBase& iter, std::optional<float> number) {
  using opmath_t = opmath_type<scalar_t>;
  constexpr bool widens = !std::is_same_v<opmath_t, scalar_t>;
  auto loop = [](const void* context, char* const* data, const int64_t* strides, int64_t n) {
    const auto& divisor = *static_cast<const std::optional<float>*>(context);
    alignas(64) scalar_t a_block[kBlock], b_block[kBlock], out[kBlock];
    alignas(64) opmath_t wide[kBlock], results[kBlock];

    for (int64_t start = 0; start < n; start += kBlock) {
      const int64_t count = std::min(kBlock, n - start);

      const scalar_t* a =
          operands(data[1] + start * strides[1], strides[1], count, start == 0, a_block);
      const scalar_t* narrow =
          operands(data[2] + start * strides[2], strides[2], count, start == 0, b_block);

      // The divisors in the arithmetic type.
      const opmath_t* b = wide;
      if constexpr (!widens) b = narrow;
      for (int64_t i = 0; widens && i < count; ++i)
        wide[i] = divisor ? static_cast<opmath_t>(*divisor) : static_cast<opmath_t>(narrow[i]);

      for (int64_t i = 0; i < count; ++i)
        results[i] = quick_division<Op>(static_cast<opmath_t>(a[i]), b[i]);

      // NaN marks the elements that need the exact computation, in double.
      int uncertain = 0;
      for (int64_t i = 0; i < count; ++i) uncertain |= results[i] != results[i];
      for (int64_t i = 0; uncertain != 0 && i < count; ++i) {
        const double x = static_cast<opmath_t>(a[i]);
        const double y = b[i];
        if (results[i] != results[i]) results[i] = static_cast<opmath_t>(Op::exact(x, y));
      }

      for (int64_t i = 0; i < count; ++i) out[i] = static_cast<scalar_t>(results[i]);
      scatter(data[0] + start * strides[0], strides[0], out, sizeof(scalar_t), count);
    }
  };

  iter.for_each(loop, &number, TensorIterator::kGrain);
}

/// Divides integers by the same one.
template <typename Op, typename scalar_t>
void divide_by_number(const TensorIteratorBase& iter, scalar_t number) {
  if (number == 0) throw_zero_division();

  if constexpr (requires { Op::of_floor(number, number, number); }) {
    if (number >= 2) {
      const FloorDivisor<scalar_t> divisor(number);
      return cpu_kernel(iter, [divisor](scalar_t a, scalar_t) -> scalar_t {
        return Op::of_floor(a, divisor.divisor(), divisor.quotient(a));
      });
    }
  }

  const RepeatedDivisor<scalar_t> divisor(number);
  cpu_kernel(iter, [divisor](scalar_t a, scalar_t) -> scalar_t {
    const scalar_t b = divisor.divisor();
    return Op::of_integers(Quotient<scalar_t>(a, b, divisor.quotient(a)), b);
  });
}

/// Divides integers; a divisor of zero is an error.
template <typename Op>
void divide_integers(const TensorIteratorBase& iter) {
  constexpr int64_t kWorthIt = 32;  // elements; a reciprocal costs about ten divisions
  const Tensor& divisor = iter.input(1);
  AT_DISPATCH_INTEGRAL(iter.common_dtype(), iter.op_name(), [&] {
    if (divisor.numel() == 1 && iter.numel() >= kWorthIt)
      return divide_by_number<Op>(iter, *static_cast<const scalar_t*>(divisor.data()));
    cpu_kernel(iter, [](scalar_t a, scalar_t b) -> scalar_t {
      if (C10_UNLIKELY(b == 0)) throw_zero_division();
      return Op::of_integers(Quotient<scalar_t>(a, b), b);
    });
  });
}

template <typename Op>
void divide(const TensorIteratorBase& iter, std::optional<float> number = std::nullopt) {
  if (is_integral(iter.common_dtype(), false)) return divide_integers<Op>(iter);
  AT_DISPATCH_FLOATING_AND_REDUCED(iter.common_dtype(), iter.op_name(),
                                   [&] { divide_floats<scalar_t, Op>(iter, number); });
}

}  // namespace

void div_kernel(TensorIteratorBase& iter) {
  with_quotient(iter.common_dtype(), iter.unrounded_number(2),
                [&](auto functor) { cpu_kernel(iter, functor); });
}

void floor_divide_kernel(TensorIteratorBase& iter) {
  divide<FloorQuotient>(iter, iter.unrounded_number(2));
}

void div_mode_kernel(TensorIteratorBase& iter, std::string_view rounding_mode) {
  if (rounding_mode == "floor") return floor_divide_kernel(iter);
  check_truncates(rounding_mode);

  if (is_integral(iter.common_dtype(), false)) return divide_integers<TruncatedQuotient>(iter);
  with_truncated_quotient(iter.common_dtype(), iter.op_name(), iter.unrounded_number(2),
                          [&](auto functor) { cpu_kernel(iter, functor); });
}

void remainder_kernel(TensorIteratorBase& iter) { divide<Remainder>(iter); }

void fmod_kernel(TensorIteratorBase& iter) { divide<Fmod>(iter); }

}  // namespace CPU_CAPABILITY
}  // namespace at::native
