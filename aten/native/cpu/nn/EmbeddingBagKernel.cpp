// The loops of embedding_bag that look at the values of indices: the bags of indices, and the rows
// of maxima.
#include <limits>
#include <vector>

#include "aten/native/declarations/cpu/nn/EmbeddingBagKernel.h"

namespace at::native {

namespace {

void check_rows(const int64_t* index, int64_t count, int64_t rows) {
  for (int64_t i = 0; i < count; ++i) {
    TORCH_CHECK(index[i] >= 0 && index[i] < rows, "embedding_bag: Index ", i,
                " of input takes value ", index[i], " which is not in the valid range [0, ", rows,
                ")");
  }
}

}  // namespace

void embedding_bag_bags_kernel(const Tensor& indices, const Tensor& offsets, int64_t rows,
                               bool include_last_offset, int64_t padding_idx, const Tensor& out0,
                               const Tensor& out1) {
  const Tensor numbers = indices.to(kLong).contiguous();
  const Tensor starts = offsets.to(kLong).contiguous();
  const int64_t* index = numbers.const_data_ptr<int64_t>();
  const int64_t* start = starts.const_data_ptr<int64_t>();
  const int64_t total = numbers.numel();
  const int64_t bags = out1.numel();

  check_rows(index, total, rows);
  TORCH_CHECK(bags == 0 || start[0] == 0,
              "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start "
              "from position 0. "
              "However, got ",
              bags == 0 ? 0 : start[0]);

  int64_t* bag_of = out0.data_ptr<int64_t>();
  int64_t* sizes = out1.data_ptr<int64_t>();
  int64_t end = 0;
  for (int64_t bag = 0; bag < bags; ++bag) {
    const bool closed = bag + 1 < bags || include_last_offset;
    end = closed ? start[bag + 1] : total;
    TORCH_CHECK(start[bag] <= end && end <= total, "offsets[", bag + 1,
                "] can not be smaller than the one before or greater than input's "
                "length of ",
                total, ", got ", end);

    sizes[bag] = 0;
    for (int64_t i = start[bag]; i < end; ++i) {
      bag_of[i] = bag;
      sizes[bag] += index[i] != padding_idx;
    }
  }

  for (int64_t i = end; i < total; ++i) bag_of[i] = bags;
}

void embedding_bag_maxima_kernel(const Tensor& values, const Tensor& indices, const Tensor& bags,
                                 int64_t count, int64_t padding_idx, const Tensor& out0) {
  out0.zero_();
  const Tensor wide = values.to(kDouble).contiguous();
  const Tensor numbers = indices.to(kLong).contiguous();
  const Tensor places = bags.contiguous();
  const int64_t width = values.size(1);

  // Compared in double; `any` says whether a bag has a row yet.
  std::vector<double> best(static_cast<size_t>(count * width),
                           -std::numeric_limits<double>::infinity());
  std::vector<char> any(static_cast<size_t>(count), 0);

  const int64_t* index = numbers.const_data_ptr<int64_t>();
  const int64_t* bag_of = places.const_data_ptr<int64_t>();
  const double* value = wide.const_data_ptr<double>();
  int64_t* found = out0.data_ptr<int64_t>();

  for (int64_t i = 0; i < numbers.numel(); ++i) {
    const int64_t bag = bag_of[i];
    TORCH_CHECK_INDEX(bag >= 0 && bag <= count, "_embedding_bag_maxima: bag ", bag,
                      " is out of range for ", count, " bags");
    if (index[i] == padding_idx || bag == count) continue;

    const bool first = !any[static_cast<size_t>(bag)];
    any[static_cast<size_t>(bag)] = 1;

    for (int64_t j = 0; j < width; ++j) {
      double& largest = best[static_cast<size_t>(bag * width + j)];
      if (!first && !(value[i * width + j] > largest)) continue;
      largest = value[i * width + j];
      found[bag * width + j] = index[i];
    }
  }
}

}  // namespace at::native
