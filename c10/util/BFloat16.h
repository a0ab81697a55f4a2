// bfloat16: the upper half of a float.
#pragma once

#include <cstdint>
#include <limits>

#include "c10/util/ReducedFloat.h"
#ifdef __CUDA_ARCH__
#include "c10/util/NativeFloats.h"
#endif

// 8 exponent bits, 8 significant bits (one implied).

namespace c10 {

namespace detail {

C10_HOST_DEVICE constexpr float bfloat16_to_float(uint16_t bits) {
  return float_of_bits(static_cast<uint32_t>(bits) << 16);
}

/// Rounds to nearest, ties to even. Overflow carries into infinity; NaN stays NaN (quiet, with its
/// sign and upper payload).
C10_HOST_DEVICE constexpr uint16_t float_to_bfloat16(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if (!__builtin_is_constant_evaluated()) return native::float_to_bfloat16(value);
#endif
  const uint32_t bits = bits_of_float(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t nan = (bits >> 16) | 0x0040u;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

}  // namespace detail

struct alignas(2) BFloat16 {
  uint16_t x;

  BFloat16() = default;
  C10_HOST_DEVICE constexpr BFloat16(float value) : x(detail::float_to_bfloat16(value)) {}
  C10_HOST_DEVICE constexpr operator float() const { return detail::bfloat16_to_float(x); }
  C10_HOST_DEVICE static constexpr BFloat16 from_bits(uint16_t bits) {
    BFloat16 result(0.0f);
    result.x = bits;
    return result;
  }
};

template <>
inline constexpr bool is_reduced_floating_point_v<BFloat16> = true;

}  // namespace c10

template <>
class std::numeric_limits<c10::BFloat16> {
 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = true;
  static constexpr bool is_iec559 = false;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;

  static constexpr auto has_denorm = std::denorm_present;
  static constexpr auto round_style = std::round_to_nearest;

  static constexpr int digits = 8;
  static constexpr int digits10 = 2;
  static constexpr int max_digits10 = 4;
  static constexpr int radix = 2;
  static constexpr int min_exponent = -125;
  static constexpr int min_exponent10 = -37;
  static constexpr int max_exponent = 128;
  static constexpr int max_exponent10 = 38;

  static constexpr c10::BFloat16 min() { return c10::BFloat16::from_bits(0x0080); }
  static constexpr c10::BFloat16 lowest() { return c10::BFloat16::from_bits(0xff7f); }
  static constexpr c10::BFloat16 max() { return c10::BFloat16::from_bits(0x7f7f); }
  static constexpr c10::BFloat16 epsilon() { return c10::BFloat16::from_bits(0x3c00); }
  static constexpr c10::BFloat16 round_error() { return c10::BFloat16::from_bits(0x3f00); }
  static constexpr c10::BFloat16 infinity() { return c10::BFloat16::from_bits(0x7f80); }
  static constexpr c10::BFloat16 quiet_NaN() { return c10::BFloat16::from_bits(0x7fc0); }
  static constexpr c10::BFloat16 signaling_NaN() { return c10::BFloat16::from_bits(0x7f81); }
  static constexpr c10::BFloat16 denorm_min() { return c10::BFloat16::from_bits(0x0001); }
};
