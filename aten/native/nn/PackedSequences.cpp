// Sequences of different lengths, packed: the rows of step 0 of all sequences, of step 1 of those
// that have one, and so on.
#include <vector>

#include "aten/native/declarations/nn/PackedSequences.h"
#include "aten/ops/cat.h"
#include "aten/ops/full.h"
#include "aten/ops/split_with_sizes.h"
#include "aten/ops/stack.h"

namespace at::native {

namespace {

std::vector<int64_t> checked_numbers(const char* name, const Tensor& tensor) {
  TORCH_CHECK(tensor.dim() == 1 && tensor.is_cpu() && tensor.scalar_type() == kLong, "'", name,
              "' argument should be a 1D CPU int64 tensor, but got ", tensor.dim(), "D ",
              tensor.device(), " ", tensor.scalar_type(), " tensor");
  const Tensor numbers = tensor.contiguous();
  return {numbers.const_data_ptr<int64_t>(), numbers.const_data_ptr<int64_t>() + numbers.numel()};
}

Tensor tensor_of(const std::vector<int64_t>& numbers) {
  const Tensor result = empty_tensor({static_cast<int64_t>(numbers.size())}, kLong, kCPU);
  std::copy(numbers.begin(), numbers.end(), result.data_ptr<int64_t>());
  return result;
}

}  // namespace

std::tuple<Tensor, Tensor> _pack_padded_sequence(const Tensor& input, const Tensor& lengths,
                                                 bool batch_first) {
  TORCH_CHECK(input.dim() >= 2,
              "Expected a batch of padded sequences with at least 2 dimensions, got size ",
              input.sizes());
  const std::vector<int64_t> counts = checked_numbers("lengths", lengths);
  const Tensor by_step = batch_first ? input.transpose(0, 1) : input;
  const int64_t batch = by_step.size(1);
  TORCH_CHECK(input.numel() > 0, "Cannot pack empty tensors.");
  TORCH_CHECK(static_cast<int64_t>(counts.size()) == batch,
              "Expected `len(lengths)` to be equal to batch_size, but got ", counts.size(),
              " (batch_size=", batch, ")");
  for (size_t i = 0; i < counts.size(); ++i) {
    TORCH_CHECK(counts[i] > 0,
                "Length of all samples has to be greater than 0, but found an element in 'lengths' "
                "that is <= 0: ",
                counts[i]);
    TORCH_CHECK(i == 0 || counts[i] <= counts[i - 1],
                "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
                "You can pass `enforce_sorted=False` to "
                "pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do "
                "not need ONNX exportability.");
  }
  TORCH_CHECK(counts[0] <= by_step.size(0), "Expected lengths up to ", by_step.size(0),
              ", the number of steps, got ", counts[0]);
  std::vector<Tensor> pieces;
  std::vector<int64_t> batch_sizes;
  auto active = static_cast<size_t>(batch);
  DimVector row_sizes(by_step.sizes().begin() + 1, by_step.sizes().end());
  for (int64_t start = 0;
       start < counts[0];) {  // steps with the same number of sequences are one piece
    while (counts[active - 1] <= start) --active;
    const int64_t end = counts[active - 1], rows = static_cast<int64_t>(active);
    row_sizes[0] = rows * (end - start);
    pieces.push_back(by_step.narrow(0, start, end - start).narrow(1, 0, rows).reshape(row_sizes));
    batch_sizes.insert(batch_sizes.end(), static_cast<size_t>(end - start), rows);
    start = end;
  }
  return {at::cat(pieces), tensor_of(batch_sizes)};
}

std::tuple<Tensor, Tensor> _pad_packed_sequence(const Tensor& data, const Tensor& batch_sizes,
                                                bool batch_first, const Scalar& padding_value,
                                                int64_t total_length) {
  const std::vector<int64_t> batches = checked_numbers("batch_sizes", batch_sizes);
  TORCH_CHECK(data.dim() >= 1 && !batches.empty(),
              "_pad_packed_sequence: expected data and batch_sizes with elements, got sizes ",
              data.sizes(), " and ", batch_sizes.sizes());
  const auto steps = static_cast<int64_t>(batches.size()),
             length = total_length > 0 ? total_length : steps;
  TORCH_CHECK(length >= steps,
              "Expected total_length to be at least the length of the longest sequence in input, "
              "but got total_length=",
              total_length, " and max sequence length being ", steps);
  int64_t total = 0;
  for (size_t t = 0; t < batches.size(); ++t) {
    TORCH_CHECK(batches[t] > 0 && (t == 0 || batches[t] <= batches[t - 1]),
                "_pad_packed_sequence: expected positive batch_sizes that do "
                "not grow, got ",
                batches[t], " at step ", t);
    TORCH_CHECK(batches[t] <= data.size(0) - total,
                "_pad_packed_sequence: batch_sizes sum up to more than the ", data.size(0),
                " rows of the data");
    total += batches[t];
  }
  TORCH_CHECK(total == data.size(0), "_pad_packed_sequence: batch_sizes sum up to ", total,
              ", the data has ", data.size(0), " rows");
  std::vector<int64_t> lengths(static_cast<size_t>(batches[0]), 0);
  for (const int64_t rows : batches) {
    for (int64_t i = 0; i < rows; ++i) ++lengths[static_cast<size_t>(i)];
  }
  std::vector<Tensor> padded;
  DimVector missing(data.sizes());
  for (const Tensor& rows : at::split_with_sizes(data, batches)) {
    missing[0] = batches[0] - rows.size(0);
    padded.push_back(missing[0] == 0
                         ? rows
                         : at::cat({rows, at::full(missing, padding_value, data.scalar_type(), {},
                                                   data.device())}));
  }
  missing[0] = batches[0];
  for (int64_t t = steps; t < length; ++t)
    padded.push_back(at::full(missing, padding_value, data.scalar_type(), {}, data.device()));
  const Tensor by_step = at::stack(padded);
  return {batch_first ? by_step.transpose(0, 1) : by_step, tensor_of(lengths)};
}

}  // namespace at::native
