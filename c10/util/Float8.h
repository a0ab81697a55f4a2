// The 8-bit floating-point types.
#pragma once

#include <cstdint>
#include <type_traits>

#include "c10/util/ReducedFloat.h"

// Formats of the OCP specification (revision 1.0) and their "fnuz" variants. They are for storage;
// arithmetic is float's. The name describes the format: e4m3 has 4 exponent and 3 fraction bits;
// "fn" has no infinities, "uz" no negative zero.

namespace c10 {

namespace detail {

/// How a format treats numbers that are too large, and which codes are not numbers.
enum class Float8Kind : uint8_t { Saturating, Ieee, Fnuz };

template <int kFraction, int kBias, Float8Kind kKind>
struct Float8Format {
  // Added to the exponent by a conversion to float.
  static constexpr unsigned kExponents = (127u - kBias) << 23;
  static constexpr unsigned kInfinity = ((1u << (7 - kFraction)) - 1) << kFraction;
  static constexpr unsigned kLargest = kKind == Float8Kind::Saturating ? 0x7eu
                                       : kKind == Float8Kind::Ieee     ? kInfinity - 1
                                                                       : 0x7fu;

  /// Exact.
  C10_HOST_DEVICE static constexpr float to_float(uint8_t code) {
    const unsigned magnitude = code & 0x7fu;
    const unsigned sign = static_cast<unsigned>(code & 0x80u) << 24;
    const unsigned normal = (magnitude << (23 - kFraction)) + kExponents;

    // The least positive number is 2^(1 - bias - fraction bits).
    constexpr float kUnit =
        __builtin_bit_cast(float, static_cast<unsigned>(128 - kBias - kFraction) << 23);
    const unsigned subnormal =
        bits_of_float(static_cast<float>(static_cast<int>(magnitude)) * kUnit);

    unsigned result = sign | (magnitude < (1u << kFraction) ? subnormal : normal);
    if constexpr (kKind == Float8Kind::Fnuz) {
      result = code == 0x80u ? 0x7f800001u : result;
    } else if constexpr (kKind == Float8Kind::Ieee) {
      const unsigned special = 0x7f800000u | (magnitude << (23 - kFraction)) |
                               (magnitude > kInfinity ? 0x00400000u : 0u);
      result = magnitude >= kInfinity ? sign | special : result;
    } else {
      result = magnitude == 0x7fu ? sign | 0x7ff00000u : result;
    }
    return float_of_bits(result);
  }

  /// Rounds to nearest, ties to even.
  C10_HOST_DEVICE static constexpr uint8_t from_float(float value) {
    constexpr unsigned kShift = 23 - kFraction;
    constexpr unsigned kLeastNormal = (128u - kBias) << 23;
    // The spacing of floats at this number is that of the format's subnormals: the addition rounds.
    constexpr unsigned kRounder = (151u - kBias - kFraction) << 23;

    const unsigned bits = bits_of_float(value);
    const unsigned magnitude = bits & 0x7fffffffu;
    const unsigned normal =
        (magnitude - kExponents + ((1u << (kShift - 1)) - 1) + ((magnitude >> kShift) & 1u)) >>
        kShift;

    const bool small = magnitude < kLeastNormal;
    const unsigned subnormal =
        bits_of_float(float_of_bits(small ? magnitude : 0u) + float_of_bits(kRounder)) - kRounder;

    unsigned result = small ? subnormal : normal;
    const unsigned sign = (bits >> 24) & 0x80u;
    if constexpr (kKind == Float8Kind::Fnuz) {
      const bool not_a_number = magnitude > 0x7f800000u || (result > kLargest && !small);
      return static_cast<uint8_t>(not_a_number ? 0x80u : result == 0 ? 0u : result | sign);
    } else {
      const unsigned overflow = kKind == Float8Kind::Saturating ? kLargest : kInfinity;
      result = !small && result > kLargest ? overflow : result;
      result = magnitude > 0x7f800000u ? 0x7fu : result;
      return static_cast<uint8_t>(result | sign);
    }
  }
};

/// A power of two: an exponent without sign or zero.
struct ExponentFormat {
  C10_HOST_DEVICE static constexpr float to_float(uint8_t code) {
    return float_of_bits(code == 0       ? 0x00400000u
                         : code == 0xffu ? 0x7f800001u
                                         : static_cast<unsigned>(code) << 23);
  }

  /// Rounds to nearest, halfway cases up. The sign is lost; infinity becomes NaN.
  C10_HOST_DEVICE static constexpr uint8_t from_float(float value) {
    const unsigned bits = bits_of_float(value);
    const unsigned exponent = (bits >> 23) & 0xffu;
    const unsigned fraction = bits & 0x7fffffu;
    const bool up = fraction > 0x400000u || (fraction == 0x400000u && exponent != 0);
    return static_cast<uint8_t>(exponent == 0xffu ? 0xffu : exponent + (up ? 1u : 0u));
  }
};

}  // namespace detail

template <class Format>
struct Float8 {
  uint8_t x;

  Float8() = default;
  C10_HOST_DEVICE constexpr Float8(float value) : x(Format::from_float(value)) {}
  C10_HOST_DEVICE constexpr operator float() const { return Format::to_float(x); }
};

using Float8_e4m3fn = Float8<detail::Float8Format<3, 7, detail::Float8Kind::Saturating>>;
using Float8_e5m2 = Float8<detail::Float8Format<2, 15, detail::Float8Kind::Ieee>>;
using Float8_e4m3fnuz = Float8<detail::Float8Format<3, 8, detail::Float8Kind::Fnuz>>;
using Float8_e5m2fnuz = Float8<detail::Float8Format<2, 16, detail::Float8Kind::Fnuz>>;
using Float8_e8m0fnu = Float8<detail::ExponentFormat>;

}  // namespace c10
