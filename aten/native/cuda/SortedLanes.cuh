// The stable order of the elements of every lane.
#pragma once
#include <bit>

#include "aten/Dispatch.h"
#include "aten/native/cuda/Lanes.cuh"
#include "aten/native/cuda/Sort.h"
#include "aten/native/shared/RadixSort.h"
#include "c10/cuda/Launch.h"
#include "c10/cuda/Memory.h"
#include "c10/cuda/Runtime.h"
#include "c10/cuda/Simt.h"

namespace at::native::cuda {

inline constexpr int kSortThreads = 256;

inline dim3 sort_blocks(int64_t count) {
  return dim3(static_cast<unsigned>((count + kSortThreads - 1) / kSortThreads));
}

/// Calls f.operator()<T>() with the type of a dtype's elements, the wide unsigned ones too.
template <class F>
void dispatch_sortable(ScalarType type, const char* name, const F& f) {
  switch (type) {
    case kUInt16: return f.template operator()<uint16_t>();
    case kUInt32: return f.template operator()<uint32_t>();
    case kUInt64: return f.template operator()<uint64_t>();
    default: break;
  }
  AT_DISPATCH_REAL_AND_BOOL(type, name, [&] { f.template operator()<scalar_t>(); });
}

/// Writes the key of every element, lane after lane, with the lane above the key's bits, and the
/// element's position in that order.
template <class T, class Key>
SIMT_KERNEL lane_keys_kernel(LaneTable lanes, Key* keys, int64_t* positions, Key reversed,
                             int key_bits) {
  const int64_t position = int64_t{simt::block_x()} * kSortThreads + simt::thread_x();
  if (position >= lanes.count * lanes.length) return;

  const int64_t lane = position / lanes.length;
  const int64_t i = position - lane * lanes.length;
  const T element = *reinterpret_cast<const T*>(lanes.find(0, lane) + i * lanes.steps[0]);
  Key key = static_cast<Key>(sort_key(element)) ^ reversed;
  if (key_bits < 8 * static_cast<int>(sizeof(Key))) key |= static_cast<Key>(lane) << key_bits;
  keys[position] = key;
  positions[position] = position;
}

/// The lane of every position, as the key of a second sort.
template <class Key>
SIMT_KERNEL lane_numbers_kernel(const int64_t* positions, Key* keys, int64_t count,
                                int64_t length) {
  const int64_t i = int64_t{simt::block_x()} * kSortThreads + simt::thread_x();
  if (i < count) keys[i] = static_cast<Key>(positions[i] / length);
}

/// Positions in stable order, lane after lane: position p is element p % length of lane p / length.
class SortedLanes {
 public:
  /// Orders operand 0 of the table.
  SortedLanes(const char* name, const LaneTable& lanes, ScalarType type, bool descending) {
    dispatch_sortable(type, name, [&]<typename T>() {
      constexpr int kBits = std::is_same_v<T, bool> ? 1 : 8 * key_bytes<T>;
      const int lane_bits =
          lanes.count > 1 ? std::bit_width(static_cast<uint64_t>(lanes.count - 1)) : 0;
      if constexpr (kBits <= 32) {
        if (kBits + lane_bits <= 32)
          return sort<T, uint32_t>(name, lanes, kBits, lane_bits, descending);
      }
      sort<T, uint64_t>(name, lanes, kBits, lane_bits, descending);
    });
  }

  const int64_t* positions() const { return positions_; }

 private:
  template <class T, class Key>
  void sort(const char* name, const LaneTable& lanes, int key_bits, int lane_bits,
            bool descending) {
    const int64_t count = lanes.count * lanes.length;
    constexpr int kKeyBits = 8 * static_cast<int>(sizeof(Key));
    const bool in_one_pass = key_bits + lane_bits <= kKeyBits;
    const Key all = static_cast<Key>(~Key{0} >> (kKeyBits - key_bits));
    const cudaStream_t stream = c10::cuda::current_stream();

    SortMemory<Key> memory(count);
    c10::cuda::launch(name, &lane_keys_kernel<T, Key>, sort_blocks(count), dim3(kSortThreads), 0,
                      stream, lanes, memory.buffers.keys, memory.buffers.positions,
                      descending ? all : Key{0}, in_one_pass ? key_bits : kKeyBits);
    sort_pairs(name, memory.buffers, count, in_one_pass ? key_bits + lane_bits : key_bits);

    // Keys of 64 bits leave no room for the lane: a second, stable sort brings lanes together.
    if (!in_one_pass) {
      c10::cuda::launch(name, &lane_numbers_kernel<Key>, sort_blocks(count), dim3(kSortThreads), 0,
                        stream, static_cast<const int64_t*>(memory.buffers.positions),
                        memory.buffers.keys, count, lanes.length);
      sort_pairs(name, memory.buffers, count, lane_bits);
    }
    positions_ = memory.buffers.positions;
    memory_ = std::move(memory.memory);
  }

  int64_t* positions_ = nullptr;
  c10::DataPtr memory_;
};

/// Calls f.operator()<Bytes>() with an integer type of the element's size.
template <class F>
void dispatch_moved(size_t itemsize, const F& f) {
  switch (itemsize) {
    case 1: return f.template operator()<uint8_t>();
    case 2: return f.template operator()<uint16_t>();
    case 4: return f.template operator()<uint32_t>();
    default: return f.template operator()<uint64_t>();
  }
}

}  // namespace at::native::cuda
