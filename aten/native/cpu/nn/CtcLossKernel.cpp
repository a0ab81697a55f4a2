// The loops of the CTC loss and its gradient, see Note [CTC recursions].
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "aten/native/declarations/cpu/nn/CtcLossKernel.h"
#include "aten/native/nn/CtcLoss.h"
#include "aten/ops/zeros_like.h"

namespace at::native {

namespace {

// Note [CTC recursions]
// A target of L labels has 2 L + 1 places: a blank before, between and after the labels. An
// alignment walks through the places, one for each step; from a step to the next it stays, moves to
// the next place, or skips a blank between two different labels. With p(t, s) the probability at
// step t of the label at place s,
//   alpha(t, s) = p(t, s) (alpha(t - 1, s) + alpha(t - 1, s - 1) + [skips] alpha(t - 1, s - 2))
// sums the probabilities of all ways to reach place s at step t, and the loss is
// -log(alpha(T - 1, 2 L) + alpha(T - 1, 2 L - 1)). beta(t, s) likewise sums all ways from there to
// the end, without p(t, s). The gradient for the log probability of a label at step t is minus the
// sum of alpha(t, s) beta(t, s) / exp(-loss) over the places s with this label. All values are
// logarithms; probabilities of whole alignments would underflow.

/// The logarithm of probability 0.
constexpr double kNever = -std::numeric_limits<double>::infinity();

/// log(exp(a) + exp(b))
double log_add(double a, double b) {
  const double largest = std::max(a, b);
  return largest == kNever ? kNever
                           : largest + std::log(std::exp(a - largest) + std::exp(b - largest));
}

/// One example of the batch: the labels of all places, and where its log probabilities lie.
struct Example {
  std::vector<int64_t> labels;  // with blanks before, between and after those of the target
  const double* log_probs;
  int64_t steps;
  int64_t stride;  // between the log probabilities of two steps

  int64_t size() const { return static_cast<int64_t>(labels.size()); }

  double log_prob(int64_t t, int64_t s) const {
    return log_probs[t * stride + labels[static_cast<size_t>(s)]];
  }

  /// Whether an alignment may skip the blank before place s.
  bool skips(int64_t s) const {
    const auto at = static_cast<size_t>(s);
    return s >= 2 && s % 2 == 1 && labels[at] != labels[at - 2];
  }
};

/// The arguments of the loss, in the types that the recursions use.
struct Batch {
  Tensor log_probs, targets;
  IntArrayRef input_lengths, target_lengths;
  int64_t blank, size, classes;
  int64_t widest = 0;           // places of the longest target
  std::vector<int64_t> starts;  // of each target in `targets`

  Batch(const Tensor& given, const Tensor& labels, IntArrayRef inputs, IntArrayRef lengths,
        int64_t blank_label)
      : log_probs(given.detach().to(kDouble).contiguous()),
        targets(labels.to(kLong).contiguous()),
        input_lengths(inputs),
        target_lengths(lengths),
        blank(blank_label),
        size(given.size(1)),
        classes(given.size(2)) {
    int64_t start = 0;
    for (int64_t n = 0; n < size; ++n) {
      const int64_t length = lengths[static_cast<size_t>(n)];
      starts.push_back(targets.dim() == 1 ? start : n * targets.size(1));
      start += length;
      widest = std::max(widest, 2 * length + 1);
    }
  }

  Example example(int64_t n) const {
    const auto at = static_cast<size_t>(n);
    const int64_t length = target_lengths[at];
    Example result{std::vector<int64_t>(static_cast<size_t>(2 * length + 1), blank),
                   log_probs.const_data_ptr<double>() + n * classes, input_lengths[at],
                   size * classes};

    const int64_t* label = targets.const_data_ptr<int64_t>() + starts[at];
    for (int64_t i = 0; i < length; ++i) {
      TORCH_CHECK(label[i] >= 0 && label[i] < classes, "ctc_loss: expected targets in [0, ",
                  classes, "), got ", label[i]);
      result.labels[static_cast<size_t>(2 * i + 1)] = label[i];
    }
    return result;
  }
};

/// Fills `alpha` (steps, widest) and returns the loss.
double forward(const Example& example, double* alpha, int64_t widest) {
  const int64_t size = example.size();
  if (example.steps == 0) return size == 1 ? 0.0 : std::numeric_limits<double>::infinity();

  for (int64_t s = 0; s < size; ++s) alpha[s] = s < 2 ? example.log_prob(0, s) : kNever;
  for (int64_t t = 1; t < example.steps; ++t) {
    const double* before = alpha + (t - 1) * widest;
    for (int64_t s = 0; s < size; ++s) {
      double sum = before[s];
      if (s >= 1) sum = log_add(sum, before[s - 1]);
      if (example.skips(s)) sum = log_add(sum, before[s - 2]);
      alpha[t * widest + s] = sum + example.log_prob(t, s);
    }
  }

  const double* last = alpha + (example.steps - 1) * widest;
  return -log_add(last[size - 1], size > 1 ? last[size - 2] : kNever);
}

/// Sets `beta` to that of step `t`, from that of the step after it.
void step_back(const Example& example, int64_t t, std::vector<double>& beta) {
  const int64_t size = example.size();
  if (t == example.steps - 1) {
    beta[static_cast<size_t>(size - 1)] = 0;
    if (size > 1) beta[static_cast<size_t>(size - 2)] = 0;
    return;
  }

  std::vector<double> after = beta;
  for (int64_t s = 0; s < size; ++s) after[static_cast<size_t>(s)] += example.log_prob(t + 1, s);

  for (int64_t s = 0; s < size; ++s) {
    double sum = after[static_cast<size_t>(s)];
    if (s + 1 < size) sum = log_add(sum, after[static_cast<size_t>(s + 1)]);
    if (s + 2 < size && example.skips(s + 2)) sum = log_add(sum, after[static_cast<size_t>(s + 2)]);
    beta[static_cast<size_t>(s)] = sum;
  }
}

/// Adds the gradient of the loss, times `factor`, to `grad` (steps of `stride`).
void backward(const Example& example, const double* alpha, int64_t widest, double loss,
              double factor, double* grad) {
  const int64_t size = example.size();
  std::vector<double> beta(static_cast<size_t>(size), kNever);
  for (int64_t t = example.steps - 1; t >= 0; --t) {
    step_back(example, t, beta);
    for (int64_t s = 0; s < size; ++s) {
      const double share = std::exp(alpha[t * widest + s] + beta[static_cast<size_t>(s)] + loss);
      grad[t * example.stride + example.labels[static_cast<size_t>(s)]] -= factor * share;
    }
  }
}

}  // namespace

std::tuple<Tensor, Tensor> _ctc_loss(const Tensor& log_probs, const Tensor& targets,
                                     IntArrayRef input_lengths, IntArrayRef target_lengths,
                                     int64_t blank, bool /*zero_infinity*/) {
  check_ctc(log_probs, targets, input_lengths, target_lengths);

  const Batch batch(log_probs, targets, input_lengths, target_lengths, blank);
  const Tensor losses = empty_tensor({batch.size}, kDouble, kCPU);
  const Tensor alpha = empty_tensor({batch.size, log_probs.size(0), batch.widest}, kDouble, kCPU);

  const int64_t each = log_probs.size(0) * batch.widest;
  for (int64_t n = 0; n < batch.size; ++n) {
    losses.data_ptr<double>()[n] =
        forward(batch.example(n), alpha.data_ptr<double>() + n * each, batch.widest);
  }
  return {losses.to(log_probs.scalar_type()), alpha};
}

Tensor _ctc_loss_backward(const Tensor& grad_output, const Tensor& log_probs, const Tensor& targets,
                          IntArrayRef input_lengths, IntArrayRef target_lengths,
                          const Tensor& losses, const Tensor& log_alpha, int64_t blank,
                          bool zero_infinity) {
  check_ctc(log_probs, targets, input_lengths, target_lengths);

  const Batch batch(log_probs, targets, input_lengths, target_lengths, blank);
  TORCH_CHECK(losses.numel() == batch.size && grad_output.numel() == batch.size &&
                  log_alpha.scalar_type() == kDouble && log_alpha.is_contiguous() &&
                  log_alpha.numel() == batch.size * log_probs.size(0) * batch.widest,
              "_ctc_loss_backward(): losses, gradients and probabilities do not fit ",
              log_probs.sizes());

  const Tensor grad = at::zeros_like(batch.log_probs);
  const Tensor factors = grad_output.to(kDouble).contiguous();
  const Tensor loss = losses.to(kDouble).contiguous();
  const int64_t each = log_probs.size(0) * batch.widest;
  for (int64_t n = 0; n < batch.size; ++n) {
    const double value = loss.const_data_ptr<double>()[n];
    if (zero_infinity && std::isinf(value)) continue;

    backward(batch.example(n), log_alpha.const_data_ptr<double>() + n * each, batch.widest, value,
             factors.const_data_ptr<double>()[n], grad.data_ptr<double>() + n * batch.classes);
  }

  return grad.to(log_probs.scalar_type());
}

}  // namespace at::native
