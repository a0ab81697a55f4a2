#pragma once
// Lines of vectors, transposed. Included by files compiled once per instruction set.
#include <algorithm>

#include "aten/blas/tile/Elements.h"
#include "aten/native/cpu/convolution/Walk.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace tile = blas::tile::CPU_CAPABILITY;

/// Transposes `lines` lines of `length` elements. read(i, p, n) is a vector of n elements of line i
/// from p on; write(p, i, n, v) takes the elements at p of n lines from i on.
template <class T, class Read, class Write>
inline void transpose_lines(int64_t lines, int64_t length, const Read& read, const Write& write) {
  constexpr int W = tile::kWidth<T>;
  for (int64_t i = 0; i < lines; i += W) {
    const int64_t height = std::min<int64_t>(W, lines - i);
    for (int64_t p = 0; p < length; p += W) {
      const int64_t width = std::min<int64_t>(W, length - p);
      tile::Vector<T> square[W];
      if (height == W && width == W) {
#pragma GCC unroll 16
        for (int k = 0; k < W; ++k) square[k] = read(i + k, p, W);
      } else {
        for (int k = 0; k < W; ++k)
          square[k] = k < height ? read(i + k, p, width) : tile::Vector<T>{};
      }

      tile::transpose_square<T>(square);

      if (height == W && width == W) {
#pragma GCC unroll 16
        for (int k = 0; k < W; ++k) write(p + k, i, W, square[k]);
      } else {
        for (int64_t k = 0; k < width; ++k) write(p + k, i, height, square[k]);
      }
    }
  }
}

template <class T>
inline void store_some(T* to, tile::Vector<T> value, int64_t count) {
  if (count == tile::kWidth<T>) tile::store(to, value);
  else tile::Prefix<T>(count).store(to, value);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
