// Sums of elements that go to places which only the data tell, in a fixed order and without
// waiting.
#pragma once
#include "aten/core/Tensor.h"
#include "aten/native/cuda/PerIndex.cuh"
#include "aten/ops/full.h"

// Note [Scatter lists]
// Atomic additions would add in the order in which threads happen to run. Instead every place gets
// a linked list of its sources, built by one atomic exchange for each source. The lists are then
// sorted, so that whoever walks one visits its sources in ascending order: sums are the same in
// every run, and the same as on the CPU. Most lists are short; sorting takes n log n steps of one
// thread for longer ones.

namespace at::native::cuda {

/// The sources of each destination; -1 ends a list.
struct ScatterLists {
  int32_t* heads;
  int32_t* next;

  SIMT_DEVICE void add(int64_t destination, int64_t source) const {
    next[source] = simt::atomic_exchange(heads + destination, static_cast<int32_t>(source));
  }

  /// Joins two sorted lists.
  SIMT_DEVICE int32_t merged(int32_t a, int32_t b) const {
    int32_t head = -1;
    int32_t last = -1;
    while (a >= 0 && b >= 0) {
      const int32_t taken = a < b ? a : b;
      (a < b ? a : b) = next[taken];
      (last < 0 ? head : next[last]) = taken;
      last = taken;
    }
    (last < 0 ? head : next[last]) = a >= 0 ? a : b;
    return head;
  }

  /// Sorts the list of a destination and returns its first source.
  SIMT_DEVICE int32_t sorted(int64_t destination) const {
    int32_t rest = heads[destination];
    if (rest < 0 || next[rest] < 0) return rest;

    // parts[k] is a sorted list of 2^k sources, or -1.
    int32_t parts[32];
    for (int k = 0; k < 32; ++k) parts[k] = -1;
    int used = 0;
    while (rest >= 0) {
      int32_t list = rest;
      rest = next[rest];
      next[list] = -1;
      int k = 0;
      for (; parts[k] >= 0; ++k) {
        list = merged(parts[k], list);
        parts[k] = -1;
      }
      parts[k] = list;
      if (k + 1 > used) used = k + 1;
    }

    int32_t list = -1;
    for (int k = 0; k < used; ++k) {
      if (parts[k] >= 0) list = list < 0 ? parts[k] : merged(parts[k], list);
    }
    heads[destination] = list;
    return list;
  }
};

/// Memory of the lists.
struct ScatterMemory {
  Tensor heads, next;

  ScatterMemory(int64_t destinations, int64_t sources, Device device)
      : heads(at::full({destinations}, Scalar(int64_t{-1}), kInt, {}, device)),
        next(empty_tensor({sources}, kInt, device)) {}

  ScatterLists lists() const { return {heads.data_ptr<int32_t>(), next.data_ptr<int32_t>()}; }
};

}  // namespace at::native::cuda
