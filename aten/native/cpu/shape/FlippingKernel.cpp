// Reverses and rolls dimensions by copying rows of bytes.
#include <algorithm>
#include <numeric>

#include "aten/iteration/Gather.h"
#include "aten/native/declarations/cpu/shape/FlippingKernel.h"
#include "aten/native/shared/ViewHelpers.h"
#include "aten/parallel/Parallel.h"

namespace at::native {

namespace {

/// Calls copy_row(index, target) for every row of the dense memory of `out`, which has `sizes` from
/// its slowest dimension to its fastest. `index` is the row's position in all but the fastest.
template <typename CopyRow>
void copy_rows(const Tensor& out, IntArrayRef sizes, const CopyRow& copy_row) {
  if (out.numel() == 0) return;

  const int64_t outer = static_cast<int64_t>(sizes.size()) - 1;
  const int64_t columns = sizes.empty() ? 1 : sizes.back();
  const int64_t rows = out.numel() / columns;
  const int64_t itemsize = static_cast<int64_t>(out.itemsize());
  char* target = static_cast<char*>(out.data());

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

  // Dimensions in the order of the memory of out0, slowest first.
  DimVector order(self.dim());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return out0.strides()[a] > out0.strides()[b]; });

  // A flipped dimension starts at its last element and steps backwards.
  const char* start = static_cast<const char*>(self.data());
  DimVector sizes;
  DimVector steps;
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

  // Without dimensions the tensor is rolled as one flat sequence.
  if (dims.empty() && self.dim() != 1) {
    const Tensor flat = self.reshape({-1});
    const Tensor out = out0.view({-1});
    return roll_kernel(flat, shifts, {0}, out);
  }

  // Shifts of the same dimension add up.
  DimVector shift(self.dim(), 0);
  for (size_t i = 0; i < shifts.size(); ++i) {
    const int64_t d = dims.empty() ? 0 : wrap_dim(dims[i], self.dim());
    const int64_t size = self.sizes()[d];
    const int64_t move = shifts[i] % size;
    shift[d] = (shift[d] + (move < 0 ? move + size : move)) % size;
  }

  const int64_t itemsize = static_cast<int64_t>(self.itemsize());
  const int64_t last = self.dim() - 1;
  const int64_t columns = self.sizes()[last];
  const int64_t stride = self.strides()[last] * itemsize;

  copy_rows(out0, out0.sizes(), [&](const DimVector& index, char* target) {
    const char* source = static_cast<const char*>(self.data());
    for (int64_t d = 0; d < last; ++d) {
      const int64_t size = self.sizes()[d];
      source += (index[d] - shift[d] + size) % size * self.strides()[d] * itemsize;
    }

    // The end of each source row moves to the front of the target row.
    gather(target, source + (columns - shift[last]) * stride, stride, itemsize, shift[last]);
    gather(target + shift[last] * itemsize, source, stride, itemsize, columns - shift[last]);
  });
}

}  // namespace at::native
