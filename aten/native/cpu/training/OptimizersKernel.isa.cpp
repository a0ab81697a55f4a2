// Optimizer steps in one pass over each parameter, which reads and writes the parameter, its
// gradient and its state once. Reduced precision is computed in float and rounded when stored.
// Threads share the elements of all parameters, and a thread's range may cross from one parameter
// to the next.
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/native/declarations/cpu/training/OptimizersKernel.isa.h"
#include "aten/parallel/Parallel.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// Calls f(i, begin, end) for ranges that together cover all elements of every tensors[i].
template <class Function>
void for_each_range(TensorList tensors, const Function& f) {
  // Ranges are blocks of whole vectors: elements after the last whole vector may round differently,
  // and they have to be the same for any number of threads.
  constexpr int64_t kBlock = 64;
  std::vector<int64_t> ends;
  ends.reserve(tensors.size());
  int64_t total = 0;
  for (const Tensor& tensor : tensors)
    ends.push_back(total += (tensor.numel() + kBlock - 1) / kBlock);

  parallel_for(0, total, kDefaultGrainSize / kBlock, [&](int64_t begin, int64_t end) {
    size_t i =
        static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), begin) - ends.begin());
    for (; begin < end; ++i) {
      const int64_t start = i == 0 ? 0 : ends[i - 1];
      const int64_t stop = std::min(end, ends[i]);

      if (begin < stop)
        f(i, (begin - start) * kBlock, std::min((stop - start) * kBlock, tensors[i].numel()));

      begin = stop;
    }
  });
}

/// Calls f with `value` as a compile-time constant, so that loops do not branch on it.
template <class Function>
void with_constant(bool value, const Function& f) {
  if (value) {
    f(std::true_type());
  } else {
    f(std::false_type());
  }
}

/// Divides the gradient by GradScaler's scale, in place.
template <typename T>
void unscale(T* gradient, int64_t count, double scale) {
  using acc_t = opmath_type<T>;
  const acc_t divisor = static_cast<acc_t>(scale);
  for (int64_t i = 0; i < count; ++i)
    gradient[i] = static_cast<T>(static_cast<acc_t>(gradient[i]) / divisor);
}

/// The gradient that the formulas use: with `sign` -1 when maximizing, and with the derivative of
/// weight_decay / 2 * p ** 2.
template <bool decays, typename acc_t>
acc_t direction(acc_t gradient, acc_t parameter, acc_t sign, acc_t weight_decay) {
  gradient *= sign;
  if constexpr (decays) gradient += weight_decay * parameter;
  return gradient;
}

/// The options of a step of SGD.
struct Descent {
  double lr, weight_decay, momentum, dampening, sign;
};

/// v = momentum v + (1 - dampening) g; p = p - lr v, or p - lr (g + momentum v) for Nesterov.
template <bool decays, bool nesterov, typename T>
void sgd_with_momentum(T* __restrict p, const T* __restrict g, T* __restrict v, int64_t count,
                       const Descent& options) {
  using acc_t = opmath_type<T>;
  const acc_t lr(options.lr);
  const acc_t decay(options.weight_decay);
  const acc_t momentum(options.momentum);
  const acc_t share(1 - options.dampening);
  const acc_t sign(options.sign);

  for (int64_t i = 0; i < count; ++i) {
    const acc_t parameter = static_cast<acc_t>(p[i]);
    const acc_t gradient = direction<decays>(static_cast<acc_t>(g[i]), parameter, sign, decay);
    const acc_t velocity = momentum * static_cast<acc_t>(v[i]) + share * gradient;

    v[i] = static_cast<T>(velocity);
    p[i] = static_cast<T>(parameter - lr * (nesterov ? gradient + momentum * velocity : velocity));
  }
}

/// SGD without momentum (v is null), or its first step with momentum, where v is the gradient.
template <bool decays, bool remembers, typename T>
void sgd_first(T* __restrict p, const T* __restrict g, T* __restrict v, int64_t count,
               const Descent& options, bool nesterov) {
  using acc_t = opmath_type<T>;
  const acc_t decay(options.weight_decay);
  const acc_t sign(options.sign);
  const acc_t lr(nesterov ? options.lr * (1 + options.momentum) : options.lr);

  for (int64_t i = 0; i < count; ++i) {
    const acc_t parameter = static_cast<acc_t>(p[i]);
    const acc_t gradient = direction<decays>(static_cast<acc_t>(g[i]), parameter, sign, decay);

    if constexpr (remembers) v[i] = static_cast<T>(gradient);
    p[i] = static_cast<T>(parameter - lr * gradient);
  }
}

/// The factors of a step of Adam, computed once per parameter.
struct Moments {
  double beta1, beta2, eps, shrink, weight_decay, sign, step_size, root_correction;
};

/// Adam (Kingma and Ba, 2015): m and v are running means of gradient and squared gradient, whose
/// bias towards 0 is corrected by `step_size` and `root_correction`. amsgrad uses the
/// largest v so far.
template <bool amsgrad, bool decays, typename T>
void adam_range(T* __restrict p, const T* __restrict g, T* __restrict m, T* __restrict v,
                T* __restrict largest, int64_t count, const Moments& options) {
  using acc_t = opmath_type<T>;
  const acc_t beta1(options.beta1);
  const acc_t beta2(options.beta2);
  const acc_t eps(options.eps);
  const acc_t shrink(options.shrink);
  const acc_t decay(options.weight_decay);
  const acc_t rest1(1 - options.beta1);
  const acc_t rest2(1 - options.beta2);
  const acc_t sign(options.sign);
  const acc_t step_size(options.step_size);
  const acc_t correction(options.root_correction);

  for (int64_t i = 0; i < count; ++i) {
    acc_t parameter = static_cast<acc_t>(p[i]);
    const acc_t gradient = direction<decays>(static_cast<acc_t>(g[i]), parameter, sign, decay);

    parameter *= shrink;
    const acc_t mean = beta1 * static_cast<acc_t>(m[i]) + rest1 * gradient;
    acc_t square = beta2 * static_cast<acc_t>(v[i]) + rest2 * gradient * gradient;

    m[i] = static_cast<T>(mean);
    v[i] = static_cast<T>(square);

    if constexpr (amsgrad) {
      const acc_t before = static_cast<acc_t>(largest[i]);
      square = before > square ? before : square;
      largest[i] = static_cast<T>(square);
    }

    p[i] = static_cast<T>(parameter - step_size * mean / (std::sqrt(square) / correction + eps));
  }
}

/// Adagrad: p = p - lr g / (sqrt(sum of squared gradients) + eps)
template <bool decays, typename T>
void adagrad_range(T* __restrict p, const T* __restrict g, T* __restrict sums, int64_t count,
                   double lr, double weight_decay, double eps, double sign) {
  using acc_t = opmath_type<T>;
  const acc_t rate(lr);
  const acc_t decay(weight_decay);
  const acc_t small(eps);
  const acc_t signs(sign);

  for (int64_t i = 0; i < count; ++i) {
    const acc_t parameter = static_cast<acc_t>(p[i]);
    const acc_t gradient = direction<decays>(static_cast<acc_t>(g[i]), parameter, signs, decay);
    const acc_t sum = static_cast<acc_t>(sums[i]) + gradient * gradient;

    sums[i] = static_cast<T>(sum);
    p[i] = static_cast<T>(parameter - rate * gradient / (std::sqrt(sum) + small));
  }
}

/// The loops access all tensors of a parameter at one offset, so their memory must be laid out
/// alike. The callers' copies ensure that.
void check_columns(const char* op, TensorList self, std::initializer_list<TensorList> columns) {
  for (const TensorList column : columns) {
    TORCH_CHECK(column.size() == self.size(), op, ": expected lists of ", self.size(),
                " tensors, got one of ", column.size());

    for (size_t i = 0; i < self.size(); ++i) {
      TORCH_CHECK(self[i].defined() && column[i].defined() && column[i].is_cpu() &&
                      self[i].is_cpu() && column[i].scalar_type() == self[i].scalar_type() &&
                      column[i].sizes() == self[i].sizes() &&
                      (self[i].is_contiguous() ? column[i].is_contiguous()
                                               : column[i].strides() == self[i].strides() &&
                                                     self[i].is_non_overlapping_and_dense()),
                  op, ": tensor ", i, " of a list does not lie in memory as its parameter does");
    }
  }
}

void check_steps(const char* op, TensorList self, ArrayRef<double> steps) {
  TORCH_CHECK(steps.size() == self.size(), op, ": expected ", self.size(), " steps, got ",
              steps.size());
}

}  // namespace

void sgd_loop_kernel(TensorList self, TensorList grads, TensorList momentum_buffers, double lr,
                     double weight_decay, double momentum, double dampening, bool nesterov,
                     bool maximize, bool is_first_step, std::optional<double> grad_scale) {
  const Descent options{lr, weight_decay, momentum, dampening, maximize ? -1.0 : 1.0};
  const bool remembers = !momentum_buffers.empty();
  check_columns("_fused_sgd_", self, {self, grads, remembers ? momentum_buffers : self});

  for_each_range(self, [&](size_t i, int64_t begin, int64_t end) {
    AT_DISPATCH_FLOATING_AND_REDUCED(self[i].scalar_type(), "_fused_sgd_", [&] {
      scalar_t* p = self[i].data_ptr<scalar_t>() + begin;
      scalar_t* g = grads[i].data_ptr<scalar_t>() + begin;
      scalar_t* v = remembers ? momentum_buffers[i].data_ptr<scalar_t>() + begin : nullptr;
      const int64_t count = end - begin;
      if (grad_scale) unscale(g, count, *grad_scale);

      with_constant(weight_decay != 0, [&](auto decays) {
        if (!remembers) return sgd_first<decays.value, false>(p, g, v, count, options, false);
        if (is_first_step) return sgd_first<decays.value, true>(p, g, v, count, options, nesterov);
        with_constant(nesterov, [&](auto looks_ahead) {
          sgd_with_momentum<decays.value, looks_ahead.value>(p, g, v, count, options);
        });
      });
    });
  });
}

void adam_loop_kernel(TensorList self, TensorList grads, TensorList exp_avgs,
                      TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, ArrayRef<double> steps,
                      double lr, double beta1, double beta2, double weight_decay, double eps,
                      bool amsgrad, bool maximize, bool decoupled,
                      std::optional<double> grad_scale) {
  check_columns("_fused_adam_", self,
                {self, grads, exp_avgs, exp_avg_sqs, amsgrad ? max_exp_avg_sqs : self});
  check_steps("_fused_adam_", self, steps);

  // Parameters with the same step count share the powers of the betas.
  std::vector<Moments> moments;
  moments.reserve(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    if (i > 0 && steps[i] == steps[i - 1]) {
      moments.push_back(moments.back());
      continue;
    }

    moments.push_back({beta1, beta2, eps, decoupled ? 1 - lr * weight_decay : 1.0, weight_decay,
                       maximize ? -1.0 : 1.0, lr / (1 - std::pow(beta1, steps[i])),
                       std::sqrt(1 - std::pow(beta2, steps[i]))});
  }

  for_each_range(self, [&](size_t i, int64_t begin, int64_t end) {
    AT_DISPATCH_FLOATING_AND_REDUCED(self[i].scalar_type(), "_fused_adam_", [&] {
      scalar_t* g = grads[i].data_ptr<scalar_t>() + begin;
      scalar_t* largest = amsgrad ? max_exp_avg_sqs[i].data_ptr<scalar_t>() + begin : nullptr;
      if (grad_scale) unscale(g, end - begin, *grad_scale);

      with_constant(amsgrad, [&](auto keeps_largest) {
        with_constant(weight_decay != 0 && !decoupled, [&](auto decays) {
          adam_range<keeps_largest.value, decays.value>(
              self[i].data_ptr<scalar_t>() + begin, g, exp_avgs[i].data_ptr<scalar_t>() + begin,
              exp_avg_sqs[i].data_ptr<scalar_t>() + begin, largest, end - begin, moments[i]);
        });
      });
    });
  });
}

void adagrad_loop_kernel(TensorList self, TensorList grads, TensorList state_sums,
                         ArrayRef<double> steps, double lr, double lr_decay, double weight_decay,
                         double eps, bool maximize, std::optional<double> grad_scale) {
  check_columns("_fused_adagrad_", self, {self, grads, state_sums});
  check_steps("_fused_adagrad_", self, steps);

  for_each_range(self, [&](size_t i, int64_t begin, int64_t end) {
    AT_DISPATCH_FLOATING_AND_REDUCED(self[i].scalar_type(), "_fused_adagrad_", [&] {
      scalar_t* g = grads[i].data_ptr<scalar_t>() + begin;
      const double rate = lr / (1 + (steps[i] - 1) * lr_decay);
      if (grad_scale) unscale(g, end - begin, *grad_scale);

      with_constant(weight_decay != 0, [&](auto decays) {
        adagrad_range<decays.value>(self[i].data_ptr<scalar_t>() + begin, g,
                                    state_sums[i].data_ptr<scalar_t>() + begin, end - begin, rate,
                                    weight_decay, eps, maximize ? -1.0 : 1.0);
      });
    });
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
