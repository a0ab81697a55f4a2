// What is done to parts of C after the products.
#pragma once

#include "aten/blas/Blas.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::blas::tile {
namespace CPU_CAPABILITY {

namespace {

/// A part of C: rows of contiguous lanes, see Note [Lanes and rows].
struct Part {
  int64_t row;
  int64_t height;
  int64_t lane;
  int64_t count;
};

/// c[l] += factor * added[l * step].
template <class T, class Sum>
inline void add_line(Sum* c, const T* added, int64_t step, Sum factor, int64_t count) {
  if (step == 1) {
#pragma GCC ivdep
    for (int64_t l = 0; l < count; ++l) c[l] += factor * static_cast<Sum>(added[l]);
  } else if (step == 0) {
    const Sum value = factor * static_cast<Sum>(*added);
    for (int64_t l = 0; l < count; ++l) c[l] += value;
  } else {
    for (int64_t l = 0; l < count; ++l) c[l] += factor * static_cast<Sum>(added[l * step]);
  }
}

/// Applies the epilogue of matrix `matrix` of a batch to a part of C, which `c` points to and which
/// has the type of the sums.
template <class T, class Sum>
inline void apply_epilogue(const Epilogue<T>& epilogue, int64_t matrix, const Part& part, Sum* c,
                           int64_t ldc) {
  for (int64_t r = part.row; r < part.row + part.height; ++r, c += ldc) {
    if (epilogue.scale != nullptr) {
      const T* const scale = epilogue.scale + part.lane;
      for (int64_t l = 0; l < part.count; ++l) c[l] *= static_cast<Sum>(scale[l]);
    }

    if (epilogue.added != nullptr) {
      const T* const added = epilogue.added + matrix * epilogue.batch_step +
                             r * epilogue.column_step + part.lane * epilogue.row_step;
      add_line(c, added, epilogue.row_step, static_cast<Sum>(epilogue.factor), part.count);
    }

    if constexpr (std::is_same_v<Sum, Scale<T>>) {  // not for bytes, which are summed in 32 bits
      if (epilogue.activation != nullptr) epilogue.activation(c, part.count);
    }
  }
}

}  // namespace
}  // namespace CPU_CAPABILITY
}  // namespace at::blas::tile
