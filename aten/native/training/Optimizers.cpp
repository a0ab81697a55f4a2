// Fused optimizer steps over all parameters at once: checks of the arguments, and copies of tensors
// whose memory is laid out differently from their parameter's. Learning rates, steps, scales and
// found_inf stay tensors, which the loops read on the parameters' device.
#include "aten/native/training/Optimizers.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "aten/native/declarations/training/Optimizers.h"
#include "aten/ops/_adagrad_loop.h"
#include "aten/ops/_adam_loop.h"
#include "aten/ops/_count_steps_loop.h"
#include "aten/ops/_sgd_loop.h"
#include "aten/ops/add.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/copy.h"

namespace at::native {

namespace {

/// Whether the same memory offset is the same element in both tensors.
bool lies_alike(const Tensor& tensor, const Tensor& parameter) {
  return (tensor.is_contiguous() && parameter.is_contiguous()) ||
         (tensor.strides() == parameter.strides() && tensor.is_non_overlapping_and_dense());
}

/// One list of the call: parameters, their gradients, or one kind of state.
struct Column {
  const char* name;
  TensorList tensors;
};

void check_like_parameter(const char* op, const Column& column, size_t i, const Tensor& parameter) {
  const Tensor& tensor = column.tensors[i];
  TORCH_CHECK(tensor.defined(), op, ": ", column.name, "[", i, "] is None");
  TORCH_CHECK(tensor.scalar_type() == parameter.scalar_type(), op, ": ", column.name, "[", i,
              "] has dtype ", tensor.scalar_type(), ", but the parameter has ",
              parameter.scalar_type());
  TORCH_CHECK(tensor.sizes() == parameter.sizes(), op, ": ", column.name, "[", i, "] has sizes ",
              tensor.sizes(), ", but the parameter has ", parameter.sizes());
  TORCH_CHECK(tensor.device() == parameter.device() || parameter.is_meta(), op, ": ", column.name,
              "[", i, "] is on ", tensor.device(), ", but the parameter is on ",
              parameter.device());
}

/// The lists of a step, prepared for loops that walk through memory by offset. Where a parameter's
/// tensors differ in layout, contiguous copies replace them, and `finish` writes the copies back.
class Columns {
 public:
  Columns(const char* op, std::initializer_list<Column> columns)
      : columns_(columns), copies_(columns.size()) {
    const TensorList parameters = columns_[0].tensors;

    for (const Column& column : columns_) {
      TORCH_CHECK(column.tensors.size() == parameters.size(), op, ": ", column.name, " has ",
                  column.tensors.size(), " tensors for ", parameters.size(), " parameters");
    }

    for (size_t i = 0; i < parameters.size(); ++i) {
      TORCH_CHECK(parameters[i].defined() && c10::is_floating(parameters[i].scalar_type()), op,
                  ": expected floating-point parameters, but self[", i, "] has dtype ",
                  parameters[i].scalar_type());

      bool alike = true;
      for (const Column& column : columns_) {
        check_like_parameter(op, column, i, parameters[i]);
        alike = alike && lies_alike(column.tensors[i], parameters[i]);
      }

      if (!alike) replace(i);
    }
  }

  /// The tensors of one column, for the loop.
  TensorList operator[](size_t column) const {
    return copies_[column].empty() ? columns_[column].tensors : TensorList(copies_[column]);
  }

  void finish() const {
    for (size_t column = 0; column < columns_.size(); ++column) {
      for (const size_t i : copied_) at::copy_(columns_[column].tensors[i], copies_[column][i]);
    }
  }

 private:
  void replace(size_t i) {
    copied_.push_back(i);
    for (size_t column = 0; column < columns_.size(); ++column) {
      const TensorList tensors = columns_[column].tensors;
      if (copies_[column].empty()) copies_[column].assign(tensors.begin(), tensors.end());
      copies_[column][i] = at::contiguous(tensors[i]);
    }
  }

  std::vector<Column> columns_;              // as the caller passed them
  std::vector<std::vector<Tensor>> copies_;  // empty for a column without copies
  std::vector<size_t> copied_;               // parameters whose tensors are copies
};

void check_one_number(const char* op, const char* name, const Tensor& tensor) {
  TORCH_CHECK(tensor.numel() == 1, op, ": ", name, " must have one element, but has sizes ",
              tensor.sizes());
}

void check_optional_number(const char* op, const char* name, const Tensor& tensor) {
  if (tensor.defined()) check_one_number(op, name, tensor);
}

void check_steps(const char* op, TensorList state_steps, size_t parameters) {
  TORCH_CHECK(state_steps.size() == parameters, op, ": state_steps has ", state_steps.size(),
              " tensors for ", parameters, " parameters");
  for (const Tensor& step : state_steps) check_one_number(op, "a tensor of state_steps", step);
}

/// A learning rate: a number, or a tensor on the parameters' device.
struct Rate {
  double number = 0;
  Tensor tensor;

  explicit Rate(double lr) : number(lr) {}
  Rate(const char* op, const Tensor& lr, TensorList self) {
    check_one_number(op, "lr", lr);
    const bool elsewhere = !self.empty() && lr.device() != self[0].device();
    if (elsewhere && lr.is_cpu()) {
      number = lr.item().to_double();
    } else {
      tensor = lr;
    }
  }
};

/// Adam, or AdamW with `decoupled` weight decay.
void adam(const char* op, TensorList self, TensorList grads, TensorList exp_avgs,
          TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList state_steps,
          const Rate& lr, double beta1, double beta2, double weight_decay, double eps, bool amsgrad,
          bool maximize, const Tensor& grad_scale, const Tensor& found_inf, bool decoupled) {
  const TensorList largest = amsgrad ? max_exp_avg_sqs : exp_avg_sqs;
  const Columns columns(op, {{"self", self},
                             {"grads", grads},
                             {"exp_avgs", exp_avgs},
                             {"exp_avg_sqs", exp_avg_sqs},
                             {"max_exp_avg_sqs", largest}});
  check_steps(op, state_steps, self.size());
  check_optional_number(op, "grad_scale", grad_scale);
  check_optional_number(op, "found_inf", found_inf);
  if (self.empty()) return;

  at::_adam_loop_(columns[0], columns[1], columns[2], columns[3],
                  amsgrad ? columns[4] : TensorList(), state_steps, lr.number, lr.tensor, beta1,
                  beta2, weight_decay, eps, amsgrad, maximize, decoupled, grad_scale, found_inf);
  columns.finish();
}

void sgd(TensorList self, TensorList grads, TensorList momentum_buffer_list, double weight_decay,
         double momentum, const Rate& lr, double dampening, bool nesterov, bool maximize,
         bool is_first_step, const Tensor& grad_scale, const Tensor& found_inf) {
  const char* op = "_fused_sgd_";
  const bool has_momentum = momentum != 0;

  const Columns columns(op,
                        {{"self", self},
                         {"grads", grads},
                         {"momentum_buffer_list", has_momentum ? momentum_buffer_list : grads}});

  check_optional_number(op, "grad_scale", grad_scale);
  check_optional_number(op, "found_inf", found_inf);
  if (self.empty()) return;

  at::_sgd_loop_(columns[0], columns[1], has_momentum ? columns[2] : TensorList(), lr.number,
                 lr.tensor, weight_decay, momentum, dampening, nesterov, maximize, is_first_step,
                 grad_scale, found_inf);
  columns.finish();
}

void adagrad(TensorList self, TensorList grads, TensorList state_sums, TensorList state_steps,
             const Rate& lr, double lr_decay, double weight_decay, double eps, bool maximize,
             const Tensor& grad_scale, const Tensor& found_inf) {
  const char* op = "_fused_adagrad_";
  const Columns columns(op, {{"self", self}, {"grads", grads}, {"state_sums", state_sums}});
  check_steps(op, state_steps, self.size());
  check_optional_number(op, "grad_scale", grad_scale);
  check_optional_number(op, "found_inf", found_inf);
  if (self.empty()) return;

  at::_adagrad_loop_(columns[0], columns[1], columns[2], state_steps, lr.number, lr.tensor,
                     lr_decay, weight_decay, eps, maximize, grad_scale, found_inf);
  columns.finish();
}

}  // namespace

void check_optimizer_lists(const char* op, TensorList self,
                           std::initializer_list<TensorList> lists) {
  for (const TensorList list : lists) {
    TORCH_CHECK(list.size() == self.size(), op, ": expected lists of ", self.size(),
                " tensors, got one of ", list.size());

    for (size_t i = 0; i < self.size(); ++i) {
      TORCH_CHECK(self[i].defined() && list[i].defined() && list[i].device() == self[i].device() &&
                      list[i].scalar_type() == self[i].scalar_type() &&
                      list[i].sizes() == self[i].sizes() && lies_alike(list[i], self[i]),
                  op, ": tensor ", i, " of a list does not lie in memory as its parameter does");
    }
  }
}

void check_single_elements(const char* op, std::initializer_list<TensorList> lists) {
  for (const TensorList list : lists) {
    for (const Tensor& tensor : list) {
      TORCH_CHECK(!tensor.defined() || tensor.numel() == 1, op,
                  ": expected a tensor of one element, got size ", tensor.sizes());
    }
  }
}

void check_dense(const char* op, TensorList tensors) {
  for (const Tensor& tensor : tensors) {
    TORCH_CHECK(tensor.defined() && tensor.is_non_overlapping_and_dense(), op,
                ": expected tensors without gaps in memory");
  }
}

void fused_sgd_(TensorList self, TensorList grads, TensorList momentum_buffer_list,
                double weight_decay, double momentum, double lr, double dampening, bool nesterov,
                bool maximize, bool is_first_step, const Tensor& grad_scale,
                const Tensor& found_inf) {
  sgd(self, grads, momentum_buffer_list, weight_decay, momentum, Rate(lr), dampening, nesterov,
      maximize, is_first_step, grad_scale, found_inf);
}

void fused_sgd_tensor_lr_(TensorList self, TensorList grads, TensorList momentum_buffer_list,
                          double weight_decay, double momentum, const Tensor& lr, double dampening,
                          bool nesterov, bool maximize, bool is_first_step,
                          const Tensor& grad_scale, const Tensor& found_inf) {
  sgd(self, grads, momentum_buffer_list, weight_decay, momentum, Rate("_fused_sgd_", lr, self),
      dampening, nesterov, maximize, is_first_step, grad_scale, found_inf);
}

void fused_adam_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                 TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1,
                 double beta2, double weight_decay, double eps, bool amsgrad, bool maximize,
                 const Tensor& grad_scale, const Tensor& found_inf) {
  adam("_fused_adam_", self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, Rate(lr),
       beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale, found_inf, false);
}

void fused_adam_tensor_lr_(TensorList self, TensorList grads, TensorList exp_avgs,
                           TensorList exp_avg_sqs, TensorList max_exp_avg_sqs,
                           TensorList state_steps, const Tensor& lr, double beta1, double beta2,
                           double weight_decay, double eps, bool amsgrad, bool maximize,
                           const Tensor& grad_scale, const Tensor& found_inf) {
  adam("_fused_adam_", self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps,
       Rate("_fused_adam_", lr, self), beta1, beta2, weight_decay, eps, amsgrad, maximize,
       grad_scale, found_inf, false);
}

void fused_adamw_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                  TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1,
                  double beta2, double weight_decay, double eps, bool amsgrad, bool maximize,
                  const Tensor& grad_scale, const Tensor& found_inf) {
  adam("_fused_adamw_", self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, Rate(lr),
       beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale, found_inf, true);
}

void fused_adamw_tensor_lr_(TensorList self, TensorList grads, TensorList exp_avgs,
                            TensorList exp_avg_sqs, TensorList max_exp_avg_sqs,
                            TensorList state_steps, const Tensor& lr, double beta1, double beta2,
                            double weight_decay, double eps, bool amsgrad, bool maximize,
                            const Tensor& grad_scale, const Tensor& found_inf) {
  adam("_fused_adamw_", self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps,
       Rate("_fused_adamw_", lr, self), beta1, beta2, weight_decay, eps, amsgrad, maximize,
       grad_scale, found_inf, true);
}

void fused_adagrad_(TensorList self, TensorList grads, TensorList state_sums,
                    TensorList state_steps, double lr, double lr_decay, double weight_decay,
                    double eps, bool maximize, const Tensor& grad_scale, const Tensor& found_inf) {
  adagrad(self, grads, state_sums, state_steps, Rate(lr), lr_decay, weight_decay, eps, maximize,
          grad_scale, found_inf);
}

void fused_adagrad_tensor_lr_(TensorList self, TensorList grads, TensorList state_sums,
                              TensorList state_steps, const Tensor& lr, double lr_decay,
                              double weight_decay, double eps, bool maximize,
                              const Tensor& grad_scale, const Tensor& found_inf) {
  adagrad(self, grads, state_sums, state_steps, Rate("_fused_adagrad_", lr, self), lr_decay,
          weight_decay, eps, maximize, grad_scale, found_inf);
}

void count_steps_(TensorList self, const Tensor& found_inf) {
  check_optional_number("_count_steps_", "found_inf", found_inf);
  if (self.empty()) return;

  const Device device = self[0].device();
  const bool alike = std::all_of(self.begin(), self.end(), [&](const Tensor& step) {
    return step.device() == device && step.scalar_type() == kFloat && step.numel() == 1;
  });
  if (alike && (!found_inf.defined() || found_inf.device() == device))
    return at::_count_steps_loop_(self, found_inf);

  const bool skipped =
      found_inf.defined() && !found_inf.is_meta() && found_inf.item().to_double() != 0;
  if (skipped) return;
  for (const Tensor& step : self) at::add_(step, Scalar(1));
}

}  // namespace at::native
