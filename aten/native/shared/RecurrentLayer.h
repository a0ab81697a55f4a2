#pragma once
// One layer of a recurrent network in one direction, over all steps.
#include <vector>

#include "aten/core/Tensor.h"

namespace at::native::recurrent {

enum class Kind { Tanh, Relu, Gru, Lstm };

/// The weights and biases of one cell; w_hr is the projection of an LSTM's hidden state.
struct CellParameters {
  Tensor w_ih, w_hh, b_ih, b_hh, w_hr;
};

/// The state that one step hands to the next; only LSTM has a cell.
struct State {
  Tensor hidden, cell;

  State rows(int64_t start, int64_t length) const {
    return {hidden.narrow(0, start, length), cell.defined() ? cell.narrow(0, start, length) : cell};
  }
};

/// The next state; `projected` is the input times its weights.
State step(Kind kind, const Tensor& projected, const State& state, const CellParameters& p);

/// How many rows each step has. The rows of all steps are one matrix: (T * N, I) for padded
/// sequences, the rows of one step after those of the step before for packed ones.
struct Steps {
  std::vector<int64_t> batches;  // the number of rows of each step; it never increases
  bool packed = false;

  std::vector<Tensor> split(const Tensor& rows) const;
};

/// The outputs of all steps, and the last state of every sequence.
struct Direction {
  Tensor rows;
  State last;
};

/// Runs a layer over all steps, from the last to the first with `reverse`.
Direction run_direction(Kind kind, const Tensor& rows, const Steps& steps, const State& initial,
                        const CellParameters& p, bool reverse);

}  // namespace at::native::recurrent
