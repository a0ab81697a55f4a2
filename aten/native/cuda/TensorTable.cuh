// TensorTable.cuh: loops over many tensors in one launch.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "aten/core/Tensor.h"
#include "aten/native/cuda/Rows.cuh"

// Note [Tensor tables]
// An optimizer's step reads and writes hundreds of tensors, of which many are small. Their
// addresses travel as an argument of the launch, kTableTensors at a time: a kernel's arguments may
// have 4 KB. A block works on kTableChunk elements of one tensor, which it looks up by its index.

namespace at::native::cuda {

inline constexpr int kTableTensors = 60;
inline constexpr int kTableThreads = 256;
inline constexpr int kTablePacks = 4;  // of each thread

/// Up to kTableTensors tensors and, in further columns, what belongs to them.
template <int kColumns>
struct TensorTable {
  char* data[kColumns][kTableTensors];
  const float* steps[kTableTensors];
  int64_t sizes[kTableTensors];
  uint32_t ends[kTableTensors];  // blocks of this tensor and all before
  int tensors = 0;

  /// The tensor of a block.
  SIMT_DEVICE int find(uint32_t block) const {
    int low = 0;
    int high = tensors - 1;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (ends[middle] > block) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
};
static_assert(sizeof(TensorTable<5>) < 3800);

/// The elements of one block.
struct TablePlace {
  int tensor;
  int64_t begin, size;

  template <int kColumns>
  SIMT_DEVICE TablePlace(const TensorTable<kColumns>& table, int64_t chunk)
      : tensor(table.find(simt::block_x())),
        begin((simt::block_x() - (tensor == 0 ? 0 : table.ends[tensor - 1])) * chunk),
        size(table.sizes[tensor]) {}
};

/// Calls f on the elements of a block: f(pack width as a constant, index of the first element). The
/// elements after the last whole pack come one by one.
template <int kWidth, class F>
SIMT_DEVICE void each_of_block(const TablePlace& place, const F& f) {
  SIMT_UNROLL
  for (int k = 0; k < kTablePacks; ++k) {
    const int64_t first =
        place.begin + (int64_t{k} * kTableThreads + simt::thread_x()) * int64_t{kWidth};
    if (first + kWidth <= place.size) {
      f(std::integral_constant<int, kWidth>(), first);
    } else {
      for (int64_t i = first; i < place.size; ++i) f(std::integral_constant<int, 1>(), i);
    }
  }
}

/// Fills tables with the tensors of `columns`, which all have as many, and calls f(table, width)
/// for each: the tensors of a table have one dtype, `scalar_t`. `steps` may be empty.
template <class T, int kColumns, class F>
void for_each_table(const TensorList (&columns)[kColumns], const std::vector<Tensor>& steps,
                    const F& f) {
  constexpr int kWidth = 16 / sizeof(T);
  TensorTable<kColumns> table = {};
  bool aligned = true;
  const auto flush = [&] {
    if (table.tensors == 0) return;
    f(table, aligned ? kWidth : 1);
    table = {};
    aligned = true;
  };

  for (size_t i = 0; i < columns[0].size(); ++i) {
    const Tensor& first = columns[0][i];
    if (first.scalar_type() != scalar_type_of<T> || first.numel() == 0) continue;

    const int k = table.tensors++;
    for (int c = 0; c < kColumns; ++c) {
      table.data[c][k] = static_cast<char*>(columns[c][i].data());
      aligned = aligned && are_aligned(table.data[c][k]);
    }
    table.steps[k] = steps.empty() ? nullptr : steps[i].const_data_ptr<float>();
    table.sizes[k] = first.numel();
    if (table.tensors == kTableTensors) flush();
  }
  flush();
}

/// Sets the blocks of each tensor for packs of `width` elements, and returns their number.
template <int kColumns>
unsigned count_blocks(TensorTable<kColumns>& table, int width) {
  const int64_t chunk = int64_t{kTableThreads} * kTablePacks * width;
  uint32_t blocks = 0;
  for (int k = 0; k < table.tensors; ++k)
    table.ends[k] = blocks += static_cast<uint32_t>(detail::ceil_div(table.sizes[k], chunk));
  return blocks;
}

}  // namespace at::native::cuda
