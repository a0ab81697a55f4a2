// Visits the elements of an iterator by rows.
#include "aten/iteration/Rows.h"

#include <algorithm>

#include "aten/iteration/Blocks.h"
#include "aten/parallel/Parallel.h"

namespace at::native {

namespace {

/// Runs the loop over elements [begin, end) of the only dimension.
void run_line(const TensorIterator& iter, RowLoop loop, const void* context, int64_t begin,
              int64_t end) {
  char* data[TensorIterator::kMaxOperands];
  int64_t strides[TensorIterator::kMaxOperands];
  const int operands = iter.ntensors();
  for (int k = 0; k < operands; ++k) {
    strides[k] = iter.strides(k)[0];
    data[k] = iter.data(k) + begin * strides[k];
  }
  loop(context, {data, strides, strides, end - begin, 1, operands});
}

/// The index of an element of the coalesced order in each dimension.
DimVector index_of(int64_t element, IntArrayRef shape) {
  DimVector index(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    index[d] = element % shape[d];
    element /= shape[d];
  }
  return index;
}

}  // namespace

void for_each_row(const TensorIterator& iter, RowLoop loop, const void* context, int64_t grain) {
  const int64_t numel = iter.numel();
  if (numel == 0) return;
  if (iter.dim() == 1 && numel <= grain) return run_line(iter, loop, context, 0, numel);
  if (iter.dim() > 1 && numel >= kLeastInBlocks) {
    const BlockPlan blocks = plan_blocks(iter);
    if (blocks.other != 0) return for_each_block(iter, blocks, loop, context, grain);
  }

  if (numel <= grain || in_parallel_region() || get_num_threads() == 1)
    return serial_for_each_row(iter, loop, context, 0, numel);
  parallel_for(0, numel, grain, [&](int64_t begin, int64_t end) {
    serial_for_each_row(iter, loop, context, begin, end);
  });
}

void serial_for_each_row(const TensorIterator& iter, RowLoop loop, const void* context,
                         int64_t begin, int64_t end) {
  if (begin >= end) return;
  if (iter.dim() == 1) return run_line(iter, loop, context, begin, end);

  const IntArrayRef shape = iter.shape();
  const int operands = iter.ntensors();
  char* data[TensorIterator::kMaxOperands];
  int64_t strides[TensorIterator::kMaxOperands];
  int64_t row_strides[TensorIterator::kMaxOperands];
  for (int k = 0; k < operands; ++k) {
    strides[k] = iter.strides(k)[0];
    row_strides[k] = iter.strides(k)[1];
  }

  DimVector index = index_of(begin, shape);
  while (begin < end) {
    for (int k = 0; k < operands; ++k) {
      data[k] = iter.data(k);
      for (size_t d = 0; d < shape.size(); ++d) data[k] += index[d] * iter.strides(k)[d];
    }

    // As many whole rows as follow each other along dimension 1, or else a part of one.
    const bool is_whole = index[0] == 0 && end - begin >= shape[0];
    const int64_t n = is_whole ? shape[0] : std::min(shape[0] - index[0], end - begin);
    const int64_t rows = is_whole ? std::min(shape[1] - index[1], (end - begin) / n) : 1;
    loop(context, {data, strides, row_strides, n, rows, operands});

    begin += n * rows;
    index[0] = 0;
    index[1] += rows - 1;
    for (size_t d = 1; d < shape.size() && ++index[d] == shape[d]; ++d) index[d] = 0;
  }
}

}  // namespace at::native
