#pragma once
// Gathers the windows of a convolution's input into the columns of a matrix, and scatters them
// back. Included by files compiled once per instruction set.
#include <algorithm>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "aten/native/cpu/nn/ConvolutionTasks.h"
#include "aten/native/cpu/nn/ConvolutionWindows.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

// Note [Chunks of a convolution]
// The output positions of all samples are cut into chunks: several whole samples if their planes
// are small, a part of one sample otherwise. The windows of a chunk are the columns of a matrix
// with column_rows() rows, and each chunk and group is one GEMM. Chunks depend on sizes only, so
// that results do not depend on the number of threads.

/// Positions [first, first + positions) of each of `samples` samples from `sample` on.
struct ConvolutionChunk {
  int64_t sample, samples, first, positions;

  int64_t columns() const { return samples * positions; }
};

/// The chunks of a convolution, numbered: the first parts of all samples, then the second parts,
/// and so on.
class ConvolutionChunks {
 public:
  explicit ConvolutionChunks(const ConvolutionGeometry& g)
      : plane_(g.output_plane()), batch_(g.batch) {
    const int64_t wanted = columns_at_once(g.column_rows(), g.group_outputs());

    // Samples per chunk. A pointwise convolution reads the input in place if its chunks do not
    // contain several samples.
    const bool in_place = g.is_pointwise() && plane_ >= 32;
    const int64_t most = in_place ? 1
                                  : std::clamp<int64_t>(wanted / std::max<int64_t>(1, plane_), 1,
                                                        std::max<int64_t>(1, batch_));
    groups_of_samples_ = (batch_ + most - 1) / most;
    samples_ = groups_of_samples_ == 0 ? 1 : (batch_ + groups_of_samples_ - 1) / groups_of_samples_;

    // Parts of a sample; all but the last are whole vectors.
    parts_ = most > 1 ? 1 : std::max<int64_t>(1, (plane_ + wanted - 1) / wanted);
    part_ = (plane_ + parts_ - 1) / parts_;
    if (parts_ > 1) part_ = (part_ + kVector - 1) / kVector * kVector;
  }

  int64_t size() const { return groups_of_samples_ * parts_; }
  int64_t parts() const { return parts_; }
  int64_t samples() const { return samples_; }
  int64_t groups_of_samples() const { return groups_of_samples_; }
  int64_t largest() const { return samples_ * part_; }
  ConvolutionChunk operator[](int64_t i) const {
    return at(i % groups_of_samples_, i / groups_of_samples_);
  }
  ConvolutionChunk at(int64_t samples, int64_t part) const {
    const int64_t sample = samples * samples_;
    const int64_t first = std::min(part * part_, plane_);
    return {sample, std::clamp<int64_t>(batch_ - sample, 0, samples_), first,
            std::min(part_, plane_ - first)};
  }

 private:
  static constexpr int64_t kVector = 16;  // elements

  int64_t plane_, batch_, samples_ = 1, parts_ = 1, part_ = 1, groups_of_samples_ = 0;
};

// Note [Windows of a chunk]
// The places that a kernel element sees are the same for all channels, and for all chunks of the
// same positions. They are computed once, in one of three forms: shifted planes, if the convolution
// has them; a table of the places of single elements, if lines are short; otherwise runs of
// elements at a constant distance.

/// The windows of one chunk at a time.
template <typename T>
class ChunkWindows {
 public:
  explicit ChunkWindows(const ConvolutionGeometry& g) : g_(g) {}

  /// Switches to the windows of `chunk`.
  void set(const ConvolutionChunk& chunk) {
    if (chunk.first == chunk_.first && chunk.positions == chunk_.positions &&
        chunk.samples == chunk_.samples)
      return;

    chunk_ = chunk;
    const int64_t positions = chunk.positions;
    const int64_t extent = chunk.samples * sample();
    shifted_.reset();
    table_.clear();
    runs_.clear();

    if (has_shifted_planes(g_) && positions >= 64) {
      shifted_.emplace(g_, chunk.first, positions);
    } else if (g_.output[2] < kLongLine && extent > 0 &&
               extent <= std::numeric_limits<int32_t>::max()) {
      fill_table();
    } else {
      fill_runs();
    }
  }

  /// Fills one row of the matrix of columns: what the kernel element sees of a channel. `in` is the
  /// channel's plane in the chunk's first sample.
  void gather(const T* in, int64_t element, T* out) const {
    if (!table_.empty()) {
      const int64_t width = chunk_.columns();
      const int32_t* places = table_.data() + element * width;
#pragma GCC ivdep
      for (int64_t i = 0; i < width; ++i) {
        const int32_t outside = places[i] >> 31;
        out[i] = kept(in[places[i] & ~outside], ~static_cast<SignedBits>(outside));
      }
      return;
    }

    for (int64_t s = 0; s < chunk_.samples; ++s, in += sample(), out += chunk_.positions) {
      if (shifted_) {
        (*shifted_)[element].seen(in, out);
      } else {
        gather_runs(in, element, out);
      }
    }
  }

  /// The transpose of gather: adds a row to the elements of `in` that it comes from.
  void scatter(const T* values, int64_t element, T* in) const {
    if (!table_.empty()) {
      const int64_t width = chunk_.columns();
      const int32_t* places = table_.data() + element * width;
      for (int64_t i = 0; i < width; ++i) {
        if (places[i] >= 0) in[places[i]] += values[i];
      }
      return;
    }

    for (int64_t s = 0; s < chunk_.samples; ++s, in += sample(), values += chunk_.positions) {
      if (shifted_) {
        (*shifted_)[element].add_back(values, T(1), in);
      } else {
        scatter_runs(values, element, in);
      }
    }
  }

 private:
  using SignedBits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

  /// The value if all bits are set, 0 if none are.
  static T kept(T value, SignedBits bits) {
    return __builtin_bit_cast(T, __builtin_bit_cast(SignedBits, value) & bits);
  }

  static constexpr int64_t kLongLine = 24;

  /// Positions [at, at + count) see the elements from `place` on; the positions between two runs
  /// see nothing.
  struct Run {
    int64_t at, count, place;
  };

  int64_t sample() const { return g_.channels * g_.input_plane(); }

  void fill_table() {
    const int64_t width = chunk_.columns();
    const int64_t positions = chunk_.positions;
    table_.assign(g_.kernel_elements() * width, -1);

    for (int64_t element = 0; element < g_.kernel_elements(); ++element) {
      int32_t* places = table_.data() + element * width;
      for_each_run(g_, element, chunk_.first, positions,
                   [&](int64_t offset, int64_t x, int64_t, const WindowRun& run) {
                     for (int64_t i = run.begin; i < run.end; ++i) {
                       places[offset + i - x] =
                           static_cast<int32_t>(run.line + run.source + i * g_.stride[2]);
                     }
                   });

      // The other samples of the chunk see the same places, one sample further on.
      for (int64_t i = positions; i < width; ++i) {
        const int32_t place = places[i - positions];
        places[i] = place < 0 ? place : static_cast<int32_t>(place + sample());
      }
    }
  }

  void fill_runs() {
    first_run_.assign(1, 0);
    for (int64_t element = 0; element < g_.kernel_elements(); ++element) {
      for_each_run(g_, element, chunk_.first, chunk_.positions,
                   [&](int64_t offset, int64_t x, int64_t, const WindowRun& run) {
                     if (run.begin == run.end) return;
                     runs_.push_back({offset + run.begin - x, run.end - run.begin,
                                      run.line + run.source + run.begin * g_.stride[2]});
                   });

      first_run_.push_back(static_cast<int64_t>(runs_.size()));
    }
  }

  void gather_runs(const T* in, int64_t element, T* out) const {
    const int64_t stride = g_.stride[2];
    int64_t done = 0;
    for (int64_t k = first_run_[element]; k < first_run_[element + 1]; ++k) {
      const Run& run = runs_[k];
      for (; done < run.at; ++done) out[done] = T(0);

      // A stride that is a constant can be vectorised.
      const T* from = in + run.place;
      T* to = out + run.at;
      if (stride == 1) {
        for (int64_t i = 0; i < run.count; ++i) to[i] = from[i];
      } else if (stride == 2) {
        for (int64_t i = 0; i < run.count; ++i) to[i] = from[2 * i];
      } else {
        for (int64_t i = 0; i < run.count; ++i) to[i] = from[i * stride];
      }
      done += run.count;
    }
    std::fill(out + done, out + chunk_.positions, T(0));
  }

  void scatter_runs(const T* values, int64_t element, T* in) const {
    const int64_t stride = g_.stride[2];
    for (int64_t k = first_run_[element]; k < first_run_[element + 1]; ++k) {
      const Run& run = runs_[k];
      const T* from = values + run.at;
      T* to = in + run.place;
      if (stride == 1) {
        for (int64_t i = 0; i < run.count; ++i) to[i] += from[i];
      } else {
        for (int64_t i = 0; i < run.count; ++i) to[i * stride] += from[i];
      }
    }
  }

  const ConvolutionGeometry& g_;
  ConvolutionChunk chunk_{0, 0, 0, 0};
  std::optional<ShiftedPlanes<T>> shifted_;
  std::vector<int32_t> table_;  // (kernel elements, columns); -1 where the element sees nothing
  std::vector<Run> runs_;
  std::vector<int64_t> first_run_;  // of each kernel element; one more marks the end
};

/// The smallest number of channels for a thread.
inline int64_t columns_grain(const ConvolutionGeometry& g, const ConvolutionChunk& chunk) {
  return std::max<int64_t>(1, kDefaultGrainSize /
                                  std::max<int64_t>(1, chunk.columns() * g.kernel_elements()));
}

/// Fills `columns` (column_rows x chunk.columns()) with the windows of one group. `in` is the whole
/// input; `windows` belong to the chunk.
template <typename T>
void gather_columns(const ConvolutionGeometry& g, const ConvolutionChunk& chunk,
                    const ChunkWindows<T>& windows, int64_t group, const T* in, T* columns) {
  const int64_t width = chunk.columns();
  const int64_t elements = g.kernel_elements();
  const int64_t plane = g.input_plane();
  const T* first = in + (chunk.sample * g.channels + group * g.group_channels()) * plane;
  parallel_for(0, g.group_channels(), columns_grain(g, chunk), [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      for (int64_t k = 0; k < elements; ++k)
        windows.gather(first + c * plane, k, columns + (c * elements + k) * width);
    }
  });
}

/// The transpose of gather_columns: adds every column element to the input element it came from.
template <typename T>
void scatter_columns(const ConvolutionGeometry& g, const ConvolutionChunk& chunk,
                     const ChunkWindows<T>& windows, int64_t group, const T* columns, T* in) {
  const int64_t width = chunk.columns();
  const int64_t elements = g.kernel_elements();
  const int64_t plane = g.input_plane();
  T* first = in + (chunk.sample * g.channels + group * g.group_channels()) * plane;
  parallel_for(0, g.group_channels(), columns_grain(g, chunk), [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      for (int64_t k = 0; k < elements; ++k)
        windows.scatter(columns + (c * elements + k) * width, k, first + c * plane);
    }
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
