// Shared memory for storages and for the transport of tensors between processes.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

namespace torch::python {

/// Methods of UntypedStorage about shared memory, and the types _SegmentPool and _SegmentReceiver
/// of torch_py._C.
void init_shared_memory(PyObject* module);

}  // namespace torch::python
