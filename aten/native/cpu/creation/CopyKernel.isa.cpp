// Copies between tensors of the same or different dtypes, and fills with one value.
#include <cstring>

#include "aten/Dispatch.h"
#include "aten/iteration/Loops.h"
#include "aten/iteration/MemoryOverlap.h"
#include "aten/native/declarations/cpu/creation/CopyKernel.isa.h"
#include "aten/native/shared/NumberBits.h"
#include "aten/ops/narrow.h"
#include "c10/core/ScalarChecks.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

void copy_same_dtype(const TensorIteratorBase& iter) {
  switch (element_size(iter.dtype())) {
    case 1: return cpu_kernel(iter, [](uint8_t value) -> uint8_t { return value; });
    case 2: return cpu_kernel(iter, [](uint16_t value) -> uint16_t { return value; });
    case 4: return cpu_kernel(iter, [](uint32_t value) -> uint32_t { return value; });
    case 8: return cpu_kernel(iter, [](uint64_t value) -> uint64_t { return value; });
    default:
      return cpu_kernel(iter,
                        [](c10::complex<double> value) -> c10::complex<double> { return value; });
  }
}

/// Narrows expanded dimensions to one element, so that each memory location appears once: several
/// threads must not write to the same one.
Tensor without_repetitions(const Tensor& self) {
  Tensor target = self;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.strides()[d] == 0 && self.sizes()[d] > 1) target = at::narrow(target, d, 0, 1);
  }
  return target;
}

template <typename To>
void copy_converted(const TensorIteratorBase& iter) {
  AT_DISPATCH_ALL_AND_BOOL(iter.dtype(1), "copy_", [&] {
    cpu_kernel(iter, [](scalar_t value) -> To { return convert<To>(value); });
  });
}

template <typename To, typename From>
void copy_as(const Tensor& self, const Tensor& src) {
  cpu_kernel(TensorIterator::over("copy_", {&self, &src}),
             [](From value) -> To { return convert<To>(value); });
}

/// The dtype that a storage-only dtype is converted through on the way to or from `other`. It loses
/// nothing that the result can hold: uint64 needs more than int64 only when it is converted to or
/// from a floating-point number.
ScalarType intermediate_type(ScalarType stored, ScalarType other) {
  if (is_float8(stored)) return kFloat;
  if (stored == kComplexHalf) return kComplexFloat;
  if (stored != kUInt64 || is_integral(other, true)) return kLong;
  return to_real(other) == kDouble ? kDouble : kFloat;
}

/// Calls f(element) with an element of `type`, one of the storage-only dtypes.
template <typename F>
void with_storage_type(ScalarType type, const F& f) {
  switch (type) {
    case kUInt16: return f(uint16_t());
    case kUInt32: return f(uint32_t());
    case kUInt64: return f(uint64_t());
    case kFloat8_e4m3fn: return f(c10::Float8_e4m3fn());
    case kFloat8_e5m2: return f(c10::Float8_e5m2());
    case kFloat8_e4m3fnuz: return f(c10::Float8_e4m3fnuz());
    case kFloat8_e5m2fnuz: return f(c10::Float8_e5m2fnuz());
    case kFloat8_e8m0fnu: return f(c10::Float8_e8m0fnu());
    case kComplexHalf: return f(c10::complex<Half>());
    default: throw_not_implemented("copy_", type);
  }
}

/// Copies between a storage-only dtype and the dtype it is converted through.
template <bool kLoads, typename Stored>
void copy_one_way(const Tensor& self, const Tensor& src, ScalarType intermediate) {
  const auto copy = [&]<typename Wide>() {
    if constexpr (kLoads) {
      copy_as<Wide, Stored>(self, src);
    } else {
      copy_as<Stored, Wide>(self, src);
    }
  };

  constexpr ScalarType type = scalar_type_of<Stored>;
  if constexpr (is_float8(type)) {
    copy.template operator()<float>();
  } else if constexpr (type == kComplexHalf) {
    copy.template operator()<c10::complex<float>>();
  } else if constexpr (type == kUInt64) {
    intermediate == kLong     ? copy.template operator()<int64_t>()
    : intermediate == kDouble ? copy.template operator()<double>()
                              : copy.template operator()<float>();
  } else {
    copy.template operator()<int64_t>();
  }
}

void copy_with_storage_types(const Tensor& self, const Tensor& src) {
  const bool loads = is_storage_only(src.scalar_type());
  const ScalarType stored = loads ? src.scalar_type() : self.scalar_type();
  const ScalarType other = loads ? self.scalar_type() : src.scalar_type();
  const ScalarType intermediate = intermediate_type(stored, other);

  if (other != intermediate) {
    const Tensor wide = empty_tensor(src.sizes(), intermediate, kCPU);
    wide.copy_(src);
    self.copy_(wide);
    return;
  }

  with_storage_type(stored, [&](auto element) {
    using Stored = decltype(element);
    loads ? copy_one_way<true, Stored>(self, src, intermediate)
          : copy_one_way<false, Stored>(self, src, intermediate);
  });
}

}  // namespace

void copy_kernel(const Tensor& self, const Tensor& src,
                 bool /*non_blocking: the CPU has no queue*/) {
  if (self.is_same(src)) return;

  TORCH_CHECK_NOT_IMPLEMENTED(!src.is_meta(), "Cannot copy out of meta tensor; no data!");
  TORCH_CHECK(src.is_cpu(), "copy_: no copy from ", src.device(), " to ", self.device(),
              " in this build");
  TORCH_CHECK(broadcast_sizes(self.sizes(), src.sizes()) == DimVector(self.sizes()),
              "output with shape ", self.sizes(), " doesn't match the broadcast shape ",
              broadcast_sizes(self.sizes(), src.sizes()), " in copy_");
  check_no_internal_overlap("copy_", self);
  const Overlap overlap = memory_overlap(self, src);
  if (overlap == Overlap::Partial) check_no_partial_overlap("copy_", self, src);
  if (overlap == Overlap::Strided) return copy_kernel(self, src.clone(), false);

  // Small contiguous tensors need no iterator.
  const bool same = self.scalar_type() == src.scalar_type();
  if (same && self.is_contiguous() && src.is_contiguous() && self.numel() == src.numel() &&
      self.numel() <= TensorIterator::kGrain) {
    if (self.numel() > 0) std::memmove(self.data(), src.data(), self.numel() * self.itemsize());
    return;
  }

  if (!same && (is_storage_only(self.scalar_type()) || is_storage_only(src.scalar_type())))
    return copy_with_storage_types(self, src);

  const TensorIterator iter = TensorIterator::over("copy_", {&self, &src});
  if (same) return copy_same_dtype(iter);
  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), "copy_", [&] { copy_converted<scalar_t>(iter); });
}

void fill_kernel(const Tensor& self, const Scalar& value) {
  c10::check_representable(value, self.scalar_type());
  const Tensor target = has_internal_overlap(self) ? without_repetitions(self) : self;

  const TensorIterator iter = TensorIterator::over("fill_", {&target});
  with_bits_of(value, self.scalar_type(),
               [&](auto fill) { cpu_kernel(iter, [fill]() -> decltype(fill) { return fill; }); });
}

void zero_kernel(const Tensor& self) {
  if (self.is_contiguous() && self.numel() <= TensorIterator::kGrain) {
    if (self.numel() > 0) std::memset(self.data(), 0, self.numel() * self.itemsize());
    return;
  }
  fill_kernel(self, Scalar(0));
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
