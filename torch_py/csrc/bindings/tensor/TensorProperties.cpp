// Attributes of Tensor that are not operators: geometry, type, transposes, parts, gradients.
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <algorithm>
#include <atomic>
#include <string_view>
#include <vector>

#include "aten/core/Warning.h"
#include "aten/ops/imag.h"
#include "aten/ops/permute.h"
#include "aten/ops/real.h"
#include "aten/ops/transpose.h"
#include "c10/core/InferenceMode.h"
#include "c10/dispatch/LocalState.h"
#include "torch_py/csrc/bindings/Operators.h"
#include "torch_py/csrc/bindings/tensor/TensorAutograd.h"
#include "torch_py/csrc/bindings/tensor/TensorMembers.h"
#include "torch_py/csrc/bindings/types/DeviceType.h"
#include "torch_py/csrc/bindings/types/SizeType.h"

namespace torch::python {

namespace {

// A property whose function takes the tensor and returns something that wrap() takes.
template <auto function>
PyObject* get(PyObject* self, void*) {
  TORCH_PY_TRY
  return wrap(function(unpack(self)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* get_shape(PyObject* self, void*) {
  TORCH_PY_TRY
  return make_size(unpack(self).sizes());
  TORCH_PY_CATCH(nullptr)
}

at::ScalarType dtype(const at::Tensor& self) { return self.scalar_type(); }
at::Device device(const at::Tensor& self) { return self.device(); }
at::Layout layout(const at::Tensor& self) { return self.layout(); }
int64_t ndim(const at::Tensor& self) { return self.dim(); }
int64_t itemsize(const at::Tensor& self) { return static_cast<int64_t>(self.itemsize()); }
int64_t nbytes(const at::Tensor& self) { return self.numel() * itemsize(self); }
int64_t version(const at::Tensor& self) {
  TORCH_CHECK(!c10::is_inference(*self.unsafe_impl()),
              "Inference tensors do not track version counter.");
  return self.version();
}
bool is_cpu(const at::Tensor& self) { return self.is_cpu(); }
bool is_cuda(const at::Tensor& self) { return self.is_cuda(); }
bool is_meta(const at::Tensor& self) { return self.is_meta(); }
bool is_sparse(const at::Tensor& self) { return self.layout() == at::Layout::Sparse; }
bool is_sparse_csr(const at::Tensor& self) { return self.layout() == at::Layout::SparseCsr; }
bool is_mkldnn(const at::Tensor& self) { return self.layout() == at::Layout::Mkldnn; }
bool never(const at::Tensor&) { return false; }

/// x.T; warns once per process about tensors that are not matrices.
at::Tensor transposed(const at::Tensor& self) {
  if (self.dim() == 2) return at::transpose(self, 0, 1);

  static std::atomic<bool> warned{false};
  if (!warned.exchange(true)) {
    at::warn("The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
             "deprecated: write `x.mT` for the ",
             "transposes of a batch of matrices, `x.permute(*reversed(range(x.ndim)))` to reverse "
             "the dimensions. Got ",
             self.dim(), "-D.");
  }

  at::DimVector order;
  for (int64_t i = self.dim(); i-- > 0;) order.push_back(i);
  return at::permute(self, order);
}

at::Tensor matrix_transposed(const at::Tensor& self) {
  TORCH_CHECK(self.dim() >= 2,
              "tensor.mT is only supported on matrices or batches of matrices. Got ", self.dim(),
              "-D tensor.");
  return at::transpose(self, -2, -1);
}

PyObject* call_method(PyObject* self, const char* name) {
  const FastMethod method = find_tensor_method(name);
  TORCH_CHECK_NOT_IMPLEMENTED(method != nullptr, "the operator '", name,
                              "' is not part of this build");
  return method(self, nullptr, 0, nullptr);
}

/// x.H and x.mH: `batches` says whether batches of matrices are accepted.
PyObject* adjoint(PyObject* self, const char* attribute, bool batches) {
  TORCH_PY_TRY
  const at::Tensor& tensor = unpack(self);
  TORCH_CHECK(batches || tensor.dim() == 2, "tensor.", attribute,
              " is only supported on matrices (2-D tensors). Got ", tensor.dim(), "-D tensor.",
              tensor.dim() > 2 ? " For batches of matrices, consider using tensor.mH" : "");
  TORCH_CHECK(tensor.dim() >= 2, "tensor.", attribute,
              " is only supported on matrices or batches of matrices. Got ", tensor.dim(),
              "-D tensor.");

  const ObjectPtr turned = ObjectPtr::steal(wrap(at::transpose(tensor, -2, -1)));
  return tensor.is_complex() ? call_method(turned.get(), "conj") : Py_NewRef(turned.get());
  TORCH_PY_CATCH(nullptr)
}

PyObject* get_H(PyObject* self, void*) { return adjoint(self, "H", false); }
PyObject* get_mH(PyObject* self, void*) { return adjoint(self, "mH", true); }

PyObject* get_real(PyObject* self, void*) {
  TORCH_PY_TRY
  return unpack(self).is_complex() ? wrap(at::real(unpack(self))) : Py_NewRef(self);
  TORCH_PY_CATCH(nullptr)
}

PyObject* get_imag(PyObject* self, void*) {
  TORCH_PY_TRY
  return wrap(at::imag(unpack(self)));
  TORCH_PY_CATCH(nullptr)
}

int set_component(PyObject* self, PyObject* value, PyObject* (*getter)(PyObject*, void*)) {
  TORCH_PY_TRY
  if (value == nullptr)
    throw_python(PyExc_AttributeError, "can't delete the component of a complex tensor");

  const ObjectPtr part = ObjectPtr::steal(getter(self, nullptr));
  if (!part) return -1;
  return PyObject_SetItem(part.get(), Py_Ellipsis, value);
  TORCH_PY_CATCH(-1)
}

int set_real(PyObject* self, PyObject* value, void*) {
  return set_component(self, value, get_real);
}
int set_imag(PyObject* self, PyObject* value, void*) {
  return set_component(self, value, get_imag);
}

PyObject* get_backward_hooks(PyObject* self, void*) {
  PyObject* hooks = reinterpret_cast<PyTensor*>(self)->backward_hooks;
  return Py_NewRef(hooks != nullptr ? hooks : Py_None);
}

int set_backward_hooks(PyObject* self, PyObject* value, void*) {
  Py_XSETREF(reinterpret_cast<PyTensor*>(self)->backward_hooks,
             value == Py_None ? nullptr : Py_XNewRef(value));
  return 0;
}

PyGetSetDef properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"shape", get_shape, nullptr, "torch.Size: the size of each dimension.", nullptr},
    {"dtype", get<dtype>, nullptr, "torch.dtype of the elements.", nullptr},
    {"device", get<device>, nullptr, "torch.device that holds the elements.", nullptr},
    {"layout", get<layout>, nullptr,
     "torch.layout: how the elements are stored, torch.strided for most tensors.", nullptr},
    {"ndim", get<ndim>, nullptr, "int: the number of dimensions.", nullptr},
    {"itemsize", get<itemsize>, nullptr, "int: bytes of one element.", nullptr},
    {"nbytes", get<nbytes>, nullptr, "int: bytes of all elements.", nullptr},
    {"_version", get<version>, nullptr, "int: how often the memory was changed in place.", nullptr},
    {"is_cpu", get<is_cpu>, nullptr, nullptr, nullptr},
    {"is_cuda", get<is_cuda>, nullptr, "bool: whether the memory is that of a CUDA device.",
     nullptr},
    {"is_meta", get<is_meta>, nullptr,
     "bool: whether the tensor has sizes and a dtype but no memory.", nullptr},
    {"is_sparse", get<is_sparse>, nullptr, "bool: whether the layout is torch.sparse_coo.",
     nullptr},
    {"is_sparse_csr", get<is_sparse_csr>, nullptr, nullptr, nullptr},
    {"is_quantized", get<never>, nullptr, "bool: always False, as there are no quantized dtypes.",
     nullptr},
    {"is_mkldnn", get<is_mkldnn>, nullptr, nullptr, nullptr},
    {"is_mps", get<never>, nullptr, nullptr, nullptr},
    {"is_xpu", get<never>, nullptr, nullptr, nullptr},
    {"is_nested", get<never>, nullptr, nullptr, nullptr},
    {"T", get<transposed>, nullptr, "The dimensions in reverse order, a view.", nullptr},
    {"mT", get<matrix_transposed>, nullptr, "The last two dimensions exchanged, a view.", nullptr},
    {"H", get_H, nullptr, "The conjugate transpose of a matrix.", nullptr},
    {"mH", get_mH, nullptr, "The conjugate transpose of each matrix of a batch.", nullptr},
    {"real", get_real, set_real, "The real part; the tensor itself if it is not complex.", nullptr},
    {"imag", get_imag, set_imag, "The imaginary part of a complex tensor.", nullptr},
    {"_backward_hooks", get_backward_hooks, set_backward_hooks, nullptr, nullptr},
    {"requires_grad", get_requires_grad, set_requires_grad,
     "bool: whether gradients are recorded and computed for it.", nullptr},
    {"grad", get_grad, set_grad, "Tensor or None: the gradient that backward() has accumulated.",
     nullptr},
    {"grad_fn", get_grad_fn, nullptr,
     "The backward step of the operator that made it; None for a leaf.", nullptr},
    {"is_leaf", get_is_leaf, nullptr, "bool: made by the user rather than by a recorded operator.",
     nullptr},
    {"data", get_data, set_data, "The same memory without history.", nullptr},
    {"_base", get_base, nullptr, "The tensor that this is a view of, or None.", nullptr},
    {"output_nr", get_output_nr, nullptr, "int: which output of grad_fn it is.", nullptr},
    {"retains_grad", get_retains_grad, nullptr, "bool: whether retain_grad() was called.", nullptr},
    {"grad_dtype", get<dtype>, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

// --- Properties of types that define __torch_function__ ---
//
// Each property above is reached through these two; the closure is its entry in the table.

PyObject* get_property(PyObject* self, void* closure) {
  const auto* own = static_cast<const PyGetSetDef*>(closure);
  if (is_intercepted(self)) return call_property_override(own->name, self, nullptr);
  return own->get(self, nullptr);
}

int set_property(PyObject* self, PyObject* value, void* closure) {
  const auto* own = static_cast<const PyGetSetDef*>(closure);
  if (value == nullptr || !is_intercepted(self)) return own->set(self, value, nullptr);
  PyObject* result = call_property_override(own->name, self, value);
  Py_XDECREF(result);
  return result == nullptr ? -1 : 0;
}

/// These two are attributes of the Python object, not of the tensor, and are never intercepted.
bool is_of_every_object(const PyGetSetDef& property) {
  return std::string_view(property.name) == "__dict__" ||
         std::string_view(property.name) == "_backward_hooks";
}

}  // namespace

PyGetSetDef* tensor_properties() {
  static std::vector<PyGetSetDef> table;
  for (PyGetSetDef* own = properties; own->name != nullptr; ++own) {
    const bool direct = is_of_every_object(*own);
    table.push_back(direct
                        ? *own
                        : PyGetSetDef{own->name, get_property,
                                      own->set != nullptr ? set_property : nullptr, own->doc, own});
  }
  table.push_back({nullptr, nullptr, nullptr, nullptr, nullptr});
  return table.data();
}

}  // namespace torch::python
