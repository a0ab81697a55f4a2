// Running sums and products along a dimension.
#include "aten/native/declarations/cpu/reduction/ScanKernel.isa.h"
#include "aten/Dispatch.h"
#include <algorithm>

#include "aten/iteration/BlockCopy.h"
#include "aten/iteration/Lanes.h"
#include "aten/native/functors/Modular.h"
#include "aten/native/functors/RunningType.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// The lanes that are scanned together: constant for lanes whose elements are contiguous, so that
/// their running results stay in registers.
constexpr int64_t kRows = 32;
constexpr int64_t kColumns = 256;
constexpr int64_t kStep = 64;  // elements of kRows lanes that are transposed at once

/// Scans n elements of `width` lanes that are neighbours in memory; an element of a lane follows
/// its predecessor after in_step and out_step elements.
template <typename T, typename Acc, typename Op>
void scan_neighbours(T* out, int64_t out_step, const T* in, int64_t in_step, Acc* running,
                     int64_t n, int64_t width, const Op& op) {
  if (width == kRows) {
    Acc local[kRows];
    for (int64_t w = 0; w < kRows; ++w) local[w] = running[w];
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t w = 0; w < kRows; ++w)
        local[w] = op(local[w], static_cast<Acc>(in[i * in_step + w]));
      for (int64_t w = 0; w < kRows; ++w) out[i * out_step + w] = static_cast<T>(local[w]);
    }
    for (int64_t w = 0; w < kRows; ++w) running[w] = local[w];
    return;
  }

  for (int64_t i = 0; i < n; ++i) {
#pragma GCC ivdep
    for (int64_t w = 0; w < width; ++w) {
      running[w] = op(running[w], static_cast<Acc>(in[i * in_step + w]));
      out[i * out_step + w] = static_cast<T>(running[w]);
    }
  }
}

/// One lane after another.
template <typename T, typename Acc, typename Op>
void scan_lane(T* out, int64_t out_stride, const T* in, int64_t in_stride, int64_t n, Acc start,
               const Op& op) {
  Acc running = start;
  for (int64_t i = 0; i < n; ++i) {
    running = op(running, static_cast<Acc>(in[i * in_stride]));
    out[i * out_stride] = static_cast<T>(running);
  }
}

/// A group of lanes, whose elements are transposed to a buffer where lanes are not neighbours.
template <typename T, typename Acc, typename Op>
void scan_group(const BlockSide& out, const BlockSide& in, int64_t n, int64_t width, Acc start,
                const Op& op) {
  constexpr int64_t kSize = sizeof(T);
  Acc running[kColumns];
  std::fill_n(running, width, start);
  if (out.step0 == kSize && in.step0 == kSize)
    return scan_neighbours(reinterpret_cast<T*>(out.data), out.step1 / kSize,
                           reinterpret_cast<const T*>(in.data), in.step1 / kSize, running, n, width,
                           op);

  alignas(64) T buffer[kStep * kRows];
  const BlockSide staged = {reinterpret_cast<char*>(buffer), kSize, width * kSize};
  for (int64_t first = 0; first < n; first += kStep) {
    const int64_t count = std::min(kStep, n - first);
    copy_block(staged, {in.data + first * in.step1, in.step0, in.step1}, kSize, width, count,
               false);
    scan_neighbours(buffer, width, buffer, width, running, count, width, op);
    copy_block({out.data + first * out.step1, out.step0, out.step1}, staged, kSize, width, count,
               false);
  }
}

/// The running results of op along `dim`, accumulated in Acc from `start`.
template <typename T, typename Acc, typename Op>
void scan_lanes(const Tensor& self, int64_t dim, const Tensor& out, Acc start, const Op& op) {
  constexpr int64_t kSize = sizeof(T);
  constexpr int64_t kFew = 8;  // lanes that are faster alone
  const Tensor source = self.to(out.scalar_type());
  const int64_t n = lane_size(out, dim);
  const int64_t in_stride = lane_stride(source, dim);
  const int64_t out_stride = lane_stride(out, dim);

  const auto group = [&](char* const* data, int64_t width, const int64_t* steps) {
    if (width >= kFew && n >= kFew)
      return scan_group<T>({data[0], steps[0], out_stride * kSize},
                           {data[1], steps[1], in_stride * kSize}, n, width, start, op);
    for (int64_t w = 0; w < width; ++w)
      scan_lane(reinterpret_cast<T*>(data[0] + w * steps[0]), out_stride,
                reinterpret_cast<const T*>(data[1] + w * steps[1]), in_stride, n, start, op);
  };

  const bool neighbours = out.dim() > 1 && dim != out.dim() - 1 && out.strides().back() == 1 &&
                          source.strides().back() == 1;
  LaneIterator(dim, {&out, &source}).for_each_group(n, neighbours ? kColumns : kRows, group);
}

}  // namespace

void cumsum_kernel(const Tensor& self, int64_t dim, std::optional<ScalarType> /*dtype*/,
                   const Tensor& out0) {
  const ScalarType type = out0.scalar_type();
  const int64_t d = wrap_dim(dim, self.dim());
  if (out0.numel() == 0) return;

  if (is_integral(type, false)) {
    return dispatch_modular(type, [&]<typename T>() {
      scan_lanes<T, T>(self, d, out0, 0, [](T a, T b) { return static_cast<T>(a + b); });
    });
  }

  AT_DISPATCH_FLOATING_AND_COMPLEX(type, "cumsum", [&] {
    using acc_t = typename RunningType<scalar_t>::type;
    scan_lanes<scalar_t, acc_t>(self, d, out0, acc_t(0), [](acc_t a, acc_t b) { return a + b; });
  });
}

void cumprod_kernel(const Tensor& self, int64_t dim, std::optional<ScalarType> /*dtype*/,
                    const Tensor& out0) {
  const ScalarType type = out0.scalar_type();
  const int64_t d = wrap_dim(dim, self.dim());
  if (out0.numel() == 0) return;

  if (is_integral(type, false)) {
    return dispatch_modular(type, [&]<typename T>() {
      scan_lanes<T, T>(self, d, out0, 1, [](T a, T b) { return multiply_modular<T>(a, b); });
    });
  }

  AT_DISPATCH_FLOATING_AND_COMPLEX(type, "cumprod", [&] {
    using acc_t = typename RunningType<scalar_t>::type;
    scan_lanes<scalar_t, acc_t>(self, d, out0, acc_t(1), [](acc_t a, acc_t b) { return a * b; });
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
