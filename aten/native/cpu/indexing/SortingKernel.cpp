// The kernels of sort and topk, which order the elements of every lane.
#include <algorithm>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/iteration/Lanes.h"
#include "aten/native/declarations/cpu/indexing/SortingKernel.h"
#include "aten/native/shared/RadixSort.h"
#include "aten/native/shared/UnsignedOrder.h"

namespace at::native {

namespace {

/// A lane whose elements are read as keys: ascending keys are the requested order of the elements.
template <typename T>
struct Lane {
  const T* elements;
  int64_t stride;
  int64_t size;
  uint64_t reversed;  // all ones for descending order, else 0

  SortEntry operator[](int64_t i) const { return {sort_key(elements[i * stride]) ^ reversed, i}; }

  std::vector<SortEntry> entries() const {
    std::vector<SortEntry> all(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i) all[i] = (*this)[i];
    return all;
  }
};

/// Writes the first `count` entries that order(lane) returns, for every lane.
template <typename Order>
void order_lanes(const Tensor& self, int64_t dim, int64_t count, bool descending,
                 const Tensor& values, const Tensor& indices, const Order& order) {
  if (self.numel() == 0 || count == 0) return;

  if (c10::is_wide_unsigned(self.scalar_type())) {
    const Tensor ordered = empty_tensor(values.sizes(), kLong, kCPU);
    order_lanes(to_signed_order(self), dim, count, descending, ordered, indices, order);
    values.copy_(from_signed_order(ordered, self.scalar_type()));
    return;
  }

  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t n = lane_size(self, d);
  const int64_t stride = lane_stride(self, d);
  const int64_t value_stride = lane_stride(values, d);
  const int64_t index_stride = lane_stride(indices, d);
  const uint64_t reversed = descending ? ~uint64_t{0} : 0;

  AT_DISPATCH_REAL_AND_BOOL(self.scalar_type(), "sort", [&] {
    LaneIterator(d, {&self, &values, &indices}).for_each(n * 8, [&](char* const* data) {
      const auto* in = reinterpret_cast<const scalar_t*>(data[0]);
      const std::vector<SortEntry> entries = order(Lane<scalar_t>{in, stride, n, reversed});

      auto* value = reinterpret_cast<scalar_t*>(data[1]);
      auto* index = reinterpret_cast<int64_t*>(data[2]);
      for (int64_t i = 0; i < count; ++i) {
        value[i * value_stride] = in[entries[i].index * stride];
        index[i * index_stride] = entries[i].index;
      }
    });
  });
}

/// Unless `stable` is requested, lanes up to this size leave ties in PyTorch's order. Longer lanes
/// are always stable, because they are sorted by radix.
constexpr int64_t kLongestUnstable = 4096;

/// Leaves ties as std::sort does, which is PyTorch's order (stable up to 16 elements). A batch that
/// is sorted by length then has the same order as in PyTorch, and dropout the same mask.
template <typename T>
void unstable_ties(const Lane<T>& lane, std::vector<SortEntry>& sorted) {
  const auto same_key = [](const SortEntry& a, const SortEntry& b) { return a.key == b.key; };
  if (lane.size > kLongestUnstable ||
      std::adjacent_find(sorted.begin(), sorted.end(), same_key) == sorted.end())
    return;

  sorted = lane.entries();
  std::sort(sorted.begin(), sorted.end(),
            [](const SortEntry& a, const SortEntry& b) { return a.key < b.key; });
}

/// The first k entries in order. They are kept in a heap with the last of them on top: most
/// elements come after it and cost one comparison.
template <typename T>
std::vector<SortEntry> first_of(const Lane<T>& lane, int64_t k) {
  std::vector<SortEntry> best(static_cast<size_t>(k));
  for (int64_t i = 0; i < k; ++i) best[i] = lane[i];
  std::make_heap(best.begin(), best.end(), is_before);

  for (int64_t i = k; i < lane.size; ++i) {
    const SortEntry entry = lane[i];
    if (entry.key >= best.front().key) continue;

    std::pop_heap(best.begin(), best.end(), is_before);
    best.back() = entry;
    std::push_heap(best.begin(), best.end(), is_before);
  }

  std::sort_heap(best.begin(), best.end(), is_before);
  return best;
}

/// Entries of which the first k are the requested ones. Ties go to the lower index, so that the
/// same elements are chosen for every k.
template <typename T>
std::vector<SortEntry> top_of(const Lane<T>& lane, int64_t k, bool sorted) {
  if (k <= lane.size / 8) return first_of(lane, k);
  std::vector<SortEntry> entries = lane.entries();

  if (sorted) {
    std::partial_sort(entries.begin(), entries.begin() + k, entries.end(), is_before);
  } else if (k < lane.size) {
    std::nth_element(entries.begin(), entries.begin() + k, entries.end(), is_before);
  }
  return entries;
}

}  // namespace

void sort_kernel(const Tensor& self, std::optional<bool> stable, int64_t dim, bool descending,
                 const Tensor& out0, const Tensor& out1) {
  const int64_t count = lane_size(self, wrap_dim(dim, self.dim()));
  order_lanes(self, dim, count, descending, out0, out1, [&]<typename T>(const Lane<T>& lane) {
    std::vector<SortEntry> entries = lane.entries();
    sort_entries(entries, key_bytes<T>);
    if (!stable.value_or(false)) unstable_ties(lane, entries);
    return entries;
  });
}

void topk_kernel(const Tensor& self, int64_t k, int64_t dim, bool largest, bool sorted,
                 const Tensor& out0, const Tensor& out1) {
  // A 0-dimensional tensor returns its one element for every k.
  const int64_t count = self.dim() == 0 ? 1 : k;

  order_lanes(self, dim, count, largest, out0, out1,
              [=](const auto& lane) { return top_of(lane, count, sorted); });
}

}  // namespace at::native
