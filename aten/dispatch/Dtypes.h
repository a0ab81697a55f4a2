#pragma once
// Building blocks of the generated AT_DISPATCH macros; dispatch() does the same for a list of
// dtypes.
#include "c10/core/ScalarType.h"
#include "c10/util/Exception.h"

// Inside the lambda, scalar_t is the element type.
#define AT_DISPATCH_CASE(DTYPE, ...)                                 \
  case ::c10::DTYPE: {                                               \
    using scalar_t = ::c10::ScalarTypeToCppType<::c10::DTYPE>::type; \
    return __VA_ARGS__();                                            \
  }

#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)                        \
  [&] {                                                            \
    const ::c10::ScalarType dispatched_type = (TYPE);              \
    switch (dispatched_type) {                                     \
      __VA_ARGS__                                                  \
      default: ::at::throw_not_implemented(NAME, dispatched_type); \
    }                                                              \
  }()

namespace at {

/// Type of the parts of a complex number; T itself for others.
template <class T>
using real_type = typename c10::ScalarTypeToCppType<c10::to_real(c10::scalar_type_of<T>)>::type;

[[noreturn]] inline void throw_not_implemented(const char* name, c10::ScalarType type) {
  TORCH_THROW(NotImplementedError, "\"", name, "\" not implemented for '",
              c10::scalar_type_name(type), "'");
}

/// Calls f.operator()<scalar_t>() for the element type of `type`, which must be one of `dtypes`:
/// dispatch<kFloat, kDouble>(type, "name", [&]<typename scalar_t>() { ... }).
template <c10::ScalarType... dtypes, class F>
void dispatch(c10::ScalarType type, const char* name, const F& f) {
  const bool found =
      ((type == dtypes &&
        (f.template operator()<typename c10::ScalarTypeToCppType<dtypes>::type>(), true)) ||
       ...);
  if (!found) throw_not_implemented(name, type);
}

}  // namespace at
