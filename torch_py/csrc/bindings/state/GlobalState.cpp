// Functions of torch_py._C about the process and the thread: dtypes, threads, modes, the allocator.
#include "torch_py/csrc/bindings/state/GlobalState.h"

#include "aten/blas/Blas.h"
#include "aten/core/Determinism.h"
#include "aten/core/Tensor.h"
#include "aten/core/Uninitialized.h"
#include "aten/native/shared/PackedWeights.h"
#include "aten/parallel/Parallel.h"
#include "c10/core/ConvolutionSettings.h"
#include "c10/core/DeviceHooks.h"
#include "c10/core/InferenceMode.h"
#include "c10/core/ProductPrecision.h"
#include "c10/cpu/CPUAllocator.h"
#include "torch_py/csrc/autograd/AnomalyMode.h"
#include "torch_py/csrc/bindings/Operators.h"
#include "torch_py/csrc/bindings/Texts.h"

#ifdef __SSE__
#include <xmmintrin.h>
#endif

namespace torch::python {

namespace {

PyObject* get_default_dtype(PyObject*, PyObject*) { return wrap(at::default_dtype()); }

PyObject* set_default_dtype(PyObject*, PyObject* dtype) {
  TORCH_PY_TRY
  TORCH_CHECK_TYPE(
      is_dtype(dtype),
      "invalid dtype object: only floating-point types are supported as the default type");

  at::set_default_dtype(to_dtype(dtype));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* get_num_threads(PyObject*, PyObject*) { return PyLong_FromLong(at::get_num_threads()); }

PyObject* set_num_threads(PyObject*, PyObject* count) {
  TORCH_PY_TRY
  TORCH_CHECK(is_int(count), "set_num_threads expects an int, but got ", type_name(count));

  const int64_t value = to_int64(count);
  TORCH_CHECK(value > 0 && value <= 1024, "set_num_threads expects a positive integer");

  at::set_num_threads(static_cast<int>(value));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

/// The value of a bool argument; TypeError for other types.
bool flag(const char* function, PyObject* value) {
  if (!PyBool_Check(value)) {
    throw_python(PyExc_TypeError, "%s(): argument 'enabled' (position 1) must be bool, not %s",
                 function, type_name(value));
  }
  return value == Py_True;
}

PyObject* is_grad_enabled(PyObject*, PyObject*) {
  return PyBool_FromLong(c10::GradMode::is_enabled());
}

PyObject* set_grad_enabled(PyObject*, PyObject* enabled) {
  TORCH_PY_TRY
  c10::GradMode::set_enabled(flag("set_grad_enabled", enabled));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* is_inference_mode_enabled(PyObject*, PyObject*) {
  return PyBool_FromLong(c10::local_state().inference_mode);
}

PyObject* set_inference_mode(PyObject*, PyObject* enabled) {
  TORCH_PY_TRY
  c10::InferenceMode::set_enabled(flag("inference_mode", enabled));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* is_anomaly_enabled(PyObject*, PyObject*) {
  return PyBool_FromLong(torch::autograd::AnomalyMode::is_enabled());
}

PyObject* is_anomaly_check_nan_enabled(PyObject*, PyObject*) {
  return PyBool_FromLong(torch::autograd::AnomalyMode::should_check_nan());
}

PyObject* set_anomaly_enabled(PyObject*, PyObject* args) {
  int enabled = 0;
  int check_nan = 1;
  if (!PyArg_ParseTuple(args, "p|p:set_anomaly_enabled", &enabled, &check_nan)) return nullptr;
  torch::autograd::AnomalyMode::set_enabled(enabled != 0, check_nan != 0);
  Py_RETURN_NONE;
}

constexpr Parameter two_dtypes[] = {{"type1", Kind::ScalarType}, {"type2", Kind::ScalarType}};
constexpr Signature promote_signatures[] = {
    {"promote_types(torch.dtype type1, torch.dtype type2)", two_dtypes, 2}};
constinit Function promote_function = {"promote_types", nullptr, promote_signatures, 1};

constexpr Parameter cast_dtypes[] = {{"from_", Kind::ScalarType}, {"to", Kind::ScalarType}};
constexpr Signature cast_signatures[] = {
    {"can_cast(torch.dtype from_, torch.dtype to)", cast_dtypes, 2}};
constinit Function cast_function = {"can_cast", nullptr, cast_signatures, 1};

constexpr Parameter two_operands[] = {{"tensor", Kind::TensorOrNumber},
                                      {"other", Kind::TensorOrNumber}};
constexpr Signature result_signatures[] = {
    {"result_type(Tensor tensor, Tensor other)", two_operands, 2}};
constinit Function result_function = {"result_type", "_C", result_signatures, 1};

PyObject* promote_types(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  call.bind(promote_function, nullptr, args, nargs, kwnames);
  return wrap(at::promote_types(call.dtype(0), call.dtype(1)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* can_cast(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  call.bind(cast_function, nullptr, args, nargs, kwnames);
  return wrap(at::can_cast(call.dtype(0), call.dtype(1)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* result_type(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  if (call.bind(result_function, nullptr, args, nargs, kwnames) == kOverridden)
    return call.call_override(result_function);

  const at::Tensor operands[] = {call.tensor_or_number(0), call.tensor_or_number(1)};
  return wrap(at::result_type(at::TensorList(operands)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* memory_statistics(PyObject*, PyObject*) {
  const c10::CPUAllocatorStatistics s = c10::cpu_allocator_statistics();
  const auto number = [](int64_t value) { return static_cast<long long>(value); };

  return Py_BuildValue("{sLsLsLsLsLsL}", "allocated_bytes", number(s.allocated_bytes),
                       "cached_bytes", number(s.cached_bytes), "reserved_bytes",
                       number(s.reserved_bytes), "peak_reserved_bytes",
                       number(s.peak_reserved_bytes), "allocations", number(s.allocations),
                       "system_allocations", number(s.system_allocations));
}

PyObject* packed_weights_statistics(PyObject*, PyObject*) {
  const at::native::PackedWeightsStatistics s = at::native::packed_weights_statistics();
  return Py_BuildValue("{sLsLsL}", "entries", static_cast<long long>(s.entries), "bytes",
                       static_cast<long long>(s.bytes), "hits", static_cast<long long>(s.hits));
}

PyObject* clear_packed_weights(PyObject*, PyObject*) {
  at::native::clear_packed_weights();
  Py_RETURN_NONE;
}

PyObject* empty_cache(PyObject*, PyObject*) {
  TORCH_PY_TRY
  c10::cpu_empty_cache();
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* set_cache_limit(PyObject*, PyObject* bytes) {
  TORCH_PY_TRY
  const int64_t limit = to_int64(bytes);
  TORCH_CHECK_VALUE(limit >= 0, "_cpu_set_cache_limit: expected a number of bytes >= 0, got ",
                    limit);
  c10::cpu_set_cache_limit(static_cast<size_t>(limit));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* set_tensor_class_py(PyObject*, PyObject* type) {
  TORCH_PY_TRY
  if (!PyType_Check(type))
    throw_python(PyExc_TypeError, "_set_tensor_class(): expected a class, got %s", type_name(type));
  set_tensor_class(reinterpret_cast<PyTypeObject*>(type));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* set_parameter_class(PyObject*, PyObject* type) {
  if (!PyType_Check(type) ||
      !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), &TensorBaseType)) {
    PyErr_SetString(PyExc_TypeError, "_set_parameter_class(): expected a subclass of Tensor");
    return nullptr;
  }

  parameter_class = reinterpret_cast<PyTypeObject*>(Py_NewRef(type));
  Py_RETURN_NONE;
}

/// Returns False if the processor has no such switch. Affects the calling thread and the threads
/// that it starts.
PyObject* set_flush_denormal(PyObject*, PyObject* enabled) {
  TORCH_PY_TRY
  TORCH_CHECK(PyBool_Check(enabled), "flush_denormal expects a bool, but got ", type_name(enabled));
#ifdef __SSE__
  constexpr unsigned results_and_operands = 0x8040;
  _mm_setcsr((_mm_getcsr() & ~results_and_operands) |
             (enabled == Py_True ? results_and_operands : 0));
  Py_RETURN_TRUE;
#else
  Py_RETURN_FALSE;
#endif
  TORCH_PY_CATCH(nullptr)
}

PyObject* set_fill_uninitialized(PyObject*, PyObject* enabled) {
  TORCH_PY_TRY
  at::set_fill_uninitialized(flag("_set_fill_uninitialized", enabled));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* set_deterministic_algorithms(PyObject*, PyObject* enabled) {
  TORCH_PY_TRY
  at::set_deterministic_algorithms(flag("_set_deterministic_algorithms", enabled));
  at::blas::set_deterministic(at::deterministic_algorithms());
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

c10::Tf32Use tf32_use(bool in_convolutions) {
  return in_convolutions ? c10::Tf32Use::Convolutions : c10::Tf32Use::Products;
}

PyObject* allow_tf32(PyObject*, PyObject* args) {
  TORCH_PY_TRY
  int in_convolutions = 0;
  int allowed = 0;
  if (!PyArg_ParseTuple(args, "pp:_allow_tf32", &in_convolutions, &allowed)) return nullptr;
  c10::allow_tf32(tf32_use(in_convolutions != 0), allowed != 0);
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* tf32_allowed(PyObject*, PyObject* in_convolutions) {
  TORCH_PY_TRY
  return wrap(c10::tf32_allowed(tf32_use(flag("_tf32_allowed", in_convolutions))));
  TORCH_PY_CATCH(nullptr)
}

// --- The library for convolutions ---

/// The setting with this name; null for other names.
std::atomic<bool>* convolution_switch(std::string_view name) {
  c10::ConvolutionSettings& settings = c10::convolution_settings();
  if (name == "enabled") return &settings.enabled;
  if (name == "benchmark") return &settings.benchmark;
  if (name == "deterministic") return &settings.deterministic;
  return nullptr;
}

PyObject* set_convolution_setting(PyObject*, PyObject* args) {
  TORCH_PY_TRY
  const char* name = nullptr;
  long long value = 0;
  if (!PyArg_ParseTuple(args, "sL:_set_convolution_setting", &name, &value)) return nullptr;
  if (std::atomic<bool>* const found = convolution_switch(name)) *found = value != 0;
  else c10::convolution_settings().benchmark_limit = value;
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* convolution_setting(PyObject*, PyObject* name) {
  TORCH_PY_TRY
  if (const std::atomic<bool>* const found = convolution_switch(to_string_view(name)))
    return wrap(found->load());
  return PyLong_FromLongLong(c10::convolution_settings().benchmark_limit);
  TORCH_PY_CATCH(nullptr)
}

/// The library of the backend of CUDA, which is loaded for the question.
const c10::ConvolutionLibrary* loaded_convolution_library() {
  c10::device_hooks_or_null(c10::DeviceType::CUDA);
  return c10::convolution_library();
}

PyObject* convolution_library_version(PyObject*, PyObject*) {
  TORCH_PY_TRY
  const c10::ConvolutionLibrary* const library = loaded_convolution_library();
  return PyLong_FromLongLong(library == nullptr ? 0 : library->version());
  TORCH_PY_CATCH(nullptr)
}

PyObject* refused_convolutions(PyObject*, PyObject*) {
  TORCH_PY_TRY
  ObjectPtr list = ObjectPtr::steal(checked(PyList_New(0)));
  const c10::ConvolutionLibrary* const library = loaded_convolution_library();
  if (library == nullptr) return list.release();

  for (const auto& [problem, why] : library->refused()) {
    const ObjectPtr pair =
        ObjectPtr::steal(checked(Py_BuildValue("(ss)", problem.c_str(), why.c_str())));
    check_status(PyList_Append(list.get(), pair.get()));
  }
  return list.release();
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef functions[] = {
    {"get_default_dtype", get_default_dtype, METH_NOARGS, texts::torch_get_default_dtype},
    {"set_default_dtype", set_default_dtype, METH_O, nullptr},
    {"get_num_threads", get_num_threads, METH_NOARGS, texts::torch_get_num_threads},
    {"set_num_threads", set_num_threads, METH_O, texts::torch_set_num_threads},
    {"is_grad_enabled", is_grad_enabled, METH_NOARGS, texts::torch_is_grad_enabled},
    {"_set_grad_enabled", set_grad_enabled, METH_O, nullptr},
    {"is_inference_mode_enabled", is_inference_mode_enabled, METH_NOARGS, nullptr},
    {"_set_inference_mode", set_inference_mode, METH_O, nullptr},
    {"is_anomaly_enabled", is_anomaly_enabled, METH_NOARGS, texts::torch_is_anomaly_enabled},
    {"is_anomaly_check_nan_enabled", is_anomaly_check_nan_enabled, METH_NOARGS,
     texts::torch_is_anomaly_check_nan_enabled},
    {"set_anomaly_enabled", set_anomaly_enabled, METH_VARARGS, nullptr},
    {"promote_types", as_method(promote_types), METH_FASTCALL | METH_KEYWORDS,
     texts::torch_promote_types},
    {"can_cast", as_method(can_cast), METH_FASTCALL | METH_KEYWORDS, texts::torch_can_cast},
    {"result_type", as_method(result_type), METH_FASTCALL | METH_KEYWORDS,
     texts::torch_result_type},
    {"_cpu_memory_statistics", memory_statistics, METH_NOARGS,
     "Bytes in use, cached and reserved by the CPU allocator."},
    {"_cpu_empty_cache", empty_cache, METH_NOARGS, "Returns cached memory to the system."},
    {"_cpu_set_cache_limit", set_cache_limit, METH_O,
     "The most bytes that the CPU allocator keeps for reuse."},
    {"_packed_weights_statistics", packed_weights_statistics, METH_NOARGS,
     "The weights that are kept packed for inference, and how often they were used again."},
    {"_clear_packed_weights", clear_packed_weights, METH_NOARGS, "Drops the packed weights."},
    {"set_flush_denormal", set_flush_denormal, METH_O, texts::torch_set_flush_denormal},
    {"_set_fill_uninitialized", set_fill_uninitialized, METH_O,
     "Whether torch.empty and the like fill memory with NaN or the largest integer."},
    {"_set_deterministic_algorithms", set_deterministic_algorithms, METH_O,
     "Whether matrix products are the same in every run, whatever libraries are measured to "
     "reach."},
    {"_allow_tf32", allow_tf32, METH_VARARGS,
     "_allow_tf32(in_convolutions, allowed): whether devices may round float32 operands to TF32."},
    {"_tf32_allowed", tf32_allowed, METH_O, "_tf32_allowed(in_convolutions)"},
    {"_set_convolution_setting", set_convolution_setting, METH_VARARGS,
     "_set_convolution_setting(name, value), of torch.backends.cudnn"},
    {"_convolution_setting", convolution_setting, METH_O, "_convolution_setting(name)"},
    {"_convolution_library_version", convolution_library_version, METH_NOARGS, "0 without one."},
    {"_refused_convolutions", refused_convolutions, METH_NOARGS, "Pairs of problem and reason."},
    {"_swap_tensors", swap_tensors, METH_VARARGS,
     "Exchanges tensors, attributes and hooks of two objects; the classes stay."},
    {"_set_tensor_class", set_tensor_class_py, METH_O,
     "Results of operators become instances of this class."},
    {"_set_parameter_class", set_parameter_class, METH_O,
     "A class that operators treat as a plain Tensor."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_global_state(PyObject* module) { check_status(PyModule_AddFunctions(module, functions)); }

}  // namespace torch::python
