// The kernels of unique, unique_dim and unique_consecutive: rows are ordered by stable sorts,
// marked where they differ from their predecessor, and numbered by the running sum of the marks.
#include "aten/native/cuda/SortedLanes.cuh"
#include "aten/native/shared/SliceChecks.h"
#include "aten/ops/cumsum.h"
#include "aten/ops/movedim.h"
#include "aten/ops/select.h"

namespace at::native::cuda {

namespace {

using Result = std::tuple<Tensor, Tensor, Tensor>;

/// Rows of a contiguous matrix in some order; without positions, in their own.
template <class T>
struct OrderedRows {
  const T* elements;
  int64_t rows;
  int64_t length;
  const int64_t* positions;

  SIMT_DEVICE int64_t row(int64_t i) const { return positions != nullptr ? positions[i] : i; }
  SIMT_DEVICE bool differs_from_previous(int64_t i) const {
    if (i == 0) return true;
    const T* const a = elements + row(i - 1) * length;
    const T* const b = elements + row(i) * length;
    for (int64_t k = 0; k < length; ++k) {
      if (!(a[k] == b[k])) return true;
    }
    return false;
  }
};

template <class T>
SIMT_KERNEL mark_kernel(OrderedRows<T> ordered, int64_t* marks) {
  const int64_t i = int64_t{simt::block_x()} * kSortThreads + simt::thread_x();
  if (i < ordered.rows) marks[i] = ordered.differs_from_previous(i) ? 1 : 0;
}

/// Copies the first row of each group, and notes where each group begins and the group of each row.
/// `numbers` counts groups from 1.
template <class T>
SIMT_KERNEL gather_groups_kernel(OrderedRows<T> ordered, const int64_t* numbers, T* chosen,
                                 int64_t* begins, int64_t* groups) {
  const int64_t i = int64_t{simt::block_x()} * kSortThreads + simt::thread_x();
  if (i >= ordered.rows) return;

  const int64_t group = numbers[i] - 1;
  const int64_t row = ordered.row(i);
  groups[row] = group;
  if (i > 0 && numbers[i - 1] == numbers[i]) return;

  begins[group] = i;
  for (int64_t k = 0; k < ordered.length; ++k)
    chosen[group * ordered.length + k] = ordered.elements[row * ordered.length + k];
}

SIMT_KERNEL count_groups_kernel(const int64_t* begins, int64_t groups, int64_t rows,
                                int64_t* counts) {
  const int64_t g = int64_t{simt::block_x()} * kSortThreads + simt::thread_x();
  if (g < groups) counts[g] = (g + 1 < groups ? begins[g + 1] : rows) - begins[g];
}

template <class T>
SIMT_KERNEL column_keys_kernel(OrderedRows<T> ordered, int64_t column, uint64_t* keys,
                               int64_t* positions) {
  const int64_t i = int64_t{simt::block_x()} * kSortThreads + simt::thread_x();
  if (i >= ordered.rows) return;

  const int64_t row = ordered.row(i);
  keys[i] = sort_key(ordered.elements[row * ordered.length + column]);
  positions[i] = row;
}

template <class K, class... A>
void launch_over(const char* name, K kernel, int64_t count, A&&... arguments) {
  c10::cuda::launch(name, kernel, sort_blocks(count), dim3(kSortThreads), 0,
                    c10::cuda::current_stream(), std::forward<A>(arguments)...);
}

Tensor numbers_like(const Tensor& self, int64_t count) {
  return empty_tensor({count}, kLong, self.device());
}

/// The lexicographic order of rows: stable sorts by each column, from the last to the first.
template <class T>
void sort_rows(const char* name, OrderedRows<T> ordered, SortMemory<uint64_t>& memory) {
  constexpr int kBits = std::is_same_v<T, bool> ? 1 : 8 * key_bytes<T>;
  for (int64_t column = ordered.length; column-- > 0;) {
    // The positions sorted so far are read while those of the next sort are written.
    std::swap(memory.buffers.positions, memory.buffers.other_positions);
    launch_over(name, &column_keys_kernel<T>, ordered.rows, ordered, column, memory.buffers.keys,
                memory.buffers.positions);
    sort_pairs(name, memory.buffers, ordered.rows, kBits);
    ordered.positions = memory.buffers.positions;
  }
}

/// Groups of equal rows. `rows` is contiguous, of at least one row.
template <class T>
Result group_rows(const char* name, const Tensor& rows, int64_t length, bool sorted) {
  const int64_t n = rows.sizes()[0];
  OrderedRows<T> ordered{rows.const_data_ptr<T>(), n, length, nullptr};
  SortMemory<uint64_t> memory(sorted ? n : 0);
  if (sorted) {
    sort_rows(name, ordered, memory);
    ordered.positions = memory.buffers.positions;
  }

  const Tensor marks = numbers_like(rows, n);
  launch_over(name, &mark_kernel<T>, n, ordered, marks.data_ptr<int64_t>());
  const Tensor numbers = at::cumsum(marks, 0);
  const int64_t groups = at::select(numbers, 0, n - 1).item().to<int64_t>();  // waits

  DimVector sizes(rows.sizes());
  sizes[0] = groups;
  const Tensor chosen = empty_tensor(sizes, rows.scalar_type(), rows.device());
  const Tensor begins = numbers_like(rows, groups);
  const Tensor inverse = numbers_like(rows, n);
  const Tensor counts = numbers_like(rows, groups);
  launch_over(name, &gather_groups_kernel<T>, n, ordered, numbers.const_data_ptr<int64_t>(),
              chosen.data_ptr<T>(), begins.data_ptr<int64_t>(), inverse.data_ptr<int64_t>());
  launch_over(name, &count_groups_kernel, groups, begins.const_data_ptr<int64_t>(), groups, n,
              counts.data_ptr<int64_t>());
  return {chosen, inverse, counts};
}

Result groups_of(const char* name, const Tensor& rows, int64_t length, bool sorted) {
  Result result;
  dispatch_sortable(rows.scalar_type(), name,
                    [&]<typename T>() { result = group_rows<T>(name, rows, length, sorted); });
  return result;
}

Result unique_elements(const char* name, const Tensor& self, bool sorted, bool inverse,
                       bool counts) {
  const Tensor none = numbers_like(self, 0);
  if (self.numel() == 0) {
    return {empty_tensor({0}, self.scalar_type(), self.device()),
            inverse ? empty_tensor(self.sizes(), kLong, self.device()) : none, none};
  }

  const auto [chosen, places, numbers] =
      groups_of(name, self.contiguous().view({self.numel()}), 1, sorted);
  return {chosen, inverse ? places.view(self.sizes()) : none, counts ? numbers : none};
}

/// The distinct slices along `dim`. Inverse and counts are always computed, as on the CPU.
Result unique_slices(const char* name, const Tensor& self, int64_t dim, bool sorted) {
  const int64_t d = slice_dim(self, dim);
  check_sliceable(self, d);
  const int64_t n = self.sizes()[d];
  if (n == 0) return {self.clone(), numbers_like(self, 0), numbers_like(self, 0)};

  const Tensor rows = at::movedim(self, d, 0).contiguous();
  const auto [chosen, places, numbers] = groups_of(name, rows, rows.numel() / n, sorted);
  return {at::movedim(chosen, 0, d).contiguous(), places, numbers};
}

}  // namespace

// The result is always sorted, because equal elements are found by sorting.
Result unique(const Tensor& self, bool /*sorted*/, bool return_inverse, bool return_counts) {
  return unique_elements("unique", self, true, return_inverse, return_counts);
}

Result unique_dim(const Tensor& self, int64_t dim, bool /*sorted*/, bool /*return_inverse*/,
                  bool /*return_counts*/) {
  return unique_slices("unique_dim", self, dim, true);
}

Result unique_consecutive(const Tensor& self, bool return_inverse, bool return_counts,
                          std::optional<int64_t> dim) {
  if (dim.has_value()) return unique_slices("unique_consecutive", self, *dim, false);
  return unique_elements("unique_consecutive", self, false, return_inverse, return_counts);
}

}  // namespace at::native::cuda
