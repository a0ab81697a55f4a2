// Comparison of whole tensors, exactly or within a tolerance.
#include <algorithm>

#include "aten/native/declarations/elementwise/Comparison.h"
#include "aten/ops/abs.h"
#include "aten/ops/all.h"
#include "aten/ops/eq.h"
#include "aten/ops/isfinite.h"
#include "aten/ops/isnan.h"
#include "aten/ops/le.h"
#include "aten/ops/logical_and.h"
#include "aten/ops/logical_or.h"
#include "aten/ops/narrow.h"
#include "aten/ops/reshape.h"

namespace at::native {

bool equal(const Tensor& self, const Tensor& other) {
  TORCH_CHECK(
      self.device() == other.device(),
      "equal(): Expected all tensors to be on the same device, but found at least two devices, ",
      self.device(), " and ", other.device(), "!");

  if (self.sizes() != other.sizes()) return false;
  if (!self.is_contiguous() || !other.is_contiguous())
    return at::all(at::eq(self, other)).item().to_bool();

  // Piece by piece, so that an early difference ends the comparison.
  constexpr int64_t kPiece = 65536;
  const Tensor a = at::reshape(self, {-1});
  const Tensor b = at::reshape(other, {-1});
  for (int64_t start = 0; start < a.numel(); start += kPiece) {
    const int64_t count = std::min(kPiece, a.numel() - start);
    const Tensor same = at::eq(at::narrow(a, 0, start, count), at::narrow(b, 0, start, count));
    if (!at::all(same).item().to_bool()) return false;
  }
  return true;
}

Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  TORCH_CHECK(self.scalar_type() == other.scalar_type(), "isclose(): ", self.scalar_type(),
              " did not match ", other.scalar_type());
  TORCH_CHECK(rtol >= 0, "rtol must be greater than or equal to zero, but got ", rtol);
  TORCH_CHECK(atol >= 0, "atol must be greater than or equal to zero, but got ", atol);

  // Equal elements are close, including equal infinities.
  Tensor close = at::eq(self, other);
  if (equal_nan && (self.is_floating_point() || self.is_complex())) {
    close = at::logical_or(close, at::logical_and(at::isnan(self), at::isnan(other)));
  }
  if (rtol == 0 && atol == 0) return close;

  // |self - other| <= atol + rtol * |other|
  const ScalarType type = is_integral(self.scalar_type(), true) ? kDouble : self.scalar_type();
  const Tensor a = self.to(type);
  const Tensor b = other.to(type);
  const Tensor error = at::abs(a - b);
  const Tensor allowed = at::abs(b) * Scalar(rtol) + Scalar(atol);
  return at::logical_or(close, at::logical_and(at::isfinite(error), at::le(error, allowed)));
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return at::all(isclose(self, other, rtol, atol, equal_nan)).item().to_bool();
}

}  // namespace at::native
