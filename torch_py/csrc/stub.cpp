// The extension module `torch_py._C`: only the symbol that Python looks for. All bindings are in
// libtorch_py_python.so, to which operator libraries outside of the tree link as well; an extension
// module (with its ABI suffix) cannot be linked to.
#include <Python.h>

extern "C" PyObject* torch_py_initialize_module();  // torch_py/csrc/bindings

PyMODINIT_FUNC PyInit__C() { return torch_py_initialize_module(); }
