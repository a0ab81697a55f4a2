// Sorting lanes.
#include <algorithm>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/iteration/Lanes.h"
#include "aten/native/OrderKeys.h"
#include "aten/native/declarations/portable/SortingKernel.h"

namespace at::native {

namespace {

/// Calls order(entries) on the elements of every lane and writes the first `count` of them out.
template <typename Order>
void order_lanes(const Tensor& self, int64_t dim, int64_t count, const Tensor& values, const Tensor& indices, const Order& order) {
  if (self.numel() == 0 || count == 0) return;
  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t n = lane_size(self, d), stride = lane_stride(self, d);
  const int64_t value_stride = lane_stride(values, d), index_stride = lane_stride(indices, d);
  AT_DISPATCH_REAL_AND_BOOL(self.scalar_type(), "sort", [&] {
    LaneIterator(d, {&self, &values, &indices}).for_each(n * 8, [&](char* const* data) {
      const auto* in = reinterpret_cast<const scalar_t*>(data[0]);
      std::vector<OrderEntry<key_type<scalar_t>>> entries(n);
      for (int64_t i = 0; i < n; ++i) entries[i] = {static_cast<key_type<scalar_t>>(in[i * stride]), i};
      order(entries);
      auto* value = reinterpret_cast<scalar_t*>(data[1]);
      auto* index = reinterpret_cast<int64_t*>(data[2]);
      for (int64_t i = 0; i < count; ++i) {
        value[i * value_stride] = in[entries[i].index * stride];
        index[i * index_stride] = entries[i].index;
      }
    });
  });
}

}  // namespace

void sort_kernel(const Tensor& self, std::optional<bool> /*always stable*/, int64_t dim, bool descending, const Tensor& out0,
                 const Tensor& out1) {
  order_lanes(self, dim, lane_size(self, wrap_dim(dim, self.dim())), out0, out1, [descending](auto& entries) {
    using E = typename std::decay_t<decltype(entries)>::value_type;
    if (descending) {
      std::stable_sort(entries.begin(), entries.end(), [](const E& a, const E& b) { return key_less(b.key, a.key); });
    } else {
      std::stable_sort(entries.begin(), entries.end(), [](const E& a, const E& b) { return key_less(a.key, b.key); });
    }
  });
}

void topk_kernel(const Tensor& self, int64_t k, int64_t dim, bool largest, bool sorted, const Tensor& out0, const Tensor& out1) {
  // A number is its own extremum, however many are asked for.
  order_lanes(self, dim, self.dim() == 0 ? 1 : k, out0, out1, [=](auto& entries) {
    using E = typename std::decay_t<decltype(entries)>::value_type;
    // Ties go to the lower index, so that the result is one and the same for every k.
    auto before = [largest](const E& a, const E& b) {
      const bool less = largest ? key_less(b.key, a.key) : key_less(a.key, b.key);
      const bool greater = largest ? key_less(a.key, b.key) : key_less(b.key, a.key);
      return less || (!greater && a.index < b.index);
    };
    if (sorted) {
      std::partial_sort(entries.begin(), entries.begin() + k, entries.end(), before);
    } else if (k < static_cast<int64_t>(entries.size())) {
      std::nth_element(entries.begin(), entries.begin() + k, entries.end(), before);
    }
  });
}

}  // namespace at::native
