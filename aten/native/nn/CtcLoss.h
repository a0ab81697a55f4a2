#pragma once
// A check that the CTC loss and its kernels share.
#include "aten/core/Tensor.h"

namespace at::native {

/// Raises unless the lengths fit log_probs (T, N, C) and targets.
void check_ctc(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
               IntArrayRef target_lengths);

}  // namespace at::native
