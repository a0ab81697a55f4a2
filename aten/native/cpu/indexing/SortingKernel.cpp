// The kernels of sort and topk, which order the elements of every lane.
#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/iteration/Lanes.h"
#include "aten/native/cpu/shared/ShortLaneGroups.h"
#include "aten/native/declarations/cpu/indexing/SortingKernel.h"
#include "aten/native/shared/RadixSort.h"
#include "aten/native/shared/UnsignedOrder.h"

namespace at::native {

namespace {

/// Uninitialised memory.
template <typename T>
std::unique_ptr<T[]> memory(int64_t n) {
  return std::make_unique_for_overwrite<T[]>(static_cast<size_t>(n));
}

/// All bits of the keys of T.
template <typename T>
constexpr uint64_t all_bits = ~uint64_t{0} >> (64 - 8 * key_bytes<T>);

/// A lane whose elements are read as keys: ascending keys are the requested order of the elements.
template <typename T>
struct Lane {
  const T* elements;
  int64_t stride;
  int64_t size;
  uint64_t reversed;  // the bits of keys for descending order, else 0

  uint64_t key(int64_t i) const { return sort_key(elements[i * stride]) ^ reversed; }
  SortEntry operator[](int64_t i) const { return {key(i), i}; }

  std::vector<SortEntry> entries() const {
    std::vector<SortEntry> all(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i) all[i] = (*this)[i];
    return all;
  }
};

/// Short lanes, many at once. std::sort is stable up to their size, too.
void order_short_lanes(const Tensor& self, int64_t dim, int64_t count, bool descending,
                       const Tensor& values, const Tensor& indices) {
  static const auto kernel = TORCH_PY_CHOOSE_KERNEL(sort_short_lanes);
  for_each_short_lane_group(self, dim, values, indices, [&](const ShortLanes& lanes) {
    kernel(self.scalar_type(), lanes, descending, count);
  });
}

/// For every lane of more than kShortLane elements, order(lane, indices) writes the indices of the
/// first `count` elements in order to the contiguous memory `indices`.
template <typename Order>
void order_long_lanes(const Tensor& self, int64_t dim, int64_t count, bool descending,
                      const Tensor& values, const Tensor& indices, const Order& order) {
  const int64_t n = lane_size(self, dim);
  const int64_t stride = lane_stride(self, dim);
  const int64_t value_stride = lane_stride(values, dim);
  const int64_t index_stride = lane_stride(indices, dim);

  AT_DISPATCH_REAL_AND_BOOL(self.scalar_type(), "sort", [&] {
    LaneIterator(dim, {&self, &values, &indices}).for_each(n * 8, [&](char* const* data) {
      const auto* in = reinterpret_cast<const scalar_t*>(data[0]);
      auto* value = reinterpret_cast<scalar_t*>(data[1]);
      auto* index = reinterpret_cast<int64_t*>(data[2]);

      // Indices that lie apart are written to memory of their own first.
      const bool direct = index_stride == 1;
      SmallVector<int64_t, kShortLane> buffer(static_cast<size_t>(direct ? 0 : count));
      int64_t* chosen = direct ? index : buffer.data();
      order(Lane<scalar_t>{in, stride, n, descending ? all_bits<scalar_t> : 0}, chosen);

      for (int64_t i = 0; i < count; ++i) value[i * value_stride] = in[chosen[i] * stride];
      for (int64_t i = 0; !direct && i < count; ++i) index[i * index_stride] = chosen[i];
    });
  });
}

/// The first `count` elements of every lane and their indices.
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
  if (lane_size(self, d) <= kShortLane)
    return order_short_lanes(self, d, count, descending, values, indices);
  order_long_lanes(self, d, count, descending, values, indices, order);
}

void write_indices(const std::vector<SortEntry>& entries, int64_t count, int64_t* indices) {
  for (int64_t i = 0; i < count; ++i) indices[i] = entries[i].index;
}

/// Unless `stable` is requested, lanes up to this size leave ties in PyTorch's order. Longer lanes
/// are always stable, because they are sorted by radix.
constexpr int64_t kLongestUnstable = 4096;

template <typename T>
bool has_ties(const Lane<T>& lane, const int64_t* sorted) {
  uint64_t last = lane.key(sorted[0]);
  bool found = false;
  for (int64_t i = 1; i < lane.size; ++i) {
    const uint64_t next = lane.key(sorted[i]);
    found |= next == last;
    last = next;
  }
  return found;
}

/// Leaves ties as std::sort does, which is PyTorch's order (stable up to 16 elements). A batch that
/// is sorted by length then has the same order as in PyTorch, and dropout the same mask.
template <typename T>
void unstable_ties(const Lane<T>& lane, int64_t* sorted) {
  if (lane.size > kLongestUnstable || !has_ties(lane, sorted)) return;

  std::vector<SortEntry> entries = lane.entries();
  std::sort(entries.begin(), entries.end(),
            [](const SortEntry& a, const SortEntry& b) { return a.key < b.key; });
  write_indices(entries, lane.size, sorted);
}

template <typename T>
void sort_lane(const Lane<T>& lane, int64_t* sorted) {
  const auto keys = memory<uint64_t>(lane.size);
  for (int64_t i = 0; i < lane.size; ++i) keys[i] = lane.key(i);
  sort_indices(keys.get(), lane.size, key_bytes<T>, sorted);
}

/// The first entries in order of those given so far. A few are kept sorted, many in a heap with the
/// last of them on top.
class FirstEntries {
 public:
  /// Starts with the given entries, which are those of the lowest indices.
  explicit FirstEntries(std::vector<SortEntry> entries)
      : best_(std::move(entries)), is_few_(best_.size() <= 64) {
    if (is_few_) {
      std::sort(best_.begin(), best_.end(), is_before);
    } else {
      std::make_heap(best_.begin(), best_.end(), is_before);
    }
  }

  /// Only smaller keys change the first entries: entries come in the order of their indices.
  uint64_t limit() const { return is_few_ ? best_.back().key : best_.front().key; }

  /// Replaces the last entry by one with a smaller key.
  void replace_last(const SortEntry& entry) {
    if (is_few_) {
      size_t place = best_.size() - 1;
      for (; place > 0 && entry.key < best_[place - 1].key; --place)
        best_[place] = best_[place - 1];
      best_[place] = entry;
      return;
    }

    std::pop_heap(best_.begin(), best_.end(), is_before);
    best_.back() = entry;
    std::push_heap(best_.begin(), best_.end(), is_before);
  }

  std::vector<SortEntry> sorted() && {
    if (!is_few_) std::sort_heap(best_.begin(), best_.end(), is_before);
    return std::move(best_);
  }

 private:
  std::vector<SortEntry> best_;
  bool is_few_;
};

/// The first k entries in order. Most elements come after them, which a loop over a block finds out
/// without branches.
template <typename T>
std::vector<SortEntry> first_of(const Lane<T>& lane, int64_t k) {
  constexpr int64_t kBlock = 32;
  std::vector<SortEntry> start(static_cast<size_t>(k));
  for (int64_t i = 0; i < k; ++i) start[i] = lane[i];
  FirstEntries first(std::move(start));
  uint64_t limit = first.limit();

  for (int64_t i = k; i < lane.size; i += kBlock) {
    const int64_t count = std::min(kBlock, lane.size - i);
    uint64_t keys[kBlock];
    uint64_t found = 0;
    for (int64_t b = 0; b < count; ++b) {
      keys[b] = lane.key(i + b);
      found |= static_cast<uint64_t>(keys[b] < limit) << b;
    }

    for (; found != 0; found &= found - 1) {
      const int b = std::countr_zero(found);
      if (keys[b] >= limit) continue;
      first.replace_last({keys[b], i + b});
      limit = first.limit();
    }
  }

  return std::move(first).sorted();
}

/// Writes the indices of the first k elements. Ties go to the lower index, so that the same
/// elements are chosen for every k.
template <typename T>
void write_top(const Lane<T>& lane, int64_t k, bool sorted, int64_t* chosen) {
  if (k <= lane.size / 8) return write_indices(first_of(lane, k), k, chosen);

  if (sorted) {
    const auto all = memory<int64_t>(lane.size);
    sort_lane(lane, all.get());
    std::copy_n(all.get(), k, chosen);
    return;
  }

  std::vector<SortEntry> entries = lane.entries();
  if (k < lane.size)
    std::nth_element(entries.begin(), entries.begin() + k, entries.end(), is_before);
  write_indices(entries, k, chosen);
}

}  // namespace

void sort_kernel(const Tensor& self, std::optional<bool> stable, int64_t dim, bool descending,
                 const Tensor& out0, const Tensor& out1) {
  const int64_t count = lane_size(self, wrap_dim(dim, self.dim()));
  const bool keep_ties = stable.value_or(false);
  order_lanes(self, dim, count, descending, out0, out1,
              [keep_ties]<typename T>(const Lane<T>& lane, int64_t* sorted) {
                sort_lane(lane, sorted);
                if (!keep_ties) unstable_ties(lane, sorted);
              });
}

void topk_kernel(const Tensor& self, int64_t k, int64_t dim, bool largest, bool sorted,
                 const Tensor& out0, const Tensor& out1) {
  // A 0-dimensional tensor returns its one element for every k.
  const int64_t count = self.dim() == 0 ? 1 : k;

  order_lanes(self, dim, count, largest, out0, out1,
              [=](const auto& lane, int64_t* chosen) { write_top(lane, count, sorted, chosen); });
}

}  // namespace at::native
