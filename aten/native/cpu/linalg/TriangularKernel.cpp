// The kernels of tril and triu, which copy one triangle of matrices.
#include <algorithm>
#include <limits>
#include <utility>

#include "aten/iteration/Lanes.h"
#include "aten/native/declarations/cpu/linalg/TriangularKernel.h"

namespace at::native {

namespace {

/// Copies the columns [begin, end) that kept(row) returns and fills the others with zeros. T may be
/// any type of the elements' size; `out` may be `self`.
template <typename T, typename Kept>
void triangle_of(const Tensor& self, const Tensor& out, const Kept& kept) {
  const int64_t columns = self.size(-1);
  const int64_t rows = self.size(-2);
  const int64_t in_stride = self.stride(-1);
  const int64_t out_stride = out.stride(-1);

  // A lane is a row. Its address tells its number, and that number modulo the rows of a matrix is
  // the row.
  const LaneIterator lanes(self.dim() - 1, {&self, &out});
  const char* base = static_cast<const char*>(out.data());
  const int64_t row_bytes = out.stride(-2) * static_cast<int64_t>(sizeof(T));
  const bool in_place = out.is_same(self);

  lanes.for_each(columns, [&](char* const* data) {
    const int64_t row = rows == 1 ? 0 : (data[1] - base) / row_bytes % rows;
    const auto [begin, end] = kept(row);

    const auto* in = reinterpret_cast<const T*>(data[0]);
    auto* result = reinterpret_cast<T*>(data[1]);
    if (in_stride == 1 && out_stride == 1) {
      std::fill(result, result + begin, T(0));
      if (!in_place) std::copy(in + begin, in + end, result + begin);
      std::fill(result + end, result + columns, T(0));
      return;
    }

    for (int64_t j = 0; j < begin; ++j) result[j * out_stride] = T(0);
    for (int64_t j = in_place ? end : begin; j < end; ++j)
      result[j * out_stride] = in[j * in_stride];
    for (int64_t j = end; j < columns; ++j) result[j * out_stride] = T(0);
  });
}

template <typename Kept>
void triangle(const Tensor& self, const Tensor& out, const Kept& kept) {
  switch (self.itemsize()) {
    case 1: return triangle_of<uint8_t>(self, out, kept);
    case 2: return triangle_of<uint16_t>(self, out, kept);
    case 4: return triangle_of<uint32_t>(self, out, kept);
    case 8: return triangle_of<uint64_t>(self, out, kept);
    default: return triangle_of<c10::complex<double>>(self, out, kept);
  }
}

/// The column after that of the diagonal in a row, clipped to [0, columns]. `diagonal` may be any
/// int64.
int64_t column_behind(int64_t row, int64_t diagonal, int64_t columns) {
  return diagonal >= columns
             ? columns
             : std::clamp<int64_t>(row + std::max(diagonal, -row - 1) + 1, 0, columns);
}

}  // namespace

void tril_kernel(const Tensor& self, int64_t diagonal, const Tensor& out0) {
  if (self.numel() == 0) return;
  triangle(self, out0, [=, columns = self.size(-1)](int64_t row) {
    return std::pair(int64_t{0}, column_behind(row, diagonal, columns));
  });
}

void triu_kernel(const Tensor& self, int64_t diagonal, const Tensor& out0) {
  if (self.numel() == 0) return;
  triangle(self, out0, [=, columns = self.size(-1)](int64_t row) {
    const int64_t before =
        diagonal == std::numeric_limits<int64_t>::min() ? diagonal : diagonal - 1;
    return std::pair(column_behind(row, before, columns), columns);
  });
}

}  // namespace at::native
