// The kernel of cat: one launch copies up to kMostInputs tensors to their parts of the result.
#include <algorithm>
#include <vector>

#include "aten/core/Tensor.h"
#include "aten/native/cuda/MovedBytes.h"
#include "aten/native/cuda/PerIndex.cuh"
#include "aten/native/shared/ChannelsAtEnd.h"
#include "aten/ops/copy.h"
#include "aten/ops/narrow.h"

namespace at::native::cuda {

namespace {

constexpr int kMostInputs = 128;

/// Contiguous inputs. The result consists of `outer` rows of `out_row` bytes, and each of them of a
/// row of every input.
struct JoinedInputs {
  const char* data[kMostInputs];
  int64_t rows[kMostInputs];    // bytes of a row
  int64_t starts[kMostInputs];  // bytes in front of the row in that of the result
  char* out;
  int64_t outer;
  int64_t out_row;
};

/// Blocks of one column of the grid share an input.
template <class T>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kPerIndexThreads) join_kernel(JoinedInputs inputs) {
  const int input = static_cast<int>(simt::block_y());
  const int64_t row = inputs.rows[input] / static_cast<int64_t>(sizeof(T));
  const int64_t out_row = inputs.out_row / static_cast<int64_t>(sizeof(T));
  const int64_t n = row * inputs.outer;
  const T* from = reinterpret_cast<const T*>(inputs.data[input]);
  T* to = reinterpret_cast<T*>(inputs.out + inputs.starts[input]);

  const int64_t step = static_cast<int64_t>(simt::grid_dim_x()) * kPerIndexThreads;
  int64_t i = static_cast<int64_t>(simt::block_x()) * kPerIndexThreads + simt::thread_x();
  for (; i < n; i += step) {
    const bool fits = n < (int64_t{1} << 32);  // a division of 64 bits takes much longer
    const int64_t outer = fits ? static_cast<uint32_t>(i) / static_cast<uint32_t>(row) : i / row;
    to[outer * out_row + (i - outer * row)] = from[i];
  }
}

void join(const JoinedInputs& inputs, int count, int64_t itemsize) {
  if (count == 0) return;

  // The widest type that all addresses and sizes are multiples of.
  uint64_t all = reinterpret_cast<uintptr_t>(inputs.out) | static_cast<uint64_t>(inputs.out_row);
  int64_t longest = 0;
  for (int k = 0; k < count; ++k) {
    all |= reinterpret_cast<uintptr_t>(inputs.data[k]) |
           static_cast<uint64_t>(inputs.rows[k] | inputs.starts[k]);
    longest = std::max(longest, inputs.rows[k] * inputs.outer);
  }
  int64_t bytes = itemsize;
  while (bytes < 16 && all % static_cast<uint64_t>(bytes * 2) == 0) bytes *= 2;

  const int64_t blocks = (longest / bytes - 1) / kPerIndexThreads + 1;
  const dim3 grid(static_cast<unsigned>(std::min<int64_t>(blocks, 4096)),
                  static_cast<unsigned>(count));
  with_moved_type(bytes, [&](auto element) {
    c10::cuda::launch("cat", &join_kernel<decltype(element)>, grid, dim3(kPerIndexThreads), 0,
                      c10::cuda::current_stream(), inputs);
  });
}

}  // namespace

void cat_kernel(TensorList tensors, int64_t dim, const Tensor& out0) {
  if (out0.numel() == 0) return;

  // A channels_last result is contiguous with the channels as its last dimension.
  const int64_t d = wrap_dim(dim, out0.dim());
  if (!out0.is_contiguous()) {
    const JoinedAtEnd joined = with_channels_at_end(tensors, d, out0);
    return cat_kernel(joined.tensors, joined.dim, joined.out);
  }

  JoinedInputs inputs{};
  const auto itemsize = static_cast<int64_t>(out0.itemsize());
  int64_t inner = itemsize;  // bytes of one position along the dimension
  inputs.outer = 1;
  for (int64_t k = 0; k < d; ++k) inputs.outer *= out0.sizes()[k];
  for (int64_t k = d + 1; k < out0.dim(); ++k) inner *= out0.sizes()[k];
  inputs.out_row = inner * out0.sizes()[d];
  inputs.out = static_cast<char*>(out0.data());

  int count = 0;
  int64_t start = 0;
  for (const Tensor& tensor : tensors) {
    if (tensor.numel() == 0) continue;

    const int64_t length = tensor.sizes()[d];
    if (tensor.is_contiguous() && tensor.scalar_type() == out0.scalar_type()) {
      inputs.data[count] = static_cast<const char*>(tensor.data());
      inputs.rows[count] = inner * length;
      inputs.starts[count] = inner * start;
      if (++count == kMostInputs) {
        join(inputs, count, itemsize);
        count = 0;
      }
    } else {
      at::copy_(at::narrow(out0, d, start, length), tensor);
    }
    start += length;
  }
  join(inputs, count, itemsize);
}

}  // namespace at::native::cuda
