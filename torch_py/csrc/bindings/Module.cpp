// Makes the module torch_py._C.
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/Gil.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/Registry.h"
#include "torch_py/csrc/bindings/autograd/AutogradBindings.h"
#include "torch_py/csrc/bindings/autograd/FunctionType.h"
#include "torch_py/csrc/bindings/autograd/NodeType.h"
#include "torch_py/csrc/bindings/autograd/PythonHooks.h"
#include "torch_py/csrc/bindings/calls/CallsInProgress.h"
#include "torch_py/csrc/bindings/calls/TorchFunction.h"
#include "torch_py/csrc/bindings/devices/Devices.h"
#include "torch_py/csrc/bindings/dispatch/DispatchModes.h"
#include "torch_py/csrc/bindings/dispatch/Keys.h"
#include "torch_py/csrc/bindings/dispatch/OperatorType.h"
#include "torch_py/csrc/bindings/dispatch/PythonKernel.h"
#include "torch_py/csrc/bindings/exchange/DLPack.h"
#include "torch_py/csrc/bindings/exchange/SharedMemory.h"
#include "torch_py/csrc/bindings/profiling/Profiler.h"
#include "torch_py/csrc/bindings/state/GlobalState.h"
#include "torch_py/csrc/bindings/tensor/TensorFactory.h"
#include "torch_py/csrc/bindings/tensor/TensorType.h"
#include "torch_py/csrc/bindings/transforms/Transforms.h"
#include "torch_py/csrc/bindings/types/DeviceType.h"
#include "torch_py/csrc/bindings/types/Dtype.h"
#include "torch_py/csrc/bindings/types/GeneratorType.h"
#include "torch_py/csrc/bindings/types/SizeType.h"
#include "torch_py/csrc/bindings/types/StorageType.h"
#include "torch_py/csrc/bindings/types/TypeInfo.h"
#include "torch_py/csrc/compiler/Module.h"

namespace torch::python {

namespace {

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "torch_py._C",
                          "Tensors, operators and automatic differentiation.",
                          -1,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

// Types come first: functions and methods of later steps make instances of them.
constexpr void (*steps[])(PyObject*) = {init_gil,
                                        init_errors,
                                        init_dtypes,
                                        init_size,
                                        init_device,
                                        init_backend_loader,
                                        init_stream,
                                        init_event,
                                        init_graph,
                                        init_cuda,
                                        init_cuda_memory,
                                        init_accelerators,
                                        init_generator,
                                        init_storage,
                                        init_type_info,
                                        init_tensor_type,
                                        install_registered_methods,
                                        init_torch_function,
                                        init_hooks,
                                        init_nodes,
                                        init_function,
                                        init_autograd_engine,
                                        init_saved_tensor_hooks,
                                        init_tensor_factory,
                                        init_calls_in_progress,
                                        init_dlpack,
                                        init_global_state,
                                        init_introspection,
                                        init_shared_memory,
                                        init_autocast,
                                        init_type_names,
                                        init_torch_function_mode,
                                        init_dispatch_keys,
                                        init_operators,
                                        init_dispatch_modes,
                                        init_python_kernels,
                                        init_transforms,
                                        init_profiler,
                                        compiler::init_compiler};

}  // namespace

PyObject* init_module() {
  TORCH_PY_TRY
  ObjectPtr module = ObjectPtr::steal(checked(PyModule_Create(&definition)));
  for (const auto step : steps) step(module.get());
  return module.release();
  TORCH_PY_CATCH(nullptr)
}

}  // namespace torch::python

extern "C" TORCH_PY_API PyObject* torch_py_initialize_module() {
  return torch::python::init_module();
}
