// Triangles of matrices and the positions of their elements.
#include <limits>

#include "aten/native/declarations/linalg/Triangular.h"
#include "aten/native/shared/HostValues.h"
#include "aten/ops/empty.h"
#include "aten/ops/to.h"

namespace at::native {

namespace {

using Wide = __int128;  // sizes and offsets may be any int64

/// The sum of clamp(k, 0, columns) over all k <= m.
Wide clamped_sum(Wide m, Wide columns) {
  if (m <= 0) return 0;
  return m <= columns ? m * (m + 1) / 2 : columns * (columns + 1) / 2 + (m - columns) * columns;
}

int64_t clamped(Wide value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : static_cast<int64_t>(value);
}

/// Rows and columns of the elements on and below the diagonal (`lower`), or on and above it.
Tensor triangle_positions(const char* op, bool lower, int64_t rows, int64_t columns, int64_t offset,
                          std::optional<ScalarType> dtype, std::optional<Layout> layout,
                          std::optional<Device> device) {
  TORCH_CHECK(rows >= 0, "row must be non-negative, got ", rows);
  TORCH_CHECK(columns >= 0, "col must be non-negative, got ", columns);

  const ScalarType type = dtype.value_or(kLong);
  TORCH_CHECK_NOT_IMPLEMENTED(layout.value_or(Layout::Strided) == Layout::Strided, op, ": layout ",
                              layout_name(*layout), " is not available");
  TORCH_CHECK_NOT_IMPLEMENTED(type == kLong || type == kInt, "\"", op, "\" not implemented for '",
                              scalar_type_name(type), "'");

  // Row i has clamp(i + 1 + offset, 0, columns) elements on and below the diagonal.
  const Wide below = clamped_sum(Wide(rows) + offset, columns) - clamped_sum(offset, columns);
  const Wide strictly_below =
      clamped_sum(Wide(rows) + offset - 1, columns) - clamped_sum(Wide(offset) - 1, columns);
  const Wide wanted = lower ? below : Wide(rows) * columns - strictly_below;
  TORCH_CHECK(wanted <= std::numeric_limits<int64_t>::max() / 32, op,
              "(): the result has too many elements for a matrix of ", rows, " x ", columns);
  const auto count = static_cast<int64_t>(wanted);
  if (device.has_value() && device->is_meta()) return at::empty({2, count}, type, layout, device);

  const Tensor result = empty_real_tensor({2, count}, kLong, kCPU);
  int64_t* to_row = result.data_ptr<int64_t>();
  int64_t* to_column = to_row + count;

  // Visits only the rows that have elements: there may be far more without.
  const int64_t first_row = lower ? clamped(-Wide(offset), 0, rows) : 0;
  const int64_t end_row = lower ? rows : clamped(Wide(columns) - offset, 0, rows);
  for (int64_t row = first_row; columns > 0 && row < end_row; ++row) {
    const int64_t begin = lower ? 0 : clamped(Wide(row) + offset, 0, columns);
    const int64_t end = lower ? clamped(Wide(row) + offset + 1, 0, columns) : columns;
    for (int64_t column = begin; column < end; ++column) {
      *to_row++ = row;
      *to_column++ = column;
    }
  }

  return at::to(result, device.value_or(kCPU), type);
}

}  // namespace

TensorSpec triangle_shape(const Tensor& self, int64_t) {
  return {DimVector(self.sizes()), self.scalar_type(), self.device()};
}

Tensor tril_indices(int64_t row, int64_t col, int64_t offset, std::optional<ScalarType> dtype,
                    std::optional<Layout> layout, std::optional<Device> device,
                    std::optional<bool>) {
  return triangle_positions("tril_indices", true, row, col, offset, dtype, layout, device);
}

Tensor triu_indices(int64_t row, int64_t col, int64_t offset, std::optional<ScalarType> dtype,
                    std::optional<Layout> layout, std::optional<Device> device,
                    std::optional<bool>) {
  return triangle_positions("triu_indices", false, row, col, offset, dtype, layout, device);
}

}  // namespace at::native
