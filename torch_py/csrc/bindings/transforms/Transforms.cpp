// Function transforms in Python: levels, and tensors that they wrap.
#include "torch_py/csrc/bindings/transforms/Transforms.h"

#include <string_view>

#include "aten/transforms/Levels.h"
#include "aten/transforms/Transforms.h"
#include "torch_py/csrc/autograd/ForwardMode.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/calls/Wrap.h"
#include "torch_py/csrc/bindings/dispatch/OperatorType.h"
#include "torch_py/csrc/bindings/dispatch/PythonKernel.h"
#include "torch_py/csrc/bindings/tensor/TensorType.h"

namespace torch::python {

namespace {

namespace transforms = at::transforms;

const at::Tensor& to_tensor(PyObject* object, const char* function) {
  if (!is_tensor(object))
    throw_python(PyExc_TypeError, "%s(): expected a Tensor, got %s", function, type_name(object));
  return unpack(object);
}

transforms::Wrapped& to_wrapped(PyObject* object, const char* function) {
  transforms::Wrapped* wrapped = transforms::as_wrapped(to_tensor(object, function));
  TORCH_CHECK(wrapped != nullptr, function, "(): expected a tensor that a transform has wrapped");
  return *wrapped;
}

PyObject* begin_level(PyObject*, PyObject* args) {
  TORCH_PY_TRY
  long long size = -1;
  const char* randomness = "error";
  if (!PyArg_ParseTuple(args, "|Ls:_begin_level", &size, &randomness)) return nullptr;
  const std::string_view word = randomness;
  const auto kind = word == "different" ? transforms::Randomness::Different
                    : word == "same"    ? transforms::Randomness::Same
                                        : transforms::Randomness::Error;
  return PyLong_FromLong(transforms::begin_level({size, kind}));
  TORCH_PY_CATCH(nullptr)
}

PyObject* end_level(PyObject*, PyObject*) {
  TORCH_PY_TRY
  transforms::end_level();
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* current_level(PyObject*, PyObject*) {
  return PyLong_FromLong(transforms::current_level());
}

PyObject* level_at(PyObject*, PyObject* number) {
  TORCH_PY_TRY
  static constexpr const char* kNames[] = {"error", "different", "same"};
  const int64_t wanted = to_int64(number);
  TORCH_CHECK(wanted >= 1 && wanted <= transforms::current_level(), "no transform has level ",
              wanted);
  const transforms::Level& level = transforms::level_at(static_cast<int>(wanted));
  return Py_BuildValue("(Ls)", static_cast<long long>(level.batch_size),
                       kNames[static_cast<int>(level.randomness)]);
  TORCH_PY_CATCH(nullptr)
}

PyObject* wrap_batch(PyObject*, PyObject* args) {
  TORCH_PY_TRY
  PyObject* value = nullptr;
  int level = 0;
  if (!PyArg_ParseTuple(args, "Oi:_wrap_batch", &value, &level)) return nullptr;
  const at::Tensor& tensor = to_tensor(value, "_wrap_batch");
  TORCH_CHECK(tensor.dim() > 0, "_wrap_batch: a batch has a dimension");
  return wrap(transforms::wrap_batch(tensor, level));
  TORCH_PY_CATCH(nullptr)
}

PyObject* wrap_dual(PyObject*, PyObject* args) {
  TORCH_PY_TRY
  PyObject* value = nullptr;
  PyObject* tangent = nullptr;
  int level = 0;
  if (!PyArg_ParseTuple(args, "OOi:_wrap_dual", &value, &tangent, &level)) return nullptr;
  const at::Tensor direction = tangent == Py_None ? at::Tensor() : to_tensor(tangent, "_wrap_dual");
  return wrap(transforms::wrap_dual(to_tensor(value, "_wrap_dual"), direction, level));
  TORCH_PY_CATCH(nullptr)
}

PyObject* level_of(PyObject*, PyObject* object) {
  if (!is_tensor(object)) return PyLong_FromLong(0);
  return PyLong_FromLong(transforms::level_of(unpack(object)));
}

PyObject* is_batch(PyObject*, PyObject* object) {
  if (!is_tensor(object)) Py_RETURN_FALSE;
  const transforms::Wrapped* wrapped = transforms::as_wrapped(unpack(object));
  return PyBool_FromLong(wrapped != nullptr && wrapped->kind() == transforms::Wrapped::Kind::Batch);
}

PyObject* inside(PyObject*, PyObject* object) {
  TORCH_PY_TRY
  return wrap(to_wrapped(object, "_inside").value());
  TORCH_PY_CATCH(nullptr)
}

PyObject* tangent(PyObject*, PyObject* object) {
  TORCH_PY_TRY
  const at::Tensor& found = to_wrapped(object, "_tangent").tangent();
  if (!found.defined()) Py_RETURN_NONE;
  return wrap(found);
  TORCH_PY_CATCH(nullptr)
}

PyObject* set_inside(PyObject*, PyObject* args) {
  TORCH_PY_TRY
  PyObject* object = nullptr;
  PyObject* value = nullptr;
  if (!PyArg_ParseTuple(args, "OO:_set_inside", &object, &value)) return nullptr;
  to_wrapped(object, "_set_inside").set_value(to_tensor(value, "_set_inside"));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* set_tangent(PyObject*, PyObject* args) {
  TORCH_PY_TRY
  PyObject* object = nullptr;
  PyObject* value = nullptr;
  if (!PyArg_ParseTuple(args, "OO:_set_tangent", &object, &value)) return nullptr;
  to_wrapped(object, "_set_tangent")
      .set_tangent(value == Py_None ? at::Tensor() : to_tensor(value, "_set_tangent"));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* install_transforms(PyObject*, PyObject* forward_mode) {
  TORCH_PY_TRY
  static std::shared_ptr<const autograd::ForwardMode> kernel;
  kernel = std::make_shared<autograd::ForwardMode>(make_operator_handler(forward_mode));
  transforms::install(kernel.get());
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* set_batch_rule(PyObject*, PyObject* args) {
  TORCH_PY_TRY
  PyObject* object = nullptr;
  PyObject* function = nullptr;
  if (!PyArg_ParseTuple(args, "OO:_set_batch_rule", &object, &function)) return nullptr;
  if (!is_operator(object))
    throw_python(PyExc_TypeError, "_set_batch_rule(): expected an operator");

  c10::OperatorEntry& entry = *reinterpret_cast<OperatorObject*>(object)->entry;
  auto rule = transforms::with_batch_rule(make_operator_handler(function));
  entry.set_boxed_kernel(c10::DispatchKey::Transform, std::move(rule));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef functions[] = {
    {"_begin_level", begin_level, METH_VARARGS,
     "_begin_level(batch_size=-1, randomness='error') -> int: begins a transform on this thread."},
    {"_end_level", end_level, METH_NOARGS, "Ends the transform begun last."},
    {"_current_level", current_level, METH_NOARGS,
     "The level of the innermost transform; 0: none."},
    {"_level_at", level_at, METH_O,
     "(batch_size, randomness) of a running transform; -1: no vmap."},
    {"_wrap_batch", wrap_batch, METH_VARARGS,
     "_wrap_batch(value, level): the members in the first dimension of value, as one of them."},
    {"_wrap_dual", wrap_dual, METH_VARARGS, "_wrap_dual(value, tangent, level)"},
    {"_level_of", level_of, METH_O,
     "The level of a tensor; 0 for plain tensors and other objects."},
    {"_is_batch", is_batch, METH_O, "Whether an object is a tensor inside of vmap."},
    {"_inside", inside, METH_O, "What a transform has wrapped: the batch, or the value of a dual."},
    {"_tangent", tangent, METH_O, "The tangent of a dual tensor; None is zero."},
    {"_set_inside", set_inside, METH_VARARGS, "_set_inside(tensor, value)"},
    {"_set_tangent", set_tangent, METH_VARARGS, "_set_tangent(tensor, tangent)"},
    {"_set_batch_rule", set_batch_rule, METH_VARARGS,
     "_set_batch_rule(operator, rule): rule(operator, args, kwargs) handles its calls in vmap."},
    {"_install_transforms", install_transforms, METH_O,
     "Sets what handles operators of dual tensors in place, and of those that wrap wrapped ones: "
     "forward_mode(operator, args, kwargs)."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_transforms(PyObject* module) { check_status(PyModule_AddFunctions(module, functions)); }

}  // namespace torch::python
