// Scalar: a number handed to an operator.
#pragma once
#include <cstdint>
#include <string>

#include "c10/core/ScalarType.h"
#include "c10/util/Export.h"

namespace c10 {

/// A Python number (bool, int, float or complex), kept in its widest C++ form.
class Scalar {
 public:
  /// Unsigned: an integer that only uint64 can hold.
  enum class Kind : int8_t { Bool, Int, Double, Complex, Unsigned };

  Scalar() : Scalar(int64_t{0}) {}
  Scalar(bool value) : kind_(Kind::Bool) { value_.integer = value; }
  Scalar(int value) : Scalar(static_cast<int64_t>(value)) {}
  Scalar(int64_t value) : kind_(Kind::Int) { value_.integer = value; }
  Scalar(long long value) : Scalar(static_cast<int64_t>(value)) {}
  Scalar(double value) : kind_(Kind::Double) { value_.real = value; }
  Scalar(float value) : Scalar(static_cast<double>(value)) {}
  Scalar(c10::complex<double> value) : kind_(Kind::Complex) {
    value_.real = value.real();
    imag_ = value.imag();
  }

  static Scalar from_unsigned(uint64_t value) {
    Scalar scalar(static_cast<int64_t>(value));
    if (value > static_cast<uint64_t>(INT64_MAX)) scalar.kind_ = Kind::Unsigned;
    return scalar;
  }

  Kind kind() const { return kind_; }
  bool is_bool() const { return kind_ == Kind::Bool; }
  bool is_integral(bool include_bool) const {
    return kind_ == Kind::Int || is_unsigned() || (include_bool && is_bool());
  }
  bool is_unsigned() const { return kind_ == Kind::Unsigned; }
  bool is_floating() const { return kind_ == Kind::Double; }
  bool is_complex() const { return kind_ == Kind::Complex; }

  /// The value in C++ type T. Throws if it does not fit ("value cannot be converted to type int8
  /// without overflow").
  template <typename T>
  T to() const {
    if constexpr (!c10::is_complex(scalar_type_of<T>)) {
      if (is_complex() && imag_ != 0) throw_imaginary(scalar_type_of<T>);
    }
    if constexpr (has_range(scalar_type_of<T>)) check_fits(scalar_type_of<T>);
    return unchecked_to<T>();
  }

  /// Like to(), but wraps around and truncates as C casts do.
  template <typename T>
  T unchecked_to() const {
    switch (kind_) {
      case Kind::Bool: return convert<T>(value_.integer != 0);
      case Kind::Int: return convert<T>(value_.integer);
      case Kind::Double: return convert<T>(value_.real);
      case Kind::Complex: return convert<T>(c10::complex<double>(value_.real, imag_));
      case Kind::Unsigned: return convert<T>(static_cast<uint64_t>(value_.integer));
    }
    return T();
  }

  double to_double() const { return to<double>(); }
  int64_t to_long() const { return to<int64_t>(); }
  bool to_bool() const { return unchecked_to<bool>(); }
  c10::complex<double> to_complex_double() const { return unchecked_to<c10::complex<double>>(); }

  /// The dtype of torch.tensor(value): bool, int64, float64 or complex128, and uint64 for an
  /// integer that only uint64 can hold.
  ScalarType type() const {
    constexpr ScalarType types[] = {kBool, kLong, kDouble, kComplexDouble, kUInt64};
    return types[static_cast<int>(kind_)];
  }

  bool equal(double other) const {
    return !is_complex() ? unchecked_to<double>() == other : value_.real == other && imag_ == 0;
  }

  TORCH_PY_API Scalar operator-() const;
  TORCH_PY_API Scalar conj() const;
  TORCH_PY_API std::string str() const;

 private:
  /// Whether some finite number does not fit the dtype.
  static constexpr bool has_range(ScalarType type) {
    return c10::is_integral(type, false) || (c10::is_floating(type) && type != kDouble);
  }
  TORCH_PY_API void check_fits(ScalarType type) const;
  [[noreturn]] TORCH_PY_API void throw_imaginary(ScalarType type) const;

  union {
    int64_t integer;  // Bool, Int; Unsigned: its bits
    double real;      // Double; Complex: the real part
  } value_;
  double imag_ = 0;  // Complex only
  Kind kind_;
};

TORCH_PY_API void append_to(std::string& out, const Scalar& scalar);

}  // namespace c10
