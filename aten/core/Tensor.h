// Tensor: the handle of a tensor, and functions that make tensors without a dispatched call.
#pragma once
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "c10/core/Scalar.h"
#include "c10/core/TensorImpl.h"
#include "c10/util/ArrayRef.h"
#include "c10/util/Exception.h"

namespace c10 {
struct Generator;  // c10/core/Generator.h
}

namespace at {

using namespace c10;

class Tensor;
using TensorList = c10::ArrayRef<Tensor>;

/// A reference-counted handle of a TensorImpl. Operators are free functions (`at::add`, one
/// generated header each, aten/ops/add.h), so that a new operator recompiles nothing that includes
/// this file. Only what never changes is here.
class TORCH_PY_API Tensor {
 public:
  Tensor() = default;
  explicit Tensor(intrusive_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return static_cast<bool>(impl_); }
  TensorImpl* unsafe_impl() const { return impl_.get(); }
  const intrusive_ptr<TensorImpl>& impl() const { return impl_; }
  bool is_same(const Tensor& other) const { return impl_.get() == other.impl_.get(); }
  void reset() { impl_ = {}; }

  int64_t dim() const { return impl_->dim(); }
  int64_t numel() const { return impl_->numel(); }
  IntArrayRef sizes() const { return impl_->sizes(); }
  IntArrayRef strides() const { return impl_->strides(); }
  /// The size of a dimension, which may be counted from the end; IndexError outside of the tensor.
  int64_t size(int64_t dim) const;
  int64_t stride(int64_t dim) const;
  int64_t storage_offset() const { return impl_->storage_offset(); }
  const Storage& storage() const { return impl_->storage(); }
  bool is_contiguous() const { return impl_->is_contiguous(); }
  bool is_contiguous(MemoryFormat format) const { return impl_->is_contiguous(format); }
  bool is_non_overlapping_and_dense() const { return impl_->is_non_overlapping_and_dense(); }
  /// The format whose strides this tensor has. channels_last only if the tensor is not also
  /// contiguous.
  MemoryFormat suggest_memory_format() const;

  ScalarType scalar_type() const { return impl_->dtype(); }
  Device device() const { return impl_->device(); }
  Layout layout() const { return impl_->layout(); }
  size_t itemsize() const { return impl_->itemsize(); }
  DispatchKeySet key_set() const { return impl_->key_set(); }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_meta() const { return device().is_meta(); }
  bool is_complex() const { return c10::is_complex(scalar_type()); }
  bool is_floating_point() const { return c10::is_floating(scalar_type()); }
  bool is_signed() const { return c10::is_signed(scalar_type()); }
  bool is_wrapped_number() const { return impl_->is_wrapped_number(); }

  void* data() const { return impl_->data(); }
  /// Pointer to the first element; throws unless the dtype is T's.
  template <typename T>
  T* data_ptr() const {
    TORCH_CHECK(scalar_type() == scalar_type_of<T>, "expected scalar type ", scalar_type_of<T>,
                " but found ", scalar_type());
    return static_cast<T*>(impl_->data());
  }
  template <typename T>
  const T* const_data_ptr() const {
    return data_ptr<T>();
  }

  /// Whether autograd records calls on this tensor: it or its history requires grad.
  bool requires_grad() const { return impl_->key_set().has_any(kAutogradKeys); }
  uint32_t version() const { return impl_->version(); }
  /// Declares this tensor new: the caller has just made and filled it, which does not count as a
  /// change.
  const Tensor& as_new() const {
    impl_->reset_version();
    return *this;
  }
  bool is_view() const { return impl_->is_view(); }

  // The few operators everyone needs, by their generated free functions.
  Tensor contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  Tensor to(ScalarType dtype) const;
  Tensor view(IntArrayRef sizes) const;
  Tensor reshape(IntArrayRef sizes) const;
  Tensor transpose(int64_t dim0, int64_t dim1) const;
  Tensor unsqueeze(int64_t dim) const;
  Tensor squeeze(int64_t dim) const;
  Tensor expand(IntArrayRef sizes) const;
  Tensor select(int64_t dim, int64_t index) const;
  Tensor narrow(int64_t dim, int64_t start, int64_t length) const;
  Tensor sum() const;
  Tensor clone() const;
  Tensor detach() const;
  const Tensor& copy_(const Tensor& source) const;
  const Tensor& fill_(const Scalar& value) const;
  const Tensor& zero_() const;
  Scalar item() const;
  template <typename T>
  T item() const {
    return item().to<T>();
  }
  Tensor operator[](int64_t index) const { return select(0, index); }

 private:
  int64_t checked_dim(int64_t dim) const;

  intrusive_ptr<TensorImpl> impl_;  // null for an undefined tensor
};

TORCH_PY_API Tensor operator+(const Tensor& a, const Tensor& b);
TORCH_PY_API Tensor operator-(const Tensor& a, const Tensor& b);
TORCH_PY_API Tensor operator*(const Tensor& a, const Tensor& b);
TORCH_PY_API Tensor operator/(const Tensor& a, const Tensor& b);
TORCH_PY_API Tensor operator+(const Tensor& a, const Scalar& b);
TORCH_PY_API Tensor operator-(const Tensor& a, const Scalar& b);
TORCH_PY_API Tensor operator*(const Tensor& a, const Scalar& b);
TORCH_PY_API Tensor operator/(const Tensor& a, const Scalar& b);
TORCH_PY_API Tensor operator+(const Scalar& a, const Tensor& b);
TORCH_PY_API Tensor operator-(const Scalar& a, const Tensor& b);
TORCH_PY_API Tensor operator*(const Scalar& a, const Tensor& b);
TORCH_PY_API Tensor operator/(const Scalar& a, const Tensor& b);
TORCH_PY_API Tensor operator-(const Tensor& a);

/// The properties of a new tensor. Defaults are PyTorch's: default dtype, strided, CPU.
struct TensorOptions {
  std::optional<ScalarType> dtype;
  std::optional<Layout> layout;
  std::optional<Device> device;
  std::optional<bool> pin_memory;

  ScalarType dtype_or_default() const { return dtype.value_or(default_dtype()); }
  Device device_or_default() const { return device.value_or(kCPU); }
};

inline TensorOptions options_of(const Tensor& tensor) {
  return {tensor.scalar_type(), tensor.layout(), tensor.device(), std::nullopt};
}

/// The result of a shape rule: everything about an output except its values.
struct TensorSpec {
  DimVector sizes;
  ScalarType dtype = ScalarType::Float;
  Device device = kCPU;
  DimVector strides{};  // empty for a contiguous output
};

/// Allocates (without a dispatched call) a tensor on CPU or meta, or on a registered device.
TORCH_PY_API Tensor empty_tensor(IntArrayRef sizes, ScalarType dtype, Device device);
TORCH_PY_API Tensor empty_strided_tensor(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype,
                                         Device device);
TORCH_PY_API Tensor empty_from_spec(const TensorSpec& spec);
/// Dense strides for a tensor of the same shape whose dimensions have the same order in memory.
TORCH_PY_API DimVector strides_in_order_of(const Tensor& tensor);
/// A 0-dim CPU tensor of the number's own dtype, marked as a wrapped number (it promotes only by
/// its kind).
TORCH_PY_API Tensor wrapped_scalar(const Scalar& value);

/// Gives an out= tensor the sizes `sizes`; warns if that resizes a tensor that holds elements.
TORCH_PY_API void resize_output(const Tensor& out, IntArrayRef sizes);
/// Changes the sizes; grows the storage if necessary and never shrinks it.
TORCH_PY_API void resize_tensor(const Tensor& tensor, IntArrayRef sizes);

/// Maps dim from [-ndim, ndim) to [0, ndim); IndexError "Dimension out of range" otherwise. An ndim
/// of 0 counts as 1.
TORCH_PY_API int64_t wrap_dim(int64_t dim, int64_t ndim);
/// The broadcast of two shapes; throws PyTorch's RuntimeError if they do not match.
TORCH_PY_API DimVector broadcast_sizes(IntArrayRef a, IntArrayRef b);
/// The result type of operands by PyTorch's rules (tensors with dimensions > 0-dim > wrapped
/// numbers, by kind).
TORCH_PY_API ScalarType result_type(TensorList tensors);
TORCH_PY_API ScalarType result_type(ArrayRef<const Tensor*> tensors);

/// The dispatch keys of all tensors of a call.
inline DispatchKeySet keys_of(const Tensor& tensor) {
  return tensor.defined() ? tensor.key_set() : DispatchKeySet();
}
inline DispatchKeySet keys_of(TensorList tensors) {
  DispatchKeySet keys;
  for (const Tensor& tensor : tensors) keys = keys | keys_of(tensor);
  return keys;
}

}  // namespace at
