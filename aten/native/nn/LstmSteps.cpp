// LSTM over all steps: the checks of its kernel, and a differentiable gradient. The formulas are in
// Note [Gradient of an LSTM step].
#include "aten/native/declarations/nn/LstmSteps.h"
#include "aten/native/nn/RecurrentSteps.h"
#include "aten/ops/cat.h"
#include "aten/ops/matmul.h"
#include "aten/ops/mul.h"
#include "aten/ops/tanh.h"
#include "aten/ops/zeros_like.h"

namespace at::native {

namespace {

void check_like(const char* argument, const Tensor& tensor, IntArrayRef sizes, const Tensor& like) {
  if (!tensor.defined()) return;
  TORCH_CHECK(tensor.sizes() == sizes, "_lstm_steps: expected ", argument, " of size ", sizes,
              ", got ", tensor.sizes());
  TORCH_CHECK(tensor.scalar_type() == like.scalar_type() && tensor.device() == like.device(),
              "_lstm_steps: expected ", argument, " of ", like.scalar_type(), " on ", like.device(),
              ", got ", tensor.scalar_type(), " on ", tensor.device());
}

/// The state with its first rows replaced by `changed`.
Tensor with_rows(const Tensor& state, const Tensor& changed) {
  const int64_t count = changed.size(0);
  const int64_t rest = state.size(0) - count;
  return rest == 0 ? changed : at::cat({changed, state.narrow(0, count, rest)});
}

/// The state before each step, in the order of `batch_sizes`; `after` has the states after them.
std::vector<Tensor> states_before(Tensor state, const Tensor& after,
                                  const std::vector<StepRows>& steps) {
  std::vector<Tensor> before(steps.size());
  for (const StepRows& rows : steps) {
    before[rows.step] = state.narrow(0, 0, rows.count);
    state = with_rows(state, after.narrow(0, rows.first, rows.count));
  }
  return before;
}

/// The sum with the rows of a step added, if there are any.
Tensor plus_rows(const Tensor& sum, const Tensor& all, const StepRows& rows) {
  return all.defined() ? sum + all.narrow(0, rows.first, rows.count) : sum;
}

// Note [Gradient of an LSTM step]
// With i, f, g, o for the gates after their functions, and c for the cell, a step computes
//   c' = f c + i g,  h' = o tanh(c').
// The gradients dh and dc of h' and c' become
//   dc' = dc + dh o (1 - tanh(c')^2),  di = dc' g,  df = dc' c,  dg = dc' i,  do = dh tanh(c'),
// the cell before the step gets dc' f, and the derivatives of the functions, i (1 - i) for a
// sigmoid and 1 - g^2 for tanh, lead from the gates to the sums that they were applied to.

/// Gradients of the sums that the gates are functions of, and of the cell before the step.
struct StepGradient {
  Tensor sums, cell;
};

/// `grad_hidden` and `grad_cell` are the gradients of the state after the step.
StepGradient step_gradient(const Tensor& gates, const Tensor& grad_gates, const Tensor& cell_before,
                           const Tensor& cell_after, const Tensor& grad_hidden,
                           const Tensor& grad_cell) {
  const int64_t n = cell_after.size(1);
  const auto part = [n](const Tensor& all, int64_t k) { return all.narrow(1, k * n, n); };
  const Tensor input = part(gates, 0);
  const Tensor forget = part(gates, 1);
  const Tensor candidate = part(gates, 2);
  const Tensor output = part(gates, 3);

  const Tensor squashed = at::tanh(cell_after);
  const Tensor cell = grad_cell + grad_hidden * output * (1 - squashed * squashed);

  std::vector<Tensor> parts = {cell * candidate, cell * cell_before, cell * input,
                               grad_hidden * squashed};
  for (size_t k = 0; k < parts.size(); ++k) {
    const Tensor gate = part(gates, static_cast<int64_t>(k));
    if (grad_gates.defined()) parts[k] = parts[k] + part(grad_gates, static_cast<int64_t>(k));
    parts[k] = parts[k] * (k == 2 ? 1 - gate * gate : gate * (1 - gate));
  }

  return {at::cat(parts, 1), cell * forget};
}

}  // namespace

void check_batch_sizes(const char* name, IntArrayRef batch_sizes, int64_t rows) {
  int64_t total = 0;

  for (size_t step = 0; step < batch_sizes.size(); ++step) {
    const int64_t batch = batch_sizes[step];
    TORCH_CHECK(batch > 0 && (step == 0 || batch <= batch_sizes[step - 1]), name,
                ": expected positive batch_sizes that never increase, got ", batch, " at step ",
                step);
    TORCH_CHECK(batch <= rows - total, name, ": batch_sizes add up to more than the ", rows,
                " rows of the data");
    total += batch;
  }

  TORCH_CHECK(total == rows, name, ": batch_sizes add up to ", total, ", but the data has ", rows,
              " rows");
}

void check_lstm_steps(const Tensor& projected, const Tensor& hidden, const Tensor& cell,
                      const Tensor& weight, IntArrayRef batch_sizes) {
  TORCH_CHECK(hidden.dim() == 2 && hidden.sizes()[1] > 0,
              "_lstm_steps: expected a hidden state of 2 dimensions, got size ", hidden.sizes());
  TORCH_CHECK(projected.dim() == 2 && !batch_sizes.empty(),
              "_lstm_steps: expected a matrix and at least one step, got size ", projected.sizes());

  const int64_t size = hidden.sizes()[1];
  check_batch_sizes("_lstm_steps", batch_sizes, projected.sizes()[0]);
  check_like("projected", projected, {projected.sizes()[0], 4 * size}, hidden);
  check_like("hidden", hidden, {batch_sizes[0], size}, hidden);
  check_like("cell", cell, hidden.sizes(), hidden);
  check_like("weight", weight, {4 * size, size}, hidden);
}

void check_lstm_results(const Tensor& hidden, const Tensor& outputs, const Tensor& gates,
                        const Tensor& cells, const Tensor& grad_outputs, const Tensor& grad_hidden,
                        const Tensor& grad_cell, const Tensor& grad_gates,
                        const Tensor& grad_cells) {
  const DimVector rows = {gates.size(0), hidden.size(1)};
  check_like("outputs", outputs, rows, hidden);
  check_like("cells", cells, rows, hidden);
  check_like("the gradient of outputs", grad_outputs, rows, hidden);
  check_like("the gradient of the last hidden state", grad_hidden, hidden.sizes(), hidden);
  check_like("the gradient of the last cell", grad_cell, hidden.sizes(), hidden);
  check_like("the gradient of gates", grad_gates, gates.sizes(), hidden);
  check_like("the gradient of cells", grad_cells, rows, hidden);
}

std::tuple<TensorSpec, TensorSpec, TensorSpec, TensorSpec, TensorSpec>
lstm_steps_shape(const Tensor& projected, const Tensor& hidden, const Tensor& cell,
                 const Tensor& weight, IntArrayRef batch_sizes, bool) {
  check_lstm_steps(projected, hidden, cell, weight, batch_sizes);

  const TensorSpec all{
      {projected.sizes()[0], hidden.sizes()[1]}, hidden.scalar_type(), hidden.device()};
  const TensorSpec state{DimVector(hidden.sizes()), hidden.scalar_type(), hidden.device()};
  const TensorSpec gates{DimVector(projected.sizes()), hidden.scalar_type(), hidden.device()};

  return {all, state, state, gates, all};
}

std::tuple<Tensor, Tensor, Tensor, Tensor>
_lstm_steps_backward(const Tensor& grad_outputs, const Tensor& grad_hidden, const Tensor& grad_cell,
                     const Tensor& grad_gates, const Tensor& grad_cells, const Tensor& hidden,
                     const Tensor& cell, const Tensor& weight, const Tensor& outputs,
                     const Tensor& gates, const Tensor& cells, IntArrayRef batch_sizes,
                     bool reverse) {
  check_lstm_steps(gates, hidden, cell, weight, batch_sizes);
  check_lstm_results(hidden, outputs, gates, cells, grad_outputs, grad_hidden, grad_cell,
                     grad_gates, grad_cells);

  const std::vector<StepRows> steps = steps_in_order(batch_sizes, reverse);
  const std::vector<Tensor> hidden_before = states_before(hidden, outputs, steps);
  const std::vector<Tensor> cell_before = states_before(cell, cells, steps);
  Tensor hidden_gradient = grad_hidden.defined() ? grad_hidden : at::zeros_like(hidden);
  Tensor cell_gradient = grad_cell.defined() ? grad_cell : at::zeros_like(cell);
  std::vector<Tensor> grad_sums(steps.size());

  for (auto rows = steps.rbegin(); rows != steps.rend(); ++rows) {
    const auto of_step = [&](const Tensor& all) {
      return all.defined() ? all.narrow(0, rows->first, rows->count) : all;
    };

    const StepGradient found =
        step_gradient(of_step(gates), of_step(grad_gates), cell_before[rows->step], of_step(cells),
                      plus_rows(hidden_gradient.narrow(0, 0, rows->count), grad_outputs, *rows),
                      plus_rows(cell_gradient.narrow(0, 0, rows->count), grad_cells, *rows));

    grad_sums[rows->step] = found.sums;
    hidden_gradient = with_rows(hidden_gradient, at::matmul(found.sums, weight));
    cell_gradient = with_rows(cell_gradient, found.cell);
  }

  const Tensor projected = at::cat(grad_sums);
  return {projected, hidden_gradient, cell_gradient,
          at::matmul(projected.transpose(0, 1), at::cat(hidden_before))};
}

}  // namespace at::native
