// Selects one element of every lane, by its rank or by how often it occurs.
#include <algorithm>
#include <memory>

#include "aten/Dispatch.h"
#include "aten/iteration/Lanes.h"
#include "aten/native/cpu/shared/ShortLaneGroups.h"
#include "aten/native/declarations/cpu/reduction/OrderStatisticsKernel.h"
#include "aten/native/shared/RadixSort.h"
#include "aten/native/shared/ViewHelpers.h"

namespace at::native {

namespace {

/// The elements of a lane as keys, in the order of their indices.
struct Lane {
  SortEntry* entries;
  int64_t size;
  int key_bytes;
  uint64_t nan;  // the key of nan; 0 for integers, which have none

  int64_t index_at(int64_t rank) const { return index_at_rank(entries, size, rank, key_bytes); }
  bool is_nan(const SortEntry& entry) const { return nan != 0 && entry.key == nan; }
};

/// The number of elements that are not nan.
int64_t count_numbers(const Lane& lane) {
  return std::count_if(lane.entries, lane.entries + lane.size,
                       [&](const SortEntry& entry) { return !lane.is_nan(entry); });
}

/// The index of the first nan, or of the lower median.
int64_t index_of_median(const Lane& lane) {
  const SortEntry* end = lane.entries + lane.size;
  const SortEntry* nan = std::find_if(lane.entries, lane.entries + lane.size,
                                      [&](const SortEntry& entry) { return lane.is_nan(entry); });
  return nan != end ? nan->index : lane.index_at((lane.size - 1) / 2);
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

int64_t index_of(const Selection& selection, const Lane& lane) {
  switch (selection.choice) {
    case LaneChoice::Rank: return lane.index_at(selection.rank);
    case LaneChoice::Median: return index_of_median(lane);
    case LaneChoice::NanMedian:
      return lane.index_at(std::max<int64_t>(0, count_numbers(lane) - 1) / 2);
    case LaneChoice::Mode: break;
  }
  return index_of_mode(lane);
}

/// Selects an element of every lane of at most kShortLane elements, of many lanes at once.
void select_in_short_lanes(const char* name, const Tensor& self, int64_t dim, const Tensor& values,
                           const Tensor& indices, const Selection& selection) {
  static const auto kernel = TORCH_PY_CHOOSE_KERNEL(choose_in_short_lanes);
  for_each_short_lane_group(self, dim, values, indices, [&](const ShortLanes& lanes) {
    kernel(name, self.scalar_type(), lanes, selection);
  });
}

/// Selects an element of every longer lane.
void select_in_long_lanes(const char* name, const Tensor& self, int64_t dim, const Tensor& values,
                          const Tensor& indices, const Selection& selection) {
  const int64_t n = lane_size(self, dim);
  const int64_t stride = lane_stride(self, dim);

  AT_DISPATCH_REAL_AND_BOOL(self.scalar_type(), name, [&] {
    LaneIterator(dim, {&self, &values, &indices}).for_each(n * 4, [&](char* const* data) {
      const auto* in = reinterpret_cast<const scalar_t*>(data[0]);
      const auto entries = std::make_unique_for_overwrite<SortEntry[]>(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) entries[i] = {sort_key(in[i * stride]), i};

      const Lane lane = {entries.get(), n, key_bytes<scalar_t>, nan_key<scalar_t>};
      const int64_t chosen = index_of(selection, lane);
      *reinterpret_cast<scalar_t*>(data[1]) = in[chosen * stride];
      *reinterpret_cast<int64_t*>(data[2]) = chosen;
    });
  });
}

void select(const char* name, const Tensor& self, int64_t dim, const Tensor& values,
            const Tensor& indices, const Selection& selection) {
  if (indices.numel() == 0) return;

  const int64_t d = wrap_dim(dim, self.dim());
  const Tensor value_lanes = with_dim(values, self, d);
  const Tensor index_lanes = with_dim(indices, self, d);
  const auto select_in =
      lane_size(self, d) <= kShortLane ? select_in_short_lanes : select_in_long_lanes;
  select_in(name, self, d, value_lanes, index_lanes, selection);
}

}  // namespace

void median_kernel(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& out0,
                   const Tensor& out1) {
  select("median", self, dim, out0, out1, {LaneChoice::Median});
}

void nanmedian_kernel(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& out0,
                      const Tensor& out1) {
  select("nanmedian", self, dim, out0, out1, {LaneChoice::NanMedian});
}

void kthvalue_kernel(const Tensor& self, int64_t k, int64_t dim, bool /*keepdim*/,
                     const Tensor& out0, const Tensor& out1) {
  select("kthvalue", self, dim, out0, out1, {LaneChoice::Rank, k - 1});
}

void mode_kernel(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& out0,
                 const Tensor& out1) {
  select("mode", self, dim, out0, out1, {LaneChoice::Mode});
}

}  // namespace at::native
