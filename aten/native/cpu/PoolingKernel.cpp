// Pooling over the planes (height, width) of a tensor; every plane is done by one thread.
#include <algorithm>
#include <limits>

#include "aten/Dispatch.h"
#include "aten/native/PoolingGeometry.h"
#include "aten/native/declarations/cpu/PoolingKernel.h"
#include "aten/ops/contiguous.h"
#include "aten/parallel/Parallel.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

struct Planes {
  int64_t count, in_height, in_width, out_height, out_width;
  int64_t in_size() const { return in_height * in_width; }
  int64_t out_size() const { return out_height * out_width; }
};

/// `large` is the input or its gradient, `small` the output or its gradient.
Planes planes_of(IntArrayRef large, IntArrayRef small) {
  const size_t n = large.size();
  Planes planes{1, large[n - 2], large[n - 1], small[n - 2], small[n - 1]};
  for (size_t d = 0; d + 2 < n; ++d) planes.count *= large[d];
  return planes;
}

/// Calls f(plane) for every plane; `work` is the cost of one, in elements.
template <typename F>
void for_each_plane(const Planes& planes, int64_t work, const F& f) {
  parallel_for(0, planes.count, std::max<int64_t>(1, kDefaultGrainSize / std::max<int64_t>(1, work)), [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) f(plane);
  });
}

/// The part of window `index` that lies inside: coordinates begin, begin + dilation, ... below end.
struct Window {
  int64_t begin, end;
};

Window dilated_window(const PoolingGeometry& g, int d, int64_t index, int64_t size) {
  int64_t begin = index * g.stride[d] - g.padding[d];
  const int64_t end = std::min(begin + (g.kernel[d] - 1) * g.dilation[d] + 1, size);
  while (begin < 0) begin += g.dilation[d];
  return {begin, end};
}

/// The largest element and its place; the first of equal ones, the last NaN as PyTorch has it.
template <typename scalar_t>
void max_pool_plane(const PoolingGeometry& g, const Planes& p, const scalar_t* in, scalar_t* out, int64_t* indices) {
  using value_t = opmath_type<scalar_t>;
  for (int64_t y = 0; y < p.out_height; ++y) {
    const Window rows = dilated_window(g, 0, y, p.in_height);
    for (int64_t x = 0; x < p.out_width; ++x) {
      const Window columns = dilated_window(g, 1, x, p.in_width);
      value_t best = -std::numeric_limits<value_t>::infinity();
      // Dilation can step over a small input; the place stays inside all the same.
      int64_t place = std::min(rows.begin * p.in_width + columns.begin, p.in_size() - 1);
      for (int64_t i = rows.begin; i < rows.end; i += g.dilation[0]) {
        for (int64_t j = columns.begin; j < columns.end; j += g.dilation[1]) {
          const value_t value = static_cast<value_t>(in[i * p.in_width + j]);
          const bool better = value > best || value != value;
          best = better ? value : best;
          place = better ? i * p.in_width + j : place;
        }
      }
      out[y * p.out_width + x] = static_cast<scalar_t>(best);
      indices[y * p.out_width + x] = place;
    }
  }
}

/// What one window of average pooling sums and divides by.
struct Average {
  Window rows, columns;
  int64_t divisor;
};

/// Sums are divided by divisor_override, by the elements inside, or by those of the padded input.
struct AverageRule {
  PoolingGeometry geometry;
  bool count_include_pad;
  int64_t divisor_override;  // 0: none

  Average window(const Planes& p, int64_t y, int64_t x) const {
    Average a{clipped(y, 0, p.in_height), clipped(x, 1, p.in_width), divisor_override};
    if (divisor_override != 0) return a;
    if (count_include_pad) {
      a.divisor = padded(y, 0, p.in_height) * padded(x, 1, p.in_width);
    } else {
      a.divisor = (a.rows.end - a.rows.begin) * (a.columns.end - a.columns.begin);
    }
    return a;
  }
  Window clipped(int64_t index, int d, int64_t size) const {
    const int64_t begin = index * geometry.stride[d] - geometry.padding[d];
    return {std::max<int64_t>(begin, 0), std::max<int64_t>(0, std::min(begin + geometry.kernel[d], size))};
  }
  int64_t padded(int64_t index, int d, int64_t size) const {
    const int64_t begin = index * geometry.stride[d] - geometry.padding[d];
    return std::min(begin + geometry.kernel[d], size + geometry.padding[d]) - begin;
  }
};

/// Windows from floor(i * in / out) to ceil((i + 1) * in / out).
struct AdaptiveRule {
  Average window(const Planes& p, int64_t y, int64_t x) const {
    const Window rows = along(y, p.in_height, p.out_height), columns = along(x, p.in_width, p.out_width);
    return {rows, columns, (rows.end - rows.begin) * (columns.end - columns.begin)};
  }
  static Window along(int64_t index, int64_t in, int64_t out) { return {index * in / out, ((index + 1) * in + out - 1) / out}; }
};

/// Sum of n elements in accumulators that make a vector.
template <typename scalar_t>
opmath_type<scalar_t> sum_run(const scalar_t* in, int64_t n) {
  constexpr int64_t kLanes = 16;
  opmath_type<scalar_t> lanes[kLanes] = {}, sum = 0;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t j = 0; j < kLanes; ++j) lanes[j] += static_cast<opmath_type<scalar_t>>(in[i + j]);
  }
  for (; i < n; ++i) sum += static_cast<opmath_type<scalar_t>>(in[i]);
  for (const auto lane : lanes) sum += lane;
  return sum;
}

template <typename scalar_t>
opmath_type<scalar_t> sum_window(const scalar_t* in, int64_t in_width, const Window& rows, const Window& columns) {
  const int64_t width = columns.end - columns.begin;
  const scalar_t* first = in + rows.begin * in_width + columns.begin;
  if (width == in_width) return sum_run(first, (rows.end - rows.begin) * width);
  opmath_type<scalar_t> sum = 0;
  for (int64_t i = rows.begin; i < rows.end; ++i, first += in_width) {
    for (int64_t j = 0; j < width; ++j) sum += static_cast<opmath_type<scalar_t>>(first[j]);
  }
  return sum;
}

template <typename scalar_t, typename Rule>
void avg_pool_plane(const Rule& rule, const Planes& p, const scalar_t* in, scalar_t* out) {
  using acc_t = opmath_type<scalar_t>;
  for (int64_t y = 0; y < p.out_height; ++y) {
    for (int64_t x = 0; x < p.out_width; ++x) {
      const Average a = rule.window(p, y, x);
      const bool empty = a.rows.begin >= a.rows.end || a.columns.begin >= a.columns.end;
      const acc_t sum = empty ? acc_t(0) : sum_window(in, p.in_width, a.rows, a.columns);
      out[y * p.out_width + x] = static_cast<scalar_t>(empty ? acc_t(0) : sum / static_cast<acc_t>(a.divisor));
    }
  }
}

template <typename scalar_t, typename Rule>
void avg_pool_plane_backward(const Rule& rule, const Planes& p, const scalar_t* grad, opmath_type<scalar_t>* out) {
  using acc_t = opmath_type<scalar_t>;
  for (int64_t y = 0; y < p.out_height; ++y) {
    for (int64_t x = 0; x < p.out_width; ++x) {
      const Average a = rule.window(p, y, x);
      if (a.rows.begin >= a.rows.end || a.columns.begin >= a.columns.end) continue;
      const acc_t share = static_cast<acc_t>(grad[y * p.out_width + x]) / static_cast<acc_t>(a.divisor);
      for (int64_t i = a.rows.begin; i < a.rows.end; ++i) {
        for (int64_t j = a.columns.begin; j < a.columns.end; ++j) out[i * p.in_width + j] += share;
      }
    }
  }
}

/// Calls f(plane, sums), where sums is a plane of zeros to add to, which then becomes a plane of `out`.
template <typename scalar_t, typename F>
void accumulate_planes(const Planes& p, const Tensor& out, const F& f) {
  using acc_t = opmath_type<scalar_t>;
  constexpr bool direct = std::is_same_v<scalar_t, acc_t>;
  scalar_t* target = out.data_ptr<scalar_t>();
  const int64_t size = p.in_size();
  parallel_for(0, p.count, std::max<int64_t>(1, kDefaultGrainSize / std::max<int64_t>(1, size)), [&](int64_t begin, int64_t end) {
    const Tensor buffer = direct ? Tensor() : empty_tensor({size}, scalar_type_of<acc_t>, kCPU);
    for (int64_t plane = begin; plane < end; ++plane) {
      scalar_t* result = target + plane * size;
      acc_t* sums = direct ? reinterpret_cast<acc_t*>(result) : buffer.data_ptr<acc_t>();
      std::fill_n(sums, size, acc_t(0));
      f(plane, sums);
      if constexpr (!direct) {
        for (int64_t i = 0; i < size; ++i) result[i] = static_cast<scalar_t>(sums[i]);
      }
    }
  });
}

template <typename Rule>
void average(const char* name, const Rule& rule, const Tensor& self, const Tensor& out) {
  if (out.numel() == 0) return;
  const Tensor input = self.contiguous();
  const Planes p = planes_of(input.sizes(), out.sizes());
  AT_DISPATCH_FLOATING_AND_REDUCED(input.scalar_type(), name, [&] {
    const scalar_t* in = input.const_data_ptr<scalar_t>();
    scalar_t* result = out.data_ptr<scalar_t>();
    for_each_plane(p, p.in_size(), [&](int64_t k) { avg_pool_plane(rule, p, in + k * p.in_size(), result + k * p.out_size()); });
  });
}

template <typename Rule>
void average_backward(const char* name, const Rule& rule, const Tensor& grad_output, const Tensor& out) {
  if (out.numel() == 0) return;
  const Tensor grad = grad_output.contiguous();
  const Planes p = planes_of(out.sizes(), grad.sizes());
  AT_DISPATCH_FLOATING_AND_REDUCED(grad.scalar_type(), name, [&] {
    const scalar_t* grads = grad.const_data_ptr<scalar_t>();
    accumulate_planes<scalar_t>(
        p, out, [&](int64_t k, opmath_type<scalar_t>* sums) { avg_pool_plane_backward(rule, p, grads + k * p.out_size(), sums); });
  });
}

AverageRule average_rule(IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool count_include_pad,
                         std::optional<int64_t> divisor_override) {
  return {pooling_geometry(kernel_size, stride, padding, int64_t{1}), count_include_pad, divisor_override.value_or(0)};
}

}  // namespace

void max_pool2d_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                       bool /*ceil_mode: in the sizes of out0*/, const Tensor& out0, const Tensor& out1) {
  if (out0.numel() == 0) return;
  const Tensor input = self.contiguous();
  const PoolingGeometry g = pooling_geometry(kernel_size, stride, padding, dilation);
  const Planes p = planes_of(input.sizes(), out0.sizes());
  AT_DISPATCH_FLOATING_AND_REDUCED(input.scalar_type(), "max_pool2d", [&] {
    const scalar_t* in = input.const_data_ptr<scalar_t>();
    scalar_t* out = out0.data_ptr<scalar_t>();
    int64_t* indices = out1.data_ptr<int64_t>();
    for_each_plane(p, p.out_size() * g.kernel[0] * g.kernel[1],
                   [&](int64_t k) { max_pool_plane(g, p, in + k * p.in_size(), out + k * p.out_size(), indices + k * p.out_size()); });
  });
}

void max_pool2d_backward_kernel(const Tensor& grad_output, IntArrayRef, const Tensor& indices, const Tensor& out0) {
  if (out0.numel() == 0) return;
  const Tensor grad = grad_output.contiguous(), places = indices.contiguous();
  const Planes p = planes_of(out0.sizes(), grad.sizes());
  AT_DISPATCH_FLOATING_AND_REDUCED(grad.scalar_type(), "max_pool2d_backward", [&] {
    const scalar_t* grads = grad.const_data_ptr<scalar_t>();
    const int64_t* place = places.const_data_ptr<int64_t>();
    accumulate_planes<scalar_t>(p, out0, [&](int64_t k, opmath_type<scalar_t>* sums) {
      for (int64_t i = k * p.out_size(); i < (k + 1) * p.out_size(); ++i) {
        TORCH_CHECK_INDEX(place[i] >= 0 && place[i] < p.in_size(), "max_pool2d_backward: found index ", place[i],
                          " outside of a plane of size ", p.in_height, "x", p.in_width);
        sums[place[i]] += static_cast<opmath_type<scalar_t>>(grads[i]);
      }
    });
  });
}

void avg_pool2d_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool, bool count_include_pad,
                       std::optional<int64_t> divisor_override, const Tensor& out0) {
  average("avg_pool2d", average_rule(kernel_size, stride, padding, count_include_pad, divisor_override), self, out0);
}

void avg_pool2d_backward_kernel(const Tensor& grad_output, IntArrayRef, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                                bool, bool count_include_pad, std::optional<int64_t> divisor_override, const Tensor& out0) {
  average_backward("avg_pool2d_backward", average_rule(kernel_size, stride, padding, count_include_pad, divisor_override), grad_output,
                   out0);
}

void adaptive_avg_pool2d_kernel(const Tensor& self, IntArrayRef, const Tensor& out0) {
  average("adaptive_avg_pool2d", AdaptiveRule(), self, out0);
}

void adaptive_avg_pool2d_backward_kernel(const Tensor& grad_output, IntArrayRef, const Tensor& out0) {
  average_backward("adaptive_avg_pool2d_backward", AdaptiveRule(), grad_output, out0);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
