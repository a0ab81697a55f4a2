// float16: IEEE 754 binary16.
#pragma once

#include <cstdint>
#include <limits>

#include "c10/util/ReducedFloat.h"
#ifdef __CUDA_ARCH__
#include "c10/util/NativeFloats.h"
#endif

// Conversions are branch-free integer arithmetic, so that loops over them vectorise on every
// instruction set. The F16C instructions, which the vectoriser does not find in scalar code, give
// the same bits (tests/c10/test_util.py). Kernels on a GPU use its instructions.

namespace c10 {

namespace detail {

/// Exact. NaN payloads are kept and made quiet, as the hardware does.
C10_HOST_DEVICE constexpr float half_to_float(uint16_t half) {
#ifdef __CUDA_ARCH__
  if (!__builtin_is_constant_evaluated()) return native::half_to_float(half);
#endif
  const uint32_t magnitude = half & 0x7fffu;
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t normal = (magnitude << 13) + (112u << 23);  // exponent bias 15 -> 127
  const uint32_t special =
      (magnitude << 13) | 0x7f800000u | (magnitude > 0x7c00u ? 0x00400000u : 0u);
  const uint32_t subnormal =
      bits_of_float(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);

  const uint32_t finite = magnitude < 0x0400u ? subnormal : normal;
  return float_of_bits(sign | (magnitude >= 0x7c00u ? special : finite));
}

/// Rounds to nearest, ties to even.
C10_HOST_DEVICE constexpr uint16_t float_to_half(float value) {
#ifdef __CUDA_ARCH__
  if (!__builtin_is_constant_evaluated()) return native::float_to_half(value);
#endif
  const uint32_t bits = bits_of_float(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  // Adding just under half a unit, plus the last kept bit, carries into the kept bits exactly when
  // rounding up is right.
  const uint32_t rounded = (magnitude - (112u << 23) + 0x0fffu + ((magnitude >> 13) & 1u)) >> 13;

  // At 0.5 the spacing of floats is 2^-24, that of subnormal halves: the addition rounds.
  const uint32_t subnormal =
      bits_of_float(float_of_bits(magnitude < 0x38800000u ? magnitude : 0u) + 0.5f) - 0x3f000000u;

  const uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x03ffu);

  uint32_t result = magnitude < 0x38800000u ? subnormal : rounded;
  result = magnitude >= 0x477ff000u ? 0x7c00u : result;  // 65520 and above round to infinity
  result = magnitude > 0x7f800000u ? nan : result;
  return static_cast<uint16_t>(result | ((bits >> 16) & 0x8000u));
}

}  // namespace detail

struct alignas(2) Half {
  uint16_t x;

  Half() = default;
  C10_HOST_DEVICE constexpr Half(float value) : x(detail::float_to_half(value)) {}
  C10_HOST_DEVICE constexpr operator float() const { return detail::half_to_float(x); }
  C10_HOST_DEVICE static constexpr Half from_bits(uint16_t bits) {
    Half result(0.0f);
    result.x = bits;
    return result;
  }
};

template <>
inline constexpr bool is_reduced_floating_point_v<Half> = true;

}  // namespace c10

template <>
class std::numeric_limits<c10::Half> {
 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = true;
  static constexpr bool is_iec559 = true;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;

  static constexpr auto has_denorm = std::denorm_present;
  static constexpr auto round_style = std::round_to_nearest;

  static constexpr int digits = 11;
  static constexpr int digits10 = 3;
  static constexpr int max_digits10 = 5;
  static constexpr int radix = 2;
  static constexpr int min_exponent = -13;
  static constexpr int min_exponent10 = -4;
  static constexpr int max_exponent = 16;
  static constexpr int max_exponent10 = 4;

  static constexpr c10::Half min() { return c10::Half::from_bits(0x0400); }
  static constexpr c10::Half lowest() { return c10::Half::from_bits(0xfbff); }
  static constexpr c10::Half max() { return c10::Half::from_bits(0x7bff); }
  static constexpr c10::Half epsilon() { return c10::Half::from_bits(0x1400); }
  static constexpr c10::Half round_error() { return c10::Half::from_bits(0x3800); }
  static constexpr c10::Half infinity() { return c10::Half::from_bits(0x7c00); }
  static constexpr c10::Half quiet_NaN() { return c10::Half::from_bits(0x7e00); }
  static constexpr c10::Half signaling_NaN() { return c10::Half::from_bits(0x7d00); }
  static constexpr c10::Half denorm_min() { return c10::Half::from_bits(0x0001); }
};
