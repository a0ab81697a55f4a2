// torch.finfo and torch.iinfo: the limits of dtypes.
#include "torch_py/csrc/bindings/types/TypeInfo.h"

#include <cstdio>
#include <cstdlib>
#include <limits>

#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/TypeTexts.h"
#include "torch_py/csrc/bindings/calls/Arguments.h"
#include "torch_py/csrc/bindings/calls/FastCall.h"
#include "torch_py/csrc/bindings/types/AddType.h"
#include "torch_py/csrc/bindings/types/Dtype.h"

namespace torch::python {

namespace {

struct InfoObject {
  PyObject_HEAD
  at::ScalarType dtype;
};

constexpr Parameter parameters[] = {{"type", Kind::ScalarType, kOptional}};
constexpr Signature finfo_signatures[] = {{"finfo(torch.dtype type)", parameters, 1}};
constexpr Signature iinfo_signatures[] = {{"iinfo(torch.dtype type)", parameters, 1}};
constinit Function finfo_function = {"finfo", nullptr, finfo_signatures, 1};
constinit Function iinfo_function = {"iinfo", nullptr, iinfo_signatures, 1};

at::ScalarType dtype_of(PyObject* self) { return reinterpret_cast<InfoObject*>(self)->dtype; }

struct FloatLimits {
  double min;
  double max;
  double eps;
  double smallest_normal;
  double resolution;
};

template <class T>
FloatLimits limits_of() {
  using limits = std::numeric_limits<T>;
  char text[16];  // 10^-digits10, with the value of that literal
  std::snprintf(text, sizeof text, "1e-%d", limits::digits10);
  const double resolution = std::strtod(text, nullptr);

  return {static_cast<double>(static_cast<at::opmath_type<T>>(limits::lowest())),
          static_cast<double>(static_cast<at::opmath_type<T>>(limits::max())),
          static_cast<double>(static_cast<at::opmath_type<T>>(limits::epsilon())),
          static_cast<double>(static_cast<at::opmath_type<T>>(limits::min())), resolution};
}

/// Limits from the OCP specification of 8-bit floating point (revision 1.0). The formats are too
/// short to keep a decimal digit, so the resolution is 1.
FloatLimits float8_limits(double largest, double eps, double smallest_normal) {
  return {-largest, largest, eps, smallest_normal, 1.0};
}

FloatLimits float_limits(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat8_e4m3fn: return float8_limits(448, 0x1p-3, 0x1p-6);
    case at::kFloat8_e5m2: return float8_limits(57344, 0x1p-2, 0x1p-14);
    case at::kFloat8_e4m3fnuz: return float8_limits(240, 0x1p-3, 0x1p-7);
    case at::kFloat8_e5m2fnuz: return float8_limits(57344, 0x1p-3, 0x1p-15);
    case at::kFloat8_e8m0fnu: return {0x1p-127, 0x1p127, 1.0, 0x1p-127, 1.0};
    case at::kHalf: return limits_of<c10::Half>();
    case at::kBFloat16: return limits_of<c10::BFloat16>();
    case at::kDouble: return limits_of<double>();
    default: return limits_of<float>();
  }
}

struct IntegerLimits {
  int64_t min;
  uint64_t max;
};

IntegerLimits integer_limits(at::ScalarType dtype) {
  const int bits = static_cast<int>(at::element_size(dtype) * 8);
  if (!at::is_signed(dtype)) return {0, std::numeric_limits<uint64_t>::max() >> (64 - bits)};
  return {std::numeric_limits<int64_t>::min() >> (64 - bits),
          static_cast<uint64_t>(std::numeric_limits<int64_t>::max() >> (64 - bits))};
}

template <double FloatLimits::* field>
PyObject* float_limit(PyObject* self, void*) {
  return PyFloat_FromDouble(float_limits(dtype_of(self)).*field);
}

PyObject* smallest_integer(PyObject* self, void*) {
  return PyLong_FromLongLong(integer_limits(dtype_of(self)).min);
}

PyObject* largest_integer(PyObject* self, void*) {
  return PyLong_FromUnsignedLongLong(integer_limits(dtype_of(self)).max);
}

PyObject* bits(PyObject* self, void*) {
  return PyLong_FromSize_t(at::element_size(dtype_of(self)) * 8);
}

PyObject* dtype_text(PyObject* self, void*) {
  return PyUnicode_FromString(at::dtype_name(dtype_of(self)));
}

PyObject* make_info(PyTypeObject* type, at::ScalarType dtype) {
  PyObject* self = checked(type->tp_alloc(type, 0));
  reinterpret_cast<InfoObject*>(self)->dtype = dtype;
  return self;
}

PyObject* finfo_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  TORCH_PY_TRY
  const FastCall call(args, kwargs);
  Arguments arguments;
  arguments.bind(finfo_function, nullptr, call.args(), call.nargs(), call.kwnames());

  const at::ScalarType dtype = arguments.dtype(0, at::default_dtype());
  TORCH_CHECK_TYPE(at::is_floating(dtype) || at::is_complex(dtype),
                   "torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                   "'torch.finfo'");

  return make_info(type, at::to_real(dtype));
  TORCH_PY_CATCH(nullptr)
}

PyObject* iinfo_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  TORCH_PY_TRY
  const FastCall call(args, kwargs);
  Arguments arguments;
  arguments.bind(iinfo_function, nullptr, call.args(), call.nargs(), call.kwnames());
  TORCH_CHECK_TYPE(arguments.given(0), "iinfo() missing 1 required positional arguments: \"type\"");

  const at::ScalarType dtype = arguments.dtype(0);
  TORCH_CHECK_TYPE(dtype != at::kBool, "torch.bool is not supported by torch.iinfo");
  TORCH_CHECK_TYPE(
      at::is_integral(dtype, false),
      "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'");

  return make_info(type, dtype);
  TORCH_PY_CATCH(nullptr)
}

PyObject* finfo_repr(PyObject* self) {
  const FloatLimits limits = float_limits(dtype_of(self));
  char text[256];

  std::snprintf(
      text, sizeof text,
      "finfo(resolution=%g, min=%g, max=%g, eps=%g, smallest_normal=%g, tiny=%g, dtype=%s)",
      limits.resolution, limits.min, limits.max, limits.eps, limits.smallest_normal,
      limits.smallest_normal, at::dtype_name(dtype_of(self)));
  return PyUnicode_FromString(text);
}

PyObject* iinfo_repr(PyObject* self) {
  const IntegerLimits limits = integer_limits(dtype_of(self));
  char text[128];

  std::snprintf(text, sizeof text, "iinfo(min=%g, max=%g, dtype=%s)",
                static_cast<double>(limits.min), static_cast<double>(limits.max),
                at::dtype_name(dtype_of(self)));
  return PyUnicode_FromString(text);
}

PyObject* info_compare(PyObject* a, PyObject* b, int operation) {
  if (Py_TYPE(a) != Py_TYPE(b) || (operation != Py_EQ && operation != Py_NE))
    Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((dtype_of(a) == dtype_of(b)) == (operation == Py_EQ));
}

Py_hash_t info_hash(PyObject* self) { return static_cast<Py_hash_t>(dtype_of(self)) + 1; }

PyGetSetDef finfo_properties[] = {
    {"bits", bits, nullptr, nullptr, nullptr},
    {"eps", float_limit<&FloatLimits::eps>, nullptr, nullptr, nullptr},
    {"max", float_limit<&FloatLimits::max>, nullptr, nullptr, nullptr},
    {"min", float_limit<&FloatLimits::min>, nullptr, nullptr, nullptr},
    {"smallest_normal", float_limit<&FloatLimits::smallest_normal>, nullptr, nullptr, nullptr},
    {"tiny", float_limit<&FloatLimits::smallest_normal>, nullptr, nullptr, nullptr},
    {"resolution", float_limit<&FloatLimits::resolution>, nullptr, nullptr, nullptr},
    {"dtype", dtype_text, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyGetSetDef iinfo_properties[] = {{"bits", bits, nullptr, nullptr, nullptr},
                                  {"max", largest_integer, nullptr, nullptr, nullptr},
                                  {"min", smallest_integer, nullptr, nullptr, nullptr},
                                  {"dtype", dtype_text, nullptr, nullptr, nullptr},
                                  {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyTypeObject FinfoType = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject IinfoType = {PyVarObject_HEAD_INIT(nullptr, 0)};

void prepare(PyTypeObject& type, const char* name, newfunc make, reprfunc repr,
             PyGetSetDef* properties) {
  type.tp_name = name;
  type.tp_basicsize = sizeof(InfoObject);
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_new = make;
  type.tp_repr = repr;
  type.tp_hash = info_hash;
  type.tp_richcompare = info_compare;
  type.tp_getset = properties;
}

}  // namespace

void init_type_info(PyObject* module) {
  FinfoType.tp_doc = texts::torch_finfo;
  IinfoType.tp_doc = texts::torch_iinfo;
  prepare(FinfoType, "torch_py.finfo", finfo_new, finfo_repr, finfo_properties);
  prepare(IinfoType, "torch_py.iinfo", iinfo_new, iinfo_repr, iinfo_properties);
  add_type(module, FinfoType);
  add_type(module, IinfoType);
}

}  // namespace torch::python
