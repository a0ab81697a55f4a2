// Recurrent networks (tanh, relu, GRU, LSTM) over padded and packed sequences, and their cells.
#include "aten/native/declarations/nn/Recurrent.h"

#include <string>
#include <vector>

#include "aten/native/nn/RecurrentSteps.h"
#include "aten/native/shared/RecurrentLayer.h"
#include "aten/ops/cat.h"
#include "aten/ops/dropout.h"
#include "aten/ops/linear.h"
#include "aten/ops/stack.h"
#include "aten/ops/unbind.h"
#include "c10/util/CheckedMath.h"

namespace at::native {

namespace {

using namespace recurrent;

const char* name_of(Kind kind) {
  return kind == Kind::Lstm   ? "lstm"
         : kind == Kind::Gru  ? "gru"
         : kind == Kind::Relu ? "rnn_relu"
                              : "rnn_tanh";
}

int64_t gates_of(Kind kind) { return kind == Kind::Lstm ? 4 : kind == Kind::Gru ? 3 : 1; }

// -- networks of several layers and directions --

struct Settings {
  Kind kind;
  bool has_biases;
  int64_t layers;
  double dropout;
  bool train, bidirectional;

  const char* name() const { return name_of(kind); }
  int64_t directions() const { return bidirectional ? 2 : 1; }
  /// The number of networks of one layer and direction.
  int64_t runs() const { return c10::checked_multiply(name(), layers, directions()); }

  /// The number of parameters of one layer and direction.
  int64_t group_size(bool projected) const { return (has_biases ? 4 : 2) + (projected ? 1 : 0); }
};

void check_states(const Settings& s, const Tensor& state, int64_t batch) {
  TORCH_CHECK(state.dim() == 3, s.name(), ": expected a hidden state of 3 dimensions, got size ",
              state.sizes());
  TORCH_CHECK(state.sizes()[0] == s.runs() && state.sizes()[1] == batch, s.name(),
              ": Expected hidden size [", s.runs(), ", ", batch, ", ", state.sizes()[2], "], got ",
              state.sizes());
}

void check_matrix(const Settings& s, const Tensor& weight, int64_t rows, int64_t columns) {
  TORCH_CHECK(weight.dim() == 2 && weight.sizes()[0] == rows && weight.sizes()[1] == columns,
              s.name(), ": expected a weight of size [", rows, ", ", columns, "], got ",
              weight.sizes());
}

/// The parameters of layer and direction `index`, for the given sizes of input, hidden state and
/// cell.
CellParameters checked_parameters(const Settings& s, TensorList params, int64_t index,
                                  int64_t inputs, int64_t hidden, int64_t cell, bool projected) {
  const auto group = static_cast<size_t>(s.group_size(projected));
  const size_t first = static_cast<size_t>(index) * group;
  const int64_t rows = gates_of(s.kind) * cell;

  CellParameters p{params[first], params[first + 1], {}, {}, {}};
  check_matrix(s, p.w_ih, rows, inputs);
  check_matrix(s, p.w_hh, rows, hidden);

  if (s.has_biases) {
    p.b_ih = params[first + 2];
    p.b_hh = params[first + 3];
    for (const Tensor& bias : {p.b_ih, p.b_hh}) {
      TORCH_CHECK(bias.dim() == 1 && bias.numel() == rows, s.name(), ": expected biases of size [",
                  rows, "], got ", bias.sizes());
    }
  }

  if (projected) {
    p.w_hr = params[first + group - 1];
    check_matrix(s, p.w_hr, hidden, cell);
  }
  return p;
}

/// The outputs of the last layer, and the last states of all layers and directions.
struct Network {
  Tensor rows, hidden, cell;

  std::tuple<Tensor, Tensor> without_cell() const { return {rows, hidden}; }
  std::tuple<Tensor, Tensor, Tensor> with_cell() const { return {rows, hidden, cell}; }
};

/// Runs all layers; `cells` is defined for LSTM only.
Network run_layers(const Settings& s, Tensor rows, const Steps& steps, const Tensor& hiddens,
                   const Tensor& cells, TensorList params) {
  TORCH_CHECK(s.layers > 0, s.name(), ": expected num_layers > 0, got ", s.layers);
  TORCH_CHECK(!steps.batches.empty(), "Expected sequence length to be larger than 0 in RNN");
  check_states(s, hiddens, steps.batches[0]);
  if (cells.defined()) check_states(s, cells, steps.batches[0]);

  // The hidden state and the cell have different sizes only with a projection.
  const int64_t hidden = hiddens.sizes()[2];
  const int64_t cell = cells.defined() ? cells.sizes()[2] : hidden;
  const bool projected = cell != hidden;
  const int64_t expected = c10::checked_multiply(s.name(), s.runs(), s.group_size(projected));
  TORCH_CHECK(static_cast<int64_t>(params.size()) == expected, s.name(),
              ": got an incorrect number of RNN parameters: expected ", expected, ", got ",
              params.size());

  const std::vector<Tensor> first = at::unbind(hiddens);
  const std::vector<Tensor> first_cells =
      cells.defined() ? at::unbind(cells) : std::vector<Tensor>(first.size());
  std::vector<Tensor> last;
  std::vector<Tensor> last_cells;

  for (int64_t layer = 0; layer < s.layers; ++layer) {
    std::vector<Tensor> outputs;
    for (int64_t direction = 0; direction < s.directions(); ++direction) {
      const int64_t index = layer * s.directions() + direction;
      const CellParameters p =
          checked_parameters(s, params, index, rows.size(1), hidden, cell, projected);

      const auto place = static_cast<size_t>(index);
      Direction result =
          run_direction(s.kind, rows, steps, {first[place], first_cells[place]}, p, direction == 1);

      outputs.push_back(std::move(result.rows));
      last.push_back(std::move(result.last.hidden));
      last_cells.push_back(std::move(result.last.cell));
    }

    rows = outputs.size() == 1 ? outputs[0] : at::cat(outputs, 1);
    if (s.dropout != 0 && s.train && layer + 1 < s.layers)
      rows = at::dropout(rows, s.dropout, true);
  }

  return {rows, at::stack(last), cells.defined() ? at::stack(last_cells) : Tensor()};
}

Network run_padded(const Settings& s, const Tensor& input, const Tensor& hiddens,
                   const Tensor& cells, TensorList params, bool batch_first) {
  TORCH_CHECK(input.dim() == 3, s.name(), ": input must have 3 dimensions, got ", input.dim());
  const Tensor by_step = batch_first ? input.transpose(0, 1) : input;
  const int64_t count = by_step.size(0);
  const int64_t batch = by_step.size(1);

  const Steps steps{std::vector<int64_t>(static_cast<size_t>(count), batch), false};
  Network result = run_layers(s, by_step.reshape({count * batch, by_step.size(2)}), steps, hiddens,
                              cells, params);

  result.rows = result.rows.reshape({count, batch, result.rows.size(1)});
  if (batch_first) result.rows = result.rows.transpose(0, 1);
  return result;
}

Network run_packed(const Settings& s, const Tensor& data, const Tensor& batch_sizes,
                   const Tensor& hiddens, const Tensor& cells, TensorList params) {
  TORCH_CHECK(data.dim() == 2, s.name(), ": expected packed data of 2 dimensions, got size ",
              data.sizes());
  TORCH_CHECK(batch_sizes.dim() == 1 && batch_sizes.is_cpu() && batch_sizes.scalar_type() == kLong,
              s.name(), ": expected batch_sizes as a 1D int64 tensor on the CPU, got ",
              batch_sizes.scalar_type(), " of size ", batch_sizes.sizes(), " on ",
              batch_sizes.device());

  const Tensor sizes = batch_sizes.contiguous();
  const int64_t* first = sizes.const_data_ptr<int64_t>();
  const Steps steps{std::vector<int64_t>(first, first + sizes.numel()), true};
  check_batch_sizes(s.name(), steps.batches, data.sizes()[0]);

  return run_layers(s, data, steps, hiddens, cells, params);
}

State lstm_states(TensorList hx) {
  TORCH_CHECK(hx.size() == 2, "lstm expects two hidden states");
  return {hx[0], hx[1]};
}

// -- cells --

void check_cell(const char* name, Kind kind, const Tensor& input, const State& state,
                const CellParameters& p) {
  const Tensor& hidden = state.hidden;
  const int64_t size = hidden.sizes()[1];
  const int64_t rows = gates_of(kind) * size;

  TORCH_CHECK(input.sizes()[0] == hidden.sizes()[0], name, ": Input batch size ", input.sizes()[0],
              " doesn't match hidden0 batch size ", hidden.sizes()[0]);
  TORCH_CHECK(input.sizes()[1] == p.w_ih.sizes()[1], name,
              ": input has inconsistent input_size: got ", input.sizes()[1], " expected ",
              p.w_ih.sizes()[1]);
  TORCH_CHECK(p.w_ih.sizes()[0] == rows && p.w_hh.sizes()[0] == rows && p.w_hh.sizes()[1] == size,
              name, ": expected weights for a hidden state of ", size, ", got sizes ",
              p.w_ih.sizes(), " and ", p.w_hh.sizes());
  TORCH_CHECK(!state.cell.defined() || state.cell.sizes() == hidden.sizes(), name,
              ": expected a cell state of size ", hidden.sizes());
}

/// The next state for a batch (N, I) or a single input (I).
State run_cell(const char* name, Kind kind, const Tensor& input, const State& state,
               const CellParameters& p) {
  TORCH_CHECK(input.dim() == 1 || input.dim() == 2, name,
              ": expected an input of 1 or 2 dimensions, got size ", input.sizes());
  TORCH_CHECK(state.hidden.dim() == input.dim(), name, ": expected a hidden state of ", input.dim(),
              " dimensions, got size ", state.hidden.sizes());
  TORCH_CHECK(p.w_ih.dim() == 2 && p.w_hh.dim() == 2, name,
              ": expected weights of 2 dimensions, got sizes ", p.w_ih.sizes(), " and ",
              p.w_hh.sizes());

  const bool single = input.dim() == 1;
  const Tensor batch = single ? input.unsqueeze(0) : input;
  const Tensor hidden = single ? state.hidden.unsqueeze(0) : state.hidden;
  const Tensor cell = single && state.cell.defined() ? state.cell.unsqueeze(0) : state.cell;
  check_cell(name, kind, batch, {hidden, cell}, p);

  const State next = step(kind, at::linear(batch, p.w_ih, p.b_ih), {hidden, cell}, p);
  if (!single) return next;
  return {next.hidden.squeeze(0), next.cell.defined() ? next.cell.squeeze(0) : next.cell};
}

}  // namespace

std::tuple<Tensor, Tensor> rnn_tanh_input(const Tensor& input, const Tensor& hx, TensorList params,
                                          bool has_biases, int64_t num_layers, double dropout,
                                          bool train, bool bidirectional, bool batch_first) {
  return run_padded({Kind::Tanh, has_biases, num_layers, dropout, train, bidirectional}, input, hx,
                    {}, params, batch_first)
      .without_cell();
}

std::tuple<Tensor, Tensor> rnn_tanh_data(const Tensor& data, const Tensor& batch_sizes,
                                         const Tensor& hx, TensorList params, bool has_biases,
                                         int64_t num_layers, double dropout, bool train,
                                         bool bidirectional) {
  return run_packed({Kind::Tanh, has_biases, num_layers, dropout, train, bidirectional}, data,
                    batch_sizes, hx, {}, params)
      .without_cell();
}

std::tuple<Tensor, Tensor> rnn_relu_input(const Tensor& input, const Tensor& hx, TensorList params,
                                          bool has_biases, int64_t num_layers, double dropout,
                                          bool train, bool bidirectional, bool batch_first) {
  return run_padded({Kind::Relu, has_biases, num_layers, dropout, train, bidirectional}, input, hx,
                    {}, params, batch_first)
      .without_cell();
}

std::tuple<Tensor, Tensor> rnn_relu_data(const Tensor& data, const Tensor& batch_sizes,
                                         const Tensor& hx, TensorList params, bool has_biases,
                                         int64_t num_layers, double dropout, bool train,
                                         bool bidirectional) {
  return run_packed({Kind::Relu, has_biases, num_layers, dropout, train, bidirectional}, data,
                    batch_sizes, hx, {}, params)
      .without_cell();
}

std::tuple<Tensor, Tensor> gru_input(const Tensor& input, const Tensor& hx, TensorList params,
                                     bool has_biases, int64_t num_layers, double dropout,
                                     bool train, bool bidirectional, bool batch_first) {
  return run_padded({Kind::Gru, has_biases, num_layers, dropout, train, bidirectional}, input, hx,
                    {}, params, batch_first)
      .without_cell();
}

std::tuple<Tensor, Tensor> gru_data(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx,
                                    TensorList params, bool has_biases, int64_t num_layers,
                                    double dropout, bool train, bool bidirectional) {
  return run_packed({Kind::Gru, has_biases, num_layers, dropout, train, bidirectional}, data,
                    batch_sizes, hx, {}, params)
      .without_cell();
}

std::tuple<Tensor, Tensor, Tensor> lstm_input(const Tensor& input, TensorList hx, TensorList params,
                                              bool has_biases, int64_t num_layers, double dropout,
                                              bool train, bool bidirectional, bool batch_first) {
  const State states = lstm_states(hx);
  return run_padded({Kind::Lstm, has_biases, num_layers, dropout, train, bidirectional}, input,
                    states.hidden, states.cell, params, batch_first)
      .with_cell();
}

std::tuple<Tensor, Tensor, Tensor> lstm_data(const Tensor& data, const Tensor& batch_sizes,
                                             TensorList hx, TensorList params, bool has_biases,
                                             int64_t num_layers, double dropout, bool train,
                                             bool bidirectional) {
  const State states = lstm_states(hx);
  return run_packed({Kind::Lstm, has_biases, num_layers, dropout, train, bidirectional}, data,
                    batch_sizes, states.hidden, states.cell, params)
      .with_cell();
}

std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, TensorList hx, const Tensor& w_ih,
                                     const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
  TORCH_CHECK(hx.size() == 2, "lstm_cell expects two hidden states");
  const State next =
      run_cell("lstm_cell", Kind::Lstm, input, {hx[0], hx[1]}, {w_ih, w_hh, b_ih, b_hh, {}});
  return {next.hidden, next.cell};
}

Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                const Tensor& b_ih, const Tensor& b_hh) {
  return run_cell("gru_cell", Kind::Gru, input, {hx, {}}, {w_ih, w_hh, b_ih, b_hh, {}}).hidden;
}

Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                     const Tensor& b_ih, const Tensor& b_hh) {
  return run_cell("rnn_tanh_cell", Kind::Tanh, input, {hx, {}}, {w_ih, w_hh, b_ih, b_hh, {}})
      .hidden;
}

Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                     const Tensor& b_ih, const Tensor& b_hh) {
  return run_cell("rnn_relu_cell", Kind::Relu, input, {hx, {}}, {w_ih, w_hh, b_ih, b_hh, {}})
      .hidden;
}

}  // namespace at::native
