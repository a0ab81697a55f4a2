// Applies one linear map (Taps) per dimension. A block (the planes of one sample and channel, or
// one channels_last sample) goes through all dimensions while in the cache. Compiled with -O3.
#include "aten/native/cpu/shared/Resample.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/native/shared/ResamplingRules.h"
#include "aten/native/shared/ResultFormat.h"
#include "aten/parallel/Parallel.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// Taps in the arithmetic type. If every element has the same number of taps, at most 4, `width` is
/// that number, and the taps are also stored tap by tap, so that a line vectorises. Otherwise
/// `width` is 0.
template <typename T>
struct AxisMap {
  int64_t in, out, width = 0;
  bool consecutive = true;
  const Taps& taps;
  std::vector<T> weight;
  std::vector<int32_t> index;

  explicit AxisMap(const Taps& source)
      : in(source.in),
        out(source.out),
        taps(source),
        weight(source.weight.begin(), source.weight.end()) {
    if (out == 0) return;

    width = source.first[1];
    for (int64_t j = 0; j < out; ++j) {
      if (source.first[j + 1] - source.first[j] != width) width = 0;
      for (int64_t t = source.first[j] + 1; t < source.first[j + 1]; ++t)
        consecutive &= source.index[t] == source.index[t - 1] + 1;
    }

    if (width < 1 || width > 4 || in > INT32_MAX) {
      width = 0;
      return;
    }

    index.resize(source.index.size());
    for (int64_t t = 0; t < width; ++t) {
      for (int64_t j = 0; j < out; ++j) {
        index[t * out + j] = static_cast<int32_t>(source.index[j * width + t]);
        weight[t * out + j] = static_cast<T>(source.weight[j * width + t]);
      }
    }
  }
};

/// Maps a line whose elements have kWidth taps each.
template <int64_t kWidth, typename T>
void map_line_of_width(const AxisMap<T>& axis, const T* in, T* out) {
  const int64_t n = axis.out;
  const int32_t* index = axis.index.data();
  const T* weight = axis.weight.data();
  for (int64_t j = 0; j < n; ++j) {
    T sum = weight[j] * in[index[j]];
    for (int64_t t = 1; t < kWidth; ++t) sum += weight[t * n + j] * in[index[t * n + j]];
    out[j] = sum;
  }
}

/// The inner product of n weights and elements.
template <typename T>
T dot(const T* weight, const T* in, int64_t n) {
  constexpr int64_t kLanes = 16;
  T lanes[kLanes] = {};
  T sum = 0;

  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t j = 0; j < kLanes; ++j) lanes[j] += weight[i + j] * in[i + j];
  }
  if (i > 0) {
    for (int64_t half = kLanes / 2; half > 0; half /= 2) {
      for (int64_t j = 0; j < half; ++j) lanes[j] += lanes[j + half];
    }
    sum = lanes[0];
  }

  for (; i < n; ++i) sum += weight[i] * in[i];
  return sum;
}

/// Maps one line of contiguous elements.
template <typename T>
void map_line(const AxisMap<T>& axis, const T* in, T* out) {
  switch (axis.width) {
    case 1: return map_line_of_width<1>(axis, in, out);
    case 2: return map_line_of_width<2>(axis, in, out);
    case 3: return map_line_of_width<3>(axis, in, out);
    case 4: return map_line_of_width<4>(axis, in, out);
    default: break;
  }

  const Taps& taps = axis.taps;
  for (int64_t j = 0; j < axis.out; ++j) {
    const int64_t begin = taps.first[j];
    const int64_t n = taps.first[j + 1] - begin;
    if (axis.consecutive && n > 0) {
      out[j] = dot(axis.weight.data() + begin, in + taps.index[begin], n);
    } else {
      T sum = 0;
      for (int64_t t = begin; t < begin + n; ++t) sum += axis.weight[t] * in[taps.index[t]];
      out[j] = sum;
    }
  }
}

/// Computes row j of the result, which has `after` elements, from rows of the input.
template <typename T>
void map_row(const AxisMap<T>& axis, int64_t j, int64_t after, const T* in, T* out) {
  const int64_t begin = axis.taps.first[j];
  const int64_t end = axis.taps.first[j + 1];
  const auto row = [&](int64_t t) { return in + axis.taps.index[t] * after; };
  const auto weight = [&](int64_t t) {
    return axis.width > 0 ? axis.weight[(t - begin) * axis.out + j] : axis.weight[t];
  };

  if (begin == end) {
    std::fill_n(out, after, T(0));
    return;
  }

  // The first one or two taps set the row, the others add to it.
  int64_t t = begin + 1;
  if (end - begin == 1) {
    const T w = weight(begin);
    const T* a = row(begin);
    for (int64_t i = 0; i < after; ++i) out[i] = w * a[i];
  } else {
    const T w = weight(begin);
    const T v = weight(begin + 1);
    const T* a = row(begin);
    const T* b = row(begin + 1);
    for (int64_t i = 0; i < after; ++i) out[i] = w * a[i] + v * b[i];
    ++t;
  }

  for (; t < end; ++t) {
    const T w = weight(t);
    const T* a = row(t);
    for (int64_t i = 0; i < after; ++i) out[i] += w * a[i];
  }
}

/// Maps an array of (before, axis.in, after) to one of (before, axis.out, after).
template <typename T>
void map_axis(const AxisMap<T>& axis, int64_t before, int64_t after, const T* in, T* out) {
  for (int64_t b = 0; b < before; ++b, in += axis.in * after, out += axis.out * after) {
    if (after == 1) {
      map_line(axis, in, out);
    } else {
      for (int64_t j = 0; j < axis.out; ++j) map_row(axis, j, after, in, out + j * after);
    }
  }
}

/// The dimensions that change, in the order in which they are mapped: those that make a block
/// smaller come first. The last dimension takes the most time per element, so among dimensions of
/// equal growth it comes first if they enlarge the block and last if they shrink it.
std::vector<int> order_of_axes(const AxesTaps& taps) {
  std::vector<int> order;
  for (int d = 0; d < 3; ++d) {
    if (!taps[d].is_identity()) order.push_back(d);
  }

  const auto growth = [&](int d) {
    return static_cast<double>(taps[d].out) / static_cast<double>(std::max<int64_t>(taps[d].in, 1));
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    if (growth(a) != growth(b)) return growth(a) < growth(b);
    return growth(a) > 1 && a > b;
  });
  return order;
}

/// Maps blocks along all dimensions that change.
template <typename T>
class BlockMap {
 public:
  /// A block has `inner` channels per element. Bytes are rounded after every dimension, starting
  /// with the last, as in image libraries.
  BlockMap(const AxesTaps& taps, int64_t inner, bool bytes)
      : order_(order_of_axes(taps)), inner_(inner), bytes_(bytes) {
    if (bytes) std::sort(order_.begin(), order_.end(), std::greater<>());

    int64_t sizes[3] = {taps[0].in, taps[1].in, taps[2].in};
    for (int d = 0; d < 3; ++d) axes_.emplace_back(taps[d]);
    in_ = inner * sizes[0] * sizes[1] * sizes[2];
    for (const int d : order_) {
      sizes[d] = taps[d].out;
      largest_ = std::max(largest_, inner * sizes[0] * sizes[1] * sizes[2]);
    }
    out_ = inner * sizes[0] * sizes[1] * sizes[2];
  }

  int64_t in() const { return in_; }
  int64_t out() const { return out_; }
  int64_t work() const { return std::max(in_, largest_) * 4; }

  /// The number of blocks that are mapped together, so that small planes cost as little per element
  /// as large ones.
  int64_t together() const {
    return std::clamp<int64_t>(4096 / std::max<int64_t>(1, std::max(in_, largest_)), 1, 64);
  }

  /// The number of elements of each of the two buffers that `apply` needs.
  int64_t buffer() const { return largest_ * together(); }

  void apply(int64_t blocks, const T* in, T* out, T* buffers) const {
    if (order_.empty()) {
      std::copy_n(in, in_ * blocks, out);
      return;
    }

    int64_t sizes[3] = {axes_[0].in, axes_[1].in, axes_[2].in};
    const T* source = in;
    for (size_t k = 0; k < order_.size(); ++k) {
      const int d = order_[k];
      int64_t before = blocks;
      int64_t after = inner_;
      for (int e = 0; e < d; ++e) before *= sizes[e];
      for (int e = d + 1; e < 3; ++e) after *= sizes[e];

      // The two buffers take turns; the last dimension writes the result.
      T* target = k + 1 == order_.size() ? out : buffers + (k % 2) * buffer();
      map_axis(axes_[d], before, after, source, target);
      if (bytes_) round_to_bytes(target, before * axes_[d].out * after);
      source = target;
      sizes[d] = axes_[d].out;
    }
  }

 private:
  std::vector<int> order_;
  std::vector<AxisMap<T>> axes_;
  int64_t inner_, in_ = 0, out_ = 0, largest_ = 0;
  bool bytes_;

  static void round_to_bytes(T* values, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      values[i] = std::clamp(std::floor(values[i] + T(0.5)), T(0), T(255));
  }
};

/// Maps all blocks of a tensor in parallel, converting groups of them to the arithmetic type.
template <typename scalar_t>
void map_blocks(const AxesTaps& taps, const PlaneLayout& layout, const scalar_t* in,
                scalar_t* out) {
  using acc_t = std::conditional_t<std::is_integral_v<scalar_t>, float, opmath_type<scalar_t>>;
  constexpr bool direct = std::is_same_v<scalar_t, acc_t>;
  const BlockMap<acc_t> map(taps, layout.inner, std::is_integral_v<scalar_t>);

  const int64_t together = map.together();
  const int64_t groups = (layout.outer + together - 1) / together;
  const int64_t grain =
      std::max<int64_t>(1, kDefaultGrainSize / std::max<int64_t>(1, map.work() * together));
  parallel_for(0, groups, grain, [&](int64_t begin, int64_t end) {
    std::vector<acc_t> buffers(2 * map.buffer());
    std::vector<acc_t> converted(direct ? 0 : (map.in() + map.out()) * together);

    for (int64_t k = begin * together; k < std::min(end * together, layout.outer); k += together) {
      const int64_t blocks = std::min(together, layout.outer - k);
      const scalar_t* source = in + k * map.in();
      scalar_t* target = out + k * map.out();

      if constexpr (direct) {
        map.apply(blocks, source, target, buffers.data());
      } else {
        acc_t* result = converted.data() + map.in() * blocks;
        for (int64_t i = 0; i < map.in() * blocks; ++i)
          converted[i] = static_cast<acc_t>(source[i]);
        map.apply(blocks, converted.data(), result, buffers.data());
        for (int64_t i = 0; i < map.out() * blocks; ++i)
          target[i] = static_cast<scalar_t>(result[i]);
      }
    }
  });
}

}  // namespace

void resample(const char* name, const AxesTaps& taps, int64_t spatial, const Tensor& self,
              const Tensor& out) {
  if (out.numel() == 0) return;

  const PlaneLayout layout(out, spatial, self);
  const Tensor input = self.contiguous(layout.format);
  const ScalarType dtype = input.scalar_type();
  const void* in = input.data();

  const auto run = [&](auto zero) {
    using scalar_t = decltype(zero);
    map_blocks(taps, layout, static_cast<const scalar_t*>(in), static_cast<scalar_t*>(out.data()));
  };
  if (dtype == kByte) return run(uint8_t());
  AT_DISPATCH_FLOATING_AND_REDUCED(dtype, name, [&] { run(scalar_t()); });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
