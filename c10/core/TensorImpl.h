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

/// Autograd's part of a tensor; defined by torch_py/csrc/autograd, owned here.
struct TORCH_PY_API AutogradMetaInterface {
  virtual ~AutogradMetaInterface();
  bool requires_grad = false;  // asked for by the user; only leaves
};

/// Counts in-place changes of the memory that a tensor and its views share.
struct VersionCounter {
  std::atomic<uint32_t> references{1};
  std::atomic<uint32_t> value{0};
};

/// How a view came to be, when writing to it through autograd is forbidden.
enum class ViewOrigin : uint8_t { Ordinary, NoGradMode, MultiOutput, CustomFunction };

/// Note [Views]: a view holds its root base (a view of a view holds the same root) and shares its
/// version counter. Keys of a view include the base's autograd key, so that a base that starts to
/// require grad through one view is noticed by all others. This works without autograd: nothing is
/// lost for tensors that never require grad.
class TORCH_PY_API TensorImpl : public intrusive_ptr_target {
 public:
  TensorImpl(Storage storage, ScalarType dtype, Device device, DispatchKeySet backend_keys);
  ~TensorImpl() override;
  TensorImpl(const TensorImpl&) = delete;
  TensorImpl& operator=(const TensorImpl&) = delete;

  // -- geometry
  // ------------------------------------------------------------
  int64_t dim() const { return ndim_; }
  int64_t numel() const { return numel_; }
  IntArrayRef sizes() const { return {sizes_ptr(), static_cast<size_t>(ndim_)}; }
  IntArrayRef strides() const { return {sizes_ptr() + ndim_, static_cast<size_t>(ndim_)}; }
  int64_t storage_offset() const { return storage_offset_; }
  bool is_contiguous() const { return is_contiguous_; }
  bool is_contiguous(MemoryFormat format) const;
  /// Some permutation of the dimensions is contiguous: every element of a block of memory, once.
  bool is_non_overlapping_and_dense() const { return is_dense_; }

  void set_sizes_contiguous(IntArrayRef sizes);
  void set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides);
  void set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset) {
    set_sizes_and_strides(sizes, strides);
    storage_offset_ = storage_offset;
  }
  void set_storage_offset(int64_t offset) { storage_offset_ = offset; }

  // -- memory
  // ------------------------------------------------------------
  const Storage& storage() const { return storage_; }
  void set_storage(Storage storage) { storage_ = std::move(storage); }
  void* data() const {
    return storage_ ? static_cast<char*>(storage_->data.get()) +
                          storage_offset_ * static_cast<int64_t>(itemsize_)
                    : nullptr;
  }
  size_t itemsize() const { return itemsize_; }

  // -- type
  // ------------------------------------------------------------
  ScalarType dtype() const { return dtype_; }
  void set_dtype(ScalarType dtype) {
    dtype_ = dtype;
    itemsize_ = static_cast<uint8_t>(element_size(dtype));
  }
  Device device() const { return device_; }
  Layout layout() const { return layout_; }
  DispatchKeySet key_set() const { return base_ ? keys_ | (base_->keys_ & kAutogradKeys) : keys_; }
  void set_key(DispatchKey key, bool present) { keys_ = present ? keys_ | key : keys_ - key; }
  /// A 0-dim tensor made from a Python number: takes part in type promotion by its kind only.
  bool is_wrapped_number() const { return is_wrapped_number_; }
  void set_wrapped_number(bool value) { is_wrapped_number_ = value; }

  // -- autograd
  // ------------------------------------------------------------
  AutogradMetaInterface* autograd_meta() const { return autograd_meta_.get(); }
  void set_autograd_meta(std::unique_ptr<AutogradMetaInterface> meta) {
    autograd_meta_ = std::move(meta);
  }
  /// Adds or removes the autograd key of this tensor's device.
  void set_autograd_key(bool present) { set_key(autograd_key(device_.type), present); }

  const intrusive_ptr<TensorImpl>& base() const { return base_; }
  bool is_view() const { return static_cast<bool>(base_); }
  ViewOrigin view_origin() const { return view_origin_; }
  void set_view_origin(ViewOrigin origin) { view_origin_ = origin; }
  /// Makes this a view of `of` (or of its base) that shares the version counter.
  void set_view_of(const intrusive_ptr<TensorImpl>& of);
  /// Same memory, same version counter, but no view for autograd (detach).
  void share_version_with(const TensorImpl& other);
  void forget_base() { base_ = {}; }

  uint32_t version() const {
    const VersionCounter* counter = version_.load(std::memory_order_acquire);
    return counter == nullptr ? 0 : counter->value.load(std::memory_order_relaxed);
  }
  void bump_version() { version_counter()->value.fetch_add(1, std::memory_order_relaxed); }
  /// The tensor is new: what filled it was no change. Nothing else may share its counter.
  void reset_version();

  // -- Python
  // ------------------------------------------------------------
  /// The Python object of this tensor: borrowed while Python owns the tensor, owned once only C++
  /// does.
  std::atomic<_object*> pyobj{nullptr};
  bool owns_pyobj = false;

  /// A new tensor of the same memory and geometry; no autograd meta, not a view, fresh version
  /// counter.
  intrusive_ptr<TensorImpl> shallow_copy() const;
  /// Takes over memory, geometry and dtype of `other` (tensor.data = other); autograd and Python
  /// parts stay.
  void shallow_copy_from(const TensorImpl& other);

 protected:
  void release_resources() override;

 private:
  static constexpr int kInlineDims = 5;
  const int64_t* sizes_ptr() const {
    return ndim_ <= kInlineDims ? inline_geometry_ : heap_geometry_.get();
  }
  int64_t* reserve_dims(size_t ndim);
  void refresh();
  bool compute_dense() const;
  VersionCounter* version_counter() const;
  void drop_version();

  Storage storage_;
  int64_t storage_offset_ = 0;
  int64_t numel_ = 0;
  DispatchKeySet keys_;
  int32_t ndim_ = 1;
  Device device_;
  ScalarType dtype_;
  uint8_t itemsize_;
  Layout layout_ = Layout::Strided;
  bool is_contiguous_ = true;
  bool is_dense_ = true;
  bool is_wrapped_number_ = false;
  ViewOrigin view_origin_ = ViewOrigin::Ordinary;
  mutable std::atomic<VersionCounter*> version_{
      nullptr};  // made on first use, so most tensors have none
  std::unique_ptr<AutogradMetaInterface> autograd_meta_;
  intrusive_ptr<TensorImpl> base_;
  int64_t inline_geometry_[2 * kInlineDims] = {};  // ndim sizes, then ndim strides
  std::unique_ptr<int64_t[]> heap_geometry_;
};

/// Called with the Python object a dying TensorImpl owns; set by the bindings.
TORCH_PY_API void set_pyobj_deleter(void (*deleter)(_object*));

TORCH_PY_API DimVector contiguous_strides(IntArrayRef sizes);
TORCH_PY_API DimVector channels_last_strides(IntArrayRef sizes);

}  // namespace c10
