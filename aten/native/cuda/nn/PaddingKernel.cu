// The kernels of padding with a constant or with elements of the input, and of the gradient.
#include <cstring>

#include "aten/Dispatch.h"
#include "aten/native/cuda/MovedBytes.h"
#include "aten/native/cuda/PerIndex.cuh"
#include "aten/native/cuda/PlaneIndex.h"
#include "aten/native/shared/Taps.h"
#include "aten/ops/contiguous.h"

namespace at::native::cuda {

namespace {

/// Three dimensions; those that are missing come first.
struct PaddedAxes {
  PaddedAxis axis[3];

  /// `pad` lists widths as the operator pad does: last dimension first.
  PaddedAxes(IntArrayRef sizes, IntArrayRef pad, std::string_view mode) {
    const PaddingMode kind = padding_mode(mode);
    for (PaddedAxis& missing : axis) missing.mode = PaddingMode::Replicate;
    for (size_t k = 0; k < pad.size() / 2; ++k)
      axis[2 - k] = {kind, sizes[sizes.size() - 1 - k], pad[2 * k], pad[2 * k + 1]};
  }
};

template <class T>
struct PadByCopy {
  PaddedAxes axes;
  PlaneIndex in_index, out_index;
  const T* in;
  T* out;

  SIMT_DEVICE void operator()(int64_t index) const {
    const PlanePlace place = out_index.find(index);
    out[index] =
        in[in_index.offset(place, axes.axis[0].source(place.at[0]),
                           axes.axis[1].source(place.at[1]), axes.axis[2].source(place.at[2]))];
  }
};

/// The places of the result that repeat one element of the input, in ascending order: few numbers,
/// or a progression.
struct Repetitions {
  int64_t first = 0, step = 1, count = 0;
  int64_t mirrored[4] = {};
  bool is_mirrored = false;

  SIMT_DEVICE int64_t place(int64_t k) const {
    return is_mirrored ? mirrored[k] : first + k * step;
  }

  SIMT_DEVICE static Repetitions of(const PaddedAxis& axis, int64_t i) {
    if (axis.mode == PaddingMode::Reflect) return of_reflection(axis, i);

    Repetitions result;
    int64_t end = axis.out();
    if (axis.mode == PaddingMode::Replicate) {
      result.first = i == 0 ? 0 : i + axis.before;
      if (i + 1 < axis.in && i + axis.before + 1 < end) end = i + axis.before + 1;
      if (result.first < 0) result.first = 0;
    } else {
      const int64_t place = i - axis.kept_begin();
      if (place < 0 || place >= axis.kept_size()) return result;
      result.step = axis.kept_size();
      result.first = (i + axis.before) % result.step;
    }

    if (end > result.first) result.count = (end - result.first - 1) / result.step + 1;
    return result;
  }

  /// Positions i and its mirror images at both ends.
  SIMT_DEVICE static Repetitions of_reflection(const PaddedAxis& axis, int64_t i) {
    Repetitions result;
    result.is_mirrored = true;
    const int64_t image = 2 * (axis.in - 1) - i;
    const int64_t positions[4] = {-image, -i, i, image};
    for (int k = 0; k < 4; ++k) {
      const int64_t place = positions[k] + axis.before;
      const bool is_double = k > 0 && positions[k] == positions[k - 1];
      if (place >= 0 && place < axis.out() && !is_double) result.mirrored[result.count++] = place;
    }
    return result;
  }
};

/// Adds up the gradients of the places that repeat one element.
template <class T>
struct PadBackward {
  PaddedAxes axes;
  PlaneIndex in_index, out_index;  // of the operator's input and result
  const T* grad;
  T* out;

  SIMT_DEVICE void operator()(int64_t index) const {
    const PlanePlace place = in_index.find(index);
    Repetitions copies[3];
    for (int d = 0; d < 3; ++d) copies[d] = Repetitions::of(axes.axis[d], place.at[d]);

    opmath_type<T> sum(0);
    for (int64_t z = 0; z < copies[0].count; ++z) {
      for (int64_t y = 0; y < copies[1].count; ++y) {
        for (int64_t x = 0; x < copies[2].count; ++x) {
          sum += static_cast<opmath_type<T>>(grad[out_index.offset(
              place, copies[0].place(z), copies[1].place(y), copies[2].place(x))]);
        }
      }
    }
    out[index] = static_cast<T>(sum);
  }
};

/// Up to 12 dimensions, first dimension fastest.
struct ConstantBox {
  static constexpr int kMaxDims = 12;
  int dims = 0;
  WideDivisor sizes[kMaxDims];  // of the result
  int64_t in_sizes[kMaxDims];
  int64_t before[kMaxDims];
  int64_t strides[kMaxDims];      // of the input, in elements
  int64_t out_strides[kMaxDims];  // of the result
};

template <class T>
struct PadConstant {
  ConstantBox box;
  const T* in;
  T* out;
  T value;

  SIMT_DEVICE void operator()(int64_t index) const {
    int64_t from = 0;
    int64_t to = 0;
    bool is_inside = true;
    for (int d = 0; d < box.dims; ++d) {
      const int64_t rest = box.sizes[d].quotient(index);
      const int64_t at = index - rest * box.sizes[d].value();
      const int64_t position = at - box.before[d];
      is_inside = is_inside && position >= 0 && position < box.in_sizes[d];
      from += position * box.strides[d];
      to += at * box.out_strides[d];
      index = rest;
    }
    out[to] = is_inside ? in[from] : value;
  }
};

}  // namespace

void _pad_by_copy_kernel(const Tensor& self, IntArrayRef pad, std::string_view mode,
                         const Tensor& out0) {
  if (out0.numel() == 0) return;

  const auto spatial = static_cast<int64_t>(pad.size()) / 2;
  const PlaneLayout layout(out0, spatial, self);
  const Tensor input = self.contiguous(layout.format);
  with_moved_type(static_cast<int64_t>(self.itemsize()), [&](auto element) {
    using T = decltype(element);
    per_index("pad", out0.numel(),
              PadByCopy<T>{PaddedAxes(self.sizes(), pad, mode),
                           PlaneIndex(self.sizes(), spatial, layout.inner),
                           PlaneIndex(out0.sizes(), spatial, layout.inner),
                           static_cast<const T*>(input.data()), static_cast<T*>(out0.data())});
  });
}

void _pad_by_copy_backward_kernel(const Tensor& grad, IntArrayRef sizes, IntArrayRef pad,
                                  std::string_view mode, const Tensor& out0) {
  if (out0.numel() == 0) return;

  const auto spatial = static_cast<int64_t>(pad.size()) / 2;
  const PlaneLayout layout(out0, spatial, grad);
  const Tensor grads = grad.contiguous(layout.format);
  AT_DISPATCH_FLOATING_AND_COMPLEX(grad.scalar_type(), "pad_backward", [&] {
    per_index("pad_backward", out0.numel(),
              PadBackward<scalar_t>{PaddedAxes(sizes, pad, mode),
                                    PlaneIndex(sizes, spatial, layout.inner),
                                    PlaneIndex(grad.sizes(), spatial, layout.inner),
                                    grads.const_data_ptr<scalar_t>(), out0.data_ptr<scalar_t>()});
  });
}

void constant_pad_nd_kernel(const Tensor& self, IntArrayRef pad, const Scalar& value,
                            const Tensor& out0) {
  if (out0.numel() == 0) return;
  TORCH_CHECK(self.dim() <= ConstantBox::kMaxDims, "constant_pad_nd: expected at most ",
              ConstantBox::kMaxDims, " dimensions on CUDA, got ", self.dim());

  ConstantBox box;
  for (int64_t d = self.dim() - 1; d >= 0; --d) {
    const size_t k = static_cast<size_t>(box.dims++);
    box.sizes[k] = WideDivisor(out0.sizes()[d]);
    box.in_sizes[k] = self.sizes()[d];
    box.before[k] = 2 * k < pad.size() ? pad[2 * k] : 0;
    box.strides[k] = self.strides()[d];
    box.out_strides[k] = out0.strides()[d];
  }

  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), "constant_pad_nd", [&] {
    const auto number = value.to<scalar_t>();
    with_moved_type(sizeof(scalar_t), [&](auto element) {
      using T = decltype(element);
      if constexpr (sizeof(T) == sizeof(scalar_t)) {
        std::memcpy(static_cast<void*>(&element), &number, sizeof(T));
        per_index("constant_pad_nd", out0.numel(),
                  PadConstant<T>{box, static_cast<const T*>(self.data()),
                                 static_cast<T*>(out0.data()), element});
      }
    });
  });
}

}  // namespace at::native::cuda
