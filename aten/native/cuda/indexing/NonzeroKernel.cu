// The kernel of nonzero: counts by blocks, adds up the counts, and writes the places.
#include <algorithm>

#include "aten/Dispatch.h"
#include "aten/core/Tensor.h"
#include "aten/ops/cumsum.h"
#include "aten/ops/item.h"
#include "aten/ops/select.h"
#include "c10/cuda/Launch.h"
#include "c10/cuda/Runtime.h"
#include "c10/cuda/Simt.h"

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kRounds = 8;
/// Elements of a block, which takes kThreads adjacent ones at a time.
constexpr int64_t kElements = kThreads * kRounds;

template <class T>
SIMT_DEVICE bool is_nonzero_at(const T* values, int64_t index, int64_t n) {
  return index < n && convert<bool>(values[index]);
}

template <class T>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kThreads) count_kernel(const T* values, int64_t n, int64_t* counts) {
  SIMT_SHARED(warp_counts, int[kWarps]);
  const int thread = static_cast<int>(simt::thread_x());
  int count = 0;
  for (int round = 0; round < kRounds; ++round) {
    const int64_t index = simt::block_x() * kElements + round * kThreads + thread;
    count += simt::popcount(simt::ballot(simt::kFullMask, is_nonzero_at(values, index, n)));
  }

  if (thread % 32 == 0) warp_counts[thread / 32] = count;
  simt::sync_block();
  if (thread != 0) return;

  int64_t total = 0;
  for (int warp = 0; warp < kWarps; ++warp) total += warp_counts[warp];
  counts[simt::block_x()] = total;
}

/// The shape that places are positions in.
struct Coordinates {
  static constexpr int kMostDims = 64;
  int64_t sizes[kMostDims];
  int dims;

  /// Writes the coordinates of element `index`, `stride` numbers apart.
  SIMT_DEVICE void write(int64_t index, int64_t stride, int64_t* out) const {
    for (int d = dims - 1; d >= 0; --d) {
      const int64_t rest = d == 0 ? 0 : index / sizes[d];
      out[d * stride] = index - rest * sizes[d];
      index = rest;
    }
  }
};

/// `ends`: for each block, the number of places found up to its end.
template <class T>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kThreads)
    write_kernel(const T* values, int64_t n, const int64_t* ends, int64_t total,
                 Coordinates coordinates, int64_t* out) {
  SIMT_SHARED(warp_counts, int[kWarps]);
  const int thread = static_cast<int>(simt::thread_x());
  const int lane = thread % 32;
  int64_t found = simt::block_x() == 0 ? 0 : ends[simt::block_x() - 1];

  for (int round = 0; round < kRounds; ++round) {
    const int64_t index = simt::block_x() * kElements + round * kThreads + thread;
    const bool chosen = is_nonzero_at(values, index, n);
    const unsigned votes = simt::ballot(simt::kFullMask, chosen);
    if (lane == 0) warp_counts[thread / 32] = simt::popcount(votes);
    simt::sync_block();

    int64_t place = found + simt::popcount(votes & ((1u << lane) - 1));
    for (int warp = 0; warp < kWarps; ++warp) {
      if (warp < thread / 32) place += warp_counts[warp];
      found += warp_counts[warp];
    }
    if (chosen) coordinates.write(index, total, out + place);
    simt::sync_block();
  }
}

Coordinates coordinates_of(const Tensor& self) {
  Coordinates result{};
  TORCH_CHECK(self.dim() <= Coordinates::kMostDims, "nonzero: more than ", Coordinates::kMostDims,
              " dimensions");
  result.dims = static_cast<int>(self.dim());
  std::copy(self.sizes().begin(), self.sizes().end(), result.sizes);
  return result;
}

template <class T>
Tensor find_nonzero(const Tensor& self) {
  const Tensor source = self.contiguous();
  const int64_t n = source.numel();
  const auto blocks = static_cast<unsigned>((n + kElements - 1) / kElements);
  const cudaStream_t stream = c10::cuda::current_stream();
  const T* values = source.data_ptr<T>();

  Tensor ends;
  int64_t total = 0;
  if (n > 0) {
    const Tensor counts = empty_tensor({blocks}, kLong, self.device());
    c10::cuda::launch("nonzero", &count_kernel<T>, dim3(blocks), dim3(kThreads), 0, stream, values,
                      n, counts.data_ptr<int64_t>());
    ends = at::cumsum(counts, 0);
    total = at::item(at::select(ends, 0, static_cast<int64_t>(blocks) - 1)).to_long();
  }

  // Column by column, because each column is used as an index of its own.
  const Tensor result = empty_strided_tensor({total, self.dim()}, {1, std::max<int64_t>(total, 1)},
                                             kLong, self.device());
  if (result.numel() > 0)
    c10::cuda::launch("nonzero", &write_kernel<T>, dim3(blocks), dim3(kThreads), 0, stream, values,
                      n, ends.data_ptr<int64_t>(), total, coordinates_of(self),
                      result.data_ptr<int64_t>());
  return result;
}

}  // namespace

Tensor nonzero(const Tensor& self) {
  if (is_storage_only(self.scalar_type())) return nonzero(self.to(kBool));

  Tensor result;
  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), "nonzero",
                           [&] { result = find_nonzero<scalar_t>(self); });
  return result;
}

}  // namespace at::native::cuda
