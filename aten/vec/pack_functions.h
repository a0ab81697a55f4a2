// Mathematical functions of packs.
#pragma once

#include "aten/vec/core.h"
#include "aten/vec/pack.h"
#include "aten/vec/trigonometric.h"

#ifdef AT_VEC_HAS_PACKS

// Accuracy is that of the functions of one number: tests/aten/test_vec_math.py measures both.

namespace at::vec {
inline namespace CPU_CAPABILITY {

// --- Rounding, comparison and simple arithmetic ---

C10_ALWAYS_INLINE Pack floor(Pack x) { return rounded<_MM_FROUND_TO_NEG_INF>(x); }
C10_ALWAYS_INLINE Pack ceil(Pack x) { return rounded<_MM_FROUND_TO_POS_INF>(x); }
C10_ALWAYS_INLINE Pack trunc(Pack x) { return rounded<_MM_FROUND_TO_ZERO>(x); }
C10_ALWAYS_INLINE Pack round(Pack x) { return rounded<_MM_FROUND_TO_NEAREST_INT>(x); }

C10_ALWAYS_INLINE Pack square(Pack x) { return x * x; }
C10_ALWAYS_INLINE Pack reciprocal(Pack x) { return 1.0f / x; }
C10_ALWAYS_INLINE Pack rsqrt(Pack x) { return 1.0f / sqrt(x); }
C10_ALWAYS_INLINE Pack relu(Pack x) { return at_least(x, 0.0f); }
C10_ALWAYS_INLINE Pack conj(Pack x) { return x; }

C10_ALWAYS_INLINE Pack as_pack(Pack x) { return x; }
C10_ALWAYS_INLINE Pack as_pack(float x) { return broadcast(x); }

template <class A, class B>
concept PackOperands = std::same_as<A, Pack> || std::same_as<B, Pack>;

/// NaN if either is NaN.
template <class A, class B>
  requires PackOperands<A, B>
C10_ALWAYS_INLINE Pack maximum(A a, B b) {
  const Pack x = as_pack(a);
  const Pack y = as_pack(b);
  const Pack larger = x > y ? x : y;
  return x != x ? x : larger;
}
template <class A, class B>
  requires PackOperands<A, B>
C10_ALWAYS_INLINE Pack minimum(A a, B b) {
  const Pack x = as_pack(a);
  const Pack y = as_pack(b);
  const Pack smaller = x < y ? x : y;
  return x != x ? x : smaller;
}

// --- Exponentials ---

/// Whether 1 + r is rounded before exp(r) - 1 - r is added, which saves a quarter of a unit in the
/// last place and costs two instructions.
enum class ExpRounding : uint8_t { Fast, Careful };

/// exp(r) for |r| <= ln 2 / 2.
template <ExpRounding kRounding>
C10_ALWAYS_INLINE Pack exp_reduced(Pack r) {
  const Pack square = r * r;
  const Pack low = polynomial(r, 0x1.fffffcp-2f, 0x1.555492p-3f);
  const Pack high = polynomial(r, 0x1.5558f2p-5f, 0x1.1239e0p-7f);
  const Pack p = multiply_add(square, multiply_add(square, broadcast(0x1.6a2432p-10f), high), low);
  if constexpr (kRounding == ExpRounding::Fast) return multiply_add(square, p, r) + 1.0f;

  const Pack whole = 1.0f + r;
  const Pack lost = r - (whole - 1.0f);
  return whole + multiply_add(square, p, lost);
}

/// x 2^k for the whole k that kRoundFloat was added to, in [-150, 128], and x in [1/2, 2]. The
/// result is rounded once, and a normal number if `is_normal`.
C10_ALWAYS_INLINE Pack times_power_of_two(Pack x, Pack shifted, [[maybe_unused]] bool is_normal) {
#ifdef __AVX512F__
  return _mm512_scalef_ps(x, shifted - kRoundFloat);
#else
  if (is_normal) return from_bits(bits_of(x) + (bits_of(shifted) << 23));

  // In two factors: denormal results are rounded only in the last multiplication.
  typedef int32_t Integers __attribute__((vector_size(sizeof(Pack))));
  const auto k = reinterpret_cast<Integers>(bits_of(shifted) - bits_of(kRoundFloat));
  const Integers half = k >> 1;
  const Integers scale1 = (half + 127) << 23;
  const Integers scale2 = (k - half + 127) << 23;
  return x * reinterpret_cast<Pack>(scale1) * reinterpret_cast<Pack>(scale2);
#endif
}

/// exp(x) for x in [-104, 89]; `is_normal` as above.
template <ExpRounding kRounding>
C10_ALWAYS_INLINE Pack exp_bounded(Pack x, bool is_normal) {
  const Pack shifted = multiply_add(x, broadcast(0x1.715476p+0f), broadcast(kRoundFloat));
  const Pack k = shifted - kRoundFloat;
  const Pack r =
      multiply_add(k, broadcast(-0x1.7f7d1cp-20f), multiply_add(k, broadcast(-0x1.62e4p-1f), x));
  return times_power_of_two(exp_reduced<kRounding>(r), shifted, is_normal);
}

C10_ALWAYS_INLINE Pack exp(Pack x) {
  const bool is_normal = all_at_most(abs(x), 86.0f);
  return exp_bounded<ExpRounding::Fast>(at_least(at_most(x, 89.0f), -104.0f), is_normal);
}
/// exp(-magnitude) for magnitude >= 0.
template <ExpRounding kRounding = ExpRounding::Fast>
C10_ALWAYS_INLINE Pack exp_of_negative(Pack magnitude) {
  const bool is_normal = all_at_most(magnitude, 86.0f);
  return exp_bounded<kRounding>(-at_most(magnitude, 104.0f), is_normal);
}

C10_ALWAYS_INLINE Pack exp2(Pack x) {
  const bool is_normal = all_at_most(abs(x), 124.0f);
  const Pack clamped = at_least(at_most(x, 128.5f), -150.5f);
  const Pack shifted = clamped + kRoundFloat;
  const Pack r = (clamped - (shifted - kRoundFloat)) * 0x1.62e43p-1f;
  return times_power_of_two(exp_reduced<ExpRounding::Fast>(r), shifted, is_normal);
}

/// 1 / (1 + exp(-x))
C10_ALWAYS_INLINE Pack sigmoid(Pack x) {
  const Pack e = exp_of_negative(abs(x));
  const Pack sum = 1.0f + e;
  const Pack lost = e - (sum - 1.0f);  // what rounding took from the sum
  const Pack numerator = x < 0.0f ? e : broadcast(1.0f);
  const Pack quotient = numerator / sum;

  // The remainder of the exact division, by about 1 + e.
  const Pack remainder = multiply_add(-quotient, lost, multiply_add(-quotient, sum, numerator));
  const Pack inverse = multiply_add(e, broadcast(-0.47f), broadcast(0.97f));
  return multiply_add(remainder, inverse, quotient);
}

/// log(1 + exp(x))
C10_ALWAYS_INLINE Pack softplus(Pack x) {
  const Pack e = exp_of_negative<ExpRounding::Careful>(abs(x));
  // log(1 + e) = e + e^2 P(e - 1/2) for e in [0, 1]
  const Pack t = e - 0.5f;
  const Pack p =
      polynomial(t, -0x1.833704p-2f, 0x1.6f0d74p-3f, -0x1.7de0b0p-4f, 0x1.a2858ap-5f,
                 -0x1.d99464p-6f, 0x1.10e820p-6f, -0x1.4d7fccp-7f, 0x1.c639c2p-8f, -0x1.b30220p-9f);
  // The smallest term first, but of two terms in one step.
  const Pack first = x < 0.0f ? e : x;
  const Pack second = x < 0.0f ? broadcast(0.0f) : e;
  return multiply_add(e * e, p, first) + second;
}

/// A polynomial near 0, otherwise 1 - 2 / (exp(2 |x|) + 1).
C10_ALWAYS_INLINE Pack tanh(Pack x) {
  const Pack magnitude = abs(x);
  const Pack square = x * x;
  const Pack p = polynomial(square, -0x1.555532p-2f, 0x1.1106f6p-3f, -0x1.b835a4p-5f,
                            0x1.51f908p-6f, -0x1.750f82p-8f);
  const Pack small = multiply_add(square * x, p, x);
  const Pack large = 1.0f - 2.0f / (exp(magnitude + magnitude) + 1.0f);
  return copysign(magnitude < 0.625f ? small : large, x);
}

// --- Trigonometric functions ---

/// f(x) in the lanes in which `magnitude` is above `limit`, otherwise `value`.
template <float (*f)(float)>
C10_NOINLINE Pack replace_above(Pack magnitude, float limit, Pack x, Pack value) {
  for (int lane = 0; lane < kPack; ++lane)
    if (magnitude[lane] > limit) value[lane] = f(x[lane]);
  return value;
}

/// |x| = quadrant pi/2 + fraction + rest with |fraction| <= pi/4, for |x| <= kLimit.
struct PackAngle {
  static constexpr float kLimit = 30000.0f;  // larger quadrants lose bits of the fraction

  PackBits quadrant;  // in the low two bits
  Pack fraction;
  Pack rest;

  C10_ALWAYS_INLINE explicit PackAngle(Pack magnitude) {
    // pi/2 in three parts
    const Pack high = broadcast(-0x1.921fb6p+0f);
    const Pack middle = broadcast(0x1.777a5cp-25f);
    const Pack low = broadcast(0x1.ee59dap-50f);

    const Pack shifted = multiply_add(magnitude, broadcast(0x1.45f306p-1f), broadcast(kRoundFloat));
    quadrant = bits_of(shifted);
    const Pack turns = shifted - kRoundFloat;
    const Pack exact = multiply_add(turns, high, magnitude);
    const Pack product = turns * middle;
    fraction = exact + product;
    const Pack lost = multiply_add(turns, middle, -product) + ((exact - fraction) + product);
    rest = multiply_add(turns, low, lost);
  }

  /// The sine of the angle plus `quarters` right angles.
  C10_ALWAYS_INLINE Pack sine(uint32_t quarters) const {
    const Pack square = fraction * fraction;
    const Pack p =
        polynomial(square, -0x1.555556p-3f, 0x1.111174p-7f, -0x1.a05956p-13f, 0x1.7c2d96p-19f);
    const Pack sine = fraction + multiply_add(fraction * square, p, rest);

    const Pack q = polynomial(square, 0x1.55554ap-5f, -0x1.6c0c28p-10f, 0x1.99e80cp-16f);
    const Pack half = square * 0.5f;
    const Pack whole = 1.0f - half;
    const Pack lost = (1.0f - whole) - half;
    const Pack cosine = whole + multiply_add(square * square, q, lost - fraction * rest);

    const PackBits turned = quadrant + quarters;
    const Pack value = (turned & 1u) != 0u ? cosine : sine;
    return from_bits(bits_of(value) ^ ((turned & 2u) << 30));
  }
};

C10_ALWAYS_INLINE Pack sin(Pack x) {
  const Pack magnitude = abs(x);
  const Pack sine = PackAngle(magnitude).sine(0);
  const Pack value = from_bits(bits_of(sine) ^ (bits_of(x) & 0x80000000u));
  if (all_at_most(magnitude, PackAngle::kLimit)) return value;
  return replace_above<sin>(magnitude, PackAngle::kLimit, x, value);
}
C10_ALWAYS_INLINE Pack cos(Pack x) {
  const Pack magnitude = abs(x);
  const Pack value = PackAngle(magnitude).sine(1);
  if (all_at_most(magnitude, PackAngle::kLimit)) return value;
  return replace_above<cos>(magnitude, PackAngle::kLimit, x, value);
}

// --- The error function ---

/// erf(x) = x P(|x| - centre), with a polynomial for each half of a unit. The centres are numbers
/// whose erf(x) / x is nearly a float.
C10_ALWAYS_INLINE Pack erf(Pack x) {
  static constexpr float kCentres[8] = {0x1.02d7fep-2f, 0x1.7eefe4p-1f, 0x1.3fb9a2p+0f,
                                        0x1.bf5528p+0f, 0x1.1fb88ap+1f, 0x1.601edap+1f,
                                        0x1.a02d6cp+1f, 0x1.dfd2b8p+1f};
  static constexpr float kCoefficients[8][8] = {
      {0x1.1ad42ap+0f, 0x1.e5ea28p-1f, 0x1.7a3d9ap-1f, 0x1.210fe6p-1f, 0x1.c6e112p-2f,
       0x1.7432eep-2f, 0x1.3af0f6p-2f, 0x1.112ad4p-2f},
      {-0x1.76d646p-3f, -0x1.a06032p-2f, -0x1.9b4274p-2f, -0x1.2ba3a8p-2f, -0x1.8e2864p-3f,
       -0x1.0e29cep-3f, -0x1.836b16p-4f, -0x1.237c22p-4f},
      {-0x1.568088p-2f, -0x1.9ed054p-4f, 0x1.59c4cap-4f, 0x1.d3c3f0p-4f, 0x1.44b7d4p-4f,
       0x1.840d56p-5f, 0x1.dc2536p-6f, 0x1.370468p-6f},
      {0x1.b0f99ap-4f, 0x1.5b3af4p-3f, 0x1.10afb0p-4f, -0x1.b9726ap-7f, -0x1.a245e0p-6f,
       -0x1.09c17ep-6f, -0x1.22ee1ep-7f, -0x1.4bbbbap-8f},
      {0x1.6aa2c8p-4f, -0x1.90ca28p-6f, -0x1.db6920p-5f, -0x1.458794p-6f, 0x1.7112b4p-9f,
       0x1.353718p-8f, 0x1.5a7086p-9f, 0x1.6102f4p-10f},
      {-0x1.2836a6p-5f, -0x1.373a72p-5f, 0x1.189d5ap-7f, 0x1.ed7528p-7f, 0x1.cb97ecp-9f,
       -0x1.77b12cp-11f, -0x1.77ff02p-11f, -0x1.73838ep-12f},
      {-0x1.272654p-6f, 0x1.cd4e42p-7f, 0x1.4c418ap-7f, -0x1.b4fd0ap-9f, -0x1.74de28p-9f,
       -0x1.839036p-12f, 0x1.22fa5cp-13f, 0x1.75cad4p-14f},
      {0x1.03d2e4p-7f, 0x1.46f036p-8f, -0x1.432540p-8f, -0x1.4afdecp-10f, 0x1.ebe5e8p-11f,
       0x1.7ea9a2p-12f, 0x1.6bda0ap-17f, -0x1.40bb5cp-16f},
  };
  constexpr float kLargest = 3.9453125f;  // erf rounds to 1 from there on

  const Pack magnitude = at_most(abs(x), kLargest);
  const PackBits index = bits_of(magnitude + 4.0f) >> 20;
  const Pack t = magnitude - look_up(kCentres, index);
  Pack p = look_up(kCoefficients[7], index);
#pragma GCC unroll 6
  for (int power = 6; power > 0; --power)
    p = multiply_add(p, t, look_up(kCoefficients[power], index));
  const Pack value = multiply_add(magnitude, look_up(kCoefficients[0], index), (magnitude * t) * p);
  return copysign(at_most(value, 1.0f), x);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec

#endif  // AT_VEC_HAS_PACKS
