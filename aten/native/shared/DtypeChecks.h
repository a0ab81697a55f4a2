#pragma once
// Checks of dtypes that several operators share.
#include "aten/core/Tensor.h"

namespace at::native {

inline void check_same_dtype(const char* op, const char* argument, const Tensor& self,
                             const Tensor& other) {
  TORCH_CHECK(self.scalar_type() == other.scalar_type(), op,
              "(): Expected self.dtype to be equal to ", argument, ".dtype, got ",
              self.scalar_type(), " and ", other.scalar_type());
}

}  // namespace at::native
