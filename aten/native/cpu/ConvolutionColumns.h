#pragma once
// Windows of a convolution's input as columns of a matrix, and back. Included by files compiled once per instruction set.
#include <algorithm>
#include <optional>
#include <type_traits>
#include <vector>

#include "aten/native/ConvolutionGeometry.h"
#include "aten/parallel/Parallel.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

// Note [Chunks of a convolution]
// All output positions of all samples are cut into chunks: several whole samples when their planes are small, a part of one sample
// otherwise. A chunk's windows are the columns of a matrix of column_rows() rows that stays in the cache; one GEMM per chunk and
// group. The chunks depend on sizes only, so that results do not depend on the number of threads.

/// Positions [first, first + positions) of each of `samples` samples from `sample` on.
struct ConvolutionChunk {
  int64_t sample, samples, first, positions;
  int64_t columns() const { return samples * positions; }
};

/// The chunks of a convolution, numbered.
class ConvolutionChunks {
 public:
  ConvolutionChunks(const ConvolutionGeometry& g, int64_t most_columns) : plane_(g.output_plane()), batch_(g.batch) {
    const int64_t wanted = std::clamp<int64_t>((int64_t{1} << 18) / std::max<int64_t>(1, g.column_rows()), 128, most_columns);
    const bool in_place = g.is_pointwise() && plane_ >= 32;  // needs no matrix as long as a chunk is in one sample
    samples_ = in_place ? 1 : std::clamp<int64_t>(wanted / std::max<int64_t>(1, plane_), 1, std::max<int64_t>(1, batch_));
    parts_ = samples_ > 1 ? 1 : std::max<int64_t>(1, (plane_ + wanted - 1) / wanted);
    part_ = (plane_ + parts_ - 1) / parts_;
    groups_of_samples_ = (batch_ + samples_ - 1) / samples_;
  }

  int64_t size() const { return groups_of_samples_ * parts_; }
  /// Chunks of the same samples follow each other.
  int64_t parts() const { return parts_; }
  int64_t largest() const { return samples_ * part_; }
  ConvolutionChunk operator[](int64_t i) const {
    const int64_t sample = i / parts_ * samples_, first = i % parts_ * part_;
    return {sample, std::min(samples_, batch_ - sample), first, std::max<int64_t>(0, std::min(part_, plane_ - first))};
  }

 private:
  int64_t plane_, batch_, samples_ = 1, parts_ = 1, part_ = 1, groups_of_samples_ = 0;
};

/// A run of output positions in one line of the output, seen by one kernel element: which of them lie inside the input.
struct WindowRun {
  int64_t line;        // offset of the input line; meaningless when count is 0
  int64_t begin, end;  // positions of the line that read inside
  int64_t source;      // input coordinate of position 0
};

/// Calls f(offset in the positions, first position in its line, length, run) for every piece of an output line.
template <typename F>
inline void for_each_run(const ConvolutionGeometry& g, int64_t kernel_element, int64_t first, int64_t positions, const F& f) {
  const int64_t k2 = kernel_element % g.kernel[2], k1 = kernel_element / g.kernel[2] % g.kernel[1];
  const int64_t k0 = kernel_element / g.kernel[2] / g.kernel[1];
  const int64_t width = g.output[2], stride = g.stride[2];
  const int64_t source = k2 * g.dilation[2] - g.padding[2];
  // source + x * stride in [0, input[2])
  const int64_t low = source >= 0 ? 0 : (-source + stride - 1) / stride;
  const int64_t high = g.input[2] > source ? (g.input[2] - source + stride - 1) / stride : 0;
  int64_t x = first % width, y = first / width % g.output[1], z = first / width / g.output[1];
  for (int64_t done = 0; done < positions;) {
    const int64_t length = std::min(width - x, positions - done);
    const int64_t i0 = z * g.stride[0] - g.padding[0] + k0 * g.dilation[0];
    const int64_t i1 = y * g.stride[1] - g.padding[1] + k1 * g.dilation[1];
    const bool inside = i0 >= 0 && i0 < g.input[0] && i1 >= 0 && i1 < g.input[1];
    const int64_t begin = std::clamp(low, x, x + length), end = inside ? std::clamp(high, begin, x + length) : begin;
    f(done, x, length, WindowRun{(i0 * g.input[1] + i1) * g.input[2], begin, end, source});
    done += length;
    x = 0;
    if (++y == g.output[1]) {
      y = 0;
      ++z;
    }
  }
}

/// One row of columns from one sample: what kernel element sees of the plane `in` at each position.
template <typename T>
void gather_windows(const ConvolutionGeometry& g, const T* in, int64_t kernel_element, int64_t first, int64_t positions, T* out) {
  const int64_t stride = g.stride[2];
  for_each_run(g, kernel_element, first, positions, [&](int64_t offset, int64_t x, int64_t length, const WindowRun& run) {
    T* to = out + offset - x;
    for (int64_t i = x; i < run.begin; ++i) to[i] = T(0);
    const T* from = in + run.line + run.source;
    if (stride == 1) {
      for (int64_t i = run.begin; i < run.end; ++i) to[i] = from[i];
    } else if (stride == 2) {  // a constant step vectorises
      for (int64_t i = run.begin; i < run.end; ++i) to[i] = from[2 * i];
    } else {
      for (int64_t i = run.begin; i < run.end; ++i) to[i] = from[i * stride];
    }
    for (int64_t i = run.end; i < x + length; ++i) to[i] = T(0);
  });
}

/// The same for an output as wide as the input, with stride 1: a shifted copy, of which border columns become zeros.
template <typename T>
void gather_shifted(const ConvolutionGeometry& g, const T* in, int64_t kernel_element, int64_t first, int64_t positions, T* out) {
  const int64_t width = g.input[2], last = first + positions;
  const int64_t shift_x = kernel_element % g.kernel[2] * g.dilation[2] - g.padding[2];
  const int64_t shift_y = kernel_element / g.kernel[2] * g.dilation[1] - g.padding[1], shift = shift_y * width + shift_x;
  const int64_t first_line = std::clamp<int64_t>(-shift_y, 0, g.output[1]);
  const int64_t last_line = std::clamp<int64_t>(g.input[1] - shift_y, first_line, g.output[1]);
  // What lies before or behind the input plane is in border columns.
  const int64_t begin = std::clamp(std::max(first_line * width, -shift), first, last);
  const int64_t end = std::clamp(std::min(last_line * width, g.input_plane() - shift), begin, last);
  std::fill(out, out + (begin - first), T(0));
  std::copy(in + (begin + shift), in + (end + shift), out + (begin - first));
  std::fill(out + (end - first), out + positions, T(0));
  const int64_t border = std::min(shift_x < 0 ? -shift_x : shift_x, width), from = shift_x < 0 ? 0 : width - border;
  for (int64_t line = begin - begin % width; border > 0 && line < end; line += width) {
    for (int64_t i = std::max(begin, line + from); i < std::min(end, line + from + border); ++i) out[i - first] = T(0);
  }
}

/// What a kernel element sees of whole planes, for such an output, where it is not copied but multiplied.
template <typename T>
class ShiftedPlane {
 public:
  ShiftedPlane(const ConvolutionGeometry& g, int64_t kernel_element)
      : shift_x_(kernel_element % g.kernel[2] * g.dilation[2] - g.padding[2]), plane_(g.output_plane()), width_(g.input[2]) {
    const int64_t shift_y = kernel_element / g.kernel[2] * g.dilation[1] - g.padding[1];
    const int64_t first_line = std::clamp<int64_t>(-shift_y, 0, g.output[1]);
    const int64_t last_line = std::clamp<int64_t>(g.input[1] - shift_y, first_line, g.output[1]);
    shift_ = shift_y * width_ + shift_x_;
    // What lies before or behind the input plane is in border columns.
    begin_ = std::max(first_line * width_, -shift_);
    end_ = std::max(begin_, std::min(last_line * width_, g.input_plane() - shift_));
    if (begin_ > plane_) begin_ = end_ = plane_;
    kept_.resize(plane_, 0);
    const int64_t first = std::clamp<int64_t>(-shift_x_, 0, width_), last = std::clamp<int64_t>(width_ - shift_x_, first, width_);
    for (int64_t line = 0; line < plane_; line += width_) std::fill(kept_.data() + line + first, kept_.data() + line + last, ~Bits(0));
  }

  /// out += factor * what the kernel element sees of `in`.
  void add_seen(const T* in, T factor, T* out) const {
    const T* from = in + shift_;
    for (int64_t i = begin_; i < end_; ++i) out[i] += factor * kept(from[i], kept_[i]);
  }
  /// The transpose: adds factor * values to the elements of `in` that they come from.
  void add_back(const T* values, T factor, T* in) const {
    T* to = in + shift_;
    for (int64_t i = begin_; i < end_; ++i) to[i] += factor * kept(values[i], kept_[i]);
  }
  /// Sum of values times what the kernel element sees of `in`.
  T dot(const T* values, const T* in) const {
    constexpr int64_t kLanes = 16;
    T lanes[kLanes] = {};
    const T* from = in + shift_;
    int64_t i = begin_;
    for (; i + kLanes <= end_; i += kLanes) {
      for (int64_t j = 0; j < kLanes; ++j) lanes[j] += values[i + j] * kept(from[i + j], kept_[i + j]);
    }
    for (int64_t j = 0; i < end_; ++i, ++j) lanes[j] += values[i] * kept(from[i], kept_[i]);
    T sum = 0;
    for (const T lane : lanes) sum += lane;
    return sum;
  }

 private:
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  /// As bits, not as a product with 0 or 1: what is left out may be infinite.
  static T kept(T value, Bits bits) { return __builtin_bit_cast(T, __builtin_bit_cast(Bits, value) & bits); }

  int64_t shift_x_, plane_, width_;
  int64_t shift_ = 0, begin_ = 0, end_ = 0;
  std::vector<Bits> kept_;
};

inline bool has_shifted_planes(const ConvolutionGeometry& g) {
  return g.kernel[0] == 1 && g.input[0] == 1 && g.output[0] == 1 && g.padding[0] == 0 && g.stride[1] == 1 && g.stride[2] == 1 &&
         g.output[2] == g.input[2];
}

/// columns (column_rows x chunk.columns()) of one group; `in` is the whole input.
template <typename T>
void gather_columns(const ConvolutionGeometry& g, const ConvolutionChunk& chunk, int64_t group, const T* in, T* columns) {
  const int64_t width = chunk.columns(), elements = g.kernel_elements(), plane = g.input_plane();
  const auto gather = has_shifted_planes(g) ? gather_shifted<T> : gather_windows<T>;
  const int64_t grain = std::max<int64_t>(1, kDefaultGrainSize / std::max<int64_t>(1, width * elements));
  parallel_for(0, g.group_channels(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      const T* source = in + (chunk.sample * g.channels + group * g.group_channels() + c) * plane;
      for (int64_t element = 0; element < elements; ++element) {
        T* target = columns + (c * elements + element) * width;
        for (int64_t s = 0; s < chunk.samples; ++s) {
          gather(g, source + s * g.channels * plane, element, chunk.first, chunk.positions, target + s * chunk.positions);
        }
      }
    }
  });
}

/// Adds what one kernel element saw back to the plane it came from.
template <typename T>
void scatter_windows(const ConvolutionGeometry& g, const T* values, int64_t kernel_element, int64_t first, int64_t positions, T* in) {
  const int64_t stride = g.stride[2];
  for_each_run(g, kernel_element, first, positions, [&](int64_t offset, int64_t x, int64_t, const WindowRun& run) {
    const T* from = values + offset - x;
    T* to = in + run.line + run.source;
    if (stride == 1) {
      for (int64_t i = run.begin; i < run.end; ++i) to[i] += from[i];
    } else {
      for (int64_t i = run.begin; i < run.end; ++i) to[i * stride] += from[i];
    }
  });
}

/// The transpose of gather_columns: adds every column element to the input element it came from.
template <typename T>
void scatter_columns(const ConvolutionGeometry& g, const ConvolutionChunk& chunk, int64_t group, const T* columns, T* in) {
  const int64_t width = chunk.columns(), elements = g.kernel_elements(), plane = g.input_plane();
  const bool shifted = has_shifted_planes(g) && chunk.positions == g.output_plane();
  const int64_t grain = std::max<int64_t>(1, kDefaultGrainSize / std::max<int64_t>(1, width * elements));
  parallel_for(0, g.group_channels(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t element = 0; element < elements; ++element) {
      std::optional<ShiftedPlane<T>> shifted_plane;
      if (shifted) shifted_plane.emplace(g, element);
      for (int64_t c = begin; c < end; ++c) {
        T* target = in + (chunk.sample * g.channels + group * g.group_channels() + c) * plane;
        const T* source = columns + (c * elements + element) * width;
        for (int64_t s = 0; s < chunk.samples; ++s) {
          T* to = target + s * g.channels * plane;
          const T* from = source + s * chunk.positions;
          if (shifted) {
            shifted_plane->add_back(from, T(1), to);
          } else {
            scatter_windows(g, from, element, chunk.first, chunk.positions, to);
          }
        }
      }
    }
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
