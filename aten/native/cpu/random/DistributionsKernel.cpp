// In-place random numbers that are drawn one at a time in order of memory (Cauchy, log-normal,
// geometric, Bernoulli by a tensor), so that a seed gives the same numbers as PyTorch on the CPU.
#include "aten/native/declarations/cpu/random/DistributionsKernel.h"

#include <cmath>
#include <mutex>
#include <numbers>

#include "aten/native/random/SerialDraws.h"
#include "aten/ops/bernoulli.h"
#include "aten/ops/copy.h"
#include "aten/ops/empty_like.h"
#include "c10/core/Generator.h"

namespace at::native {

namespace {

void check_continuous(const char* name, const Tensor& self) {
  TORCH_CHECK(
      self.is_floating_point(), name,
      " distribution is a continuous probability distribution. dtype must be a floating point but "
      "you specified ",
      self.scalar_type());
}

/// Fills `self` with the results of `draw`, via doubles in the same order of memory.
template <typename Draw>
void fill(const Tensor& self, Generator* generator, const Draw& draw) {
  if (self.numel() == 0) return;

  const Tensor numbers = at::empty_like(self, kDouble);
  double* out = numbers.data_ptr<double>();
  {
    SerialDraws source(generator);
    for (int64_t i = 0; i < numbers.numel(); ++i) out[i] = draw(source);
  }
  at::copy_(self, numbers);
}

}  // namespace

void cauchy_(const Tensor& self, double median, double sigma, Generator* generator) {
  TORCH_CHECK(sigma > 0, "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  check_continuous("Cauchy", self);
  fill(self, generator, [=](SerialDraws& source) {
    return median + sigma * std::tan(std::numbers::pi * (source.uniform() - 0.5));
  });
}

void log_normal_(const Tensor& self, double mean, double std, Generator* generator) {
  TORCH_CHECK(std > 0, "log_normal_ expects std > 0.0, but found std=", std);
  check_continuous("log_normal", self);
  fill(self, generator,
       [=](SerialDraws& source) { return std::exp(source.normal() * std + mean); });
}

void geometric_(const Tensor& self, double p, Generator* generator) {
  TORCH_CHECK(0 < p && p < 1, "geometric_ expects p to be in (0, 1), but got p=", p);
  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_complex() && self.scalar_type() != kBool,
                              "\"geometric_cpu\" not implemented for '", self.scalar_type(), "'");

  const double scale = std::log1p(-p);
  fill(self, generator,
       [=](SerialDraws& source) { return std::ceil(std::log(source.uniform()) / scale); });
}

void bernoulli_by_tensor(const Tensor& self, const Tensor& p, Generator* generator) {
  TORCH_CHECK(p.is_floating_point(), "expected probabilities tensor to have floating type, got ",
              p.scalar_type());
  at::copy_(self, at::bernoulli(p.expand(self.sizes()), generator));
}

}  // namespace at::native
