// Complex numbers made of real ones, and their angle.
#include "aten/native/declarations/elementwise/Complex.h"
#include "aten/ops/_angle_complex.h"
#include "aten/ops/_angle_real.h"
#include "aten/ops/_times_i.h"
#include "aten/ops/abs.h"
#include "aten/ops/cos.h"
#include "aten/ops/eq.h"
#include "aten/ops/expand.h"
#include "aten/ops/mul.h"
#include "aten/ops/sin.h"
#include "aten/ops/stack.h"
#include "aten/ops/view_as_complex.h"
#include "aten/ops/where.h"

namespace at::native {

namespace {

void check_parts(const Tensor& first, const Tensor& second) {
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

}  // namespace

Tensor angle(const Tensor& self) {
  return self.is_complex() ? at::_angle_complex(self) : at::_angle_real(self);
}

Tensor _angle_backward(const Tensor& grad, const Tensor& self) {
  // The angle grows across the direction of self: i self / |self|^2. 0 has no direction.
  const Tensor modulus = at::abs(self);
  const Tensor scaled =
      at::where(at::eq(modulus, Scalar(0)), Scalar(0), grad / (modulus * modulus));
  return at::_times_i(self) * scaled;
}

// Conjugation and negation are carried out at once: there is never anything left to resolve.
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

}  // namespace at::native
