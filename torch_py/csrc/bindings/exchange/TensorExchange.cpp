// Tensor.numpy, __array__, __dlpack__: methods that give a tensor's memory to other libraries.
#include <string>
#include <utility>

#include "aten/ops/to.h"
#include "c10/core/Event.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/Operators.h"
#include "torch_py/csrc/bindings/Texts.h"
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

/// The elements of an (int, int) pair, or `otherwise` for None.
std::pair<int64_t, int64_t> int_pair(PyObject* pair, const char* name,
                                     std::pair<int64_t, int64_t> otherwise) {
  if (pair == nullptr || pair == Py_None) return otherwise;
  if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2 ||
      !PyIndex_Check(PyTuple_GET_ITEM(pair, 0)) || !PyIndex_Check(PyTuple_GET_ITEM(pair, 1))) {
    throw_python(PyExc_TypeError, "__dlpack__(): argument '%s' must be a tuple of two ints, not %s",
                 name, type_name(pair));
  }
  return {to_int64(PyTuple_GET_ITEM(pair, 0)), to_int64(PyTuple_GET_ITEM(pair, 1))};
}

/// Lets the consumer's stream, in DLPack's numbers, wait for the work on the tensor.
void hand_over(const at::Tensor& tensor, PyObject* stream) {
  constexpr int64_t no_synchronisation = -1;
  constexpr int64_t legacy_default_stream = 1;
  constexpr int64_t default_stream_per_thread = 2;

  const bool is_given = stream != nullptr && stream != Py_None;
  if (is_given && (!PyLong_Check(stream) || PyBool_Check(stream)))
    throw_python(PyExc_TypeError, "stream must be ``int`` or ``none``");
  const int64_t number = is_given ? to_int64(stream) : legacy_default_stream;
  if (!tensor.is_cuda()) {
    if (is_given && number != no_synchronisation)
      throw_python(PyExc_AssertionError, "stream should be None on cpu.");
    return;
  }

  if (number == no_synchronisation) return;
  if (number == default_stream_per_thread)
    throw_python(PyExc_BufferError, "per-thread default stream is not supported.");
  if (number == 0) throw_python(PyExc_AssertionError, "unsupported stream on CUDA: 0.");

  c10::DeviceHooks& hooks = c10::device_hooks(tensor.device().type);
  const c10::DeviceIndex index = tensor.device().index;
  const auto address = reinterpret_cast<void*>(static_cast<uintptr_t>(number));
  const c10::Stream consumer = number == legacy_default_stream
                                   ? hooks.default_stream(index)
                                   : hooks.external_stream(index, address);
  const c10::Stream producer = hooks.current_stream(index);
  if (hooks.native_stream(consumer) == hooks.native_stream(producer)) return;

  c10::Event done(tensor.device().type);
  done.record(producer);
  done.wait(consumer);
}

/// The tensor on the device that a consumer asks for, in DLPack's numbers.
at::Tensor on_dlpack_device(const at::Tensor& tensor, std::pair<int64_t, int64_t> device) {
  const auto [type, id] = device;
  at::Device target = at::kCPU;
  if (type == 2) {
    target = c10::resolved(at::Device("cuda:" + std::to_string(id)));
  } else if (type != 1 && type != 3) {
    throw_python(PyExc_BufferError, "__dlpack__(): cannot move a tensor to DLPack device type %lld",
                 static_cast<long long>(type));
  }
  return at::to(tensor, std::nullopt, std::nullopt, target, std::nullopt, false, false,
                std::nullopt);
}

PyObject* dlpack(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  if (call.bind(dlpack_function, self, args, nargs, kwnames) == kOverridden)
    return call.call_override(dlpack_function);

  at::Tensor tensor = unpack(self);
  if (tensor.is_cuda()) {
    const int current = c10::device_hooks(tensor.device().type).current_device();
    if (tensor.device().index != current) {
      throw_python(PyExc_BufferError,
                   "Can't export tensors on a different CUDA device index. Expected: %d. Current "
                   "device: %d.",
                   int{tensor.device().index}, current);
    }
  }
  hand_over(tensor, call.object(1));

  const bool versioned = int_pair(call.object(2), "max_version", {0, 0}).first >= 1;
  bool copy = call.boolean(4, false);
  if (call.given(3)) {
    const at::Tensor moved =
        on_dlpack_device(tensor.detach(), int_pair(call.object(3), "dl_device", {1, 0}));
    const bool is_moved = moved.device() != tensor.device();
    if (is_moved && call.given(4) && !copy) {
      throw_python(PyExc_ValueError,
                   "__dlpack__(): cannot move a tensor from %s to %s without "
                   "copying; set copy=None or copy=True",
                   tensor.device().str().c_str(), moved.device().str().c_str());
    }
    if (is_moved) return tensor_to_dlpack(moved, versioned, true);
  }
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
    {"numpy", as_method(numpy), METH_FASTCALL | METH_KEYWORDS, texts::Tensor_numpy},
    {"__array__", as_method(array), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"__array_wrap__", as_method(array_wrap), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"__dlpack__", as_method(dlpack), METH_FASTCALL | METH_KEYWORDS,
     "__dlpack__(*, stream, max_version, dl_device, copy) -> capsule"},
    {"__dlpack_device__", dlpack_device_of, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace torch::python
