// Packing and padding sequences of different lengths. Packed data holds the rows of step 0 of all
// sequences, then those of step 1 of the sequences that have one, and so on.
#include <vector>

#include "aten/native/declarations/nn/PackedSequences.h"
#include "aten/native/nn/RecurrentSteps.h"
#include "aten/native/shared/HostValues.h"
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

/// Checks that lengths are positive, sorted and at most the number of steps.
void check_lengths(const std::vector<int64_t>& lengths, int64_t steps) {
  for (size_t i = 0; i < lengths.size(); ++i) {
    TORCH_CHECK(lengths[i] > 0,
                "Length of all samples has to be greater than 0, but found an element in 'lengths' "
                "that is <= 0: ",
                lengths[i]);
    TORCH_CHECK(i == 0 || lengths[i] <= lengths[i - 1],
                "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
                "You can pass `enforce_sorted=False` to "
                "pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do "
                "not need ONNX exportability.");
  }

  TORCH_CHECK(lengths[0] <= steps, "Expected lengths up to ", steps, ", the number of steps, got ",
              lengths[0]);
}

Tensor tensor_of(const std::vector<int64_t>& numbers) {
  const Tensor result = empty_real_tensor({static_cast<int64_t>(numbers.size())}, kLong, kCPU);
  std::copy(numbers.begin(), numbers.end(), result.data_ptr<int64_t>());
  return lifted(result);
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
  check_lengths(counts, by_step.size(0));

  std::vector<Tensor> pieces;
  std::vector<int64_t> batch_sizes;
  auto active = static_cast<size_t>(batch);
  DimVector row_sizes(by_step.sizes().begin() + 1, by_step.sizes().end());

  // Steps with the same number of sequences are one piece.
  for (int64_t start = 0; start < counts[0];) {
    while (counts[active - 1] <= start) --active;
    const int64_t end = counts[active - 1];
    const auto rows = static_cast<int64_t>(active);

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

  const auto steps = static_cast<int64_t>(batches.size());
  const int64_t length = total_length > 0 ? total_length : steps;
  TORCH_CHECK(length >= steps,
              "Expected total_length to be at least the length of the longest sequence in input, "
              "but got total_length=",
              total_length, " and max sequence length being ", steps);
  check_batch_sizes("_pad_packed_sequence", batches, data.size(0));

  // A sequence is as long as there are steps that have a row for it.
  std::vector<int64_t> lengths(static_cast<size_t>(batches[0]), 0);
  for (const int64_t rows : batches) {
    for (int64_t i = 0; i < rows; ++i) ++lengths[static_cast<size_t>(i)];
  }

  const auto padding = [&](int64_t rows) {
    DimVector sizes(data.sizes());
    sizes[0] = rows;
    return at::full(sizes, padding_value, data.scalar_type(), {}, data.device());
  };

  std::vector<Tensor> padded;
  for (const Tensor& rows : at::split_with_sizes(data, batches)) {
    const int64_t missing = batches[0] - rows.size(0);
    padded.push_back(missing == 0 ? rows : at::cat({rows, padding(missing)}));
  }

  Tensor by_step = at::stack(padded);
  if (length > steps) {
    DimVector sizes(by_step.sizes());
    sizes[0] = length - steps;
    const Tensor rest = at::full(sizes, padding_value, data.scalar_type(), {}, data.device());
    by_step = at::cat({by_step, rest});
  }
  return {batch_first ? by_step.transpose(0, 1) : by_step, tensor_of(lengths)};
}

}  // namespace at::native
