// The number protocol and comparisons of Tensor. Slots call the generated operators, which are
// found by name when first used.
#include "torch_py/csrc/bindings/Operators.h"
#include "torch_py/csrc/bindings/dispatch/PythonKernel.h"
#include "torch_py/csrc/bindings/exchange/NumPy.h"
#include "torch_py/csrc/bindings/tensor/TensorMembers.h"
#include "torch_py/csrc/bindings/tensor/TensorValues.h"

namespace torch::python {

namespace {

/// Turns a TypeError into NotImplemented: then Python tries the other operand's operator, and words
/// the error.
PyObject* or_not_implemented(PyObject* result) {
  if (result != nullptr || !PyErr_ExceptionMatches(PyExc_TypeError)) return result;
  if (is_error_of_handler()) return nullptr;
  PyErr_Clear();
  Py_RETURN_NOTIMPLEMENTED;
}

/// A method of the generated tables, looked up once.
struct Operator {
  constexpr explicit Operator(const char* name) : name(name) {}

  PyObject* operator()(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
    if (C10_UNLIKELY(function == nullptr)) {
      function = find_tensor_method(name);
      if (function == nullptr) {
        PyErr_Format(PyExc_NotImplementedError, "the operator '%s' is not part of this build",
                     name);
        return nullptr;
      }
    }
    return function(self, args, nargs, nullptr);
  }

  const char* name;
  FastMethod function = nullptr;
};

/// A method whose function, such as torch.sub, takes a number as its first operand, too.
struct OperatorOfNumbers : Operator {
  using Operator::Operator;

  /// The function, a borrowed reference; null with an exception set where this build lacks it.
  PyObject* of_numbers() {
    if (C10_LIKELY(torch_function != nullptr)) return torch_function;
    const ObjectPtr space = ObjectPtr::steal(namespace_of("torch"));
    if (space) torch_function = PyObject_GetAttrString(space.get(), name);
    return torch_function;
  }

  PyObject* torch_function = nullptr;  // owned, as long as the process lives
};

constinit OperatorOfNumbers sub("sub"), div("div"), floor_divide("floor_divide"),
    remainder("remainder"), power("pow");
constinit Operator add("add"), mul("mul"), matmul("matmul"), bitwise_and("bitwise_and"),
    bitwise_or("bitwise_or"), bitwise_xor("bitwise_xor"), left_shift("__lshift__"),
    right_shift("__rshift__"), negative("neg"), absolute("abs"), invert("bitwise_not"),
    positive("positive"), add_("add_"), sub_("sub_"), mul_("mul_"), div_("div_"),
    floor_divide_("floor_divide_"), remainder_("remainder_"), power_("pow_"),
    bitwise_and_("bitwise_and_"), bitwise_or_("bitwise_or_"), bitwise_xor_("bitwise_xor_"),
    reciprocal("reciprocal");
constinit Operator less("lt"), less_equal("le"), equal("eq"), not_equal("ne"), greater("gt"),
    greater_equal("ge");

/// `number op tensor`: the number becomes a tensor, and the operator runs as usual.
PyObject* from_number(Operator& op, PyObject* number, PyObject* tensor) {
  TORCH_PY_TRY
  if (!is_scalar(number)) Py_RETURN_NOTIMPLEMENTED;
  const at::Tensor wrapped = at::wrapped_scalar(to_scalar(number));
  const ObjectPtr left = ObjectPtr::steal(wrap(wrapped));
  return or_not_implemented(op(left.get(), &tensor, 1));
  TORCH_PY_CATCH(nullptr)
}

/// The same without an object for the number, unless somebody wants to see the call.
PyObject* from_number(OperatorOfNumbers& op, PyObject* number, PyObject* tensor) {
  if (!is_plain_number(number) || !is_plain_tensor(tensor) || has_function_modes())
    return from_number(static_cast<Operator&>(op), number, tensor);

  PyObject* function = op.of_numbers();
  if (function == nullptr) return nullptr;
  PyObject* const operands[] = {number, tensor};
  return or_not_implemented(PyObject_Vectorcall(function, operands, 2, nullptr));
}

template <Operator& op>
PyObject* commutative(PyObject* a, PyObject* b) {
  return is_tensor(a) ? or_not_implemented(op(a, &b, 1)) : or_not_implemented(op(b, &a, 1));
}

template <auto& op>
PyObject* binary(PyObject* a, PyObject* b) {
  return is_tensor(a) ? or_not_implemented(op(a, &b, 1)) : from_number(op, a, b);
}

/// NumPy leaves array / tensor to the tensor: it is the array times the reciprocal, in NumPy's
/// arithmetic.
PyObject* true_divide(PyObject* a, PyObject* b) {
  TORCH_PY_TRY
  if (is_tensor(a) || !is_numpy_array(a)) return binary<div>(a, b);

  const ObjectPtr inverse = ObjectPtr::steal(checked(reciprocal(b, nullptr, 0)));
  return PyNumber_Multiply(inverse.get(), a);
  TORCH_PY_CATCH(nullptr)
}

/// == and != also accept arrays; otherwise Python would compare identities.
template <Operator& op>
PyObject* compare_equal(PyObject* a, PyObject* b) {
  TORCH_PY_TRY
  if (!is_numpy_array(b)) return or_not_implemented(op(a, &b, 1));
  const ObjectPtr converted =
      ObjectPtr::steal(wrap(tensor_from_numpy(b, /*warn_if_readonly=*/false)));
  PyObject* other = converted.get();
  return or_not_implemented(op(a, &other, 1));
  TORCH_PY_CATCH(nullptr)
}

PyObject* raise_power(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) {
    PyErr_SetString(PyExc_TypeError, "pow(): a modulus is not supported for tensors");
    return nullptr;
  }
  return binary<power>(a, b);
}

template <Operator& op>
PyObject* matrix_product(PyObject* a, PyObject* b) {
  if (!is_tensor(a)) Py_RETURN_NOTIMPLEMENTED;
  return or_not_implemented(op(a, &b, 1));
}

template <Operator& op>
PyObject* inplace(PyObject* a, PyObject* b) {
  return or_not_implemented(op(a, &b, 1));
}
PyObject* inplace_power(PyObject* a, PyObject* b, PyObject*) {
  return or_not_implemented(power_(a, &b, 1));
}

template <Operator& op>
PyObject* unary(PyObject* self) {
  return op(self, nullptr, 0);
}
PyObject* plus(PyObject* self) {
  if (is_intercepted(self)) return call_method_override("__pos__", self, nullptr, 0);
  if (positive.function != nullptr || find_tensor_method("positive") != nullptr)
    return positive(self, nullptr, 0);
  return Py_NewRef(self);
}

PyObject* inverted(PyObject* self) {
  const at::Tensor& tensor = unpack(self);
  if (!at::is_integral(tensor.scalar_type(), true)) {
    PyErr_SetString(PyExc_TypeError,
                    "~ (operator.invert) is only implemented on integer and Boolean-type tensors");
    return nullptr;
  }
  return invert(self, nullptr, 0);
}

int truth(PyObject* self) {
  if (is_intercepted(self)) {
    const ObjectPtr value = ObjectPtr::steal(call_method_override("__bool__", self, nullptr, 0));
    return value ? PyObject_IsTrue(value.get()) : -1;
  }
  TORCH_PY_TRY
  const at::Tensor& tensor = unpack(self);
  TORCH_CHECK(tensor.numel() != 0, "Boolean value of Tensor with no values is ambiguous");
  TORCH_CHECK(tensor.numel() == 1, "Boolean value of Tensor with more than one value is ambiguous");
  return single_value(tensor).to_bool();
  TORCH_PY_CATCH(-1)
}

PyObject* to_int(PyObject* self) {
  if (is_intercepted(self)) return call_method_override("__int__", self, nullptr, 0);
  TORCH_PY_TRY
  const at::Scalar value = single_value(unpack(self));
  // Python's int() raises for infinities and NaN and is exact for large values.
  if (value.is_floating()) return PyLong_FromDouble(value.to_double());
  return PyLong_FromLongLong(value.to_long());
  TORCH_PY_CATCH(nullptr)
}

PyObject* to_float(PyObject* self) {
  if (is_intercepted(self)) return call_method_override("__float__", self, nullptr, 0);
  TORCH_PY_TRY
  return PyFloat_FromDouble(single_value(unpack(self)).to_double());
  TORCH_PY_CATCH(nullptr)
}

PyObject* to_index(PyObject* self) {
  if (is_intercepted(self)) return call_method_override("__index__", self, nullptr, 0);
  TORCH_PY_TRY
  const at::Tensor& tensor = unpack(self);
  TORCH_CHECK_TYPE(tensor.numel() == 1 && at::is_integral(tensor.scalar_type(), true),
                   "only integer tensors of a single element can be converted to an index");
  return PyLong_FromLongLong(single_value(tensor).to_long());
  TORCH_PY_CATCH(nullptr)
}

PyNumberMethods number_methods() {
  PyNumberMethods methods = {};

  methods.nb_add = commutative<add>;
  methods.nb_subtract = binary<sub>;
  methods.nb_multiply = commutative<mul>;
  methods.nb_true_divide = true_divide;
  methods.nb_floor_divide = binary<floor_divide>;
  methods.nb_remainder = binary<remainder>;
  methods.nb_power = raise_power;
  methods.nb_matrix_multiply = matrix_product<matmul>;
  methods.nb_and = commutative<bitwise_and>;
  methods.nb_or = commutative<bitwise_or>;
  methods.nb_xor = commutative<bitwise_xor>;
  methods.nb_lshift = binary<left_shift>;
  methods.nb_rshift = binary<right_shift>;

  methods.nb_inplace_add = inplace<add_>;
  methods.nb_inplace_subtract = inplace<sub_>;
  methods.nb_inplace_multiply = inplace<mul_>;
  methods.nb_inplace_true_divide = inplace<div_>;
  methods.nb_inplace_floor_divide = inplace<floor_divide_>;
  methods.nb_inplace_remainder = inplace<remainder_>;
  methods.nb_inplace_power = inplace_power;
  methods.nb_inplace_and = inplace<bitwise_and_>;
  methods.nb_inplace_or = inplace<bitwise_or_>;
  methods.nb_inplace_xor = inplace<bitwise_xor_>;

  methods.nb_negative = unary<negative>;
  methods.nb_positive = plus;
  methods.nb_absolute = unary<absolute>;
  methods.nb_invert = inverted;

  methods.nb_bool = truth;
  methods.nb_int = to_int;
  methods.nb_float = to_float;
  methods.nb_index = to_index;

  return methods;
}

}  // namespace

PyNumberMethods* tensor_as_number() {
  static PyNumberMethods methods = number_methods();
  return &methods;
}

PyObject* tensor_compare(PyObject* a, PyObject* b, int operation) {
  switch (operation) {
    case Py_LT: return or_not_implemented(less(a, &b, 1));
    case Py_LE: return or_not_implemented(less_equal(a, &b, 1));
    case Py_EQ: return compare_equal<equal>(a, b);
    case Py_NE: return compare_equal<not_equal>(a, b);
    case Py_GT: return or_not_implemented(greater(a, &b, 1));
    case Py_GE: return or_not_implemented(greater_equal(a, &b, 1));
    default: Py_RETURN_NOTIMPLEMENTED;
  }
}

}  // namespace torch::python
