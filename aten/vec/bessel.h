// Bessel functions of orders 0 and 1.
#pragma once

#include "aten/vec/arithmetic.h"
#include "aten/vec/chebyshev.h"
#include "aten/vec/exponential.h"
#include "aten/vec/modified_bessel.h"

// j and y are of the first and second kind, k the modified functions of the second kind, also
// scaled by exp(x). Up to 8, j and y are series in t = x^2 / 32 - 1: j divided by its first two
// zeros, y minus 2/pi log(x) j(x). Above, they are sqrt(1 / (pi x)) times a rotation of (cos x, sin
// x) by P and Q / (x / 8), series in 128 / x^2 - 1. Not vectorised.

namespace at::vec {
inline namespace CPU_CAPABILITY {

C10_DEVICE_TABLE double kBesselJ0[] = {
    0x1.04e13f8fab020p-9,  -0x1.57881fc4f0fe7p-9,  0x1.c77c9fadedfbep-11, -0x1.655df19f782e1p-13,
    0x1.71ec1adf658d6p-16, -0x1.0fc6ac62551f1p-19, 0x1.2a75338f61144p-23, -0x1.fcfc110254f74p-28,
    0x1.5b014c7f3264cp-32, -0x1.8329f79080c9fp-37, 0x1.682aafbfa7502p-42, -0x1.1bba6f6fac948p-47,
    0x1.7f85785f8d74ap-53, -0x1.c1bf0c95af860p-59, 0x1.cdf6a922f9295p-65};
C10_DEVICE_TABLE double kBesselJ1[] = {
    0x1.2481f9ddd6e60p-12, -0x1.46b401aad3370p-12, 0x1.66c414b5c0674p-14, -0x1.dac60bd4bf0c6p-17,
    0x1.a72e33476f37ap-20, -0x1.108829dfa9288p-23, 0x1.0a34bbef6d16cp-27, -0x1.98a458b97e18cp-32,
    0x1.fa7e65328f130p-37, -0x1.02f61d24d8a58p-41, 0x1.bca5edb996a01p-47, -0x1.452fd7be98cb7p-52,
    0x1.9a2b2940c3b58p-58, -0x1.c2d74fed71ec1p-64};
C10_DEVICE_TABLE double kBesselY0[] = {
    -0x1.0f88700652ecbp-5,  -0x1.190fcad75eca2p-2, 0x1.6ea98ade961a1p-3,   0x1.0bd84f7777bd6p-2,
    -0x1.6b1d515347a69p-3,  0x1.82a2a1c96271fp-5,  -0x1.dd9fb881100e6p-8,  0x1.8ad9320695af0p-11,
    -0x1.d873fa854ed4dp-15, 0x1.ae5f9e7adde46p-19, -0x1.35649a4058471p-23, 0x1.68b1c63f94e89p-28,
    -0x1.5c457ea1daccep-33, 0x1.1b53ed8a54178p-38, -0x1.89f1fa5209ce6p-44, 0x1.d9b425efafdd8p-50,
    -0x1.f1a7711576130p-56};
C10_DEVICE_TABLE double kBesselY1[] = {
    0x1.4ca997b04b826p-9,   -0x1.07927e87fd36bp-6, -0x1.88db11a1e0337p-4,  0x1.59ea4fc627f66p-4,
    -0x1.d020c3798a51ap-6,  0x1.5aadc0f38e31dp-8,  -0x1.504ea6f6291cdp-11, 0x1.cde014f53622dp-15,
    -0x1.dadf80f6e35f9p-19, 0x1.7c45af600d3dcp-23, -0x1.e8a21e8e1cb71p-28, 0x1.01c33ee943bc5p-32,
    -0x1.c6f1d25aa2e2ap-38, 0x1.54fcf661706ffp-43, -0x1.b7b8e4b5d24fcp-49, 0x1.ed24ebd671b40p-55};
C10_DEVICE_TABLE double kBesselP0[] = {
    0x1.ffb944543151ep-1,  -0x1.194ac5283c04ap-11, 0x1.9cbe8b7395851p-19, -0x1.bc26938a82ce2p-25,
    0x1.c03a8b38ca73cp-30, -0x1.59ddcc28538a8p-34, 0x1.6baf23642c655p-38, -0x1.e4a709e74825bp-42,
    0x1.85b481672b1eep-45, -0x1.6d432cb7153fep-48, 0x1.84fff80b613c2p-51, -0x1.cdb3179595bbdp-54,
    0x1.2cca86c6338d9p-56};
C10_DEVICE_TABLE double kBesselQ0[] = {
    -0x1.fdbbf76547cafp-7,  0x1.1ed40c7bf4761p-14, -0x1.8e1017183d060p-21, 0x1.34c3b3f0f3e19p-26,
    -0x1.8fc71e52a5280p-31, 0x1.7334b27ad2886p-35, -0x1.c34f407df8ba4p-39, 0x1.52763be90a889p-42,
    -0x1.2c827d7f6e2d5p-45, 0x1.329f0c1b6c666p-48, -0x1.5fa3147b301c9p-51, 0x1.bd9648f62c6b8p-54,
    -0x1.33cdb710c05d6p-56, 0x1.cab223df72976p-59, -0x1.6d757f20d1676p-61};
C10_DEVICE_TABLE double kBesselP1[] = {
    0x1.003b2e82f5f12p+0,   0x1.d7545f75d7da9p-11, -0x1.0b9505ce79bbap-18, 0x1.0953cdc0829efp-24,
    -0x1.01454cf5d6ac0p-29, 0x1.83c5742be2cc3p-34, -0x1.9171afe32fc02p-38, 0x1.088a8b6783e50p-41,
    -0x1.a5ead8bea617fp-45, 0x1.88e8192bcb004p-48, -0x1.a045d1e6aa4e8p-51, 0x1.ebf5d803cd896p-54,
    -0x1.3f5b1671b84fbp-56};
C10_DEVICE_TABLE double kBesselQ1[] = {
    0x1.7f34213492af6p-5,  -0x1.93d0e4fa70662p-14, 0x1.eaa02bf61504bp-21, -0x1.681617e8645adp-26,
    0x1.c467999a69933p-31, -0x1.9c37875f5ebc0p-35, 0x1.eeb91abca8164p-39, -0x1.6f877e53fb185p-42,
    0x1.43f8057a1761fp-45, -0x1.48ac416e30219p-48, 0x1.772d4dd737bf2p-51, -0x1.d994b1fddb9f0p-54,
    0x1.46123a8bbc898p-56, -0x1.e48d4f144b8b2p-59, 0x1.811d207bb2e69p-61};
C10_DEVICE_TABLE double kBesselK0Small[] = {
    -0x1.12166e9d2f61fp-2, 0x1.608d881213db9p-2,  0x1.26bf6554a9085p-5,  0x1.4b82e75633d73p-10,
    0x1.7f900fe8cfca0p-16, 0x1.102bce7f95efcp-22, 0x1.05c1367e58a13p-29, 0x1.6c25c475120bep-37,
    0x1.7fb0ac384a073p-45, 0x1.3cee1e6b887dcp-53};
C10_DEVICE_TABLE double kBesselK0Large[] = {
    0x1.385bd9f4e6907p+0,  -0x1.019f72d4ff71ep-5,  0x1.9b891fca79342p-10, -0x1.0d797e7889f42p-13,
    0x1.d413fcc7470a9p-17, -0x1.ebb547f18d3a9p-20, 0x1.2915981e3e46fp-22, -0x1.905541b54f2afp-25,
    0x1.269a0033f428ep-27, -0x1.d29d5f22bf5e2p-30, 0x1.8956c819ff63dp-32, -0x1.5df95d2e7ca15p-34,
    0x1.46808475fbf4dp-36, -0x1.3dafc3f00540bp-38, 0x1.40fa32fcce645p-40, -0x1.4f87721a3b2dbp-42,
    0x1.69c4ecd913e48p-44, -0x1.9145ebaf9922fp-46, 0x1.c8d9c4a6808e8p-48, -0x1.0a690ed1130d0p-49,
    0x1.3dbf96cd7929dp-51, -0x1.82f947bd75936p-53, 0x1.e092e5c062a6ap-55, -0x1.2feccb331b557p-56};
C10_DEVICE_TABLE double kBesselK1Small[] = {
    0x1.867a1361008cap-1,   -0x1.69a1b757b0dd4p-2,  -0x1.f637243c1db74p-4,  -0x1.c92939d7d4192p-8,
    -0x1.6ade2e5a3bd02p-13, -0x1.469b32c832e3ap-19, -0x1.7c41d145c31d0p-26, -0x1.3663bb84626cap-33,
    -0x1.77502ddd0e045p-41, -0x1.5dd517a0399e0p-49};
C10_DEVICE_TABLE double kBesselK1Large[] = {
    0x1.5c3d7aa062c8ap+0,   0x1.a9abef9e023fbp-4,  -0x1.76946be66b48ap-9,  0x1.9965888f6908ep-13,
    -0x1.44d711dcdb2e5p-16, 0x1.42fe31752d1b6p-19, -0x1.780528fada5c6p-22, 0x1.ed27c668fc461p-25,
    -0x1.637a49fe1e088p-27, 0x1.14f242a73d252p-29, -0x1.ccbc00365cf5fp-32, 0x1.956d008a43059p-34,
    -0x1.76b539401d12cp-36, 0x1.69ab846c05207p-38, -0x1.6adec61fc71a4p-40, 0x1.78ffa0409e616p-42,
    -0x1.94465d4c8014bp-44, 0x1.be3e9590877a3p-46, -0x1.f9d52362a3e00p-48, 0x1.25cedf006519fp-49,
    -0x1.5d2a3d9ce2a50p-51, 0x1.a7d5e4c65543cp-53, -0x1.0661525866f5ap-54, 0x1.4af1aa55c043fp-56};
inline constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;

/// P and Q of one order, and the sums and differences of sine and cosine that they rotate.
struct BesselPhase {
  template <size_t n, size_t m>
  C10_HOST_DEVICE BesselPhase(double x, const double (&ps)[n], const double (&qs)[m])
      : scale(sqrt(0.5 * kTwoOverPi / x)),
        sum(__builtin_sin(x) + __builtin_cos(x)),
        difference(__builtin_sin(x) - __builtin_cos(x)) {
    const double t = 128.0 / (x * x) - 1.0;
    p = chebyshev(t, ps);
    q = chebyshev(t, qs) * (8.0 / x);
  }

  double scale, sum, difference, p, q;
};

AT_VEC_CALLED double bessel_j0(double x) {
  x = abs(x);
  if (x > 8.0) {
    if (x == kInfinity) return 0.0;
    const BesselPhase f(x, kBesselP0, kBesselQ0);
    return f.scale * (f.p * f.sum - f.q * f.difference);
  }

  const double square = x * x;
  // The squares of the zeros, in two parts each.
  const double zeros = ((square - 0x1.721fb80462bbbp+2) - 0x1.db60c816c15d3p-52) *
                       ((square - 0x1.e78a4a621dd6fp+4) - -0x1.10d7c5048826bp-52);
  return chebyshev(square * 0x1p-5 - 1.0, kBesselJ0) * zeros;
}

AT_VEC_CALLED double bessel_j1(double x) {
  const double a = abs(x);
  if (a > 8.0) {
    if (a == kInfinity) return 0.0;
    const BesselPhase f(a, kBesselP1, kBesselQ1);
    const double value = f.scale * (f.p * f.difference + f.q * f.sum);
    return x < 0.0 ? -value : value;
  }

  const double square = x * x;
  const double zeros = ((square - 0x1.d5d2b4189822cp+3) - -0x1.c6a0d245172bap-54) *
                       ((square - 0x1.89bf66072a432p+5) - 0x1.25355661cb79cp-51);
  return x * (chebyshev(square * 0x1p-5 - 1.0, kBesselJ1) * zeros);
}

AT_VEC_CALLED double bessel_y0(double x) {
  if (!(x > 0.0)) return x == 0.0 ? -kInfinity : __builtin_nan("");
  if (x > 8.0) {
    if (x == kInfinity) return 0.0;
    const BesselPhase f(x, kBesselP0, kBesselQ0);
    return f.scale * (f.p * f.difference + f.q * f.sum);
  }

  return chebyshev(x * x * 0x1p-5 - 1.0, kBesselY0) + kTwoOverPi * __builtin_log(x) * bessel_j0(x);
}

AT_VEC_CALLED double bessel_y1(double x) {
  if (!(x > 0.0)) return x == 0.0 ? -kInfinity : __builtin_nan("");
  if (x > 8.0) {
    if (x == kInfinity) return 0.0;
    const BesselPhase f(x, kBesselP1, kBesselQ1);
    return f.scale * (f.q * f.difference - f.p * f.sum);
  }

  return x * chebyshev(x * x * 0x1p-5 - 1.0, kBesselY1) +
         kTwoOverPi * (__builtin_log(x) * bessel_j1(x) - 1.0 / x);
}

/// exp(x) k0(x): up to 2 a series in t = x^2 / 2 - 1 and -log(x / 2) i0(x), above a series in
/// t = 4 / x - 1.
AT_VEC_CALLED double scaled_modified_bessel_k0(double x) {
  if (!(x > 0.0)) return x == 0.0 ? kInfinity : __builtin_nan("");
  if (x > 2.0) return chebyshev(4.0 / x - 1.0, kBesselK0Large) / sqrt(x);
  return exp(x) * (chebyshev(0.5 * x * x - 1.0, kBesselK0Small) - __builtin_log(0.5 * x) * i0(x));
}
AT_VEC_CALLED double scaled_modified_bessel_k1(double x) {
  if (!(x > 0.0)) return x == 0.0 ? kInfinity : __builtin_nan("");
  if (x > 2.0) return chebyshev(4.0 / x - 1.0, kBesselK1Large) / sqrt(x);
  return exp(x) *
         (chebyshev(0.5 * x * x - 1.0, kBesselK1Small) / x + __builtin_log(0.5 * x) * i1(x));
}
AT_VEC_CALLED double modified_bessel_k0(double x) {
  return x == kInfinity ? 0.0 : exp(-x) * scaled_modified_bessel_k0(x);
}
AT_VEC_CALLED double modified_bessel_k1(double x) {
  return x == kInfinity ? 0.0 : exp(-x) * scaled_modified_bessel_k1(x);
}

AT_VEC_CALLED float bessel_j0(float x) {
  return static_cast<float>(bessel_j0(static_cast<double>(x)));
}
AT_VEC_CALLED float bessel_j1(float x) {
  return static_cast<float>(bessel_j1(static_cast<double>(x)));
}
AT_VEC_CALLED float bessel_y0(float x) {
  return static_cast<float>(bessel_y0(static_cast<double>(x)));
}
AT_VEC_CALLED float bessel_y1(float x) {
  return static_cast<float>(bessel_y1(static_cast<double>(x)));
}
AT_VEC_CALLED float modified_bessel_k0(float x) {
  return static_cast<float>(modified_bessel_k0(static_cast<double>(x)));
}
AT_VEC_CALLED float modified_bessel_k1(float x) {
  return static_cast<float>(modified_bessel_k1(static_cast<double>(x)));
}
AT_VEC_CALLED float scaled_modified_bessel_k0(float x) {
  return static_cast<float>(scaled_modified_bessel_k0(static_cast<double>(x)));
}
AT_VEC_CALLED float scaled_modified_bessel_k1(float x) {
  return static_cast<float>(scaled_modified_bessel_k1(static_cast<double>(x)));
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
