// Copies of tensors with the mkldnn layout, and zeros in them.
#include "aten/native/declarations/mkldnn/Copy.h"
#include "aten/native/mkldnn/Elements.h"

namespace at::native {

Tensor clone_mkldnn(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  TORCH_CHECK(!memory_format.has_value() || *memory_format == MemoryFormat::Preserve,
              "unsupported memory format option ", *memory_format);
  return mkldnn_copy_of(elements_of_mkldnn(self), self.scalar_type());
}

void copy_mkldnn(const Tensor& self, const Tensor& src, bool) {
  TORCH_CHECK(
      self.layout() == src.layout(),
      "copy_mkldnn_: between mkldnn layout and dense Tensors is not implemented! Found self "
      "layout = ",
      self.layout(), " and src layout = ", src.layout());
  TORCH_CHECK(self.sizes() == src.sizes(), "copy_mkldnn_: only support same size tensor, got ",
              self.sizes(), " and ", src.sizes());
  elements_of_mkldnn(self).copy_(elements_of_mkldnn(src));
}

void zero_mkldnn(const Tensor& self) { elements_of_mkldnn(self).zero_(); }

}  // namespace at::native
