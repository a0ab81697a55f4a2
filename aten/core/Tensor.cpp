// Creation, resizing and type promotion of tensors without a dispatched call.
#include "aten/core/Tensor.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "aten/core/Allocation.h"
#include "aten/core/NumberTensor.h"
#include "aten/core/ReplacedMemory.h"
#include "aten/core/Warning.h"
#include "c10/core/AbsentDevice.h"
#include "c10/core/DeviceHooks.h"
#include "c10/dispatch/OperatorEntry.h"

namespace at {

namespace {

std::atomic<AllocationHook> allocation_hook{nullptr};

/// See Note [Allocations seen by modes].
C10_NOINLINE Tensor seen_allocation(IntArrayRef sizes, const IntArrayRef* strides, ScalarType dtype,
                                    Device device) {
  const AllocationHook hook = allocation_hook.load(std::memory_order_relaxed);
  return hook == nullptr ? Tensor() : hook(sizes, strides, dtype, device);
}

/// Whether calls of this thread go to Python, where somebody may want to see allocations.
bool calls_go_to_python() { return c10::effective_keys({}).has(DispatchKey::Python); }

void check_sizes(IntArrayRef sizes) {
  for (const int64_t size : sizes) {
    TORCH_CHECK(size >= 0, "Trying to create tensor with negative dimension ", size, ": ", sizes);
  }
}

/// The number of elements from the first to the last, inclusive; 0 for an empty tensor.
int64_t storage_extent(IntArrayRef sizes, IntArrayRef strides) {
  int64_t extent = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    int64_t step = 0;
    TORCH_CHECK(!__builtin_mul_overflow(sizes[i] - 1, strides[i], &step) &&
                    !__builtin_add_overflow(extent, step, &extent),
                "Storage size calculation overflowed with sizes=", sizes, " and strides=", strides);
  }
  return extent;
}

size_t storage_bytes(int64_t elements, ScalarType dtype) {
  int64_t bytes = 0;
  TORCH_CHECK(!__builtin_mul_overflow(elements, static_cast<int64_t>(element_size(dtype)), &bytes),
              "Storage size calculation overflowed: ", elements, " elements of ", dtype);
  return static_cast<size_t>(bytes);
}

intrusive_ptr<TensorImpl> make_impl(size_t bytes, ScalarType dtype, Device device) {
  if (C10_LIKELY(device == kCPU)) return make_cpu_tensor(bytes, dtype);

  // Devices that are only named have no backend.
  device = resolved(device);
  if (C10_UNLIKELY(static_cast<int>(device.type) >= kNumDeviceTypes))
    throw AbsentDeviceError(device);

  const DispatchKeySet keys(dense_backend_key(device.type));
  return make_intrusive<TensorImpl>(make_storage(bytes, device), dtype, device, keys);
}

// The kind of each dtype: bool < integer < float < complex.
constexpr auto kKinds = [] {
  std::array<uint8_t, c10::kNumScalarTypes> kinds{};
  for (size_t k = 0; k < kinds.size(); ++k) {
    const auto type = static_cast<ScalarType>(k);
    kinds[k] = type == kBool ? 0 : is_integral(type, false) ? 1 : is_floating(type) ? 2 : 3;
  }
  return kinds;
}();

int kind_of(ScalarType t) { return kKinds[static_cast<size_t>(t)]; }

/// The dtype that a number promotes as: the default dtype for a float, its complex partner for a
/// complex number, int64 for an int however large.
ScalarType wrapped_type(ScalarType t) {
  if (t == kUInt64) return kLong;
  return t == kDouble ? default_dtype() : t == kComplexDouble ? to_complex(default_dtype()) : t;
}

/// The dtypes of operands by class: tensors with dimensions, 0-dim tensors, wrapped numbers. A
/// lower class takes part only if its kind (bool < integer < float < complex) is above that of the
/// classes before it.
class Promoted {
 public:
  void add(const Tensor& tensor) {
    const bool wrapped = tensor.is_wrapped_number();
    const int level = wrapped ? 2 : tensor.dim() == 0 ? 1 : 0;
    const ScalarType type = wrapped ? wrapped_type(tensor.scalar_type()) : tensor.scalar_type();
    types_[level] =
        types_[level] == ScalarType::Undefined ? type : promote_types(types_[level], type);
  }

  ScalarType result() const {
    ScalarType result = types_[0];
    for (const ScalarType type : {types_[1], types_[2]}) {
      if (type == ScalarType::Undefined) continue;
      if (result == ScalarType::Undefined) {
        result = type;
      } else if (kind_of(type) > kind_of(result)) {
        result = of_higher_kind(result, type);
      }
    }
    return result;
  }

 private:
  /// A float keeps its width: float32 with a 0-dim complex128 makes complex64.
  static ScalarType of_higher_kind(ScalarType type, ScalarType higher) {
    TORCH_CHECK(!is_float8(type), "Unknown Complex ScalarType for ", type);
    if (is_floating(type)) return to_complex(type);
    return type != kBool && is_complex(higher) ? higher : promote_types(type, higher);
  }

  ScalarType types_[3] = {ScalarType::Undefined, ScalarType::Undefined, ScalarType::Undefined};
};

}  // namespace

void set_allocation_hook(AllocationHook hook) { allocation_hook = hook; }

Tensor empty_real_tensor(IntArrayRef sizes, ScalarType dtype, Device device) {
  int64_t numel = 1;
  for (const int64_t size : sizes) {
    if (__builtin_expect(size < 0, false)) check_sizes(sizes);
    TORCH_CHECK(!__builtin_mul_overflow(numel, size, &numel),
                "Storage size calculation overflowed with sizes=", sizes);
  }

  auto impl = make_impl(storage_bytes(numel, dtype), dtype, device);
  impl->set_sizes_contiguous(sizes);
  return Tensor(std::move(impl));
}

Tensor empty_tensor(IntArrayRef sizes, ScalarType dtype, Device device) {
  if (C10_UNLIKELY(calls_go_to_python())) {
    Tensor seen = seen_allocation(sizes, nullptr, dtype, device);
    if (seen.defined()) return seen;
  }
  return empty_real_tensor(sizes, dtype, device);
}

Tensor empty_strided_tensor(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype,
                            Device device) {
  if (C10_UNLIKELY(calls_go_to_python())) {
    Tensor seen = seen_allocation(sizes, &strides, dtype, device);
    if (seen.defined()) return seen;
  }

  TORCH_CHECK(sizes.size() == strides.size(), "mismatch in length of strides and shape: sizes ",
              sizes, ", strides ", strides);
  check_sizes(sizes);
  for (const int64_t stride : strides)
    TORCH_CHECK(stride >= 0, "Negative strides are not supported, got strides ", strides);

  const size_t bytes = storage_bytes(storage_extent(sizes, strides), dtype);
  auto impl = make_impl(bytes, dtype, device);
  impl->set_sizes_and_strides(sizes, strides);
  return Tensor(std::move(impl));
}

Tensor empty_from_spec(const TensorSpec& spec) {
  return spec.strides.empty()
             ? empty_tensor(spec.sizes, spec.dtype, spec.device)
             : empty_strided_tensor(spec.sizes, spec.strides, spec.dtype, spec.device);
}

DimVector strides_in_order_of(const Tensor& tensor) {
  SmallVector<int64_t, 6> order;
  for (int64_t d = tensor.dim() - 1; d >= 0; --d) order.push_back(d);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const int64_t stride_a = tensor.strides()[a];
    const int64_t stride_b = tensor.strides()[b];
    // Expanded dimensions (stride 0) stay where they are.
    return stride_a != 0 && stride_b != 0 && stride_a < stride_b;
  });

  DimVector strides(tensor.dim());
  int64_t stride = 1;
  for (const int64_t d : order) {
    strides[d] = stride;
    // Strides of an empty tensor may overflow; they address nothing.
    if (__builtin_mul_overflow(stride, std::max<int64_t>(tensor.sizes()[d], 1), &stride))
      stride = 1;
  }

  return strides;
}

Tensor wrapped_scalar(const Scalar& value) { return NumberTensor(value).release(); }

void resize_tensor(const Tensor& tensor, IntArrayRef sizes) {
  TensorImpl* impl = tensor.unsafe_impl();
  if (impl->sizes() == sizes) return;
  check_sizes(sizes);

  int64_t numel = 1;
  for (const int64_t size : sizes) {
    TORCH_CHECK(!__builtin_mul_overflow(numel, size, &numel),
                "Storage size calculation overflowed with sizes=", sizes);
  }

  const size_t bytes = storage_bytes(numel + impl->storage_offset(), impl->dtype());
  StorageImpl& storage = *impl->storage();
  if (bytes > storage.nbytes) release_replaced_memory(storage.resize(bytes));

  impl->set_sizes_contiguous(sizes);
}

void resize_output(const Tensor& out, IntArrayRef sizes) {
  if (out.sizes() == sizes) return;
  if (out.numel() != 0) {
    warn("An output with one or more elements was resized since it had shape ", out.sizes(),
         ", which does not match the required output shape ", sizes,
         ". This behavior is deprecated: resize the out tensor with out.resize_(0) before the "
         "call.");
  }
  resize_tensor(out, sizes);
}

int64_t wrap_dim(int64_t dim, int64_t ndim) {
  const int64_t range = ndim == 0 ? 1 : ndim;
  TORCH_CHECK_INDEX(dim >= -range && dim < range,
                    "Dimension out of range (expected to be in range of [", -range, ", ", range - 1,
                    "], but got ", dim, ")");
  return dim < 0 ? dim + range : dim;
}

DimVector broadcast_sizes(IntArrayRef a, IntArrayRef b) {
  const size_t n = std::max(a.size(), b.size());
  DimVector result(n);
  for (size_t i = 0; i < n; ++i) {  // i counts from the last dimension
    const int64_t size_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t size_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    TORCH_CHECK(size_a == size_b || size_a == 1 || size_b == 1, "The size of tensor a (", size_a,
                ") must match the size of tensor b (", size_b, ") at non-singleton dimension ",
                n - 1 - i);
    result[n - 1 - i] = size_a == 1 ? size_b : size_a;
  }

  return result;
}

ScalarType result_type(TensorList tensors) {
  Promoted types;
  for (const Tensor& tensor : tensors) {
    if (tensor.defined()) types.add(tensor);
  }
  return types.result();
}

/// Whether `number` is a number that leaves the dtype of `tensor` as it is.
bool is_number_below(const Tensor& number, const Tensor& tensor) {
  return number.is_wrapped_number() && !tensor.is_wrapped_number() &&
         kind_of(number.scalar_type()) <= kind_of(tensor.scalar_type());
}

ScalarType result_type(ArrayRef<const Tensor*> tensors) {
  if (tensors.size() == 2) {
    if (is_number_below(*tensors[1], *tensors[0])) return tensors[0]->scalar_type();
    if (is_number_below(*tensors[0], *tensors[1])) return tensors[1]->scalar_type();
  }

  Promoted types;
  for (const Tensor* tensor : tensors) types.add(*tensor);
  return types.result();
}

int64_t Tensor::size(int64_t dim) const { return sizes()[static_cast<size_t>(checked_dim(dim))]; }
int64_t Tensor::stride(int64_t dim) const {
  return strides()[static_cast<size_t>(checked_dim(dim))];
}

int64_t Tensor::checked_dim(int64_t dim) const {
  const int64_t ndim = this->dim();
  const int64_t wrapped = dim < 0 ? dim + ndim : dim;
  if (C10_LIKELY(wrapped >= 0 && wrapped < ndim)) return wrapped;

  TORCH_CHECK_INDEX(ndim > 0, "Dimension specified as ", dim, " but tensor has no dimensions");
  return wrap_dim(dim, ndim);
}

MemoryFormat Tensor::suggest_memory_format() const {
  if (is_contiguous()) return MemoryFormat::Contiguous;
  if (is_contiguous(MemoryFormat::ChannelsLast)) return MemoryFormat::ChannelsLast;
  return is_contiguous(MemoryFormat::ChannelsLast3d) ? MemoryFormat::ChannelsLast3d
                                                     : MemoryFormat::Contiguous;
}

}  // namespace at
