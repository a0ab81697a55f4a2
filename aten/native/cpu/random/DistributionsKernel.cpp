// Random numbers that are drawn one at a time, so that a seed gives the same numbers as PyTorch on
// the CPU: in place (Cauchy, log-normal, geometric, Bernoulli by a tensor), and with parameters
// that are tensors (Poisson, binomial, gamma).
#include "aten/native/declarations/cpu/random/DistributionsKernel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numbers>

#include "aten/native/random/Samplers.h"
#include "aten/native/random/SerialDraws.h"
#include "aten/ops/bernoulli.h"
#include "aten/ops/copy.h"
#include "aten/ops/digamma.h"
#include "aten/ops/empty_like.h"
#include "c10/core/Generator.h"

namespace at::native {

namespace {

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

/// `tensor` in double, expanded to `sizes` in the order of its dimensions.
Tensor as_doubles(const Tensor& tensor, IntArrayRef sizes) {
  return tensor.detach().expand(sizes).to(kDouble).contiguous();
}

/// Sets each element of `out` to f(x, y) of the elements of x and y, computed in double.
template <typename Function>
void for_each_pair(const Tensor& x, const Tensor& y, const Tensor& out, const Function& f) {
  const Tensor first = as_doubles(x, out.sizes());
  const Tensor second = y.defined() ? as_doubles(y, out.sizes()) : first;
  const Tensor numbers = empty_tensor(out.sizes(), kDouble, kCPU);

  const double* a = first.const_data_ptr<double>();
  const double* b = second.const_data_ptr<double>();
  double* result = numbers.data_ptr<double>();
  for (int64_t i = 0; i < numbers.numel(); ++i) result[i] = f(a[i], b[i]);
  at::copy_(out, numbers);
}

}  // namespace

void cauchy_(const Tensor& self, double median, double sigma, Generator* generator) {
  fill(self, generator, [=](SerialDraws& source) {
    return median + sigma * std::tan(std::numbers::pi * (source.uniform() - 0.5));
  });
}

void log_normal_(const Tensor& self, double mean, double std, Generator* generator) {
  fill(self, generator,
       [=](SerialDraws& source) { return std::exp(source.normal() * std + mean); });
}

void geometric_(const Tensor& self, double p, Generator* generator) {
  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_complex() && self.scalar_type() != kBool,
                              "\"geometric_cpu\" not implemented for '", self.scalar_type(), "'");

  const double scale = std::log1p(-p);
  fill(self, generator,
       [=](SerialDraws& source) { return std::ceil(std::log(source.uniform()) / scale); });
}

void bernoulli_by_tensor(const Tensor& self, const Tensor& p, Generator* generator) {
  at::copy_(self, at::bernoulli(p.expand(self.sizes()), generator));
}

// Parameters that are tensors

void poisson_kernel(const Tensor& self, Generator* generator, const Tensor& out0) {
  const Tensor rates = as_doubles(self, self.sizes());
  const double* rate = rates.const_data_ptr<double>();
  TORCH_CHECK(std::all_of(rate, rate + rates.numel(), [](double r) { return r >= 0; }),
              "invalid Poisson rate, expected rate to be non-negative");

  SerialDraws source(generator);
  for_each_pair(rates, {}, out0, [&](double r, double) { return draw_poisson(source, r); });
}

void binomial_kernel(const Tensor& count, const Tensor& prob, Generator* generator,
                     const Tensor& out0) {
  SerialDraws source(generator);
  for_each_pair(count, prob, out0, [&](double n, double p) { return draw_binomial(source, n, p); });
}

void standard_gamma_kernel(const Tensor& self, Generator* generator, const Tensor& out0) {
  // A number that underflowed to 0 becomes the smallest positive one.
  const double smallest = self.scalar_type() == kDouble ? std::numeric_limits<double>::min()
                                                        : std::numeric_limits<float>::min();

  SerialDraws source(generator);
  for_each_pair(self, {}, out0, [&](double shape, double) {
    const double number = draw_gamma(source, shape);
    return number < smallest ? smallest : number;
  });
}

void standard_gamma_grad_kernel(const Tensor& self, const Tensor& output, const Tensor& out0) {
  const Tensor shapes = as_doubles(self, out0.sizes());
  const Tensor digammas = at::digamma(shapes);
  const double* psi = digammas.const_data_ptr<double>();
  for_each_pair(shapes, output, out0,
                [&](double shape, double x) { return gamma_derivative(shape, x, *psi++); });
}

}  // namespace at::native
