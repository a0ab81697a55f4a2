// Streams, events, graphs and memory of devices in Python, over DeviceHooks.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "c10/core/DeviceHooks.h"

namespace torch::python {

void init_backend_loader(PyObject* module);  // BackendLoader.cpp: which library, and from where
void init_stream(PyObject* module);          // StreamType.cpp: torch.Stream
void init_event(PyObject* module);           // EventType.cpp: torch.Event
void init_graph(PyObject* module);           // GraphType.cpp: _CUDAGraph
void init_cuda(PyObject* module);            // CudaModule.cpp: devices and current streams
void init_cuda_memory(PyObject* module);     // CudaMemory.cpp: statistics, limits, raw memory
void init_accelerators(PyObject* module);    // Accelerators.cpp: backends of any kind

/// The hooks of CUDA; throws AbsentDeviceError without them.
inline c10::DeviceHooks& cuda_hooks() { return c10::device_hooks(c10::DeviceType::CUDA); }

/// The hooks of a device's type; RuntimeError, which begins with `what`, where they are absent.
c10::DeviceHooks& hooks_for(const char* what, c10::Device device);

/// The device with the index that a Python function passes; ValueError outside of the range of
/// indices, RuntimeError if the device does not exist.
c10::DeviceIndex to_cuda_index(PyObject* index);

}  // namespace torch::python
