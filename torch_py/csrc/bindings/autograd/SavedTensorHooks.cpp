// torch.autograd.graph.saved_tensors_hooks: Python functions that pack and unpack saved tensors.
#include <memory>
#include <utility>
#include <vector>

#include "torch_py/csrc/autograd/SavedVariable.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/autograd/AutogradBindings.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/calls/Wrap.h"

namespace torch::python {

namespace {

/// One saved tensor: calls `pack` once, and `unpack` each time the tensor is asked for.
struct PythonSavedHooks final : torch::autograd::SavedVariableHooks {
  PythonSavedHooks(PyObject* pack, PyObject* unpack)
      : pack_(Py_NewRef(pack)), unpack_(Py_NewRef(unpack)) {}

  ~PythonSavedHooks() override {
    if (python_has_ended()) return;
    const GilAcquire gil;
    Py_CLEAR(pack_);
    Py_CLEAR(unpack_);
    Py_CLEAR(packed_);
  }

  void pack(const at::Tensor& tensor) override {
    const GilAcquire gil;
    const ObjectPtr argument = ObjectPtr::steal(wrap(tensor));
    packed_ = checked(PyObject_CallOneArg(pack_, argument.get()));
  }

  at::Tensor unpack() override {
    const GilAcquire gil;
    const ObjectPtr result = ObjectPtr::steal(
        checked(PyObject_CallOneArg(unpack_, packed_ != nullptr ? packed_ : Py_None)));

    if (!is_tensor(result.get())) {
      throw_python(
          PyExc_TypeError,
          "Output of saved tensor unpack_hook expected to be a Tensor but got result of type %s",
          type_name(result.get()));
    }

    return unpack_value(result.get());
  }

 private:
  static at::Tensor unpack_value(PyObject* object) { return torch::python::unpack(object); }

  PyObject* pack_;
  PyObject* unpack_;
  PyObject* packed_ = nullptr;  // what pack returned
};

// The pairs pushed on this thread, owned. Plain pointers: a thread may end after the interpreter.
thread_local std::vector<std::pair<PyObject*, PyObject*>> stack;

std::unique_ptr<torch::autograd::SavedVariableHooks> make_hooks() {
  if (stack.empty()) return nullptr;
  const GilAcquire gil;
  return std::make_unique<PythonSavedHooks>(stack.back().first, stack.back().second);
}

PyObject* push(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  TORCH_PY_TRY
  if (nargs != 2 || !PyCallable_Check(args[0]) || !PyCallable_Check(args[1])) {
    throw_python(PyExc_TypeError,
                 "saved_tensors_hooks: expected two callables, pack_hook and unpack_hook");
  }

  stack.emplace_back(Py_NewRef(args[0]), Py_NewRef(args[1]));
  torch::autograd::DefaultSavedVariableHooks::push();
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* pop(PyObject*, PyObject*) {
  TORCH_PY_TRY
  TORCH_CHECK(!stack.empty(), "saved_tensors_hooks: this thread has no hooks to remove");
  torch::autograd::DefaultSavedVariableHooks::pop();

  const auto [pack, unpack] = stack.back();
  stack.pop_back();
  Py_DECREF(pack);
  Py_DECREF(unpack);
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

/// Removes all hooks of the thread. Returns the pairs, the one pushed first in front.
PyObject* take(PyObject*, PyObject*) {
  TORCH_PY_TRY
  ObjectPtr taken = ObjectPtr::steal(checked(PyList_New(static_cast<Py_ssize_t>(stack.size()))));
  for (size_t i = stack.size(); i-- > 0;) {
    const auto [pack, unpack] = stack.back();
    PyList_SET_ITEM(taken.get(), static_cast<Py_ssize_t>(i),
                    checked(PyTuple_Pack(2, pack, unpack)));
    checked(pop(nullptr, nullptr));
  }
  return taken.release();
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef functions[] = {{"_saved_tensors_hooks_push",
                            reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(push)),
                            METH_FASTCALL, nullptr},
                           {"_saved_tensors_hooks_pop", pop, METH_NOARGS, nullptr},
                           {"_saved_tensors_hooks_take", take, METH_NOARGS, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_saved_tensor_hooks(PyObject* module) {
  torch::autograd::DefaultSavedVariableHooks::set_factory(make_hooks);
  check_status(PyModule_AddFunctions(module, functions));
}

}  // namespace torch::python
