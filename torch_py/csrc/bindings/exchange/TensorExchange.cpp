// Tensor.numpy, __array__, __dlpack__: methods that give a tensor's memory to other libraries.
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/Operators.h"
#include "torch_py/csrc/bindings/exchange/DLPack.h"
#include "torch_py/csrc/bindings/exchange/NumPy.h"
#include "torch_py/csrc/bindings/tensor/TensorMembers.h"
#include "torch_py/csrc/bindings/types/DeviceType.h"

namespace torch::python {

namespace {

constexpr Parameter numpy_parameters[] = {{"self", Kind::Tensor},
                                          {"force", Kind::Bool, kOptional | kKeywordOnly}};
constexpr Signature numpy_signatures[] = {{"numpy(*, bool force = False)", numpy_parameters, 2, 0}};
constinit Function numpy_function = {"numpy", "Tensor", numpy_signatures, 1};

PyObject* numpy(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  if (call.bind(numpy_function, self, args, nargs, kwnames) == kOverridden)
    return call.call_override(numpy_function);

  return tensor_to_numpy(call.boolean(1, false) ? unpack(self).detach() : unpack(self));
  TORCH_PY_CATCH(nullptr)
}

constexpr Parameter array_parameters[] = {
    {"self", Kind::Tensor}, {"dtype", Kind::Any, kOptional}, {"copy", Kind::Any, kOptional}};
constexpr Signature array_signatures[] = {
    {"__array__(numpy.dtype dtype = None, bool copy = None)", array_parameters, 3, 0}};
constinit Function array_function = {"__array__", "Tensor", array_signatures, 1};

PyObject* array(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  if (call.bind(array_function, self, args, nargs, kwnames) == kOverridden)
    return call.call_override(array_function);

  ObjectPtr result = ObjectPtr::steal(tensor_to_numpy(unpack(self)));
  if (call.given(1)) {
    // astype(dtype, copy=False) copies silently if it must, so copy=False is checked here.
    const ObjectPtr method =
        ObjectPtr::steal(checked(PyObject_GetAttrString(result.get(), "astype")));
    const ObjectPtr positional = ObjectPtr::steal(checked(PyTuple_Pack(1, call.object(1))));
    const ObjectPtr keywords = ObjectPtr::steal(checked(Py_BuildValue("{sO}", "copy", Py_False)));

    ObjectPtr converted =
        ObjectPtr::steal(checked(PyObject_Call(method.get(), positional.get(), keywords.get())));

    const bool copied = converted.get() != result.get();
    if (copied && call.object(2) == Py_False)
      throw_python(PyExc_ValueError, "Unable to avoid copy while creating an array as requested.");
    if (copied) return converted.release();
  }

  if (call.given(2) && to_bool(call.object(2)))
    return checked(PyObject_CallMethod(result.get(), "copy", nullptr));

  return result.release();
  TORCH_PY_CATCH(nullptr)
}

/// NumPy passes the results of its functions on tensors here; they become tensors again.
PyObject* array_wrap(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject*) {
  TORCH_PY_TRY
  if (nargs < 1) {
    throw_python(PyExc_TypeError,
                 "__array_wrap__() missing 1 required positional argument: 'array'");
  }
  if (!is_numpy_array(args[0])) return Py_NewRef(args[0]);
  return wrap(tensor_from_numpy(args[0]));
  TORCH_PY_CATCH(nullptr)
}

constexpr Parameter dlpack_parameters[] = {
    {"self", Kind::Tensor},
    {"stream", Kind::Any, kOptional | kKeywordOnly},
    {"max_version", Kind::Any, kOptional | kKeywordOnly},
    {"dl_device", Kind::Any, kOptional | kKeywordOnly},
    {"copy", Kind::Bool, kOptional | kNullable | kKeywordOnly}};
constexpr Signature dlpack_signatures[] = {{"__dlpack__(*, int stream = None, tuple max_version = "
                                            "None, tuple dl_device = None, bool copy = None)",
                                            dlpack_parameters, 5, 0}};
constinit Function dlpack_function = {"__dlpack__", "Tensor", dlpack_signatures, 1};

/// The first element of an (int, int) pair, or `otherwise` for None.
int64_t first_of_pair(PyObject* pair, const char* name, int64_t otherwise) {
  if (pair == nullptr || pair == Py_None) return otherwise;
  if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2 ||
      !PyIndex_Check(PyTuple_GET_ITEM(pair, 0)) || !PyIndex_Check(PyTuple_GET_ITEM(pair, 1))) {
    throw_python(PyExc_TypeError, "__dlpack__(): argument '%s' must be a tuple of two ints, not %s",
                 name, type_name(pair));
  }
  return to_int64(PyTuple_GET_ITEM(pair, 0));
}

PyObject* dlpack(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  if (call.bind(dlpack_function, self, args, nargs, kwnames) == kOverridden)
    return call.call_override(dlpack_function);

  const at::Tensor& tensor = unpack(self);

  if (call.given(1) && !is_int(call.object(1)))
    throw_python(PyExc_TypeError, "stream must be ``int`` or ``none``");
  // -1 asks for no synchronisation, and a CPU tensor needs none.
  if (call.given(1) && to_int64(call.object(1)) != -1)
    throw_python(PyExc_AssertionError, "stream should be None on cpu.");

  const bool versioned = first_of_pair(call.object(2), "max_version", 0) >= 1;
  if (tensor.is_cpu() && first_of_pair(call.object(3), "dl_device", 1) != 1) {
    throw_python(PyExc_BufferError,
                 "__dlpack__(): cannot move a tensor from cpu to another device in this build");
  }

  const bool copy = call.boolean(4, false);
  return tensor_to_dlpack(copy ? tensor.clone() : tensor, versioned, copy);
  TORCH_PY_CATCH(nullptr)
}

PyObject* dlpack_device_of(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  return dlpack_device(unpack(self));
  TORCH_PY_CATCH(nullptr)
}

}  // namespace

PyMethodDef tensor_exchange_methods[] = {
    {"numpy", as_method(numpy), METH_FASTCALL | METH_KEYWORDS,
     "numpy(*, force=False) -> numpy.ndarray on the same memory"},
    {"__array__", as_method(array), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"__array_wrap__", as_method(array_wrap), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"__dlpack__", as_method(dlpack), METH_FASTCALL | METH_KEYWORDS,
     "__dlpack__(*, stream, max_version, dl_device, copy) -> capsule"},
    {"__dlpack_device__", dlpack_device_of, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace torch::python
