// Python's buffer protocol for tensors: memoryview(tensor), without a copy.
#include <memory>

#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/calls/TorchFunction.h"
#include "torch_py/csrc/bindings/exchange/ForeignMemory.h"
#include "torch_py/csrc/bindings/tensor/TensorMembers.h"

namespace torch::python {

namespace {

/// What a buffer needs for as long as it lives; owned by Py_buffer::internal. It keeps the memory
/// itself, because the tensor may be given other memory (tensor.data = other, set_) meanwhile.
struct Export {
  explicit Export(const at::Tensor& tensor) : memory(tensor.storage()) {
    for (int64_t i = 0; i < tensor.dim(); ++i) {
      shape.push_back(tensor.sizes()[static_cast<size_t>(i)]);
      strides.push_back(tensor.strides()[static_cast<size_t>(i)] *
                        static_cast<Py_ssize_t>(tensor.itemsize()));
    }
  }

  at::Storage memory;
  c10::SmallVector<Py_ssize_t, 6> shape;
  c10::SmallVector<Py_ssize_t, 6> strides;  // in bytes
};

/// The dtype's code in the struct module; null for dtypes that it does not have.
const char* format_of(at::ScalarType dtype) {
  // Formats have the size of the platform's C types, hence the two names for 64 bits.
  switch (dtype) {
    case at::ScalarType::Bool: return "?";
    case at::ScalarType::Byte: return "B";
    case at::ScalarType::Char: return "b";
    case at::ScalarType::Short: return "h";
    case at::ScalarType::Int: return "i";
    case at::ScalarType::Long: return sizeof(long) == 8 ? "l" : "q";
    case at::ScalarType::UInt16: return "H";
    case at::ScalarType::UInt32: return "I";
    case at::ScalarType::UInt64: return sizeof(long) == 8 ? "L" : "Q";
    case at::ScalarType::Half: return "e";
    case at::ScalarType::Float: return "f";
    case at::ScalarType::Double: return "d";
    case at::ScalarType::ComplexFloat: return "Zf";
    case at::ScalarType::ComplexDouble: return "Zd";
    default: return nullptr;
  }
}

/// Why the tensor cannot be exported in the form that `flags` ask for; null if it can.
const char* refusal(const at::Tensor& tensor, int flags) {
  // NumPy then asks for __array__, a method, which the mode sees.
  if (has_function_modes() && in_function_mode())
    return "a TorchFunctionMode does not see buffers; use tensor.numpy()";
  if (!tensor.is_cpu())
    return "the memory of a tensor that is not on the CPU cannot be exported as a buffer";
  if (tensor.layout() != at::Layout::Strided)
    return "the memory of a tensor that is not strided cannot be exported as a buffer";
  if (!tensor.storage())
    return "a tensor that stands for others has no memory that could be exported as a buffer";
  if (tensor.requires_grad())
    return "a tensor that requires grad cannot be exported as a buffer; use tensor.detach()";
  if (format_of(tensor.scalar_type()) == nullptr)
    return "the buffer protocol has no format for the dtype of this tensor";

  const bool needs_contiguous = (flags & PyBUF_STRIDES) != PyBUF_STRIDES ||
                                (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS;
  if (needs_contiguous && !tensor.is_contiguous()) return "the tensor is not contiguous";

  const bool needs_fortran = (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS &&
                             (flags & PyBUF_ANY_CONTIGUOUS) != PyBUF_ANY_CONTIGUOUS;
  if (needs_fortran && tensor.dim() > 1) return "the tensor is not contiguous in Fortran order";
  if ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS && !tensor.is_contiguous())
    return "the tensor is not contiguous";

  return nullptr;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  TORCH_PY_TRY
  const at::Tensor& tensor = unpack(self);
  if (const char* why = refusal(tensor, flags)) {
    PyErr_SetString(PyExc_BufferError, why);
    return -1;
  }

  pin_memory_of(tensor);
  static char none;  // the address of an empty tensor
  auto exported = std::make_unique<Export>(tensor);

  view->buf = tensor.data() != nullptr ? tensor.data() : &none;
  view->len = tensor.numel() * static_cast<Py_ssize_t>(tensor.itemsize());
  view->itemsize = static_cast<Py_ssize_t>(tensor.itemsize());
  view->readonly = 0;
  view->ndim = static_cast<int>(tensor.dim());

  view->format =
      (flags & PyBUF_FORMAT) ? const_cast<char*>(format_of(tensor.scalar_type())) : nullptr;
  view->shape = (flags & PyBUF_ND) ? exported->shape.data() : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? exported->strides.data() : nullptr;
  view->suboffsets = nullptr;

  view->internal = exported.release();
  view->obj = Py_NewRef(self);
  return 0;
  TORCH_PY_CATCH(-1)
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<Export*>(view->internal); }

}  // namespace

PyBufferProcs* tensor_as_buffer() {
  static PyBufferProcs procs = {get_buffer, release_buffer};
  return &procs;
}

}  // namespace torch::python
