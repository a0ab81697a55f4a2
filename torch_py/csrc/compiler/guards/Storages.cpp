// Compares the storages of the tensors of a call.
#include "torch_py/csrc/compiler/guards/Storages.h"

#include "torch_py/csrc/compiler/guards/Distinct.h"

#include "torch_py/csrc/bindings/tensor/TensorType.h"

namespace torch::python::compiler {

namespace {

int64_t number_at(PyObject* numbers, size_t i) {
  return PyLong_AsLongLong(PyTuple_GET_ITEM(numbers, static_cast<Py_ssize_t>(i)));
}

int64_t bytes_of(PyObject* object) {
  if (!is_tensor(object) || !unpack(object).storage()) return 0;
  return static_cast<int64_t>(unpack(object).storage()->nbytes);
}

}  // namespace

std::optional<ChangedStorage> find_changed_storage(PyObject* const* registers,
                                                   const uint32_t* chosen, size_t count,
                                                   PyObject* expected) {
  c10::SmallVector<const void*, 8> addresses;
  for (size_t i = 0; i < count; ++i) addresses.push_back(memory_address(registers[chosen[i]]));

  for (size_t i = 0; i < count; ++i) {
    size_t first = 0;
    while (addresses[first] != addresses[i]) ++first;
    if (static_cast<int64_t>(first) != number_at(expected, 2 * i))
      return ChangedStorage{chosen[i], -1};

    const int64_t wanted = number_at(expected, 2 * i + 1);
    const int64_t bytes = bytes_of(registers[chosen[i]]);
    if (wanted != -1 && wanted != bytes) return ChangedStorage{chosen[i], bytes};
  }
  return std::nullopt;
}

}  // namespace torch::python::compiler
