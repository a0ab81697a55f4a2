// Reversing, rotating and rolling dimensions: compositions, shape rules and the gradient of roll.
#include <limits>

#include "aten/native/declarations/shape/Flipping.h"
#include "aten/native/shared/ViewHelpers.h"
#include "aten/ops/clone.h"
#include "aten/ops/flip.h"
#include "aten/ops/roll.h"
#include "aten/ops/transpose.h"
#include "c10/util/CheckedMath.h"

namespace at::native {

Tensor rot90(const Tensor& self, int64_t k, IntArrayRef dims) {
  TORCH_CHECK(dims.size() == 2, "expected total rotation dims == 2, but got dims = ", dims.size());
  TORCH_CHECK(self.dim() >= 2, "expected total dims >= 2, but got total dims = ", self.dim());
  const int64_t from = wrap_dim(dims[0], self.dim());
  const int64_t to = wrap_dim(dims[1], self.dim());
  TORCH_CHECK(from != to, "expected rotation dims to be different, but got dim0 = ", dims[0],
              " and dim1 = ", dims[1]);

  // A quarter turn is a flip of one dimension and an exchange of both.
  switch ((k % 4 + 4) % 4) {
    case 1: return at::transpose(at::flip(self, {to}), from, to);
    case 2: return at::flip(self, {from, to});
    case 3: return at::transpose(at::flip(self, {from}), from, to);
    default: return at::clone(self, MemoryFormat::Contiguous);
  }
}

Tensor fliplr(const Tensor& self) {
  TORCH_CHECK(self.dim() >= 2, "Input must be >= 2-d.");
  return at::flip(self, {1});
}

Tensor flipud(const Tensor& self) {
  TORCH_CHECK(self.dim() >= 1, "Input must be >= 1-d.");
  return at::flip(self, {0});
}

TensorSpec flip_shape(const Tensor& self, IntArrayRef dims) {
  TORCH_CHECK(self.dim() <= 64, "only tensors with up to 64 dims are supported, got ", self.dim());
  wrap_dims(dims, self.dim());
  return {DimVector(self.sizes()), self.scalar_type(), self.device(), strides_in_order_of(self)};
}

TensorSpec roll_shape(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  TORCH_CHECK(!shifts.empty(), "`shifts` required");
  TORCH_CHECK(dims.empty() ? shifts.size() == 1 : shifts.size() == dims.size(),
              "shifts and dimensions must align. shifts: ", shifts.size(), ", dims:", dims.size());

  // The dimensions of an empty tensor are not checked. A repeated dimension adds up its shifts.
  const TensorSpec spec{DimVector(self.sizes()), self.scalar_type(), self.device()};
  if (self.numel() == 0) return spec;

  for (const int64_t dim : dims) wrap_dim_of(self.sizes(), dim);
  for (const int64_t shift : shifts) {
    TORCH_CHECK(shift != std::numeric_limits<int64_t>::min(), "roll(): a shift of ", shift,
                " cannot be negated");
  }

  return spec;
}

Tensor _roll_backward(const Tensor& grad, IntArrayRef shifts, IntArrayRef dims) {
  DimVector back;
  for (const int64_t shift : shifts) back.push_back(c10::wrapping_negate(shift));
  return at::roll(grad, back, dims);
}

}  // namespace at::native
