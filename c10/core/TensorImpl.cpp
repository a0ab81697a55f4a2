// The body of tensors: geometry, version counters, views.
#include "c10/core/TensorImpl.h"

#include <algorithm>

#include "c10/core/InferenceMode.h"
#include "c10/core/TensorBlock.h"
#include "c10/cpu/WatchedBlocks.h"
#include "c10/util/Exception.h"

namespace c10 {

AutogradMetaInterface::~AutogradMetaInterface() = default;

namespace {

void (*pyobj_deleter)(_object*) = nullptr;

/// Checked, because sizes without memory (expanded, or of meta tensors) may multiply to more than
/// an int64 holds.
int64_t count_elements(IntArrayRef sizes) {
  int64_t numel = 1;
  for (const int64_t size : sizes) {
    TORCH_CHECK(!__builtin_mul_overflow(numel, size, &numel),
                "numel: integer multiplication overflow, got sizes ", sizes);
  }
  return numel;
}

/// The stride of the next slower dimension, checked: sizes of an empty tensor may overflow it.
int64_t slower_stride(int64_t stride, int64_t size, IntArrayRef sizes) {
  TORCH_CHECK(!__builtin_mul_overflow(stride, std::max<int64_t>(size, 1), &stride),
              "Stride calculation overflowed, got sizes ", sizes);
  return stride;
}

// Shared by all inference tensors; see Note [Inference mode]. Never freed, so nobody counts its
// owners.
VersionCounter inference_counter{{1}, {kInferenceVersion}};

/// The counter that an in-place change of an inference tensor bumps; nobody reads it.
VersionCounter* changeable_inference_counter() {
  TORCH_CHECK(InferenceMode::is_enabled(),
              "Inplace update to inference tensor outside InferenceMode is not allowed. You can "
              "make a clone to get a normal tensor before doing inplace update.");
  static thread_local VersionCounter unread;
  return &unread;
}

/// The counter in a slot, which gets one if it has none.
VersionCounter* counter_in(std::atomic<VersionCounter*>& slot) {
  VersionCounter* counter = slot.load(std::memory_order_acquire);
  if (counter != nullptr) return counter;

  auto* fresh = new VersionCounter;
  if (slot.compare_exchange_strong(counter, fresh, std::memory_order_acq_rel)) return fresh;
  delete fresh;  // another thread was first
  return counter;
}

void release_elements(void* block) {
  tensor_block::end_part(static_cast<tensor_block::Block*>(block));
}

}  // namespace

void set_pyobj_deleter(void (*deleter)(_object*)) { pyobj_deleter = deleter; }

TensorImpl::TensorImpl(Storage storage, ScalarType dtype, Device device,
                       DispatchKeySet backend_keys)
    : storage_(std::move(storage)),
      keys_(backend_keys | autocast_keys(device.type)),
      device_(device),
      dtype_(dtype),
      itemsize_(static_cast<uint8_t>(element_size(dtype))) {
  inline_geometry_[1] = 1;  // one dimension of size 0, like torch.empty(0)
  if (C10_UNLIKELY(local_state().inference_mode))
    version_.store(&inference_counter, std::memory_order_relaxed);
}

TensorImpl::~TensorImpl() {
  if (version_.load(std::memory_order_relaxed) != nullptr) drop_version();
  if (owns_pyobj && pyobj_deleter != nullptr) pyobj_deleter(pyobj.load());
  tensor_block::end_storage(*this, storage_);
}

void* TensorImpl::operator new(size_t bytes) { return tensor_block::new_object(bytes); }
void TensorImpl::operator delete(void* object, size_t bytes) {
  tensor_block::delete_object(object, bytes, tensor_block::kTensorAt);
}

intrusive_ptr<TensorImpl> make_cpu_tensor(size_t nbytes, ScalarType dtype) {
  using namespace tensor_block;
  constexpr DispatchKeySet backend_keys(DispatchKey::CPU);
  Allocator& allocator = cpu_allocator();

  const bool holds_elements = !block_cache::kExactBlocks && nbytes - 1 < kMostBytesOfElements;
  DataPtr data = holds_elements ? DataPtr() : allocator.allocate(nbytes);

  if constexpr (block_cache::kExactBlocks) {
    return make_intrusive<TensorImpl>(
        make_intrusive<StorageImpl>(std::move(data), nbytes, &allocator), dtype, kCPU,
        backend_keys);
  }

  const int size_class = block_cache::class_of(holds_elements ? kElementsAt + nbytes : kStorageEnd);
  char* const memory = static_cast<char*>(block_cache::allocate_small(size_class));
  auto* const block = ::new (memory) Block{{holds_elements ? 3u : 2u}, size_class};
  if (holds_elements) data = DataPtr(memory + kElementsAt, block, &release_elements, kCPU);

  auto storage = Storage::adopt_new(::new (memory + kStorageAt)
                                        StorageImpl(std::move(data), nbytes, &allocator));
  return intrusive_ptr<TensorImpl>::adopt_new(
      ::new (memory + kTensorAt) TensorImpl(std::move(storage), dtype, kCPU, backend_keys));
}

void TensorImpl::release_resources() {
  autograd_meta_.reset();
  storage_ = {};
  base_ = {};
}

int64_t* TensorImpl::reserve_dims(size_t ndim) {
  ndim_ = static_cast<int32_t>(ndim);
  if (ndim <= kInlineDims) return inline_geometry_;
  heap_geometry_ = std::make_unique<int64_t[]>(2 * ndim);
  return heap_geometry_.get();
}

void* TensorImpl::data_without_storage() const {
  TORCH_CHECK(
      device_.is_meta() && !keys_.has(DispatchKey::Python),
      "Cannot access data pointer of Tensor that doesn't have storage: it stands for others, "
      "which a function that needs the elements cannot see");
  return nullptr;
}

void TensorImpl::set_sizes_contiguous(IntArrayRef sizes) {
  // `sizes` may point into this tensor's own geometry, which reserve_dims replaces.
  const DimVector copy(sizes.begin(), sizes.end());
  const size_t n = copy.size();
  const int64_t numel = count_elements(copy);
  // If there are elements, their number bounds the strides; otherwise the strides need a check.
  if (numel == 0) contiguous_strides(copy);

  int64_t* geometry = reserve_dims(n);
  int64_t stride = 1;
  for (size_t i = n; i-- > 0;) {
    geometry[i] = copy[i];
    geometry[n + i] = stride;
    if (i > 0) stride *= std::max<int64_t>(copy[i], 1);
  }

  numel_ = numel;
  is_contiguous_ = true;
  is_dense_ = true;
}

void TensorImpl::set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides) {
  TORCH_INTERNAL_ASSERT(sizes.size() == strides.size(), "sizes have ", sizes.size(),
                        " dimensions, strides ", strides.size());

  const DimVector size_copy(sizes.begin(), sizes.end());
  const DimVector stride_copy(strides.begin(), strides.end());
  numel_ = count_elements(size_copy);  // before anything changes

  int64_t* geometry = reserve_dims(size_copy.size());
  std::copy(size_copy.begin(), size_copy.end(), geometry);
  std::copy(stride_copy.begin(), stride_copy.end(), geometry + size_copy.size());
  refresh();
}

void TensorImpl::refresh() {
  const int64_t* size = sizes_ptr();
  const int64_t* stride = size + ndim_;

  int64_t expected = 1;
  is_contiguous_ = true;
  for (int i = ndim_ - 1; numel_ != 0 && i >= 0; --i) {
    if (size[i] != 1) {
      is_contiguous_ = is_contiguous_ && stride[i] == expected;
      expected *= size[i];
    }
  }

  is_dense_ = is_contiguous_ || compute_dense();
}

bool TensorImpl::compute_dense() const {
  const int64_t* size = sizes_ptr();
  const int64_t* stride = size + ndim_;

  // Ordered from the fastest dimension to the slowest, each stride must be the product of the sizes
  // before.
  SmallVector<int, 8> order;
  for (int i = 0; i < ndim_; ++i) {
    if (size[i] != 1) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](int a, int b) { return stride[a] < stride[b]; });

  int64_t expected = 1;
  for (const int i : order) {
    if (stride[i] != expected) return false;
    expected *= size[i];
  }
  return true;
}

bool TensorImpl::is_contiguous(MemoryFormat format) const {
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) return is_contiguous_;

  const int64_t wanted = format == MemoryFormat::ChannelsLast ? 4 : 5;
  if (ndim_ != wanted) return false;

  const DimVector expected = channels_last_strides(sizes());
  const IntArrayRef actual = strides();
  for (int i = 0; i < ndim_; ++i) {
    if (sizes()[i] != 1 && actual[i] != expected[i]) return false;
  }
  return true;
}

/// The counter of a tensor that changes.
VersionCounter* TensorImpl::version_counter() const {
  if (storage_) contents_written(storage_->data.get());  // see Note [Watched contents]
  VersionCounter* const counter = counter_in(version_);
  return counter == &inference_counter ? changeable_inference_counter() : counter;
}

void TensorImpl::drop_version() {
  VersionCounter* counter = version_.exchange(nullptr);
  if (counter != nullptr && counter != &inference_counter &&
      counter->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete counter;
}

void TensorImpl::reset_version() {
  const VersionCounter* counter = version_.load(std::memory_order_acquire);
  if (counter == nullptr || counter == &inference_counter) return;
  // Who sees calls may have made views of a tensor before the operator that made it returned.
  const bool has_views = counter->references.load(std::memory_order_relaxed) != 1;
  TORCH_INTERNAL_ASSERT(!has_views || local_state().included.has(DispatchKey::Python),
                        "a tensor with views is not new");

  if (!has_views) drop_version();
}

void TensorImpl::share_version_with(const TensorImpl& other) {
  const bool shares_none = c10::is_inference(other);
  VersionCounter* counter = shares_none ? &inference_counter : counter_in(other.version_);

  if (!shares_none) counter->references.fetch_add(1, std::memory_order_relaxed);

  drop_version();
  version_.store(counter, std::memory_order_release);
}

void TensorImpl::set_view_of(const intrusive_ptr<TensorImpl>& of) {
  share_version_with(*of);
  base_ = of->base_ ? of->base_ : of;
  // What must not be changed in place must not be changed through a view of it either.
  if (of->base_) view_origin_ = of->view_origin_;
}

intrusive_ptr<TensorImpl> TensorImpl::shallow_copy() const {
  auto copy = make_intrusive<TensorImpl>(storage_, dtype_, device_, keys_ - kAutogradKeys);
  copy->set_sizes_and_strides(sizes(), strides(), storage_offset_);
  copy->layout_ = layout_;
  copy->drop_version();
  if (is_inference(*this)) copy->version_.store(&inference_counter, std::memory_order_release);
  return copy;
}

void TensorImpl::shallow_copy_from(const TensorImpl& other) {
  const bool requires_autograd = keys_.has_any(kAutogradKeys);

  storage_ = other.storage_;
  device_ = other.device_;
  layout_ = other.layout_;
  keys_ = other.keys_ - kAutogradKeys;
  set_autograd_key(requires_autograd);
  set_dtype(other.dtype_);
  set_sizes_and_strides(other.sizes(), other.strides(), other.storage_offset_);
}

DimVector contiguous_strides(IntArrayRef sizes) {
  DimVector strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    if (i > 0) stride = slower_stride(stride, sizes[i], sizes);
  }
  return strides;
}

DimVector channels_last_strides(IntArrayRef sizes) {
  const size_t n = sizes.size();
  TORCH_CHECK(n == 4 || n == 5,
              "channels_last needs a tensor of 4 (or 5, channels_last_3d) dimensions, got ", n);

  DimVector strides(n);
  strides[1] = 1;
  int64_t stride = std::max<int64_t>(sizes[1], 1);
  for (size_t i = n; i-- > 2;) {
    strides[i] = stride;
    stride = slower_stride(stride, sizes[i], sizes);
  }
  strides[0] = stride;
  return strides;
}

}  // namespace c10
