// The operators among Tensor's members, which call the generated functions.
#include "aten/core/Tensor.h"
#include "aten/ops/add.h"
#include "aten/ops/clone.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/copy.h"
#include "aten/ops/detach.h"
#include "aten/ops/div.h"
#include "aten/ops/expand.h"
#include "aten/ops/fill.h"
#include "aten/ops/item.h"
#include "aten/ops/mul.h"
#include "aten/ops/narrow.h"
#include "aten/ops/neg.h"
#include "aten/ops/reshape.h"
#include "aten/ops/select.h"
#include "aten/ops/squeeze.h"
#include "aten/ops/sub.h"
#include "aten/ops/sum.h"
#include "aten/ops/to.h"
#include "aten/ops/transpose.h"
#include "aten/ops/unsqueeze.h"
#include "aten/ops/view.h"
#include "aten/ops/zero.h"

namespace at {

Tensor Tensor::contiguous(MemoryFormat format) const {
  return is_contiguous(format) ? *this : at::contiguous(*this, format);
}

Tensor Tensor::to(ScalarType dtype) const {
  return scalar_type() == dtype ? *this : at::to(*this, dtype);
}
Tensor Tensor::view(IntArrayRef sizes) const { return at::view(*this, sizes); }
Tensor Tensor::reshape(IntArrayRef sizes) const { return at::reshape(*this, sizes); }

Tensor Tensor::transpose(int64_t dim0, int64_t dim1) const {
  return at::transpose(*this, dim0, dim1);
}
Tensor Tensor::unsqueeze(int64_t dim) const { return at::unsqueeze(*this, dim); }
Tensor Tensor::squeeze(int64_t dim) const { return at::squeeze(*this, dim); }
Tensor Tensor::expand(IntArrayRef sizes) const { return at::expand(*this, sizes); }
Tensor Tensor::select(int64_t dim, int64_t index) const { return at::select(*this, dim, index); }

Tensor Tensor::narrow(int64_t dim, int64_t start, int64_t length) const {
  return at::narrow(*this, dim, start, length);
}

Tensor Tensor::sum() const { return at::sum(*this); }
Tensor Tensor::clone() const { return at::clone(*this); }
Tensor Tensor::detach() const { return at::detach(*this); }

const Tensor& Tensor::copy_(const Tensor& source) const {
  at::copy_(*this, source);
  return *this;
}
const Tensor& Tensor::fill_(const Scalar& value) const {
  at::fill_(*this, value);
  return *this;
}
const Tensor& Tensor::zero_() const {
  at::zero_(*this);
  return *this;
}

Scalar Tensor::item() const { return at::item(*this); }

Tensor operator+(const Tensor& a, const Tensor& b) { return at::add(a, b); }
Tensor operator-(const Tensor& a, const Tensor& b) { return at::sub(a, b); }
Tensor operator*(const Tensor& a, const Tensor& b) { return at::mul(a, b); }
Tensor operator/(const Tensor& a, const Tensor& b) { return at::div(a, b); }
Tensor operator+(const Tensor& a, const Scalar& b) { return at::add(a, b); }
Tensor operator-(const Tensor& a, const Scalar& b) { return at::sub(a, b); }
Tensor operator*(const Tensor& a, const Scalar& b) { return at::mul(a, b); }
Tensor operator/(const Tensor& a, const Scalar& b) { return at::div(a, b); }
Tensor operator+(const Scalar& a, const Tensor& b) { return at::add(b, a); }
Tensor operator-(const Scalar& a, const Tensor& b) { return at::sub(wrapped_scalar(a), b); }
Tensor operator*(const Scalar& a, const Tensor& b) { return at::mul(b, a); }
Tensor operator/(const Scalar& a, const Tensor& b) { return at::div(wrapped_scalar(a), b); }
Tensor operator-(const Tensor& a) { return at::neg(a); }

}  // namespace at
