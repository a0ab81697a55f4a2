// The kernels of unique, unique_dim and unique_consecutive: distinct elements or slices, the
// position of each input element among them, and how often each occurs.
#include <algorithm>
#include <numeric>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/native/declarations/cpu/indexing/SetsKernel.h"
#include "aten/native/shared/OrderKeys.h"
#include "aten/native/shared/RadixSort.h"
#include "aten/native/shared/SliceChecks.h"
#include "aten/native/shared/UnsignedOrder.h"
#include "aten/ops/index_select.h"
#include "aten/ops/movedim.h"
#include "aten/ops/reshape.h"

namespace at::native {

namespace {

using Result = std::tuple<Tensor, Tensor, Tensor>;

/// Groups of equal elements.
struct Groups {
  std::vector<int64_t> first;  // the index of one element of each group
  std::vector<int64_t> group;  // the group of each element
  std::vector<int64_t> count;  // the number of elements in each group
};

template <typename T>
std::vector<int64_t> sorted_order(const T* values, int64_t n) {
  std::vector<uint64_t> keys(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) keys[i] = sort_key(values[i]);

  std::vector<int64_t> order(keys.size());
  sort_indices(keys.data(), n, key_bytes<T>, order.data());
  return order;
}

std::vector<int64_t> natural_order(int64_t n) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  return order;
}

/// Groups elements that are equal and neighbours in `order`.
template <typename Equal>
Groups group_neighbours(const std::vector<int64_t>& order, const Equal& equal) {
  Groups found;
  found.group.resize(order.size());

  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || !equal(order[i - 1], order[i])) {
      found.first.push_back(order[i]);
      found.count.push_back(0);
    }
    found.group[order[i]] = static_cast<int64_t>(found.first.size()) - 1;
    ++found.count.back();
  }

  return found;
}

Tensor tensor_of(const std::vector<int64_t>& values, IntArrayRef sizes) {
  Tensor result = empty_tensor(sizes, kLong, kCPU);
  std::copy(values.begin(), values.end(), static_cast<int64_t*>(result.data()));
  return result;
}

Tensor nothing() { return empty_tensor({0}, kLong, kCPU); }

Result result_of(const Tensor& values, const Groups& groups, IntArrayRef sizes, bool inverse,
                 bool counts) {
  return {values, inverse ? tensor_of(groups.group, sizes) : nothing(),
          counts ? tensor_of(groups.count, {static_cast<int64_t>(groups.count.size())})
                 : nothing()};
}

/// The distinct elements of `self` in ascending order; unless `sorted`, only equal neighbours are
/// merged, in the order of memory.
Result unique_elements(const Tensor& self, bool sorted, bool inverse, bool counts) {
  if (c10::is_wide_unsigned(self.scalar_type())) {
    auto [values, places, numbers] =
        unique_elements(to_signed_order(self), sorted, inverse, counts);
    return {from_signed_order(values, self.scalar_type()), places, numbers};
  }

  const Tensor flat = self.contiguous();
  const int64_t n = flat.numel();
  Result result;
  AT_DISPATCH_REAL_AND_BOOL(flat.scalar_type(), "unique", [&] {
    const auto* in = static_cast<const scalar_t*>(flat.data());
    const std::vector<int64_t> order = sorted ? sorted_order(in, n) : natural_order(n);
    const Groups groups =
        group_neighbours(order, [in](int64_t a, int64_t b) { return in[a] == in[b]; });

    const Tensor values =
        empty_tensor({static_cast<int64_t>(groups.first.size())}, flat.scalar_type(), kCPU);
    auto* out = static_cast<scalar_t*>(values.data());
    for (size_t i = 0; i < groups.first.size(); ++i) out[i] = in[groups.first[i]];

    result = result_of(values, groups, self.sizes(), inverse, counts);
  });
  return result;
}

/// Groups equal neighbours among n rows of `length` elements, after a lexicographic sort if
/// `sorted`.
template <typename T>
Groups group_slices(const T* rows, int64_t n, int64_t length, bool sorted) {
  using Key = key_type<T>;
  std::vector<int64_t> order = natural_order(n);
  if (sorted) {
    std::stable_sort(order.begin(), order.end(), [=](int64_t a, int64_t b) {
      return std::lexicographical_compare(
          rows + a * length, rows + (a + 1) * length, rows + b * length, rows + (b + 1) * length,
          [](T x, T y) { return key_less(static_cast<Key>(x), static_cast<Key>(y)); });
    });
  }

  return group_neighbours(order, [=](int64_t a, int64_t b) {
    return std::equal(rows + a * length, rows + (a + 1) * length, rows + b * length);
  });
}

/// The distinct slices along `dim`. As in PyTorch, inverse and counts are always computed.
Result unique_slices(const Tensor& self, int64_t dim, bool sorted) {
  const int64_t d = slice_dim(self, dim);
  check_sliceable(self, d);
  const int64_t n = self.sizes()[d];
  if (n == 0) return {self.clone(), nothing(), nothing()};

  const Tensor rows = at::movedim(self, d, 0).contiguous();
  Groups groups;
  AT_DISPATCH_REAL_AND_BOOL(rows.scalar_type(), "unique_dim", [&] {
    groups = group_slices(static_cast<const scalar_t*>(rows.data()), n, rows.numel() / n, sorted);
  });

  const Tensor chosen = tensor_of(groups.first, {static_cast<int64_t>(groups.first.size())});
  return result_of(at::index_select(self, d, chosen), groups, {n}, true, true);
}

/// The elements that differ from their predecessor. Without inverse and counts no groups are
/// needed.
Tensor consecutive_values(const Tensor& self) {
  const Tensor flat = self.contiguous();
  const int64_t n = flat.numel();
  Tensor result;
  AT_DISPATCH_REAL_AND_BOOL(flat.scalar_type(), "unique", [&] {
    const auto* in = static_cast<const scalar_t*>(flat.data());
    int64_t count = n > 0 ? 1 : 0;
    for (int64_t i = 1; i < n; ++i) count += !(in[i] == in[i - 1]);

    result = empty_tensor({count}, flat.scalar_type(), kCPU);
    std::unique_copy(in, in + n, static_cast<scalar_t*>(result.data()));
  });
  return result;
}

}  // namespace

// As in PyTorch, the result is always sorted, because equal elements are found by sorting.
Result unique(const Tensor& self, bool /*sorted*/, bool return_inverse, bool return_counts) {
  return unique_elements(self, true, return_inverse, return_counts);
}

Result unique_dim(const Tensor& self, int64_t dim, bool /*sorted*/, bool /*return_inverse*/,
                  bool /*return_counts*/) {
  return unique_slices(self, dim, true);
}

Result unique_consecutive(const Tensor& self, bool return_inverse, bool return_counts,
                          std::optional<int64_t> dim) {
  if (dim.has_value()) return unique_slices(self, *dim, false);
  if (!return_inverse && !return_counts) return {consecutive_values(self), nothing(), nothing()};
  return unique_elements(self, false, return_inverse, return_counts);
}

}  // namespace at::native
