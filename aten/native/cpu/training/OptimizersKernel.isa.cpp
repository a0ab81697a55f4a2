// Optimizer steps in one pass over each parameter, which reads and writes the parameter, its
// gradient and its state once. Reduced precision is computed in float and rounded when stored.
// Threads share the elements of all parameters, and a thread's range may cross from one parameter
// to the next.
#include <algorithm>
#include <optional>
#include <type_traits>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/native/declarations/cpu/training/OptimizersKernel.isa.h"
#include "aten/native/functors/Optimizers.h"
#include "aten/native/training/Optimizers.h"
#include "aten/ops/item.h"
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

/// A step of SGD with momentum.
template <bool decays, bool nesterov, typename T>
void sgd_with_momentum(T* __restrict p, const T* __restrict g, T* __restrict v, int64_t count,
                       const Descent& options) {
  using acc_t = opmath_type<T>;
  const MomentumStep<acc_t> step(options);

  for (int64_t i = 0; i < count; ++i) {
    acc_t parameter = static_cast<acc_t>(p[i]);
    acc_t velocity = static_cast<acc_t>(v[i]);
    step.template apply<decays, nesterov>(parameter, static_cast<acc_t>(g[i]), velocity);

    v[i] = static_cast<T>(velocity);
    p[i] = static_cast<T>(parameter);
  }
}

/// SGD without momentum (v is null), or its first step with momentum.
template <bool decays, bool remembers, typename T>
void sgd_first(T* __restrict p, const T* __restrict g, T* __restrict v, int64_t count,
               const Descent& options, bool nesterov) {
  using acc_t = opmath_type<T>;
  const FirstStep<acc_t> step(options, nesterov);

  for (int64_t i = 0; i < count; ++i) {
    acc_t parameter = static_cast<acc_t>(p[i]);
    acc_t velocity;
    step.template apply<decays>(parameter, static_cast<acc_t>(g[i]), velocity);

    if constexpr (remembers) v[i] = static_cast<T>(velocity);
    p[i] = static_cast<T>(parameter);
  }
}

template <bool amsgrad, bool decays, typename T>
void adam_range(T* __restrict p, const T* __restrict g, T* __restrict m, T* __restrict v,
                T* __restrict largest, int64_t count, const AdamStep<opmath_type<T>>& factors) {
  using acc_t = opmath_type<T>;
  const AdamStep<acc_t> step = factors;  // a copy, which stores do not change

  for (int64_t i = 0; i < count; ++i) {
    acc_t parameter = static_cast<acc_t>(p[i]);
    acc_t mean = static_cast<acc_t>(m[i]);
    acc_t square = static_cast<acc_t>(v[i]);
    acc_t top = 0;
    if constexpr (amsgrad) top = static_cast<acc_t>(largest[i]);
    step.template apply<amsgrad, decays>(parameter, static_cast<acc_t>(g[i]), mean, square, top);

    m[i] = static_cast<T>(mean);
    v[i] = static_cast<T>(square);
    if constexpr (amsgrad) largest[i] = static_cast<T>(top);
    p[i] = static_cast<T>(parameter);
  }
}

template <bool decays, typename T>
void adagrad_range(T* __restrict p, const T* __restrict g, T* __restrict sums, int64_t count,
                   const AdagradStep<opmath_type<T>>& step) {
  using acc_t = opmath_type<T>;
  for (int64_t i = 0; i < count; ++i) {
    acc_t parameter = static_cast<acc_t>(p[i]);
    acc_t sum = static_cast<acc_t>(sums[i]);
    step.template apply<decays>(parameter, static_cast<acc_t>(g[i]), sum);

    sums[i] = static_cast<T>(sum);
    p[i] = static_cast<T>(parameter);
  }
}

double number_in(const Tensor& tensor) { return tensor.item().to_double(); }

double rate_of(double lr, const Tensor& tensor_lr) {
  return tensor_lr.defined() ? number_in(tensor_lr) : lr;
}

/// Whether gradients overflowed, in which case GradScaler skips the step.
bool is_skipped(const Tensor& found_inf) {
  return found_inf.defined() && number_in(found_inf) != 0;
}

std::optional<double> scale_of(const Tensor& grad_scale) {
  if (!grad_scale.defined()) return std::nullopt;
  return number_in(grad_scale);
}

/// The step counts as numbers.
std::vector<double> counted(TensorList state_steps) {
  std::vector<double> steps;
  steps.reserve(state_steps.size());
  for (const Tensor& step : state_steps) {
    const bool direct = step.scalar_type() == kFloat;
    steps.push_back(direct ? *step.const_data_ptr<float>() : number_in(step));
  }
  return steps;
}

}  // namespace

void sgd_loop_kernel(TensorList self, TensorList grads, TensorList momentum_buffers, double lr,
                     const Tensor& tensor_lr, double weight_decay, double momentum,
                     double dampening, bool nesterov, bool maximize, bool is_first_step,
                     const Tensor& grad_scale, const Tensor& found_inf) {
  const bool remembers = !momentum_buffers.empty();
  check_optimizer_lists("_fused_sgd_", self, {self, grads, remembers ? momentum_buffers : self});
  check_single_elements("_fused_sgd_", {{&tensor_lr, 1}, {&grad_scale, 1}, {&found_inf, 1}});
  if (is_skipped(found_inf)) return;

  const Descent options{rate_of(lr, tensor_lr), weight_decay, momentum, dampening,
                        maximize ? -1.0 : 1.0};
  const std::optional<double> scale = scale_of(grad_scale);

  for_each_range(self, [&](size_t i, int64_t begin, int64_t end) {
    AT_DISPATCH_FLOATING_AND_REDUCED(self[i].scalar_type(), "_fused_sgd_", [&] {
      scalar_t* p = self[i].data_ptr<scalar_t>() + begin;
      scalar_t* g = grads[i].data_ptr<scalar_t>() + begin;
      scalar_t* v = remembers ? momentum_buffers[i].data_ptr<scalar_t>() + begin : nullptr;
      const int64_t count = end - begin;
      if (scale) unscale(g, count, *scale);

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
                      TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList state_steps,
                      double lr, const Tensor& tensor_lr, double beta1, double beta2,
                      double weight_decay, double eps, bool amsgrad, bool maximize, bool decoupled,
                      const Tensor& grad_scale, const Tensor& found_inf) {
  check_optimizer_lists("_fused_adam_", self,
                        {self, grads, exp_avgs, exp_avg_sqs, amsgrad ? max_exp_avg_sqs : self});
  check_single_elements("_fused_adam_",
                        {state_steps, {&tensor_lr, 1}, {&grad_scale, 1}, {&found_inf, 1}});
  TORCH_CHECK(state_steps.size() == self.size(), "_fused_adam_", ": state_steps has ",
              state_steps.size(), " tensors for ", self.size(), " parameters");
  if (is_skipped(found_inf)) return;

  const double rate = rate_of(lr, tensor_lr);
  const std::optional<double> scale = scale_of(grad_scale);
  const std::vector<double> steps = counted(state_steps);

  // Parameters with the same step count share the powers of the betas.
  const AdamOptions options{beta1, beta2, weight_decay, eps, maximize ? -1.0 : 1.0, decoupled};
  std::vector<AdamStep<double>> factors;
  factors.reserve(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    const bool repeated = i > 0 && steps[i] == steps[i - 1];
    factors.push_back(repeated ? factors.back() : AdamStep<double>(options, rate, steps[i]));
  }

  for_each_range(self, [&](size_t i, int64_t begin, int64_t end) {
    AT_DISPATCH_FLOATING_AND_REDUCED(self[i].scalar_type(), "_fused_adam_", [&] {
      scalar_t* g = grads[i].data_ptr<scalar_t>() + begin;
      scalar_t* largest = amsgrad ? max_exp_avg_sqs[i].data_ptr<scalar_t>() + begin : nullptr;
      if (scale) unscale(g, end - begin, *scale);

      const AdamStep<opmath_type<scalar_t>> step(factors[i]);
      with_constant(amsgrad, [&](auto keeps_largest) {
        with_constant(weight_decay != 0 && !decoupled, [&](auto decays) {
          adam_range<keeps_largest.value, decays.value>(
              self[i].data_ptr<scalar_t>() + begin, g, exp_avgs[i].data_ptr<scalar_t>() + begin,
              exp_avg_sqs[i].data_ptr<scalar_t>() + begin, largest, end - begin, step);
        });
      });
    });
  });
}

void adagrad_loop_kernel(TensorList self, TensorList grads, TensorList state_sums,
                         TensorList state_steps, double lr, const Tensor& tensor_lr,
                         double lr_decay, double weight_decay, double eps, bool maximize,
                         const Tensor& grad_scale, const Tensor& found_inf) {
  check_optimizer_lists("_fused_adagrad_", self, {self, grads, state_sums});
  check_single_elements("_fused_adagrad_",
                        {state_steps, {&tensor_lr, 1}, {&grad_scale, 1}, {&found_inf, 1}});
  TORCH_CHECK(state_steps.size() == self.size(), "_fused_adagrad_", ": state_steps has ",
              state_steps.size(), " tensors for ", self.size(), " parameters");
  if (is_skipped(found_inf)) return;

  const double rate = rate_of(lr, tensor_lr);
  const std::optional<double> scale = scale_of(grad_scale);
  const std::vector<double> steps = counted(state_steps);

  for_each_range(self, [&](size_t i, int64_t begin, int64_t end) {
    AT_DISPATCH_FLOATING_AND_REDUCED(self[i].scalar_type(), "_fused_adagrad_", [&] {
      using acc_t = opmath_type<scalar_t>;
      scalar_t* g = grads[i].data_ptr<scalar_t>() + begin;
      if (scale) unscale(g, end - begin, *scale);

      const AdagradStep<acc_t> step(rate, lr_decay, steps[i], weight_decay, eps,
                                    maximize ? -1.0 : 1.0);
      with_constant(weight_decay != 0, [&](auto decays) {
        adagrad_range<decays.value>(self[i].data_ptr<scalar_t>() + begin, g,
                                    state_sums[i].data_ptr<scalar_t>() + begin, end - begin, step);
      });
    });
  });
}

void count_steps_loop_kernel(TensorList self, const Tensor& found_inf) {
  check_single_elements("_count_steps_", {self, {&found_inf, 1}});
  if (is_skipped(found_inf)) return;
  for (const Tensor& step : self) *step.data_ptr<float>() += 1.0F;
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
