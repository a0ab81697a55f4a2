// Shape rules of sort and topk, and the operators composed of sort: argsort and msort.
#include "aten/native/declarations/indexing/Sorting.h"
#include "aten/ops/sort.h"

namespace at::native {

std::tuple<TensorSpec, TensorSpec> sort_shape(const Tensor& self, std::optional<bool>, int64_t dim,
                                              bool) {
  wrap_dim(dim, self.dim());
  TORCH_CHECK(!self.is_complex(), "sort(): Sort does not support complex dtypes on ",
              self.device());

  // Results lie in memory as the input does.
  const DimVector sizes(self.sizes());
  const DimVector strides = strides_in_order_of(self);
  return {{sizes, self.scalar_type(), self.device(), strides},
          {sizes, kLong, self.device(), strides}};
}

std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim, bool descending) {
  return at::sort(self, std::optional<bool>(false), dim, descending);
}

Tensor argsort(const Tensor& self, int64_t dim, bool descending) {
  return std::get<1>(at::sort(self, dim, descending));
}

Tensor argsort_stable(const Tensor& self, bool stable, int64_t dim, bool descending) {
  return std::get<1>(at::sort(self, std::optional<bool>(stable), dim, descending));
}

std::tuple<TensorSpec, TensorSpec> topk_shape(const Tensor& self, int64_t k, int64_t dim, bool,
                                              bool) {
  TORCH_CHECK(self.scalar_type() != kBool, "topk does not support bool dtypes on CPU");
  TORCH_CHECK(!self.is_complex(), "topk does not support complex dtypes on CPU");

  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t extent = self.dim() == 0 ? 1 : self.sizes()[d];
  TORCH_CHECK(k >= 0 && k <= extent, "selected index k out of range: k is ", k, ", dimension ", d,
              " has size ", extent);

  DimVector sizes(self.sizes());
  if (self.dim() > 0) sizes[d] = k;
  return {{sizes, self.scalar_type(), self.device()}, {sizes, kLong, self.device()}};
}

Tensor msort(const Tensor& self) { return std::get<0>(at::sort(self, 0)); }

}  // namespace at::native
