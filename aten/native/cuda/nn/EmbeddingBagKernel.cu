// The loops of embedding_bag that look at the values of indices: the bags of indices, and the rows
// of maxima.
#include "aten/Dispatch.h"
#include "aten/core/Tensor.h"
#include "aten/native/cuda/PerIndex.cuh"
#include "aten/native/cuda/indexing/Accumulate.cuh"
#include "aten/ops/clamp.h"

namespace at::native::cuda {

namespace {

using c10::cuda::ReportKind;

/// The bags of `total` indices: bag b has those from starts[b] on, up to the start of the next.
struct Bags {
  const int64_t* index;
  const int64_t* starts;
  int64_t total;
  int64_t bags;
  bool last_offset_ends;  // the last bag, instead of the last index

  SIMT_DEVICE int64_t end_of(int64_t bag) const {
    return bag + 1 < bags || last_offset_ends ? starts[bag + 1] : total;
  }
};

/// The bag of every index: the last one that starts at it or before it, unless that has ended.
struct FindBag {
  Bags bags;
  int64_t rows;
  int64_t* out;

  SIMT_DEVICE void operator()(int64_t i, simt::Reporter reporter) const {
    if (bags.index[i] < 0 || bags.index[i] >= rows)
      simt::report(reporter, ReportKind::ValueRange, 0, bags.index[i], rows);

    int64_t low = 0;  // bags that start at i or before it
    int64_t high = bags.bags;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (bags.starts[middle] <= i) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    out[i] = low > 0 && i < bags.end_of(low - 1) ? low - 1 : bags.bags;
  }
};

/// The number of indices of a bag that are not padding.
struct CountBag {
  Bags bags;
  int64_t padding_idx;
  int64_t* sizes;

  SIMT_DEVICE void operator()(int64_t bag, simt::Reporter reporter) const {
    const int64_t begin = bags.starts[bag];
    const int64_t end = bags.end_of(bag);
    sizes[bag] = 0;
    if (bag == 0 && begin != 0) return simt::report(reporter, ReportKind::ValueRange, 1, begin, 1);
    if (begin < 0 || begin > end || end > bags.total)
      return simt::report(reporter, ReportKind::ValueRange, 1, begin > end ? begin : end,
                          bags.total + 1);

    int64_t count = 0;
    for (int64_t i = begin; i < end; ++i) count += bags.index[i] != padding_idx;
    sizes[bag] = count;
  }
};

/// The index with the largest value in one column of a bag. The sorted updates of a bag are
/// neighbours, in the order of the indices.
template <class T>
struct LargestOfBag {
  const int64_t* bag_of;  // sorted
  const int64_t* order;
  int64_t total;
  const T* values;  // a row for every index
  const int64_t* index;
  int64_t width;
  int64_t count;
  int64_t padding_idx;
  int64_t* out;

  SIMT_DEVICE void operator()(int64_t i) const {
    const int64_t slot = i / width;
    const int64_t column = i - slot * width;
    const int64_t bag = bag_of[slot];
    if (slot > 0 && bag_of[slot - 1] == bag) return;
    if (bag == count) return;

    bool any = false;
    T best{};
    int64_t found = 0;
    for (int64_t k = slot; k < total && bag_of[k] == bag; ++k) {
      const int64_t row = order[k];
      if (index[row] == padding_idx) continue;
      const T value = values[row * width + column];
      if (any && !(value > best)) continue;
      any = true;
      best = value;
      found = index[row];
    }
    out[bag * width + column] = found;
  }
};

/// Reports bags that do not exist. They are read as the one after the last.
struct CheckBags {
  const int64_t* bags;
  int64_t count;

  SIMT_DEVICE void operator()(int64_t i, simt::Reporter reporter) const {
    if (bags[i] < 0 || bags[i] > count)
      simt::report(reporter, ReportKind::ValueRange, 2, bags[i], count + 1);
  }
};

}  // namespace

void embedding_bag_bags_kernel(const Tensor& indices, const Tensor& offsets, int64_t rows,
                               bool include_last_offset, int64_t padding_idx, const Tensor& out0,
                               const Tensor& out1) {
  const Tensor numbers = indices.to(kLong).contiguous();
  const Tensor starts = offsets.to(kLong).contiguous();
  const Bags bags{numbers.const_data_ptr<int64_t>(), starts.const_data_ptr<int64_t>(),
                  numbers.numel(), out1.numel(), include_last_offset};

  per_index("embedding_bag", numbers.numel(), FindBag{bags, rows, out0.data_ptr<int64_t>()});
  per_index("embedding_bag", bags.bags, CountBag{bags, padding_idx, out1.data_ptr<int64_t>()});
}

void embedding_bag_maxima_kernel(const Tensor& values, const Tensor& indices, const Tensor& bags,
                                 int64_t count, int64_t padding_idx, const Tensor& out0) {
  out0.zero_();
  if (values.numel() == 0 || out0.numel() == 0) return;

  const Tensor rows = values.contiguous();
  const Tensor numbers = indices.to(kLong).contiguous();
  const Tensor places = bags.contiguous();
  per_index("_embedding_bag_maxima", places.numel(),
            CheckBags{places.const_data_ptr<int64_t>(), count});
  const OrderedUpdates updates =
      ordered("_embedding_bag_maxima", at::clamp(places, Scalar(0), Scalar(count)), count);

  AT_DISPATCH_FLOATING_AND_REDUCED(values.scalar_type(), "_embedding_bag_maxima", [&] {
    per_index("_embedding_bag_maxima", rows.numel(),
              LargestOfBag<scalar_t>{updates.keys.const_data_ptr<int64_t>(),
                                     updates.order.const_data_ptr<int64_t>(), updates.count(),
                                     rows.const_data_ptr<scalar_t>(),
                                     numbers.const_data_ptr<int64_t>(), rows.size(1), count,
                                     padding_idx, out0.data_ptr<int64_t>()});
  });
}

}  // namespace at::native::cuda
