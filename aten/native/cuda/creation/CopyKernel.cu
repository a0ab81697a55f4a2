// Copies on a device and between devices, and fills with one value.
#include "aten/iteration/TensorIterator.h"
#include "aten/native/cuda/Elementwise.cuh"
#include "aten/native/cuda/creation/Conversions.h"
#include "aten/native/functors/Copy.h"
#include "aten/native/shared/CopyChecks.h"
#include "aten/native/shared/NumberBits.h"
#include "c10/core/DeviceHooks.h"
#include "c10/core/ScalarChecks.h"

namespace at::native::cuda {

namespace {

/// Copies elements of one dtype to those of another one that has no stopover.
void convert_elements(const LaunchPlan& plan, ScalarType to, ScalarType from) {
  const auto run = [&](auto functor) { elementwise(plan, functor); };
  if (is_storage_only(to) || is_storage_only(from)) return with_storage_conversion(to, from, run);

  // The bytes of bools are numbers.
  if (from == kBool)
    return to == kByte ? run(CopyBits<uint8_t>()) : convert_elements(plan, to, kByte);
  is_integral(to, true) ? convert_to_integers(plan, to, from) : convert_to_floats(plan, to, from);
}

void copy_on_device(const Tensor& self, const Tensor& src) {
  const ScalarType to = self.scalar_type();
  const ScalarType from = src.scalar_type();
  const ScalarType stop = stopover(to, from);
  if (stop != to) {
    const Tensor wide = empty_tensor(src.sizes(), stop, src.device());
    wide.copy_(src);
    self.copy_(wide);
    return;
  }

  const LaunchPlan plan = launch_plan(TensorIterator::over("copy_", {&self, &src}));
  if (to != from) return convert_elements(plan, to, from);
  with_copy(to, [&](auto functor) { elementwise(plan, functor); });
}

/// Whether the elements are the same bytes in the same order.
bool have_same_layout(const Tensor& a, const Tensor& b) {
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) return false;
  if (a.is_contiguous() && b.is_contiguous()) return true;
  return a.strides() == b.strides() && a.is_non_overlapping_and_dense();
}

/// Memory for what is to become the elements of `like`, on another device: dense, and in the order
/// of `like` if that is dense too.
Tensor dense_like(const Tensor& like, Device device) {
  if (!like.is_non_overlapping_and_dense())
    return empty_tensor(like.sizes(), like.scalar_type(), device);
  return empty_strided_tensor(like.sizes(), like.strides(), like.scalar_type(), device);
}

void copy_bytes(const Tensor& self, const Tensor& src, bool non_blocking) {
  if (self.numel() == 0) return;
  const auto bytes = static_cast<size_t>(self.numel()) * self.itemsize();
  c10::device_hooks(c10::DeviceType::CUDA)
      .copy_bytes(self.data(), self.device(), src.data(), src.device(), bytes, non_blocking);
}

/// Between the host and a device, or two devices. Bytes travel as they are; converting and
/// reordering is left to a device, on the way out or after the arrival. Only memory of the caller
/// may be read or written later than this call.
void copy_between_devices(const Tensor& self, const Tensor& src, bool non_blocking) {
  if (self.sizes() != src.sizes()) {  // broadcast after the arrival
    const Tensor arrived = dense_like(src, self.device());
    arrived.copy_(src);
    self.copy_(arrived);
  } else if (have_same_layout(self, src)) {
    copy_bytes(self, src, non_blocking);
  } else if (src.is_cpu()) {
    const Tensor dense = src.is_non_overlapping_and_dense() ? src : src.contiguous();
    const Tensor arrived = dense_like(dense, self.device());
    copy_bytes(arrived, dense, non_blocking && dense.is_same(src));
    self.copy_(arrived);
  } else {
    const Tensor converted = dense_like(self, src.device());
    converted.copy_(src);
    if (have_same_layout(self, converted)) return copy_bytes(self, converted, non_blocking);

    const Tensor arrived = dense_like(converted, self.device());
    copy_bytes(arrived, converted, false);
    self.copy_(arrived);
  }
}

}  // namespace

void copy_kernel(const Tensor& self, const Tensor& src, bool non_blocking) {
  if (self.is_same(src)) return;
  if (needs_clone_to_copy(self, src)) return copy_kernel(self, src.clone(), non_blocking);

  if (self.device() == src.device()) return copy_on_device(self, src);
  copy_between_devices(self, src, non_blocking);
}

void fill_kernel(const Tensor& self, const Scalar& value) {
  c10::check_representable(value, self.scalar_type());
  const Tensor target = has_internal_overlap(self) ? without_repetitions(self) : self;

  const LaunchPlan plan = launch_plan(TensorIterator::over("fill_", {&target}));
  with_bits_of(value, self.scalar_type(),
               [&](auto fill) { elementwise(plan, Constant<decltype(fill)>{fill}); });
}

void zero_kernel(const Tensor& self) {
  if (!self.is_contiguous()) return fill_kernel(self, Scalar(0));
  if (self.numel() == 0) return;
  C10_CUDA_CHECK(cudaMemsetAsync(self.data(), 0,
                                 static_cast<size_t>(self.numel()) * self.itemsize(),
                                 c10::cuda::current_stream()));
}

}  // namespace at::native::cuda
