#pragma once
// Copies of channels for the lanes of Note [Groups as lanes]. Included by files compiled once per
// instruction set.
#include <vector>

#include "aten/native/cpu/convolution/Lines.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

#if defined(__AVX2__)
/// value[index[i]] for each lane.
inline tile::Vector<float> permuted(tile::Vector<float> value, tile::Vector<int32_t> index) {
#if defined(__AVX512F__)
  // With a mask, because GCC 12 warns of the form without.
  return tile::Vector<float>(_mm512_maskz_permutexvar_ps(0xffff, __m512i(index), value));
#else
  return tile::Vector<float>(_mm256_permutevar8x32_ps(value, __m256i(index)));
#endif
}
#endif

/// Copies of channels: element i of a position of `size` elements is channel index[i].
/// Within a vector, indices do not decrease.
struct Spread {
  int64_t size;
  std::vector<int32_t> index;

  /// Copies one position. Both may be read and written up to a vector further.
  template <class T>
  void copy(const T* from, T* to) const {
    for (int64_t i = 0; i < size; i += tile::kWidth<T>) copy_vector(from, index.data() + i, to + i);
  }

 private:
  /// The channels of a vector mostly lie in a vector, too.
  template <class T>
  static void copy_vector(const T* from, const int32_t* index, T* to) {
    constexpr int W = tile::kWidth<T>;
#if defined(__AVX2__)
    if constexpr (std::is_same_v<T, float>) {
      const tile::Vector<int32_t> all = tile::load(index);
      const tile::Vector<int32_t> here = all - index[0];

      if (index[W - 1] - index[0] < W) {
        tile::store(to, permuted(tile::load(from + index[0]), here));
        return;
      }
    }
#endif

    for (int i = 0; i < W; ++i) to[i] = from[index[i]];
  }
};

}  // namespace CPU_CAPABILITY
}  // namespace at::native
