// Sequences and triangles.
#include "aten/native/declarations/cpu/linalg/TriangularKernel.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "aten/Dispatch.h"
#include "aten/iteration/Lanes.h"
#include "aten/iteration/Loops.h"

namespace at::native {

namespace {

void check_is_fresh(const char* op_name, const Tensor& self) {
  TORCH_CHECK(self.is_contiguous(), op_name, ": expected contiguous memory, got a tensor of size ",
              self.sizes(), " and strides ", self.strides());
}

}  // namespace

void arange_fill_kernel(const Tensor& self, const Scalar& start, const Scalar& step) {
  check_is_fresh("_arange_fill_", self);
  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), "arange", [&] {
    // Each element from its index, in the accumulation type: errors do not add up and threads do
    // not matter.
    using acc_t = std::conditional_t<
        is_integral(scalar_type_of<scalar_t>, true), int64_t,
        std::conditional_t<c10::is_complex(scalar_type_of<scalar_t>), scalar_t, double>>;
    const acc_t first = start.to<acc_t>(), width = step.to<acc_t>();
    scalar_t* out = self.data_ptr<scalar_t>();
    parallel_for(0, self.numel(), TensorIterator::kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        out[i] = convert<scalar_t>(static_cast<acc_t>(first + width * convert<acc_t>(i)));
    });
  });
}

void linspace_fill_kernel(const Tensor& self, const Scalar& start, const Scalar& end) {
  check_is_fresh("_linspace_fill_", self);
  const int64_t n = self.numel();
  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), "linspace", [&] {
    using acc_t =
        std::conditional_t<c10::is_complex(scalar_type_of<scalar_t>), c10::complex<double>, double>;
    const acc_t first = start.to<acc_t>(), last = end.to<acc_t>();
    const acc_t step = n > 1 ? (last - first) / convert<acc_t>(n - 1) : acc_t(0);
    scalar_t* out = self.data_ptr<scalar_t>();
    // From both ends, so that the last element is exactly `end`.
    for (int64_t i = 0; i < n; ++i) {
      const acc_t value = i < n / 2 || n == 1 ? first + step * convert<acc_t>(i)
                                              : last - step * convert<acc_t>(n - 1 - i);
      out[i] = convert<scalar_t>(value);
    }
  });
}

namespace {

/// Copies the columns that kept(row) names, begin and end, and writes zeros beside them. T is any
/// type of that size; out may be self.
template <typename T, typename Kept>
void triangle_of(const Tensor& self, const Tensor& out, const Kept& kept) {
  const int64_t columns = self.size(-1), rows = self.size(-2);
  const int64_t in_stride = self.stride(-1), out_stride = out.stride(-1);
  // A lane is a row; lanes are numbered in order, the row is the number modulo the rows of a
  // matrix.
  const LaneIterator lanes(self.dim() - 1, {&self, &out});
  const char* base = static_cast<const char*>(out.data());
  const int64_t row_bytes = out.stride(-2) * static_cast<int64_t>(sizeof(T));
  const bool in_place = out.is_same(self);
  lanes.for_each(columns, [&](char* const* data) {
    const int64_t row = rows == 1 ? 0 : (data[1] - base) / row_bytes % rows;
    const auto [begin, end] = kept(row);
    const auto* in = reinterpret_cast<const T*>(data[0]);
    auto* result = reinterpret_cast<T*>(data[1]);
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

/// The column behind the diagonal's one in a row, within the matrix. `diagonal` may be any number.
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
