// Exponentials, logarithms and powers.
#pragma once

#include "aten/vec/arithmetic.h"
#include "aten/vec/core.h"
#include "aten/vec/device_math.h"

// exp(x) = 2^k exp(r) with k = round(x / ln 2) and |r| <= ln 2 / 2. log(x) = e ln 2 + log(1 + f)
// with x = 2^e (1 + f) and 1 + f in [sqrt(1/2), sqrt(2)).

namespace at::vec {
inline namespace CPU_CAPABILITY {

inline constexpr double kLn2 = 0x1.62e42fefa39efp-1;
inline constexpr double kLog2E = 0x1.71547652b82fep+0;
inline constexpr double kLog10E = 0x1.bcb7b1526e50ep-2;
inline constexpr double kLog10Of2 = 0x1.34413509f79ffp-2;

namespace wide {

/// exp(r) - 1 for |r| <= ln 2 / 2, relative error 2^-43.
C10_ALWAYS_INLINE double expm1_reduced(double r) {
  const double p = polynomial(r, 0x1.fffffffff7c09p-2, 0x1.5555555567217p-3, 0x1.55555573220c6p-5,
                              0x1.111110e13f9ecp-7, 0x1.6c164fd209e68p-10, 0x1.a01a7d2d23e8cp-13,
                              0x1.a1584577a8ef9p-16, 0x1.71e94c10ef32dp-19);
  return multiply_add(r * r, p, r);
}

/// Limits x to a range outside of which a float result is 0 or infinite anyway. NaN stays NaN.
C10_ALWAYS_INLINE double clamp_exponent(double x) {
  x = x < -1000.0 ? -1000.0 : x;
  return x > 1000.0 ? 1000.0 : x;
}

C10_ALWAYS_INLINE double exp2(double x) {
  x = clamp_exponent(x);
  const double shifted = x + kRound;
  const double power = exponential_of_rounded(shifted);
  return multiply_add(power, expm1_reduced((x - (shifted - kRound)) * kLn2), power);
}
C10_ALWAYS_INLINE double exp(double x) { return exp2(x * kLog2E); }

C10_ALWAYS_INLINE double expm1(double x) {
  x = x < -600.0 ? -600.0 : x;
  x = x > 600.0 ? 600.0 : x;
  const double shifted = multiply_add(x, kLog2E, kRound);
  const double power = exponential_of_rounded(shifted);
  const double r = multiply_add(shifted - kRound, -kLn2, x);
  return multiply_add(power, expm1_reduced(r), power - 1.0);
}

/// x = 2^exponent * (1 + fraction), for a positive normal x.
struct Decomposed {
  double exponent;
  double fraction;
};

C10_ALWAYS_INLINE Decomposed decompose(double x) {
  constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdu, kOne = 0x3ff0000000000000u;
  // Adding the distance from sqrt(1/2) to 1 moves the exponent's step to sqrt(1/2) * 2^e.
  const uint64_t biased = (bits_of(x) + (kOne - kSqrtHalf)) >> 52;
  const double exponent = from_bits(biased | 0x4330000000000000u) - (0x1p52 + 1023.0);
  const double mantissa = from_bits(bits_of(x) - ((biased - 1023) << 52));
  return {exponent, mantissa - 1.0};
}

/// log(1 + f) for f in [sqrt(1/2) - 1, sqrt(2) - 1], relative error 2^-43.
C10_ALWAYS_INLINE double log1p_reduced(double f) {
  const double p = polynomial(f, 0x1.55555554c5dcep-2, -0x1.fffffff539207p-3, 0x1.99999a919254ap-3,
                              -0x1.55555c4139145p-3, 0x1.2492082e4025cp-3, -0x1.fffcad6f70bdfp-4,
                              0x1.c72a8b7942b6cp-4, -0x1.99fd0678891efp-4, 0x1.73c440fc61e55p-4,
                              -0x1.4f5aa210bd699p-4, 0x1.3a83a476fbd43p-4, -0x1.503b0399f65eep-4,
                              0x1.46771d660ad4ep-4, -0x1.45d60a78ca17ep-5);
  const double square = f * f;
  return multiply_add(square * f, p, multiply_add(square, -0.5, f));
}

/// The logarithm of x, given a `value` that is right for positive finite x.
C10_ALWAYS_INLINE double logarithm_edges(double x, double value) {
  value = x == kInfinity ? kInfinity : value;
  const double otherwise = x == 0.0 ? -kInfinity : __builtin_nan("");
  return x > 0.0 ? value : otherwise;
}

C10_ALWAYS_INLINE double log(double x) {
  const Decomposed d = decompose(x);
  return logarithm_edges(x, multiply_add(d.exponent, kLn2, log1p_reduced(d.fraction)));
}
C10_ALWAYS_INLINE double log2(double x) {
  const Decomposed d = decompose(x);
  return logarithm_edges(x, multiply_add(log1p_reduced(d.fraction), kLog2E, d.exponent));
}
C10_ALWAYS_INLINE double log10(double x) {
  const Decomposed d = decompose(x);
  return logarithm_edges(x,
                         multiply_add(log1p_reduced(d.fraction), kLog10E, d.exponent * kLog10Of2));
}
/// For float x, or x that is not tiny: where 1 + x drops too many bits, log1p(x) is x to float
/// precision.
C10_ALWAYS_INLINE double log1p(double x) { return abs(x) < 0x1p-25 ? x : log(1.0 + x); }

}  // namespace wide

// Functions of double, at most 1.5 units in the last place off.
namespace precise {

// ln 2 in two parts: whole numbers below 2^11 times the first, of 42 bits, are exact.
inline constexpr double kLn2High = 0x1.62e42fefa3800p-1;
inline constexpr double kLn2Low = 0x1.ef35793c76730p-45;

/// (exp(r) - 1 - r) / r^2 for |r| <= ln 2 / 2.
C10_ALWAYS_INLINE double exp_tail(double r) {
  return polynomial(r, 0x1.0p-1, 0x1.5555555555559p-3, 0x1.555555555553fp-5, 0x1.111111110f6dep-7,
                    0x1.6c16c16c1f04fp-10, 0x1.a01a01afd20dfp-13, 0x1.a01a017bd17e6p-16,
                    0x1.71ddf883d978ep-19, 0x1.27e536190df87p-22, 0x1.af5e6b3ba80c1p-26,
                    0x1.1ee89e11a3714p-29);
}

/// x 2^k for the whole k in [-1100, 1100] that kRound was added to. In two factors: k may exceed
/// the largest exponent, and denormal results are rounded only in the last multiplication.
C10_ALWAYS_INLINE double times_power_of_two(double x, double shifted) {
  const uint64_t biased = bits_of(shifted) - bits_of(kRound) + 2 * 1023;
  const uint64_t half = biased >> 1;
  return x * from_bits(half << 52) * from_bits((biased - half) << 52);
}

C10_ALWAYS_INLINE double exp(double x) {
  // Zeros are selected, as denormal numbers are multiplied slowly: -inf is common.
  const bool zero = x < -746.0;
  x = zero ? 0.0 : x;
  x = x > 710.0 ? 710.0 : x;

  const double shifted = multiply_add(x, kLog2E, kRound);
  const double k = shifted - kRound;
  const double r = multiply_add(k, -kLn2Low, multiply_add(k, -kLn2High, x));
  const double value = multiply_add(r * r, exp_tail(r), r) + 1.0;
  return zero ? 0.0 : times_power_of_two(value, shifted);
}

C10_ALWAYS_INLINE double exp2(double x) {
  const bool zero = x < -1080.0;
  x = zero ? 0.0 : x;
  x = x > 1025.0 ? 1025.0 : x;

  const double shifted = x + kRound;
  const double r = (x - (shifted - kRound)) * kLn2;
  const double value = multiply_add(r * r, exp_tail(r), r) + 1.0;
  return zero ? 0.0 : times_power_of_two(value, shifted);
}

C10_ALWAYS_INLINE double expm1(double x) {
  const double given = x;
  x = x < -40.0 ? -40.0 : x;
  x = x > 710.0 ? 710.0 : x;

  const double shifted = multiply_add(x, kLog2E, kRound);
  const double k = shifted - kRound;
  const double exact = multiply_add(k, -kLn2High, x);
  const double r = multiply_add(k, -kLn2Low, exact);
  const double lost = multiply_add(k, -kLn2Low, exact - r);

  // 2^k ((1 - 2^-k) + exp(r) - 1); of a large k, the first term is 1.
  const uint64_t opposite = bits_of(kRound) - bits_of(shifted) + 1023;
  const double whole = k < 60.0 ? 1.0 - from_bits(opposite << 52) : 1.0;

  // The large terms first, as they may cancel, and what rounding took from their sum with the rest.
  const double sum = whole + r;
  const double rest = (r - (sum - whole)) + lost;
  const double value = times_power_of_two(sum + multiply_add(r * r, exp_tail(r), rest), shifted);
  return given == 0.0 ? given : value;  // keeps the sign of zero
}

/// exponent ln 2 + log(1 + f) + rest, for f as in wide::log1p_reduced and a small rest.
C10_ALWAYS_INLINE double log_sum(double exponent, double f, double rest) {
  const double s = f / (2.0 + f);
  const double square = s * s;
  const double series =
      square * polynomial(square, 0x1.5555555555592p-1, 0x1.999999997feaep-2, 0x1.24924941e4473p-2,
                          0x1.c71c52133be59p-3, 0x1.74663cfeb2e80p-3, 0x1.39a1e95e84bdcp-3,
                          0x1.2f03a71266e96p-3);

  // log(1 + f) = f - f^2 / 2 + s (f^2 / 2 + series)
  const double half = 0.5 * f * f;
  const double low = multiply_add(exponent, kLn2Low, rest);
  const double tail = multiply_add(s, half + series, low) - half;
  return multiply_add(exponent, kLn2High, f + tail);
}

C10_ALWAYS_INLINE double log(double x) {
  const bool denormal = x < 0x1p-1022;
  const wide::Decomposed d = wide::decompose(denormal ? x * 0x1p54 : x);
  const double value = log_sum(denormal ? d.exponent - 54.0 : d.exponent, d.fraction, 0.0);
  return wide::logarithm_edges(x, value);
}

C10_ALWAYS_INLINE double log1p(double x) {
  // log(1 + x) = log(sum) + lost / sum, with what rounding took from the sum.
  const double sum = 1.0 + x;
  const double lost = x < 1.0 ? x - (sum - 1.0) : 1.0 - (sum - x);
  const wide::Decomposed d = wide::decompose(sum);
  const double value = wide::logarithm_edges(sum, log_sum(d.exponent, d.fraction, lost / sum));
  return x == 0.0 ? x : value;  // keeps the sign of zero
}

}  // namespace precise

C10_ALWAYS_INLINE float exp(float x) {
  AT_VEC_ON_DEVICE(::expf(x));
  // Avoids denormals, which processors multiply slowly: -inf is common, in attention masks.
  const bool zero = x < -104.0f;
  x = zero ? 0.0f : x;
  x = x > 89.0f ? 89.0f : x;

  const float shifted = multiply_add(x, static_cast<float>(kLog2E), kRoundFloat);
  const float k = shifted - kRoundFloat;
  // ln 2 in two parts. k times the first, of 16 bits, is exact even without fused multiply-add.
  const float r = multiply_add(k, -0x1.7f7d1cp-20f, multiply_add(k, -0x1.62e4p-1f, x));

  const float p = polynomial(r, 0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558f2p-5f, 0x1.1239e0p-7f,
                             0x1.6a2432p-10f);
  const float result = multiply_add(r * r, p, r) + 1.0f;

  // 2^k in two factors: k ranges from -150 (denormal results, rounded only in the last
  // multiplication) to 128.
  const int32_t exponent = static_cast<int32_t>(bits_of(shifted) - bits_of(kRoundFloat));
  const int32_t half = exponent >> 1;
  const float scale1 = from_bits(static_cast<uint32_t>(half + 127) << 23);
  const float scale2 = from_bits(static_cast<uint32_t>(exponent - half + 127) << 23);
  return zero ? 0.0f : result * scale1 * scale2;
}
C10_ALWAYS_INLINE double exp(double x) {
  AT_VEC_ON_DEVICE(::exp(x));
  return precise::exp(x);
}

C10_ALWAYS_INLINE float exp2(float x) {
  AT_VEC_ON_DEVICE(::exp2f(x));
  return static_cast<float>(wide::exp2(x));
}
C10_ALWAYS_INLINE double exp2(double x) {
  AT_VEC_ON_DEVICE(::exp2(x));
  return precise::exp2(x);
}
C10_ALWAYS_INLINE float expm1(float x) {
  AT_VEC_ON_DEVICE(::expm1f(x));
  const float result = static_cast<float>(wide::expm1(x));
  return x == 0.0f ? x : result;  // keeps the sign of zero
}
C10_ALWAYS_INLINE double expm1(double x) {
  AT_VEC_ON_DEVICE(::expm1(x));
  return precise::expm1(x);
}

C10_ALWAYS_INLINE float log(float x) {
  AT_VEC_ON_DEVICE(::logf(x));
  constexpr uint32_t kSqrtHalf = 0x3f3504f3u, kOne = 0x3f800000u;

  const bool denormal = x < 0x1p-126f;
  const float normal = denormal ? x * 0x1p23f : x;
  const int32_t biased = static_cast<int32_t>((bits_of(normal) + (kOne - kSqrtHalf)) >> 23);
  const float e = static_cast<float>(biased - (denormal ? 150 : 127));
  const float f = from_bits(bits_of(normal) - (static_cast<uint32_t>(biased - 127) << 23)) - 1.0f;

  const float p =
      polynomial(f, 0x1.555548p-2f, -0x1.000006p-2f, 0x1.99a4b6p-3f, -0x1.555c4ep-3f,
                 0x1.233760p-3f, -0x1.fc21ccp-4f, 0x1.e6f0bap-4f, -0x1.de3dacp-4f, 0x1.1458e2p-4f);
  const float square = f * f;
  // Add the smallest terms first.
  float tail = multiply_add(e, 0x1.7f7d1cp-20f, square * f * p);
  tail = multiply_add(square, -0.5f, tail);
  const float value = multiply_add(e, 0x1.62e4p-1f, f + tail);

  const float positive = x == kInfinityFloat ? x : value;
  const float otherwise = x == 0.0f ? -kInfinityFloat : __builtin_nanf("");
  return x > 0.0f ? positive : otherwise;
}
C10_ALWAYS_INLINE double log(double x) {
  AT_VEC_ON_DEVICE(::log(x));
  return precise::log(x);
}

C10_ALWAYS_INLINE float log2(float x) {
  AT_VEC_ON_DEVICE(::log2f(x));
  return static_cast<float>(wide::log2(x));
}
C10_ALWAYS_INLINE double log2(double x) { return __builtin_log2(x); }
C10_ALWAYS_INLINE float log10(float x) {
  AT_VEC_ON_DEVICE(::log10f(x));
  return static_cast<float>(wide::log10(x));
}
C10_ALWAYS_INLINE double log10(double x) { return __builtin_log10(x); }
C10_ALWAYS_INLINE float log1p(float x) {
  AT_VEC_ON_DEVICE(::log1pf(x));
  return static_cast<float>(wide::log1p(x));
}
C10_ALWAYS_INLINE double log1p(double x) {
  AT_VEC_ON_DEVICE(::log1p(x));
  return precise::log1p(x);
}

/// Like C's pow: pow(x, 0) and pow(1, y) are 1 even for NaN; a negative x needs an integer y.
C10_ALWAYS_INLINE float pow(float x, float y) {
  const double magnitude = wide::exp2(static_cast<double>(y) * wide::log2(abs(x)));

  const float absolute_y = abs(y);
  const bool integer = trunc(y) == y;  // infinities count as even integers
  const bool odd = integer && absolute_y < 0x1p24f && trunc(y * 0.5f) != y * 0.5f;

  float result = static_cast<float>(magnitude);
  result = odd ? copysign(result, x) : result;

  const bool invalid = x < 0.0f && x > -kInfinityFloat && !integer;
  result = invalid ? __builtin_nanf("") : result;

  const bool one = y == 0.0f || x == 1.0f || (x == -1.0f && absolute_y == kInfinityFloat);
  return one ? 1.0f : result;
}
C10_ALWAYS_INLINE double pow(double x, double y) { return __builtin_pow(x, y); }

/// 1 / (1 + exp(-x))
C10_ALWAYS_INLINE float sigmoid(float x) {
  const float e = exp(-abs(x));
  const float sum = 1.0f + e;
  const float quotient = (x < 0.0f ? e : 1.0f) / sum;

  // The rounding error of the sum, relative to it: 1 / sum is about 1 - e / 2. This saves most of
  // one unit in the last place.
  const float lost = (e - (sum - 1.0f)) * multiply_add(e, -0.5f, 1.0f);
  return multiply_add(-quotient, lost, quotient);
}
C10_ALWAYS_INLINE double sigmoid(double x) {
  const double e = exp(-abs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

/// log(1 + exp(x))
C10_ALWAYS_INLINE float softplus(float x) { return relu(x) + log1p(exp(-abs(x))); }
C10_ALWAYS_INLINE double softplus(double x) { return relu(x) + log1p(exp(-abs(x))); }

/// log(exp(a) + exp(b)). Equal infinities stay as they are.
C10_ALWAYS_INLINE float logaddexp(float a, float b) {
  const float result = maximum(a, b) + log1p(exp(-abs(a - b)));
  return a == b ? a + static_cast<float>(kLn2) : result;
}
C10_ALWAYS_INLINE double logaddexp(double a, double b) {
  const double result = maximum(a, b) + log1p(exp(-abs(a - b)));
  return a == b ? a + kLn2 : result;
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
