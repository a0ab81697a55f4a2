// Tensors whose layout is private to their kernels.
#include "c10/core/OpaqueTensorImpl.h"

#include "c10/util/Exception.h"

namespace c10 {

OpaqueTensorImpl::OpaqueTensorImpl(intrusive_ptr<TensorImpl> content)
    : TensorImpl(Storage(), content->dtype(), content->device(),
                 DispatchKeySet(DispatchKey::MkldnnCPU) | DispatchKey::AutogradMkldnnCPU) {
  set_layout(Layout::Mkldnn);
  set_content(std::move(content));
}

void OpaqueTensorImpl::set_content(intrusive_ptr<TensorImpl> content) {
  set_dtype(content->dtype());
  set_sizes_contiguous(content->sizes());
  content_ = std::move(content);
}

intrusive_ptr<TensorImpl> OpaqueTensorImpl::shallow_copy() const {
  return make_intrusive<OpaqueTensorImpl>(content_);
}

void OpaqueTensorImpl::shallow_copy_from(const TensorImpl& other) {
  const auto* opaque = dynamic_cast<const OpaqueTensorImpl*>(&other);
  TORCH_CHECK(opaque != nullptr,
              "a tensor of layout torch._mkldnn cannot take over elements of layout ",
              layout_name(other.layout()));

  set_content(opaque->content_);
}

void OpaqueTensorImpl::release_resources() {
  TensorImpl::release_resources();
  content_ = {};
}

OpaqueTensorImpl& as_opaque(TensorImpl& impl) {
  TORCH_CHECK(impl.layout() == Layout::Mkldnn,
              "expected a tensor of layout torch._mkldnn, got torch.", layout_name(impl.layout()));
  return static_cast<OpaqueTensorImpl&>(impl);
}

namespace {

/// Whether the tensor has no memory of its own: its class handles calls, or a function transform
/// has wrapped it.
bool stands_for_others(const TensorImpl& impl) {
  const DispatchKeySet keys = impl.key_set();
  return !impl.storage() && (keys.has(DispatchKey::Python) || keys.has(DispatchKey::Transform));
}

}  // namespace

void check_has_data(const TensorImpl& impl) {
  TORCH_CHECK(impl.layout() == Layout::Strided && !stands_for_others(impl),
              "Cannot access data pointer of Tensor that doesn't have storage");
}

void check_has_storage(const TensorImpl& impl) {
  TORCH_CHECK_NOT_IMPLEMENTED(impl.layout() == Layout::Strided,
                              "Cannot access storage of OpaqueTensorImpl");
  TORCH_CHECK_NOT_IMPLEMENTED(!stands_for_others(impl),
                              "Cannot access storage of a tensor that stands for others");
}

void check_has_strides(const TensorImpl& impl) {
  TORCH_CHECK(impl.layout() == Layout::Strided, "a tensor of layout torch.",
              layout_name(impl.layout()), " has no strides");
}

}  // namespace c10
