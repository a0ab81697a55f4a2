// Operator calls of programs: their arguments are read once, with slots in place of tensors.
#include <string>

#include "aten/core/Allocation.h"
#include "aten/core/Value.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/calls/Wrap.h"
#include "torch_py/csrc/bindings/dispatch/OperatorType.h"
#include "torch_py/csrc/bindings/dispatch/Values.h"
#include "torch_py/csrc/compiler/program/PythonFunction.h"
#include "torch_py/csrc/compiler/program/ReadDescription.h"
#include "torch_py/csrc/compiler/program/SlotType.h"

namespace torch::python {

namespace {

using programs::CallExtern;
using programs::Description;
using programs::Slot;

/// A tensor in the place of those that only calls have.
PyObject* placeholder() {
  static PyObject* const tensor = wrap(at::empty_real_tensor({0}, at::kFloat, at::kCPU));
  return tensor;
}

/// Reads the arguments of one call.
class ArgumentReader {
 public:
  ArgumentReader(CallExtern& call, Description& description)
      : call_(call), description_(description) {}

  void read(PyObject* args, PyObject* kwargs) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i)
      add(PyTuple_GET_ITEM(args, i), static_cast<int>(i));

    const Py_ssize_t nargs = PyTuple_GET_SIZE(args);
    const ObjectPtr names = ObjectPtr::steal(checked(PyTuple_New(PyDict_GET_SIZE(kwargs))));
    PyObject* name = nullptr;
    PyObject* value = nullptr;
    Py_ssize_t position = 0;
    for (Py_ssize_t i = 0; PyDict_Next(kwargs, &position, &name, &value); ++i) {
      if (!PyUnicode_Check(name))
        throw_python(PyExc_TypeError, "the name of an argument must be a str, got %R", name);
      PyTuple_SET_ITEM(names.get(), i, Py_NewRef(name));
      add(value, call_.entry->schema().position(to_string_view(name)));
    }

    c10::SmallVector<PyObject*, 8> objects;
    for (const ObjectPtr& object : replaced_) objects.push_back(object.get());
    push_arguments(call_.arguments, *call_.entry, objects.data(), nargs, names.get());
    forget_placeholders();
  }

 private:
  /// Notes the slots and formulas of an argument. `position` is -1 for a name that the operator
  /// does not have, which is an error later.
  void add(PyObject* object, int position) {
    if (!is_sequence(object) || is_formula(object)) {
      replaced_.push_back(replace(object, position, CallExtern::Spot::kWhole));
      return;
    }

    ObjectPtr list = ObjectPtr::steal(checked(PyList_New(sequence_length(object))));
    for (Py_ssize_t i = 0; i < sequence_length(object); ++i) {
      ObjectPtr item = replace(sequence_item(object, i), position, static_cast<int32_t>(i));
      PyList_SET_ITEM(list.get(), i, item.release());
    }
    replaced_.push_back(std::move(list));
  }

  ObjectPtr replace(PyObject* object, int position, int32_t element) {
    const CallExtern::Spot spot{static_cast<uint32_t>(position), element};
    if (is_slot(object)) {
      call_.tensors.push_back({spot, static_cast<Slot>(slot_number(object))});
      return ObjectPtr::borrow(placeholder());
    }
    if (is_formula(object)) {
      call_.integers.push_back({spot, read_integer(object, description_)});
      return ObjectPtr::steal(PyLong_FromLong(0));
    }
    if (is_tensor(object))
      throw_python(PyExc_TypeError, "%s: tensors among the arguments must be slots",
                   call_.entry->name());
    // Values only point to generators.
    if (is_generator(object)) description_.kept.push_back(keep_object(object));
    return ObjectPtr::borrow(object);
  }

  void forget_placeholders() {
    for (const auto& [spot, slot] : call_.tensors) {
      at::Value& value = call_.arguments[spot.position];
      if (spot.element == CallExtern::Spot::kWhole) {
        value = {};
      } else {
        value.get<at::Value::Tensors>()[static_cast<size_t>(spot.element)].reset();
      }
    }

    for (const auto& [spot, integer] : call_.integers) {
      const at::Value& value = call_.arguments[spot.position];
      const bool is_element = spot.element != CallExtern::Spot::kWhole;
      const bool fits =
          is_element ? value.is<at::DimVector>()
                     : value.is<int64_t>() || value.is<at::Scalar>() || value.is<at::Tensor>();
      TORCH_CHECK_VALUE(fits, call_.entry->name(), ": argument ", spot.position,
                        " cannot be a formula");
    }
  }

  CallExtern& call_;
  Description& description_;
  std::vector<ObjectPtr> replaced_;
};

void add_result(CallExtern& call, PyObject* object, size_t position, int32_t element) {
  if (object == Py_None) return;
  call.results.push_back({{static_cast<uint32_t>(position), element}, read_slot(object)});
}

void read_results(CallExtern& call, PyObject* results) {
  const std::vector<c10::SchemaValue>& expected = call.entry->schema().results;
  if (!is_sequence(results))
    throw_python(PyExc_TypeError, "the results of an operator must be a tuple, got %R", results);
  if (sequence_length(results) == 0) return;
  TORCH_CHECK_VALUE(static_cast<size_t>(sequence_length(results)) == expected.size(),
                    call.entry->name(), " has ", expected.size(), " results, got ",
                    sequence_length(results), " slots");

  for (size_t i = 0; i < expected.size(); ++i) {
    PyObject* item = sequence_item(results, static_cast<Py_ssize_t>(i));
    if (item == Py_None) continue;
    TORCH_CHECK_VALUE(expected[i].type == c10::SchemaType::Tensor, "result ", i, " of ",
                      call.entry->name(), " is not a tensor");
    TORCH_CHECK_VALUE(expected[i].is_list == is_sequence(item), "result ", i, " of ",
                      call.entry->name(), " is ", expected[i].type_text,
                      "; a list has a tuple of slots");
    if (!expected[i].is_list) {
      add_result(call, item, i, CallExtern::Spot::kWhole);
      continue;
    }
    for (Py_ssize_t k = 0; k < sequence_length(item); ++k)
      add_result(call, sequence_item(item, k), i, static_cast<int32_t>(k));
  }
}

}  // namespace

CallExtern read_extern(PyObject* step, Description& description) {
  PyObject* op = PyTuple_GET_ITEM(step, 1);
  PyObject* args = PyTuple_GET_ITEM(step, 2);
  PyObject* kwargs = PyTuple_GET_ITEM(step, 3);
  if (!PyCallable_Check(op))
    throw_python(PyExc_TypeError, "expected an operator such as torch.ops.aten.mm.default, got %R",
                 op);
  if (!PyTuple_Check(args) || !PyDict_Check(kwargs))
    throw_python(PyExc_TypeError, "the arguments of an operator are a tuple and a dict, got %R, %R",
                 args, kwargs);
  if (!is_operator(op))
    return read_function(op, args, kwargs, PyTuple_GET_ITEM(step, 4), description);

  CallExtern call;
  call.entry = reinterpret_cast<OperatorObject*>(op)->entry;
  ArgumentReader(call, description).read(args, kwargs);
  read_results(call, PyTuple_GET_ITEM(step, 4));
  return call;
}

}  // namespace torch::python
