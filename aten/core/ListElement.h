// Indexing into lists, for formulas.
#pragma once
#include <cstdint>

#include "c10/util/Exception.h"

namespace at {

/// `list[index]` of a formula in native_functions.yaml. A negative index counts from the end;
/// IndexError outside of the list.
template <typename List>
decltype(auto) element_of(const List& list, int64_t index) {
  const auto size = static_cast<int64_t>(list.size());
  TORCH_CHECK_INDEX(-size <= index && index < size, "index ", index,
                    " is out of range for a list of ", size);
  return list[static_cast<size_t>(index < 0 ? index + size : index)];
}

}  // namespace at
