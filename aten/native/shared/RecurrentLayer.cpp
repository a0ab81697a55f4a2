// One layer of a recurrent network in one direction: the gates of a step, and the loop over steps.
#include "aten/native/shared/RecurrentLayer.h"

#include "aten/core/Autocast.h"
#include "aten/ops/_lstm_steps.h"
#include "aten/ops/cat.h"
#include "aten/ops/linear.h"
#include "aten/ops/relu.h"
#include "aten/ops/sigmoid.h"
#include "aten/ops/split_with_sizes.h"
#include "aten/ops/tanh.h"
#include "aten/ops/unbind.h"

namespace at::native::recurrent {

namespace {

/// Splits the columns into equal parts, also where they are empty (`split` would return one part).
std::vector<Tensor> split_gates(const Tensor& columns, int64_t count) {
  const int64_t size = columns.size(1) / count;

  std::vector<Tensor> gates;
  for (int64_t gate = 0; gate < count; ++gate)
    gates.push_back(columns.narrow(1, gate * size, size));
  return gates;
}

/// The gated recurrent unit of Cho et al. (2014); as in PyTorch, the reset gate multiplies the
/// product of the state, after its bias is added.
State gru_step(const Tensor& projected, const Tensor& recurrent, const State& state) {
  // The three gates, from the input and from the previous state.
  const std::vector<Tensor> from_input = split_gates(projected, 3);
  const std::vector<Tensor> from_state = split_gates(recurrent, 3);

  const Tensor reset = at::sigmoid(from_input[0] + from_state[0]);
  const Tensor update = at::sigmoid(from_input[1] + from_state[1]);
  const Tensor candidate = at::tanh(from_input[2] + reset * from_state[2]);

  return {candidate + update * (state.hidden - candidate), {}};
}

/// Long short-term memory (Hochreiter and Schmidhuber 1997) with a forget gate.
State lstm_step(const Tensor& projected, const Tensor& recurrent, const State& state,
                const Tensor& w_hr) {
  const std::vector<Tensor> gates = split_gates(projected + recurrent, 4);
  const Tensor input = at::sigmoid(gates[0]);
  const Tensor forget = at::sigmoid(gates[1]);
  const Tensor candidate = at::tanh(gates[2]);
  const Tensor output = at::sigmoid(gates[3]);

  const Tensor cell = forget * state.cell + input * candidate;
  const Tensor hidden = output * at::tanh(cell);

  return {w_hr.defined() ? at::linear(hidden, w_hr) : hidden, cell};
}

/// Whether `_lstm_steps` can do all steps at once. It has kernels for float and double on the CPU,
/// and no projection. In torch.autocast the products have other dtypes than the states.
bool has_kernel(Kind kind, const Tensor& rows, const State& initial, const CellParameters& p) {
  const ScalarType dtype = rows.scalar_type();
  const auto fits = [&](const Tensor& tensor) {
    return !tensor.defined() || (tensor.scalar_type() == dtype && tensor.is_cpu());
  };

  return kind == Kind::Lstm && !autocast::is_enabled(c10::DeviceType::CPU) &&
         (dtype == kFloat || dtype == kDouble) && !p.w_hr.defined() && rows.is_cpu() &&
         initial.hidden.numel() > 0 && fits(initial.hidden) && fits(initial.cell) && fits(p.w_ih) &&
         fits(p.w_hh) && fits(p.b_ih) && fits(p.b_hh);
}

State concatenate(const std::vector<State>& parts) {
  std::vector<Tensor> hidden;
  std::vector<Tensor> cell;
  for (const State& part : parts) {
    hidden.push_back(part.hidden);
    if (part.cell.defined()) cell.push_back(part.cell);
  }
  return {at::cat(hidden), cell.empty() ? Tensor() : at::cat(cell)};
}

}  // namespace

State step(Kind kind, const Tensor& projected, const State& state, const CellParameters& p) {
  const Tensor recurrent = at::linear(state.hidden, p.w_hh, p.b_hh);

  if (kind == Kind::Tanh) return {at::tanh(projected + recurrent), {}};
  if (kind == Kind::Relu) return {at::relu(projected + recurrent), {}};
  if (kind == Kind::Gru) return gru_step(projected, recurrent, state);
  return lstm_step(projected, recurrent, state, p.w_hr);
}

std::vector<Tensor> Steps::split(const Tensor& rows) const {
  if (packed) return at::split_with_sizes(rows, batches);
  const auto count = static_cast<int64_t>(batches.size());
  return at::unbind(rows.reshape({count, batches[0], rows.size(1)}));
}

Direction run_direction(Kind kind, const Tensor& rows, const Steps& steps, const State& initial,
                        const CellParameters& p, bool reverse) {
  if (has_kernel(kind, rows, initial, p)) {
    const Tensor projected = at::linear(rows, p.w_ih, p.b_ih.defined() ? p.b_ih + p.b_hh : p.b_ih);
    auto [outputs, hidden, cell, gates, cells] =
        at::_lstm_steps(projected, initial.hidden, initial.cell, p.w_hh, steps.batches, reverse);
    return {outputs, {hidden, cell}};
  }

  // Products with the input do not depend on the state: one product computes them for all steps.
  const std::vector<Tensor> projected = steps.split(at::linear(rows, p.w_ih, p.b_ih));
  const size_t count = steps.batches.size();
  std::vector<Tensor> outputs(count);
  std::vector<State> finished;  // of the sequences that end first, the shortest first
  int64_t active = reverse ? steps.batches.back() : steps.batches.front();
  State state = initial.hidden.size(0) == active ? initial : initial.rows(0, active);

  for (size_t i = 0; i < count; ++i) {
    const size_t t = reverse ? count - 1 - i : i;

    // Sequences that end here leave the state; in reverse, those that begin here join it.
    const int64_t batch = steps.batches[t];
    if (batch < active) {
      finished.push_back(state.rows(batch, active - batch));
      state = state.rows(0, batch);
    } else if (batch > active) {
      state = concatenate({state, initial.rows(active, batch - active)});
    }
    active = batch;

    state = step(kind, projected[t], state, p);
    outputs[t] = state.hidden;
  }

  if (!finished.empty()) {
    finished.push_back(state);
    state = concatenate(std::vector<State>(finished.rbegin(), finished.rend()));
  }
  return {at::cat(outputs), state};
}

}  // namespace at::native::recurrent
