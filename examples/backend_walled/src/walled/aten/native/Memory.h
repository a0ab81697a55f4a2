// The memory of the devices, seen from their own side.
#pragma once
#include "aten/core/Tensor.h"

namespace at::native::walled {

/// Where a kernel reads and writes what a tensor of a device calls `address`. Addresses of the host
/// stay as they are: an operand of a kernel may be a number there.
char* inside(const void* address);

template <class T>
T* elements(const Tensor& tensor) {
  return reinterpret_cast<T*>(inside(tensor.data()));
}

}  // namespace at::native::walled
