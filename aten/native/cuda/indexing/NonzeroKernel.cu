// The kernel of nonzero: counts by blocks, adds up the counts, and writes the places.
#include <algorithm>

#include "aten/Dispatch.h"
#include "aten/core/Tensor.h"
#include "aten/native/cuda/Division.h"
#include "aten/native/cuda/Pack.cuh"
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
constexpr int kRounds = 4;
/// Elements that a block takes at a time, a pack for each thread, and all that it takes.
template <class T>
constexpr int kRound = kThreads * kPackWidth<T>;
template <class T>
constexpr int64_t kElements = kRounds * kRound<T>;

template <class T>
struct Elements {
  const T* values;
  int64_t n;
  bool is_aligned;  // to packs

  /// Bit i says whether the element i places after `first` is not zero.
  SIMT_DEVICE unsigned nonzero(int64_t first) const {
    using pack_t = Pack<T, kPackWidth<T>>;
    unsigned bits = 0;
    if (is_aligned && first + kPackWidth<T> <= n) {
      const pack_t pack = *reinterpret_cast<const pack_t*>(values + first);
      SIMT_UNROLL
      for (int i = 0; i < kPackWidth<T>; ++i) bits |= convert<bool>(pack.values[i]) ? 1u << i : 0u;
    } else {
      for (int i = 0; i < kPackWidth<T> && first + i < n; ++i)
        bits |= convert<bool>(values[first + i]) ? 1u << i : 0u;
    }
    return bits;
  }

  /// The same for all rounds of a thread, which are read together.
  SIMT_DEVICE void nonzero_of_rounds(unsigned (&bits)[kRounds]) const {
    const int64_t first =
        simt::block_x() * kElements<T> + int64_t{simt::thread_x()} * kPackWidth<T>;
    SIMT_UNROLL
    for (int round = 0; round < kRounds; ++round) bits[round] = nonzero(first + round * kRound<T>);
  }
};

template <class T>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kThreads) count_kernel(Elements<T> elements, int64_t* counts) {
  SIMT_SHARED(warp_counts, int[kWarps]);
  unsigned bits[kRounds];
  elements.nonzero_of_rounds(bits);
  int count = 0;
  SIMT_UNROLL
  for (const unsigned round : bits) count += simt::popcount(round);
  for (unsigned n = 16; n > 0; n /= 2) count += simt::shuffle_down(simt::kFullMask, count, n);

  const int thread = static_cast<int>(simt::thread_x());
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
  Divisor divisors[kMostDims];
  int dims;
  bool is_small;  // indices have at most 31 bits

  /// Writes the coordinates of element `index`, `stride` numbers apart.
  SIMT_DEVICE void write(int64_t index, int64_t stride, int64_t* out) const {
    for (int d = dims - 1; d >= 0; --d) {
      const int64_t rest = d == 0 ? 0 : quotient(index, d);
      out[d * stride] = index - rest * sizes[d];
      index = rest;
    }
  }

 private:
  SIMT_DEVICE int64_t quotient(int64_t index, int d) const {
    return is_small ? divisors[d].quotient(static_cast<uint32_t>(index)) : index / sizes[d];
  }
};

/// How many of a block's threads before this one chose something, and how many all did.
struct Chosen {
  int before;
  int total;
};

SIMT_DEVICE Chosen count_in_block(int count) {
  SIMT_SHARED(warp_counts, int[kWarps]);
  const auto lane = static_cast<int>(simt::thread_x() % 32);
  const auto warp = static_cast<int>(simt::thread_x() / 32);
  int through = count;
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = simt::shuffle_up(simt::kFullMask, through, static_cast<unsigned>(distance));
    if (lane >= distance) through += other;
  }
  if (lane == 31) warp_counts[warp] = through;
  simt::sync_block();

  Chosen result{through - count, 0};
  for (int w = 0; w < kWarps; ++w) {
    if (w < warp) result.before += warp_counts[w];
    result.total += warp_counts[w];
  }
  return result;
}

/// `ends`: for each block, the number of places found up to its end. The places of a round are
/// collected first, so that neighbouring threads write neighbouring ones.
template <class T>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kThreads)
    write_kernel(Elements<T> elements, const int64_t* ends, int64_t total, Coordinates coordinates,
                 int64_t* out) {
  SIMT_SHARED(places, uint16_t[kRound<T>]);
  const int thread = static_cast<int>(simt::thread_x());
  int64_t found = simt::block_x() == 0 ? 0 : ends[simt::block_x() - 1];
  unsigned bits[kRounds];
  elements.nonzero_of_rounds(bits);

  SIMT_UNROLL
  for (int round = 0; round < kRounds; ++round) {
    const Chosen chosen = count_in_block(simt::popcount(bits[round]));
    int place = chosen.before;
    for (unsigned rest = bits[round]; rest != 0; rest &= rest - 1) {
      const int offset = thread * kPackWidth<T> + simt::find_first_set(rest) - 1;
      places[place++] = static_cast<uint16_t>(offset);
    }
    simt::sync_block();

    const int64_t first = simt::block_x() * kElements<T> + round * kRound<T>;
    for (int k = thread; k < chosen.total; k += kThreads)
      coordinates.write(first + places[k], total, out + found + k);
    found += chosen.total;
    simt::sync_block();
  }
}

Coordinates coordinates_of(const Tensor& self) {
  Coordinates result{};
  TORCH_CHECK(self.dim() <= Coordinates::kMostDims, "nonzero: more than ", Coordinates::kMostDims,
              " dimensions");
  result.dims = static_cast<int>(self.dim());
  std::copy(self.sizes().begin(), self.sizes().end(), result.sizes);
  result.is_small = self.numel() < int64_t{1} << 31;
  for (int d = 0; d < result.dims && result.is_small && result.sizes[d] != 0; ++d)
    result.divisors[d] = Divisor(static_cast<uint32_t>(result.sizes[d]));
  return result;
}

template <class T>
Tensor find_nonzero(const Tensor& self) {
  const Tensor source = self.contiguous();
  const int64_t n = source.numel();
  const auto blocks = static_cast<unsigned>((n + kElements<T> - 1) / kElements<T>);
  const cudaStream_t stream = c10::cuda::current_stream();
  const T* values = source.data_ptr<T>();
  const bool is_aligned = reinterpret_cast<uintptr_t>(values) % (sizeof(T) * kPackWidth<T>) == 0;
  const Elements<T> elements{values, n, is_aligned};

  Tensor ends;
  int64_t total = 0;
  if (n > 0) {
    const Tensor counts = empty_tensor({blocks}, kLong, self.device());
    c10::cuda::launch("nonzero", &count_kernel<T>, dim3(blocks), dim3(kThreads), 0, stream,
                      elements, counts.data_ptr<int64_t>());
    ends = at::cumsum(counts, 0);
    total = at::item(at::select(ends, 0, static_cast<int64_t>(blocks) - 1)).to_long();
  }

  // Column by column, because each column is used as an index of its own.
  const Tensor result = empty_strided_tensor({total, self.dim()}, {1, std::max<int64_t>(total, 1)},
                                             kLong, self.device());
  if (result.numel() > 0)
    c10::cuda::launch("nonzero", &write_kernel<T>, dim3(blocks), dim3(kThreads), 0, stream,
                      elements, ends.data_ptr<int64_t>(), total, coordinates_of(self),
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
