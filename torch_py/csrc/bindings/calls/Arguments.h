// The arguments of a Python call to an operator: tables that describe signatures, and Arguments.
#pragma once
#include "c10/core/Generator.h"
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <array>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "aten/core/NumberTensor.h"
#include "c10/util/Export.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"

// Converts the arguments of a METH_FASTCALL | METH_KEYWORDS call to C++ values, without allocating.
// Generated (and hand-written) code describes each overload in constant data (Parameter, Signature,
// Function), binds a call to it, and asks for values by slot.
//
// Note [Binding a call]
// Overloads are tried in order; the first whose parameters accept every argument is taken.
// Accepting looks at types only; values are converted by the accessors, which may still raise (an
// int that does not fit, an element of a list). Positional arguments need no hashing; keywords are
// compared as interned pointers first. A wrong call is explained by CallErrors.cpp, off this path.
// Generated code does not bind at all if the arguments are positional and have exactly the expected
// types.

namespace torch::python {

/// The types of parameters.
enum class Kind : uint8_t {
  Tensor,
  TensorOrNumber,
  TensorList,
  Int,
  IntList,
  Float,
  FloatList,
  Bool,
  BoolList,
  Scalar,
  ScalarList,
  String,
  ScalarType,
  Layout,
  Device,
  MemoryFormat,
  Generator,
  OptionalTensorList,  // Tensor?[]: elements may be None
  Any,                 // hand-written functions only: any object
};

enum Flags : uint8_t {
  kNone = 0,
  kOptional = 1,     // has a default
  kNullable = 2,     // None is a value
  kKeywordOnly = 4,  // after the *
  kVarargs = 8,      // an int list that the positional arguments may spell out: x.view(2, 3)
  kOutput = 16,      // out=
};

struct Parameter {
  const char* name;
  Kind kind;
  uint8_t flags = kNone;
  int8_t list_size = 0;  // int[2]: 2, and a lone int fills both; 0: any length, no lone int

  constexpr bool has(Flags flag) const { return (flags & flag) != 0; }
};

struct Signature {
  const char* text;  // for messages: "add(Tensor input, Tensor other, *, Number alpha = 1)"
  const Parameter* parameters;
  int8_t count;
  int8_t self = -1;  // slot of the method's own tensor; -1 for functions
};

/// A Python callable: its overloads in the order in which they are tried. Static data.
struct Function {
  const char* name;   // "add"
  const char* owner;  // "torch", "nn", "Tensor" ...: where __torch_function__ finds the callable
  const Signature* signatures;
  int count;
  int deprecated = 0;  // the last ones, which are accepted with a warning and left out of messages
  mutable PyObject** interned = nullptr;  // names of all parameters, made for the first keyword
};

constexpr int kMaxSlots = 32;
constexpr int kOverridden = -1;  // result of bind: __torch_function__ takes the call over

using IntVector = at::DimVector;
using OptionalIntVector = std::optional<at::DimVector>;
using RealVector = DoubleVector;
using OptionalRealVector = std::optional<DoubleVector>;

/// The arguments of one call, by slot: the position of the parameter in its signature. Slots are
/// borrowed references; the caller keeps the objects alive.
class TORCH_PY_API Arguments {
 public:
  /// Binds an all-positional call whose types the caller has checked.
  void set(PyObject* const* args, Py_ssize_t nargs) {
    for (Py_ssize_t i = 0; i < nargs; ++i) slots_[i] = args[i];
    count_ = static_cast<int>(nargs);
  }

  void set(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
    slots_[0] = self;
    for (Py_ssize_t i = 0; i < nargs; ++i) slots_[i + 1] = args[i];
    count_ = static_cast<int>(nargs) + 1;
  }
  /// Binds any call; `self` is null for functions. Returns the index of the signature that accepts
  /// it, or kOverridden if a mode is entered or an argument defines __torch_function__ (then:
  /// return call_override(function)). Throws PythonError with a TypeError if no signature does.
  int bind(const Function& function, PyObject* self, PyObject* const* args, Py_ssize_t nargs,
           PyObject* kwnames);
  PyObject* call_override(const Function& function);
  /// After bind has accepted a deprecated signature: warns, and moves the arguments to the slots of
  /// signature `replacement`. `order` has the old slot of each of its parameters, or -1.
  void modernize(int replacement, std::initializer_list<int> order);
  /// The signature that accepts the call bound last, also if bind returned kOverridden.
  int accepted() const { return static_cast<int>(signature_ - function_->signatures); }

  /// Whether the argument is present and not None.
  bool given(int slot) const {
    return slot < count_ && slots_[slot] != nullptr && slots_[slot] != Py_None;
  }
  /// The argument as it is; null if absent.
  PyObject* object(int slot) const { return slot < count_ ? slots_[slot] : nullptr; }

  const at::Tensor& tensor(int slot) const { return unpack(slots_[slot]); }
  const at::Tensor& optional_tensor(int slot) const {
    return given(slot) ? tensor(slot) : undefined_tensor();
  }
  at::Tensor tensor_or_number(int slot) const {
    return is_tensor(slots_[slot]) ? tensor(slot) : at::wrapped_scalar(to_scalar(slots_[slot]));
  }

  /// The same without counting references: `number` receives a wrapped number.
  const at::Tensor& tensor_or_number(int slot, at::NumberTensor& number) const {
    if (is_tensor(slots_[slot])) return tensor(slot);
    number = at::NumberTensor(to_scalar(slots_[slot]));
    return number.get();
  }
  /// Empty if not given. None elements (of an OptionalTensorList) become undefined tensors.
  TensorVector tensor_list(int slot) const;
  template <size_t N>
  std::array<at::Tensor, N> tensor_tuple(int slot) const;

  int64_t integer(int slot) const { return to_int64(slots_[slot]); }
  int64_t integer(int slot, int64_t otherwise) const {
    return given(slot) ? integer(slot) : otherwise;
  }
  std::optional<int64_t> optional_integer(int slot) const {
    return given(slot) ? std::optional(integer(slot)) : std::nullopt;
  }

  double real(int slot) const { return to_double(slots_[slot]); }
  double real(int slot, double otherwise) const { return given(slot) ? real(slot) : otherwise; }
  std::optional<double> optional_real(int slot) const {
    return given(slot) ? std::optional(real(slot)) : std::nullopt;
  }

  bool boolean(int slot) const { return to_bool(slots_[slot]); }
  bool boolean(int slot, bool otherwise) const { return given(slot) ? boolean(slot) : otherwise; }
  std::optional<bool> optional_boolean(int slot) const {
    return given(slot) ? std::optional(boolean(slot)) : std::nullopt;
  }

  at::Scalar scalar(int slot) const { return to_scalar(slots_[slot]); }
  at::Scalar scalar(int slot, const at::Scalar& otherwise) const {
    return given(slot) ? scalar(slot) : otherwise;
  }
  std::optional<at::Scalar> optional_scalar(int slot) const {
    return given(slot) ? std::optional(scalar(slot)) : std::nullopt;
  }

  IntVector int_list(int slot, int size = 0) const;
  IntVector int_list(int slot, int size, std::initializer_list<int64_t> otherwise) const;
  OptionalIntVector optional_int_list(int slot, int size = 0) const;
  RealVector real_list(int slot) const;
  OptionalRealVector optional_real_list(int slot) const;
  ScalarVector scalar_list(int slot) const;
  template <size_t N>
  std::array<bool, N> bool_array(int slot) const;

  std::string_view string(int slot) const { return to_string_view(slots_[slot]); }
  std::string_view string(int slot, std::string_view otherwise) const {
    return given(slot) ? string(slot) : otherwise;
  }
  std::optional<std::string_view> optional_string(int slot) const {
    return given(slot) ? std::optional(string(slot)) : std::nullopt;
  }

  at::ScalarType dtype(int slot) const { return to_dtype(slots_[slot]); }
  at::ScalarType dtype(int slot, at::ScalarType otherwise) const {
    return given(slot) ? dtype(slot) : otherwise;
  }
  std::optional<at::ScalarType> optional_dtype(int slot) const {
    return given(slot) ? std::optional(dtype(slot)) : std::nullopt;
  }

  at::Layout layout(int slot) const { return to_layout(slots_[slot]); }
  at::Layout layout(int slot, at::Layout otherwise) const {
    return given(slot) ? layout(slot) : otherwise;
  }
  std::optional<at::Layout> optional_layout(int slot) const {
    return given(slot) ? std::optional(layout(slot)) : std::nullopt;
  }

  at::Device device(int slot) const { return to_device(slots_[slot]); }
  at::Device device(int slot, at::Device otherwise) const {
    return given(slot) ? device(slot) : otherwise;
  }
  std::optional<at::Device> optional_device(int slot) const {
    return given(slot) ? std::optional(device(slot)) : std::nullopt;
  }

  at::MemoryFormat memory_format(int slot) const { return to_memory_format(slots_[slot]); }
  at::MemoryFormat memory_format(int slot, at::MemoryFormat otherwise) const {
    return given(slot) ? memory_format(slot) : otherwise;
  }
  std::optional<at::MemoryFormat> optional_memory_format(int slot) const {
    return given(slot) ? std::optional(memory_format(slot)) : std::nullopt;
  }

  /// nullptr means the default generator.
  at::Generator* generator(int slot) const {
    return given(slot) ? to_generator(slots_[slot]) : nullptr;
  }

 private:
  static const at::Tensor& undefined_tensor();
  bool match(const Signature& signature, PyObject* const* names);
  bool match_positional(const Signature& signature);
  bool match_keywords(const Signature& signature, PyObject* const* names);
  bool accepts(const Parameter& parameter, PyObject* object);
  bool accepts_tensor(const Parameter& parameter, PyObject* object);
  bool accepts_tensor_list(const Parameter& parameter, PyObject* object);
  int64_t list_element(int slot, size_t position, PyObject* item) const;
  [[noreturn]] void throw_bad_element(int slot, size_t position, const char* wanted,
                                      PyObject* item) const;

  const Function* function_ = nullptr;  // null after set()
  const Signature* signature_ = nullptr;
  PyObject* self_ = nullptr;  // null for functions
  PyObject* const* args_ = nullptr;
  Py_ssize_t nargs_ = 0;
  PyObject* kwnames_ = nullptr;  // null without keywords
  int count_ = 0;                // slots that are set, present or null
  int varargs_slot_ = -1;        // its elements are the positional arguments from varargs_start_ on
  int varargs_start_ = 0;
  bool overridden_ = false;     // an argument defines __torch_function__
  PyObject* slots_[kMaxSlots];  // null for absent arguments; undefined from count_ on
};

template <size_t N>
std::array<at::Tensor, N> Arguments::tensor_tuple(int slot) const {
  const TensorVector list = tensor_list(slot);
  if (list.size() != N)
    throw_python(PyExc_TypeError, "expected a tuple of %zu tensors, got %zu", N, list.size());
  std::array<at::Tensor, N> result;
  for (size_t i = 0; i < N; ++i) result[i] = list[i];
  return result;
}

template <size_t N>
std::array<bool, N> Arguments::bool_array(int slot) const {
  std::array<bool, N> result;
  to_bool_array(slots_[slot], result.data(), N);
  return result;
}

/// The number of TorchFunctionModes entered on all threads (TorchFunctionMode.cpp). While it is not
/// zero, every call goes through Arguments::bind, which asks whether this thread is in a mode.
TORCH_PY_API extern int function_mode_count;
inline bool has_function_modes() { return C10_UNLIKELY(function_mode_count != 0); }

/// Whether `object` is exactly a Tensor (or Parameter): one or two pointer comparisons.
inline bool is_plain_tensor(PyObject* object) {
  return Py_TYPE(object) == tensor_class || Py_TYPE(object) == parameter_class;
}
inline bool is_plain_int(PyObject* object) { return PyLong_CheckExact(object); }
inline bool is_plain_float(PyObject* object) { return PyFloat_CheckExact(object); }
inline bool is_plain_bool(PyObject* object) { return PyBool_Check(object); }
inline bool is_plain_number(PyObject* object) {
  return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object) ||
         PyComplex_CheckExact(object);
}

/// Refuses a call whose tensors are all given as numbers.
[[noreturn]] void throw_only_numbers(const char* op_name, const char* parameters);

}  // namespace torch::python
