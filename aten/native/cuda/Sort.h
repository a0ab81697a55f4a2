// Sorting on the device: what kernels call instead of CUB.
#pragma once
#include <cstddef>
#include <cstdint>

#include "c10/core/Allocator.h"
#include "c10/util/Export.h"

// Note [Sorting]
// One library algorithm, a radix sort of unsigned keys with positions, serves every operator that
// orders elements. It is compiled for keys of 32 and of 64 bits only: smaller keys are widened and
// sorted by as many bits as they have (RadixSort.h maps elements to keys). Many rows are sorted at
// once by keys whose highest bits are the row. Each pass moves keys and positions: those of lanes
// have 32 bits, as memory for more than 2^32 keys is hardly there.

namespace at::native::cuda {

/// Keys and their positions with as much memory again for each, in which they are sorted.
template <class Key, class Position = int64_t>
struct SortBuffers {
  Key* keys;
  Key* other_keys;
  Position* positions;
  Position* other_positions;
};

/// Sorts by the lowest `bits` bits, ascending; equal keys keep their order. Afterwards `keys` and
/// `positions` are the sorted ones: they may have changed places with the others. Work in the
/// current stream; `name` is the operator's.
void sort_pairs(const char* name, SortBuffers<uint32_t, uint32_t>& buffers, int64_t count,
                int bits);
void sort_pairs(const char* name, SortBuffers<uint64_t, uint32_t>& buffers, int64_t count,
                int bits);
void sort_pairs(const char* name, SortBuffers<uint64_t>& buffers, int64_t count, int bits);

/// Device memory for `count` pairs, twice.
template <class Key, class Position = int64_t>
struct SortMemory {
  explicit SortMemory(int64_t count);
  SortBuffers<Key, Position> buffers;
  c10::DataPtr memory;
};

/// The stable order of `count` keys in [0, bound): the sorted keys, and where each was. Keys beyond
/// the bound give an undefined order, but no access outside of the arrays.
void sort_indices(const char* name, const int64_t* keys, int64_t count, int64_t bound,
                  int64_t* sorted_keys, int64_t* positions);

}  // namespace at::native::cuda
