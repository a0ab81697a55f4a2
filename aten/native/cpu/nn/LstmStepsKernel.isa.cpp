// LSTM over all steps, and its gradient. A step is one parallel region, because its product is too
// small for more: each thread takes some units, computes their part of the product and then their
// elements. The gates of a row lie next to each other in PyTorch's order: input, forget, candidate,
// output.
#include <algorithm>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/blas/Blas.h"
#include "aten/native/declarations/cpu/nn/LstmStepsKernel.isa.h"
#include "aten/native/nn/RecurrentSteps.h"
#include "aten/ops/contiguous.h"
#include "aten/parallel/Parallel.h"
#include "aten/vec/math.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

using blas::Transpose;

/// Calls f(first unit, units) for ranges of the `n` units of a step of `rows` rows, on several
/// threads when each has enough to do.
template <typename F>
void for_units(int64_t n, int64_t rows, const F& f) {
  constexpr int64_t kUnits = 16;
  constexpr int64_t kMultiplications = int64_t{1} << 18;
  const int64_t grain = std::max<int64_t>(1, kMultiplications / (4 * n * rows * kUnits));
  parallel_for(0, (n + kUnits - 1) / kUnits, grain, [&](int64_t begin, int64_t end) {
    f(begin * kUnits, std::min(n, end * kUnits) - begin * kUnits);
  });
}

/// Gates (count, 4 n) += hidden (count, n) times weight (n, 4 n), for some of the n units.
template <typename T>
void add_product(const T* hidden, const T* weight, T* gates, int64_t count, int64_t n,
                 int64_t first, int64_t units) {
  const bool all = units == n;  // the gates of all units are one matrix
  for (int64_t gate = 0; gate < (all ? 1 : 4); ++gate) {
    const int64_t column = gate * n + first;
    blas::gemm<T>(Transpose::None, Transpose::None, all ? 4 * n : units, count, n, 1,
                  weight + column, 4 * n, hidden, n, 1, gates + column, 4 * n);
  }
}

/// Hidden (count, n) = slopes (count, 4 n) times weight (4 n, n), for some of the n units.
template <typename T>
void set_product(const T* slopes, const T* weight, T* hidden, int64_t count, int64_t n,
                 int64_t first, int64_t units) {
  blas::gemm<T>(Transpose::None, Transpose::None, units, count, 4 * n, 1, weight + first, n, slopes,
                4 * n, 0, hidden + first, n);
}

/// Applies the functions of the gates to a row of `gates`, and computes the next cell and hidden
/// state; `state` becomes the next cell.
template <typename T>
void next_state(T* gates, T* state, T* hidden, T* cell, int64_t n, int64_t first, int64_t units) {
#pragma GCC ivdep
  for (int64_t j = first; j < first + units; ++j) {
    const T input = vec::sigmoid(gates[j]);
    const T forget = vec::sigmoid(gates[n + j]);
    const T candidate = vec::tanh(gates[2 * n + j]);
    const T output = vec::sigmoid(gates[3 * n + j]);
    const T next = forget * state[j] + input * candidate;

    gates[j] = input;
    gates[n + j] = forget;
    gates[2 * n + j] = candidate;
    gates[3 * n + j] = output;
    state[j] = cell[j] = next;
    hidden[j] = output * vec::tanh(next);
  }
}

/// One row of the gradient, see Note [Gradient of an LSTM step]. `cell_gradient` is that of the
/// cell after the step and becomes that of the cell before it; `slopes` are the gradients of the
/// sums that the gates are functions of. Undefined gradients are null.
template <typename T>
void row_gradient(const T* gates, const T* grad_gates, const T* cell_before, const T* cell,
                  const T* hidden_gradient, const T* grad_output, const T* grad_cells,
                  T* cell_gradient, T* slopes, int64_t n, int64_t first, int64_t units) {
  const auto at_or_zero = [](const T* values, int64_t j) {
    return values == nullptr ? T(0) : values[j];
  };

#pragma GCC ivdep
  for (int64_t j = first; j < first + units; ++j) {
    const T input = gates[j];
    const T forget = gates[n + j];
    const T candidate = gates[2 * n + j];
    const T output = gates[3 * n + j];
    const T squashed = vec::tanh(cell[j]);
    const T grad_hidden = hidden_gradient[j] + at_or_zero(grad_output, j);
    const T grad = cell_gradient[j] + at_or_zero(grad_cells, j) +
                   grad_hidden * output * (1 - squashed * squashed);

    slopes[j] = (grad * candidate + at_or_zero(grad_gates, j)) * input * (1 - input);
    slopes[n + j] = (grad * cell_before[j] + at_or_zero(grad_gates, n + j)) * forget * (1 - forget);
    slopes[2 * n + j] =
        (grad * input + at_or_zero(grad_gates, 2 * n + j)) * (1 - candidate * candidate);
    slopes[3 * n + j] =
        (grad_hidden * squashed + at_or_zero(grad_gates, 3 * n + j)) * output * (1 - output);
    cell_gradient[j] = grad * forget;
  }
}

/// The rows of a tensor, made contiguous; null if the tensor is undefined.
template <typename T>
struct Rows {
  explicit Rows(const Tensor& given) : tensor(given.defined() ? given.contiguous() : given) {}
  const T* at(int64_t row, int64_t width) const {
    return tensor.defined() ? tensor.const_data_ptr<T>() + row * width : nullptr;
  }
  Tensor tensor;
};

/// A contiguous copy; zeros of the size of `like` if `given` is undefined.
Tensor copied(const Tensor& given, const Tensor& like) {
  const Tensor result = empty_tensor(like.sizes(), like.scalar_type(), like.device());
  return given.defined() ? result.copy_(given) : result.zero_();
}

/// The state before each step, in the order of `after`, which has the state after each step.
template <typename T>
Tensor states_before(const Tensor& initial, const Tensor& after,
                     const std::vector<StepRows>& steps) {
  const int64_t n = initial.size(1);
  const Tensor current = copied(initial, initial);
  const Tensor before = empty_tensor(after.sizes(), after.scalar_type(), after.device());
  T* state = current.data_ptr<T>();
  for (const StepRows& rows : steps) {
    std::copy_n(state, rows.count * n, before.data_ptr<T>() + rows.first * n);
    std::copy_n(after.const_data_ptr<T>() + rows.first * n, rows.count * n, state);
  }
  return before;
}

/// The hidden states that step `next` starts from: the outputs of the step before, followed by
/// initial states where it has more rows.
template <typename T>
const T* states_for(const StepRows& next, const StepRows* before, const T* outputs, T* state,
                    int64_t n) {
  if (before == nullptr) return state;

  const T* last = outputs + before->first * n;
  if (next.count <= before->count) return last;
  std::copy_n(last, before->count * n, state);
  return state;
}

/// The last output of every sequence.
template <typename T>
void store_last(const std::vector<StepRows>& steps, const T* outputs, T* last, int64_t n) {
  for (const StepRows& rows : steps) std::copy_n(outputs + rows.first * n, rows.count * n, last);
}

}  // namespace

void lstm_steps_kernel(const Tensor& projected, const Tensor& hidden, const Tensor& cell,
                       const Tensor& weight, IntArrayRef batch_sizes, bool reverse,
                       const Tensor& outputs, const Tensor& last_hidden, const Tensor& last_cell,
                       const Tensor& gates, const Tensor& cells) {
  const int64_t n = hidden.size(1);
  last_hidden.copy_(hidden);
  last_cell.copy_(cell);
  gates.copy_(projected);
  const std::vector<StepRows> steps = steps_in_order(batch_sizes, reverse);

  AT_DISPATCH_FLOATING(hidden.scalar_type(), "_lstm_steps", [&] {
    // The weight is transposed once: products with few columns would copy a transposed matrix in
    // each step.
    const Rows<scalar_t> factor(weight.transpose(0, 1));
    scalar_t* output = outputs.data_ptr<scalar_t>();
    scalar_t* state = last_hidden.data_ptr<scalar_t>();
    scalar_t* cell_state = last_cell.data_ptr<scalar_t>();

    for (size_t i = 0; i < steps.size(); ++i) {
      const StepRows& rows = steps[i];
      const scalar_t* before = states_for(rows, i == 0 ? nullptr : &steps[i - 1], output, state, n);
      scalar_t* step_gates = gates.data_ptr<scalar_t>() + rows.first * 4 * n;

      for_units(n, rows.count, [&](int64_t first, int64_t units) {
        add_product(before, factor.at(0, n), step_gates, rows.count, n, first, units);
        for (int64_t row = 0; row < rows.count; ++row) {
          const int64_t at = (rows.first + row) * n;
          next_state(step_gates + row * 4 * n, cell_state + row * n, output + at,
                     cells.data_ptr<scalar_t>() + at, n, first, units);
        }
      });
    }

    store_last(steps, output, state, n);
  });
}

std::tuple<Tensor, Tensor, Tensor, Tensor>
lstm_steps_backward_kernel(const Tensor& grad_outputs, const Tensor& grad_hidden,
                           const Tensor& grad_cell, const Tensor& grad_gates,
                           const Tensor& grad_cells, const Tensor& hidden, const Tensor& cell,
                           const Tensor& weight, const Tensor& outputs, const Tensor& gates,
                           const Tensor& cells, IntArrayRef batch_sizes, bool reverse) {
  check_lstm_steps(gates, hidden, cell, weight, batch_sizes);
  check_lstm_results(hidden, outputs, gates, cells, grad_outputs, grad_hidden, grad_cell,
                     grad_gates, grad_cells);

  const int64_t n = hidden.size(1);
  const int64_t all = gates.size(0);
  const std::vector<StepRows> steps = steps_in_order(batch_sizes, reverse);
  const Tensor hidden_gradient = copied(grad_hidden, hidden);
  const Tensor cell_gradient = copied(grad_cell, cell);
  const Tensor slopes = empty_tensor(gates.sizes(), gates.scalar_type(), gates.device());
  const Tensor weight_gradient =
      empty_tensor(weight.sizes(), weight.scalar_type(), weight.device());

  AT_DISPATCH_FLOATING(hidden.scalar_type(), "_lstm_steps_backward", [&] {
    const Rows<scalar_t> factor(weight);
    const Rows<scalar_t> gate(gates);
    const Rows<scalar_t> gate_gradient(grad_gates);
    const Rows<scalar_t> output_gradient(grad_outputs);
    const Rows<scalar_t> cells_gradient(grad_cells);
    const Rows<scalar_t> after(cells);
    const Rows<scalar_t> before(states_before<scalar_t>(cell, after.tensor, steps));
    const Rows<scalar_t> hidden_before(
        states_before<scalar_t>(hidden, outputs.contiguous(), steps));
    scalar_t* of_hidden = hidden_gradient.data_ptr<scalar_t>();
    scalar_t* of_cell = cell_gradient.data_ptr<scalar_t>();
    scalar_t* of_gates = slopes.data_ptr<scalar_t>();

    for (size_t i = steps.size(); i-- > 0;) {
      const StepRows& rows = steps[i];
      for_units(n, rows.count, [&](int64_t first, int64_t units) {
        // The hidden state's gradient comes from the step that was computed after this one.
        if (i + 1 < steps.size()) {
          const StepRows& later = steps[i + 1];
          set_product(of_gates + later.first * 4 * n, factor.at(0, n), of_hidden, later.count, n,
                      first, units);
        }

        for (int64_t row = 0; row < rows.count; ++row) {
          const int64_t k = rows.first + row;
          row_gradient(gate.at(k, 4 * n), gate_gradient.at(k, 4 * n), before.at(k, n),
                       after.at(k, n), of_hidden + row * n, output_gradient.at(k, n),
                       cells_gradient.at(k, n), of_cell + row * n, of_gates + k * 4 * n, n, first,
                       units);
        }
      });
    }

    // What is left: the gradients of the initial hidden state and of the weight.
    set_product(of_gates + steps[0].first * 4 * n, factor.at(0, n), of_hidden, steps[0].count, n,
                int64_t{0}, n);
    blas::gemm<scalar_t>(Transpose::None, Transpose::Transpose, n, 4 * n, all, 1,
                         hidden_before.at(0, n), n, of_gates, 4 * n, 0,
                         weight_gradient.data_ptr<scalar_t>(), n);
  });

  return {slopes, hidden_gradient, cell_gradient, weight_gradient};
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
