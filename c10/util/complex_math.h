// Functions of complex numbers: exp, log, sqrt, trigonometric functions, pow.
#pragma once

#include "c10/util/complex.h"
#if defined(__CUDACC__) || defined(TORCH_PY_CUDA_EMULATION)
#include "c10/util/complex_formulas.h"
#endif

// On the CPU they call the C library, which treats signed zeros, infinities and NaN as C99 Annex G
// says, through the compiler's built-in complex type: <complex> would include the streams.

namespace c10 {

#if defined(__CUDACC__) || defined(TORCH_PY_CUDA_EMULATION)
#define C10_COMPLEX_FUNCTION(NAME, BUILTIN)                                                    \
  C10_HOST_DEVICE inline complex<double> NAME(complex<double> z) { return formulas::NAME(z); } \
  C10_HOST_DEVICE inline complex<float> NAME(complex<float> z) {                               \
    return static_cast<complex<float>>(formulas::NAME(complex<double>(z)));                    \
  }
#else
#define C10_COMPLEX_FUNCTION(NAME, BUILTIN)        \
  inline complex<float> NAME(complex<float> z) {   \
    _Complex float c;                              \
    __real__ c = z.real_;                          \
    __imag__ c = z.imag_;                          \
    c = BUILTIN##f(c);                             \
    return {__real__ c, __imag__ c};               \
  }                                                \
  inline complex<double> NAME(complex<double> z) { \
    _Complex double c;                             \
    __real__ c = z.real_;                          \
    __imag__ c = z.imag_;                          \
    c = BUILTIN(c);                                \
    return {__real__ c, __imag__ c};               \
  }
#endif
C10_COMPLEX_FUNCTION(exp, __builtin_cexp)
C10_COMPLEX_FUNCTION(log, __builtin_clog)
C10_COMPLEX_FUNCTION(sqrt, __builtin_csqrt)
C10_COMPLEX_FUNCTION(sin, __builtin_csin)
C10_COMPLEX_FUNCTION(cos, __builtin_ccos)
C10_COMPLEX_FUNCTION(tan, __builtin_ctan)
C10_COMPLEX_FUNCTION(sinh, __builtin_csinh)
C10_COMPLEX_FUNCTION(cosh, __builtin_ccosh)
C10_COMPLEX_FUNCTION(tanh, __builtin_ctanh)
C10_COMPLEX_FUNCTION(asin, __builtin_casin)
C10_COMPLEX_FUNCTION(acos, __builtin_cacos)
C10_COMPLEX_FUNCTION(atan, __builtin_catan)
C10_COMPLEX_FUNCTION(asinh, __builtin_casinh)
C10_COMPLEX_FUNCTION(acosh, __builtin_cacosh)
C10_COMPLEX_FUNCTION(atanh, __builtin_catanh)
#undef C10_COMPLEX_FUNCTION

C10_HOST_DEVICE inline float abs(complex<float> z) { return __builtin_hypotf(z.real_, z.imag_); }
C10_HOST_DEVICE inline double abs(complex<double> z) { return __builtin_hypot(z.real_, z.imag_); }
/// The angle, in (-pi, pi].
C10_HOST_DEVICE inline float arg(complex<float> z) { return __builtin_atan2f(z.imag_, z.real_); }
C10_HOST_DEVICE inline double arg(complex<double> z) { return __builtin_atan2(z.imag_, z.real_); }

C10_HOST_DEVICE inline complex<float> polar(float abs, float angle) {
  return {abs * __builtin_cosf(angle), abs * __builtin_sinf(angle)};
}
C10_HOST_DEVICE inline complex<double> polar(double abs, double angle) {
  return {abs * __builtin_cos(angle), abs * __builtin_sin(angle)};
}

/// z to the power of w. 0 to the power of 0 is 1; 0 to a power with positive real part is 0.
template <class T>
C10_HOST_DEVICE complex<T> pow(complex<T> z, complex<T> w) {
  if (w == complex<T>(0)) return T(1);
  if (z == complex<T>(0) && w.real_ > 0) return T(0);
  return exp(w * log(z));
}
template <class T>
C10_HOST_DEVICE complex<T> log2(complex<T> z) {
  return log(z) * T(1.442695040888963407359924681001892137);
}
template <class T>
C10_HOST_DEVICE complex<T> log10(complex<T> z) {
  return log(z) * T(0.434294481903251827651128918916605082);
}

}  // namespace c10
