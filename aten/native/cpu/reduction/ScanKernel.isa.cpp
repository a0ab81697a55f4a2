// Running sums, products and extrema along a dimension. Compiled with -O3.
#include "aten/native/declarations/cpu/reduction/ScanKernel.isa.h"
#include "aten/Dispatch.h"
#include <algorithm>

#include "aten/iteration/BlockCopy.h"
#include "aten/iteration/Lanes.h"
#include "aten/native/cpu/reduction/RowScan.h"
#include "aten/native/functors/Modular.h"
#include "aten/native/functors/RunningType.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

struct Plus {
  template <typename T>
  T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b);
  }
};

/// Integers wrap around.
struct Times {
  template <typename T>
  T operator()(const T& a, const T& b) const {
    if constexpr (std::is_integral_v<T>) return multiply_modular<T>(a, b);
    return static_cast<T>(a * b);
  }
};

/// The lanes that are scanned together: constant for lanes whose elements are contiguous, so that
/// their running results stay in registers.
constexpr int64_t kRows = 32;
constexpr int64_t kColumns = 256;
constexpr int64_t kFew = 8;    // lanes that are faster alone
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

/// Lanes of contiguous elements that a register can hold: rows, several at once.
template <typename T, typename Acc, typename Op>
void scan_contiguous(T* out, int64_t out_step, const T* in, int64_t in_step, int64_t n,
                     int64_t width, Acc start, const Op& op) {
  int64_t w = 0;
  for (; w + kScanRows <= width; w += kScanRows)
    scan_rows(out + w * out_step, out_step, in + w * in_step, in_step, n, start, op);
  for (; w < width; ++w) scan_lane(out + w * out_step, 1, in + w * in_step, 1, n, start, op);
}

/// The running results of op along `dim`, accumulated in Acc from `start`.
template <typename T, typename Acc, typename Op>
void scan_lanes(const Tensor& self, int64_t dim, const Tensor& out, Acc start, const Op& op) {
  constexpr int64_t kSize = sizeof(T);
  constexpr bool kInVectors = std::is_arithmetic_v<T> && sizeof(T) >= 4;
  const Tensor source = self.to(out.scalar_type());
  const int64_t n = lane_size(out, dim);
  const int64_t in_stride = lane_stride(source, dim);
  const int64_t out_stride = lane_stride(out, dim);

  const auto group = [&](char* const* data, int64_t width, const int64_t* steps) {
    if constexpr (kInVectors) {
      if (in_stride == 1 && out_stride == 1)
        return scan_contiguous(reinterpret_cast<T*>(data[0]), steps[0] / kSize,
                               reinterpret_cast<const T*>(data[1]), steps[1] / kSize, n, width,
                               start, op);
    }

    if (width >= kFew && n >= kFew)
      return scan_group<T>({data[0], steps[0], out_stride * kSize},
                           {data[1], steps[1], in_stride * kSize}, n, width, start, op);
    for (int64_t w = 0; w < width; ++w)
      scan_lane(reinterpret_cast<T*>(data[0] + w * steps[0]), out_stride,
                reinterpret_cast<const T*>(data[1] + w * steps[1]), in_stride, n, start, op);
  };

  const LaneIterator lanes(dim, {&out, &source});
  const bool neighbours = lanes.step(0) == kSize && lanes.step(1) == kSize;
  lanes.for_each_group(n, neighbours ? kColumns : kRows, group);
}

/// Whether `value` replaces `best`: if it is at least as extreme or nan. A number never replaces a
/// nan.
template <typename T, bool kMax>
bool replaces(T value, T best) {
  return (value != value) | (kMax ? value >= best : value <= best);
}

/// One lane; the strides are elements.
template <typename T, bool kMax>
void run_extremum_along(const T* in, int64_t in_stride, T* values, int64_t value_stride,
                        int64_t* indices, int64_t index_stride, int64_t n) {
  T best = in[0];
  int64_t place = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (replaces<T, kMax>(in[i * in_stride], best)) {
      best = in[i * in_stride];
      place = i;
    }
    values[i * value_stride] = best;
    indices[i * index_stride] = place;
  }
}

/// The best elements so far of at most kColumns lanes.
template <typename T>
struct RunningExtrema {
  T best[kColumns];
  int64_t place[kColumns];
};

/// `width` lanes that are neighbours in memory. The steps are elements from one of a lane to the
/// next.
template <typename T, bool kMax>
void run_extremum_across(const T* in, int64_t in_step, T* values, int64_t value_step,
                         int64_t* indices, int64_t index_step, int64_t n, int64_t width,
                         RunningExtrema<T>& running) {
  for (int64_t i = 0; i < n; ++i) {
    const T* source = in + i * in_step;
    T* value = values + i * value_step;
    int64_t* index = indices + i * index_step;
#pragma GCC ivdep
    for (int64_t w = 0; w < width; ++w) {
      const bool replaced = replaces<T, kMax>(source[w], running.best[w]);
      running.best[w] = replaced ? source[w] : running.best[w];
      running.place[w] = replaced ? i : running.place[w];
      value[w] = running.best[w];
      index[w] = running.place[w];
    }
  }
}

/// The same for lanes of at most kStep elements anywhere in memory, which are transposed to
/// buffers. Dimension 0 of the sides goes from lane to lane, dimension 1 along a lane.
template <typename T, bool kMax>
void run_extremum_staged(const BlockSide& in, const BlockSide& values, const BlockSide& indices,
                         int64_t n, int64_t width, RunningExtrema<T>& running) {
  constexpr int64_t kSize = sizeof(T);
  constexpr int64_t kIndexSize = sizeof(int64_t);
  alignas(64) T elements[kStep * kRows];
  alignas(64) int64_t places[kStep * kRows];
  const BlockSide staged = {reinterpret_cast<char*>(elements), kSize, kRows * kSize};
  const BlockSide staged_places = {reinterpret_cast<char*>(places), kIndexSize, kRows * kIndexSize};

  copy_block(staged, in, kSize, width, n, false);
  run_extremum_across<T, kMax>(elements, kRows, elements, kRows, places, kRows, n, width, running);
  copy_block(values, staged, kSize, width, n, false);
  copy_block(indices, staged_places, kIndexSize, width, n, false);
}

template <bool kMax>
void run_extremum(const char* name, const Tensor& self, int64_t dim, const Tensor& values,
                  const Tensor& indices) {
  if (self.numel() == 0) return;

  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t n = lane_size(self, d);
  LaneIterator lanes(d, {&self, &values, &indices});

  AT_DISPATCH_REAL_AND_BOOL(self.scalar_type(), name, [&] {
    constexpr int64_t kSize = sizeof(scalar_t);
    constexpr int64_t kIndexSize = sizeof(int64_t);
    const bool neighbours =
        lanes.step(0) == kSize && lanes.step(1) == kSize && lanes.step(2) == kIndexSize;
    if (!neighbours) lanes.group_along_longest();

    const int64_t in_stride = lane_stride(self, d);
    const int64_t value_stride = lane_stride(values, d);
    const int64_t index_stride = lane_stride(indices, d);

    const auto group = [&](char* const* data, int64_t width, const int64_t* steps) {
      const auto in = [&](int64_t w) {
        return reinterpret_cast<const scalar_t*>(data[0] + w * steps[0]);
      };
      const auto value = [&](int64_t w) {
        return reinterpret_cast<scalar_t*>(data[1] + w * steps[1]);
      };
      const auto index = [&](int64_t w) {
        return reinterpret_cast<int64_t*>(data[2] + w * steps[2]);
      };

      // Long lanes are fast one by one, as better elements become rare.
      if (width < kFew || (!neighbours && n > kStep)) {
        for (int64_t w = 0; w < width; ++w)
          run_extremum_along<scalar_t, kMax>(in(w), in_stride, value(w), value_stride, index(w),
                                             index_stride, n);
        return;
      }

      RunningExtrema<scalar_t> running;
      for (int64_t w = 0; w < width; ++w) {
        running.best[w] = *in(w);
        running.place[w] = 0;
      }

      if (neighbours) {
        run_extremum_across<scalar_t, kMax>(in(0), in_stride, value(0), value_stride, index(0),
                                            index_stride, n, width, running);
      } else {
        run_extremum_staged<scalar_t, kMax>(
            {data[0], steps[0], in_stride * kSize}, {data[1], steps[1], value_stride * kSize},
            {data[2], steps[2], index_stride * kIndexSize}, n, width, running);
      }
    };

    lanes.for_each_group(n, neighbours ? kColumns : kRows, group);
  });
}

}  // namespace

void cummax_kernel(const Tensor& self, int64_t dim, const Tensor& out0, const Tensor& out1) {
  run_extremum<true>("cummax", self, dim, out0, out1);
}

void cummin_kernel(const Tensor& self, int64_t dim, const Tensor& out0, const Tensor& out1) {
  run_extremum<false>("cummin", self, dim, out0, out1);
}

void cumsum_kernel(const Tensor& self, int64_t dim, std::optional<ScalarType> /*dtype*/,
                   const Tensor& out0) {
  const ScalarType type = out0.scalar_type();
  const int64_t d = wrap_dim(dim, self.dim());
  if (out0.numel() == 0) return;

  if (is_integral(type, false)) {
    return dispatch_modular(type,
                            [&]<typename T>() { scan_lanes<T, T>(self, d, out0, 0, Plus()); });
  }

  AT_DISPATCH_FLOATING_AND_COMPLEX(type, "cumsum", [&] {
    using acc_t = typename RunningType<scalar_t>::type;
    scan_lanes<scalar_t, acc_t>(self, d, out0, acc_t(0), Plus());
  });
}

void cumprod_kernel(const Tensor& self, int64_t dim, std::optional<ScalarType> /*dtype*/,
                    const Tensor& out0) {
  const ScalarType type = out0.scalar_type();
  const int64_t d = wrap_dim(dim, self.dim());
  if (out0.numel() == 0) return;

  if (is_integral(type, false)) {
    return dispatch_modular(type,
                            [&]<typename T>() { scan_lanes<T, T>(self, d, out0, 1, Times()); });
  }

  AT_DISPATCH_FLOATING_AND_COMPLEX(type, "cumprod", [&] {
    using acc_t = typename RunningType<scalar_t>::type;
    scan_lanes<scalar_t, acc_t>(self, d, out0, acc_t(1), Times());
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
