#pragma once
// Convolutions of channels_last tensors. Included by files compiled once per instruction set.
#include <algorithm>
#include <cstring>
#include <vector>

#include "aten/blas/Blas.h"
#include "aten/native/ConvolutionGeometry.h"
#include "aten/parallel/Parallel.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

// Note [Rows of a channels_last convolution]
// Positions of all samples are the rows of a matrix (positions, outputs), and the elements of each position's window, channels
// fastest, the rows of a matrix (positions, kernel elements * channels): windows are copied by runs of channels, and the output is the
// product with a weight (outputs, kernel elements * channels) without any transposition. Chunks of rows stay in the cache; they depend
// on sizes only, so that results do not depend on the number of threads.

template <typename T>
class RowConvolution {
 public:
  explicit RowConvolution(const ConvolutionGeometry& g)
      : g_(g), channels_(g.group_channels()), outputs_(g.group_outputs()), row_(g.column_rows()) {
    chunk_ = std::clamp<int64_t>((int64_t{1} << 18) / std::max<int64_t>(1, row_), 32, 1024);
  }

  /// out (positions, outputs) from in (positions, channels); no bias: null.
  void forward(const T* in, const T* weight, const T* bias, T* out) const {
    const int64_t positions = g_.batch * g_.output_plane(), chunks = (positions + chunk_ - 1) / chunk_;
    parallel_for(0, chunks * g_.groups, grain(), [&](int64_t begin, int64_t end) {
      std::vector<T> buffer(buffer_size());
      for (int64_t task = begin; task < end; ++task) {
        const int64_t first = task / g_.groups * chunk_, count = std::min(chunk_, positions - first), group = task % g_.groups;
        T* result = out + first * g_.outputs + group * outputs_;
        for (int64_t p = 0; p < count && bias != nullptr; ++p) std::copy_n(bias + group * outputs_, outputs_, result + p * g_.outputs);
        const Rows rows = gather(in, first, count, group, buffer.data());
        blas::gemm<T>(kTransposed, kAsIs, outputs_, count, row_, T(1), weight + group * outputs_ * row_, row_, rows.data, rows.stride,
                      bias != nullptr ? T(1) : T(0), result, g_.outputs);
      }
    });
  }

  /// Windows overlap, so one thread does a sample. `bias` is that of a transposed convolution, by input channel.
  void input_gradient(const T* grad, const T* weight, const T* bias, T* out) const {
    const int64_t plane = g_.output_plane(), in_plane = g_.input_plane();
    parallel_for(0, g_.batch, 1, [&](int64_t begin, int64_t end) {
      std::vector<T> rows(chunk_ * row_);
      for (int64_t n = begin; n < end; ++n) {
        T* sample = out + n * in_plane * g_.channels;
        for (int64_t p = 0; p < in_plane; ++p) {
          T* to = sample + p * g_.channels;
          bias != nullptr ? std::copy_n(bias, g_.channels, to) : std::fill_n(to, g_.channels, T(0));
        }
        for (int64_t first = n * plane; first < (n + 1) * plane; first += chunk_) {
          const int64_t count = std::min(chunk_, (n + 1) * plane - first);
          for (int64_t group = 0; group < g_.groups; ++group) {
            blas::gemm<T>(kAsIs, kAsIs, row_, count, outputs_, T(1), weight + group * outputs_ * row_, row_,
                          grad + first * g_.outputs + group * outputs_, g_.outputs, T(0), rows.data(), row_);
            scatter(rows.data(), first, count, group, out);
          }
        }
      }
    });
  }

  /// out (outputs, kernel elements * channels), as the sum of `slices` sums that each take every chunk of theirs in order.
  void weight_gradient(const T* grad, const T* in, T* out) const {
    const int64_t positions = g_.batch * g_.output_plane(), chunks = (positions + chunk_ - 1) / chunk_, size = g_.outputs * row_;
    const int64_t most = std::clamp<int64_t>((int64_t{1} << 22) / std::max<int64_t>(1, size), 1, 16);
    const int64_t slices = std::clamp<int64_t>(chunks, 1, most), per_slice = (chunks + slices - 1) / slices;
    std::vector<T> sums(slices * size, T(0));
    parallel_for(0, slices * g_.groups, grain(), [&](int64_t begin, int64_t end) {
      std::vector<T> buffer(buffer_size());
      for (int64_t task = begin; task < end; ++task) {
        const int64_t slice = task / g_.groups, group = task % g_.groups;
        for (int64_t i = slice * per_slice; i < std::min(chunks, (slice + 1) * per_slice); ++i) {
          const int64_t first = i * chunk_, count = std::min(chunk_, positions - first);
          const Rows rows = gather(in, first, count, group, buffer.data());
          blas::gemm<T>(kAsIs, kTransposed, row_, outputs_, count, T(1), rows.data, rows.stride,
                        grad + first * g_.outputs + group * outputs_, g_.outputs, T(1),
                        sums.data() + slice * size + group * outputs_ * row_, row_);
        }
      }
    });
    for (int64_t i = 0; i < size; ++i) {
      T sum = sums[i];
      for (int64_t k = 1; k < slices; ++k) sum += sums[k * size + i];
      out[i] = sum;
    }
  }

 private:
  static constexpr blas::Transpose kAsIs = blas::Transpose::None, kTransposed = blas::Transpose::Transpose;
  struct Rows {
    const T* data;
    int64_t stride;
  };

  int64_t buffer_size() const { return g_.is_pointwise() ? 0 : chunk_ * row_; }
  int64_t grain() const { return std::max<int64_t>(1, (int64_t{1} << 20) / std::max<int64_t>(1, chunk_ * row_ * outputs_)); }

  /// Calls f(row, kernel element, place of the first of the channels in the input, how many elements follow each other in both), and
  /// with place -1 where the window is outside.
  template <typename F>
  void for_each_run(int64_t first, int64_t count, int64_t group, const F& f) const {
    const bool joined = g_.dilation[2] == 1 && g_.groups == 1;  // neighbours along the line follow each other
    const int64_t width = g_.kernel[2];
    for (int64_t row = 0; row < count; ++row) {
      const int64_t p = first + row, plane = g_.output_plane(), n = p / plane, at = p % plane;
      const int64_t x0 = at % g_.output[2] * g_.stride[2] - g_.padding[2];
      const int64_t y0 = at / g_.output[2] % g_.output[1] * g_.stride[1] - g_.padding[1];
      const int64_t z0 = at / g_.output[2] / g_.output[1] * g_.stride[0] - g_.padding[0];
      for (int64_t line = 0; line < g_.kernel[0] * g_.kernel[1]; ++line) {
        const int64_t z = z0 + line / g_.kernel[1] * g_.dilation[0], y = y0 + line % g_.kernel[1] * g_.dilation[1];
        const bool inside = z >= 0 && z < g_.input[0] && y >= 0 && y < g_.input[1];
        const int64_t start = (((n * g_.input[0] + z) * g_.input[1] + y) * g_.input[2]) * g_.channels + group * channels_;
        for (int64_t k = 0; k < width;) {
          const int64_t x = x0 + k * g_.dilation[2];
          const bool seen = inside && x >= 0 && x < g_.input[2];
          int64_t run = 1;
          if (joined && seen) run = std::min(width - k, g_.input[2] - x);
          f(row, line * width + k, seen ? start + x * g_.channels : -1, run * channels_);
          k += run;
        }
      }
    }
  }

  Rows gather(const T* in, int64_t first, int64_t count, int64_t group, T* buffer) const {
    if (g_.is_pointwise()) return {in + first * g_.channels + group * channels_, g_.channels};
    for_each_run(first, count, group, [&](int64_t row, int64_t element, int64_t place, int64_t n) {
      T* to = buffer + row * row_ + element * channels_;
      place < 0 ? std::fill_n(to, n, T(0)) : std::copy_n(in + place, n, to);
    });
    return {buffer, row_};
  }

  void scatter(const T* rows, int64_t first, int64_t count, int64_t group, T* out) const {
    for_each_run(first, count, group, [&](int64_t row, int64_t element, int64_t place, int64_t n) {
      if (place < 0) return;
      const T* from = rows + row * row_ + element * channels_;
      T* to = out + place;
      for (int64_t i = 0; i < n; ++i) to[i] += from[i];
    });
  }

  const ConvolutionGeometry& g_;
  int64_t channels_, outputs_, row_, chunk_;
};

/// Sums of the columns of (rows, columns).
template <typename T>
void sum_columns(const T* values, int64_t rows, int64_t columns, T* out) {
  constexpr int64_t kBlock = 64;
  parallel_for(0, (columns + kBlock - 1) / kBlock, std::max<int64_t>(1, kDefaultGrainSize / (kBlock * std::max<int64_t>(1, rows))),
               [&](int64_t begin, int64_t end) {
                 for (int64_t block = begin; block < end; ++block) {
                   const int64_t first = block * kBlock, width = std::min(kBlock, columns - first);
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
