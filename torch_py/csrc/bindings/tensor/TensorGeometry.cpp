// Methods of Tensor about its geometry and memory: size, stride, is_contiguous, data_ptr, set_.
#include <utility>

#include "aten/ops/set.h"
#include "c10/core/OpaqueTensorImpl.h"
#include "c10/cpu/WatchedBlocks.h"
#include "torch_py/csrc/bindings/Operators.h"
#include "torch_py/csrc/bindings/Texts.h"
#include "torch_py/csrc/bindings/tensor/TensorMembers.h"
#include "torch_py/csrc/bindings/types/SizeType.h"
#include "torch_py/csrc/bindings/types/StorageType.h"

namespace torch::python {

namespace {

constexpr Parameter all_parameters[] = {{"self", Kind::Tensor}};
constexpr Parameter dim_parameters[] = {{"self", Kind::Tensor}, {"dim", Kind::Int, kNullable}};
constexpr Signature size_signatures[] = {{"size(int dim)", dim_parameters, 2, 0},
                                         {"size()", all_parameters, 1, 0}};
constexpr Signature stride_signatures[] = {{"stride(int dim)", dim_parameters, 2, 0},
                                           {"stride()", all_parameters, 1, 0}};
constinit Function size_function = {"size", "Tensor", size_signatures, 2};
constinit Function stride_function = {"stride", "Tensor", stride_signatures, 2};

/// A tuple of plain ints, as stride() returns.
PyObject* int_tuple(at::IntArrayRef values) {
  ObjectPtr tuple = ObjectPtr::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(values.size()))));
  for (size_t i = 0; i < values.size(); ++i)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), wrap(values[i]));
  return tuple.release();
}

// size() and stride(): the whole list without an argument, one entry with `dim`. Calls on plain
// tensors skip the binding of arguments.
template <const Function& function, int64_t (*one)(const at::Tensor&, int64_t),
          PyObject* (*all)(const at::Tensor&)>
PyObject* geometry(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  const at::Tensor& tensor = unpack(self);
  if (kwnames == nullptr && is_plain_tensor(self) && !has_function_modes()) {
    if (nargs == 0) return all(tensor);
    if (nargs == 1 && is_plain_int(args[0])) return wrap(one(tensor, to_int64(args[0])));
  }

  Arguments call;
  switch (call.bind(function, self, args, nargs, kwnames)) {
    case 0: return call.given(1) ? wrap(one(tensor, call.integer(1))) : all(tensor);
    case 1: return all(tensor);
    default: return call.call_override(function);
  }
  TORCH_PY_CATCH(nullptr)
}

PyObject* sizes_of(const at::Tensor& tensor) { return make_size(tensor.sizes()); }
PyObject* strides_of(const at::Tensor& tensor) {
  c10::check_has_strides(*tensor.unsafe_impl());
  return int_tuple(tensor.strides());
}
int64_t stride_of(const at::Tensor& tensor, int64_t dim) {
  c10::check_has_strides(*tensor.unsafe_impl());
  return tensor.stride(dim);
}
int64_t size_of(const at::Tensor& tensor, int64_t dim) { return tensor.size(dim); }

constexpr Parameter contiguous_parameters[] = {
    {"self", Kind::Tensor}, {"memory_format", Kind::MemoryFormat, kOptional | kKeywordOnly}};
constexpr Signature contiguous_signatures[] = {
    {"is_contiguous(*, torch.memory_format memory_format = contiguous_format)",
     contiguous_parameters, 2, 0}};
constinit Function contiguous_function = {"is_contiguous", "Tensor", contiguous_signatures, 1};

PyObject* is_contiguous(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                        PyObject* kwnames) {
  TORCH_PY_TRY
  if (nargs == 0 && kwnames == nullptr && !has_function_modes())
    return PyBool_FromLong(unpack(self).is_contiguous());

  Arguments call;
  if (call.bind(contiguous_function, self, args, nargs, kwnames) == kOverridden)
    return call.call_override(contiguous_function);

  const at::MemoryFormat format = call.memory_format(1, at::MemoryFormat::Contiguous);
  TORCH_CHECK(format != at::MemoryFormat::Preserve,
              "preserve memory format is unsupported by the contiguous operator");
  return PyBool_FromLong(unpack(self).is_contiguous(format));
  TORCH_PY_CATCH(nullptr)
}

template <auto function>
PyObject* query(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  return wrap(function(unpack(self)));
  TORCH_PY_CATCH(nullptr)
}

int64_t dim(const at::Tensor& self) { return self.dim(); }
int64_t numel(const at::Tensor& self) { return self.numel(); }
int64_t storage_offset(const at::Tensor& self) { return self.storage_offset(); }
int64_t element_size(const at::Tensor& self) { return static_cast<int64_t>(self.itemsize()); }
bool is_floating_point(const at::Tensor& self) { return self.is_floating_point(); }
bool is_complex(const at::Tensor& self) { return self.is_complex(); }
bool is_signed(const at::Tensor& self) { return self.is_signed(); }
bool is_conj(const at::Tensor&) { return false; }

PyObject* data_ptr(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  const at::Tensor& tensor = unpack(self);
  c10::check_has_data(*tensor.unsafe_impl());
  if (tensor.storage()) c10::expose_contents(*tensor.storage());
  return PyLong_FromVoidPtr(tensor.data());
  TORCH_PY_CATCH(nullptr)
}

PyObject* untyped_storage(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  c10::check_has_storage(*unpack(self).unsafe_impl());
  return wrap_storage(unpack(self).storage());
  TORCH_PY_CATCH(nullptr)
}

// set_: the operators of this name, for storages too.

constexpr Parameter set_none[] = {{"self", Kind::Tensor}};
constexpr Parameter set_tensor[] = {{"self", Kind::Tensor}, {"source", Kind::Tensor}};
constexpr Parameter set_window[] = {{"self", Kind::Tensor},
                                    {"source", Kind::Any},
                                    {"storage_offset", Kind::Int, kOptional},
                                    {"size", Kind::IntList, kOptional},
                                    {"stride", Kind::IntList, kOptional}};
constexpr Signature set_signatures[] = {{"set_()", set_none, 1, 0},
                                        {"set_(Tensor source)", set_tensor, 2, 0},
                                        {"set_(torch.Storage source, int storage_offset, tuple of "
                                         "ints size, tuple of ints stride = None)",
                                         set_window, 5, 0}};
constinit Function set_function = {"set_", "Tensor", set_signatures, 3};

/// The storage in `source`, or null: it is a Tensor or something else. A TypedStorage has its bytes
/// in an attribute.
ObjectPtr storage_in(PyObject* source) {
  if (is_storage(source)) return ObjectPtr::steal(Py_NewRef(source));
  if (is_tensor(source)) return {};

  ObjectPtr untyped = ObjectPtr::steal(PyObject_GetAttrString(source, "_untyped_storage"));
  PyErr_Clear();
  return untyped && is_storage(untyped.get()) ? std::move(untyped) : ObjectPtr();
}

/// Operators take tensors, not storages: all elements of `dtype` that the storage has room for.
at::Tensor whole_storage(const at::Storage& storage, at::ScalarType dtype) {
  at::Tensor whole = at::empty_tensor({0}, dtype, storage->device());
  const int64_t size = static_cast<int64_t>(storage->nbytes / whole.itemsize());

  whole.unsafe_impl()->set_storage(storage);
  whole.unsafe_impl()->set_sizes_and_strides({size}, {1}, 0);
  return whole;
}

at::Tensor source_of(const Arguments& call, at::ScalarType dtype) {
  PyObject* source = call.object(1);
  if (is_tensor(source)) return unpack(source);

  const ObjectPtr storage = storage_in(source);
  if (!storage) {
    throw_python(PyExc_TypeError,
                 "set_(): argument 'source' (position 1) must be torch.Storage or Tensor, not %s",
                 type_name(source));
  }
  return whole_storage(unpack_storage(storage.get()), dtype);
}

PyObject* set_(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  const int overload = call.bind(set_function, self, args, nargs, kwnames);
  if (overload == kOverridden) return call.call_override(set_function);

  const at::Tensor& tensor = unpack(self);
  before_new_memory(tensor);
  if (overload == 0) {
    at::set_(tensor);
  } else if (overload == 1) {
    at::set_(tensor, call.tensor(1));
  } else {
    const at::Tensor source = source_of(call, tensor.scalar_type());
    const at::DimVector size = call.given(3) ? call.int_list(3) : at::DimVector(source.sizes());
    const at::DimVector stride = call.given(4) ? call.int_list(4) : at::contiguous_strides(size);
    at::set_(tensor, source, call.integer(2, 0), size, stride);
  }
  return Py_NewRef(self);
  TORCH_PY_CATCH(nullptr)
}

}  // namespace

PyMethodDef tensor_geometry_methods[] = {
    {"size", as_method(geometry<size_function, size_of, sizes_of>), METH_FASTCALL | METH_KEYWORDS,
     texts::Tensor_size},
    {"stride", as_method(geometry<stride_function, stride_of, strides_of>),
     METH_FASTCALL | METH_KEYWORDS, texts::Tensor_stride},
    {"is_contiguous", as_method(is_contiguous), METH_FASTCALL | METH_KEYWORDS,
     texts::Tensor_is_contiguous},
    {"dim", query<dim>, METH_NOARGS, texts::Tensor_dim},
    {"ndimension", query<dim>, METH_NOARGS, texts::Tensor_ndimension},
    {"numel", query<numel>, METH_NOARGS, texts::Tensor_numel},
    {"nelement", query<numel>, METH_NOARGS, texts::Tensor_nelement},
    {"storage_offset", query<storage_offset>, METH_NOARGS, texts::Tensor_storage_offset},
    {"element_size", query<element_size>, METH_NOARGS, texts::Tensor_element_size},
    {"is_floating_point", query<is_floating_point>, METH_NOARGS, texts::Tensor_is_floating_point},
    {"is_complex", query<is_complex>, METH_NOARGS, texts::Tensor_is_complex},
    {"is_signed", query<is_signed>, METH_NOARGS, texts::Tensor_is_signed},
    {"is_conj", query<is_conj>, METH_NOARGS, texts::Tensor_is_conj},
    {"is_neg", query<is_conj>, METH_NOARGS, texts::Tensor_is_neg},
    {"data_ptr", data_ptr, METH_NOARGS, texts::Tensor_data_ptr},
    {"untyped_storage", untyped_storage, METH_NOARGS, texts::Tensor_untyped_storage},
    {"set_", as_method(set_), METH_FASTCALL | METH_KEYWORDS, texts::Tensor_set_},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace torch::python
