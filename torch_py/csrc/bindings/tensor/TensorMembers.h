// The parts of the Tensor type, each of which has a file of its own.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

namespace torch::python {

PyObject* tensor_new(PyTypeObject* type, PyObject* args,
                     PyObject* kwargs);                             // TensorConstructor.cpp
PyMethodDef* tensor_hand_methods();                                 // TensorMethods.cpp
PyGetSetDef* tensor_properties();                                   // TensorProperties.cpp
PyNumberMethods* tensor_as_number();                                // TensorNumbers.cpp
PyObject* tensor_compare(PyObject* a, PyObject* b, int operation);  // TensorNumbers.cpp
PyMappingMethods* tensor_as_mapping();                              // Indexing.cpp
PyObject* tensor_iterate(PyObject* self);                           // Indexing.cpp
PyBufferProcs* tensor_as_buffer();                                  // BufferProtocol.cpp

// Method tables that TensorMethods.cpp joins.
extern PyMethodDef tensor_geometry_methods[];    // TensorGeometry.cpp: size, stride, dim, ...
extern PyMethodDef tensor_value_methods[];       // TensorValues.cpp: item, tolist, __float__ ...
extern PyMethodDef tensor_exchange_methods[];    // TensorExchange.cpp: numpy, __dlpack__ ...
extern PyMethodDef tensor_autograd_methods[];    // TensorAutograd.cpp: register_hook ...
extern PyMethodDef tensor_conversion_methods[];  // TensorConversion.cpp: to, type, cpu
extern PyMethodDef tensor_creation_methods[];  // TensorConstructor.cpp: new_tensor, as_subclass ...

}  // namespace torch::python
