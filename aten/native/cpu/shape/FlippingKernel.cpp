// Reverses and rolls dimensions by copying blocks of bytes.
#include <algorithm>
#include <numeric>
#include <utility>

#include "aten/iteration/BlockCopy.h"
#include "aten/native/declarations/cpu/shape/FlippingKernel.h"
#include "aten/native/shared/ViewHelpers.h"
#include "aten/parallel/Parallel.h"

namespace at::native {

namespace {

/// Dimensions from the slowest to the fastest, each with the bytes from one element to the next.
/// Those of size 1 are left out, and those that continue each other are one.
struct Walk {
  DimVector sizes;
  DimVector steps;

  void add(int64_t size, int64_t step) {
    if (size == 1) return;
    if (!sizes.empty() && steps.back() == step * size) {
      sizes.back() *= size;
      steps.back() = step;
    } else {
      sizes.push_back(size);
      steps.push_back(step);
    }
  }

  /// The last dimension, or size 1 without dimensions.
  std::pair<int64_t, int64_t> take_last() {
    if (sizes.empty()) return {1, 0};
    const std::pair<int64_t, int64_t> last{sizes.back(), steps.back()};
    sizes.pop_back();
    steps.pop_back();
    return last;
  }

  int64_t offset_of(int64_t index) const {
    int64_t offset = 0;
    for (size_t d = sizes.size(); d-- > 0;) {
      offset += index % sizes[d] * steps[d];
      index /= sizes[d];
    }
    return offset;
  }
};

/// Copies the elements of `walk`, which begins at `source`, to contiguous memory, by blocks of its
/// last two dimensions.
void copy_walk(char* target, const char* source, Walk walk, int64_t count, size_t itemsize) {
  static const auto kernel = TORCH_PY_CHOOSE_KERNEL(copy_block);
  const auto size = static_cast<int64_t>(itemsize);
  const auto [columns, column_step] = walk.take_last();
  const auto [rows, row_step] = walk.take_last();
  const int64_t row_bytes = columns * size;

  const int64_t grain = std::max<int64_t>(1, kDefaultGrainSize / columns);
  parallel_for(0, count / columns, grain,
               [&, columns = columns, column_step = column_step, rows = rows,
                row_step = row_step](int64_t begin, int64_t end) {
                 while (begin < end) {
                   const int64_t row = begin % rows;
                   const int64_t run = std::min(rows - row, end - begin);
                   char* from =
                       const_cast<char*>(source) + walk.offset_of(begin / rows) + row * row_step;
                   kernel({target + begin * row_bytes, size, row_bytes},
                          {from, column_step, row_step}, itemsize, columns, run, /*stream=*/false);
                   begin += run;
                 }
               });
}

/// Copies `self` to `out`, moved by `shift` along the dimensions from `d` on: in two parts along
/// each, as the elements that leave one end come in at the other.
void roll_from(const Tensor& self, const Tensor& out, const DimVector& shift, int64_t d) {
  while (d < self.dim() && shift[d] == 0) ++d;
  if (d == self.dim()) {
    out.copy_(self);
    return;
  }

  const int64_t stay = self.sizes()[d] - shift[d];
  roll_from(self.narrow(d, 0, stay), out.narrow(d, shift[d], stay), shift, d + 1);
  roll_from(self.narrow(d, stay, shift[d]), out.narrow(d, 0, shift[d]), shift, d + 1);
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
  Walk walk;
  for (const int64_t d : order) {
    const bool flipped = std::find(wrapped.begin(), wrapped.end(), d) != wrapped.end();
    const int64_t step = self.strides()[d] * itemsize;
    if (flipped) start += (self.sizes()[d] - 1) * step;
    walk.add(self.sizes()[d], flipped ? -step : step);
  }

  copy_walk(static_cast<char*>(out0.data()), start, std::move(walk), out0.numel(), self.itemsize());
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

  roll_from(self, out0, shift, 0);
}

}  // namespace at::native
