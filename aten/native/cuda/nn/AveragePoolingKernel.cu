// The kernels of average pooling and its gradient: one thread for each element of the result.
#include "aten/Dispatch.h"
#include "aten/native/cuda/PerIndex.cuh"
#include "aten/native/cuda/PlaneIndex.h"
#include "aten/native/functors/PoolWindows.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/zero.h"

namespace at::native::cuda {

namespace {

struct AverageAxes {
  AverageWindows windows[3];  // missing dimensions in front
  int64_t in[3] = {1, 1, 1};
  int64_t out[3] = {1, 1, 1};

  AverageAxes(IntArrayRef sizes, IntArrayRef output_sizes, IntArrayRef kernel_size,
              IntArrayRef stride, IntArrayRef padding, bool count_include_pad,
              std::optional<int64_t> divisor_override) {
    const size_t spatial = kernel_size.size();
    for (AverageWindows& missing : windows) missing = {1, 1, 0, true, 0};

    for (size_t d = 0; d < spatial; ++d) {
      const size_t at = sizes.size() - spatial + d;
      const size_t k = 3 - spatial + d;
      // The override replaces the product of all counts: it belongs to one dimension.
      const int64_t divisor = !divisor_override ? 0 : d == 0 ? *divisor_override : 1;
      windows[k] = {kernel_size[d], stride[d], padding[d], count_include_pad, divisor};
      in[k] = sizes[at];
      out[k] = output_sizes[at];
    }
  }
};

/// Sums of many elements are added up in runs, so that rounding errors of large windows stay small.
template <class acc_t>
class RunSum {
 public:
  SIMT_DEVICE void add(acc_t value) {
    run_ += value;
    if (++count_ < kRun) return;
    total_ += run_;
    run_ = 0;
    count_ = 0;
  }
  SIMT_DEVICE acc_t total() const { return total_ + run_; }

 private:
  static constexpr int kRun = 64;
  acc_t run_ = 0, total_ = 0;
  int count_ = 0;
};

template <class T>
struct AveragePool {
  AverageAxes axes;
  PlaneIndex in_index, out_index;
  const T* in;
  T* out;

  SIMT_DEVICE void operator()(int64_t index) const {
    using acc_t = opmath_type<T>;
    const PlanePlace place = out_index.find(index);
    AverageWindow w[3];
    acc_t count = 1;
    for (int d = 0; d < 3; ++d) {
      w[d] = average_window(axes.windows[d], axes.in[d], place.at[d]);
      count *= static_cast<acc_t>(w[d].count);
    }

    acc_t sum = 0;
    for (int64_t z = w[0].begin; z < w[0].end; ++z) {
      RunSum<acc_t> plane;
      for (int64_t y = w[1].begin; y < w[1].end; ++y) {
        RunSum<acc_t> row;
        for (int64_t x = w[2].begin; x < w[2].end; ++x)
          row.add(static_cast<acc_t>(in[in_index.offset(place, z, y, x)]));
        plane.add(row.total());
      }
      sum += plane.total();
    }
    out[index] = static_cast<T>(sum / count);
  }
};

/// Adds up what the windows that contain an element give back.
template <class T>
struct AveragePoolBackward {
  AverageAxes axes;
  PlaneIndex in_index, out_index;  // of the operator's input and result
  const T* grad;
  T* out;

  /// The windows [begin, end) that contain element i.
  SIMT_DEVICE PoolWindow containing(int d, int64_t i) const {
    const AverageWindows& w = axes.windows[d];
    const int64_t place = i + w.padding;
    const int64_t begin = place < w.kernel ? 0 : (place - w.kernel) / w.stride + 1;
    const int64_t end = place / w.stride + 1;
    return {begin, end < axes.out[d] ? end : axes.out[d]};
  }

  SIMT_DEVICE auto count_of(int d, int64_t j) const {
    return static_cast<opmath_type<T>>(average_window(axes.windows[d], axes.in[d], j).count);
  }

  SIMT_DEVICE void operator()(int64_t index) const {
    using acc_t = opmath_type<T>;
    const PlanePlace place = in_index.find(index);
    PoolWindow w[3];
    for (int d = 0; d < 3; ++d) w[d] = containing(d, place.at[d]);

    acc_t sum = 0;
    for (int64_t z = w[0].begin; z < w[0].end; ++z) {
      RunSum<acc_t> plane;
      for (int64_t y = w[1].begin; y < w[1].end; ++y) {
        RunSum<acc_t> row;
        for (int64_t x = w[2].begin; x < w[2].end; ++x)
          row.add(static_cast<acc_t>(grad[out_index.offset(place, z, y, x)]) / count_of(2, x));
        plane.add(row.total() / count_of(1, y));
      }
      sum += plane.total() / count_of(0, z);
    }
    out[index] = static_cast<T>(sum);
  }
};

}  // namespace

void _avg_pool_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                      IntArrayRef padding, bool /*in the size of out0*/, bool count_include_pad,
                      std::optional<int64_t> divisor_override, const Tensor& out0) {
  if (out0.numel() == 0) return;

  const auto spatial = static_cast<int64_t>(kernel_size.size());
  const PlaneLayout layout(out0, spatial, self);
  const Tensor input = self.contiguous(layout.format);
  const AverageAxes axes(self.sizes(), out0.sizes(), kernel_size, stride, padding,
                         count_include_pad, divisor_override);
  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "avg_pool", [&] {
    per_index("avg_pool", out0.numel(),
              AveragePool<scalar_t>{axes, PlaneIndex(self.sizes(), spatial, layout.inner),
                                    PlaneIndex(out0.sizes(), spatial, layout.inner),
                                    input.const_data_ptr<scalar_t>(), out0.data_ptr<scalar_t>()});
  });
}

void _avg_pool_backward_kernel(const Tensor& grad, IntArrayRef sizes, IntArrayRef kernel_size,
                               IntArrayRef stride, IntArrayRef padding,
                               bool /*in the size of grad*/, bool count_include_pad,
                               std::optional<int64_t> divisor_override, const Tensor& out0) {
  if (out0.numel() == 0) return;
  if (grad.numel() == 0) return void(at::zero_(out0));

  const auto spatial = static_cast<int64_t>(kernel_size.size());
  const PlaneLayout layout(out0, spatial, grad);
  const Tensor grads = grad.contiguous(layout.format);
  const AverageAxes axes(sizes, grad.sizes(), kernel_size, stride, padding, count_include_pad,
                         divisor_override);
  AT_DISPATCH_FLOATING_AND_REDUCED(grad.scalar_type(), "avg_pool_backward", [&] {
    per_index("avg_pool_backward", out0.numel(),
              AveragePoolBackward<scalar_t>{axes, PlaneIndex(sizes, spatial, layout.inner),
                                            PlaneIndex(grad.sizes(), spatial, layout.inner),
                                            grads.const_data_ptr<scalar_t>(),
                                            out0.data_ptr<scalar_t>()});
  });
}

}  // namespace at::native::cuda
