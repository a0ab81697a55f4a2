// Numbers handed to operators: range checks and printing.
#include "c10/core/Scalar.h"

#include <cfloat>
#include <cmath>
#include <cstdio>
#include <limits>

#include "c10/core/ScalarChecks.h"
#include "c10/util/Exception.h"

namespace c10 {

namespace {

/// The integers that a dtype accepts. Unsigned dtypes accept negative values, which wrap around.
struct IntegerRange {
  double low;
  double high;
};

IntegerRange range_of(ScalarType type) {
  switch (type) {
    // Negative values wrap, as in torch.tensor([1], dtype=uint8) + (-1).
    case kByte: return {-255, 255};
    case kChar: return {-128, 127};
    case kShort: return {-32768, 32767};
    case kInt: return {-2147483648.0, 2147483647.0};
    case kUInt16: return {-65535, 65535};
    case kUInt32: return {-4294967295.0, 4294967295.0};
    case kUInt64: return {-18446744073709551615.0, 18446744073709551615.0};
    default: return {-9223372036854775808.0, 9223372036854775807.0};
  }
}

/// The C++ type, by which messages about values name a dtype.
const char* cpp_name(ScalarType type) {
  // Types that are not listed have their dtype's name.
  switch (type) {
    case kByte: return "uint8_t";
    case kChar: return "int8_t";
    case kShort: return "int16_t";
    case kInt: return "int";
    case kLong: return "int64_t";
    case kUInt16: return "uint16_t";
    case kUInt32: return "uint32_t";
    case kUInt64: return "uint64_t";
    case kFloat8_e4m3fn: return "c10::Float8_e4m3fn";
    case kFloat8_e5m2: return "c10::Float8_e5m2";
    case kFloat8_e4m3fnuz: return "c10::Float8_e4m3fnuz";
    case kFloat8_e5m2fnuz: return "c10::Float8_e5m2fnuz";
    case kFloat8_e8m0fnu: return "c10::Float8_e8m0fnu";
    case kHalf: return "Half";
    case kBFloat16: return "BFloat16";
    case kFloat: return "float";
    case kComplexFloat: return "complex<float>";
    default: return dtype_name(type);
  }
}

/// The largest finite magnitude of a floating type, or of the parts of a complex one.
double largest_finite(ScalarType type) {
  // A Scalar is a double at most, so every value fits the types that are not listed.
  switch (type) {
    case kHalf: return 65504.0;
    case kFloat8_e4m3fn: return 448.0;
    case kFloat8_e4m3fnuz: return 240.0;
    case kFloat8_e5m2:
    case kFloat8_e5m2fnuz: return 57344.0;
    case kFloat8_e8m0fnu: return 0x1p127;
    case kBFloat16: return 3.3895313892515355e38;
    case kFloat:
    case kComplexFloat: return FLT_MAX;
    default: return std::numeric_limits<double>::infinity();
  }
}

std::string format_double(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.6g", value);
  return buffer;
}

}  // namespace

void Scalar::check_fits(ScalarType type) const {
  constexpr uint64_t kFitsEverywhere = 127;  // also numbers below it that are not negative
  if (kind_ == Kind::Int && static_cast<uint64_t>(value_.integer) <= kFitsEverywhere) return;
  if (kind_ == Kind::Bool || (kind_ == Kind::Int && (type == kLong || type == kUInt64)) ||
      (is_unsigned() && type == kUInt64))
    return;

  if (c10::is_floating(type)) return check_representable(*this, type);

  const double value = is_unsigned()        ? 0x1p64
                       : kind_ == Kind::Int ? static_cast<double>(value_.integer)
                                            : value_.real;
  IntegerRange range = range_of(type);
  if (!c10::is_signed(type) && kind_ == Kind::Double) range.low = 0;  // only integers wrap

  TORCH_CHECK(!(value < range.low || value > range.high) && !std::isnan(value),
              "value cannot be converted to type ", cpp_name(type), " without overflow: ", str());
}

void check_representable(const Scalar& value, ScalarType type) {
  if (value.is_bool()) return;

  if (is_integral(type, /*include_bool=*/false)) {
    // to<T>() tells imaginary parts apart from values out of range.
    switch (type) {
      case kByte: value.to<uint8_t>(); return;
      case kChar: value.to<int8_t>(); return;
      case kShort: value.to<int16_t>(); return;
      case kInt: value.to<int32_t>(); return;
      case kUInt16: value.to<uint16_t>(); return;
      case kUInt32: value.to<uint32_t>(); return;
      case kUInt64: value.to<uint64_t>(); return;
      default: value.to<int64_t>(); return;
    }
  }

  const double largest = largest_finite(type);
  TORCH_CHECK(type != kFloat8_e8m0fnu || !value.is_floating() || !(value.to_double() < 0),
              "value cannot be converted to type ", cpp_name(type),
              " without overflow: ", value.str());

  const complex<double> number = value.to_complex_double();
  for (const double part : {number.real(), number.imag()}) {
    TORCH_CHECK(std::abs(part) <= largest || !std::isfinite(part),
                "value cannot be converted to type ", cpp_name(type),
                " without overflow: ", value.str());
  }
}

void Scalar::throw_imaginary(ScalarType type) const {
  TORCH_CHECK(false, "value cannot be converted to type ", dtype_name(type),
              " without overflow: ", str());
  __builtin_unreachable();
}

Scalar Scalar::operator-() const {
  TORCH_CHECK(!is_bool(), "torch boolean negative, the `-` operator, is not supported.");
  if (kind_ == Kind::Int || is_unsigned())
    return Scalar(static_cast<int64_t>(0 - static_cast<uint64_t>(value_.integer)));
  if (kind_ == Kind::Double) return Scalar(-value_.real);
  return Scalar(c10::complex<double>(-value_.real, -imag_));
}

Scalar Scalar::conj() const {
  return is_complex() ? Scalar(c10::complex<double>(value_.real, -imag_)) : *this;
}

std::string Scalar::str() const {
  switch (kind_) {
    case Kind::Bool: return value_.integer != 0 ? "True" : "False";
    case Kind::Int: return std::to_string(value_.integer);
    case Kind::Unsigned: return std::to_string(static_cast<uint64_t>(value_.integer));
    case Kind::Double: return format_double(value_.real);
    case Kind::Complex: return "(" + format_double(value_.real) + "," + format_double(imag_) + ")";
  }
  return "";
}

void append_to(std::string& out, const Scalar& scalar) { out += scalar.str(); }

}  // namespace c10
