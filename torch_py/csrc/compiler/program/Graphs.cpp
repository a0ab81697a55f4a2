// Graphs that Python names: programs, and any callable.
#include "torch_py/csrc/compiler/program/Graphs.h"

#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/calls/Unlocked.h"
#include "torch_py/csrc/bindings/calls/Wrap.h"
#include "torch_py/csrc/compiler/program/ProgramType.h"
#include "torch_py/csrc/compiler/program/PythonFunction.h"

namespace torch::python {

using programs::Arguments;
using programs::Item;
using programs::Items;
using programs::Program;

namespace {

PyObject* prediction_error = nullptr;

class ProgramGraph final : public programs::Graph {
 public:
  explicit ProgramGraph(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

  Items run(const Arguments& arguments) const override { return run_program(*program_, arguments); }

 private:
  std::shared_ptr<const Program> program_;
};

class FunctionGraph final : public programs::Graph {
 public:
  explicit FunctionGraph(PyObject* function) : function_(keep_object(function)) {
    const ObjectPtr flag = ObjectPtr::steal(PyObject_GetAttrString(function, "_boxed_call"));
    PyErr_Clear();
    is_boxed_ = flag && flag.get() == Py_True;
  }

  Items run(const Arguments& arguments) const override {
    const GilAcquire gil;
    ObjectPtr list = wrap_arguments(arguments);
    const ObjectPtr results = ObjectPtr::steal(checked(call(std::move(list))));
    if (!is_sequence(results.get()))
      throw_python(PyExc_TypeError, "a compiled graph must return a list or tuple, got %s",
                   type_name(results.get()));
    return read_results(results.get());
  }

 private:
  /// A list, which takes the owned ones over.
  static ObjectPtr wrap_arguments(const Arguments& arguments) {
    ObjectPtr list =
        ObjectPtr::steal(checked(PyList_New(static_cast<Py_ssize_t>(arguments.size()))));
    for (size_t i = 0; i < arguments.size(); ++i) {
      const auto& [tensor, integer, owned] = arguments[i];
      PyObject* const item = owned != nullptr    ? wrap(std::move(*owned))
                             : tensor != nullptr ? wrap(*tensor)
                                                 : wrap(integer);
      PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), item);
    }
    return list;
  }

  PyObject* call(ObjectPtr list) const {
    auto* const function = static_cast<PyObject*>(function_.get());
    if (is_boxed_) return PyObject_CallOneArg(function, list.get());

    const ObjectPtr args = ObjectPtr::steal(checked(PyList_AsTuple(list.get())));
    list = {};
    return PyObject_Call(function, args.get(), nullptr);
  }

  static Items read_results(PyObject* results) {
    Items items;

    for (Py_ssize_t i = 0; i < sequence_length(results); ++i) {
      PyObject* item = sequence_item(results, i);
      if (is_tensor(item)) {
        items.push_back({unpack(item), 0, false});
      } else if (PyLong_Check(item)) {
        items.push_back({{}, to_int64(item), true});
      } else if (item == Py_None) {
        items.push_back({});
      } else {
        throw_python(PyExc_TypeError, "a compiled graph must return tensors, got %s",
                     type_name(item));
      }
    }
    return items;
  }

  std::shared_ptr<void> function_;
  bool is_boxed_ = false;
};

}  // namespace

Items run_program(const Program& program, const Arguments& arguments) {
  const Program::Prepared prepared = program.prepare(arguments);
  const at::Tensor none;
  const auto given = [&](size_t i) -> const at::Tensor& {
    const bool exists = i < arguments.size() && arguments[i].tensor != nullptr;
    return exists ? *arguments[i].tensor : none;
  };
  const bool releases = prepared.plan->most_elements >= kManyElements && PyGILState_Check() != 0;
  const detail::MaybeGilRelease release(releases, given(0), given(1), given(2), given(3));
  return program.run(prepared, arguments);
}

PyObject* wrap_items(Items items) {
  ObjectPtr list = ObjectPtr::steal(checked(PyList_New(static_cast<Py_ssize_t>(items.size()))));
  for (size_t i = 0; i < items.size(); ++i) {
    PyObject* const item =
        items[i].is_integer ? wrap(items[i].integer) : wrap(std::move(items[i].tensor));
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), item);
  }
  return list.release();
}

Arguments read_arguments(PyObject* const* args, Py_ssize_t count, const char* what) {
  Arguments arguments;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* object = args[i];
    if (C10_LIKELY(is_tensor(object))) {
      arguments.push_back({&unpack(object), 0, nullptr});
    } else if (PyLong_Check(object)) {
      arguments.push_back({nullptr, to_int64(object), nullptr});
    } else {
      throw_python(PyExc_TypeError, "input %zd of a %s must be a Tensor or an int, got %s", i, what,
                   type_name(object));
    }
  }
  return arguments;
}

void set_prediction_error(const programs::PredictionError& error) {
  PyErr_SetString(prediction_error, error.what());
}

void init_prediction_error(PyObject* module) {
  prediction_error = checked(PyErr_NewExceptionWithDoc(
      "torch_py._C._compiler.PredictionError",
      "The result of an operator differs from what a program was compiled for.", PyExc_RuntimeError,
      nullptr));
  check_status(PyModule_AddObjectRef(module, "PredictionError", prediction_error));
}

std::shared_ptr<const programs::Graph> read_graph(PyObject* object) {
  if (auto program = program_of(object)) return std::make_shared<ProgramGraph>(std::move(program));
  if (!PyCallable_Check(object))
    throw_python(PyExc_TypeError, "expected a Program or another callable, got %s",
                 type_name(object));
  return std::make_shared<FunctionGraph>(object);
}

}  // namespace torch::python
