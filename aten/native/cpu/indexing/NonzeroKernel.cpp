// Finds the positions of the elements that are not zero.
#include <algorithm>

#include "aten/Dispatch.h"
#include "aten/native/declarations/cpu/indexing/NonzeroKernel.h"

namespace at::native {

namespace {

/// Writes the coordinates of the `count` elements that are not zero, all of one dimension after
/// those of the dimension before. The loop over a row is free of branches; the number of elements
/// found in a row then says how often to repeat the row's other coordinates.
template <typename T>
void write_places(const T* values, IntArrayRef sizes, int64_t count, int64_t* out) {
  const int64_t ndim = static_cast<int64_t>(sizes.size());
  const int64_t row = ndim == 0 ? 1 : sizes.back();
  DimVector index(static_cast<size_t>(ndim), 0);

  for (int64_t found = 0; found < count; values += row) {
    const int64_t before = found;
    if (ndim == 0) return;

    int64_t* last = out + (ndim - 1) * count;
    for (int64_t j = 0; j < row && found < count; ++j) {
      last[found] = j;
      found += convert<bool>(values[j]);
    }

    for (int64_t d = 0; d + 1 < ndim; ++d)
      std::fill(out + d * count + before, out + d * count + found, index[d]);

    // The coordinates of the next row.
    for (int64_t d = ndim - 2; d >= 0 && ++index[d] == sizes[d]; --d) index[d] = 0;
  }
}

}  // namespace

Tensor nonzero(const Tensor& self) {
  if (is_storage_only(self.scalar_type())) return nonzero(self.to(kBool));

  const Tensor source = self.contiguous();
  const int64_t n = source.numel();
  const int64_t ndim = self.dim();
  Tensor result;
  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), "nonzero", [&] {
    const auto* values = source.data_ptr<scalar_t>();
    int64_t count = 0;
    for (int64_t i = 0; i < n; ++i) count += convert<bool>(values[i]);

    // Column by column, because each column is used as an index of its own.
    result =
        empty_strided_tensor({count, ndim}, {1, std::max<int64_t>(count, 1)}, kLong, self.device());
    write_places(values, self.sizes(), count, result.data_ptr<int64_t>());
  });
  return result;
}

}  // namespace at::native
