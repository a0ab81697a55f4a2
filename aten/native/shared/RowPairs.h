// What both devices do first in cdist.
#pragma once
#include <optional>

#include "aten/native/shared/MatrixBatch.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/expand.h"

namespace at::native {

/// The rows whose distances cdist computes, with the batch of the result.
struct RowPairs {
  Tensor first;
  Tensor second;
  bool by_product;  // |a - b|^2 as |a|^2 + |b|^2 - 2 ab, by a matrix product
};

/// Mode 0 takes the product for more than 25 rows, mode 1 always, mode 2 never.
inline RowPairs row_pairs(const Tensor& x1, const Tensor& x2, double p,
                          std::optional<int64_t> compute_mode, const Tensor& out) {
  const int64_t rows = x1.size(-2);
  const int64_t columns = x2.size(-2);
  const int64_t width = x1.size(-1);
  const int64_t mode = compute_mode.value_or(0);
  const bool is_large = rows > 25 || columns > 25;

  const IntArrayRef batch = batch_sizes(out);
  return {x1.expand(joined_sizes(batch, {rows, width})).contiguous(),
          x2.expand(joined_sizes(batch, {columns, width})).contiguous(),
          p == 2 && width > 0 && (mode == 1 || (mode == 0 && is_large))};
}

}  // namespace at::native
