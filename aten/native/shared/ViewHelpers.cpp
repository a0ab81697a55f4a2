// Shapes, strides and dimensions of views.
#include "aten/native/shared/ViewHelpers.h"

#include <algorithm>
#include <vector>

namespace at::native {

void (*note_untracked_view)(TensorImpl& view) = nullptr;

std::optional<DimVector> view_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef shape) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return contiguous_strides(shape);

  // Walk both shapes from the end: a run of new dimensions must have exactly as many elements as
  // each maximal run of contiguous input dimensions.
  DimVector result(shape.size());
  int64_t d = static_cast<int64_t>(shape.size()) - 1;
  int64_t run = 1;   // elements of the current input run
  int64_t made = 1;  // elements of the new dimensions placed in it
  int64_t base = sizes.empty() ? 1 : strides.back();

  for (int64_t i = static_cast<int64_t>(sizes.size()) - 1; i >= -1; --i) {
    if (i >= 0) run *= sizes[i];
    const bool run_ends = i <= 0 || (sizes[i - 1] != 1 && strides[i - 1] != run * base);
    if (!run_ends) continue;
    while (d >= 0 && (made < run || shape[d] == 1)) {
      result[d] = made * base;
      made *= shape[d];
      --d;
    }
    if (made != run) return std::nullopt;
    if (i <= 0) break;
    base = strides[i - 1];
    run = 1;
    made = 1;
  }

  return d == -1 ? std::optional<DimVector>(result) : std::nullopt;
}

DimVector infer_size(IntArrayRef shape, int64_t numel) {
  DimVector result(shape.begin(), shape.end());
  int64_t known = 1;
  int64_t inferred = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1) {
      TORCH_CHECK(inferred < 0, "only one dimension can be inferred");
      inferred = static_cast<int64_t>(i);
    } else {
      TORCH_CHECK(shape[i] >= 0, "invalid shape dimension ", shape[i]);
      TORCH_CHECK(!__builtin_mul_overflow(known, shape[i], &known), "shape '", shape,
                  "' is invalid for input of size ", numel);
    }
  }

  if (inferred >= 0 && known != 0 && numel % known == 0) {
    result[inferred] = numel / known;
    return result;
  }

  TORCH_CHECK(inferred < 0 || known != 0 || numel != 0,
              "cannot reshape tensor of 0 elements into shape ", shape,
              " because the unspecified dimension size -1 can be any value and is ambiguous");
  TORCH_CHECK(inferred < 0 && known == numel, "shape '", shape, "' is invalid for input of size ",
              numel);
  return result;
}

DimVector wrap_dims(IntArrayRef dims, int64_t ndim) {
  DimVector result;
  // Up to 64 dimensions fit into a word, which needs no allocation.
  uint64_t seen = 0;
  std::vector<bool> seen_of_many(ndim > 64 ? ndim : 0);

  for (const int64_t dim : dims) {
    const int64_t d = wrap_dim(dim, ndim);
    const bool repeated = ndim > 64 ? seen_of_many[d] : (seen >> d & 1) != 0;
    TORCH_CHECK(!repeated, "dim ", d, " appears multiple times in the list of dims");

    if (ndim > 64) {
      seen_of_many[d] = true;
    } else {
      seen |= uint64_t{1} << d;
    }
    result.push_back(d);
  }

  return result;
}

SliceRange slice_range(int64_t size, std::optional<int64_t> start, std::optional<int64_t> end,
                       int64_t step) {
  auto clip = [size](int64_t index) {
    return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size);
  };

  const int64_t first = clip(start.value_or(0));
  const int64_t last = std::max(first, clip(end.value_or(size)));
  return {first, last == first ? 0 : (last - first - 1) / step + 1};
}

}  // namespace at::native
