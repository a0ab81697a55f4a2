#pragma once
// Convolutions of channels_last tensors. Included by files compiled once per instruction set.
#include <algorithm>
#include <cstring>

#include "aten/blas/Blas.h"
#include "aten/native/cpu/nn/ConvolutionTasks.h"
#include "aten/native/nn/ConvolutionGeometry.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

// Note [Rows of a channels_last convolution]
// The output is a matrix (positions, outputs) with a row for each position of all samples. The
// windows are a matrix (positions, kernel elements * channels): the elements of each position's
// window, channels fastest, which are copied in runs of channels. The output is their product with
// the weight (outputs, kernel elements * channels), each in its order in memory. Chunks of rows
// stay in the cache; they depend on sizes only, so that results do not depend on the number of
// threads.

/// A convolution of channels_last tensors and its gradients.
template <typename T>
class RowConvolution {
 public:
  explicit RowConvolution(const ConvolutionGeometry& g)
      : g_(g), channels_(g.group_channels()), outputs_(g.group_outputs()), row_(g.column_rows()) {
    positions_ = g.batch * g.output_plane();
    chunk_ = std::max<int64_t>(1, std::min(columns_at_once(row_, outputs_), positions_));
    chunks_ = (positions_ + chunk_ - 1) / chunk_;
  }

  /// out (positions, outputs) from in (positions, channels); `bias` may be null.
  void forward(const T* in, const T* weight, const T* bias, T* out) const {
    for_tasks(chunks_ * g_.groups, work(), [&](int64_t begin, int64_t end) {
      const Scratch<T> buffer(buffer_size());
      for (int64_t task = begin; task < end; ++task) {
        const int64_t first = task / g_.groups * chunk_;
        const int64_t count = std::min(chunk_, positions_ - first);
        const int64_t group = task % g_.groups;

        T* result = out + first * g_.outputs + group * outputs_;
        for (int64_t p = 0; p < count && bias != nullptr; ++p)
          std::copy_n(bias + group * outputs_, outputs_, result + p * g_.outputs);

        const Rows rows = gather(in, first, count, group, buffer.data());
        blas::gemm<T>(kTransposed, kAsIs, outputs_, count, row_, T(1),
                      weight + group * outputs_ * row_, row_, rows.data, rows.stride,
                      bias != nullptr ? T(1) : T(0), result, g_.outputs);
      }
    });
  }

  /// out (input positions, channels) from grad (positions, outputs). `bias` is that of a transposed
  /// convolution, by input channel; it may be null.
  void input_gradient(const T* grad, const T* weight, const T* bias, T* out) const {
    if (g_.is_pointwise()) return pointwise_input_gradient(grad, weight, bias, out);

    // Windows overlap, so one thread does all of a sample, or of several small ones.
    const int64_t plane = g_.output_plane();
    const int64_t in_plane = g_.input_plane();
    const int64_t samples = std::max<int64_t>(1, chunk_ / std::max<int64_t>(1, plane));
    const int64_t tasks = (g_.batch + samples - 1) / samples;

    for_tasks(tasks, samples * plane * row_ * g_.outputs, [&](int64_t begin, int64_t end) {
      const Scratch<T> rows(buffer_size());
      for (int64_t task = begin; task < end; ++task) {
        const int64_t sample = task * samples;
        const int64_t last = std::min(sample + samples, g_.batch);
        fill(bias, out + sample * in_plane * g_.channels, (last - sample) * in_plane);

        for (int64_t first = sample * plane; first < last * plane; first += chunk_) {
          const int64_t count = std::min(chunk_, last * plane - first);
          for (int64_t group = 0; group < g_.groups; ++group) {
            blas::gemm<T>(
                kAsIs, kAsIs, row_, count, outputs_, T(1), weight + group * outputs_ * row_, row_,
                grad + first * g_.outputs + group * outputs_, g_.outputs, T(0), rows.data(), row_);
            scatter(rows.data(), first, count, group, out);
          }
        }
      }
    });
  }

  /// out (outputs, kernel elements * channels): each slice of the chunks is summed in order, then
  /// the sums of the slices are added.
  void weight_gradient(const T* grad, const T* in, T* out) const {
    const int64_t size = g_.outputs * row_;
    const int64_t slices = separate_sums(chunks_, size);
    const int64_t per_slice = (chunks_ + slices - 1) / slices;
    const Scratch<T> sums(slices > 1 ? slices * size : 0);

    for_tasks(slices * g_.groups, per_slice * work(), [&](int64_t begin, int64_t end) {
      const Scratch<T> buffer(buffer_size());
      for (int64_t task = begin; task < end; ++task) {
        const int64_t slice = task / g_.groups;
        const int64_t group = task % g_.groups;
        T* result = (slices > 1 ? sums.data() + slice * size : out) + group * outputs_ * row_;
        if (slice * per_slice >= chunks_) std::fill_n(result, outputs_ * row_, T(0));

        for (int64_t i = slice * per_slice; i < std::min(chunks_, (slice + 1) * per_slice); ++i) {
          const int64_t first = i * chunk_;
          const int64_t count = std::min(chunk_, positions_ - first);
          const Rows rows = gather(in, first, count, group, buffer.data());
          blas::gemm<T>(kAsIs, kTransposed, row_, outputs_, count, T(1), rows.data, rows.stride,
                        grad + first * g_.outputs + group * outputs_, g_.outputs,
                        i == slice * per_slice ? T(0) : T(1), result, row_);
        }
      }
    });

    if (slices > 1) add_slices(sums.data(), slices, size, out);
  }

 private:
  static constexpr blas::Transpose kAsIs = blas::Transpose::None;
  static constexpr blas::Transpose kTransposed = blas::Transpose::Transpose;

  /// The windows of a chunk and group, one per row.
  struct Rows {
    const T* data;
    int64_t stride;
  };

  int64_t buffer_size() const { return g_.is_pointwise() ? 0 : chunk_ * row_; }
  int64_t work() const { return chunk_ * row_ * outputs_; }

  /// Sets positions of the input's gradient to the bias, or to 0 if it is null.
  void fill(const T* bias, T* out, int64_t positions) const {
    if (bias == nullptr) {
      std::fill_n(out, positions * g_.channels, T(0));
    } else {
      for (int64_t p = 0; p < positions; ++p) std::copy_n(bias, g_.channels, out + p * g_.channels);
    }
  }

  /// The input's gradient if each window is one element: a product goes to its place directly.
  void pointwise_input_gradient(const T* grad, const T* weight, const T* bias, T* out) const {
    for_tasks(chunks_, work() * g_.groups, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t first = task * chunk_;
        const int64_t count = std::min(chunk_, positions_ - first);
        if (bias != nullptr) fill(bias, out + first * g_.channels, count);

        for (int64_t group = 0; group < g_.groups; ++group) {
          blas::gemm<T>(kAsIs, kAsIs, channels_, count, outputs_, T(1),
                        weight + group * outputs_ * channels_, channels_,
                        grad + first * g_.outputs + group * outputs_, g_.outputs,
                        bias != nullptr ? T(1) : T(0),
                        out + first * g_.channels + group * channels_, g_.channels);
        }
      }
    });
  }

  /// Calls f(row, kernel element, place of its first channel in the input, length) for all runs of
  /// elements that are adjacent both in the window and in the input. The place is -1 where the
  /// window is outside the input.
  template <typename F>
  void for_each_run(int64_t first, int64_t count, int64_t group, const F& f) const {
    int64_t x = first % g_.output[2];
    int64_t y = first / g_.output[2] % g_.output[1];
    int64_t z = first / g_.output[2] / g_.output[1] % g_.output[0];
    int64_t sample = first / g_.output_plane() * g_.input_plane();

    for (int64_t row = 0; row < count; ++row) {
      for_each_run_of(row, sample, z * g_.stride[0] - g_.padding[0],
                      y * g_.stride[1] - g_.padding[1], x * g_.stride[2] - g_.padding[2],
                      group * channels_, f);

      // The next position: along the line, then the lines, the slices and the samples.
      if (++x < g_.output[2]) continue;
      x = 0;
      if (++y < g_.output[1]) continue;
      y = 0;
      if (++z < g_.output[0]) continue;
      z = 0;
      sample += g_.input_plane();
    }
  }

  /// The runs of one window, whose first element is at (z, y, x) of the sample that begins at input
  /// position `sample`.
  template <typename F>
  void for_each_run_of(int64_t row, int64_t sample, int64_t z, int64_t y, int64_t x,
                       int64_t channel, const F& f) const {
    // Neighbours along the line are adjacent in memory, with all of their channels.
    const bool joined = g_.dilation[2] == 1 && g_.groups == 1;
    const int64_t width = g_.kernel[2];
    int64_t element = 0;

    for (int64_t kz = 0; kz < g_.kernel[0]; ++kz) {
      const int64_t slice = z + kz * g_.dilation[0];
      for (int64_t ky = 0; ky < g_.kernel[1]; ++ky) {
        const int64_t line = y + ky * g_.dilation[1];
        const bool inside = slice >= 0 && slice < g_.input[0] && line >= 0 && line < g_.input[1];
        const int64_t start =
            inside ? (sample + (slice * g_.input[1] + line) * g_.input[2]) * g_.channels + channel
                   : 0;

        for (int64_t k = 0; k < width;) {
          const int64_t place = x + k * g_.dilation[2];
          const bool seen = inside && place >= 0 && place < g_.input[2];
          const int64_t run = joined && seen ? std::min(width - k, g_.input[2] - place) : 1;
          f(row, element, seen ? start + place * g_.channels : -1, run * channels_);

          element += run;
          k += run;
        }
      }
    }
  }

  /// The windows of a chunk and group: copied to `buffer`, or the input itself if each window is
  /// one element.
  Rows gather(const T* in, int64_t first, int64_t count, int64_t group, T* buffer) const {
    if (g_.is_pointwise()) return {in + first * g_.channels + group * channels_, g_.channels};

    for_each_run(first, count, group, [&](int64_t row, int64_t element, int64_t place, int64_t n) {
      T* to = buffer + row * row_ + element * channels_;
      place < 0 ? std::fill_n(to, n, T(0)) : std::copy_n(in + place, n, to);
    });
    return {buffer, row_};
  }

  /// The transpose of gather: adds the rows to the input elements that they come from.
  void scatter(const T* rows, int64_t first, int64_t count, int64_t group, T* out) const {
    for_each_run(first, count, group, [&](int64_t row, int64_t element, int64_t place, int64_t n) {
      if (place < 0) return;
      const T* from = rows + row * row_ + element * channels_;
      T* to = out + place;
      for (int64_t i = 0; i < n; ++i) to[i] += from[i];
    });
  }

  const ConvolutionGeometry& g_;
  int64_t channels_, outputs_;  // of a group
  int64_t row_;                 // elements of a window
  int64_t positions_;           // of all samples
  int64_t chunk_, chunks_;      // positions of a chunk, and the number of chunks
};

/// The sums of the columns of a matrix (rows, columns).
template <typename T>
void sum_columns(const T* values, int64_t rows, int64_t columns, T* out) {
  constexpr int64_t kBlock = 64;
  const int64_t blocks = (columns + kBlock - 1) / kBlock;
  const int64_t grain =
      std::max<int64_t>(1, kDefaultGrainSize / (kBlock * std::max<int64_t>(1, rows)));

  parallel_for(0, blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * kBlock;
      const int64_t width = std::min(kBlock, columns - first);
      double sums[kBlock] = {};
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t i = 0; i < width; ++i) sums[i] += values[row * columns + first + i];
      }
      for (int64_t i = 0; i < width; ++i) out[first + i] = static_cast<T>(sums[i]);
    }
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
