// Loops that move elements: joining, reversing, rolling, padding. They copy bytes, so one instance
// per element size.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "aten/iteration/Gather.h"
#include "aten/iteration/TensorIterator.h"
#include "aten/native/shared/ViewHelpers.h"
#include "aten/native/declarations/cpu/shape/FlippingKernel.h"
#include "aten/ops/copy.h"
#include "aten/ops/fill.h"
#include "aten/ops/narrow.h"
#include "aten/ops/permute.h"
#include "aten/parallel/Parallel.h"

namespace at::native {

namespace {

/// Channels as the last dimension: contiguous for tensors that are channels_last.
Tensor channels_to_end(const Tensor& tensor) {
  if (tensor.dim() < 4) return tensor;  // one that is skipped
  DimVector order;
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    if (d != 1) order.push_back(d);
  }
  order.push_back(1);
  return at::permute(tensor, order);
}

}  // namespace

void cat_kernel(TensorList tensors, int64_t dim, const Tensor& out0) {
  if (out0.numel() == 0) return;
  const int64_t d = wrap_dim(dim, out0.dim());
  if (!out0.is_contiguous()) {
    std::vector<Tensor> turned;
    for (const Tensor& tensor : tensors) turned.push_back(channels_to_end(tensor));
    return cat_kernel(turned, d == 0 ? 0 : (d == 1 ? out0.dim() - 1 : d - 1),
                      channels_to_end(out0));
  }
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
        for (int64_t i = begin; i < end; ++i)
          std::memcpy(out + i * out_row + start * inner, in + i * row, row);
      });
    } else {
      at::copy_(at::narrow(out0, d, start, length), tensor);
    }
    start += length;
  }
}

namespace {

/// Calls copy_row(index, target) for every row of the dense memory of `out`, which has `sizes` from
/// its slowest dimension to its fastest.
template <typename CopyRow>
void copy_rows(const Tensor& out, IntArrayRef sizes, const CopyRow& copy_row) {
  const int64_t columns = sizes.empty() ? 1 : sizes.back(),
                outer = static_cast<int64_t>(sizes.size()) - 1;
  if (out.numel() == 0) return;
  const int64_t itemsize = static_cast<int64_t>(out.itemsize());
  char* target = static_cast<char*>(out.data());
  const int64_t rows = out.numel() / columns;
  parallel_for(0, rows, std::max<int64_t>(1, 32768 / columns), [&](int64_t begin, int64_t end) {
    DimVector index(std::max<int64_t>(0, outer));
    for (int64_t row = begin; row < end; ++row) {
      int64_t rest = row;
      for (int64_t d = outer - 1; d >= 0; --d) {
        index[d] = rest % sizes[d];
        rest /= sizes[d];
      }
      copy_row(index, target + row * columns * itemsize);
    }
  });
}

}  // namespace

void flip_kernel(const Tensor& self, IntArrayRef dims, const Tensor& out0) {
  if (out0.numel() == 0) return;
  const DimVector wrapped = wrap_dims(dims, self.dim());
  const int64_t itemsize = static_cast<int64_t>(self.itemsize());
  DimVector order(self.dim());  // of the memory of out0, slowest first
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return out0.strides()[a] > out0.strides()[b]; });
  // A flipped dimension starts at its end and goes back.
  const char* start = static_cast<const char*>(self.data());
  DimVector sizes, steps;
  for (const int64_t d : order) {
    const bool flipped = std::find(wrapped.begin(), wrapped.end(), d) != wrapped.end();
    const int64_t step = self.strides()[d] * itemsize;
    if (flipped) start += (self.sizes()[d] - 1) * step;
    sizes.push_back(self.sizes()[d]);
    steps.push_back(flipped ? -step : step);
  }
  copy_rows(out0, sizes, [&](const DimVector& index, char* target) {
    const char* source = start;
    for (size_t d = 0; d < index.size(); ++d) source += index[d] * steps[d];
    gather(target, source, steps.empty() ? itemsize : steps.back(), itemsize,
           sizes.empty() ? 1 : sizes.back());
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
  copy_rows(out0, out0.sizes(), [&](const DimVector& index, char* target) {
    const char* source = static_cast<const char*>(self.data());
    for (int64_t d = 0; d < last; ++d) {
      const int64_t size = self.sizes()[d];
      source += (index[d] - shift[d] + size) % size * self.strides()[d] * itemsize;
    }
    gather(target, source + (columns - shift[last]) * stride, stride, itemsize, shift[last]);
    gather(target + shift[last] * itemsize, source, stride, itemsize, columns - shift[last]);
  });
}

void constant_pad_nd_kernel(const Tensor& self, IntArrayRef pad, const Scalar& value,
                            const Tensor& out0) {
  at::fill_(out0, value);
  Tensor target = out0, source = self;
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t d = self.dim() - 1 - static_cast<int64_t>(i);
    const int64_t before = pad[2 * i], after = pad[2 * i + 1];
    const int64_t kept =
        self.sizes()[d] + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
    if (kept <= 0) return;
    source = at::narrow(source, d, std::max<int64_t>(0, -before), kept);
    target = at::narrow(target, d, std::max<int64_t>(0, before), kept);
  }
  at::copy_(target, source);
}

}  // namespace at::native
