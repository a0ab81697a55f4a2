// Losses of distances, of margins between classes, and of counts.
#include "aten/native/declarations/nn/RankingLoss.h"

#include <algorithm>
#include <numbers>

#include "aten/ops/_margin_labels.h"
#include "aten/ops/all.h"
#include "aten/ops/clamp_min.h"
#include "aten/ops/cosine_similarity.h"
#include "aten/ops/eq.h"
#include "aten/ops/exp.h"
#include "aten/ops/gather.h"
#include "aten/ops/item.h"
#include "aten/ops/le.h"
#include "aten/ops/log.h"
#include "aten/ops/log_sigmoid.h"
#include "aten/ops/masked_fill.h"
#include "aten/ops/mean.h"
#include "aten/ops/minimum.h"
#include "aten/ops/ne.h"
#include "aten/ops/pairwise_distance.h"
#include "aten/ops/relu.h"
#include "aten/ops/scatter.h"
#include "aten/ops/sqrt.h"
#include "aten/ops/square.h"
#include "aten/ops/sum.h"
#include "aten/ops/where.h"
#include "aten/ops/zeros_like.h"

namespace at::native {

namespace {

constexpr int64_t kNone = 0;
constexpr int64_t kMean = 1;

Tensor reduced(const Tensor& loss, int64_t reduction) {
  if (reduction == kNone) return loss;
  return reduction == kMean ? at::mean(loss) : at::sum(loss);
}

/// max(0, x), with the gradient 1 at 0.
Tensor positive_part(const Tensor& x) { return at::clamp_min(x, Scalar(0)); }

/// The tensor as (N, C), also where it is only (C).
Tensor as_batch(const Tensor& tensor) {
  return tensor.dim() < 2 ? tensor.reshape({1, tensor.numel()}) : tensor;
}

}  // namespace

/// max(0, -target (input1 - input2) + margin)
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           double margin, int64_t reduction) {
  return reduced(positive_part(-target * (input1 - input2) + Scalar(margin)), reduction);
}

/// x where target is 1, max(0, margin - x) where it is -1.
Tensor hinge_embedding_loss(const Tensor& self, const Tensor& target, double margin,
                            int64_t reduction) {
  const Tensor far = positive_part(Scalar(margin) - self);
  const Tensor zero = at::zeros_like(self);

  const Tensor loss = at::where(at::ne(target, Scalar(1)), far, zero) +
                      at::where(at::ne(target, Scalar(-1)), self, zero);

  return reduced(loss, reduction);
}

/// 1 - cos for similar pairs (target 1), max(0, cos - margin) for dissimilar ones (target -1).
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             double margin, int64_t reduction) {
  // The cosine by its definition, with a small number under the root for vectors of zeros.
  constexpr double kEpsilon = 1e-12;
  const int64_t dim = target.dim();
  const Tensor product = at::sum(input1 * input2, IntArrayRef(dim));
  const Tensor power = (at::sum(input1 * input1, IntArrayRef(dim)) + Scalar(kEpsilon)) *
                       (at::sum(input2 * input2, IntArrayRef(dim)) + Scalar(kEpsilon));
  const Tensor cosine = product / at::sqrt(power);

  const Tensor zero = at::zeros_like(cosine);
  const Tensor alike = at::where(at::eq(target, Scalar(1)), Scalar(1) - cosine, zero);
  const Tensor apart =
      at::where(at::eq(target, Scalar(-1)), positive_part(cosine - Scalar(margin)), zero);

  return reduced(alike + apart, reduction);
}

/// max(0, d(anchor, positive) - d(anchor, negative) + margin); `swap` uses the smaller of
/// d(anchor, negative) and d(positive, negative).
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           double margin, double p, double eps, bool swap, int64_t reduction) {
  const Tensor near = at::pairwise_distance(anchor, positive, p, eps);
  Tensor far = at::pairwise_distance(anchor, negative, p, eps);
  if (swap) far = at::minimum(far, at::pairwise_distance(positive, negative, p, eps));

  return reduced(positive_part(near - far + Scalar(margin)), reduction);
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full,
                        double eps, int64_t reduction) {
  Tensor loss =
      log_input ? at::exp(input) - target * input : input - target * at::log(input + Scalar(eps));

  // Stirling's approximation of log(target!), for targets above 1.
  if (full) {
    const Tensor stirling = target * at::log(target) - target +
                            at::log(target * Scalar(2 * std::numbers::pi)) * Scalar(0.5);
    loss = loss + at::masked_fill(stirling, at::le(target, Scalar(1)), Scalar(0));
  }

  return reduced(loss, reduction);
}

/// log(1 + exp(-target x))
Tensor soft_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  const Tensor product = self * target;
  TORCH_CHECK(product.sizes() == self.sizes(), "output with shape ", self.sizes(),
              " doesn't match the broadcast shape ", product.sizes());
  TORCH_CHECK(can_cast(product.scalar_type(), self.scalar_type()), "result type ",
              product.scalar_type(), " can't be cast to the desired output type ",
              self.scalar_type());

  return reduced(-at::log_sigmoid(product).to(self.scalar_type()), reduction);
}

Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const Scalar& p,
                         const Scalar& margin, const Tensor& weight, int64_t reduction) {
  const Tensor scores = as_batch(self);
  const int64_t batch = scores.size(0);
  const int64_t classes = scores.size(1);

  // sum over c != target of max(0, margin - x[target] + x[c]) ** p, divided by the number of
  // classes
  const Tensor column = target.reshape({batch, 1});
  // A class that keeps the margin exactly has no gradient.
  Tensor loss = at::relu(scores - at::gather(scores, 1, column) + Scalar(margin.to<double>()));
  if (p.to<double>() == 2) loss = at::square(loss);
  if (weight.defined())
    loss = loss * at::gather(weight.reshape({1, classes}).expand({batch, classes}), 1, column);
  loss = at::sum(at::scatter(loss, 1, column, Scalar(0)), IntArrayRef(1)) /
         Scalar(static_cast<double>(classes));

  return reduced(reduction == kNone && self.dim() < 2 ? loss.reshape(target.sizes()) : loss,
                 reduction);
}

std::tuple<TensorSpec, TensorSpec, TensorSpec> margin_labels_shape(const Tensor& target) {
  TORCH_CHECK(target.dim() == 2, "_margin_labels: expected rows of labels, got size ",
              target.sizes());
  const auto spec = [&](ScalarType dtype) {
    return TensorSpec{DimVector(target.sizes()), dtype, target.device()};
  };
  return {spec(kLong), spec(kBool), spec(kBool)};
}

Tensor multilabel_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  const Tensor scores = as_batch(self);
  const auto finished = [&](const Tensor& loss) {
    return reduced(reduction == kNone && self.dim() < 2 ? loss.reshape({}) : loss, reduction);
  };

  if (target.is_meta()) return finished(at::sum(scores, IntArrayRef(1)));
  const auto [chosen, counts, is_label] = at::_margin_labels(as_batch(target));

  // Of shape (N, label, class): every label against every class that is not a label.
  const Tensor margins =
      at::relu(Scalar(1) - at::gather(scores, 1, chosen).unsqueeze(2) + scores.unsqueeze(1));
  const Tensor weight = counts.unsqueeze(2).to(scores.scalar_type()) *
                        (Scalar(1) - is_label.to(scores.scalar_type())).unsqueeze(1);

  const Tensor loss = at::sum(margins * weight, IntArrayRef({1, 2})) /
                      Scalar(static_cast<double>(std::max<int64_t>(scores.size(1), 1)));
  return finished(loss);
}

}  // namespace at::native
