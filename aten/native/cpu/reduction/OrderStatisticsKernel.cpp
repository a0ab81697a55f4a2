// Selects one element of every lane, by its rank or by how often it occurs.
#include <algorithm>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/iteration/Lanes.h"
#include "aten/native/declarations/cpu/reduction/OrderStatisticsKernel.h"
#include "aten/native/shared/OrderKeys.h"

namespace at::native {

namespace {

/// `result` with the reduced dimension as one of size 1, so that its lanes match those of `self`.
Tensor with_dim(const Tensor& result, const Tensor& self, int64_t dim) {
  return result.dim() == self.dim() ? result : result.unsqueeze(dim);
}

/// Calls pick(entries) for every lane. It may reorder the entries and returns the index of the
/// selected element.
template <typename Pick>
void choose_in_lanes(const char* name, const Tensor& self, int64_t dim, const Tensor& values,
                     const Tensor& indices, const Pick& pick) {
  if (indices.numel() == 0) return;

  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t n = lane_size(self, d);
  const int64_t stride = lane_stride(self, d);
  const Tensor value_lanes = with_dim(values, self, d);
  const Tensor index_lanes = with_dim(indices, self, d);

  AT_DISPATCH_REAL_AND_BOOL(self.scalar_type(), name, [&] {
    LaneIterator(d, {&self, &value_lanes, &index_lanes}).for_each(n * 4, [&](char* const* data) {
      const auto* in = reinterpret_cast<const scalar_t*>(data[0]);
      std::vector<OrderEntry<key_type<scalar_t>>> entries(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i)
        entries[i] = {static_cast<key_type<scalar_t>>(in[i * stride]), i};

      const int64_t chosen = pick(entries);
      *reinterpret_cast<scalar_t*>(data[1]) = in[chosen * stride];
      *reinterpret_cast<int64_t*>(data[2]) = chosen;
    });
  });
}

/// The index of the element at `rank` in stable ascending order.
template <typename Entries>
int64_t index_at_rank(Entries& entries, int64_t rank) {
  using Key = decltype(entries[0].key);
  std::nth_element(entries.begin(), entries.begin() + rank, entries.end(), entry_less<Key>);
  return entries[rank].index;
}

/// The number of elements that are not nan.
template <typename Entries>
int64_t count_numbers(const Entries& entries) {
  return std::count_if(entries.begin(), entries.end(),
                       [](const auto& entry) { return entry.key == entry.key; });
}

/// The index of the most frequent element: the last of the first longest run in stable order.
template <typename Entries>
int64_t index_of_mode(Entries& entries) {
  using Key = decltype(entries[0].key);
  std::sort(entries.begin(), entries.end(), entry_less<Key>);

  size_t best = 0;
  size_t longest = 0;
  size_t start = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].key != entries[start].key) start = i;
    if (i - start + 1 > longest) {
      longest = i - start + 1;
      best = i;
    }
  }

  return entries[best].index;
}

}  // namespace

void median_kernel(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& out0,
                   const Tensor& out1) {
  choose_in_lanes("median", self, dim, out0, out1, [](auto& entries) {
    const auto nan = std::find_if(entries.begin(), entries.end(),
                                  [](const auto& entry) { return entry.key != entry.key; });
    if (nan != entries.end()) return nan->index;
    return index_at_rank(entries, (static_cast<int64_t>(entries.size()) - 1) / 2);
  });
}

void nanmedian_kernel(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& out0,
                      const Tensor& out1) {
  choose_in_lanes("nanmedian", self, dim, out0, out1, [](auto& entries) {
    return index_at_rank(entries, std::max<int64_t>(0, count_numbers(entries) - 1) / 2);
  });
}

void kthvalue_kernel(const Tensor& self, int64_t k, int64_t dim, bool /*keepdim*/,
                     const Tensor& out0, const Tensor& out1) {
  choose_in_lanes("kthvalue", self, dim, out0, out1,
                  [k](auto& entries) { return index_at_rank(entries, k - 1); });
}

void mode_kernel(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& out0,
                 const Tensor& out1) {
  choose_in_lanes("mode", self, dim, out0, out1,
                  [](auto& entries) { return index_of_mode(entries); });
}

}  // namespace at::native
