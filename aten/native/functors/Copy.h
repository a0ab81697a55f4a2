#pragma once
// Copies of elements, of the same dtype or converted.
#include "aten/Dispatch.h"
#include "c10/util/Export.h"

namespace at::native {
namespace {

template <class T>
struct CopyBits {
  C10_HOST_DEVICE T operator()(T value) const { return value; }
};

template <class To, class From>
struct Convert {
  /// Between floating-point numbers.
  template <class V>
    requires(is_floating(scalar_type_of<To>) && is_floating(scalar_type_of<From>))
  C10_HOST_DEVICE V computed(V value) const {
    return value;
  }
  C10_HOST_DEVICE To operator()(From value) const { return convert<To>(value); }
};

/// Calls run(functor) with the functor that copies elements of `type` as they are.
template <class Run>
void with_copy(ScalarType type, const Run& run) {
  switch (element_size(type)) {
    case 1: return run(CopyBits<uint8_t>());
    case 2: return run(CopyBits<uint16_t>());
    case 4: return run(CopyBits<uint32_t>());
    case 8: return run(CopyBits<uint64_t>());
    default: return run(CopyBits<c10::complex<double>>());
  }
}

/// The dtype that a storage-only dtype is converted through on the way to or from `other`. It loses
/// nothing that the result can hold: uint64 needs more than int64 only when it is converted to or
/// from a floating-point number.
inline ScalarType intermediate_type(ScalarType stored, ScalarType other) {
  if (is_float8(stored)) return kFloat;
  if (stored == kComplexHalf) return kComplexFloat;
  if (stored != kUInt64 || is_integral(other, true)) return kLong;
  return to_real(other) == kDouble ? kDouble : kFloat;
}

/// The dtype to stop at on the way from `from` to `to`; `to` where one conversion is enough.
inline ScalarType stopover(ScalarType to, ScalarType from) {
  if (to == from || (!is_storage_only(to) && !is_storage_only(from))) return to;
  const bool loads = is_storage_only(from);
  const ScalarType other = loads ? to : from;
  const ScalarType intermediate = intermediate_type(loads ? from : to, other);
  return other == intermediate ? to : intermediate;
}

/// Calls run(functor) with the conversion between a storage-only dtype and the dtype it is
/// converted through.
template <class Stored, class Wide, class Run>
void with_direction(bool loads, const Run& run) {
  loads ? run(Convert<Wide, Stored>()) : run(Convert<Stored, Wide>());
}

template <class Stored, class Run>
void with_storage_type(ScalarType other, bool loads, const Run& run) {
  constexpr ScalarType type = scalar_type_of<Stored>;
  if constexpr (is_float8(type)) {
    with_direction<Stored, float>(loads, run);
  } else if constexpr (type == kComplexHalf) {
    with_direction<Stored, c10::complex<float>>(loads, run);
  } else if constexpr (type == kUInt64) {
    if (other == kLong) return with_direction<Stored, int64_t>(loads, run);
    if (other == kDouble) return with_direction<Stored, double>(loads, run);
    with_direction<Stored, float>(loads, run);
  } else {
    with_direction<Stored, int64_t>(loads, run);
  }
}

template <class Run>
void with_storage_conversion(ScalarType to, ScalarType from, const Run& run) {
  const bool loads = is_storage_only(from);
  const ScalarType other = loads ? to : from;
  dispatch<kUInt16, kUInt32, kUInt64, kFloat8_e4m3fn, kFloat8_e5m2, kFloat8_e4m3fnuz,
           kFloat8_e5m2fnuz, kFloat8_e8m0fnu, kComplexHalf>(
      loads ? from : to, "copy_",
      [&]<typename Stored>() { with_storage_type<Stored>(other, loads, run); });
}

/// Calls run(functor) with the conversion of numbers of dtype `from` to another type.
template <class To, class Run>
void with_conversion_to(ScalarType from, const Run& run) {
  AT_DISPATCH_ALL(from, "copy_", [&] {
    if constexpr (!std::is_same_v<To, scalar_t>) run(Convert<To, scalar_t>());
  });
}

/// Calls run(functor) with the conversion from `from` to `to`, which differ and have no stopover.
template <class Run>
void with_conversion(ScalarType to, ScalarType from, const Run& run) {
  if (is_storage_only(to) || is_storage_only(from)) return with_storage_conversion(to, from, run);

  // The bytes of bools are numbers.
  if (from == kBool)
    return to == kByte ? run(CopyBits<uint8_t>()) : with_conversion(to, kByte, run);
  AT_DISPATCH_ALL_AND_BOOL(to, "copy_", [&] { with_conversion_to<scalar_t>(from, run); });
}

}  // namespace
}  // namespace at::native
