// TensorImpl: the body of a tensor, which all handles of it share.
#pragma once
#include <atomic>
#include <memory>

#include "c10/core/Device.h"
#include "c10/core/Layout.h"
#include "c10/core/ScalarType.h"
#include "c10/core/Storage.h"
#include "c10/dispatch/DispatchKeySet.h"
#include "c10/util/ArrayRef.h"
#include "c10/util/SmallVector.h"
#include "c10/util/intrusive_ptr.h"

struct _object;  // PyObject; c10 only carries the pointer

namespace c10 {

using DimVector = SmallVector<int64_t, 6>;

/// Autograd's part of a tensor. The tensor owns it; torch_py/csrc/autograd defines the rest of it.
struct TORCH_PY_API AutogradMetaInterface {
  virtual ~AutogradMetaInterface();
  bool requires_grad = false;  // set by the user, on leaves only
};

/// Counts in-place changes of the memory that a tensor and its views share.
struct VersionCounter {
  std::atomic<uint32_t> references{1};  // tensors that share the counter
  std::atomic<uint32_t> value{0};       // in-place changes so far
};

/// How a view was made. For all but Ordinary, writing to it where autograd records is an error.
enum class ViewOrigin : uint8_t { Ordinary, NoGradMode, MultiOutput, CustomFunction };

/// Note [Views]
/// A view holds its root base (a view of a view holds the same root) and shares its version
/// counter. The keys of a view include the base's autograd key, so that all views notice when the
/// base starts to require grad through one of them. None of this needs autograd, and tensors that
/// never require grad pay nothing for it.
class TORCH_PY_API TensorImpl : public intrusive_ptr_target {
 public:
  TensorImpl(Storage storage, ScalarType dtype, Device device, DispatchKeySet backend_keys);
  ~TensorImpl() override;
  TensorImpl(const TensorImpl&) = delete;
  TensorImpl& operator=(const TensorImpl&) = delete;

  // See Note [One block per tensor].
  static void* operator new(size_t bytes);
  static void operator delete(void* object, size_t bytes);

  // --- Geometry ---

  int64_t dim() const { return ndim_; }
  int64_t numel() const { return numel_; }
  IntArrayRef sizes() const { return {sizes_ptr(), static_cast<size_t>(ndim_)}; }
  IntArrayRef strides() const { return {sizes_ptr() + ndim_, static_cast<size_t>(ndim_)}; }
  int64_t storage_offset() const { return storage_offset_; }
  bool is_contiguous() const { return is_contiguous_; }
  bool is_contiguous(MemoryFormat format) const;
  /// Whether some permutation of the dimensions is contiguous: the elements fill a block of memory,
  /// each byte of it once.
  bool is_non_overlapping_and_dense() const { return is_dense_; }

  void set_sizes_contiguous(IntArrayRef sizes);
  void set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides);
  void set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset) {
    set_sizes_and_strides(sizes, strides);
    storage_offset_ = storage_offset;
  }
  void set_storage_offset(int64_t offset) { storage_offset_ = offset; }

  // --- Memory ---

  const Storage& storage() const { return storage_; }
  void set_storage(Storage storage) { storage_ = std::move(storage); }
  /// The first element; null on the meta device. Throws for a tensor that has no memory of its own,
  /// as one that stands for others.
  void* data() const {
    return storage_ ? static_cast<char*>(storage_->data.get()) +
                          storage_offset_ * static_cast<int64_t>(itemsize_)
                    : data_without_storage();
  }
  size_t itemsize() const { return itemsize_; }

  // --- Type and dispatch ---

  ScalarType dtype() const { return dtype_; }
  void set_dtype(ScalarType dtype) {
    dtype_ = dtype;
    itemsize_ = static_cast<uint8_t>(element_size(dtype));
  }

  Device device() const { return device_; }
  Layout layout() const { return layout_; }
  /// The keys that a call on this tensor dispatches by: its own and, for a view, the base's
  /// autograd key.
  DispatchKeySet key_set() const { return base_ ? keys_ | (base_->keys_ & kAutogradKeys) : keys_; }
  void set_key(DispatchKey key, bool present) { keys_ = present ? keys_ | key : keys_ - key; }
  /// A 0-dim tensor made from a Python number takes part in type promotion by its kind only.
  bool is_wrapped_number() const { return is_wrapped_number_; }
  void set_wrapped_number(bool value) { is_wrapped_number_ = value; }

  // --- Autograd ---

  /// Null until something about autograd is stored for this tensor.
  AutogradMetaInterface* autograd_meta() const { return autograd_meta_.get(); }
  void set_autograd_meta(std::unique_ptr<AutogradMetaInterface> meta) {
    autograd_meta_ = std::move(meta);
  }
  /// Adds or removes the autograd key of this tensor's device.
  void set_autograd_key(bool present) { set_key(autograd_key(device_.type), present); }

  /// The root base of a view; null for other tensors.
  const intrusive_ptr<TensorImpl>& base() const { return base_; }
  bool is_view() const { return static_cast<bool>(base_); }
  ViewOrigin view_origin() const { return view_origin_; }
  void set_view_origin(ViewOrigin origin) { view_origin_ = origin; }
  /// Makes this a view of `of` (or of its base) that shares the version counter.
  void set_view_of(const intrusive_ptr<TensorImpl>& of);
  /// Shares the memory's version counter without becoming a view for autograd (detach).
  void share_version_with(const TensorImpl& other);
  void forget_base() { base_ = {}; }

  /// The number of in-place changes of the memory so far.
  uint32_t version() const {
    const VersionCounter* counter = version_.load(std::memory_order_acquire);
    return counter == nullptr ? 0 : counter->value.load(std::memory_order_relaxed);
  }
  void bump_version() { version_counter()->value.fetch_add(1, std::memory_order_relaxed); }
  /// Declares the tensor new: writes that filled it do not count. Nothing else may share its
  /// counter.
  void reset_version();

  // --- Python ---

  /// The Python object of this tensor, or null. Borrowed while Python owns the tensor; owned
  /// (owns_pyobj) while only C++ does. See Note [One Python object per tensor].
  std::atomic<_object*> pyobj{nullptr};
  bool owns_pyobj = false;

  /// A new tensor on the same memory with the same geometry. It has no autograd meta, is not a
  /// view, and has a version counter of its own.
  virtual intrusive_ptr<TensorImpl> shallow_copy() const;
  /// Takes over memory, geometry and dtype of `other` (tensor.data = other) and keeps its own
  /// autograd and Python parts.
  virtual void shallow_copy_from(const TensorImpl& other);

 protected:
  void release_resources() override;
  void set_layout(Layout layout) { layout_ = layout; }

 private:
  static constexpr int kInlineDims = 5;

  const int64_t* sizes_ptr() const {
    return ndim_ <= kInlineDims ? inline_geometry_ : heap_geometry_.get();
  }
  /// Sets the number of dimensions and returns room for sizes and strides.
  int64_t* reserve_dims(size_t ndim);
  void* data_without_storage() const;
  /// Recomputes is_contiguous_ and is_dense_ after a change of geometry.
  void refresh();
  bool compute_dense() const;
  VersionCounter* version_counter() const;
  void drop_version();

  Storage storage_;
  int64_t storage_offset_ = 0;  // in elements
  int64_t numel_ = 0;           // product of the sizes
  DispatchKeySet keys_;         // backend, and autograd while the tensor requires grad
  int32_t ndim_ = 1;
  Device device_;
  ScalarType dtype_;
  uint8_t itemsize_;  // element_size(dtype_)
  Layout layout_ = Layout::Strided;
  bool is_contiguous_ = true;  // both follow from sizes and strides
  bool is_dense_ = true;
  bool is_wrapped_number_ = false;
  ViewOrigin view_origin_ = ViewOrigin::Ordinary;
  // Made on first use, so most tensors have none.
  mutable std::atomic<VersionCounter*> version_{nullptr};
  std::unique_ptr<AutogradMetaInterface> autograd_meta_;
  intrusive_ptr<TensorImpl> base_;                 // root base of a view
  int64_t inline_geometry_[2 * kInlineDims] = {};  // ndim sizes, then ndim strides
  std::unique_ptr<int64_t[]> heap_geometry_;       // the same, for more than kInlineDims dimensions
};

/// A CPU tensor with new memory of `nbytes` bytes; it has one dimension of size 0 so far.
TORCH_PY_API intrusive_ptr<TensorImpl> make_cpu_tensor(size_t nbytes, ScalarType dtype);

/// Sets the function that receives the Python object of a dying TensorImpl that owns one.
TORCH_PY_API void set_pyobj_deleter(void (*deleter)(_object*));

/// Row-major strides; throws if they overflow.
TORCH_PY_API DimVector contiguous_strides(IntArrayRef sizes);
/// Strides of channels_last (4 dimensions) or channels_last_3d (5).
TORCH_PY_API DimVector channels_last_strides(IntArrayRef sizes);

}  // namespace c10
