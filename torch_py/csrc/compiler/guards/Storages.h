// Which tensors of a call are parts of one storage, and how large storages are.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <cstdint>
#include <optional>

namespace torch::python::compiler {

/// What differs from `expected`, a tuple with two numbers for each register: the position among
/// `chosen` of the first one with the same storage, and the bytes of the storage, -1 for any.
struct ChangedStorage {
  uint32_t number;  // of the register
  int64_t bytes;    // that the storage has now; -1 if others share it than before
};

std::optional<ChangedStorage> find_changed_storage(PyObject* const* registers,
                                                   const uint32_t* chosen, size_t count,
                                                   PyObject* expected);

}  // namespace torch::python::compiler
