// The elements of tensors with the mkldnn layout: Note [The mkldnn layout].
#include "aten/native/mkldnn/Elements.h"
#include "c10/core/OpaqueTensorImpl.h"
#include "c10/dispatch/LocalState.h"

namespace at::native {

namespace {

MemoryFormat format_of_rank(int64_t dim) {
  if (dim == 4) return MemoryFormat::ChannelsLast;
  return dim == 5 ? MemoryFormat::ChannelsLast3d : MemoryFormat::Contiguous;
}

}  // namespace

Tensor elements_of_mkldnn(const Tensor& tensor) {
  const c10::OpaqueTensorImpl& impl = c10::as_opaque(*tensor.unsafe_impl());
  const bool is_below_autograd = local_state().excluded.has(DispatchKey::AutogradMkldnnCPU);
  TORCH_CHECK_NOT_IMPLEMENTED(is_below_autograd || !tensor.requires_grad(),
                              "the derivative of a gradient is not implemented for tensors of "
                              "layout torch._mkldnn");
  return Tensor(impl.content());
}

Tensor strided_elements(const Tensor& tensor) {
  const bool is_opaque = tensor.defined() && tensor.layout() == Layout::Mkldnn;
  return is_opaque ? elements_of_mkldnn(tensor) : tensor;
}

Tensor elements_wanting_grad(const Tensor& tensor) {
  Tensor result(strided_elements(tensor).impl()->shallow_copy());
  result.unsafe_impl()->set_autograd_key(tensor.requires_grad());
  return result;
}

Tensor mkldnn_from(const Tensor& strided) {
  if (!strided.defined()) return strided;

  const NoGradGuard no_grad;
  const Tensor content = strided.contiguous(format_of_rank(strided.dim()));
  return Tensor(make_intrusive<c10::OpaqueTensorImpl>(content.impl()));
}

Tensor mkldnn_copy_of(const Tensor& strided, ScalarType dtype) {
  const DimVector strides = strided.dim() == 4 || strided.dim() == 5
                                ? channels_last_strides(strided.sizes())
                                : contiguous_strides(strided.sizes());
  const Tensor copy = empty_strided_tensor(strided.sizes(), strides, dtype, strided.device());
  copy.copy_(strided);
  return Tensor(make_intrusive<c10::OpaqueTensorImpl>(copy.as_new().impl()));
}

void check_mkldnn_dtype(const char* message, ScalarType dtype) {
  TORCH_CHECK(dtype == kFloat || dtype == kBFloat16 || dtype == kHalf || dtype == kByte ||
                  dtype == kChar,
              message);
}

}  // namespace at::native
