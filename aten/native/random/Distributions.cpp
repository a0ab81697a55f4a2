// Random numbers of distributions whose parameters are tensors (Poisson, binomial, gamma,
// Dirichlet, Bernoulli), and multinomial samples: checks, shapes and compositions.
#include "aten/native/declarations/random/Distributions.h"
#include <limits>

#include "aten/native/shared/HostValues.h"
#include "aten/native/shared/ResultLayout.h"
#include "aten/ops/_sample_with_replacement.h"
#include "aten/ops/_standard_gamma.h"
#include "aten/ops/all.h"
#include "aten/ops/amin.h"
#include "aten/ops/aminmax.h"
#include "aten/ops/argmax.h"
#include "aten/ops/bernoulli.h"
#include "aten/ops/div.h"
#include "aten/ops/empty_like.h"
#include "aten/ops/exponential.h"
#include "aten/ops/ge.h"
#include "aten/ops/le.h"
#include "aten/ops/logical_and.h"
#include "aten/ops/lt.h"
#include "aten/ops/sum.h"
#include "aten/ops/to.h"
#include "aten/ops/topk.h"
#include "aten/ops/uniform.h"
#include "c10/core/Generator.h"

namespace at::native {

namespace {

/// A result like `self`, of a sampler for floating point dtypes.
TensorSpec spec_like(const char* name, const Tensor& self) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "\"", name, "\" not implemented for '",
                              self.scalar_type(), "'");
  return {DimVector(self.sizes()), self.scalar_type(), self.device(),
          strides_like(self.sizes(), {&self})};
}

void check_multinomial(const Tensor& self, int64_t num_samples, bool replacement) {
  TORCH_CHECK(self.dim() == 1 || self.dim() == 2, "prob_dist must be 1 or 2 dim");
  TORCH_CHECK(
      self.is_floating_point(),
      "multinomial only supports floating-point dtypes for input, got: ", self.scalar_type());
  TORCH_CHECK(num_samples > 0, "cannot sample n_sample <= 0 samples");
  TORCH_CHECK(replacement || num_samples <= self.size(-1),
              "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  TORCH_CHECK(self.size(-1) <= (int64_t{1} << 24), "number of categories cannot exceed 2^24");

  // The values, if there are any.
  if (!has_elements(self) || self.numel() == 0) return;
  // NaN is both the least and the largest element, and compares with nothing.
  const auto [least, largest] = at::aminmax(self);
  TORCH_CHECK(least.item().to_double() >= 0 &&
                  largest.item().to_double() < std::numeric_limits<double>::infinity(),
              "probability tensor contains either `inf`, `nan` or element < 0");
  const Tensor sums = at::sum(self, IntArrayRef{-1});
  TORCH_CHECK(at::amin(sums).item().to_double() > 0,
              "invalid multinomial distribution (sum of probabilities <= 0)");
}

/// Of exponential clocks with the probabilities as rates, each rings first with its probability.
/// The order in which they ring is therefore a sample without replacement.
Tensor sample_by_clocks(const Tensor& self, int64_t num_samples, Generator* generator) {
  const Tensor clocks = at::empty_like(self);
  at::exponential_(clocks, 1, generator);
  const Tensor speed = at::div(self, clocks);
  if (num_samples == 1) return at::argmax(speed, -1, true);
  return std::get<1>(at::topk(speed, num_samples));
}

}  // namespace

Tensor bernoulli_p(const Tensor& self, double p, Generator* generator) {
  return at::bernoulli_(at::empty_like(self), p, generator).as_new();
}

// Parameters that are tensors

TensorSpec poisson_shape(const Tensor& self, Generator*) { return spec_like("poisson_cpu", self); }

TensorSpec binomial_shape(const Tensor& count, const Tensor& prob, Generator*) {
  TORCH_CHECK(count.scalar_type() == prob.scalar_type(),
              "binomial: expected count and prob of one dtype, got ", count.scalar_type(), " and ",
              prob.scalar_type());

  const TensorSpec like = spec_like("binomial_cpu", count);
  return {broadcast_sizes(count.sizes(), prob.sizes()), like.dtype, like.device};
}

TensorSpec standard_gamma_shape(const Tensor& self, Generator*) {
  return spec_like("_standard_gamma", self);
}

TensorSpec standard_gamma_grad_shape(const Tensor& self, const Tensor& output) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point() && output.is_floating_point(),
                              "\"_standard_gamma_grad\" not implemented for '", self.scalar_type(),
                              "'");
  return {broadcast_sizes(self.sizes(), output.sizes()), self.scalar_type(), self.device()};
}

TensorSpec sample_with_replacement_shape(const Tensor& weights, int64_t num_samples, Generator*) {
  DimVector sizes(weights.sizes());
  sizes.back() = num_samples;
  return {sizes, kLong, weights.device()};
}

Tensor _sample_dirichlet(const Tensor& self, Generator* generator) {
  const Tensor numbers = at::_standard_gamma(self, generator);
  return numbers / at::sum(numbers, IntArrayRef(-1), true);
}

Tensor bernoulli(const Tensor& self, Generator* generator) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "\"bernoulli\" not implemented for '",
                              self.scalar_type(), "'");
  if (self.is_meta()) return at::empty_like(self);

  const Tensor valid = at::logical_and(at::ge(self, Scalar(0)), at::le(self, Scalar(1)));
  TORCH_CHECK(at::all(valid).item().to_bool(),
              "bernoulli(): expected all probabilities to be in [0, 1]");

  const ScalarType type = to_accumulate(self.scalar_type());
  const Tensor draws = at::empty_like(self, type);
  at::uniform_(draws, 0, 1, generator);
  return at::lt(draws, self.to(type)).to(self.scalar_type());
}

Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement,
                   Generator* generator) {
  check_multinomial(self, num_samples, replacement);

  DimVector sizes(self.sizes());
  sizes.back() = num_samples;
  if (self.is_meta() || self.numel() == 0) {
    TORCH_CHECK(self.numel() > 0 || self.size(-1) > 0,
                "multinomial(): expected at least one category");
    return empty_tensor(sizes, kLong, self.device());
  }

  if (!replacement || num_samples == 1) return sample_by_clocks(self, num_samples, generator);

  return at::_sample_with_replacement(self.to(to_accumulate(self.scalar_type())), num_samples,
                                      generator);
}

}  // namespace at::native
