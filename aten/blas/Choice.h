// Which implementation computes a product: the library or our own.
#pragma once

#include "aten/blas/Blas.h"
#include "aten/blas/Library.h"

namespace at::blas {

// Note [Choosing by measurement]
// Neither the library nor our own products are the faster ones everywhere, and a vendor's name does
// not tell: MKL uses AVX-512 on Intel's processors only. So the first product of a type that is
// large enough lets both multiply a matrix of 256 x 256 three times, and the process keeps the
// result. The library has to be clearly better: noise must not decide, as the bits depend on it.
// Small products are our own, and so are all inside parallel regions, where nothing can be
// measured, and with deterministic algorithms, whose bits must not depend on a measurement.

inline constexpr bool kHasLibrary = library::serves<float>;

/// Whether everything is our own, Fourier transforms and factorizations included.
bool builtin_wanted();

/// Whether the library computes a product of `work` multiplications.
template <class T>
bool library_wanted(double work);

/// Whether the library computes products with vectors. Only if it is asked for by name: memory
/// limits them, so there is nothing to gain.
bool library_wanted_for_vectors();

}  // namespace at::blas
