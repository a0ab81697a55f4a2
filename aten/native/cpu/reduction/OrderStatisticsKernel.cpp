// Selects one element of every lane, by its rank or by how often it occurs.
#include <algorithm>
#include <memory>

#include "aten/Dispatch.h"
#include "aten/iteration/Lanes.h"
#include "aten/native/cpu/shared/ShortLanes.h"
#include "aten/native/declarations/cpu/reduction/OrderStatisticsKernel.h"
#include "aten/native/shared/RadixSort.h"

namespace at::native {

namespace {

/// `result` with the reduced dimension as one of size 1, so that its lanes match those of `self`.
Tensor with_dim(const Tensor& result, const Tensor& self, int64_t dim) {
  return result.dim() == self.dim() ? result : result.unsqueeze(dim);
}

/// The elements of a lane as keys, in the order of their indices.
struct Lane {
  SortEntry* entries;
  int64_t size;
  int key_bytes;
  uint64_t nan;  // the key of nan; 0, which is never counted, for integers

  int64_t index_at(int64_t rank) const { return index_at_rank(entries, size, rank, key_bytes); }
  bool is_nan(const SortEntry& entry) const { return nan != 0 && entry.key == nan; }
};

template <typename T>
constexpr uint64_t nan_key() {
  return is_integral(scalar_type_of<T>, true) ? 0 : ~uint64_t{0} >> (64 - 8 * key_bytes<T>);
}

/// Selects an element of each short lane, of many lanes at once.
void choose_in_groups(const char* name, const Tensor& self, int64_t dim, const Tensor& values,
                      const Tensor& indices, ShortLaneChoice choice, int64_t rank) {
  static const auto kernel = TORCH_PY_CHOOSE_KERNEL(choose_in_short_lanes);
  const int64_t n = lane_size(self, dim);
  const int64_t stride = lane_stride(self, dim) * static_cast<int64_t>(self.itemsize());

  const auto group = [&](char* const* data, int64_t width, const int64_t* steps) {
    const ShortLanes lanes = {
        {data[0], steps[0], stride}, {data[1], steps[1], 0}, {data[2], steps[2], 0}, n, width};
    kernel(name, self.scalar_type(), lanes, choice, rank);
  };

  LaneIterator(dim, {&self, &values, &indices})
      .group_along_longest()
      .for_each_group(n * 4, kShortLaneGroup, group);
}

/// Selects an element of every lane: `choice` says which, with its `rank`, and pick(lane) returns
/// its index.
template <typename Pick>
void choose_in_lanes(const char* name, const Tensor& self, int64_t dim, const Tensor& values,
                     const Tensor& indices, ShortLaneChoice choice, int64_t rank,
                     const Pick& pick) {
  if (indices.numel() == 0) return;

  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t n = lane_size(self, d);
  const int64_t stride = lane_stride(self, d);
  const Tensor value_lanes = with_dim(values, self, d);
  const Tensor index_lanes = with_dim(indices, self, d);
  if (n <= kShortLane)
    return choose_in_groups(name, self, d, value_lanes, index_lanes, choice, rank);

  AT_DISPATCH_REAL_AND_BOOL(self.scalar_type(), name, [&] {
    LaneIterator(d, {&self, &value_lanes, &index_lanes}).for_each(n * 4, [&](char* const* data) {
      const auto* in = reinterpret_cast<const scalar_t*>(data[0]);
      const auto entries = std::make_unique_for_overwrite<SortEntry[]>(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) entries[i] = {sort_key(in[i * stride]), i};

      const int64_t chosen = pick(Lane{entries.get(), n, key_bytes<scalar_t>, nan_key<scalar_t>()});
      *reinterpret_cast<scalar_t*>(data[1]) = in[chosen * stride];
      *reinterpret_cast<int64_t*>(data[2]) = chosen;
    });
  });
}

/// The number of elements that are not nan.
int64_t count_numbers(const Lane& lane) {
  return std::count_if(lane.entries, lane.entries + lane.size,
                       [&](const SortEntry& entry) { return !lane.is_nan(entry); });
}

/// The index of the most frequent element: the last of the first longest run in stable order. A nan
/// is a run of its own.
int64_t index_of_mode(const Lane& lane) {
  const SortEntry* sorted = lane.entries;
  std::sort(lane.entries, lane.entries + lane.size, is_before);

  int64_t best = 0;
  int64_t longest = 0;
  int64_t start = 0;
  for (int64_t i = 0; i < lane.size; ++i) {
    if (sorted[i].key != sorted[start].key || lane.is_nan(sorted[i])) start = i;
    if (i - start + 1 > longest) {
      longest = i - start + 1;
      best = i;
    }
  }

  return sorted[best].index;
}

}  // namespace

void median_kernel(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& out0,
                   const Tensor& out1) {
  choose_in_lanes("median", self, dim, out0, out1, ShortLaneChoice::Median, 0,
                  [](const Lane& lane) {
                    const SortEntry* end = lane.entries + lane.size;
                    const SortEntry* nan =
                        std::find_if(lane.entries, lane.entries + lane.size,
                                     [&](const SortEntry& entry) { return lane.is_nan(entry); });
                    return nan != end ? nan->index : lane.index_at((lane.size - 1) / 2);
                  });
}

void nanmedian_kernel(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& out0,
                      const Tensor& out1) {
  choose_in_lanes("nanmedian", self, dim, out0, out1, ShortLaneChoice::NanMedian, 0,
                  [](const Lane& lane) {
                    return lane.index_at(std::max<int64_t>(0, count_numbers(lane) - 1) / 2);
                  });
}

void kthvalue_kernel(const Tensor& self, int64_t k, int64_t dim, bool /*keepdim*/,
                     const Tensor& out0, const Tensor& out1) {
  choose_in_lanes("kthvalue", self, dim, out0, out1, ShortLaneChoice::Rank, k - 1,
                  [k](const Lane& lane) { return lane.index_at(k - 1); });
}

void mode_kernel(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& out0,
                 const Tensor& out1) {
  choose_in_lanes("mode", self, dim, out0, out1, ShortLaneChoice::Mode, 0,
                  [](const Lane& lane) { return index_of_mode(lane); });
}

}  // namespace at::native
