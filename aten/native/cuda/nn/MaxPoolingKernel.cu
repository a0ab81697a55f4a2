// The kernels of max pooling, its gradient, and max unpooling.
#include "aten/Dispatch.h"
#include "aten/native/cuda/PlaneIndex.h"
#include "aten/native/cuda/ScatterLists.cuh"
#include "aten/native/functors/PoolWindows.h"
#include "aten/native/nn/MaxPooling.h"
#include "aten/native/shared/ResultFormat.h"
#include "aten/native/shared/SizeProduct.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/zero.h"

namespace at::native::cuda {

namespace {

/// The windows of one dimension. Those of fractional pooling depend on samples of every block.
struct PoolAxis {
  enum class Kind : uint8_t { Kernel, Adaptive, Fractional };

  Kind kind = Kind::Kernel;
  int64_t in = 1, out = 1;
  int64_t kernel = 1, stride = 1, padding = 0, dilation = 1;
  int sample = 0;  // its index among those of a block

  template <class T>
  SIMT_DEVICE PoolWindow window(int64_t j, const T* samples) const {
    if (kind == Kind::Kernel) return dilated_window(in, kernel, stride, padding, dilation, j);
    if (kind == Kind::Adaptive) return adaptive_window(in, out, j);
    if constexpr (std::is_integral_v<T>) {
      return {0, 0};  // fractional pooling does not take integers
    } else {
      return fractional_window(in, out, kernel, static_cast<opmath_type<T>>(samples[sample]), j);
    }
  }
};

struct PoolAxes {
  PoolAxis axis[3];  // missing dimensions in front

  int64_t plane() const { return axis[0].in * axis[1].in * axis[2].in; }
};

/// Pools one window. Like PyTorch, takes the first of equal elements and the last NaN. `places` may
/// be null.
template <class T>
struct MaxPool {
  PoolAxes axes;
  PlaneIndex in_index, out_index;
  const T* in;
  const T* samples;  // (outer, spatial), or null
  int64_t spatial;
  T* out;
  int64_t* places;

  SIMT_DEVICE void operator()(int64_t index) const {
    const PlanePlace place = out_index.find(index);
    PoolWindow w[3];
    for (int d = 0; d < 3; ++d)
      w[d] = axes.axis[d].window(place.at[d], samples + place.outer * spatial);

    // A dilated window can begin beyond a small input; its place is still inside the plane.
    const int64_t rows = axes.axis[1].in;
    const int64_t columns = axes.axis[2].in;
    const int64_t last = axes.axis[0].in * rows * columns - 1;
    int64_t first = (w[0].begin * rows + w[1].begin) * columns + w[2].begin;
    if (first > last) first = last;

    // A plane has less than 2^31 elements.
    using value_t = opmath_type<T>;
    const T* const plane = in + in_index.offset(place, 0, 0, 0);
    const auto step = static_cast<int>(axes.axis[2].dilation);
    const auto width = static_cast<int>(w[2].end - w[2].begin);
    const int64_t stride = step * in_index.inner();
    value_t best = lowest_value<value_t>();
    auto best_place = static_cast<int>(first);
    for (int64_t z = w[0].begin; z < w[0].end; z += axes.axis[0].dilation) {
      for (int64_t y = w[1].begin; y < w[1].end; y += axes.axis[1].dilation) {
        const auto row = static_cast<int>((z * rows + y) * columns + w[2].begin);
        const T* values = plane + row * in_index.inner();
        for (int x = 0; x < width; x += step, values += stride) {
          const auto value = static_cast<value_t>(*values);
          if (value > best || value != value) {
            best = value;
            best_place = row + x;
          }
        }
      }
    }

    out[index] = static_cast<T>(best);
    if (places != nullptr) places[index] = best_place;
  }
};

template <class T>
void pool_as(const char* name, const PoolAxes& axes, int64_t spatial, const Tensor& input,
             const Tensor& samples, const Tensor& values, const Tensor& indices, int64_t inner) {
  per_index(name, values.numel(),
            MaxPool<T>{axes, PlaneIndex(input.sizes(), spatial, inner),
                       PlaneIndex(values.sizes(), spatial, inner), input.const_data_ptr<T>(),
                       samples.defined() ? samples.const_data_ptr<T>() : nullptr, spatial,
                       values.data_ptr<T>(),
                       indices.defined() ? indices.data_ptr<int64_t>() : nullptr});
}

/// Undefined `indices` are not computed.
void pool(const char* name, const PoolAxes& axes, int64_t spatial, const Tensor& self,
          const Tensor& samples, const Tensor& values, const Tensor& indices) {
  TORCH_CHECK(axes.plane() <= INT32_MAX,
              "max pooling: expected planes of less than 2^31 elements, got size ", self.sizes());
  const PlaneLayout layout(values, spatial, self);
  const Tensor input = self.contiguous(layout.format);

  pool_in_compared_type(name, input, values, [&]<typename T>(const Tensor& from, const Tensor& to) {
    pool_as<T>(name, axes, spatial, from, samples, to, indices, layout.inner);
  });
}

/// Sorts the list of one place and adds it up.
template <class T>
struct SumOfPlace {
  ScatterLists lists;
  const T* grad;  // of the sources
  T* out;

  SIMT_DEVICE void operator()(int64_t index) const {
    opmath_type<T> sum(0);
    for (int32_t source = lists.sorted(index); source >= 0; source = lists.next[source])
      sum += static_cast<opmath_type<T>>(grad[source]);
    out[index] = static_cast<T>(sum);
  }
};

/// Enters each pooled element into the list of its place.
struct ListByPlace {
  ScatterLists lists;
  const int64_t* places;
  WideDivisor inner, pooled;
  int64_t plane;

  SIMT_DEVICE void operator()(int64_t index, simt::Reporter reporter) const {
    int64_t place = places[index];
    if (place < 0 || place >= plane) {
      simt::report(reporter, c10::cuda::ReportKind::PlaceRange, 2, place, plane);
      place = 0;
    }
    const int64_t row = inner.quotient(index);
    const int64_t block = pooled.quotient(row);
    lists.add((block * plane + place) * inner.value() + (index - row * inner.value()), index);
  }
};

/// Writes each value to its place. The second pass leaves a place that several values go to to the
/// last of them, as a loop would.
struct Unpool {
  ScatterLists lists;
  const int64_t* places;
  WideDivisor pooled;
  int64_t plane;

  SIMT_DEVICE void operator()(int64_t index, simt::Reporter reporter) const {
    int64_t place = places[index];
    if (place < 0 || place >= plane) {
      simt::report(reporter, c10::cuda::ReportKind::PlaceRange, 1, place, plane);
      place = 0;
    }
    simt::atomic_max(lists.heads + pooled.quotient(index) * plane + place,
                     static_cast<int32_t>(index));
  }
};

template <class T>
struct TakeLast {
  const int32_t* last;
  const T* in;
  T* out;

  SIMT_DEVICE void operator()(int64_t index) const {
    out[index] = last[index] < 0 ? T(0) : in[last[index]];
  }
};

/// Blocks are handled in groups, so that 32 bits number their elements and lists take little
/// memory. Calls f(first block, number of blocks).
template <class F>
void for_each_group(int64_t blocks, int64_t block_size, const F& f) {
  constexpr int64_t kMost = int64_t{1} << 27;
  TORCH_CHECK(block_size <= INT32_MAX, "pooling: expected blocks of less than 2^31 elements");
  const int64_t together = block_size < kMost ? kMost / block_size : 1;
  for (int64_t first = 0; first < blocks; first += together)
    f(first, std::min(together, blocks - first));
}

}  // namespace

void _max_pool_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                      IntArrayRef padding, IntArrayRef dilation,
                      bool /*ceil_mode: in the sizes of out0*/, const Tensor& out0,
                      const Tensor& out1) {
  if (out0.numel() == 0) return;

  PoolAxes axes;
  const size_t spatial = kernel_size.size();
  const size_t leading = self.sizes().size() - spatial;
  for (size_t d = 0; d < spatial; ++d) {
    axes.axis[3 - spatial + d] = {PoolAxis::Kind::Kernel,
                                  self.sizes()[leading + d],
                                  out0.sizes()[leading + d],
                                  kernel_size[d],
                                  stride[d],
                                  padding[d],
                                  dilation[d]};
  }
  pool("max_pool", axes, static_cast<int64_t>(spatial), self, Tensor(), out0, out1);
}

Tensor max_pool1d_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                         IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return max_pool_values(_max_pool_kernel, 1, self, kernel_size, stride, padding, dilation,
                         ceil_mode);
}

Tensor max_pool2d_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                         IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return max_pool_values(_max_pool_kernel, 2, self, kernel_size, stride, padding, dilation,
                         ceil_mode);
}

Tensor max_pool3d_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                         IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return max_pool_values(_max_pool_kernel, 3, self, kernel_size, stride, padding, dilation,
                         ceil_mode);
}

void _adaptive_max_pool_kernel(const Tensor& self, IntArrayRef output_size, const Tensor& out0,
                               const Tensor& out1) {
  if (out0.numel() == 0) return;

  PoolAxes axes;
  const size_t spatial = output_size.size();
  const size_t leading = self.sizes().size() - spatial;
  for (size_t d = 0; d < spatial; ++d)
    axes.axis[3 - spatial + d] = {PoolAxis::Kind::Adaptive, self.sizes()[leading + d],
                                  output_size[d]};
  pool("adaptive_max_pool", axes, static_cast<int64_t>(spatial), self, Tensor(), out0, out1);
}

// Random samples are stored by sample, channel and dimension. Two dimensions are stored width
// first, three depth first.
void _fractional_max_pool_kernel(const Tensor& self, IntArrayRef kernel_size,
                                 IntArrayRef output_size, const Tensor& random_samples,
                                 const Tensor& out0, const Tensor& out1) {
  if (out0.numel() == 0) return;
  if (is_integral(self.scalar_type(), true))
    throw_not_implemented("fractional_max_pool", self.scalar_type());

  PoolAxes axes;
  const size_t spatial = kernel_size.size();
  const size_t leading = self.sizes().size() - spatial;
  for (size_t d = 0; d < spatial; ++d) {
    PoolAxis& axis = axes.axis[3 - spatial + d];
    axis = {PoolAxis::Kind::Fractional, self.sizes()[leading + d], output_size[d], kernel_size[d]};
    axis.sample = static_cast<int>(spatial == 2 ? 1 - d : d);
  }
  pool("fractional_max_pool", axes, static_cast<int64_t>(spatial), self,
       random_samples.contiguous(), out0, out1);
}

// Gradients add up in the order of the elements: see Note [Scatter lists].
void _max_pool_backward_kernel(const Tensor& grad, IntArrayRef, const Tensor& indices,
                               IntArrayRef spatial, const Tensor& out0) {
  if (out0.numel() == 0) return;
  if (grad.numel() == 0) return void(at::zero_(out0));

  const PlaneLayout layout(out0, static_cast<int64_t>(spatial.size()), indices);
  const Tensor grads = grad.contiguous(layout.format);
  const Tensor places = indices.contiguous(layout.format);
  const int64_t block = out0.numel() / layout.outer;  // plane and channels
  const int64_t pooled = grads.numel() / layout.outer;

  for_each_group(layout.outer, std::max(block, pooled), [&](int64_t first, int64_t blocks) {
    const ScatterMemory memory(blocks * block, blocks * pooled, grad.device());
    per_index("max_pool_backward", blocks * pooled,
              ListByPlace{memory.lists(), places.const_data_ptr<int64_t>() + first * pooled,
                          WideDivisor(layout.inner), WideDivisor(pooled / layout.inner),
                          block / layout.inner});

    AT_DISPATCH_FLOATING_AND_REDUCED(grad.scalar_type(), "max_pool_backward", [&] {
      per_index("max_pool_backward", blocks * block,
                SumOfPlace<scalar_t>{memory.lists(),
                                     grads.const_data_ptr<scalar_t>() + first * pooled,
                                     out0.data_ptr<scalar_t>() + first * block});
    });
  });
}

void _max_unpool_kernel(const Tensor& self, const Tensor& indices, IntArrayRef output_size,
                        const Tensor& out0) {
  if (out0.numel() == 0 || self.numel() == 0) return void(at::zero_(out0));

  const Tensor values = self.contiguous();
  const Tensor places = indices.contiguous();
  const int64_t plane = product_of(output_size);
  const int64_t planes = out0.numel() / plane;
  const int64_t pooled = self.numel() / planes;

  for_each_group(planes, std::max(plane, pooled), [&](int64_t first, int64_t blocks) {
    const ScatterMemory memory(blocks * plane, 0, self.device());
    per_index("max_unpool", blocks * pooled,
              Unpool{memory.lists(), places.const_data_ptr<int64_t>() + first * pooled,
                     WideDivisor(pooled), plane});

    AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "max_unpool", [&] {
      per_index("max_unpool", blocks * plane,
                TakeLast<scalar_t>{memory.lists().heads,
                                   values.const_data_ptr<scalar_t>() + first * pooled,
                                   out0.data_ptr<scalar_t>() + first * plane});
    });
  });
}

}  // namespace at::native::cuda
