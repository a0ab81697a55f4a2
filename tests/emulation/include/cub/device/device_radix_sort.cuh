// CUB's radix sort as the emulation provides it: a library call that runs as work of its stream.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "emulation/host.h"
#include "emulation/queue.h"

namespace cub {

/// Two buffers, of which one holds the data.
template <class T>
struct DoubleBuffer {
  DoubleBuffer(T* current, T* alternate) : buffers{current, alternate} {}
  T* Current() const { return buffers[selector]; }
  T* Alternate() const { return buffers[1 - selector]; }

  T* buffers[2];
  int selector = 0;
};

struct DeviceRadixSort {
  /// As CUB, asks for memory when it gets none, and leaves the result in the other buffers.
  template <class Key, class Value>
  static cudaError_t SortPairs(void* memory, size_t& bytes, DoubleBuffer<Key>& keys,
                               DoubleBuffer<Value>& values, int64_t count, int begin, int end,
                               cudaStream_t stream) {
    constexpr size_t kNeeded = 256;
    if (memory == nullptr) {
      bytes = kNeeded;
      return cudaSuccess;
    }
    constexpr int kBits = 8 * static_cast<int>(sizeof(Key));
    if (bytes < kNeeded || count < 0 || begin < 0 || begin >= end || end > kBits)
      return emulation::refuse(cudaErrorInvalidValue, "SortPairs: memory or range of bits");

    Task<Key, Value> task{keys.Current(),
                          keys.Alternate(),
                          values.Current(),
                          values.Alternate(),
                          memory,
                          count,
                          begin,
                          end};
    emulation::readable_argument(&task, sizeof(task));
    keys.selector ^= 1;
    values.selector ^= 1;
    return emulation::enqueue(stream, "radix sort", [task] { task.run(); });
  }

 private:
  template <class Key, class Value>
  struct Task {
    Key* keys;
    Key* sorted_keys;
    Value* values;
    Value* sorted_values;
    void* memory;
    int64_t count;
    int64_t begin;
    int64_t end;

    void run() const {
      const Key mask = static_cast<Key>(static_cast<Key>(~Key{0}) >> (8 * sizeof(Key) - end));
      std::vector<int64_t> order(static_cast<size_t>(count));
      std::iota(order.begin(), order.end(), int64_t{0});
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return ((keys[a] & mask) >> begin) < ((keys[b] & mask) >> begin);
      });

      for (int64_t i = 0; i < count; ++i) {
        sorted_keys[i] = keys[order[static_cast<size_t>(i)]];
        sorted_values[i] = values[order[static_cast<size_t>(i)]];
      }

      // What the other buffers and the memory hold afterwards is not defined.
      std::fill_n(reinterpret_cast<uint8_t*>(keys), count * sizeof(Key), uint8_t{0xFF});
      std::fill_n(reinterpret_cast<uint8_t*>(values), count * sizeof(Value), uint8_t{0xFF});
      std::fill_n(static_cast<uint8_t*>(memory), 256, uint8_t{0xFF});
    }
  };
};

}  // namespace cub
