// The kernels of flip and roll.
#include <algorithm>

#include "aten/core/Tensor.h"
#include "aten/native/cuda/MovedBytes.h"
#include "aten/native/cuda/PerIndex.cuh"
#include "aten/native/shared/ViewHelpers.h"

namespace at::native::cuda {

namespace {

template <class T>
struct CopyElement {
  Geometry<2> geometry;
  char* out;
  const char* in;

  SIMT_DEVICE void operator()(int64_t index) const {
    int64_t offsets[2];
    geometry.find(index, offsets);
    *reinterpret_cast<T*>(out + offsets[0]) = *reinterpret_cast<const T*>(in + offsets[1]);
  }
};

void copy_elements(const char* name, Geometry<2> geometry, char* out, const char* in,
                   int64_t itemsize) {
  const int64_t bytes = widen(geometry, itemsize, out, in);
  with_moved_type(bytes, [&](auto element) {
    per_index(name, geometry.numel, CopyElement<decltype(element)>{geometry, out, in});
  });
}

/// The two halves of a rolled dimension: in the result and in the source, where they begin and how
/// long they are.
struct RolledPart {
  int64_t to;
  int64_t from;
  int64_t length;
};

RolledPart rolled_part(int64_t size, int64_t shift, bool wraps) {
  return wraps ? RolledPart{0, size - shift, shift} : RolledPart{shift, 0, size - shift};
}

/// Copies the box of elements of which bit d of `wraps` says whether they cross the end of
/// dimension d.
void copy_rolled_box(const Tensor& self, const Tensor& out, const DimVector& shift,
                     uint64_t wraps) {
  const auto itemsize = static_cast<int64_t>(self.itemsize());
  GeometryBuilder<2> builder;
  char* to = static_cast<char*>(out.data());
  const char* from = static_cast<const char*>(self.data());

  for (int64_t d = 0; d < self.dim(); ++d) {
    const RolledPart part = rolled_part(self.sizes()[d], shift[d], (wraps >> d & 1) != 0);
    const int64_t out_stride = out.strides()[d] * itemsize;
    const int64_t in_stride = self.strides()[d] * itemsize;
    builder.add(part.length, {out_stride, in_stride});
    to += part.to * out_stride;
    from += part.from * in_stride;
  }

  copy_elements("roll", builder.sorted(), to, from, itemsize);
}

}  // namespace

void flip_kernel(const Tensor& self, IntArrayRef dims, const Tensor& out0) {
  if (out0.numel() == 0) return;

  // A flipped dimension starts at its last element and steps backwards.
  const DimVector wrapped = wrap_dims(dims, self.dim());
  const auto itemsize = static_cast<int64_t>(self.itemsize());
  const char* start = static_cast<const char*>(self.data());
  GeometryBuilder<2> builder;
  for (int64_t d = 0; d < self.dim(); ++d) {
    const bool flipped = std::find(wrapped.begin(), wrapped.end(), d) != wrapped.end();
    const int64_t step = self.strides()[d] * itemsize;
    if (flipped) start += (self.sizes()[d] - 1) * step;
    builder.add(self.sizes()[d], {out0.strides()[d] * itemsize, flipped ? -step : step});
  }

  copy_elements("flip", builder.sorted(), static_cast<char*>(out0.data()), start, itemsize);
}

void roll_kernel(const Tensor& self, IntArrayRef shifts, IntArrayRef dims, const Tensor& out0) {
  if (out0.numel() == 0) return;

  // Without dimensions the tensor is rolled as one flat sequence.
  if (dims.empty() && self.dim() != 1)
    return roll_kernel(self.reshape({-1}), shifts, {0}, out0.view({-1}));

  // Shifts of the same dimension add up.
  DimVector shift(self.dim(), 0);
  for (size_t i = 0; i < shifts.size(); ++i) {
    const int64_t d = dims.empty() ? 0 : wrap_dim(dims[i], self.dim());
    const int64_t size = self.sizes()[d];
    const int64_t move = shifts[i] % size;
    shift[d] = (shift[d] + (move < 0 ? move + size : move)) % size;
  }

  // Dimensions that are rolled fall into two parts each: a box for each combination.
  uint64_t rolled = 0;
  for (int64_t d = 0; d < self.dim(); ++d) rolled |= static_cast<uint64_t>(shift[d] != 0) << d;
  uint64_t wraps = 0;
  do {
    copy_rolled_box(self, out0, shift, wraps);
    wraps = (wraps - rolled) & rolled;  // the next subset of the rolled dimensions
  } while (wraps != 0);
}

}  // namespace at::native::cuda
