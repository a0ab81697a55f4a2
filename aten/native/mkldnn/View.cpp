// Views, which tensors with the mkldnn layout do not have.
#include "aten/native/declarations/mkldnn/View.h"
#include "aten/native/mkldnn/Elements.h"

namespace at::native {

Tensor view_mkldnn(const Tensor&, IntArrayRef) {
  TORCH_THROW(Error,
              "Currently Mkldnn tensor does not support view. Change to use reshape instead");
}

}  // namespace at::native
