// Whether the tensors of a call share memory.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace torch::python::compiler {

/// By which tensors that may overlap are found: the address of the storage, else of the object.
const void* memory_address(PyObject* object);

/// Whether no two of the registers share memory in the sense of find_overlap().
bool are_distinct(PyObject* const* registers, const uint32_t* chosen, size_t count);

bool are_different_objects(PyObject* const* registers, const uint32_t* chosen, size_t count);

/// Two of the registers that hold one object, or tensors that may share bytes; nothing if there are
/// none. Tensors that interleave in one storage, such as the even and the odd columns of a matrix,
/// count as sharing.
std::optional<std::pair<uint32_t, uint32_t>> find_overlap(PyObject* const* registers,
                                                          const uint32_t* chosen, size_t count);

}  // namespace torch::python::compiler
