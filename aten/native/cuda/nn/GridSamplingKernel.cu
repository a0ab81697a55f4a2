// The kernels of sampling at the points of a grid, and of its gradients.
#include "aten/Dispatch.h"
#include "aten/native/cuda/ScatterLists.cuh"
#include "aten/native/cuda/WideDivisor.h"
#include "aten/native/nn/GridSampling.h"
#include "aten/ops/copy.h"

// The gradient of the input adds up what points gave to each element. Which points these are is the
// same for all channels: the lists of Note [Scatter lists] are built and sorted once for a sample.

namespace at::native::cuda {

namespace {

struct Sampling : GridSizes {
  WideDivisor by_points;

  Sampling(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding,
           bool align_corners)
      : GridSizes(input, grid, mode, padding, align_corners),
        by_points(std::max<int64_t>(1, points)) {}

  int64_t all_points() const { return batch * points; }
  /// Elements that each point reads.
  C10_HOST_DEVICE int taps() const {
    int count = 1;
    for (int64_t d = 0; d < rank; ++d) count *= sampler.taps();
    return count;
  }
};

/// The taps of one point in all dimensions.
template <class T>
struct PointTaps {
  GridTaps<T> axis[3];
  int counts[3] = {1, 1, 1};

  SIMT_DEVICE PointTaps(const Sampling& s, const T* grid, int64_t point) {
    for (int64_t d = 0; d < s.rank; ++d) {
      const int64_t k = 2 - d;  // x is the last dimension
      axis[k] = grid_taps(s.sampler, grid[point * s.rank + d], s.size[k]);
      counts[k] = s.sampler.taps();
    }
  }

  /// Calls f(place in the plane, i, j, k) for each tap that is inside.
  template <class F>
  SIMT_DEVICE void for_each(const Sampling& s, const F& f) const {
    for (int i = 0; i < counts[0]; ++i) {
      for (int j = 0; j < counts[1]; ++j) {
        for (int k = 0; k < counts[2]; ++k) {
          const int64_t z = axis[0].index[i];
          const int64_t y = axis[1].index[j];
          const int64_t x = axis[2].index[k];
          if (z >= 0 && y >= 0 && x >= 0) f((z * s.size[1] + y) * s.size[2] + x, i, j, k);
        }
      }
    }
  }

  SIMT_DEVICE T weight(int i, int j, int k) const {
    return axis[0].weight[i] * axis[1].weight[j] * axis[2].weight[k];
  }
};

/// All channels of one point.
template <class T>
struct SamplePoint {
  Sampling s;
  const T* in;
  const T* grid;
  T* out;

  SIMT_DEVICE void operator()(int64_t index) const {
    const int64_t sample = s.by_points.quotient(index);
    const int64_t point = index - sample * s.points;
    const PointTaps<T> taps(s, grid, index);

    for (int64_t c = sample * s.channels; c < (sample + 1) * s.channels; ++c) {
      T sum = 0;
      taps.for_each(s, [&](int64_t place, int i, int j, int k) {
        sum += taps.weight(i, j, k) * in[c * s.plane + place];
      });
      out[c * s.points + point] = sum;
    }
  }
};

/// The gradient of one point: the slope of each tap, times the sum over channels of gradient and
/// element.
template <class T>
struct GridGradient {
  Sampling s;
  const T* grad;
  const T* in;
  const T* grid;
  T* out;

  SIMT_DEVICE void operator()(int64_t index) const {
    const int64_t sample = s.by_points.quotient(index);
    const int64_t point = index - sample * s.points;
    const PointTaps<T> taps(s, grid, index);

    T sums[3] = {0, 0, 0};
    taps.for_each(s, [&](int64_t place, int i, int j, int k) {
      T product = 0;
      for (int64_t c = sample * s.channels; c < (sample + 1) * s.channels; ++c)
        product += grad[c * s.points + point] * in[c * s.plane + place];

      const T wz = taps.axis[0].weight[i];
      const T wy = taps.axis[1].weight[j];
      const T wx = taps.axis[2].weight[k];
      sums[0] += wz * wy * taps.axis[2].slope[k] * product;
      sums[1] += wz * taps.axis[1].slope[j] * wx * product;
      sums[2] += taps.axis[0].slope[i] * wy * wx * product;
    });
    for (int64_t d = 0; d < s.rank; ++d) out[index * s.rank + d] = sums[d];
  }
};

/// Enters the taps of a sample's points into the lists of the elements that they read.
template <class T>
struct ListTaps {
  Sampling s;
  ScatterLists lists;
  const T* grid;
  T* weights;  // of each tap
  int taps_of_point;

  SIMT_DEVICE void operator()(int64_t point) const {
    const PointTaps<T> taps(s, grid, point);
    int64_t source = point * taps_of_point;
    taps.for_each(s, [&](int64_t place, int i, int j, int k) {
      weights[source] = taps.weight(i, j, k);
      lists.add(place, source++);
    });
  }
};

struct SortLists {
  ScatterLists lists;
  SIMT_DEVICE void operator()(int64_t index) const { lists.sorted(index); }
};

/// Adds up what one element of one channel gave.
template <class T>
struct InputGradient {
  ScatterLists lists;
  WideDivisor plane, taps_of_point;
  int64_t points;
  const T* weights;
  const T* grad;  // of the sample
  T* out;

  SIMT_DEVICE void operator()(int64_t index) const {
    const int64_t channel = plane.quotient(index);
    const T* values = grad + channel * points;
    T sum = 0;
    for (int32_t source = lists.heads[index - channel * plane.value()]; source >= 0;
         source = lists.next[source])
      sum += weights[source] * values[taps_of_point.quotient(source)];
    out[index] = sum;
  }
};

template <class T>
void input_gradient(const Sampling& s, const T* grad, const T* grid, const Tensor& out) {
  const int64_t points = s.points;
  const int taps = s.taps();
  TORCH_CHECK(points <= INT32_MAX / taps, "grid_sampler_backward: expected less than ",
              INT32_MAX / taps, " points of a sample, got ", points);
  const Tensor weights = empty_tensor({points * taps}, out.scalar_type(), out.device());

  for (int64_t sample = 0; sample < s.batch; ++sample) {
    const ScatterMemory memory(s.plane, points * taps, out.device());
    per_index("grid_sampler_backward", points,
              ListTaps<T>{s, memory.lists(), grid + sample * points * s.rank, weights.data_ptr<T>(),
                          taps});
    per_index("grid_sampler_backward", s.plane, SortLists{memory.lists()});

    const int64_t block = s.channels * s.plane;
    per_index("grid_sampler_backward", block,
              InputGradient<T>{memory.lists(), WideDivisor(s.plane), WideDivisor(taps), points,
                               weights.const_data_ptr<T>(), grad + sample * s.channels * points,
                               out.data_ptr<T>() + sample * block});
  }
}

}  // namespace

void grid_sampler_kernel(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                         int64_t padding_mode, bool align_corners, const Tensor& out0) {
  if (out0.numel() == 0) return;
  const Tensor x = for_sampling(input);
  const Tensor points = for_sampling(grid);
  const Tensor out = for_samples(out0);

  const Sampling s(input, grid, interpolation_mode, padding_mode, align_corners);
  AT_DISPATCH_FLOATING(x.scalar_type(), "grid_sampler", [&] {
    per_index("grid_sampler", s.all_points(),
              SamplePoint<scalar_t>{s, x.const_data_ptr<scalar_t>(),
                                    points.const_data_ptr<scalar_t>(), out.data_ptr<scalar_t>()});
  });
  if (!out.is_same(out0)) at::copy_(out0, out);
}

std::tuple<Tensor, Tensor> _grid_sampler_backward_kernel(const Tensor& grad, const Tensor& input,
                                                         const Tensor& grid,
                                                         int64_t interpolation_mode,
                                                         int64_t padding_mode, bool align_corners) {
  const GridGradients t(grad, input, grid, interpolation_mode, padding_mode);
  const Sampling s(input, grid, interpolation_mode, padding_mode, align_corners);

  AT_DISPATCH_FLOATING(t.input.scalar_type(), "grid_sampler_backward", [&] {
    const scalar_t* grads = t.grad.const_data_ptr<scalar_t>();
    const scalar_t* coordinates = t.grid.const_data_ptr<scalar_t>();
    if (t.of_input.defined()) input_gradient(s, grads, coordinates, t.of_input);
    per_index("grid_sampler_backward", s.all_points(),
              GridGradient<scalar_t>{s, grads, t.input.const_data_ptr<scalar_t>(), coordinates,
                                     t.of_grid.data_ptr<scalar_t>()});
  });

  return t.in_dtypes_of(input, grid);
}

}  // namespace at::native::cuda
