#pragma once
// The rows of each step of a recurrent network, and the checks that its files share. As in packed
// sequences, the rows of a step follow those of the step before, and their number never increases;
// in padded sequences it is the same for all steps.
#include <vector>

#include "aten/core/Tensor.h"

namespace at::native {

/// The rows [first, first + count) of step `step`.
struct StepRows {
  size_t step;
  int64_t first, count;
};

/// The steps in the order in which they are computed. The state has a row for each sequence; a step
/// changes the first `count` of them.
inline std::vector<StepRows> steps_in_order(IntArrayRef batch_sizes, bool reverse) {
  std::vector<StepRows> steps;
  int64_t first = 0;
  for (size_t step = 0; step < batch_sizes.size(); ++step) {
    steps.push_back({step, first, batch_sizes[step]});
    first += batch_sizes[step];
  }

  return reverse ? std::vector<StepRows>(steps.rbegin(), steps.rend()) : steps;
}

/// Checks that batch_sizes are positive, never increase and add up to `rows`.
void check_batch_sizes(const char* name, IntArrayRef batch_sizes, int64_t rows);

/// Checks the arguments of _lstm_steps.
void check_lstm_steps(const Tensor& projected, const Tensor& hidden, const Tensor& cell,
                      const Tensor& weight, IntArrayRef batch_sizes);

/// Checks the results of _lstm_steps, and their gradients where they are defined.
void check_lstm_results(const Tensor& hidden, const Tensor& outputs, const Tensor& gates,
                        const Tensor& cells, const Tensor& grad_outputs, const Tensor& grad_hidden,
                        const Tensor& grad_cell, const Tensor& grad_gates,
                        const Tensor& grad_cells);

}  // namespace at::native
