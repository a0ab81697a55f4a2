// Loops that move elements: joining, reversing, rolling, padding. They copy bytes, so one instance per element size.
#include <cstring>

#include "aten/iteration/Gather.h"
#include "aten/iteration/TensorIterator.h"
#include "aten/native/ViewHelpers.h"
#include "aten/native/declarations/portable/ShapeKernel.h"
#include "aten/ops/copy.h"
#include "aten/ops/fill.h"
#include "aten/ops/narrow.h"
#include "aten/parallel/Parallel.h"

namespace at::native {

void cat_kernel(TensorList tensors, int64_t dim, const Tensor& out0) {
  if (out0.numel() == 0) return;
  const int64_t d = wrap_dim(dim, out0.dim());
  int64_t start = 0;
  const int64_t itemsize = static_cast<int64_t>(out0.itemsize());
  int64_t outer = 1, inner = itemsize;
  for (int64_t k = 0; k < d; ++k) outer *= out0.sizes()[k];
  for (int64_t k = d + 1; k < out0.dim(); ++k) inner *= out0.sizes()[k];
  const int64_t out_row = inner * out0.sizes()[d];
  char* out = static_cast<char*>(out0.data());
  for (const Tensor& tensor : tensors) {
    if (tensor.numel() == 0) continue;
    const int64_t length = tensor.sizes()[d];
    if (tensor.is_contiguous() && tensor.scalar_type() == out0.scalar_type()) {
      const char* in = static_cast<const char*>(tensor.data());
      const int64_t row = inner * length;
      const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 17) / row);
      parallel_for(0, outer, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) std::memcpy(out + i * out_row + start * inner, in + i * row, row);
      });
    } else {
      at::copy_(at::narrow(out0, d, start, length), tensor);
    }
    start += length;
  }
}

namespace {

/// Copies every row of `out` (last dimension) from the place in `self` that source_of(row index, start) names.
/// The first element comes from `first`, each next one from `step` elements further.
template <typename Source>
void copy_rows(const Tensor& self, const Tensor& out, const Source& source_of) {
  const int64_t columns = out.dim() == 0 ? 1 : out.size(-1);
  if (out.numel() == 0) return;
  const int64_t itemsize = static_cast<int64_t>(self.itemsize());
  char* target = static_cast<char*>(out.data());
  const int64_t rows = out.numel() / columns;
  parallel_for(0, rows, std::max<int64_t>(1, 32768 / columns), [&](int64_t begin, int64_t end) {
    DimVector index(std::max<int64_t>(0, out.dim() - 1));
    for (int64_t row = begin; row < end; ++row) {
      int64_t rest = row;
      for (int64_t d = out.dim() - 2; d >= 0; --d) {
        index[d] = rest % out.sizes()[d];
        rest /= out.sizes()[d];
      }
      source_of(index, target + row * columns * itemsize);
    }
  });
}

}  // namespace

void flip_kernel(const Tensor& self, IntArrayRef dims, const Tensor& out0) {
  const DimVector wrapped = wrap_dims(dims, self.dim());
  SmallVector<bool, 8> flipped(self.dim(), false);
  for (const int64_t d : wrapped) {
    if (self.dim() > 0) flipped[d] = true;
  }
  const int64_t itemsize = static_cast<int64_t>(self.itemsize());
  const int64_t last = self.dim() - 1;
  copy_rows(self, out0, [&](const DimVector& index, char* target) {
    const char* source = static_cast<const char*>(self.data());
    for (int64_t d = 0; d < last; ++d) source += (flipped[d] ? self.sizes()[d] - 1 - index[d] : index[d]) * self.strides()[d] * itemsize;
    if (last < 0) return gather(target, source, itemsize, itemsize, 1);
    const int64_t stride = self.strides()[last] * itemsize, columns = self.sizes()[last];
    if (flipped[last]) return gather(target, source + (columns - 1) * stride, -stride, itemsize, columns);
    gather(target, source, stride, itemsize, columns);
  });
}

void roll_kernel(const Tensor& self, IntArrayRef shifts, IntArrayRef dims, const Tensor& out0) {
  if (out0.numel() == 0) return;
  if (dims.empty() && self.dim() != 1) {  // as one flat sequence
    const Tensor flat = self.reshape({-1});
    const Tensor out = out0.view({-1});
    return roll_kernel(flat, shifts, {0}, out);
  }
  DimVector shift(self.dim(), 0);
  for (size_t i = 0; i < shifts.size(); ++i) {
    const int64_t d = dims.empty() ? 0 : wrap_dim(dims[i], self.dim());
    const int64_t size = self.sizes()[d], move = shifts[i] % size;
    shift[d] = (shift[d] + (move < 0 ? move + size : move)) % size;
  }
  const int64_t itemsize = static_cast<int64_t>(self.itemsize());
  const int64_t last = self.dim() - 1;
  const int64_t columns = self.sizes()[last], stride = self.strides()[last] * itemsize;
  copy_rows(self, out0, [&](const DimVector& index, char* target) {
    const char* source = static_cast<const char*>(self.data());
    for (int64_t d = 0; d < last; ++d) {
      const int64_t size = self.sizes()[d];
      source += (index[d] - shift[d] + size) % size * self.strides()[d] * itemsize;
    }
    gather(target, source + (columns - shift[last]) * stride, stride, itemsize, shift[last]);
    gather(target + shift[last] * itemsize, source, stride, itemsize, columns - shift[last]);
  });
}

void constant_pad_nd_kernel(const Tensor& self, IntArrayRef pad, const Scalar& value, const Tensor& out0) {
  at::fill_(out0, value);
  Tensor target = out0, source = self;
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t d = self.dim() - 1 - static_cast<int64_t>(i);
    const int64_t before = pad[2 * i], after = pad[2 * i + 1];
    const int64_t kept = self.sizes()[d] + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
    if (kept <= 0) return;
    source = at::narrow(source, d, std::max<int64_t>(0, -before), kept);
    target = at::narrow(target, d, std::max<int64_t>(0, before), kept);
  }
  at::copy_(target, source);
}

}  // namespace at::native
