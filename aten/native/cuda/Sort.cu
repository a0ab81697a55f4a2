// Sorting by CUB. In the emulation, CUB is tests/emulation/include/cub.
#include "aten/native/cuda/Sort.h"

#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "c10/cuda/Launch.h"
#include "c10/cuda/Memory.h"
#include "c10/cuda/Runtime.h"
#include "c10/cuda/Simt.h"

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

dim3 blocks_for(int64_t count) {
  constexpr int64_t kMost = 1 << 16;
  const int64_t blocks = (count + kThreads - 1) / kThreads;
  return dim3(static_cast<unsigned>(blocks < kMost ? blocks : kMost));
}

template <class Key, class Position>
void sort_by_radix(const char* name, SortBuffers<Key, Position>& buffers, int64_t count, int bits) {
  if (count == 0) return;
  const cudaStream_t stream = c10::cuda::current_stream();
  cub::DoubleBuffer<Key> keys(buffers.keys, buffers.other_keys);
  cub::DoubleBuffer<Position> positions(buffers.positions, buffers.other_positions);

  // The first call says how much memory the second one needs.
  size_t bytes = 0;
  C10_CUDA_CHECK(
      cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, positions, count, 0, bits, stream));
  const c10::DataPtr memory = c10::cuda::device_allocator().allocate(bytes);
  c10::cuda::note_launch(name, stream);
  c10::cuda::detail::check_launch(
      cub::DeviceRadixSort::SortPairs(memory.get(), bytes, keys, positions, count, 0, bits, stream),
      name, stream);

  buffers = {keys.Current(), keys.Alternate(), positions.Current(), positions.Alternate()};
}

SIMT_KERNEL number_keys(const int64_t* keys, int64_t count, uint64_t* copied, int64_t* positions) {
  const int64_t step = int64_t{simt::grid_dim_x()} * kThreads;
  for (int64_t i = int64_t{simt::block_x()} * kThreads + simt::thread_x(); i < count; i += step) {
    copied[i] = static_cast<uint64_t>(keys[i]);
    positions[i] = i;
  }
}

void copy_on_device(void* to, const void* from, int64_t bytes) {
  C10_CUDA_CHECK(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDeviceToDevice,
                                 c10::cuda::current_stream()));
}

}  // namespace

template <class Key, class Position>
SortMemory<Key, Position>::SortMemory(int64_t count) {
  // An even number of each: what comes later is aligned, too.
  const auto number = static_cast<size_t>(count + count % 2);
  memory = c10::cuda::device_allocator().allocate(2 * number * (sizeof(Position) + sizeof(Key)));
  buffers.keys = static_cast<Key*>(memory.get());
  buffers.other_keys = buffers.keys + number;
  buffers.positions = reinterpret_cast<Position*>(buffers.other_keys + number);
  buffers.other_positions = buffers.positions + number;
}

template struct SortMemory<uint32_t, uint32_t>;
template struct SortMemory<uint64_t, uint32_t>;
template struct SortMemory<uint64_t>;

void sort_pairs(const char* name, SortBuffers<uint32_t, uint32_t>& buffers, int64_t count,
                int bits) {
  sort_by_radix(name, buffers, count, bits);
}

void sort_pairs(const char* name, SortBuffers<uint64_t, uint32_t>& buffers, int64_t count,
                int bits) {
  sort_by_radix(name, buffers, count, bits);
}

void sort_pairs(const char* name, SortBuffers<uint64_t>& buffers, int64_t count, int bits) {
  sort_by_radix(name, buffers, count, bits);
}

void sort_indices(const char* name, const int64_t* keys, int64_t count, int64_t bound,
                  int64_t* sorted_keys, int64_t* positions) {
  if (count == 0) return;

  SortMemory<uint64_t> memory(count);
  c10::cuda::launch(name, &number_keys, blocks_for(count), dim3(kThreads), 0,
                    c10::cuda::current_stream(), keys, count, memory.buffers.keys,
                    memory.buffers.positions);

  const int bits = bound > 1 ? std::bit_width(static_cast<uint64_t>(bound - 1)) : 1;
  sort_pairs(name, memory.buffers, count, bits);

  const auto bytes = count * static_cast<int64_t>(sizeof(int64_t));
  copy_on_device(sorted_keys, memory.buffers.keys, bytes);
  copy_on_device(positions, memory.buffers.positions, bytes);
}

}  // namespace at::native::cuda
