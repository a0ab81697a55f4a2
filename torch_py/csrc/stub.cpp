// The extension module `torch_py._C` itself: nothing but the symbol that Python looks for. All
// bindings live in libtorch_py_python.so, which operator libraries outside the tree link to as
// well; an extension module (with its ABI suffix) could not be linked to.
#include <Python.h>

extern "C" PyObject* torch_py_initialize_module();  // torch_py/csrc/bindings

PyMODINIT_FUNC PyInit__C() { return torch_py_initialize_module(); }
