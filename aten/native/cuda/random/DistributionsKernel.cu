// The kernels of Bernoulli, exponential and other distributions, and of those whose parameters are
// tensors. See Note [Random numbers on a device].
#include <cmath>
#include <limits>

#include "aten/Dispatch.h"
#include "aten/native/cuda/PerIndex.cuh"
#include "aten/native/cuda/Random.cuh"
#include "aten/native/random/Samplers.h"
#include "aten/ops/bernoulli.h"
#include "aten/ops/copy.h"
#include "aten/ops/cumsum.h"
#include "aten/ops/digamma.h"

namespace at::native::cuda {

namespace {

template <class T>
struct Bernoulli {
  static constexpr int kCount = 4;
  uint64_t threshold;  // the probability times 2^32
  T one;
  T zero;

  SIMT_DEVICE void operator()(const PhiloxWords& words, T (&values)[kCount]) const {
    SIMT_UNROLL
    for (int i = 0; i < kCount; ++i) values[i] = words.words[i] < threshold ? one : zero;
  }
};

// Functions of numbers x from (0, 1), and of normal numbers.

template <class Number>
struct Exponential {
  Number scale;
  SIMT_DEVICE Number operator()(Number x) const { return scale * std::log(x); }
};

template <class Number>
struct Cauchy {
  Number median;
  Number sigma;
  SIMT_DEVICE Number operator()(Number x) const {
    return median + sigma * std::tan(Number(3.14159265358979323846) * (x - Number(0.5)));
  }
};

template <class Number>
struct Geometric {
  Number scale;
  SIMT_DEVICE Number operator()(Number x) const {
    const Number trials = std::ceil(std::log(x) * scale);
    return trials < Number(1) ? Number(1) : trials;
  }
};

template <class T, class Number, class Function>
struct OfUniform {
  static constexpr int kCount = kNumbersPerCounter<Number>;
  Function function;

  SIMT_DEVICE void operator()(const PhiloxWords& words, T (&values)[kCount]) const {
    SIMT_UNROLL
    for (int i = 0; i < kCount; ++i)
      values[i] = as_element<T>(function(open_uniform_number(word_for<Number>(words, i))));
  }
};

struct ToPowerOfE {
  template <class Number>
  SIMT_DEVICE static Number of(Number value) {
    return std::exp(value);
  }
};

// Parameters that are tensors

struct Poisson {
  SIMT_DEVICE double operator()(PhiloxDraws& draws, double rate, double) const {
    return draw_poisson(draws, rate);
  }
};

struct Binomial {
  SIMT_DEVICE double operator()(PhiloxDraws& draws, double count, double p) const {
    return draw_binomial(draws, count, p);
  }
};

struct Gamma {
  double smallest;  // stands for what underflows to 0
  SIMT_DEVICE double operator()(PhiloxDraws& draws, double shape, double) const {
    const double number = draw_gamma(draws, shape);
    return number < smallest ? smallest : number;
  }
};

template <class F>
SIMT_KERNEL sample_kernel(const double* x, const double* y, double* out, int64_t count,
                          c10::cuda::PhiloxArguments philox_arguments, F function,
                          bool refuses_negative, simt::Reporter reporter) {
  const int64_t i = int64_t{simt::block_x()} * kRandomThreads + simt::thread_x();
  if (i >= count) return;

  double parameter = x[i];
  if (refuses_negative && !(parameter >= 0)) {
    int64_t bits;
    std::memcpy(&bits, &parameter, sizeof(bits));
    simt::report(reporter, c10::cuda::ReportKind::Rate, 0, bits, 0);
    parameter = 0;
  }

  // Each element has a counter of its own, whose high half counts its draws.
  PhiloxDraws draws(philox_arguments.key(),
                    philox_arguments.first_counter() / 4 + static_cast<uint64_t>(i));
  out[i] = function(draws, parameter, y[i]);
}

SIMT_KERNEL gamma_grad_kernel(const double* shapes, const double* outputs, const double* digammas,
                              double* out, int64_t count) {
  const int64_t i = int64_t{simt::block_x()} * kRandomThreads + simt::thread_x();
  if (i < count) out[i] = gamma_derivative(shapes[i], outputs[i], digammas[i]);
}

/// Finds the first running sum of a row's weights that reaches a uniform number. Each sample has a
/// counter of its own.
template <class T>
struct SampleBySums {
  const T* weights;
  const T* sums;
  int64_t* out;
  int64_t categories;
  int64_t samples;  // of each row
  c10::cuda::PhiloxArguments philox_arguments;

  SIMT_DEVICE void operator()(int64_t i, simt::Reporter reporter) const {
    const int64_t row = i / samples;
    const T* const weight = weights + row * categories;
    const T* const sum = sums + row * categories;
    PhiloxDraws draws(philox_arguments.key(),
                      philox_arguments.first_counter() / 4 + static_cast<uint64_t>(i));
    const double wanted = draws.uniform();

    int64_t index = 0;
    int64_t end = categories;
    while (index < end) {
      const int64_t middle = index + (end - index) / 2;
      if (static_cast<double>(sum[middle] / sum[categories - 1]) < wanted) {
        index = middle + 1;
      } else {
        end = middle;
      }
    }

    // A draw of exactly 0 finds leading weights of 0. If rounding leaves all sums below the draw,
    // the result is the last category of positive weight.
    while (index < categories && !(weight[index] > 0)) ++index;
    if (index == categories) --index;
    while (index > 0 && !(weight[index] > 0)) --index;
    if (!(weight[index] > 0)) simt::report(reporter, c10::cuda::ReportKind::Probability, 0, 0, 0);
    out[i] = index;
  }
};

template <class T>
void sample_by_sums(const Tensor& weights, int64_t num_samples, const Tensor& out,
                    Generator* given) {
  const int64_t count = out.numel();
  const Tensor sums = at::cumsum(weights, -1);
  const auto drawn = c10::cuda::take_philox(device_generator(given, out.device()),
                                            4 * static_cast<uint64_t>(count));
  per_index("multinomial", count,
            SampleBySums<T>{weights.const_data_ptr<T>(), sums.const_data_ptr<T>(),
                            out.data_ptr<int64_t>(), weights.size(-1), num_samples, drawn});
}

dim3 blocks_for(int64_t count) {
  return dim3(static_cast<unsigned>((count + kRandomThreads - 1) / kRandomThreads));
}

/// `tensor` in double, expanded to `sizes` in the order of its dimensions.
Tensor as_doubles(const Tensor& tensor, IntArrayRef sizes) {
  return tensor.detach().expand(sizes).to(kDouble).contiguous();
}

/// Sets each element of `out` to a sample of the distribution whose parameters are the elements of
/// x and y.
template <class F>
void sample(const char* name, const Tensor& x, const Tensor& y, const Tensor& out, Generator* given,
            const F& function, bool refuses_negative = false) {
  c10::PhiloxGenerator& generator = device_generator(given, out.device());
  const int64_t count = out.numel();
  if (count == 0) return;

  const Tensor first = as_doubles(x, out.sizes());
  const Tensor second = y.defined() ? as_doubles(y, out.sizes()) : first;
  const Tensor numbers = empty_tensor(out.sizes(), kDouble, out.device());
  const auto drawn = c10::cuda::take_philox(generator, 4 * static_cast<uint64_t>(count));
  c10::cuda::launch(name, &sample_kernel<F>, blocks_for(count), dim3(kRandomThreads), 0,
                    c10::cuda::current_stream(), first.const_data_ptr<double>(),
                    second.const_data_ptr<double>(), numbers.data_ptr<double>(), count, drawn,
                    function, refuses_negative, simt::Reporter{});
  at::copy_(out, numbers);
}

}  // namespace

void bernoulli_kernel(const Tensor& self, double p, Generator* generator) {
  TORCH_CHECK(0 <= p && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  const auto threshold = static_cast<uint64_t>(std::ceil(p * 0x1p32));
  AT_DISPATCH_REAL_AND_BOOL(self.scalar_type(), "bernoulli_", [&] {
    fill_random<scalar_t>(
        self, "bernoulli_", generator,
        Bernoulli<scalar_t>{threshold, convert<scalar_t>(1.0f), convert<scalar_t>(0.0f)});
  });
}

void exponential_kernel(const Tensor& self, double lambd, Generator* generator) {
  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "exponential_", [&] {
    using Number = opmath_type<scalar_t>;
    using Function = Exponential<Number>;
    fill_random<scalar_t>(
        self, "exponential_", generator,
        OfUniform<scalar_t, Number, Function>{{static_cast<Number>(-1.0 / lambd)}});
  });
}

void cauchy_(const Tensor& self, double median, double sigma, Generator* generator) {
  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "cauchy_", [&] {
    using Number = opmath_type<scalar_t>;
    using Function = Cauchy<Number>;
    fill_random<scalar_t>(self, "cauchy_", generator,
                          OfUniform<scalar_t, Number, Function>{
                              {static_cast<Number>(median), static_cast<Number>(sigma)}});
  });
}

void log_normal_(const Tensor& self, double mean, double std, Generator* generator) {
  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "log_normal_", [&] {
    using Number = opmath_type<scalar_t>;
    fill_random<scalar_t>(
        self, "log_normal_", generator,
        NormalNumbers<scalar_t, ToPowerOfE>{static_cast<Number>(mean), static_cast<Number>(std)});
  });
}

void geometric_(const Tensor& self, double p, Generator* generator) {
  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_complex() && self.scalar_type() != kBool,
                              "\"geometric_\" not implemented for '", self.scalar_type(), "'");

  const double scale = 1 / std::log1p(-p);
  AT_DISPATCH_REAL(self.scalar_type(), "geometric_", [&] {
    using Function = Geometric<double>;
    fill_random<scalar_t>(self, "geometric_", generator,
                          OfUniform<scalar_t, double, Function>{{scale}});
  });
}

void bernoulli_by_tensor(const Tensor& self, const Tensor& p, Generator* generator) {
  at::copy_(self, at::bernoulli(p.expand(self.sizes()), generator));
}

void poisson_kernel(const Tensor& self, Generator* generator, const Tensor& out0) {
  sample("poisson", self, {}, out0, generator, Poisson{}, /*refuses_negative=*/true);
}

void binomial_kernel(const Tensor& count, const Tensor& prob, Generator* generator,
                     const Tensor& out0) {
  sample("binomial", count, prob, out0, generator, Binomial{});
}

void standard_gamma_kernel(const Tensor& self, Generator* generator, const Tensor& out0) {
  const double smallest = self.scalar_type() == kDouble ? std::numeric_limits<double>::min()
                                                        : std::numeric_limits<float>::min();
  sample("_standard_gamma", self, {}, out0, generator, Gamma{smallest});
}

void sample_with_replacement_kernel(const Tensor& weights, int64_t num_samples,
                                    Generator* generator, const Tensor& out0) {
  if (out0.numel() == 0) return;
  const Tensor rows = weights.contiguous();
  if (weights.scalar_type() == kDouble)
    return sample_by_sums<double>(rows, num_samples, out0, generator);
  sample_by_sums<float>(rows, num_samples, out0, generator);
}

void standard_gamma_grad_kernel(const Tensor& self, const Tensor& output, const Tensor& out0) {
  const int64_t count = out0.numel();
  if (count == 0) return;

  const Tensor shapes = as_doubles(self, out0.sizes());
  const Tensor outputs = as_doubles(output, out0.sizes());
  const Tensor digammas = at::digamma(shapes);
  const Tensor numbers = empty_tensor(out0.sizes(), kDouble, out0.device());
  c10::cuda::launch("_standard_gamma_grad", &gamma_grad_kernel, blocks_for(count),
                    dim3(kRandomThreads), 0, c10::cuda::current_stream(),
                    shapes.const_data_ptr<double>(), outputs.const_data_ptr<double>(),
                    digammas.const_data_ptr<double>(), numbers.data_ptr<double>(), count);
  at::copy_(out0, numbers);
}

}  // namespace at::native::cuda
