// Values of boxed calls as Python objects, and the reverse.
#include "torch_py/csrc/bindings/dispatch/Values.h"

#include <string>

#include "aten/dispatch/DefaultValue.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/calls/Wrap.h"
#include "torch_py/csrc/bindings/types/GeneratorType.h"

namespace torch::python {

using at::Value;
using c10::SchemaType;
using c10::SchemaValue;

namespace {

// --- To Python ---

PyObject* wrap_tensor(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_wrapped_number() || !tensor.storage()) return wrap(tensor);

  // Reading the number is not a call of the program, which somebody might want to see.
  const c10::ExcludeDispatchKeyGuard unseen(c10::DispatchKeySet(c10::DispatchKey::Python) |
                                            c10::DispatchKey::Profiler);
  return from_scalar(tensor.item());
}

template <class List, class Wrap>
PyObject* wrap_list(const List& list, Wrap&& wrap_element) {
  ObjectPtr result = ObjectPtr::steal(checked(PyList_New(static_cast<Py_ssize_t>(list.size()))));
  for (size_t i = 0; i < list.size(); ++i)
    PyList_SET_ITEM(result.get(), static_cast<Py_ssize_t>(i), wrap_element(list[i]));
  return result.release();
}

/// A Python object inside of a Value.
class PythonObject final : public at::ForeignObject {
 public:
  explicit PythonObject(PyObject* object) : object_(Py_NewRef(object)) {}
  ~PythonObject() override {
    if (python_has_ended()) return;
    const GilAcquire gil;
    Py_CLEAR(object_);
  }
  PythonObject(const PythonObject&) = delete;
  PythonObject& operator=(const PythonObject&) = delete;

  PyObject* get() const { return object_; }

 private:
  PyObject* object_;
};

struct Wrapper {
  PyObject* operator()(std::monostate) const { return wrap_none(); }
  PyObject* operator()(const at::Tensor& tensor) const { return wrap_tensor(tensor); }
  PyObject* operator()(const Value::Tensors& tensors) const {
    return wrap_list(tensors, wrap_tensor);
  }
  PyObject* operator()(const at::DimVector& numbers) const {
    return wrap_list(numbers, [](int64_t number) { return wrap(number); });
  }
  PyObject* operator()(const Value::Doubles& numbers) const {
    return wrap_list(numbers, [](double number) { return wrap(number); });
  }
  PyObject* operator()(const Value::Scalars& numbers) const {
    return wrap_list(numbers, from_scalar);
  }
  PyObject* operator()(const at::Scalar& number) const { return from_scalar(number); }
  PyObject* operator()(const std::string& text) const {
    return checked(PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
  }
  PyObject* operator()(at::Generator* generator) const { return generator_object(generator); }
  PyObject* operator()(const Value::List& values) const { return wrap_list(values, wrap_value); }
  PyObject* operator()(const Value::Object& object) const {
    return Py_NewRef(static_cast<const PythonObject&>(*object).get());
  }
  template <class T>
  PyObject* operator()(const T& value) const {
    return wrap(value);
  }
};

// --- From Python ---

[[noreturn]] void throw_wrong_type(PyObject* object, const SchemaValue& argument,
                                   const c10::OperatorEntry& entry, size_t position) {
  throw_python(PyExc_RuntimeError,
               "%s() Expected a value of type '%s' for argument '%s' but instead found type "
               "'%s'.\nPosition: %zu\nValue: %R\nDeclaration: %s",
               function_name(entry).c_str(), argument.type_text.c_str(), argument.name.c_str(),
               Py_TYPE(object)->tp_name, position, object, entry.qualified_schema().c_str());
}

bool is_element(PyObject* object, const SchemaValue& argument) {
  switch (argument.type) {
    case SchemaType::Tensor:
      return is_tensor(object) || (argument.has_optional_elements && object == Py_None);

    case SchemaType::Scalar: return is_scalar(object);
    case SchemaType::Int: return is_int(object);
    case SchemaType::Float: return is_float(object) || is_int(object);
    case SchemaType::Bool: return PyBool_Check(object) || is_bool(object);

    case SchemaType::String: return PyUnicode_Check(object);
    case SchemaType::ScalarType: return is_dtype(object);
    case SchemaType::Layout: return is_layout(object);
    case SchemaType::Device: return is_device(object);
    case SchemaType::MemoryFormat: return is_memory_format(object);
    case SchemaType::Generator: return is_generator(object);
    case SchemaType::Object: return true;
  }
  return false;
}

Value element(PyObject* object, SchemaType type) {
  switch (type) {
    case SchemaType::Tensor: return unpack(object);

    case SchemaType::Scalar: return to_scalar(object);
    case SchemaType::Int: return to_int64(object);
    case SchemaType::Float: return to_double(object);
    case SchemaType::Bool: return to_bool(object);
    case SchemaType::String: return to_string_view(object);
    case SchemaType::ScalarType: return to_dtype(object);
    case SchemaType::Layout: return to_layout(object);
    case SchemaType::Device: return to_device(object);
    case SchemaType::MemoryFormat: return to_memory_format(object);
    case SchemaType::Generator: return to_generator(object);
    case SchemaType::Object: return Value::Object(std::make_shared<PythonObject>(object));
  }
  return {};
}

/// The elements of a list argument; `List` is that of the Value, `T` its element.
template <class T, class List>
Value list_of(PyObject* const* items, size_t count, SchemaType type) {
  List list;
  list.reserve(count);
  for (size_t i = 0; i < count; ++i) list.push_back(element(items[i], type).template get<T>());
  return list;
}

/// The elements of a list of a type without a list of its own; they may be None.
Value list_of_values(PyObject* const* items, size_t count, SchemaType type) {
  Value::List values;
  values.reserve(count);
  for (size_t i = 0; i < count; ++i)
    values.push_back(items[i] == Py_None ? Value() : element(items[i], type));
  return values;
}

Value tensor_list(PyObject* const* items, size_t count) {
  Value::Tensors tensors;
  tensors.reserve(count);
  for (size_t i = 0; i < count; ++i)
    tensors.push_back(items[i] == Py_None ? at::Tensor() : unpack(items[i]));
  return tensors;
}

Value to_list(PyObject* object, const SchemaValue& argument, const c10::OperatorEntry& entry,
              size_t position) {
  // int[2]: a lone int stands for all elements.
  if (argument.list_size > 0 && !is_sequence(object) && is_element(object, argument)) {
    at::DimVector numbers(static_cast<size_t>(argument.list_size), to_int64(object));
    return numbers;
  }

  const bool is_text = PyUnicode_Check(object) || PyBytes_Check(object);
  if (is_tensor(object) || is_text || !PySequence_Check(object))
    throw_wrong_type(object, argument, entry, position);

  const ObjectPtr sequence = ObjectPtr::steal(checked(PySequence_Fast(object, "a list")));
  PyObject* const* items = PySequence_Fast_ITEMS(sequence.get());
  const auto count = static_cast<size_t>(PySequence_Fast_GET_SIZE(sequence.get()));
  for (size_t i = 0; i < count; ++i) {
    const bool is_absent = argument.has_optional_elements && items[i] == Py_None;
    if (!is_absent && !is_element(items[i], argument))
      throw_wrong_type(object, argument, entry, position);
  }
  if (argument.has_optional_elements && argument.type != SchemaType::Tensor)
    return list_of_values(items, count, argument.type);

  switch (argument.type) {
    case SchemaType::Tensor: return tensor_list(items, count);
    case SchemaType::Scalar:
      return list_of<at::Scalar, Value::Scalars>(items, count, argument.type);
    case SchemaType::Float: return list_of<double, Value::Doubles>(items, count, argument.type);
    case SchemaType::Int: return list_of<int64_t, at::DimVector>(items, count, argument.type);
    default: return list_of_values(items, count, argument.type);
  }
}

PyObject* keyword_value(const SchemaValue& argument, PyObject* const* values, PyObject* kwnames) {
  for (Py_ssize_t i = 0; kwnames != nullptr && i < PyTuple_GET_SIZE(kwnames); ++i) {
    if (argument.name == to_string_view(PyTuple_GET_ITEM(kwnames, i))) return values[i];
  }
  return nullptr;
}

void check_keywords(const c10::OperatorEntry& entry, Py_ssize_t nargs, PyObject* kwnames) {
  const c10::OperatorSchema& schema = entry.schema();
  for (Py_ssize_t i = 0; kwnames != nullptr && i < PyTuple_GET_SIZE(kwnames); ++i) {
    const std::string name(to_string_view(PyTuple_GET_ITEM(kwnames, i)));
    const int position = schema.position(name);

    if (position < 0) {
      throw_python(PyExc_RuntimeError,
                   "Unknown keyword argument '%s' for operator '%s'. Schema: %s", name.c_str(),
                   entry.qualified_name().c_str(), entry.qualified_schema().c_str());
    }
    if (position < nargs) {
      throw_python(PyExc_RuntimeError,
                   "%s() got multiple values for argument '%s'. Declaration: %s",
                   function_name(entry).c_str(), name.c_str(), entry.qualified_schema().c_str());
    }
  }
}

}  // namespace

std::string function_name(const c10::OperatorEntry& entry) {
  const std::string name = entry.qualified_name();
  return name.substr(0, name.find('.'));
}

PyObject* wrap_value(const Value& value) { return std::visit(Wrapper(), value.variant()); }

Value to_value(PyObject* object, const SchemaValue& argument, const c10::OperatorEntry& entry,
               size_t position) {
  const bool may_be_none = argument.is_optional || argument.type == SchemaType::Object;
  if (object == Py_None && may_be_none) return {};
  if (argument.is_list) return to_list(object, argument, entry, position);

  // A number is a tensor that promotes only by its kind, to operators that know about promotion.
  const bool takes_numbers =
      argument.type == SchemaType::Tensor && !entry.is_declared_at_run_time();
  if (takes_numbers && !is_tensor(object) && is_scalar(object))
    return at::wrapped_scalar(to_scalar(object));

  if (!is_element(object, argument)) throw_wrong_type(object, argument, entry, position);
  return element(object, argument.type);
}

void push_arguments(at::Stack& stack, const c10::OperatorEntry& entry, PyObject* const* args,
                    Py_ssize_t nargs, PyObject* kwnames) {
  const c10::OperatorSchema& schema = entry.schema();
  const std::vector<SchemaValue>& arguments = schema.arguments;
  check_keywords(entry, nargs, kwnames);

  stack.reserve(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const SchemaValue& argument = arguments[i];
    const bool is_positional = static_cast<Py_ssize_t>(i) < nargs;
    PyObject* object = is_positional && !argument.is_keyword_only
                           ? args[i]
                           : keyword_value(argument, args + nargs, kwnames);

    if (is_positional && argument.is_keyword_only) {
      throw_python(PyExc_RuntimeError,
                   "%s() takes %zu positional argument(s) but %zd were given. Declaration: %s",
                   function_name(entry).c_str(), i, nargs, entry.qualified_schema().c_str());
    }
    if (object != nullptr) {
      stack.push_back(to_value(object, argument, entry, i));
    } else if (argument.default_text) {
      stack.push_back(at::default_value(argument));
    } else {
      throw_python(PyExc_RuntimeError, "%s() is missing value for argument '%s'. Declaration: %s",
                   function_name(entry).c_str(), argument.name.c_str(),
                   entry.qualified_schema().c_str());
    }
  }

  if (nargs > static_cast<Py_ssize_t>(arguments.size())) {
    throw_python(PyExc_RuntimeError,
                 "%s() expected at most %zu argument(s) but received %zd argument(s). "
                 "Declaration: %s",
                 function_name(entry).c_str(), arguments.size(), nargs,
                 entry.qualified_schema().c_str());
  }
}

PyObject* wrap_results(at::Stack& stack) {
  const at::Stack results = std::exchange(stack, at::Stack());
  if (results.empty()) return wrap_none();
  if (results.size() == 1) return wrap_value(results[0]);

  ObjectPtr tuple = ObjectPtr::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(results.size()))));
  for (size_t i = 0; i < results.size(); ++i)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), wrap_value(results[i]));
  return tuple.release();
}

void push_results(at::Stack& stack, const c10::OperatorEntry& entry, PyObject* results) {
  const std::vector<SchemaValue>& expected = entry.schema().results;
  stack.clear();
  if (expected.empty()) {
    if (results == Py_None || results == Py_NotImplemented) return;
    throw_python(PyExc_RuntimeError, "Expected the kernel of %s to return None but it returned %R",
                 entry.qualified_name().c_str(), results);
  }

  const auto push = [&](PyObject* object, size_t i) {
    // A kernel may leave out a result, as of gradients that nobody wants.
    const bool is_absent = object == Py_None && expected[i].type == SchemaType::Tensor;
    if (is_absent && !expected[i].is_list) return stack.emplace_back(), void();
    // Operators of torch_py hand numbers of the program on as numbers.
    const bool is_tensor_result = expected[i].type == SchemaType::Tensor && !expected[i].is_list;
    if (entry.is_declared_at_run_time() && is_tensor_result && !is_tensor(object)) {
      throw_python(PyExc_RuntimeError, "Unable to cast %R to Tensor, which %s returns", object,
                   entry.qualified_name().c_str());
    }
    SchemaValue result = expected[i];
    if (result.name.empty()) result.name = "result " + std::to_string(i);
    stack.push_back(to_value(object, result, entry, i));
  };

  if (expected.size() == 1) return push(results, 0);

  const bool fits =
      is_sequence(results) && static_cast<size_t>(sequence_length(results)) == expected.size();
  if (!fits) {
    throw_python(PyExc_RuntimeError, "%s: expected a tuple of %zu results, got %R",
                 entry.qualified_name().c_str(), expected.size(), results);
  }
  for (size_t i = 0; i < expected.size(); ++i)
    push(sequence_item(results, static_cast<Py_ssize_t>(i)), i);
}

}  // namespace torch::python
