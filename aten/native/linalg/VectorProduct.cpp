// Products of vectors: inner, outer and cross products.
#include <algorithm>

#include "aten/native/declarations/linalg/VectorProduct.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/native/shared/ProductChecks.h"
#include "aten/ops/add.h"
#include "aten/ops/conj.h"
#include "aten/ops/dot.h"
#include "aten/ops/expand.h"
#include "aten/ops/linalg_cross.h"
#include "aten/ops/mul.h"
#include "aten/ops/outer.h"
#include "aten/ops/roll.h"
#include "aten/ops/sum.h"
#include "aten/ops/tensordot.h"
#include "aten/ops/unsqueeze.h"

namespace at::native {

TensorSpec dot_shape(const Tensor& self, const Tensor& tensor) {
  TORCH_CHECK(self.dim() == 1 && tensor.dim() == 1, "1D tensors expected, but got ", self.dim(),
              "D and ", tensor.dim(), "D tensors");
  TORCH_CHECK(self.scalar_type() == tensor.scalar_type(),
              "dot : expected both vectors to have same dtype, but found ", self.scalar_type(),
              " and ", tensor.scalar_type());
  check_same_device("dot", self, tensor);
  TORCH_CHECK(self.numel() == tensor.numel(), "inconsistent tensor size, expected tensor [",
              self.numel(), "] and src [", tensor.numel(),
              "] to have the same number of elements, but got ", self.numel(), " and ",
              tensor.numel(), " elements respectively");
  return {{}, self.scalar_type(), self.device()};
}

Tensor outer(const Tensor& self, const Tensor& vec2) {
  TORCH_CHECK(self.dim() == 1, "outer: Expected 1-D argument self, but got ", self.dim(), "-D");
  TORCH_CHECK(vec2.dim() == 1, "outer: Expected 1-D argument vec2, but got ", vec2.dim(), "-D");
  return at::mul(at::unsqueeze(self, 1), vec2);
}

Tensor inner(const Tensor& self, const Tensor& other) {
  if (self.dim() == 0 || other.dim() == 0) return at::mul(self, other);
  TORCH_CHECK(self.size(-1) == other.size(-1),
              "inner() the last dimension must match on both input tensors but got shapes ",
              self.sizes(), " and ", other.sizes());
  return at::tensordot(self, other, IntArrayRef(int64_t{-1}), IntArrayRef(int64_t{-1}));
}

Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& given_beta,
            const Scalar& given_alpha) {
  TORCH_CHECK(vec1.dim() == 1 && vec2.dim() == 1,
              "addr: Expected 1-D argument vec1 and vec2, but got ", vec1.dim(), "-D and ",
              vec2.dim(), "-D");
  const ScalarType type = result_type({self, vec1, vec2});
  const bool integral = is_integral(type, true);
  TORCH_CHECK(!integral || (!given_beta.is_floating() && !given_beta.is_complex()),
              "For integral input tensors, argument beta must not be a floating point number.");
  TORCH_CHECK(!integral || (!given_alpha.is_floating() && !given_alpha.is_complex()),
              "For integral input tensors, argument alpha must not be a floating point number.");
  TORCH_CHECK(!given_beta.is_bool() || type == kBool,
              "Boolean beta only supported for Boolean results.");
  TORCH_CHECK(!given_alpha.is_bool() || type == kBool,
              "Boolean alpha only supported for Boolean results.");

  const Scalar beta = factor_in(given_beta, type);
  const Scalar alpha = factor_in(given_alpha, type);

  Tensor result = at::outer(vec1, vec2);
  if (!alpha.equal(1)) result = result * alpha;

  // With beta 0 the values of self have no effect, but its sizes are checked and its dtype counts.
  const Tensor added = at::expand(self, result.sizes(), false);
  if (beta.equal(0)) return result.to(type);
  return at::add(beta.equal(1) ? added : added * beta, result);
}

Tensor vdot(const Tensor& self, const Tensor& other) {
  TORCH_CHECK(self.dim() == 1 && other.dim() == 1, "1D tensors expected, but got ", self.dim(),
              "D and ", other.dim(), "D tensors");
  return at::dot(at::conj(self), other);
}

Tensor linalg_cross(const Tensor& self, const Tensor& other, int64_t dim) {
  TORCH_CHECK(self.dim() == other.dim(),
              "linalg.cross: inputs must have the same number of dimensions.");
  const int64_t d = wrap_dim(dim, self.dim());
  TORCH_CHECK(self.dim() > 0 && self.sizes()[d] == 3 && other.sizes()[d] == 3,
              "linalg.cross: inputs dimension ", dim, " must have length 3. Got ",
              self.dim() > 0 ? self.sizes()[d] : 1, " and ", self.dim() > 0 ? other.sizes()[d] : 1);
  TORCH_CHECK(self.scalar_type() == other.scalar_type(),
              "linalg.cross: Expected both inputs to have the same dtype, but found ",
              self.scalar_type(), " and ", other.scalar_type());

  // Component i is a[i + 1] b[i + 2] - a[i + 2] b[i + 1], with indices modulo 3.
  const auto rotated = [d](const Tensor& tensor, int64_t by) {
    return at::roll(tensor, IntArrayRef(-by), IntArrayRef(d));
  };
  return rotated(self, 1) * rotated(other, 2) - rotated(self, 2) * rotated(other, 1);
}

Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
  if (dim.has_value()) return at::linalg_cross(self, other, *dim);
  const auto three = std::find(self.sizes().begin(), self.sizes().end(), 3);
  TORCH_CHECK(three != self.sizes().end(), "no dimension of size 3 in input");
  return at::linalg_cross(self, other, three - self.sizes().begin());
}

Tensor linalg_vecdot(const Tensor& x, const Tensor& y, int64_t dim) {
  TORCH_CHECK(x.scalar_type() == y.scalar_type(),
              "linalg.vecdot: Expected x and y to have the same dtype, but found x of type ",
              x.scalar_type(), " and y of type ", y.scalar_type(), " instead");
  check_matrix_dtype(x, "linalg.vecdot", true);
  return at::sum(at::conj(x) * y, IntArrayRef(dim), false, x.scalar_type());
}

}  // namespace at::native
