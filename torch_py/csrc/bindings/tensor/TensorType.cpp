// TensorBase: the life of a tensor's Python object. See Note [One Python object per tensor].
#include "torch_py/csrc/bindings/tensor/TensorType.h"

#include <new>

#include "aten/core/Allocation.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/autograd/FunctionNode.h"
#include "torch_py/csrc/bindings/autograd/PythonHooks.h"
#include "torch_py/csrc/bindings/dispatch/PythonKernel.h"
#include "torch_py/csrc/bindings/tensor/TensorMembers.h"
#include "torch_py/csrc/bindings/types/AddType.h"

namespace torch::python {

namespace {

PyTensor* as_tensor(PyObject* object) { return reinterpret_cast<PyTensor*>(object); }

// Freed objects of exactly `tensor_class`, kept for the next result. They halve the price of a call
// on small tensors.
constexpr int kMaxFree = 64;
PyObject* free_objects[kMaxFree];
int free_count = 0;

bool has_other_owners(const PyTensor* self) {
  return self->tensor.defined() && self->tensor.impl().use_count() > 1;
}

bool owned_by_cpp(const PyTensor* self) {
  return self->tensor.defined() && self->tensor.unsafe_impl()->owns_pyobj;
}

/// Turns "Python owns the tensor" into "the tensor owns its Python object", if C++ still holds it.
/// After true, `self` must not be touched: it lives on, or the release of our count has freed it.
bool hand_over_to_cpp(PyTensor* self) {
  if (!has_other_owners(self)) return false;

  PyObject* object = reinterpret_cast<PyObject*>(self);
  at::TensorImpl* impl = self->tensor.unsafe_impl();
  Py_SET_REFCNT(object, 1);
  impl->owns_pyobj = true;
  // Our count, given up at the end of this scope.
  const auto count = c10::intrusive_ptr<at::TensorImpl>::reclaim(impl);
  return true;
}

/// The reverse of hand_over_to_cpp.
void take_back_from_cpp(PyTensor* self) {
  at::TensorImpl* impl = self->tensor.unsafe_impl();
  impl->owns_pyobj = false;
  // self->tensor has its count again.
  (void)c10::intrusive_ptr<at::TensorImpl>::reclaim_copy(impl).unsafe_release();
}

/// Called by a dying TensorImpl that owns its Python object.
void release_python_object(PyObject* object) {
  if (python_has_ended()) return;
  const GilAcquire gil;

  PyTensor* self = as_tensor(object);

  // The impl is being destroyed, so its pointer is replaced without touching the count.
  const at::TensorImpl* dying = self->tensor.unsafe_impl();
  if (Py_REFCNT(object) > 1 || Py_TYPE(object)->tp_finalize != nullptr) {
    // A weak reference was followed while only C++ held the tensor, or __del__ is about to see it:
    // give it a tensor on the same memory.
    new (&self->tensor) at::Tensor(dying->shallow_copy());
    if (!self->tensor.storage())
      new (&self->tensor) at::Tensor(at::empty_real_tensor({0}, dying->dtype(), at::kCPU));
    self->tensor.unsafe_impl()->pyobj = object;
  } else {
    new (&self->tensor) at::Tensor();
  }

  Py_DECREF(object);
}

/// Clears the members of __slots__, which come after the type object; see PyHeapTypeObject.
void clear_slots(PyTypeObject* type, PyObject* self) {
  auto* member =
      reinterpret_cast<PyMemberDef*>(reinterpret_cast<char*>(type) + Py_TYPE(type)->tp_basicsize);
  for (Py_ssize_t i = 0; i < Py_SIZE(type); ++i, ++member) {
    if (member->type != Py_T_OBJECT_EX || (member->flags & 1 /* read-only */)) continue;
    auto** slot = reinterpret_cast<PyObject**>(reinterpret_cast<char*>(self) + member->offset);
    Py_CLEAR(*slot);
  }
}

void clear_python_parts(PyTensor* self) {
  PyObject* object = reinterpret_cast<PyObject*>(self);
  if (self->weak_references != nullptr) PyObject_ClearWeakRefs(object);
  for (PyTypeObject* type = Py_TYPE(object); type != &TensorBaseType; type = type->tp_base) {
    if (type != tensor_class && Py_SIZE(type) > 0) clear_slots(type, object);
  }

  Py_CLEAR(self->backward_hooks);
  Py_CLEAR(self->dict);
}

void tensor_dealloc(PyObject* object) {
  PyTensor* self = as_tensor(object);
  PyTypeObject* type = Py_TYPE(object);

  if (hand_over_to_cpp(self)) return;
  if (C10_UNLIKELY(type->tp_finalize != nullptr && PyObject_CallFinalizerFromDealloc(object) < 0))
    return;

  PyObject_GC_UnTrack(object);
  if (self->dict != nullptr || self->weak_references != nullptr || type != tensor_class ||
      self->backward_hooks != nullptr) {
    clear_python_parts(self);
  }
  if (self->tensor.defined()) {
    self->tensor.unsafe_impl()->pyobj = nullptr;
    self->tensor.~Tensor();  // may free other Python objects, through saved variables
  }

  if (type == tensor_class && free_count < kMaxFree) {
    free_objects[free_count++] = object;
  } else {
    type->tp_free(object);
  }
  if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) Py_DECREF(type);
}

/// The ctx of the custom Function that made this tensor, if only the tensor keeps it: ctx.result =
/// result is a cycle through C++.
PyObject* own_context(const at::Tensor& tensor) {
  const torch::autograd::AutogradMeta* meta = torch::autograd::autograd_meta(tensor);
  if (meta == nullptr || !meta->grad_fn || meta->grad_fn.use_count() != 1) return nullptr;
  const auto* function = dynamic_cast<const FunctionNode*>(meta->grad_fn.get());
  return function == nullptr ? nullptr : function->context();
}

int tensor_traverse(PyObject* object, visitproc visit, void* arg) {
  PyTensor* self = as_tensor(object);
  if (PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE)) Py_VISIT(Py_TYPE(object));

  // While C++ holds the tensor too, its attributes are reachable from there, and the collector must
  // not take them for garbage.
  if (owned_by_cpp(self) || has_other_owners(self)) return 0;

  for (PyTypeObject* type = Py_TYPE(object); type != &TensorBaseType; type = type->tp_base) {
    auto* member =
        reinterpret_cast<PyMemberDef*>(reinterpret_cast<char*>(type) + Py_TYPE(type)->tp_basicsize);
    for (Py_ssize_t i = 0; i < Py_SIZE(type); ++i, ++member) {
      if (member->type == Py_T_OBJECT_EX)
        Py_VISIT(*reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + member->offset));
    }
  }

  Py_VISIT(self->dict);
  Py_VISIT(self->backward_hooks);
  if (self->tensor.defined()) Py_VISIT(own_context(self->tensor));
  return self->tensor.defined() ? visit_tensor_hooks(self->tensor, visit, arg) : 0;
}

int tensor_clear(PyObject* object) {
  PyTensor* self = as_tensor(object);
  if (owned_by_cpp(self) || has_other_owners(self)) return 0;

  Py_CLEAR(self->dict);
  Py_CLEAR(self->backward_hooks);
  if (self->tensor.defined()) clear_tensor_hooks(self->tensor);
  return 0;
}

PyObject* new_object(PyTypeObject* type) {
  if (type == tensor_class && free_count > 0) {
    PyObject* object = free_objects[--free_count];
    PyObject_Init(object, type);
    PyObject_GC_Track(object);
    return object;
  }
  return checked(type->tp_alloc(type, 0));
}

// Python's type() fills a new class with its own tp_dealloc, which does not hand objects over to
// C++. The metaclass puts ours back in every subclass, however the subclass is made.
int metaclass_init(PyObject* object, PyObject* args, PyObject* kwargs) {
  if (PyType_Type.tp_init(object, args, kwargs) < 0) return -1;
  auto* type = reinterpret_cast<PyTypeObject*>(object);
  type->tp_dealloc = tensor_dealloc;
  type->tp_traverse = tensor_traverse;
  type->tp_clear = tensor_clear;
  return 0;
}

PyTypeObject TensorMetaclass = {PyVarObject_HEAD_INIT(nullptr, 0)};

void prepare_metaclass() {
  TensorMetaclass.tp_name = "torch_py._C._TensorMeta";
  TensorMetaclass.tp_basicsize = 0;  // inherited from type
  TensorMetaclass.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  TensorMetaclass.tp_base = &PyType_Type;
  TensorMetaclass.tp_init = metaclass_init;
  check_status(PyType_Ready(&TensorMetaclass));
}

Py_hash_t tensor_hash(PyObject* object) {
  return static_cast<Py_hash_t>(reinterpret_cast<intptr_t>(object));
}

void prepare_type() {
  PyTypeObject& type = TensorBaseType;
  Py_SET_TYPE(&type, &TensorMetaclass);

  type.tp_name = "torch_py._C.TensorBase";
  type.tp_doc = "Base of torch_py.Tensor: a tensor's data, geometry and gradient.";
  type.tp_basicsize = sizeof(PyTensor);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;

  type.tp_dealloc = tensor_dealloc;
  type.tp_traverse = tensor_traverse;
  type.tp_clear = tensor_clear;
  type.tp_dictoffset = offsetof(PyTensor, dict);
  type.tp_weaklistoffset = offsetof(PyTensor, weak_references);

  type.tp_new = tensor_new;
  type.tp_methods = tensor_hand_methods();
  type.tp_getset = tensor_properties();
  type.tp_as_number = tensor_as_number();
  type.tp_as_mapping = tensor_as_mapping();
  type.tp_as_buffer = tensor_as_buffer();

  type.tp_richcompare = tensor_compare;
  type.tp_hash = tensor_hash;
  type.tp_iter = tensor_iterate;

  check_status(PyType_Ready(&type));
}

}  // namespace

PyTypeObject TensorBaseType = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject* tensor_class = &TensorBaseType;
PyTypeObject* parameter_class = nullptr;

PyObject* wrap(at::Tensor tensor) {
  if (C10_UNLIKELY(!tensor.defined())) Py_RETURN_NONE;
  at::TensorImpl* impl = tensor.unsafe_impl();

  PyObject* object = impl->pyobj.load(std::memory_order_relaxed);
  if (object == nullptr) return wrap_as(tensor_class, std::move(tensor));
  if (!impl->owns_pyobj) return Py_NewRef(object);
  take_back_from_cpp(as_tensor(object));
  return object;  // the reference that the TensorImpl had
}

PyObject* wrap_as(PyTypeObject* type, at::Tensor tensor) {
  // A mode, or the class of a tensor that stands for another, has made the object already.
  if (PyObject* known = tensor.unsafe_impl()->pyobj.load(std::memory_order_relaxed)) {
    TORCH_CHECK(PyType_IsSubtype(Py_TYPE(known), type), "Creating a new Tensor subclass ",
                type->tp_name,
                " but the raw Tensor object is already associated to a python object of type ",
                Py_TYPE(known)->tp_name);
    return wrap(std::move(tensor));
  }

  PyObject* object = new_object(type);
  if (C10_UNLIKELY(type != tensor_class) && has_torch_dispatch(type))
    tensor.unsafe_impl()->set_key(c10::DispatchKey::Python, true);

  PyTensor* self = as_tensor(object);
  tensor.unsafe_impl()->pyobj.store(object, std::memory_order_relaxed);

  new (&self->tensor) at::Tensor(std::move(tensor));
  self->dict = nullptr;
  self->weak_references = nullptr;
  self->backward_hooks = nullptr;
  return object;
}

void set_tensor_class(PyTypeObject* type) {
  if (!PyType_IsSubtype(type, &TensorBaseType) || type->tp_basicsize != sizeof(PyTensor)) {
    PyErr_Format(PyExc_TypeError,
                 "_set_tensor_class(): expected a subclass of TensorBase without __slots__, got %s",
                 type->tp_name);
    throw PythonError();
  }

  while (free_count > 0) PyObject_GC_Del(free_objects[--free_count]);
  tensor_class = reinterpret_cast<PyTypeObject*>(Py_NewRef(type));  // kept until the process ends
}

void init_tensor_type(PyObject* module) {
  prepare_metaclass();
  prepare_type();
  c10::set_pyobj_deleter(release_python_object);
  add_type(module, TensorMetaclass);
  add_type(module, TensorBaseType);
}

}  // namespace torch::python
