// Makes the columns of a convolution, and adds them up to an image.
#include "aten/native/cuda/nn/ConvolutionColumns.h"

#include "aten/Dispatch.h"
#include "aten/native/cuda/MovedBytes.h"
#include "aten/native/cuda/PerIndex.cuh"
#include "aten/native/cuda/WideDivisor.h"

namespace at::native::cuda {

namespace {

/// An image of up to three spatial dimensions and the windows on it.
struct Windows {
  int64_t size[3], kernel[3], stride[3], padding[3], dilation[3], count[3];
  int64_t steps[5];  // of the image in memory: samples, channels, and three dimensions
  int64_t columns;   // samples * positions: the length of a row of the matrix

  Windows(const ConvolutionGeometry& g, const Tensor& image)
      : columns(image.sizes()[0] * g.output_plane()) {
    const auto spatial = static_cast<int>(image.dim() - 2);
    for (int d = 0; d < 3; ++d) {
      size[d] = g.input[d];
      kernel[d] = g.kernel[d];
      stride[d] = g.stride[d];
      padding[d] = g.padding[d];
      dilation[d] = g.dilation[d];
      count[d] = g.output[d];
      steps[2 + d] = d < 3 - spatial ? 0 : image.strides()[d - 1 + spatial];
    }
    steps[0] = image.strides()[0];
    steps[1] = image.strides()[1];
  }

  C10_HOST_DEVICE int64_t positions() const { return count[0] * count[1] * count[2]; }
  C10_HOST_DEVICE int64_t elements() const { return kernel[0] * kernel[1] * kernel[2]; }
};

/// Where an element of the image, or a window, is.
struct Place {
  int64_t channel, sample, at[3];
};

/// Takes the index of (channels, samples, three dimensions) or of (samples, channels, ...) apart.
struct Decomposed {
  WideDivisor inner;  // of the first two numbers
  WideDivisor sizes[3];

  SIMT_DEVICE Place find(int64_t index, bool samples_first) const {
    Place place{};
    for (int d = 2; d >= 0; --d) {
      const int64_t rest = sizes[d].quotient(index);
      place.at[d] = index - rest * sizes[d].value();
      index = rest;
    }
    const int64_t outer = inner.quotient(index);
    const int64_t within = index - outer * inner.value();
    place.channel = samples_first ? within : outer;
    place.sample = samples_first ? outer : within;
    return place;
  }
};

/// A thread for each window in each channel, which writes a column's elements of that channel.
template <class T>
struct MakeColumns {
  Windows w;
  Decomposed windows;
  const T* in;
  T* out;

  SIMT_DEVICE void operator()(int64_t index) const {
    const Place p = windows.find(index, false);
    const T* image = in + p.sample * w.steps[0] + p.channel * w.steps[1];
    const int64_t position = (p.at[0] * w.count[1] + p.at[1]) * w.count[2] + p.at[2];
    T* column = out + p.channel * w.elements() * w.columns + p.sample * w.positions() + position;

    for (int64_t i = 0; i < w.kernel[0]; ++i) {
      const int64_t z = p.at[0] * w.stride[0] - w.padding[0] + i * w.dilation[0];
      for (int64_t j = 0; j < w.kernel[1]; ++j) {
        const int64_t y = p.at[1] * w.stride[1] - w.padding[1] + j * w.dilation[1];
        const bool inside = z >= 0 && z < w.size[0] && y >= 0 && y < w.size[1];

        for (int64_t k = 0; k < w.kernel[2]; ++k, column += w.columns) {
          const int64_t x = p.at[2] * w.stride[2] - w.padding[2] + k * w.dilation[2];
          const bool is_there = inside && x >= 0 && x < w.size[2];
          *column = is_there ? image[z * w.steps[2] + y * w.steps[3] + x * w.steps[4]] : T(0);
        }
      }
    }
  }
};

/// A thread for each element of the image: sums in the order of the filter's elements.
template <class T, class Sum>
struct SumColumns {
  Windows w;
  Decomposed elements;
  WideDivisor stride[3];
  const Sum* in;
  const T* bias;  // null for none
  T* out;

  SIMT_DEVICE void operator()(int64_t index) const {
    const Place p = elements.find(index, true);
    const Sum* columns = in + p.channel * w.elements() * w.columns + p.sample * w.positions();

    auto sum = static_cast<Sum>(bias == nullptr ? T(0) : bias[p.channel]);
    int64_t element = 0;
    for (int64_t i = 0; i < w.kernel[0]; ++i) {
      const int64_t z = window_at(0, p.at[0] - i * w.dilation[0]);
      for (int64_t j = 0; j < w.kernel[1]; ++j) {
        const int64_t y = window_at(1, p.at[1] - j * w.dilation[1]);
        for (int64_t k = 0; k < w.kernel[2]; ++k, ++element) {
          const int64_t x = window_at(2, p.at[2] - k * w.dilation[2]);
          if (z < 0 || y < 0 || x < 0) continue;
          sum += columns[element * w.columns + (z * w.count[1] + y) * w.count[2] + x];
        }
      }
    }
    out[p.sample * w.steps[0] + p.channel * w.steps[1] + p.at[0] * w.steps[2] +
        p.at[1] * w.steps[3] + p.at[2] * w.steps[4]] = static_cast<T>(sum);
  }

  /// The window whose element 0 is at this place of the image; -1 if there is none.
  SIMT_DEVICE int64_t window_at(int d, int64_t place) const {
    const int64_t begin = place + w.padding[d];
    if (begin < 0) return -1;
    const int64_t window = stride[d].quotient(begin);
    return window * w.stride[d] == begin && window < w.count[d] ? window : -1;
  }
};

Decomposed decomposed(int64_t inner, const int64_t (&sizes)[3]) {
  return {WideDivisor(inner),
          {WideDivisor(sizes[0]), WideDivisor(sizes[1]), WideDivisor(sizes[2])}};
}

}  // namespace

Tensor columns_of(const char* name, const Tensor& image, const ConvolutionGeometry& g) {
  const int64_t samples = image.sizes()[0];
  const int64_t positions = samples * g.output_plane();
  const Tensor columns =
      empty_tensor({g.groups, g.column_rows(), positions}, image.scalar_type(), image.device());

  with_moved_type(static_cast<int64_t>(image.itemsize()), [&](auto element) {
    using T = decltype(element);
    per_index(name, g.channels * positions,
              MakeColumns<T>{Windows(g, image), decomposed(samples, g.output),
                             static_cast<const T*>(image.data()), static_cast<T*>(columns.data())});
  });
  return columns;
}

void sum_columns(const char* name, const Tensor& columns, const ConvolutionGeometry& g,
                 const Tensor& bias, const Tensor& image) {
  AT_DISPATCH_FLOATING_AND_REDUCED_INTEGRAL_AND_BOOL(image.scalar_type(), name, [&] {
    using sum_t = std::conditional_t<c10::is_reduced_floating_point_v<scalar_t>, float, scalar_t>;
    per_index(name, image.numel(),
              SumColumns<scalar_t, sum_t>{
                  Windows(g, image),
                  decomposed(g.channels, g.input),
                  {WideDivisor(g.stride[0]), WideDivisor(g.stride[1]), WideDivisor(g.stride[2])},
                  columns.const_data_ptr<sum_t>(),
                  bias.defined() ? bias.const_data_ptr<scalar_t>() : nullptr,
                  image.data_ptr<scalar_t>()});
  });
}

}  // namespace at::native::cuda
