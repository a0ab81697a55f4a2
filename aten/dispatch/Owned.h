#pragma once
// Copies of arguments that outlive their call: own() copies the memory that an argument views, and
// returns other arguments as they are.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aten/core/Tensor.h"

namespace at {

template <class T>
T own(const T& value) {
  return value;
}
inline DimVector own(IntArrayRef list) { return DimVector(list); }
inline std::optional<DimVector> own(const OptionalIntArrayRef& list) {
  return list ? std::optional<DimVector>(DimVector(*list)) : std::nullopt;
}
template <class T>
std::vector<T> own(ArrayRef<T> list) {
  return std::vector<T>(list.begin(), list.end());
}
template <class T>
std::optional<std::vector<T>> own(const std::optional<ArrayRef<T>>& list) {
  return list ? std::optional<std::vector<T>>(own(*list)) : std::nullopt;
}
inline std::string own(std::string_view text) { return std::string(text); }
inline std::optional<std::string> own(const std::optional<std::string_view>& text) {
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

/// The size of each tensor along `dim`; -1 for those of fewer dimensions than others have.
inline DimVector sizes_along(TensorList tensors, int64_t dim) {
  int64_t ndim = 0;
  for (const Tensor& tensor : tensors) ndim = std::max(ndim, tensor.dim());
  DimVector sizes;
  for (const Tensor& tensor : tensors)
    sizes.push_back(tensor.dim() == ndim ? tensor.size(dim) : -1);
  return sizes;
}

}  // namespace at
