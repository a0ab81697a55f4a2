// Accessors of Arguments for list parameters: int[], float[], Scalar[], Tensor[].
#include <algorithm>

#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Arguments.h"

namespace torch::python {

namespace {

template <class Vector, class Convert>
void fill_list(Vector& values, PyObject* object, Convert convert) {
  if (!is_sequence(object)) {
    values.push_back(convert(0, object));
    return;
  }

  for (Py_ssize_t i = 0; i < sequence_length(object); ++i) {
    const ObjectPtr item = ObjectPtr::borrow(sequence_item(object, i));
    values.push_back(convert(static_cast<size_t>(i), item.get()));
  }
}

}  // namespace

const at::Tensor& Arguments::undefined_tensor() {
  static const at::Tensor undefined;
  return undefined;
}

void Arguments::throw_bad_element(int slot, size_t position, const char* wanted,
                                  PyObject* item) const {
  if (signature_ == nullptr) {
    throw_python(PyExc_TypeError, "type must be %s, but got %s at pos %zu", wanted, type_name(item),
                 position + 1);
  }
  throw_python(PyExc_TypeError,
               "%s(): argument '%s' failed to unpack the object at pos %zu with error \"type must "
               "be %s,but got %s\"",
               function_->name, signature_->parameters[slot].name, position + 1, wanted,
               type_name(item));
}

int64_t Arguments::list_element(int slot, size_t position, PyObject* item) const {
  if (!is_int(item)) throw_bad_element(slot, position, "tuple of ints", item);
  return to_int64(item);
}

IntVector Arguments::int_list(int slot, int size) const {
  IntVector values;
  PyObject* object = slots_[slot];

  if (slot == varargs_slot_) {
    for (Py_ssize_t i = varargs_start_; i < nargs_; ++i)
      values.push_back(list_element(slot, values.size(), args_[i]));
  } else if (is_sequence(object)) {
    // The length is read in each step: __index__ of an element may run Python code that changes the
    // list.
    for (Py_ssize_t i = 0; i < sequence_length(object); ++i) {
      const ObjectPtr item = ObjectPtr::borrow(sequence_item(object, i));
      values.push_back(list_element(slot, values.size(), item.get()));
    }
  } else {
    // A lone int fills a list of fixed size.
    values.assign(static_cast<size_t>(std::max(size, 1)), list_element(slot, 0, object));
  }
  return values;
}

IntVector Arguments::int_list(int slot, int size, std::initializer_list<int64_t> otherwise) const {
  if (given(slot)) return int_list(slot, size);
  if (otherwise.size() == 1 && size > 1)
    return IntVector(static_cast<size_t>(size), *otherwise.begin());
  return IntVector(otherwise);
}

OptionalIntVector Arguments::optional_int_list(int slot, int size) const {
  return given(slot) ? std::optional(int_list(slot, size)) : std::nullopt;
}

TensorVector Arguments::tensor_list(int slot) const {
  TensorVector tensors;
  if (!given(slot)) return tensors;

  PyObject* object = slots_[slot];
  if (!is_sequence(object))
    throw_python(PyExc_TypeError, "expected a tuple of Tensors, got %s", type_name(object));

  const bool none_allowed =
      signature_ != nullptr && signature_->parameters[slot].kind == Kind::OptionalTensorList;

  for (Py_ssize_t i = 0; i < sequence_length(object); ++i) {
    PyObject* item = sequence_item(object, i);
    if (!is_tensor(item) && !(none_allowed && item == Py_None)) {
      throw_python(PyExc_TypeError, "expected Tensor as element %zd in argument %d, but got %s", i,
                   slot, type_name(item));
    }
    tensors.push_back(item == Py_None ? at::Tensor() : unpack(item));
  }
  return tensors;
}

ScalarVector Arguments::scalar_list(int slot) const {
  ScalarVector values;
  if (!given(slot)) return values;
  fill_list(values, slots_[slot], [&](size_t position, PyObject* item) {
    if (!is_scalar(item)) throw_bad_element(slot, position, "tuple of Scalars", item);
    return to_scalar(item);
  });
  return values;
}

RealVector Arguments::real_list(int slot) const {
  RealVector values;
  if (!given(slot)) return values;
  fill_list(values, slots_[slot], [&](size_t position, PyObject* item) {
    if (!is_float(item)) throw_bad_element(slot, position, "tuple of floats", item);
    return to_double(item);
  });
  return values;
}

OptionalRealVector Arguments::optional_real_list(int slot) const {
  return given(slot) ? std::optional(real_list(slot)) : std::nullopt;
}

}  // namespace torch::python
