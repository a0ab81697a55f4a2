// complex<T>: complex numbers and their arithmetic.
#pragma once

#include <type_traits>

#include "c10/util/Export.h"

// The layout is that of std::complex and of the C type. Arithmetic is plain, without library calls,
// so that loops vectorise; multiplication of std::complex<float>, by contrast, branches into
// __mulsc3. Functions are in c10/util/complex_math.h.

namespace std {
template <class T>
class complex;
}

namespace c10 {

template <class T>
struct alignas(sizeof(T) * 2) complex {
  using value_type = T;

  T real_;
  T imag_;

  complex() = default;
  C10_HOST_DEVICE constexpr complex(T real, T imag = T()) : real_(real), imag_(imag) {}
  template <class U>
    requires(!std::is_same_v<U, T>)
  C10_HOST_DEVICE explicit(sizeof(U) > sizeof(T)) constexpr complex(const complex<U>& other)
      : real_(static_cast<T>(other.real_)), imag_(static_cast<T>(other.imag_)) {}
  // Templates, so that <complex> is needed only where the conversion is used.
  template <class U>
  constexpr complex(const std::complex<U>& other)
      : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag())) {}
  template <class U>
  constexpr explicit operator std::complex<U>() const {
    return std::complex<U>(static_cast<U>(real_), static_cast<U>(imag_));
  }
  /// False only for zero, as in Python.
  C10_HOST_DEVICE constexpr explicit operator bool() const { return real_ != T() || imag_ != T(); }

  C10_HOST_DEVICE constexpr T real() const { return real_; }
  C10_HOST_DEVICE constexpr T imag() const { return imag_; }
  C10_HOST_DEVICE constexpr void real(T value) { real_ = value; }
  C10_HOST_DEVICE constexpr void imag(T value) { imag_ = value; }

  C10_HOST_DEVICE constexpr complex& operator+=(complex b) { return *this = *this + b; }
  C10_HOST_DEVICE constexpr complex& operator-=(complex b) { return *this = *this - b; }
  C10_HOST_DEVICE constexpr complex& operator*=(complex b) { return *this = *this * b; }
  C10_HOST_DEVICE constexpr complex& operator/=(complex b) { return *this = *this / b; }

  // Friends, so that they are found for mixed operands whose other side converts.
  C10_HOST_DEVICE friend constexpr complex operator+(complex a, complex b) {
    return {a.real_ + b.real_, a.imag_ + b.imag_};
  }
  C10_HOST_DEVICE friend constexpr complex operator-(complex a, complex b) {
    return {a.real_ - b.real_, a.imag_ - b.imag_};
  }
  C10_HOST_DEVICE friend constexpr complex operator*(complex a, complex b) {
    return {a.real_ * b.real_ - a.imag_ * b.imag_, a.real_ * b.imag_ + a.imag_ * b.real_};
  }
  // Smith's method with selects instead of branches: dividing by the larger component first keeps
  // |b|^2 from over- or underflowing. A zero divisor gives a.real/0 + a.imag/0 j.
  C10_HOST_DEVICE friend constexpr complex operator/(complex a, complex b) {
    const T size_real = b.real_ < T() ? -b.real_ : b.real_;
    const T size_imag = b.imag_ < T() ? -b.imag_ : b.imag_;
    const bool swap = size_real < size_imag;

    const T large = swap ? b.imag_ : b.real_;
    const T small = swap ? b.real_ : b.imag_;
    const T ratio = size_real == T() && size_imag == T() ? T() : small / large;
    const T denominator = large + small * ratio;

    const T real = swap ? a.real_ * ratio + a.imag_ : a.real_ + a.imag_ * ratio;
    const T imag = swap ? a.imag_ * ratio - a.real_ : a.imag_ - a.real_ * ratio;
    return {real / denominator, imag / denominator};
  }
  C10_HOST_DEVICE friend constexpr complex operator-(complex a) { return {-a.real_, -a.imag_}; }
  C10_HOST_DEVICE friend constexpr complex operator+(complex a) { return a; }
  C10_HOST_DEVICE friend constexpr bool operator==(complex a, complex b) {
    return a.real_ == b.real_ && a.imag_ == b.imag_;
  }

  // With a real operand, compute componentwise where that is exact; this also keeps signed zeros
  // and infinities right.
  C10_HOST_DEVICE friend constexpr complex operator*(complex a, T b) {
    return {a.real_ * b, a.imag_ * b};
  }
  C10_HOST_DEVICE friend constexpr complex operator*(T a, complex b) {
    return {a * b.real_, a * b.imag_};
  }
  C10_HOST_DEVICE friend constexpr complex operator/(complex a, T b) {
    return {a.real_ / b, a.imag_ / b};
  }
};

template <class T>
inline constexpr bool is_complex_v = false;
template <class T>
inline constexpr bool is_complex_v<complex<T>> = true;

/// The type of |z|: T for complex<T>, otherwise the type itself.
template <class T>
struct scalar_value_type {
  using type = T;
};
template <class T>
struct scalar_value_type<complex<T>> {
  using type = T;
};
template <class T>
using scalar_value_type_t = typename scalar_value_type<T>::type;

template <class T>
C10_HOST_DEVICE constexpr T real(complex<T> z) {
  return z.real_;
}
template <class T>
C10_HOST_DEVICE constexpr T imag(complex<T> z) {
  return z.imag_;
}
template <class T>
C10_HOST_DEVICE constexpr complex<T> conj(complex<T> z) {
  return {z.real_, -z.imag_};
}
/// |z| squared.
template <class T>
C10_HOST_DEVICE constexpr T norm(complex<T> z) {
  return z.real_ * z.real_ + z.imag_ * z.imag_;
}

static_assert(sizeof(complex<float>) == 8 && sizeof(complex<double>) == 16);
static_assert(std::is_trivially_copyable_v<complex<float>> &&
              std::is_trivially_default_constructible_v<complex<float>>);

}  // namespace c10
