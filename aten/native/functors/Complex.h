#pragma once
// conj, which leaves real numbers as they are.
#include "aten/Dispatch.h"
#include "c10/util/Export.h"

namespace at::native {
namespace {

template <class T>
struct Identity {
  C10_HOST_DEVICE T operator()(T value) const { return value; }
};

template <class T>
struct Conjugate {
  C10_HOST_DEVICE T operator()(T value) const { return T(value.real(), -value.imag()); }
};

template <class Run>
void with_conj(ScalarType type, const Run& run) {
  if (!c10::is_complex(type))
    return AT_DISPATCH_REAL_AND_BOOL(type, "conj", [&] { run(Identity<scalar_t>()); });
  AT_DISPATCH_COMPLEX(type, "conj", [&] { run(Conjugate<scalar_t>()); });
}

}  // namespace
}  // namespace at::native
