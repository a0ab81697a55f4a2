// Parses the index of tensor[...]: Note [Indexing].
#include "torch_py/csrc/bindings/tensor/IndexParser.h"

#include "aten/core/Warning.h"
#include "aten/native/shared/HostValues.h"
#include "aten/ops/alias.h"
#include "aten/ops/select.h"
#include "aten/ops/slice.h"
#include "aten/ops/unsqueeze.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/exchange/NumPy.h"
#include "torch_py/csrc/bindings/tensor/TensorData.h"

namespace torch::python {

namespace {

bool is_mask(const at::Tensor& index) {
  return index.scalar_type() == at::kBool || index.scalar_type() == at::kByte;
}

/// A zero-dimensional integer tensor selects, as an int does.
bool is_integer_scalar(PyObject* object) {
  if (!is_tensor(object)) return false;
  const at::Tensor& tensor = unpack(object);
  return tensor.dim() == 0 && at::is_integral(tensor.scalar_type(), false) &&
         tensor.scalar_type() != at::kByte;
}

bool is_text(PyObject* object) { return PyUnicode_Check(object) || PyBytes_Check(object); }

/// A list that holds slices, None, `...`, tensors or other sequences means the tuple of its items.
bool is_tuple_like(PyObject* index) {
  if (PyTuple_Check(index)) return true;
  if (!PyList_Check(index) || PyList_GET_SIZE(index) >= 32) return false;

  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(index); ++i) {
    PyObject* item = PyList_GET_ITEM(index, i);
    if (item == Py_None || item == Py_Ellipsis || PySlice_Check(item) || is_tensor(item))
      return true;
    if (PySequence_Check(item) && !is_text(item)) return true;
  }
  return false;
}

/// Converts an index other than an int, a slice, None or `...` to a tensor.
at::Tensor index_tensor(PyObject* object) {
  if (is_tensor(object)) return unpack(object);
  if (is_numpy_array(object)) return tensor_from_numpy(object, /*warn_if_readonly=*/false);
  if (is_text(object))
    throw_python(PyExc_TypeError, "new(): invalid data type '%s'", type_name(object));
  if (!PySequence_Check(object)) {
    throw_python(PyExc_IndexError,
                 "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables "
                 "are valid indices (got %s)",
                 type_name(object));
  }

  const at::Tensor tensor = tensor_from_sequence(object, std::nullopt);
  // [] would have the default dtype, but it is a valid index that selects nothing.
  return tensor.numel() == 0 ? tensor.to(at::kLong) : tensor;
}

void check_index_dtype(const at::Tensor& index) {
  const at::ScalarType dtype = index.scalar_type();
  TORCH_CHECK_INDEX(dtype == at::kLong || dtype == at::kInt || is_mask(index),
                    "tensors used as indices must be long, int, byte or bool tensors");
}

/// True selects all of a dimension of size 1, False none of it.
at::Tensor index_of_bool(bool value) {
  const at::Tensor index = at::empty_real_tensor({value ? 1 : 0}, at::kLong, at::kCPU);
  if (value) *static_cast<int64_t*>(index.data()) = 0;
  return at::native::lifted(index);
}

/// Applies the items of an index from left to right.
class IndexParser {
 public:
  explicit IndexParser(const at::Tensor& tensor) : self_(tensor), result_{tensor, {}, false} {}

  void parse_all(PyObject* items) {
    const Py_ssize_t count = sequence_length(items);
    count_dimensions(items, count);
    for (Py_ssize_t i = 0; i < count; ++i) {
      const ObjectPtr item = ObjectPtr::borrow(sequence_item(items, i));
      parse(item.get());
    }
  }

  IndexedView finish() {
    // Dimensions after the last index need no entry; a second `...` may have added some.
    while (!result_.indices.empty() && !result_.indices.back().defined())
      result_.indices.pop_back();
    // Without any index the result is still a new tensor.
    if (!result_.is_advanced && result_.view.is_same(self_)) result_.view = at::alias(self_);
    return std::move(result_);
  }

 private:
  /// Counts the dimensions that `...` covers.
  void count_dimensions(PyObject* items, Py_ssize_t count) {
    int64_t specified = 0;
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* item = sequence_item(items, i);
      if (item == Py_None || item == Py_Ellipsis || PyBool_Check(item)) continue;
      const bool counts_all = is_tensor(item) && is_mask(unpack(item));
      specified += counts_all ? unpack(item).dim() : 1;
    }

    TORCH_CHECK_INDEX(specified <= self_.dim(), "too many indices for tensor of dimension ",
                      self_.dim());
    unspecified_ = self_.dim() - specified;
  }

  void parse(PyObject* item) {
    // Basic indices: they give a view.
    if (PyLong_Check(item) && !PyBool_Check(item)) return select(to_int64(item));
    if (PySlice_Check(item)) {
      result_.view = slice_index(result_.view, dim_, item);
      return keep(1);
    }

    if (item == Py_Ellipsis) return keep(unspecified_);

    if (item == Py_None) {
      result_.view = at::unsqueeze(result_.view, dim_);
      --original_dim_;
      return keep(1);
    }

    if (PyBool_Check(item)) return add_dimension(index_of_bool(item == Py_True));

    if (is_integer_scalar(item) ||
        (PyIndex_Check(item) && !is_tensor(item) && !is_numpy_array(item)))
      return select(to_int64(item));

    // Everything else is or becomes an index tensor.
    const at::Tensor index = index_tensor(item);
    if (index.dim() == 0 && at::is_integral(index.scalar_type(), false) && !is_mask(index))
      return select(index.item().to_long());
    record(index);
  }

  /// Takes one position: the dimension disappears.
  void select(int64_t index) {
    result_.view = select_index(result_.view, dim_, index, original_dim_++);
  }

  /// Leaves dimensions as they are.
  void keep(int64_t dimensions) {
    for (int64_t i = 0; i < dimensions; ++i) result_.indices.push_back(at::Tensor());
    dim_ += dimensions;
    original_dim_ += dimensions;
  }

  /// A bool indexes a dimension of size 1 that it inserts itself.
  void add_dimension(const at::Tensor& index) {
    result_.view = at::unsqueeze(result_.view, dim_);
    --original_dim_;
    record(index);
  }

  /// Adds an index tensor.
  void record(const at::Tensor& index) {
    check_index_dtype(index);
    if (index.scalar_type() == at::kByte) {
      at::warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool "
               "instead.");
    }
    if (index.dim() == 0 && is_mask(index))
      return add_dimension(index_of_bool(index.item().to_bool()));

    const int64_t consumed = is_mask(index) ? index.dim() : 1;
    TORCH_CHECK_INDEX(dim_ + consumed <= result_.view.dim(),
                      "too many indices for tensor of dimension ", self_.dim());

    result_.indices.push_back(index);
    result_.is_advanced = true;
    dim_ += consumed;
    original_dim_ += consumed;
  }

  const at::Tensor& self_;
  IndexedView result_;
  int64_t dim_ = 0;           // next dimension of the view so far
  int64_t original_dim_ = 0;  // the same dimension of the tensor, for messages
  int64_t unspecified_ = 0;   // dimensions that `...` covers
};

}  // namespace

at::Tensor select_index(const at::Tensor& tensor, int64_t dim, int64_t index,
                        int64_t original_dim) {
  TORCH_CHECK_INDEX(!(tensor.dim() == 0 && dim == 0),
                    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
                    "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number");
  TORCH_CHECK_INDEX(dim < tensor.dim(), "too many indices for tensor of dimension ", tensor.dim());

  const int64_t size = tensor.sizes()[static_cast<size_t>(dim)];
  TORCH_CHECK_INDEX(index >= -size && index < size, "index ", index,
                    " is out of bounds for dimension ", original_dim, " with size ", size);

  return at::select(tensor, dim, index);
}

at::Tensor slice_index(const at::Tensor& tensor, int64_t dim, PyObject* slice) {
  TORCH_CHECK_INDEX(dim < tensor.dim(), tensor.dim() == 0
                                            ? "slice() cannot be applied to a 0-dim tensor."
                                            : "too many indices for tensor");

  Py_ssize_t start = 0;
  Py_ssize_t stop = 0;
  Py_ssize_t step = 0;
  check_status(PySlice_Unpack(slice, &start, &stop, &step));
  TORCH_CHECK_VALUE(step > 0, "step must be greater than zero");

  if (start == 0 && stop == PY_SSIZE_T_MAX && step == 1) return tensor;
  return at::slice(tensor, dim, start, stop, step);
}

IndexedView apply_index(const at::Tensor& tensor, PyObject* index) {
  IndexParser parser(tensor);
  if (is_tuple_like(index)) {
    parser.parse_all(index);
  } else {
    const ObjectPtr single = ObjectPtr::steal(checked(PyTuple_Pack(1, index)));
    parser.parse_all(single.get());
  }
  return parser.finish();
}

}  // namespace torch::python
