// The kernels of tril and triu, which copy one triangle of matrices.
#include "aten/core/Tensor.h"
#include "aten/native/cuda/MovedBytes.h"
#include "aten/native/cuda/PerIndex.cuh"

namespace at::native::cuda {

namespace {

template <class T>
struct Triangle {
  Geometry<3> geometry;  // of the result, the source, and the pair of row and column as one number
  char* out;
  const char* in;
  int64_t columns;
  int64_t diagonal;
  bool lower;

  SIMT_DEVICE void operator()(int64_t index) const {
    int64_t offsets[3];
    geometry.find(index, offsets);
    const int64_t row = offsets[2] / columns;
    const int64_t column = offsets[2] - row * columns;
    const bool kept = lower ? column - row <= diagonal : column - row >= diagonal;
    *reinterpret_cast<T*>(out + offsets[0]) =
        kept ? *reinterpret_cast<const T*>(in + offsets[1]) : T(0);
  }
};

void triangle(const char* name, const Tensor& self, int64_t diagonal, bool lower,
              const Tensor& out) {
  if (self.numel() == 0) return;

  const auto itemsize = static_cast<int64_t>(self.itemsize());
  const int64_t columns = self.size(-1);
  GeometryBuilder<3> builder;
  for (int64_t d = 0; d < self.dim(); ++d) {
    const int64_t place = d == self.dim() - 1 ? 1 : d == self.dim() - 2 ? columns : 0;
    builder.add(self.sizes()[d],
                {out.strides()[d] * itemsize, self.strides()[d] * itemsize, place});
  }

  const Geometry<3> geometry = builder.sorted();
  with_moved_type(itemsize, [&](auto element) {
    using Loop = Triangle<decltype(element)>;
    per_index(name, geometry.numel,
              Loop{geometry, static_cast<char*>(out.data()), static_cast<const char*>(self.data()),
                   columns, diagonal, lower});
  });
}

}  // namespace

void tril_kernel(const Tensor& self, int64_t diagonal, const Tensor& out0) {
  triangle("tril", self, diagonal, true, out0);
}

void triu_kernel(const Tensor& self, int64_t diagonal, const Tensor& out0) {
  triangle("triu", self, diagonal, false, out0);
}

}  // namespace at::native::cuda
