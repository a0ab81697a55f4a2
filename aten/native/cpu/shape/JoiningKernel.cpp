// Concatenates tensors by copying each into its part of the result.
#include <algorithm>
#include <cstring>
#include <vector>

#include "aten/iteration/Gather.h"
#include "aten/native/declarations/cpu/shape/JoiningKernel.h"
#include "aten/native/shared/ChannelsAtEnd.h"
#include "aten/ops/copy.h"
#include "aten/ops/narrow.h"
#include "aten/parallel/Parallel.h"

namespace at::native {

namespace {

/// Copies contiguous rows of `row` bytes to rows that are `step` bytes apart.
void copy_rows(char* target, int64_t step, const char* source, int64_t row, int64_t count) {
  const auto size = static_cast<size_t>(row);
  const bool is_element = row <= 16 && (row & (row - 1)) == 0;
  if (is_element) return scatter(target, step, source, size, count);
  for (int64_t i = 0; i < count; ++i) std::memcpy(target + i * step, source + i * row, size);
}

}  // namespace

void cat_kernel(TensorList tensors, int64_t dim, const Tensor& out0) {
  if (out0.numel() == 0) return;

  const int64_t d = wrap_dim(dim, out0.dim());
  // A channels_last result is contiguous with the channels as its last dimension.
  if (!out0.is_contiguous()) {
    const JoinedAtEnd joined = with_channels_at_end(tensors, d, out0);
    return cat_kernel(joined.tensors, joined.dim, joined.out);
  }

  // Each of the `outer` rows of the result consists of one row of every tensor; `inner` bytes
  // belong to one position along `dim`.
  const int64_t itemsize = static_cast<int64_t>(out0.itemsize());
  int64_t outer = 1;
  int64_t inner = itemsize;
  for (int64_t k = 0; k < d; ++k) outer *= out0.sizes()[k];
  for (int64_t k = d + 1; k < out0.dim(); ++k) inner *= out0.sizes()[k];
  const int64_t out_row = inner * out0.sizes()[d];
  char* out = static_cast<char*>(out0.data());

  int64_t start = 0;
  for (const Tensor& tensor : tensors) {
    if (tensor.numel() == 0) continue;

    const int64_t length = tensor.sizes()[d];
    if (tensor.is_contiguous() && tensor.scalar_type() == out0.scalar_type()) {
      const char* in = static_cast<const char*>(tensor.data());
      const int64_t row = inner * length;
      char* const target = out + start * inner;
      const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 17) / row);
      parallel_for(0, outer, grain, [&](int64_t begin, int64_t end) {
        copy_rows(target + begin * out_row, out_row, in + begin * row, row, end - begin);
      });
    } else {
      at::copy_(at::narrow(out0, d, start, length), tensor);
    }
    start += length;
  }
}

}  // namespace at::native
