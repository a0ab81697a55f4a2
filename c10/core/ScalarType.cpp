// Dtypes: promotion, casting rules, names and the default.
#include "c10/core/ScalarType.h"

#include "c10/util/Exception.h"

namespace c10 {

namespace {

/// The kind of a dtype, in order of promotion. Two dtypes of one kind promote to the wider.
int kind(ScalarType t) {
  if (t == kBool) return 0;
  if (is_integral(t, false)) return 1;
  if (is_floating(t)) return 2;
  return 3;
}

ScalarType promote_integers(ScalarType a, ScalarType b) {
  if (a == b) return a;
  // uint8 with a signed type needs one bit more: int16 for int8, the signed type itself otherwise.
  const bool has_byte = a == kByte || b == kByte;
  const ScalarType other = a == kByte ? b : a;
  if (has_byte) return other == kChar ? kShort : other;
  return element_size(a) > element_size(b) ? a : b;
}

ScalarType promote_floats(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (is_reduced_floating(a) && is_reduced_floating(b)) return kFloat;
  return element_size(a) > element_size(b) ? a : b;
}

/// For dtypes that promote with no other dtype, or with floating-point dtypes only.
ScalarType promote_storage_types(ScalarType a, ScalarType b) {
  TORCH_CHECK(!is_float8(a) && !is_float8(b),
              "Promotion for Float8 Types is not supported, attempted to promote ", a, " and ", b);

  if (is_wide_unsigned(a) && is_floating(b)) return b;
  if (is_wide_unsigned(b) && is_floating(a)) return a;

  TORCH_CHECK(false,
              "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote ",
              a, " and ", b);
  return a;
}

ScalarType default_dtype_value = kFloat;

}  // namespace

ScalarType promote_types(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (a == ScalarType::Undefined) return b;
  if (b == ScalarType::Undefined) return a;

  // Dtypes with rules of their own.
  if (is_float8(a) || is_float8(b) || is_wide_unsigned(a) || is_wide_unsigned(b))
    return promote_storage_types(a, b);

  if (kind(a) < kind(b)) std::swap(a, b);

  if (kind(a) == 3)
    return to_complex(kind(b) < 2 ? to_real(a) : promote_floats(to_real(a), to_real(b)));

  if (kind(a) != kind(b)) return a;
  return kind(a) == 1 ? promote_integers(a, b) : promote_floats(a, b);
}

bool can_cast(ScalarType from, ScalarType to) {
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_floating(from) && is_integral(to, true)) return false;
  return !(from != kBool && to == kBool);
}

const char* scalar_type_name(ScalarType type) {
  switch (type) {
#define TORCH_PY_NAME(cpp, name, python) \
  case ScalarType::name: return #name;
    TORCH_PY_FORALL_SCALAR_TYPES(TORCH_PY_NAME)
#undef TORCH_PY_NAME
    case ScalarType::Undefined: return "Undefined";
  }
  return "Unknown";
}

const char* dtype_name(ScalarType type) {
  switch (type) {
#define TORCH_PY_NAME(cpp, name, python) \
  case ScalarType::name: return #python;
    TORCH_PY_FORALL_SCALAR_TYPES(TORCH_PY_NAME)
#undef TORCH_PY_NAME
    case ScalarType::Undefined: return "undefined";
  }
  return "unknown";
}

const char* cpp_type_name(ScalarType type) {
  // As compilers print them.
  switch (type) {
    case kByte: return "unsigned char";
    case kChar: return "signed char";
    case kShort: return "short int";
    case kInt: return "int";
    case kLong: return "long int";
    case kHalf: return "Half";
    case kFloat: return "float";
    case kDouble: return "double";
    case kComplexFloat: return "complex<float>";
    case kComplexDouble: return "complex<double>";
    case kBool: return "bool";
    case kBFloat16: return "BFloat16";
    case kUInt16: return "short unsigned int";
    case kUInt32: return "unsigned int";
    case kUInt64: return "long unsigned int";
    case kComplexHalf: return "complex<Half>";
    case kFloat8_e4m3fn:
    case kFloat8_e5m2:
    case kFloat8_e4m3fnuz:
    case kFloat8_e5m2fnuz:
    case kFloat8_e8m0fnu: return scalar_type_name(type);
    case ScalarType::Undefined: break;
  }
  return "undefined";
}

void append_to(std::string& out, ScalarType type) { out += scalar_type_name(type); }

ScalarType default_dtype() { return default_dtype_value; }

void set_default_dtype(ScalarType type) {
  TORCH_CHECK_TYPE(!is_float8(type), "couldn't find storage object ", type, "Storage");
  TORCH_CHECK_TYPE(is_floating(type),
                   "only floating-point types are supported as the default type, got ", type);
  default_dtype_value = type;
}

}  // namespace c10
