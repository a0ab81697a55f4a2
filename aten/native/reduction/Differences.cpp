// Differences of neighbours, and derivatives of sampled functions by finite differences.
#include <algorithm>
#include <vector>

#include "aten/native/declarations/reduction/Differences.h"
#include "aten/native/shared/Neighbours.h"
#include "aten/native/shared/ProductChecks.h"
#include "aten/ops/cat.h"
#include "aten/ops/diff.h"
#include "aten/ops/logical_xor.h"
#include "aten/ops/narrow.h"
#include "aten/ops/reshape.h"

namespace at::native {

namespace {

/// All dimensions, or those in `dim`, each at most once.
DimVector checked_dims(const Tensor& self, OptionalIntArrayRef dim) {
  DimVector dims;
  if (!dim.has_value()) {
    for (int64_t d = 0; d < self.dim(); ++d) dims.push_back(d);
  } else {
    for (const int64_t d : *dim) {
      const int64_t wrapped = wrap_dim(d, self.dim());
      TORCH_CHECK(std::find(dims.begin(), dims.end(), wrapped) == dims.end(), "dim ", wrapped,
                  " appears multiple times in the list of dims");
      dims.push_back(wrapped);
    }
  }
  return dims;
}

/// The dimensions that torch.gradient differentiates along, after its checks.
DimVector gradient_dims(const Tensor& self, OptionalIntArrayRef dim, int64_t edge_order) {
  TORCH_CHECK(self.scalar_type() != kByte, "torch.gradient does not support uint8 input.");
  TORCH_CHECK(self.scalar_type() != kBool,
              "torch.gradient does not support bool input: bool tensors are not subtracted.");
  TORCH_CHECK(edge_order == 1 || edge_order == 2,
              "torch.gradient only supports edge_order=1 and edge_order=2, got ", edge_order);

  DimVector dims = checked_dims(self, dim);
  for (const int64_t d : dims) {
    TORCH_CHECK(
        self.size(d) > edge_order,
        "torch.gradient expected each dimension size to be at least edge_order+1, got size ",
        self.size(d), " of dimension ", d);
  }

  return dims;
}

void check_count(const Tensor& self, size_t count, bool has_dim, size_t dims) {
  TORCH_CHECK(has_dim || count == static_cast<size_t>(self.dim()),
              "torch.gradient expected spacing to be unspecified, a scalar, or a list of length "
              "equal to 'self.dim() = ",
              self.dim(), "', since dim argument was not given, but got a list of length ", count);
  TORCH_CHECK(count == dims,
              "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim "
              "arguments to have the same length, "
              "but got a spacing argument of length ",
              count, " and a dim argument of length ", dims, ".");
}

/// Slices of `values` along one dimension. A negative index counts from the end; a range leaves out
/// `begin` slices at the front and `end` at the back.
struct Slices {
  const Tensor& values;
  int64_t dim;
  int64_t size() const { return values.size(dim); }

  Tensor slice(int64_t index) const {
    return at::narrow(values, dim, index < 0 ? index + size() : index, 1);
  }

  Tensor range(int64_t begin, int64_t end) const {
    return at::narrow(values, dim, begin, size() - begin - end);
  }
};

/// Central differences inside and one-sided differences at the edges. With `edge_order` 2 those are
/// (-3 f[0] + 4 f[1] - f[2]) / 2 and its mirror image with opposite signs, exact for parabolas.
Tensor along_equal_steps(const Tensor& self, int64_t dim, const Scalar& step, int64_t edge_order) {
  const Slices f{self, dim};
  const Tensor inside = (f.range(2, 0) - f.range(0, 2)) / Scalar(2);

  Tensor first = f.slice(1) - f.slice(0);
  Tensor last = f.slice(-1) - f.slice(-2);
  if (edge_order == 2) {
    first = first * Scalar(2) - (f.slice(2) - f.slice(0)) / Scalar(2);
    last = last * Scalar(2) - (f.slice(-1) - f.slice(-3)) / Scalar(2);
  }

  return at::cat({first, inside, last}, dim) / step;
}

/// The same for unequal steps: derivatives of the parabola through each point and its neighbours.
Tensor along_coordinates(const Tensor& self, int64_t dim, const Tensor& coordinates,
                         int64_t edge_order) {
  TORCH_CHECK(coordinates.dim() == 1,
              "torch.gradient expected each element of spacing to have one dimension, but got an "
              "element with ",
              coordinates.dim(), " dimensions!");
  TORCH_CHECK(coordinates.size(0) == self.size(dim),
              "torch.gradient expected as many coordinates in spacing as dimension ", dim,
              " has elements, ", self.size(dim), ", but got ", coordinates.size(0));

  DimVector sizes(self.dim(), 1);
  sizes[dim] = coordinates.size(0) - 1;
  const Tensor steps = at::reshape(at::diff(coordinates), sizes);
  const Tensor slopes = at::diff(self, 1, dim) / steps;
  const Slices h{steps, dim};
  const Slices s{slopes, dim};

  // Inside: the slopes on both sides, each weighted by the distance to the other side.
  const Tensor before = h.range(0, 1);
  const Tensor after = h.range(1, 0);
  const Tensor inside = (s.range(0, 1) * after + s.range(1, 0) * before) / (before + after);

  // At the edges: the outermost slopes, for order 2 corrected by how the slope changes.
  Tensor first = s.slice(0);
  Tensor last = s.slice(-1);
  if (edge_order == 2) {
    first = first + (first - s.slice(1)) * h.slice(0) / (h.slice(0) + h.slice(1));
    last = last + (last - s.slice(-2)) * h.slice(-1) / (h.slice(-1) + h.slice(-2));
  }

  return at::cat({first, inside, last}, dim);
}

std::vector<Tensor> with_equal_steps(const Tensor& self, const Scalar& step,
                                     OptionalIntArrayRef dim, int64_t edge_order) {
  std::vector<Tensor> derivatives;
  for (const int64_t d : gradient_dims(self, dim, edge_order))
    derivatives.push_back(along_equal_steps(self, d, step, edge_order));
  return derivatives;
}

std::vector<Tensor> with_steps(const Tensor& self, ArrayRef<Scalar> steps, OptionalIntArrayRef dim,
                               int64_t edge_order) {
  const DimVector dims = gradient_dims(self, dim, edge_order);
  check_count(self, steps.size(), dim.has_value(), dims.size());

  std::vector<Tensor> derivatives;
  for (size_t i = 0; i < dims.size(); ++i)
    derivatives.push_back(along_equal_steps(self, dims[i], steps[i], edge_order));
  return derivatives;
}

std::vector<Tensor> with_coordinates(const Tensor& self, TensorList coordinates,
                                     OptionalIntArrayRef dim, int64_t edge_order) {
  const DimVector dims = gradient_dims(self, dim, edge_order);
  check_count(self, coordinates.size(), dim.has_value(), dims.size());

  std::vector<Tensor> derivatives;
  for (size_t i = 0; i < dims.size(); ++i)
    derivatives.push_back(along_coordinates(self, dims[i], coordinates[i], edge_order));
  return derivatives;
}

OptionalIntArrayRef as_list(const std::optional<int64_t>& dim) {
  return dim.has_value() ? OptionalIntArrayRef(IntArrayRef(&*dim, 1)) : std::nullopt;
}

/// `other` is prepended or appended: it must match `self` in all dimensions but `dim`.
void check_addition(const Tensor& self, const Tensor& other, int64_t dim) {
  if (!other.defined()) return;

  check_same_device("diff", self, other);
  TORCH_CHECK(other.dim() == self.dim(),
              "diff expects prepend or append to be the same dimension as input, got ", other.dim(),
              " and ", self.dim(), " dimensions");
  for (int64_t d = 0; d < self.dim(); ++d) {
    TORCH_CHECK(d == dim || other.size(d) == self.size(d),
                "diff expects the shape of tensor to prepend or append to match that of input "
                "except along the differencing dimension; "
                "input.size(",
                d, ") = ", self.size(d), ", but got tensor.size(", d, ") = ", other.size(d));
  }
}

Tensor with_additions(const Tensor& self, const Tensor& prepend, const Tensor& append,
                      int64_t dim) {
  std::vector<Tensor> parts;
  for (const Tensor* part : {&prepend, &self, &append}) {
    if (part->defined()) parts.push_back(*part);
  }
  return parts.size() == 1 ? self : at::cat(parts, dim);
}

}  // namespace

std::vector<Tensor> gradient_scalarint(const Tensor& self, const std::optional<Scalar>& spacing,
                                       std::optional<int64_t> dim, int64_t edge_order) {
  return with_equal_steps(self, spacing.has_value() ? *spacing : Scalar(1), as_list(dim),
                          edge_order);
}

std::vector<Tensor> gradient_scalararray(const Tensor& self, const Scalar& spacing, IntArrayRef dim,
                                         int64_t edge_order) {
  return with_equal_steps(self, spacing, dim, edge_order);
}

std::vector<Tensor> gradient_array(const Tensor& self, IntArrayRef dim, int64_t edge_order) {
  return with_equal_steps(self, Scalar(1), dim, edge_order);
}

std::vector<Tensor> gradient_scalarrayint(const Tensor& self, ArrayRef<Scalar> spacing,
                                          std::optional<int64_t> dim, int64_t edge_order) {
  return with_steps(self, spacing, as_list(dim), edge_order);
}

std::vector<Tensor> gradient_scalarrayarray(const Tensor& self, ArrayRef<Scalar> spacing,
                                            IntArrayRef dim, int64_t edge_order) {
  return with_steps(self, spacing, dim, edge_order);
}

std::vector<Tensor> gradient_tensorarrayint(const Tensor& self, TensorList spacing,
                                            std::optional<int64_t> dim, int64_t edge_order) {
  return with_coordinates(self, spacing, as_list(dim), edge_order);
}

std::vector<Tensor> gradient_tensorarray(const Tensor& self, TensorList spacing, IntArrayRef dim,
                                         int64_t edge_order) {
  return with_coordinates(self, spacing, dim, edge_order);
}

Tensor diff(const Tensor& self, int64_t n, int64_t dim, const Tensor& prepend,
            const Tensor& append) {
  TORCH_CHECK(self.dim() >= 1, "diff expects input to be at least one-dimensional");
  TORCH_CHECK(n >= 0, "order must be non-negative but got ", n);
  const int64_t d = wrap_dim(dim, self.dim());
  check_addition(self, prepend, d);
  check_addition(self, append, d);

  if (n == 0) return self.clone();  // without what would be prepended or appended

  Tensor result = with_additions(self, prepend, append, d);
  if (n >= result.size(d)) return at::narrow(result, d, 0, 0).clone();

  // The difference of bools is their exclusive or.
  for (int64_t step = 0; step < n; ++step) {
    const bool is_bool = result.scalar_type() == kBool;
    result = is_bool ? at::logical_xor(upper(result, d), lower(result, d))
                     : upper(result, d) - lower(result, d);
  }

  return result;
}

}  // namespace at::native
