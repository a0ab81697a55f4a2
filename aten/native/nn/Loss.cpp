// Losses that compare two tensors elementwise, and classification losses.
#include <cmath>
#include <limits>

#include "aten/native/declarations/nn/Loss.h"
#include "aten/native/shared/HostValues.h"
#include "aten/ops/_binary_cross_entropy.h"
#include "aten/ops/abs.h"
#include "aten/ops/eq.h"
#include "aten/ops/exp.h"
#include "aten/ops/full_like.h"
#include "aten/ops/ge.h"
#include "aten/ops/le.h"
#include "aten/ops/log.h"
#include "aten/ops/log1p.h"
#include "aten/ops/log_sigmoid.h"
#include "aten/ops/log_softmax.h"
#include "aten/ops/logical_and.h"
#include "aten/ops/lt.h"
#include "aten/ops/masked_fill.h"
#include "aten/ops/mean.h"
#include "aten/ops/nll_loss_forward.h"
#include "aten/ops/reshape.h"
#include "aten/ops/square.h"
#include "aten/ops/sum.h"
#include "aten/ops/where.h"

namespace at::native {

namespace {

// The reductions as Python passes them; every other number is a sum.
constexpr int64_t kNone = 0;
constexpr int64_t kMean = 1;

Tensor reduced(const Tensor& loss, int64_t reduction) {
  if (reduction == kNone) return loss;
  return reduction == kMean ? at::mean(loss) : at::sum(loss);
}

bool are_probabilities(const Tensor& tensor) {
  if (!can_be_checked(tensor)) return true;
  return holds(at::logical_and(at::ge(tensor, Scalar(0)), at::le(tensor, Scalar(1))));
}

void check_castable(ScalarType from, ScalarType to) {
  TORCH_CHECK(can_cast(from, to), "result type ", from,
              " can't be cast to the desired output type ", to);
}

/// PyTorch computes some losses in the memory of an argument, so the argument decides the dtype.
Tensor in_dtype_of(const Tensor& argument, const Tensor& loss) {
  check_castable(loss.scalar_type(), argument.scalar_type());
  return loss.to(argument.scalar_type());
}

/// The common dtype of both arguments, which must be a real floating-point type.
ScalarType type_of_loss(const char* op, const Tensor& self, const Tensor& target) {
  const ScalarType type = result_type({self, target});
  TORCH_CHECK_NOT_IMPLEMENTED(is_floating(type), "\"", op, "\" not implemented for '",
                              scalar_type_name(type), "'");
  return type;
}

Tensor weighted(const Tensor& loss, const Tensor& weight) {
  return weight.defined() ? loss * weight : loss;
}

int64_t class_dim(const Tensor& self) { return self.dim() == 1 ? 0 : 1; }

void check_class_weight(const char* prefix, const Tensor& weight, int64_t classes) {
  TORCH_CHECK(!weight.defined() || (weight.dim() == 1 && weight.numel() == classes), prefix,
              "weight tensor should be defined either for all ", classes,
              " classes or no classes but got weight tensor of shape: ", weight.sizes());
}

/// Sizes of the unreduced loss: one loss per target.
DimVector nll_sizes(IntArrayRef sizes) {
  DimVector result;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes.size() > 1 && d != 1) result.push_back(sizes[d]);
  }
  return result;
}

void check_target(IntArrayRef sizes, const Tensor& target) {
  if (sizes.size() > 2) {
    TORCH_CHECK(target.sizes() == IntArrayRef(nll_sizes(sizes)), "Expected target size ",
                nll_sizes(sizes), ", got ", target.sizes());
  }
}

/// Checks the batch sizes, before the shape of the target is checked in detail.
void check_batch(const Tensor& self, const Tensor& target) {
  TORCH_CHECK_VALUE(self.dim() > 0, "Expected 1 or more dimensions (got ", self.dim(), ")");
  if (self.dim() == 1) {
    TORCH_CHECK_VALUE(
        target.dim() != 1 || target.numel() == 1,
        "For 1D input, 1D target must have size 1, but got target size: ", target.numel());
    return;
  }

  const int64_t batch = target.dim() > 0 ? target.sizes()[0] : 0;
  TORCH_CHECK_VALUE(self.sizes()[0] == batch, "Expected input batch_size (", self.sizes()[0],
                    ") to match target batch_size (", batch, ").");
}

/// The class weights with a size-1 dimension for every other dimension of `self`.
Tensor shaped_for_classes(const Tensor& weight, const Tensor& self) {
  if (self.dim() == 1) return weight;

  DimVector sizes(self.dim(), 1);
  sizes[1] = weight.numel();
  return at::reshape(weight, sizes);
}

/// Cross entropy with class probabilities as targets, in place of class numbers.
Tensor cross_entropy_of_probabilities(const Tensor& self, const Tensor& target,
                                      const Tensor& weight, int64_t reduction, double smoothing) {
  const int64_t dim = class_dim(self);
  const int64_t classes = self.sizes()[dim];
  check_class_weight("cross_entropy: ", weight, classes);

  // Smoothing mixes the target with the uniform distribution.
  const double share = smoothing / static_cast<double>(classes);
  const Tensor smoothed = smoothing == 0 ? target : target * Scalar(1 - smoothing) + Scalar(share);
  Tensor loss = at::log_softmax(self, dim) * smoothed;
  if (weight.defined()) loss = loss * shaped_for_classes(weight, self);

  if (reduction == kNone) return -at::sum(loss, IntArrayRef(dim));

  const Tensor total = -at::sum(loss);
  if (reduction != kMean) return total;
  if (self.numel() == 0)
    return at::full_like(total, Scalar(std::numeric_limits<double>::quiet_NaN()));

  return total / Scalar(static_cast<double>(self.numel() / classes));
}

/// Cross entropy with class numbers as targets, mixed with the uniform distribution.
Tensor smoothed_cross_entropy(const Tensor& self, const Tensor& target_numbers,
                              const Tensor& weight, int64_t reduction, int64_t ignore_index,
                              double smoothing) {
  check_batch(self, target_numbers);
  const Tensor target = self.dim() == 1 ? at::reshape(target_numbers, {}) : target_numbers;

  const int64_t dim = class_dim(self);
  const Tensor log_probability = at::log_softmax(self, dim);
  const auto [loss, total_weight] =
      at::nll_loss_forward(log_probability, target, weight, reduction, ignore_index);

  // The uniform distribution's share: the mean over all classes, without ignored targets.
  const Tensor by_class =
      weight.defined() ? log_probability * shaped_for_classes(weight, self) : log_probability;
  Tensor uniform = -at::masked_fill(at::sum(by_class, IntArrayRef(dim)),
                                    at::eq(target, Scalar(ignore_index)), Scalar(0));
  if (reduction != kNone) uniform = at::sum(uniform);
  if (reduction == kMean) uniform = uniform / total_weight.detach();

  return loss * Scalar(1 - smoothing) +
         uniform * Scalar(smoothing / static_cast<double>(self.sizes()[dim]));
}

}  // namespace

Tensor mse_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  const ScalarType type = type_of_loss("mse_loss", self, target);
  // The conversion is needed for bool tensors, which cannot be subtracted.
  return reduced(at::square(self.to(type) - target.to(type)), reduction);
}

Tensor l1_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  return reduced(at::abs(self - target), reduction);
}

/// d ** 2 / (2 beta) for distances d below beta, d - beta / 2 for others.
Tensor smooth_l1_loss(const Tensor& self, const Tensor& target, int64_t reduction, double beta) {
  if (beta == 0) return l1_loss(self, target, reduction);

  const ScalarType type = type_of_loss("smooth_l1_loss", self, target);
  // The square is of the signed difference: that of its absolute value has no second derivative at
  // 0.
  const Tensor difference = self.to(type) - target.to(type);
  const Tensor distance = at::abs(difference);
  const Tensor near = at::square(difference) * Scalar(0.5 / beta);
  return reduced(at::where(at::lt(distance, Scalar(beta)), near, distance - Scalar(0.5 * beta)),
                 reduction);
}

/// d ** 2 / 2 for distances d below delta, delta (d - delta / 2) for others.
Tensor huber_loss(const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
  check_castable(result_type({self, target}), self.scalar_type());

  const ScalarType type = type_of_loss("huber_loss", self, target);
  // As in smooth_l1_loss, the square is of the signed difference.
  const Tensor difference = self.to(type) - target.to(type);
  const Tensor distance = at::abs(difference);
  const Tensor near = at::square(difference) * Scalar(0.5);
  const Tensor loss = at::where(at::lt(distance, Scalar(delta)), near,
                                (distance - Scalar(0.5 * delta)) * Scalar(delta));

  return reduced(in_dtype_of(self, loss), reduction);
}

Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const Tensor& weight,
                            int64_t reduction) {
  TORCH_CHECK(are_probabilities(self), "all elements of input should be between 0 and 1");
  TORCH_CHECK(are_probabilities(target), "all elements of target should be between 0 and 1");

  const Tensor loss = weighted(at::_binary_cross_entropy(self, target), weight);
  TORCH_CHECK(loss.sizes() == self.sizes(), "output with shape ", self.sizes(),
              " doesn't match the broadcast shape ", loss.sizes());

  return reduced(in_dtype_of(self, loss), reduction);
}

Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target,
                                        const Tensor& weight, const Tensor& pos_weight,
                                        int64_t reduction) {
  // -log(1 - sigmoid(x)) = x - log_sigmoid(x), so that the loss is (1 - target) x - (1 +
  // (pos_weight - 1) target) log_sigmoid(x).
  Tensor likelihood = at::log_sigmoid(self);
  if (pos_weight.defined())
    likelihood = ((pos_weight - Scalar(1)) * target + Scalar(1)) * likelihood;

  const Tensor loss = (Scalar(1) - target) * self;
  TORCH_CHECK(loss.sizes() == target.sizes(), "output with shape ", target.sizes(),
              " doesn't match the broadcast shape ", loss.sizes());

  return reduced(in_dtype_of(target, weighted(in_dtype_of(target, loss - likelihood), weight)),
                 reduction);
}

/// target (log(target) - self), or exp(target) (target - self) for targets that are logarithms.
Tensor kl_div(const Tensor& self, const Tensor& target, int64_t reduction, bool log_target) {
  if (log_target) return reduced(at::exp(target) * (target - self), reduction);

  // target log(target) is 0 where target is 0.
  const Tensor positive = at::masked_fill(target, at::eq(target, Scalar(0)), Scalar(1));
  return reduced(target * at::log(positive) - target * self, reduction);
}

std::tuple<TensorSpec, TensorSpec> nll_loss_forward_shape(const Tensor& self, const Tensor& target,
                                                          const Tensor& weight, int64_t reduction,
                                                          int64_t /*ignore_index*/) {
  check_target(self.sizes(), target);
  TORCH_CHECK(
      self.device() == target.device(),
      "nll_loss: Expected all tensors to be on the same device, but found at least two devices, ",
      self.device(), " and ", target.device(), "!");

  if (weight.defined()) {
    check_class_weight("", weight, self.sizes()[class_dim(self)]);
    TORCH_CHECK(weight.scalar_type() == self.scalar_type(), "expected scalar type ",
                self.scalar_type(), " but found ", weight.scalar_type());
  }

  const TensorSpec scalar{{}, self.scalar_type(), self.device()};
  if (reduction != kNone) return {scalar, scalar};
  return {{nll_sizes(self.sizes()), self.scalar_type(), self.device()}, scalar};
}

TensorSpec nll_loss_backward_shape(const Tensor& grad_output, IntArrayRef sizes,
                                   const Tensor& target, const Tensor& weight, int64_t, int64_t,
                                   const Tensor&) {
  check_target(sizes, target);
  check_class_weight("", weight, sizes[sizes.size() == 1 ? 0 : 1]);
  return {DimVector(sizes), grad_output.scalar_type(), grad_output.device()};
}

/// The loss is linear in its input, so the gradient's gradient is the loss of `grad`.
Tensor _nll_loss_double_backward(const Tensor& grad, const Tensor& target, const Tensor& weight,
                                 int64_t reduction, int64_t ignore_index,
                                 const Tensor& /*total_weight*/) {
  return std::get<0>(at::nll_loss_forward(grad, target, weight, reduction, ignore_index));
}

Tensor nll_loss_nd(const Tensor& self, const Tensor& target, const Tensor& weight,
                   int64_t reduction, int64_t ignore_index) {
  check_batch(self, target);
  return std::get<0>(at::nll_loss_forward(self, target, weight, reduction, ignore_index));
}

Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const Tensor& weight,
                          int64_t reduction, int64_t ignore_index, double label_smoothing) {
  if (self.dim() > 0 && self.sizes() != target.sizes()) check_batch(self, target);
  TORCH_CHECK(!target.is_floating_point() || self.dim() != target.dim() ||
                  self.sizes() == target.sizes(),
              "cross_entropy: class probabilities must have the shape of the input, ", self.sizes(),
              ", got a target of shape ", target.sizes());

  if (self.sizes() == target.sizes()) {
    return cross_entropy_of_probabilities(self, target, weight, reduction, label_smoothing);
  }

  if (label_smoothing > 0)
    return smoothed_cross_entropy(self, target, weight, reduction, ignore_index, label_smoothing);
  return nll_loss_nd(self.dim() > 0 ? at::log_softmax(self, class_dim(self)) : self, target, weight,
                     reduction, ignore_index);
}

}  // namespace at::native
