// The type in which a sum of elements is accumulated.
#pragma once
#include <cstdint>
#include <type_traits>

#include "c10/util/complex.h"

namespace at::native::walled {

template <class T>
struct SumType {
  using type = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
};
template <class T>
struct SumType<c10::complex<T>> {
  using type = c10::complex<double>;
};
template <class T>
using sum_t = typename SumType<T>::type;

}  // namespace at::native::walled
