// How a reduction is spread over threads and blocks.
#pragma once
#include <algorithm>
#include <cstdint>

#include "aten/native/cuda/IndexedDims.h"

// Note [Device reductions]
// One launch, in one of two forms. Rows: neighbouring threads read neighbouring elements of one
// result; 1 to 256 threads share a result. Columns: neighbouring threads read neighbouring results
// (the input is contiguous along a kept dimension), and several rows at once.
//
// Long reductions are cut into pieces, one block each. A block leaves its part in a workspace; the
// block that comes last, which a counter tells, combines the parts in their order. The result
// therefore depends on the shape only, neither on the order of blocks nor on the GPU. A thread adds
// at most kSerial elements to one accumulator, and everything else is combined as a tree, so that
// the error grows with the logarithm of the length as it does on the CPU.

namespace at::native::cuda {

inline constexpr int kReduceThreads = 256;
inline constexpr int64_t kSerial = 128;

/// Some dimensions of the result, the input and the second result.
struct ReduceDims : IndexedDims<3> {
  void add(const LaunchPlan& plan, int d) {
    sizes[dims] = plan.sizes[d];
    for (int k = 0; k < plan.operands; ++k) strides[k][dims] = plan.strides[k][d];
    count *= plan.sizes[d];
    ++dims;
  }
};

/// The dimensions of a reduction: those of its results and those that are reduced.
struct ReduceShape {
  ReduceDims kept;  // without `columns`
  ReduceDims reduced;
  int64_t columns = 1;  // size of the kept dimension that threads share; 1 in the form of rows
  int64_t column_stride[3] = {};
  bool has_columns = false;

  /// `plan` is that of make_reduction: the result's stride is 0 along reduced dimensions.
  explicit ReduceShape(const LaunchPlan& plan, int64_t limit = int64_t{1} << 31) {
    const auto itemsize = static_cast<int64_t>(element_size(plan.dtype(1)));
    for (int d = 0; d < plan.dims; ++d) {
      if (plan.strides[0][d] == 0 && plan.sizes[d] != 1) {
        reduced.add(plan, d);
      } else if (d == 0 && plan.sizes[0] > 1 && plan.strides[1][0] == itemsize) {
        has_columns = true;
        columns = plan.sizes[0];
        for (int k = 0; k < plan.operands; ++k) column_stride[k] = plan.strides[k][0];
      } else {
        kept.add(plan, d);
      }
    }
    kept.finish(limit);
    reduced.finish(limit);
  }

  int64_t results() const { return kept.count * columns; }
};

inline int64_t power_of_two_from(int64_t n) {
  int64_t power = 1;
  while (power < n) power *= 2;
  return power;
}

/// Threads and blocks of a reduction.
struct ReduceGeometry {
  int64_t pieces = 1;        // per result
  int64_t piece_length = 0;  // reduced elements per piece
  int across = 1;            // rows: threads per result; columns: threads along the columns
  int down = 1;              // rows: results per block; columns: rows read at once
};

/// Enough pieces for kBlocks blocks, but no shorter than `shortest` and no longer than `longest`.
/// Lengths are multiples of `unit`.
inline void cut_into_pieces(ReduceGeometry& geometry, int64_t length, int64_t blocks,
                            int64_t shortest, int64_t longest, int64_t unit) {
  constexpr int64_t kBlocks = 1024;
  const int64_t wanted = (kBlocks + blocks - 1) / blocks;
  int64_t piece = (length + wanted - 1) / wanted;
  piece = std::min(std::max(piece, shortest), longest);
  geometry.piece_length = (piece + unit - 1) / unit * unit;
  geometry.pieces = (length + geometry.piece_length - 1) / geometry.piece_length;
}

/// `width` elements make a pack, to which `accumulators` independent ones belong.
inline ReduceGeometry geometry_of_rows(const ReduceShape& shape, int width, int accumulators) {
  const int64_t length = shape.reduced.count;
  const int64_t packs = (length + width - 1) / width;
  const int64_t results = shape.results();

  // About eight packs a thread, fewer where few threads would run.
  int64_t across = std::min<int64_t>(kReduceThreads, power_of_two_from((packs + 7) / 8));
  while (across < kReduceThreads && across < packs && results * across < 65536) across *= 2;

  ReduceGeometry geometry;
  geometry.across = static_cast<int>(across);
  geometry.down = static_cast<int>(kReduceThreads / across);
  geometry.piece_length = length;
  if (across == kReduceThreads) {
    const int64_t step = int64_t{kReduceThreads} * accumulators;
    cut_into_pieces(geometry, length, results, 8 * step, kSerial * step, width);
  }
  return geometry;
}

/// `width` columns make a pack.
inline ReduceGeometry geometry_of_columns(const ReduceShape& shape, int width) {
  const int64_t length = shape.reduced.count;
  const int64_t packs = (shape.columns + width - 1) / width;

  // About eight rows a thread; a warp reads at least 32 packs of a row where there are so many.
  const int64_t widest = power_of_two_from(packs);
  int64_t down = std::min<int64_t>(kReduceThreads, power_of_two_from((length + 7) / 8));
  down = std::min(down, kReduceThreads / std::min<int64_t>(32, widest));
  const int64_t across = std::min<int64_t>(kReduceThreads / down, std::max<int64_t>(1, widest));

  ReduceGeometry geometry;
  geometry.across = static_cast<int>(across);
  geometry.down = static_cast<int>(down);
  const int64_t blocks = shape.kept.count * ((packs + across - 1) / across);
  cut_into_pieces(geometry, length, blocks, 8 * down, kSerial * down, down);
  return geometry;
}

}  // namespace at::native::cuda
