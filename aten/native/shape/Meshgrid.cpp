// Grids of coordinates, and combinations of the elements of vectors.
#include <algorithm>
#include <limits>
#include <vector>

#include "aten/native/declarations/shape/Meshgrid.h"
#include "aten/native/shared/HostValues.h"
#include "aten/ops/empty.h"
#include "aten/ops/expand.h"
#include "aten/ops/flatten.h"
#include "aten/ops/index_select.h"
#include "aten/ops/meshgrid.h"
#include "aten/ops/new_empty.h"
#include "aten/ops/reshape.h"
#include "aten/ops/stack.h"
#include "aten/ops/to.h"
#include "aten/ops/transpose.h"

namespace at::native {

namespace {

constexpr int64_t kMostRecorded = int64_t{1} << 25;  // positions in a graph

/// The number of ways to choose `r` of `n` elements; raises RuntimeError if it is beyond `limit`.
int64_t combination_count(int64_t n, int64_t r, bool with_replacement, int64_t limit) {
  if (n == 0 || (!with_replacement && r > n)) return 0;
  TORCH_CHECK(r <= std::numeric_limits<int64_t>::max() - n, "combinations: r is too large: ", r);
  const int64_t choices = with_replacement ? n + r - 1 : n;
  const int64_t chosen = std::min(r, choices - r);

  // Each step gives the number of ways to choose i of the last i elements, and is an integer.
  double estimate = 1;
  int64_t count = 1;
  for (int64_t i = 1; i <= chosen; ++i) {
    const int64_t next = choices - chosen + i;
    estimate = estimate * static_cast<double>(next) / static_cast<double>(i);
    TORCH_CHECK(estimate * static_cast<double>(i) < static_cast<double>(limit),
                "combinations: too many combinations of ", r, " of ", n,
                " elements: the result of at least ", estimate, " rows does not fit into memory");
    count = count * next / i;
  }

  return count;
}

/// Positions of the `count` combinations of `r` of `n` elements, in lexicographic order and
/// flattened.
Tensor combination_positions(int64_t n, int64_t r, bool with_replacement, int64_t count) {
  Tensor result = empty_real_tensor({count * r}, kLong, kCPU);
  if (count == 0) return result;

  const int64_t step = with_replacement ? 0 : 1;
  std::vector<int64_t> current;
  for (int64_t i = 0; i < r; ++i) current.push_back(i * step);

  auto* next = result.data_ptr<int64_t>();
  while (true) {
    next = std::copy(current.begin(), current.end(), next);

    // Advance the last position that is not yet at its largest value, and restart those after it.
    int64_t i = r - 1;
    while (i >= 0 && current[i] == (with_replacement ? n - 1 : n - r + i)) --i;
    if (i < 0) return result;

    ++current[i];
    for (int64_t k = i + 1; k < r; ++k) current[k] = current[k - 1] + step;
  }
}

}  // namespace

Tensor cartesian_prod(TensorList tensors) {
  for (const Tensor& tensor : tensors)
    TORCH_CHECK(tensor.dim() == 1, "Expect a 1D vector, but got shape ", tensor.sizes());
  if (tensors.size() == 1) return tensors[0];

  std::vector<Tensor> columns;
  for (const Tensor& grid : at::meshgrid(tensors, "ij")) columns.push_back(at::flatten(grid));
  return at::stack(columns, 1);
}

Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) {
  TORCH_CHECK(self.dim() == 1, "Expect a 1D vector, but got shape ", self.sizes());
  TORCH_CHECK(r >= 0, "Expect a non-negative number, but got ", r);
  if (r == 0) return at::new_empty(self, {0});

  const int64_t n = self.numel();
  const int64_t limit = std::numeric_limits<int64_t>::max() / 16 / r;
  const int64_t count = combination_count(n, r, with_replacement, limit);
  Tensor positions;
  if (self.is_meta()) {
    positions = at::empty({count * r}, kLong, std::nullopt, self.device());
  } else {
    TORCH_CHECK(has_elements(self) || count <= kMostRecorded / r, "combinations: ", count,
                " rows of positions are too many for a constant of a graph");
    positions = at::to(lifted(combination_positions(n, r, with_replacement, count)), self.device());
  }
  return at::reshape(at::index_select(self, 0, positions), {count, r});
}

std::vector<Tensor> meshgrid(TensorList tensors, std::string_view indexing) {
  TORCH_CHECK(!tensors.empty(), "meshgrid expects a non-empty TensorList");
  TORCH_CHECK(indexing == "ij" || indexing == "xy",
              "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: ", indexing);

  DimVector shape;
  for (const Tensor& tensor : tensors) {
    TORCH_CHECK(
        tensor.dim() <= 1,
        "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: ", tensor.dim(), "D");
    TORCH_CHECK(tensor.scalar_type() == tensors[0].scalar_type(),
                "torch.meshgrid expects all tensors to have the same dtype");
    shape.push_back(tensor.numel());
  }

  const bool swap = indexing == "xy" && tensors.size() >= 2;
  std::vector<Tensor> grids;
  for (size_t i = 0; i < tensors.size(); ++i) {
    DimVector sizes(tensors.size(), 1);
    sizes[i] = tensors[i].numel();
    const Tensor grid = at::expand(at::reshape(tensors[i], sizes), shape);
    grids.push_back(swap ? at::transpose(grid, 0, 1) : grid);
  }

  return grids;
}

}  // namespace at::native
