// The elements of every lane in stable order.
#pragma once
#include <bit>

#include "aten/Dispatch.h"
#include "aten/native/cuda/Lanes.cuh"
#include "aten/native/cuda/Sort.h"
#include "aten/native/cuda/WideDivisor.h"
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

/// How the keys of elements are made: the lane is above the `bits` of the element.
template <class T, class Key>
struct KeyForm {
  Key reversed;  // bits that are inverted
  int bits;

  SIMT_DEVICE Key key(T element, int64_t lane) const {
    Key key = static_cast<Key>(sort_key(element)) ^ reversed;
    if (bits < 8 * static_cast<int>(sizeof(Key))) key |= static_cast<Key>(lane) << bits;
    return key;
  }

  /// What sort_key(element) was.
  SIMT_DEVICE uint64_t element_key(Key key) const {
    if (bits < 8 * static_cast<int>(sizeof(Key))) key &= static_cast<Key>((Key{1} << bits) - 1);
    return key ^ reversed;
  }
};

/// Writes the key of every element, lane after lane, and the element's position in that order.
template <class T, class Key>
SIMT_KERNEL lane_keys_kernel(LaneTable lanes, WideDivisor length, Key* keys, uint32_t* positions,
                             KeyForm<T, Key> form) {
  const int64_t position = int64_t{simt::block_x()} * kSortThreads + simt::thread_x();
  if (position >= lanes.count * lanes.length) return;

  const int64_t lane = length.quotient(position);
  const int64_t i = position - lane * lanes.length;
  const T element = *reinterpret_cast<const T*>(lanes.find(0, lane) + i * lanes.steps[0]);
  keys[position] = form.key(element, lane);
  positions[position] = static_cast<uint32_t>(position);
}

/// The lane of every position, as the key of a second sort.
template <class Key>
SIMT_KERNEL lane_numbers_kernel(const uint32_t* positions, Key* keys, int64_t count,
                                WideDivisor length) {
  const int64_t i = int64_t{simt::block_x()} * kSortThreads + simt::thread_x();
  if (i < count) keys[i] = static_cast<Key>(length.quotient(positions[i]));
}

/// Elements in stable order, lane after lane.
template <class T, class Key>
struct SortedElements {
  const uint32_t* positions;  // position p is element p % length of lane p / length
  const Key* keys;            // or null
  KeyForm<T, Key> form;

  /// Element number i of all, which is also at `address`. Most follow from their keys, without a
  /// read from anywhere in memory.
  SIMT_DEVICE T element(int64_t i, const char* address) const {
    if (keys != nullptr) {
      const uint64_t key = form.element_key(keys[i]);
      if (names_element<T>(key)) return element_of_key<T>(key);
    }
    return *reinterpret_cast<const T*>(address);
  }
};

/// Orders operand 0 of the table, and calls f(SortedElements<T, Key>), which launches kernels that
/// use them.
template <class F>
class LaneSort {
 public:
  LaneSort(const char* name, const LaneTable& lanes, bool descending, const F& f)
      : name_(name), lanes_(lanes), descending_(descending), f_(f) {
    TORCH_CHECK(lanes.count * lanes.length <= int64_t{1} << 32, name,
                ": more than 2^32 elements at once are not supported on a device");
  }

  void run(ScalarType type) const {
    dispatch_sortable(type, name_, [&]<typename T>() {
      constexpr int kBits = std::is_same_v<T, bool> ? 1 : 8 * key_bytes<T>;
      const int lane_bits =
          lanes_.count > 1 ? std::bit_width(static_cast<uint64_t>(lanes_.count - 1)) : 0;
      if constexpr (kBits <= 32) {
        if (kBits + lane_bits <= 32) return sort<T, uint32_t>(kBits, lane_bits);
      }
      sort<T, uint64_t>(kBits, lane_bits);
    });
  }

 private:
  template <class T, class Key>
  void sort(int key_bits, int lane_bits) const {
    const int64_t count = lanes_.count * lanes_.length;
    constexpr int kKeyBits = 8 * static_cast<int>(sizeof(Key));
    const bool in_one_pass = key_bits + lane_bits <= kKeyBits;
    const Key all = static_cast<Key>(~Key{0} >> (kKeyBits - key_bits));
    const KeyForm<T, Key> form{descending_ ? all : Key{0}, in_one_pass ? key_bits : kKeyBits};
    const WideDivisor length(lanes_.length);
    const cudaStream_t stream = c10::cuda::current_stream();

    SortMemory<Key, uint32_t> memory(count);
    c10::cuda::launch(name_, &lane_keys_kernel<T, Key>, sort_blocks(count), dim3(kSortThreads), 0,
                      stream, lanes_, length, memory.buffers.keys, memory.buffers.positions, form);
    sort_pairs(name_, memory.buffers, count, in_one_pass ? key_bits + lane_bits : key_bits);

    // Keys of 64 bits leave no room for the lane: a second, stable sort brings lanes together.
    if (!in_one_pass) {
      c10::cuda::launch(name_, &lane_numbers_kernel<Key>, sort_blocks(count), dim3(kSortThreads), 0,
                        stream, static_cast<const uint32_t*>(memory.buffers.positions),
                        memory.buffers.keys, count, length);
      sort_pairs(name_, memory.buffers, count, lane_bits);
    }
    f_(SortedElements<T, Key>{memory.buffers.positions, in_one_pass ? memory.buffers.keys : nullptr,
                              form});
  }

  const char* name_;
  const LaneTable& lanes_;
  bool descending_;
  const F& f_;
};

template <class F>
void sort_lanes(const char* name, const LaneTable& lanes, ScalarType type, bool descending,
                const F& f) {
  LaneSort<F>(name, lanes, descending, f).run(type);
}

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
