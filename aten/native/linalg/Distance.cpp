// Distances between vectors: shape rules, gradients, and the operators composed of others.
#include <cmath>

#include "aten/native/declarations/linalg/Distance.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/ops/_cdist_forward.h"
#include "aten/ops/abs.h"
#include "aten/ops/clamp_min.h"
#include "aten/ops/eq.h"
#include "aten/ops/expand.h"
#include "aten/ops/gt.h"
#include "aten/ops/index_select.h"
#include "aten/ops/matmul.h"
#include "aten/ops/neg.h"
#include "aten/ops/norm.h"
#include "aten/ops/pow.h"
#include "aten/ops/select.h"
#include "aten/ops/sgn.h"
#include "aten/ops/sum.h"
#include "aten/ops/sum_to_size.h"
#include "aten/ops/transpose.h"
#include "aten/ops/triu_indices.h"
#include "aten/ops/unsqueeze.h"
#include "aten/ops/where.h"
#include "aten/ops/zeros_like.h"

namespace at::native {

namespace {

// The differences of all pairs are stored up to this number of elements. Above it, Euclidean
// gradients are computed by matrix products.
constexpr int64_t kMaterialised = int64_t{1} << 22;

/// With w_ij = g_ij / d_ij: grad_x1_i = sum_j w_ij (x1_i - x2_j), and the same for x2.
std::tuple<Tensor, Tensor> euclidean_backward(const Tensor& weights, const Tensor& x1,
                                              const Tensor& x2) {
  const Tensor row_sums = at::sum(weights, IntArrayRef(int64_t{-1}), true);
  const Tensor column_sums = at::unsqueeze(at::sum(weights, IntArrayRef(int64_t{-2})), -1);
  const Tensor grad_x1 = x1 * row_sums - at::matmul(weights, x2);
  const Tensor grad_x2 = x2 * column_sums - at::matmul(at::transpose(weights, -2, -1), x1);
  return {at::sum_to_size(grad_x1, x1.sizes()), at::sum_to_size(grad_x2, x2.sizes())};
}

/// d|x|_p / dx = sign(x) (|x| / |x|_p)^(p - 1), where the norm |x|_p is `distance` and not zero.
Tensor direction(const Tensor& difference, const Tensor& distance, double p) {
  const Tensor sign = at::sgn(difference);
  const Tensor size = at::abs(difference);
  if (p == 1) return sign;
  if (std::isinf(p)) return at::where(at::eq(size, distance), sign, Scalar(0.0));
  if (p == 2) return difference / distance;
  const Tensor safe = at::where(at::eq(size, Scalar(0)), Scalar(1.0), size);
  return sign * at::pow(safe / distance, Scalar(p - 1));
}

}  // namespace

Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p) {
  return at::norm(self - other, p);
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  const Tensor difference = x1 - x2 + Scalar(eps);
  return at::norm(difference, Scalar(p), IntArrayRef(int64_t{-1}), keepdim);
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  TORCH_CHECK(eps >= 0, "cosine_similarity: eps must be non-negative, got: ", eps);
  const ScalarType common = result_type({x1, x2});
  TORCH_CHECK(is_floating(common),
              "expected common dtype to be floating point, yet common dtype is ", common);

  // Sums of squares overflow early in float16.
  const ScalarType wide = to_accumulate(common);
  const DimVector sizes = broadcast_sizes(x1.sizes(), x2.sizes());
  const Tensor a = at::expand(x1.to(wide), sizes, false);
  const Tensor b = at::expand(x2.to(wide), sizes, false);

  const auto length = [&](const Tensor& x) {
    return at::clamp_min(at::norm(x, Scalar(2), IntArrayRef(dim), false), Scalar(eps));
  };

  return (at::sum(a * b, IntArrayRef(dim)) / (length(a) * length(b))).to(common);
}

// All pairs

TensorSpec cdist_shape(const Tensor& x1, const Tensor& x2, double, std::optional<int64_t>) {
  DimVector sizes = broadcast_sizes(batch_sizes(x1), batch_sizes(x2));
  check_same_matrix_dtype(x1, x2, "cdist");
  TORCH_CHECK(x1.size(-1) == x2.size(-1),
              "X1 and X2 must have the same number of columns. X1: ", x1.size(-1),
              " X2: ", x2.size(-1));

  sizes.push_back(x1.size(-2));
  sizes.push_back(x2.size(-2));
  return {std::move(sizes), x1.scalar_type(), x1.device()};
}

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
  TORCH_CHECK(x1.dim() >= 2, "cdist only supports at least 2D tensors, X1 got: ", x1.dim(), "D");
  TORCH_CHECK(x2.dim() >= 2, "cdist only supports at least 2D tensors, X2 got: ", x2.dim(), "D");
  TORCH_CHECK(x1.is_floating_point(),
              "cdist only supports floating-point dtypes, X1 got: ", x1.scalar_type());
  TORCH_CHECK(x2.is_floating_point(),
              "cdist only supports floating-point dtypes, X2 got: ", x2.scalar_type());
  TORCH_CHECK(p >= 0, "cdist only supports non-negative p values");
  TORCH_CHECK(compute_mode.value_or(0) >= 0 && compute_mode.value_or(0) <= 2,
              "possible modes: 0, 1, 2, but was: ", compute_mode.value_or(0));

  const ScalarType common = result_type({x1, x2});
  return at::_cdist_forward(x1.to(common), x2.to(common), p, compute_mode);
}

std::tuple<Tensor, Tensor> _cdist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2,
                                           double p, const Tensor& cdist) {
  if (p == 0) return {at::zeros_like(x1), at::zeros_like(x2)};

  // The distance of equal rows is not differentiable; 0 is one of its subgradients.
  const Tensor same = at::eq(cdist, Scalar(0));
  const Tensor distance = at::where(same, Scalar(1.0), cdist);
  const Tensor weights = at::where(same, Scalar(0.0), grad);

  if (p == 2 && cdist.numel() * x1.size(-1) > kMaterialised)
    return euclidean_backward(weights / distance, x1, x2);

  const Tensor difference = at::unsqueeze(x1, -2) - at::unsqueeze(x2, -3);
  const Tensor terms =
      at::unsqueeze(weights, -1) * direction(difference, at::unsqueeze(distance, -1), p);
  return {at::sum_to_size(at::sum(terms, IntArrayRef(int64_t{-2})), x1.sizes()),
          at::sum_to_size(at::neg(at::sum(terms, IntArrayRef(int64_t{-3}))), x2.sizes())};
}

Tensor pdist(const Tensor& self, double p) {
  TORCH_CHECK(self.dim() == 2, "pdist only supports 2D tensors, got: ", self.dim(), "D");
  TORCH_CHECK(self.is_floating_point(), "pdist only supports floating-point dtypes");
  TORCH_CHECK_NOT_IMPLEMENTED(!is_reduced_floating(self.scalar_type()),
                              "\"pdist\" not implemented for '",
                              scalar_type_name(self.scalar_type()), "'");
  TORCH_CHECK(p >= 0, "pdist only supports non-negative p values");

  // The pairs of rows (first[k], second[k]) with first[k] < second[k].
  const int64_t n = self.sizes()[0];
  const Tensor pairs = at::triu_indices(n, n, 1, kLong, std::nullopt, self.device());
  const Tensor difference =
      at::index_select(self, 0, pairs.select(0, 0)) - at::index_select(self, 0, pairs.select(0, 1));
  if (p == 0) {
    // The number of elements that differ, nan where one of them is.
    const Tensor size = at::abs(difference);
    const Tensor ones = at::where(at::gt(size, Scalar(0)), Scalar(1), size);
    return at::sum(ones, IntArrayRef(int64_t{-1}));
  }
  return at::norm(difference, Scalar(p), IntArrayRef(int64_t{-1}), false);
}

}  // namespace at::native
