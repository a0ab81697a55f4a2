// Wraps the C++ results of operators in new Python references.
#include "torch_py/csrc/bindings/calls/Wrap.h"

#include <cstring>
#include <string>

#include "torch_py/csrc/autograd/AutogradMeta.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/Registry.h"
#include "torch_py/csrc/bindings/types/DeviceType.h"
#include "torch_py/csrc/bindings/types/Dtype.h"
#include "torch_py/csrc/bindings/types/SizeType.h"

namespace torch::python {

namespace {

/// torch.return_types.max(
/// values=tensor(3.),
/// indices=tensor(2))
PyObject* represent(PyObject* self) {
  TORCH_PY_TRY
  const char* path = Py_TYPE(self)->tp_name;
  std::string text = std::string("torch.return_types.") + (std::strrchr(path, '.') + 1) + "(";

  for (Py_ssize_t i = 0; i < Py_SIZE(self); ++i) {
    const ObjectPtr value =
        ObjectPtr::steal(checked(PyObject_Repr(PyStructSequence_GetItem(self, i))));
    const char* characters = PyUnicode_AsUTF8(value.get());
    if (characters == nullptr) throw PythonError();
    text +=
        std::string(i == 0 ? "\n" : ",\n") + Py_TYPE(self)->tp_members[i].name + "=" + characters;
  }

  return checked(PyUnicode_FromString((text + ")").c_str()));
  TORCH_PY_CATCH(nullptr)
}

}  // namespace

PyObject* wrap(at::ScalarType dtype) { return Py_NewRef(dtype_object(dtype)); }
PyObject* wrap(at::Device device) { return make_device(device); }
PyObject* wrap(at::Layout layout) { return Py_NewRef(layout_object(layout)); }
PyObject* wrap(at::MemoryFormat format) { return Py_NewRef(memory_format_object(format)); }
PyObject* wrap_size(at::IntArrayRef sizes) { return make_size(sizes); }

PyObject* wrap(std::vector<at::Tensor> tensors) {
  ObjectPtr tuple = ObjectPtr::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(tensors.size()))));
  for (size_t i = 0; i < tensors.size(); ++i)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), wrap(std::move(tensors[i])));
  return tuple.release();
}

PyTypeObject* ReturnType::make() const {
  // The type keeps pointers to its names, so they live as long as the process.
  auto* members = new std::vector<PyStructSequence_Field>;
  for (const char* field : fields) members->push_back({field, nullptr});
  members->push_back({nullptr, nullptr});

  const auto* qualified = new std::string(std::string("torch_py.return_types.") + name);
  PyStructSequence_Desc description = {qualified->c_str(), "", members->data(),
                                       static_cast<int>(fields.size())};

  type = PyStructSequence_NewType(&description);
  checked(reinterpret_cast<PyObject*>(type));
  type->tp_repr = represent;

  const ObjectPtr space = ObjectPtr::steal(namespace_of("return_types"));
  if (!space || PyObject_SetAttrString(space.get(), name, reinterpret_cast<PyObject*>(type)) < 0)
    PyErr_Clear();

  return type;
}

at::Tensor with_requires_grad(at::Tensor fresh, bool requires_grad) {
  if (!requires_grad) return fresh;
  TORCH_CHECK(fresh.is_floating_point() || fresh.is_complex(),
              "Only Tensors of floating point and complex dtype can require gradients");
  torch::autograd::set_requires_grad(fresh, true);
  return fresh;
}

}  // namespace torch::python
