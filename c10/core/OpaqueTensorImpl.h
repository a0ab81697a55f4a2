#pragma once
// OpaqueTensorImpl: a tensor whose layout is private to the kernels of one dispatch key.
#include "c10/core/TensorImpl.h"

namespace c10 {

/// A tensor with the mkldnn layout. It has sizes, a dtype and a device, but neither strides nor a
/// storage that a program could see: its elements are in `content`, a strided tensor that only
/// kernels for MkldnnCPU read and write. Copies without history (detach) share the content, so that
/// in-place changes reach them.
class TORCH_PY_API OpaqueTensorImpl final : public TensorImpl {
 public:
  explicit OpaqueTensorImpl(intrusive_ptr<TensorImpl> content);

  const intrusive_ptr<TensorImpl>& content() const { return content_; }
  /// Takes over elements of other sizes or another dtype.
  void set_content(intrusive_ptr<TensorImpl> content);

  intrusive_ptr<TensorImpl> shallow_copy() const override;
  void shallow_copy_from(const TensorImpl& other) override;

 protected:
  void release_resources() override;

 private:
  intrusive_ptr<TensorImpl> content_;
};

/// The body of a tensor with the mkldnn layout; throws for another layout.
TORCH_PY_API OpaqueTensorImpl& as_opaque(TensorImpl& impl);

/// For code that is about to use a tensor's memory without an operator: a tensor without a storage
/// raises PyTorch's errors.
TORCH_PY_API void check_has_data(const TensorImpl& impl);
TORCH_PY_API void check_has_storage(const TensorImpl& impl);
TORCH_PY_API void check_has_strides(const TensorImpl& impl);

}  // namespace c10
