// The table of Tensor's hand-written methods, joined from the files that define them.
#include <vector>

#include "torch_py/csrc/bindings/tensor/TensorMembers.h"

namespace torch::python {

PyMethodDef* tensor_hand_methods() {
  static std::vector<PyMethodDef> methods;
  for (PyMethodDef* table :
       {tensor_geometry_methods, tensor_value_methods, tensor_exchange_methods,
        tensor_autograd_methods, tensor_conversion_methods, tensor_creation_methods}) {
    for (; table->ml_name != nullptr; ++table) methods.push_back(*table);
  }
  methods.push_back({nullptr, nullptr, 0, nullptr});
  return methods.data();
}

}  // namespace torch::python
