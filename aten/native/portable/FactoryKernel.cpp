// Sequences and triangles.
#include "aten/native/declarations/portable/FactoryKernel.h"
#include "aten/Dispatch.h"
#include "aten/iteration/Lanes.h"
#include "aten/iteration/Loops.h"

namespace at::native {

namespace {

void check_is_fresh(const char* op_name, const Tensor& self) {
  TORCH_CHECK(self.is_contiguous(), op_name, ": expected contiguous memory, got a tensor of size ", self.sizes(), " and strides ",
              self.strides());
}

}  // namespace

void arange_fill_kernel(const Tensor& self, const Scalar& start, const Scalar& step) {
  check_is_fresh("_arange_fill_", self);
  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), "arange", [&] {
    // Each element from its index, in the accumulation type: errors do not add up and threads do not matter.
    using acc_t = std::conditional_t<is_integral(scalar_type_of<scalar_t>, true), int64_t,
                                     std::conditional_t<c10::is_complex(scalar_type_of<scalar_t>), scalar_t, double>>;
    const acc_t first = start.to<acc_t>(), width = step.to<acc_t>();
    scalar_t* out = self.data_ptr<scalar_t>();
    parallel_for(0, self.numel(), TensorIterator::kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = convert<scalar_t>(static_cast<acc_t>(first + width * convert<acc_t>(i)));
    });
  });
}

void linspace_fill_kernel(const Tensor& self, const Scalar& start, const Scalar& end) {
  check_is_fresh("_linspace_fill_", self);
  const int64_t n = self.numel();
  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), "linspace", [&] {
    using acc_t = std::conditional_t<c10::is_complex(scalar_type_of<scalar_t>), c10::complex<double>, double>;
    const acc_t first = start.to<acc_t>(), last = end.to<acc_t>();
    const acc_t step = n > 1 ? (last - first) / convert<acc_t>(n - 1) : acc_t(0);
    scalar_t* out = self.data_ptr<scalar_t>();
    // From both ends, so that the last element is exactly `end`.
    for (int64_t i = 0; i < n; ++i) {
      const acc_t value = i < n / 2 || n == 1 ? first + step * convert<acc_t>(i) : last - step * convert<acc_t>(n - 1 - i);
      out[i] = convert<scalar_t>(value);
    }
  });
}

namespace {

/// Copies element (row, column) when keep(column - row), writes zero otherwise. T is any type of that size.
template <typename T, typename Keep>
void triangle_of(const Tensor& self, const Tensor& out, const Keep& keep) {
  const int64_t columns = self.size(-1), rows = self.size(-2);
  const int64_t in_stride = self.stride(-1), out_stride = out.stride(-1);
  // A lane is a row; lanes are numbered in order, the row is the number modulo the rows of a matrix.
  const LaneIterator lanes(self.dim() - 1, {&self, &out});
  const char* base = static_cast<const char*>(out.data());
  const int64_t row_bytes = out.stride(-2) * static_cast<int64_t>(sizeof(T));
  lanes.for_each(columns, [&](char* const* data) {
    const int64_t row = rows == 0 ? 0 : (data[1] - base) / row_bytes % rows;
    const auto* in = reinterpret_cast<const T*>(data[0]);
    auto* result = reinterpret_cast<T*>(data[1]);
    for (int64_t j = 0; j < columns; ++j) result[j * out_stride] = keep(j - row) ? in[j * in_stride] : T(0);
  });
}

template <typename Keep>
void triangle(const Tensor& self, const Tensor& out, const Keep& keep) {
  switch (self.itemsize()) {
    case 1: return triangle_of<uint8_t>(self, out, keep);
    case 2: return triangle_of<uint16_t>(self, out, keep);
    case 4: return triangle_of<uint32_t>(self, out, keep);
    case 8: return triangle_of<uint64_t>(self, out, keep);
    default: return triangle_of<c10::complex<double>>(self, out, keep);
  }
}

}  // namespace

void tril_kernel(const Tensor& self, int64_t diagonal, const Tensor& out0) {
  if (self.numel() != 0) triangle(self, out0, [=](int64_t offset) { return offset <= diagonal; });
}

void triu_kernel(const Tensor& self, int64_t diagonal, const Tensor& out0) {
  if (self.numel() != 0) triangle(self, out0, [=](int64_t offset) { return offset >= diagonal; });
}

}  // namespace at::native
