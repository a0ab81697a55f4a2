// Complex numbers: construction from parts, views of the parts, sign, angle and conjugation.
#include "aten/native/declarations/elementwise/Complex.h"
#include "aten/native/shared/ViewHelpers.h"
#include "aten/ops/_angle_complex.h"
#include "aten/ops/_angle_real.h"
#include "aten/ops/_imag_view.h"
#include "aten/ops/_real_view.h"
#include "aten/ops/_sgn_complex.h"
#include "aten/ops/_times_i.h"
#include "aten/ops/abs.h"
#include "aten/ops/clone.h"
#include "aten/ops/conj.h"
#include "aten/ops/conj_physical.h"
#include "aten/ops/cos.h"
#include "aten/ops/eq.h"
#include "aten/ops/expand.h"
#include "aten/ops/real.h"
#include "aten/ops/sign.h"
#include "aten/ops/sin.h"
#include "aten/ops/stack.h"
#include "aten/ops/view_as_complex.h"
#include "aten/ops/where.h"
#include "c10/util/CheckedMath.h"

namespace at::native {

namespace {

void check_parts(const Tensor& first, const Tensor& second) {
  // float16, float32 and float64 are the floating-point dtypes with a complex dtype of their own.
  const auto fits = [](const Tensor& part) {
    return part.is_floating_point() &&
           to_complex(part.scalar_type()) == promote_types(kComplexHalf, part.scalar_type());
  };

  TORCH_CHECK(fits(first) && fits(second),
              "Expected both inputs to be Half, Float or Double tensors but got ",
              first.scalar_type(), " and ", second.scalar_type());
  TORCH_CHECK(first.scalar_type() == second.scalar_type(), "Expected object of scalar type ",
              first.scalar_type(), " but got scalar type ", second.scalar_type(),
              " for second argument");
}

/// Strides and offsets in complex numbers, counted in real ones. Those of empty tensors may be too
/// large; they wrap around, and nothing reads them.
int64_t doubled(int64_t count) { return c10::wrapping_multiply<int64_t>(count, 2); }

DimVector doubled(IntArrayRef strides) {
  DimVector result;
  for (const int64_t stride : strides) result.push_back(doubled(stride));
  return result;
}

/// A view of the real parts (`which` 0) or the imaginary parts (`which` 1).
Tensor component(const Tensor& self, int64_t which) {
  TORCH_CHECK(self.is_complex(), "expected a complex tensor, got ", self.scalar_type());

  return view_with_dtype(self, to_real(self.scalar_type()), self.sizes(), doubled(self.strides()),
                         doubled(self.storage_offset()) + which);
}

}  // namespace

Tensor sgn(const Tensor& self) {
  return self.is_complex() ? at::_sgn_complex(self) : at::sign(self);
}

Tensor _sgn_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  // x / |x| has length 1: a change along x has no effect, and one across x scales with 1 / |x|. The
  // gradient at 0 is 0.
  const Tensor along = result * at::real(at::conj(result) * grad);
  return at::where(at::eq(self, Scalar(0)), Scalar(0), (grad - along) / at::abs(self));
}

Tensor angle(const Tensor& self) {
  return self.is_complex() ? at::_angle_complex(self) : at::_angle_real(self);
}

Tensor _angle_backward(const Tensor& grad, const Tensor& self) {
  // The angle grows fastest across the direction of self, and its gradient is i self / |self|^2. It
  // is 0 at 0, which has no direction.
  const Tensor modulus = at::abs(self);
  const Tensor scaled =
      at::where(at::eq(modulus, Scalar(0)), Scalar(0), grad / (modulus * modulus));
  return at::_times_i(self) * scaled;
}

// Conjugation and negation are computed immediately, so tensors are always resolved.
Tensor resolve_conj(const Tensor& self) { return self; }
Tensor resolve_neg(const Tensor& self) { return self; }

Tensor complex_from_parts(const Tensor& real, const Tensor& imag) {
  check_parts(real, imag);
  const DimVector sizes = broadcast_sizes(real.sizes(), imag.sizes());
  return at::view_as_complex(at::stack({at::expand(real, sizes), at::expand(imag, sizes)}, -1));
}

Tensor polar(const Tensor& abs, const Tensor& angle) {
  check_parts(abs, angle);
  return complex_from_parts(abs * at::cos(angle), abs * at::sin(angle));
}

Tensor conj(const Tensor& self) { return self.is_complex() ? at::conj_physical(self) : self; }

Tensor real_view(const Tensor& self) { return component(self, 0); }
Tensor imag_view(const Tensor& self) { return component(self, 1); }

Tensor real(const Tensor& self) { return self.is_complex() ? at::_real_view(self) : self; }
Tensor imag(const Tensor& self) {
  TORCH_CHECK(self.is_complex(), "imag is not implemented for tensors with non-complex dtypes.");
  return at::_imag_view(self);
}

Tensor _times_i(const Tensor& grad) {
  return grad.to(to_complex(grad.scalar_type())) * Scalar(c10::complex<double>(0, 1));
}

Tensor view_as_real(const Tensor& self) {
  TORCH_CHECK(self.is_complex(), "view_as_real is only supported for complex tensors");

  DimVector sizes(self.sizes());
  DimVector strides = doubled(self.strides());
  sizes.push_back(2);
  strides.push_back(1);

  return view_with_dtype(self, to_real(self.scalar_type()), sizes, strides,
                         doubled(self.storage_offset()));
}

Tensor view_as_complex(const Tensor& self) {
  TORCH_CHECK(self.scalar_type() == kFloat || self.scalar_type() == kDouble ||
                  self.scalar_type() == kHalf,
              "view_as_complex is only supported for half, float and double tensors, but got a "
              "tensor of scalar type: ",
              self.scalar_type());
  TORCH_CHECK(self.dim() > 0, "Input tensor must have one or more dimensions");

  DimVector sizes(self.sizes());
  DimVector strides(self.strides());
  TORCH_CHECK(sizes.back() == 2, "Tensor must have a last dimension of size 2");
  TORCH_CHECK(strides.back() == 1, "Tensor must have a last dimension with stride 1");
  TORCH_CHECK(self.storage_offset() % 2 == 0, "Tensor must have a storage_offset divisible by 2");

  sizes.pop_back();
  strides.pop_back();
  for (int64_t& stride : strides) {
    TORCH_CHECK(stride % 2 == 0,
                "Tensor must have a stride divisible by 2 for all but last dimension");
    stride /= 2;
  }

  return view_with_dtype(self, to_complex(self.scalar_type()), sizes, strides,
                         self.storage_offset() / 2);
}

Tensor _numbers_as_complex(const Tensor& grad) {
  TORCH_CHECK(grad.dim() > 0, "Input tensor must have one or more dimensions");

  // Pairs of numbers that are not complex elements in memory are copied first.
  bool suits = grad.strides().back() == 1 && grad.storage_offset() % 2 == 0;
  for (const int64_t stride : grad.strides().slice(0, grad.dim() - 1))
    suits = suits && stride % 2 == 0;
  return at::view_as_complex(suits ? grad : at::clone(grad, MemoryFormat::Contiguous));
}

}  // namespace at::native
