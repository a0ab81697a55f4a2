// Plans for x[indices]: resolves masks, broadcasts the indices and finds the memory of each
// element.
#include "aten/native/shared/AdvancedIndexing.h"

#include <algorithm>

#include "aten/iteration/MemoryOverlap.h"
#include "aten/native/shared/ResultLayout.h"
#include "aten/ops/expand.h"
#include "aten/ops/nonzero.h"
#include "aten/ops/reshape.h"
#include "aten/ops/unbind.h"

namespace at::native {

namespace {

bool is_mask(const Tensor& index) {
  return index.scalar_type() == kBool || index.scalar_type() == kByte;
}

/// Checks that a mask has the shape of `self` from dimension `first` on.
void check_mask(const Tensor& self, const Tensor& index, int64_t first) {
  TORCH_CHECK_INDEX(first + index.dim() <= self.dim(), "too many indices for tensor of dimension ",
                    self.dim());
  for (int64_t d = 0; d < index.dim(); ++d) {
    TORCH_CHECK_INDEX(index.sizes()[d] == self.sizes()[first + d], "The shape of the mask ",
                      index.sizes(), " at index ", d,
                      " does not match the shape of the indexed tensor ", self.sizes(),
                      " at index ", first + d);
  }
}

/// Converts integer indices to int64 and replaces each mask by the positions of its True elements,
/// one index per dimension of the mask. The result has one entry per dimension of `self`, undefined
/// where that dimension is not indexed.
std::vector<Tensor> resolve_masks(const Tensor& self, TensorList indices) {
  std::vector<Tensor> result;
  for (const Tensor& index : indices) {
    if (!index.defined()) {
      result.emplace_back();
      continue;
    }
    TORCH_CHECK(self.is_meta() || !index.is_meta(),
                "indices on the meta device hold no positions, and the indexed tensor is on ",
                self.device());

    const ScalarType type = index.scalar_type();
    TORCH_CHECK_INDEX(type == kLong || type == kInt || is_mask(index),
                      "tensors used as indices must be long, int, byte or bool tensors");

    if (!is_mask(index)) {
      result.push_back(index.to(kLong));
      continue;
    }

    check_mask(self, index, static_cast<int64_t>(result.size()));
    for (const Tensor& position : at::unbind(at::nonzero(index), 1)) result.push_back(position);
  }

  TORCH_CHECK_INDEX(static_cast<int64_t>(result.size()) <= self.dim(),
                    "too many indices for tensor of dimension ", self.dim(), " (got ",
                    result.size(), ")");
  result.resize(self.dim());
  return result;
}

/// The broadcast shape of the defined indices.
DimVector broadcast_index_sizes(const std::vector<Tensor>& indices) {
  DimVector sizes;
  for (const Tensor& index : indices) {
    if (!index.defined()) continue;
    try {
      sizes = broadcast_sizes(sizes, index.sizes());
    } catch (const c10::Error&) {
      // An IndexError that lists the shapes of all indices.
      std::string shapes;
      for (const Tensor& each : indices) {
        if (each.defined()) shapes += c10::str(shapes.empty() ? "" : ", ", each.sizes());
      }
      TORCH_CHECK_INDEX(
          false, "shape mismatch: indexing tensors could not be broadcast together with shapes ",
          shapes);
    }
  }
  return sizes;
}

/// Whether the defined indices are adjacent.
bool are_neighbours(const std::vector<Tensor>& indices) {
  int changes = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    const bool before = i > 0 && indices[i - 1].defined();
    if (indices[i].defined() && !before) ++changes;
  }
  return changes <= 1;
}

/// Adds the byte offsets of an index along dimension `dim` (of size `extent`) to `offsets`.
void add_offsets(std::vector<int64_t>& offsets, const Tensor& index, IntArrayRef sizes, int64_t dim,
                 int64_t extent, int64_t stride) {
  const Tensor positions = at::expand(index, sizes).contiguous();
  const int64_t* position = positions.data_ptr<int64_t>();

  // Only of a position that is out of bounds is one of the two numbers negative.
  uint64_t signs = 0;
  const auto size = static_cast<uint64_t>(extent);
  for (size_t i = 0; i < offsets.size(); ++i) {
    const auto p = static_cast<uint64_t>(position[i]);
    signs |= (p + size) | (size - 1 - p);
  }
  for (size_t i = 0; static_cast<int64_t>(signs) < 0 && i < offsets.size(); ++i) {
    TORCH_CHECK_INDEX(position[i] >= -extent && position[i] < extent, "index ", position[i],
                      " is out of bounds for dimension ", dim, " with size ", extent);
  }

  for (size_t i = 0; i < offsets.size(); ++i)
    offsets[i] += (position[i] < 0 ? position[i] + extent : position[i]) * stride;
}

bool expands_to(IntArrayRef from, IntArrayRef to) {
  if (from.size() > to.size()) return false;

  // Sizes are aligned at the last dimension.
  for (size_t i = 1; i <= from.size(); ++i) {
    const int64_t size = from[from.size() - i];
    if (size != 1 && size != to[to.size() - i]) return false;
  }
  return true;
}

}  // namespace

void check_masks(const Tensor& self, TensorList indices) {
  int64_t first = 0;
  for (const Tensor& index : indices) {
    const bool masks = index.defined() && is_mask(index);
    if (masks) check_mask(self, index, first);
    first += masks ? index.dim() : 1;
  }
  TORCH_CHECK_INDEX(first <= self.dim(), "too many indices for tensor of dimension ", self.dim(),
                    " (got ", first, ")");
}

DimVector IndexPlan::result_sizes() const {
  DimVector sizes(before_sizes);
  sizes.append(index_sizes.begin(), index_sizes.end());
  sizes.append(after_sizes.begin(), after_sizes.end());
  return sizes;
}

DimVector IndexPlan::result_strides() const {
  const DimVector sizes = result_sizes();
  const bool all_contiguous = std::all_of(
      indices.begin(), indices.end(), [](const Tensor& index) { return index.is_contiguous(); });
  if (source.is_contiguous() && all_contiguous) return contiguous_strides(sizes);

  std::vector<DimVector> operands;
  DimVector source_strides(sizes.size(), 0);
  std::copy(before_strides.begin(), before_strides.end(), source_strides.begin());
  std::copy(after_strides.begin(), after_strides.end(),
            source_strides.end() - after_strides.size());
  operands.push_back(source_strides);

  for (const Tensor& index : indices) {
    // The index with as many dimensions as the result. Its added dimensions of size 1 get stride 0,
    // unless the result's size there is 1, too.
    DimVector shape(sizes.size(), 1);
    const Tensor full =
        index.sizes() == IntArrayRef(index_sizes) ? index : at::expand(index, index_sizes);
    std::copy(index_sizes.begin(), index_sizes.end(), shape.begin() + before_sizes.size());
    DimVector strides(at::reshape(full, shape).strides());
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (shape[d] == 1 && sizes[d] != 1) strides[d] = 0;
    }
    operands.push_back(strides);
  }
  return strides_like(sizes, ArrayRef<DimVector>(operands.data(), operands.size()));
}

IndexPlan plan_index(const Tensor& self, TensorList indices) {
  const std::vector<Tensor> resolved = resolve_masks(self, indices);
  IndexPlan plan;
  plan.source = self;
  plan.index_sizes = broadcast_index_sizes(resolved);

  int64_t positions = 1;
  for (const int64_t size : plan.index_sizes) {
    TORCH_CHECK(!__builtin_mul_overflow(positions, size, &positions),
                "numel: integer multiplication overflow, got indices of sizes ",
                IntArrayRef(plan.index_sizes));
  }
  if (self.is_meta()) positions = 0;  // the plan of a meta tensor consists of shapes
  const bool on_host = self.is_cpu();
  if (on_host) plan.offsets.assign(positions, 0);

  const bool neighbours = are_neighbours(resolved);
  const int64_t itemsize = static_cast<int64_t>(self.itemsize());

  // If the result is empty no element is read, and indices may be out of range.
  bool nothing = false;
  for (int64_t d = 0; d < self.dim(); ++d)
    nothing = nothing || (self.sizes()[d] == 0 && !resolved[d].defined());

  // Dimensions go to `before` until the first index and to `after` from there on; all go to `after`
  // if the indices are not adjacent.
  bool seen = !neighbours;
  for (int64_t d = 0; d < self.dim(); ++d) {
    const int64_t stride = self.strides()[d] * itemsize;
    if (resolved[d].defined()) {
      seen = true;
      plan.indices.push_back(resolved[d]);
      TORCH_CHECK_INDEX(positions == 0 || self.sizes()[d] > 0,
                        "index is out of bounds for dimension ", d, " with size 0");
      plan.dimensions.push_back(d);
      plan.extents.push_back(self.sizes()[d]);
      plan.steps.push_back(stride);
      if (on_host && positions > 0 && !nothing)
        add_offsets(plan.offsets, resolved[d], plan.index_sizes, d, self.sizes()[d], stride);
      continue;
    }
    (seen ? plan.after_sizes : plan.before_sizes).push_back(self.sizes()[d]);
    (seen ? plan.after_strides : plan.before_strides).push_back(stride);
  }

  return plan;
}

void check_index_put(const Tensor& self, TensorList indices, const Tensor& values) {
  TORCH_CHECK(self.is_meta() || !values.is_meta(),
              "index_put_(): values are on the meta device, self is on ", self.device());

  check_no_overlap("index_put_", self, {values, indices});
}

IndexPut plan_index_put(const Tensor& self, TensorList indices, const Tensor& values) {
  std::vector<Tensor> positions;
  for (const Tensor& index : indices)
    positions.push_back(index.defined() ? readable_beside(self, index) : index);
  IndexPut put{plan_index(self, positions), Tensor()};

  const DimVector sizes = put.plan.result_sizes();
  TORCH_CHECK(expands_to(values.sizes(), sizes), "shape mismatch: value tensor of shape ",
              values.sizes(), " cannot be broadcast to indexing result of shape ",
              IntArrayRef(sizes));
  put.values = at::expand(readable_beside(self, values.to(self.scalar_type())), sizes);
  return put;
}

RowShape row_shape(const IndexPlan& plan) {
  RowShape shape;
  if (!plan.after_sizes.empty()) {
    shape.length = plan.after_sizes.back();
    shape.stride = plan.after_strides.back();
  }
  for (const int64_t size : plan.before_sizes) shape.rows *= size;
  shape.rows *= static_cast<int64_t>(plan.offsets.size());
  for (size_t d = 0; d + 1 < plan.after_sizes.size(); ++d) shape.rows *= plan.after_sizes[d];
  return shape;
}

char* row_address(const IndexPlan& plan, int64_t index) {
  int64_t offset = 0;
  if (plan.before_sizes.empty() && plan.after_sizes.size() <= 1)
    return static_cast<char*>(plan.source.data()) + plan.offsets[index];

  for (size_t d = plan.after_sizes.size(); d-- > 1;) {
    const size_t outer = d - 1;
    offset += index % plan.after_sizes[outer] * plan.after_strides[outer];
    index /= plan.after_sizes[outer];
  }

  const int64_t positions = static_cast<int64_t>(plan.offsets.size());
  offset += plan.offsets[index % positions];
  index /= positions;

  for (size_t d = plan.before_sizes.size(); d-- > 0;) {
    offset += index % plan.before_sizes[d] * plan.before_strides[d];
    index /= plan.before_sizes[d];
  }

  return static_cast<char*>(plan.source.data()) + offset;
}

}  // namespace at::native
