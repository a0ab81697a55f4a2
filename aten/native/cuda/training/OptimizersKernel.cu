// Optimizer steps in one pass over each parameter, see Note [Tensor tables]. Learning rates, step
// counts, scales and found_inf are read on the device: a step waits for nothing.
#include <cstring>
#include <type_traits>

#include "aten/Dispatch.h"
#include "aten/native/cuda/TensorTable.cuh"
#include "aten/native/functors/Optimizers.h"
#include "aten/native/training/Optimizers.h"
#include "aten/ops/to.h"

namespace at::native::cuda {

namespace {

/// A number that is known before the launch, or one in device memory.
struct Number {
  double value = 0;
  const float* narrow = nullptr;
  const double* wide = nullptr;

  SIMT_DEVICE double read() const {
    if (narrow != nullptr) return *narrow;
    return wide != nullptr ? *wide : value;
  }
};

/// Tensors of one element as numbers; they keep converted copies alive until the launch.
class Numbers {
 public:
  /// `otherwise` if the tensor is undefined.
  Number operator()(const Tensor& tensor, double otherwise) {
    Number number{otherwise};
    if (!tensor.defined()) return number;

    const bool narrow = tensor.scalar_type() == kFloat;
    kept_.push_back(narrow ? tensor : tensor.to(kDouble));
    if (narrow) {
      number.narrow = kept_.back().const_data_ptr<float>();
    } else {
      number.wide = kept_.back().const_data_ptr<double>();
    }
    return number;
  }

 private:
  std::vector<Tensor> kept_;
};

/// What all optimizers have in common.
struct Common {
  Number lr, grad_scale, found_inf;
  bool has_scale;
};

/// The type in which a block computes its factors once; see step_kernel.
template <class Step, class Acc>
using Factors = decltype(std::declval<Step>().template factors<Acc>(0.0, 0.0));

/// Column 0 holds parameters and column 1 gradients; the others are the optimizer's.
template <int kWidth, class T, class Step>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kTableThreads)
    step_kernel(TensorTable<Step::kColumns> table, Step step, Common common) {
  using Acc = opmath_type<T>;
  constexpr int kColumns = Step::kColumns;
  if (common.found_inf.read() != 0) return;

  // Powers of the betas take as long as the elements of several threads.
  const TablePlace place(table, int64_t{kTableThreads} * kTablePacks * kWidth);
  SIMT_SHARED(shared, double[(sizeof(Factors<Step, Acc>) + 7) / 8]);
  if (simt::thread_x() == 0) {
    const float* const count = table.steps[place.tensor];
    const auto computed = step.template factors<Acc>(common.lr.read(), count ? *count : 0);
    std::memcpy(shared, &computed, sizeof(computed));
  }
  simt::sync_block();
  const auto factors = *reinterpret_cast<const Factors<Step, Acc>*>(shared);
  const Acc scale = static_cast<Acc>(common.grad_scale.read());

  each_of_block<kWidth>(place, [&](auto width, int64_t first) {
    using Values = RowPack<T, width>;
    const auto address = [&](int column) {
      return reinterpret_cast<Values*>(reinterpret_cast<T*>(table.data[column][place.tensor]) +
                                       first);
    };

    Values values[kColumns];
    SIMT_UNROLL
    for (int c = 0; c < kColumns; ++c) {
      if (c < 2 || step.reads_state()) values[c] = *address(c);
    }

    SIMT_UNROLL
    for (int j = 0; j < width; ++j) {
      // The gradient is rounded after it was unscaled, as it is stored.
      if (common.has_scale) values[1][j] = static_cast<T>(static_cast<Acc>(values[1][j]) / scale);

      Acc element[kColumns];
      SIMT_UNROLL
      for (int c = 0; c < kColumns; ++c)
        element[c] = c < 2 || step.reads_state() ? static_cast<Acc>(values[c][j]) : Acc(0);
      step.apply(factors, element);
      SIMT_UNROLL
      for (int c = 0; c < kColumns; ++c) {
        if (c != 1) values[c][j] = static_cast<T>(element[c]);
      }
    }

    SIMT_UNROLL
    for (int c = 0; c < kColumns; ++c) {
      if (c != 1 || common.has_scale) *address(c) = values[c];
    }
  });
}

/// SGD, with the buffers of momentum in a third column.
template <int columns>
struct SgdFormula {
  static constexpr int kColumns = columns;

  Descent options;
  bool nesterov, is_first;

  template <class Acc>
  struct Both {
    MomentumStep<Acc> next;
    FirstStep<Acc> first;
  };

  template <class Acc>
  SIMT_DEVICE Both<Acc> factors(double lr, double) const {
    Descent descent = options;
    descent.lr = lr;
    return {MomentumStep<Acc>(descent), FirstStep<Acc>(descent, nesterov)};
  }
  SIMT_DEVICE bool reads_state() const { return !is_first; }

  template <class Acc>
  SIMT_DEVICE void apply(const Both<Acc>& by, Acc (&x)[kColumns]) const {
    if constexpr (kColumns == 3) {
      if (!is_first) return options.weight_decay != 0 ? next<true>(by, x) : next<false>(by, x);
    }

    Acc buffer = 0;
    if (options.weight_decay != 0) {
      by.first.template apply<true>(x[0], x[1], buffer);
    } else {
      by.first.template apply<false>(x[0], x[1], buffer);
    }
    if constexpr (kColumns == 3) x[2] = buffer;
  }

  template <bool decays, class Acc>
  SIMT_DEVICE void next(const Both<Acc>& by, Acc (&x)[kColumns]) const {
    if (nesterov) return by.next.template apply<decays, true>(x[0], x[1], x[2]);
    by.next.template apply<decays, false>(x[0], x[1], x[2]);
  }
};

/// Adam; with amsgrad, the largest squares are in a fifth column.
template <int columns>
struct AdamFormula {
  static constexpr int kColumns = columns;

  AdamOptions options;

  template <class Acc>
  SIMT_DEVICE AdamStep<Acc> factors(double lr, double step) const {
    return AdamStep<Acc>(AdamStep<double>(options, lr, step));
  }
  SIMT_DEVICE bool reads_state() const { return true; }

  template <class Acc>
  SIMT_DEVICE void apply(const AdamStep<Acc>& by, Acc (&x)[kColumns]) const {
    constexpr bool kAmsgrad = kColumns == 5;
    Acc& largest = x[kAmsgrad ? 4 : 3];
    if (options.weight_decay != 0 && !options.decoupled) {
      by.template apply<kAmsgrad, true>(x[0], x[1], x[2], x[3], largest);
    } else {
      by.template apply<kAmsgrad, false>(x[0], x[1], x[2], x[3], largest);
    }
  }
};

struct AdagradFormula {
  static constexpr int kColumns = 3;

  double lr_decay, weight_decay, eps, sign;

  template <class Acc>
  SIMT_DEVICE AdagradStep<Acc> factors(double lr, double step) const {
    return AdagradStep<Acc>(lr, lr_decay, step, weight_decay, eps, sign);
  }
  SIMT_DEVICE bool reads_state() const { return true; }

  template <class Acc>
  SIMT_DEVICE void apply(const AdagradStep<Acc>& by, Acc (&x)[kColumns]) const {
    if (weight_decay != 0) {
      by.template apply<true>(x[0], x[1], x[2]);
    } else {
      by.template apply<false>(x[0], x[1], x[2]);
    }
  }
};

/// Takes a step for all tensors, those of one dtype after another.
template <class Step>
void take_steps(const char* name, const TensorList (&columns)[Step::kColumns],
                const std::vector<const float*>& steps, const Step& step, const Common& common) {
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    AT_DISPATCH_FLOATING_AND_REDUCED(dtype, name, [&] {
      for_each_table<scalar_t>(columns, steps, [&](auto& table, int width) {
        constexpr int kWidth = 16 / sizeof(scalar_t);
        const auto kernel =
            width == 1 ? &step_kernel<1, scalar_t, Step> : &step_kernel<kWidth, scalar_t, Step>;
        const unsigned blocks = count_blocks(table, width);
        c10::cuda::launch(name, kernel, dim3(blocks), dim3(kTableThreads), 0,
                          c10::cuda::current_stream(), table, step, common);
      });
    });
  }
}

/// The addresses of step counts on the device. Counts in the host's memory are copied all at once.
class Steps {
 public:
  Steps(TensorList state_steps, Device device) {
    const Tensor host = empty_tensor({static_cast<int64_t>(state_steps.size())}, kFloat, kCPU);
    bool any_on_host = false;
    for (size_t i = 0; i < state_steps.size(); ++i) {
      if (!state_steps[i].is_cpu()) continue;
      host.data_ptr<float>()[i] = static_cast<float>(state_steps[i].item().to_double());
      any_on_host = true;
    }
    if (any_on_host) copied_ = at::to(host, device, kFloat);

    for (size_t i = 0; i < state_steps.size(); ++i) {
      if (state_steps[i].is_cpu()) {
        addresses.push_back(copied_.const_data_ptr<float>() + i);
      } else {
        kept_.push_back(state_steps[i].to(kFloat));
        addresses.push_back(kept_.back().const_data_ptr<float>());
      }
    }
  }

  std::vector<const float*> addresses;

 private:
  Tensor copied_;
  std::vector<Tensor> kept_;
};

Common common_of(Numbers& numbers, double lr, const Tensor& tensor_lr, const Tensor& grad_scale,
                 const Tensor& found_inf) {
  return {numbers(tensor_lr, lr), numbers(grad_scale, 1), numbers(found_inf, 0),
          grad_scale.defined()};
}

constexpr int kCounters = 480;  // of a launch

struct Counters {
  float* data[kCounters];
};

SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kCounters)
    count_steps_kernel(Counters counters, int count, Number found_inf) {
  const int k = static_cast<int>(simt::thread_x());
  if (k < count && found_inf.read() == 0) *counters.data[k] += 1.0f;
}

}  // namespace

void sgd_loop_kernel(TensorList self, TensorList grads, TensorList momentum_buffers, double lr,
                     const Tensor& tensor_lr, double weight_decay, double momentum,
                     double dampening, bool nesterov, bool maximize, bool is_first_step,
                     const Tensor& grad_scale, const Tensor& found_inf) {
  const char* const name = "_fused_sgd_";
  const bool remembers = !momentum_buffers.empty();
  check_optimizer_lists(name, self, {self, grads, remembers ? momentum_buffers : self});
  check_single_elements(name, {{&tensor_lr, 1}, {&grad_scale, 1}, {&found_inf, 1}});

  Numbers numbers;
  const Common common = common_of(numbers, lr, tensor_lr, grad_scale, found_inf);
  const Descent options{lr, weight_decay, momentum, dampening, maximize ? -1.0 : 1.0};
  if (remembers) {
    const SgdFormula<3> step{options, nesterov, is_first_step};
    return take_steps<SgdFormula<3>>(name, {self, grads, momentum_buffers}, {}, step, common);
  }
  const SgdFormula<2> step{options, false, true};
  take_steps<SgdFormula<2>>(name, {self, grads}, {}, step, common);
}

void adam_loop_kernel(TensorList self, TensorList grads, TensorList exp_avgs,
                      TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList state_steps,
                      double lr, const Tensor& tensor_lr, double beta1, double beta2,
                      double weight_decay, double eps, bool amsgrad, bool maximize, bool decoupled,
                      const Tensor& grad_scale, const Tensor& found_inf) {
  const char* const name = "_fused_adam_";
  check_optimizer_lists(name, self,
                        {self, grads, exp_avgs, exp_avg_sqs, amsgrad ? max_exp_avg_sqs : self});
  check_single_elements(name, {state_steps, {&tensor_lr, 1}, {&grad_scale, 1}, {&found_inf, 1}});
  TORCH_CHECK(state_steps.size() == self.size(), name, ": state_steps has ", state_steps.size(),
              " tensors for ", self.size(), " parameters");

  Numbers numbers;
  const Common common = common_of(numbers, lr, tensor_lr, grad_scale, found_inf);
  if (self.empty()) return;
  const Steps steps(state_steps, self[0].device());
  const AdamOptions options{beta1, beta2, weight_decay, eps, maximize ? -1.0 : 1.0, decoupled};
  if (amsgrad)
    return take_steps<AdamFormula<5>>(name, {self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs},
                                      steps.addresses, {options}, common);
  take_steps<AdamFormula<4>>(name, {self, grads, exp_avgs, exp_avg_sqs}, steps.addresses, {options},
                             common);
}

void adagrad_loop_kernel(TensorList self, TensorList grads, TensorList state_sums,
                         TensorList state_steps, double lr, const Tensor& tensor_lr,
                         double lr_decay, double weight_decay, double eps, bool maximize,
                         const Tensor& grad_scale, const Tensor& found_inf) {
  const char* const name = "_fused_adagrad_";
  check_optimizer_lists(name, self, {self, grads, state_sums});
  check_single_elements(name, {state_steps, {&tensor_lr, 1}, {&grad_scale, 1}, {&found_inf, 1}});
  TORCH_CHECK(state_steps.size() == self.size(), name, ": state_steps has ", state_steps.size(),
              " tensors for ", self.size(), " parameters");

  Numbers numbers;
  const Common common = common_of(numbers, lr, tensor_lr, grad_scale, found_inf);
  if (self.empty()) return;
  const Steps steps(state_steps, self[0].device());
  const AdagradFormula step{lr_decay, weight_decay, eps, maximize ? -1.0 : 1.0};
  take_steps(name, {self, grads, state_sums}, steps.addresses, step, common);
}

void count_steps_loop_kernel(TensorList self, const Tensor& found_inf) {
  check_single_elements("_count_steps_", {self, {&found_inf, 1}});
  Numbers numbers;
  const Number found = numbers(found_inf, 0);
  for (size_t begin = 0; begin < self.size(); begin += kCounters) {
    const auto count = static_cast<int>(std::min<size_t>(kCounters, self.size() - begin));
    Counters counters = {};
    for (int k = 0; k < count; ++k) counters.data[k] = self[begin + k].data_ptr<float>();

    c10::cuda::launch("_count_steps_", &count_steps_kernel, dim3(1), dim3(kCounters), 0,
                      c10::cuda::current_stream(), counters, count, found);
  }
}

}  // namespace at::native::cuda
