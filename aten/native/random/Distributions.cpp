// Random numbers of distributions whose parameters are tensors (Poisson, binomial, gamma,
// Dirichlet, Bernoulli), and multinomial samples.
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "aten/native/declarations/random/Distributions.h"
#include "aten/native/random/SerialDraws.h"
#include "aten/ops/_standard_gamma.h"
#include "aten/ops/all.h"
#include "aten/ops/argmax.h"
#include "aten/ops/bernoulli.h"
#include "aten/ops/clamp.h"
#include "aten/ops/digamma.h"
#include "aten/ops/div.h"
#include "aten/ops/empty_like.h"
#include "aten/ops/exponential.h"
#include "aten/ops/ge.h"
#include "aten/ops/isfinite.h"
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

/// Computes draw(x, y) in double for each pair of elements. y has the size of x or is undefined.
template <typename Draw>
Tensor draw_pairs(const char* name, const Tensor& x, const Tensor& y, Generator* generator,
                  const Draw& draw) {
  TORCH_CHECK_NOT_IMPLEMENTED(x.is_floating_point() && (!y.defined() || y.is_floating_point()),
                              "\"", name, "\" not implemented for '", x.scalar_type(), "'");

  const Tensor result = at::empty_like(x);
  if (x.is_meta()) return result;
  TORCH_CHECK_NOT_IMPLEMENTED(x.is_cpu(), name, ": not available on ", x.device());

  const Tensor first = x.detach().to(kDouble).contiguous();
  const Tensor second = y.defined() ? y.detach().to(kDouble).contiguous() : first;
  const Tensor numbers = empty_tensor(x.sizes(), kDouble, kCPU);

  SerialDraws source(generator);
  for (int64_t i = 0; i < numbers.numel(); ++i) {
    numbers.data_ptr<double>()[i] =
        draw(source, first.const_data_ptr<double>()[i], second.const_data_ptr<double>()[i]);
  }

  return result.copy_(numbers).as_new();
}

/// Knuth's method: counts the uniform factors that keep a product above exp(-rate).
double poisson_by_products(SerialDraws& source, double rate) {
  const double limit = std::exp(-rate);
  double count = 0;
  for (double product = source.uniform(); product > limit; product *= source.uniform()) ++count;
  return count;
}

/// Transformed rejection for rates of at least 10: algorithm PTRS of Hörmann (1993), with the
/// paper's names.
double poisson_by_rejection(SerialDraws& source, double rate) {
  const double root = std::sqrt(rate);
  const double log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * root;
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_r = 0.9277 - 3.6224 / (b - 2);

  for (;;) {
    const double u = source.uniform() - 0.5;
    const double v = source.uniform();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);

    // Most candidates are accepted or rejected without a logarithm.
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <=
        -rate + k * log_rate - std::lgamma(k + 1))
      return k;
  }
}

double draw_poisson(SerialDraws& source, double rate) {
  if (rate == 0 || std::isnan(rate)) return rate;
  return rate >= 10 ? poisson_by_rejection(source, rate) : poisson_by_products(source, rate);
}

/// Adds up geometric waiting times between successes until they exceed the number of trials.
double binomial_by_waiting(SerialDraws& source, double count, double p) {
  double waited = 0;
  double successes = 0;
  for (;;) {
    waited += std::ceil(std::log(source.uniform()) / std::log1p(-p));
    if (waited > count) return successes;
    ++successes;
  }
}

/// The error of Stirling's approximation (k + 1/2) log(k + 1) - (k + 1) + log(2 pi) / 2 of log(k!).
double stirling_rest(double k) {
  return std::lgamma(k + 1) - ((k + 0.5) * std::log(k + 1) - (k + 1) + 0.91893853320467274178);
}

/// Transformed rejection for count * p of at least 10: algorithm BTRS of Hörmann (1993), with the
/// paper's names.
double binomial_by_rejection(SerialDraws& source, double count, double p) {
  const double deviation = std::sqrt(count * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double c = count * p + 0.5;
  const double v_r = 0.92 - 4.2 / b;
  const double r = p / (1 - p);
  const double alpha = (2.83 + 5.1 / b) * deviation;
  const double m = std::floor((count + 1) * p);

  for (;;) {
    const double u = source.uniform() - 0.5;
    const double v = source.uniform();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + c);

    // Most candidates are accepted or rejected without a logarithm.
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || k > count) continue;

    const double bound = (m + 0.5) * std::log((m + 1) / (r * (count - m + 1))) +
                         (count + 1) * std::log((count - m + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(r * (count - k + 1) / (k + 1)) + stirling_rest(m) +
                         stirling_rest(count - m) - stirling_rest(k) - stirling_rest(count - k);
    if (std::log(v * alpha / (a / (us * us) + b)) <= bound) return k;
  }
}

double draw_binomial(SerialDraws& source, double count, double p) {
  if (std::isnan(count) || std::isnan(p)) return std::numeric_limits<double>::quiet_NaN();
  if (count <= 0 || p <= 0) return 0;
  if (p >= 1) return count;
  if (p > 0.5) return count - draw_binomial(source, count, 1 - p);
  return count * p >= 10 ? binomial_by_rejection(source, count, p)
                         : binomial_by_waiting(source, count, p);
}

/// The method of Marsaglia and Tsang (2000). For a shape below 1, a number of the shape plus 1 is
/// scaled by uniform^(1 / shape).
double draw_gamma(SerialDraws& source, double shape) {
  if (shape == 0 || std::isnan(shape)) return shape;

  double scale = 1;
  if (shape < 1) {
    scale = std::pow(1 - source.uniform(), 1 / shape);
    shape += 1;
  }

  // A cubed normal number (1 + c x)^3 is accepted or rejected.
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    double x;
    double y;
    do {
      x = source.normal();
      y = 1 + c * x;
    } while (y <= 0);

    const double v = y * y * y;
    const double u = 1 - source.uniform();
    const double xx = x * x;
    if (u < 1 - 0.0331 * xx * xx || std::log(u) < 0.5 * xx + d * (1 - v + std::log(v)))
      return scale * d * v;
  }
}

/// The derivative of a gamma number x by its shape a where the distribution function P(a, x) stays
/// constant: -(dP/da) / (dP/dx).
double gamma_derivative(double a, double x, double digamma) {
  if (!(x > 0) || std::isinf(x)) return x == 0 ? 0 : std::numeric_limits<double>::quiet_NaN();

  // For large shapes the cube root of x / a is nearly normal (Wilson and Hilferty 1931), with an
  // error of a^-2. The derivative is taken at constant z, the normal number.
  if (a > 1000) {
    const double root = std::cbrt(x / a);
    const double z = 3 * std::sqrt(a) * (root - 1 + 1 / (9 * a));
    return root * root * root + 3 * root * root * (1 / (9 * a) - z / (6 * std::sqrt(a)));
  }

  // P is the sum of x^(a + n) exp(-x) / gamma(a + n + 1) over n. The logarithm of each term has the
  // derivative log(x) - digamma(a + n + 1). Here the terms are divided by x dP/dx, which is
  // x^a exp(-x) / gamma(a), so that the first is 1 / a.
  const double log_x = std::log(x);
  double term = 1 / a;
  double psi = digamma + 1 / a;
  double sum = 0;
  for (int n = 0; n < 100000; ++n) {
    const double change = term * (log_x - psi);
    sum += change;
    if (a + n > x && std::fabs(change) < 1e-17 * std::fabs(sum)) break;

    psi += 1 / (a + n + 1);
    term *= x / (a + n + 1);
  }
  return -x * sum;
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
  if (self.is_meta() || self.numel() == 0) return;
  const Tensor valid = at::logical_and(at::isfinite(self), at::ge(self, Scalar(0)));
  TORCH_CHECK(at::all(valid).item().to_bool(),
              "probability tensor contains either `inf`, `nan` or element < 0");
  const Tensor empty = at::le(at::sum(self, IntArrayRef{-1}), Scalar(0));
  TORCH_CHECK(!at::sum(empty).item().to_bool(),
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

/// Samples with replacement: finds the first running sum of the weights that reaches a uniform
/// number.
template <typename T>
void sample_by_sums(const Tensor& weights, int64_t num_samples, const Tensor& out,
                    Generator* chosen) {
  Generator& generator = chosen != nullptr ? *chosen : default_cpu_generator();
  const std::lock_guard<std::mutex> lock(generator.mutex);

  const int64_t categories = weights.size(-1);
  const int64_t rows = weights.numel() / categories;
  std::vector<T> sums(static_cast<size_t>(categories));

  for (int64_t row = 0; row < rows; ++row) {
    const T* weight = weights.const_data_ptr<T>() + row * categories;
    T sum = 0;
    for (int64_t j = 0; j < categories; ++j) sums[static_cast<size_t>(j)] = sum += weight[j];
    for (T& value : sums) value /= sum;

    // If rounding leaves all sums below the draw, the result is the last category of positive
    // weight.
    int64_t last = categories - 1;
    while (last > 0 && !(weight[last] > 0)) --last;

    for (int64_t s = 0; s < num_samples; ++s) {
      const double draw =
          static_cast<double>(generator.random64() & ((uint64_t{1} << 53) - 1)) * 0x1p-53;
      const auto found =
          std::lower_bound(sums.begin(), sums.end(), draw, [](T value, double wanted) {
            return static_cast<double>(value) < wanted;
          });

      // A draw of exactly 0 finds leading weights of 0, which are skipped.
      int64_t index = std::min<int64_t>(found - sums.begin(), last);
      while (!(weight[index] > 0)) ++index;
      out.data_ptr<int64_t>()[row * num_samples + s] = index;
    }
  }
}

}  // namespace

Tensor bernoulli_p(const Tensor& self, double p, Generator* generator) {
  return at::bernoulli_(at::empty_like(self), p, generator).as_new();
}

Tensor poisson(const Tensor& self, Generator* generator) {
  TORCH_CHECK(self.is_meta() || !self.is_floating_point() || self.numel() == 0 ||
                  at::all(at::ge(self, Scalar(0))).item().to_bool(),
              "invalid Poisson rate, expected rate to be non-negative");
  return draw_pairs(
      "poisson_cpu", self, {}, generator,
      [](SerialDraws& source, double rate, double) { return draw_poisson(source, rate); });
}

Tensor binomial(const Tensor& count, const Tensor& prob, Generator* generator) {
  TORCH_CHECK(count.scalar_type() == prob.scalar_type(),
              "binomial: expected count and prob of one dtype, got ", count.scalar_type(), " and ",
              prob.scalar_type());

  const DimVector sizes = broadcast_sizes(count.sizes(), prob.sizes());
  return draw_pairs("binomial_cpu", count.expand(sizes).contiguous(), prob.expand(sizes), generator,
                    draw_binomial);
}

Tensor _standard_gamma(const Tensor& self, Generator* generator) {
  const Tensor numbers = draw_pairs(
      "_standard_gamma", self, {}, generator,
      [](SerialDraws& source, double shape, double) { return draw_gamma(source, shape); });

  // A number that underflowed to 0 becomes the smallest positive one.
  const double smallest = self.scalar_type() == kDouble ? std::numeric_limits<double>::min()
                                                        : std::numeric_limits<float>::min();
  return self.is_meta() ? numbers : at::clamp(numbers, Scalar(smallest), {});
}

Tensor _sample_dirichlet(const Tensor& self, Generator* generator) {
  const Tensor numbers = at::_standard_gamma(self, generator);
  return numbers / at::sum(numbers, IntArrayRef(-1), true);
}

Tensor _standard_gamma_grad(const Tensor& self, const Tensor& output) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point() && output.is_floating_point(),
                              "\"_standard_gamma_grad\" not implemented for '", self.scalar_type(),
                              "'");

  const DimVector sizes = broadcast_sizes(self.sizes(), output.sizes());
  const Tensor result = at::empty_like(self.expand(sizes).contiguous());
  if (self.is_meta()) return result;
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_cpu() && output.is_cpu(),
                              "_standard_gamma_grad: not available on ", self.device());

  const Tensor shapes = self.expand(sizes).detach().to(kDouble).contiguous();
  const Tensor numbers = output.expand(sizes).detach().to(kDouble).contiguous();
  const Tensor psi = at::digamma(shapes);
  const Tensor values = empty_tensor(sizes, kDouble, kCPU);

  for (int64_t i = 0; i < values.numel(); ++i) {
    values.data_ptr<double>()[i] =
        gamma_derivative(shapes.const_data_ptr<double>()[i], numbers.const_data_ptr<double>()[i],
                         psi.const_data_ptr<double>()[i]);
  }

  return result.copy_(values).as_new();
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

  const Tensor result = empty_tensor(sizes, kLong, kCPU);
  const Tensor weights = at::to(self, kCPU, to_accumulate(self.scalar_type())).contiguous();
  if (weights.scalar_type() == kDouble) {
    sample_by_sums<double>(weights, num_samples, result, generator);
  } else {
    sample_by_sums<float>(weights, num_samples, result, generator);
  }

  return self.is_cpu() ? result : at::to(result, self.device());
}

}  // namespace at::native
