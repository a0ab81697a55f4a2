// Sums and means of bags of rows, which are read in place. Compiled with -O3. Maxima, and bags
// whose gradient is wanted, are composed of other operators in nn/EmbeddingBag.cpp.
#include <algorithm>
#include <type_traits>

#include "aten/Dispatch.h"
#include "aten/native/declarations/cpu/nn/EmbeddingBagKernel.isa.h"
#include "aten/native/declarations/nn/EmbeddingBag.h"
#include "aten/native/nn/EmbeddingBag.h"
#include "aten/ops/_embedding_bag_bags.h"
#include "aten/parallel/Parallel.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// The rows of a table that form a bag.
template <typename T>
struct Bag {
  const int64_t* index;
  const T* sample_weight;  // null: all are 1
  int64_t rows;
  int64_t padding_idx;
};

constexpr int64_t kColumns = 64;  // columns whose sums stay in registers

/// Asks for columns of a row that are read soon; no prefetcher can guess which.
template <typename T>
void prefetch_columns(const T* row, int64_t width) {
  constexpr int64_t kLine = 64 / sizeof(T);
  for (int64_t i = 0; i < std::min(width, kColumns); i += kLine) __builtin_prefetch(row + i);
}

/// sums[c] of the first `width` columns, at most kColumns, over the rows of a bag; `left` columns
/// come after them. A constant width keeps the sums in registers.
template <typename T, typename acc_t, typename Width>
void sum_columns(const Bag<T>& bag, const T* table, int64_t row_size, Width width, int64_t left,
                 acc_t* sums) {
  acc_t local[kColumns] = {};
  for (int64_t i = 0; i < bag.rows; ++i) {
    if (bag.index[i] == bag.padding_idx) continue;
    const T* row = table + bag.index[i] * row_size;
    prefetch_columns(row + width, left);
    const acc_t factor =
        bag.sample_weight == nullptr ? acc_t(1) : static_cast<acc_t>(bag.sample_weight[i]);
    for (int64_t c = 0; c < width; ++c) local[c] += factor * static_cast<acc_t>(row[c]);
  }

  for (int64_t c = 0; c < width; ++c) sums[c] = local[c];
}

/// out = the sum over the rows of a bag, divided by `divisor`.
template <typename T>
void sum_bag(const Bag<T>& bag, const T* table, int64_t row_size, int64_t divisor, T* out) {
  using acc_t = opmath_type<T>;
  using Full = std::integral_constant<int64_t, kColumns>;
  for (int64_t first = 0; first < row_size; first += kColumns) {
    acc_t sums[kColumns];
    const int64_t width = std::min(kColumns, row_size - first);
    const int64_t left = row_size - first - width;
    width == kColumns ? sum_columns(bag, table + first, row_size, Full(), left, sums)
                      : sum_columns(bag, table + first, row_size, width, left, sums);
    for (int64_t c = 0; c < width; ++c)
      out[first + c] = static_cast<T>(sums[c] / static_cast<acc_t>(divisor));
  }
}

/// The tensors of embedding_bag, contiguous, with indices as int64.
struct Bags {
  Tensor table;
  Tensor indices;
  Tensor starts;
  Tensor sizes;           // without padding
  Tensor sample_weights;  // or undefined
  bool is_last_closed;    // starts end with the end of the last bag
  bool is_mean;
  int64_t padding_idx;
};

template <typename T>
void sum_bags(const Bags& bags, const Tensor& result) {
  const int64_t count = bags.sizes.numel();
  const int64_t total = bags.indices.numel();
  const int64_t width = bags.table.size(1);
  const auto* index = bags.indices.const_data_ptr<int64_t>();
  const auto* start = bags.starts.const_data_ptr<int64_t>();
  const auto* size = bags.sizes.const_data_ptr<int64_t>();
  const auto* rows = bags.table.const_data_ptr<T>();
  const T* sample_weight =
      bags.sample_weights.defined() ? bags.sample_weights.const_data_ptr<T>() : nullptr;
  T* out = result.data_ptr<T>();

  const int64_t cost = std::max<int64_t>(1, total / std::max<int64_t>(1, count) * width);
  const int64_t grain = std::max<int64_t>(1, kDefaultGrainSize / cost);
  parallel_for(0, count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const int64_t first = start[b];
      const int64_t last = b + 1 < count || bags.is_last_closed ? start[b + 1] : total;

      // About as many rows of the next bag are asked for as this one has.
      for (int64_t i = last; i < std::min(total, last + (last - first)); ++i)
        prefetch_columns(rows + index[i] * width, width);

      const Bag<T> bag{index + first, sample_weight == nullptr ? nullptr : sample_weight + first,
                       last - first, bags.padding_idx};
      const int64_t divisor = bags.is_mean ? std::max<int64_t>(1, size[b]) : 1;
      sum_bag(bag, rows, width, divisor, out + b * width);
    }
  });
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor>
embedding_bag_kernel(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                     bool scale_grad_by_freq, int64_t mode, bool sparse,
                     const Tensor& per_sample_weights, bool include_last_offset,
                     std::optional<int64_t> padding) {
  if (mode == kMaxMode || !weight.is_floating_point())
    return embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse,
                         per_sample_weights, include_last_offset, padding);

  const int64_t padding_idx =
      check_embedding_bag(weight, indices, offsets, mode, sparse, per_sample_weights, padding);
  const auto [bag_of, sizes] =
      at::_embedding_bag_bags(indices, offsets, weight.size(0), include_last_offset, padding_idx);

  const Bags bags{weight.contiguous(),
                  indices.to(kLong).contiguous(),
                  offsets.to(kLong).contiguous(),
                  sizes,
                  per_sample_weights.defined() ? per_sample_weights.contiguous()
                                               : per_sample_weights,
                  include_last_offset,
                  mode == kMeanMode,
                  padding_idx};
  const Tensor result =
      empty_tensor({sizes.numel(), weight.size(1)}, weight.scalar_type(), weight.device());
  AT_DISPATCH_FLOATING_AND_REDUCED(weight.scalar_type(), "embedding_bag",
                                   [&] { sum_bags<scalar_t>(bags, result); });

  return {result, bag_of, sizes, sizes};
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
