// The connectionist temporal classification (CTC) loss of Graves et al. (2006): checks, shapes and
// the reduction of the losses.
#include "aten/native/nn/CtcLoss.h"

#include <algorithm>

#include "aten/native/declarations/nn/CtcLoss.h"
#include "aten/native/shared/HostValues.h"
#include "aten/ops/_ctc_loss.h"
#include "aten/ops/isinf.h"
#include "aten/ops/masked_fill.h"
#include "aten/ops/mean.h"
#include "aten/ops/sum.h"
#include "aten/ops/to.h"

namespace at::native {

void check_ctc(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
               IntArrayRef target_lengths) {
  for (const int64_t length : input_lengths) {
    TORCH_CHECK(0 <= length && length <= log_probs.size(0),
                "Expected input_lengths to have value at most ", log_probs.size(0),
                " and not negative, but got value ", length);
  }

  int64_t total = 0;
  for (const int64_t length : target_lengths) {
    TORCH_CHECK(length >= 0, "Expected target_lengths to have value at least 0, but got value ",
                length);
    TORCH_CHECK(targets.dim() == 1 || length <= targets.size(1),
                "Expected target_lengths to have value at most ", targets.size(-1),
                ", the size of targets, but got value ", length);
    TORCH_CHECK(length <= targets.numel(), "Expected target_lengths to have value at most ",
                targets.numel(), ", but got value ", length);
    total += length;
  }
  TORCH_CHECK(targets.dim() == 2 || total <= targets.numel(), "Expected targets of at least ",
              total, " labels, the sum of target_lengths, got ", targets.numel());
}

std::tuple<Tensor, Tensor> _ctc_loss_meta(const Tensor& log_probs, const Tensor& targets,
                                          IntArrayRef input_lengths, IntArrayRef target_lengths,
                                          int64_t /*blank*/, bool /*zero_infinity*/) {
  check_ctc(log_probs, targets, input_lengths, target_lengths);

  const int64_t batch = log_probs.size(1);
  int64_t longest = 0;
  for (const int64_t length : target_lengths) longest = std::max(longest, length);

  return {empty_tensor({batch}, log_probs.scalar_type(), log_probs.device()),
          empty_tensor({batch, log_probs.size(0), 2 * longest + 1}, kDouble, log_probs.device())};
}

Tensor _ctc_loss_backward_meta(const Tensor&, const Tensor& log_probs, const Tensor&, IntArrayRef,
                               IntArrayRef, const Tensor&, const Tensor&, int64_t, bool) {
  return empty_tensor(log_probs.sizes(), log_probs.scalar_type(), log_probs.device());
}

Tensor ctc_loss_lists(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                      IntArrayRef target_lengths, int64_t blank, int64_t reduction,
                      bool zero_infinity) {
  const bool single = log_probs.dim() == 2;
  const Tensor batch = single ? log_probs.unsqueeze(1) : log_probs;
  Tensor losses = std::get<0>(
      at::_ctc_loss(batch, single && targets.dim() == 1 ? targets.unsqueeze(0) : targets,
                    input_lengths, target_lengths, blank, zero_infinity));
  if (zero_infinity) losses = at::masked_fill(losses, at::isinf(losses), Scalar(0));

  // The mean divides each loss by the length of its target first.
  if (reduction == 1) {
    const Tensor lengths =
        empty_real_tensor({static_cast<int64_t>(target_lengths.size())}, kLong, kCPU);
    for (size_t n = 0; n < target_lengths.size(); ++n)
      lengths.data_ptr<int64_t>()[n] = std::max<int64_t>(target_lengths[n], 1);
    return at::mean(losses / at::to(lifted(lengths), losses.device(), losses.scalar_type()));
  }
  if (reduction == 2) return at::sum(losses);
  return single ? losses.squeeze(0) : losses;
}

Tensor ctc_loss_tensors(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                        const Tensor& target_lengths, int64_t blank, int64_t reduction,
                        bool zero_infinity) {
  const Tensor inputs = at::to(input_lengths, kCPU, kLong).contiguous();
  const Tensor labels = at::to(target_lengths, kCPU, kLong).contiguous();
  const auto list = [](const Tensor& tensor) {
    return IntArrayRef(tensor.const_data_ptr<int64_t>(), static_cast<size_t>(tensor.numel()));
  };
  return ctc_loss_lists(log_probs, targets, list(inputs), list(labels), blank, reduction,
                        zero_infinity);
}

}  // namespace at::native
