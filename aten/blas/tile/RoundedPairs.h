#pragma once
// Pairs of BFloat16 from floats that were just computed.
#include "aten/blas/tile/Vector.h"

namespace at::blas::tile {
namespace CPU_CAPABILITY {

#ifdef AT_TILE_HAS_PAIRS
namespace {

/// Rounds two vectors to BFloat16: all of `first`, then all of `second`. Assembler, like
/// multiply_add_pairs.
inline Vector<uint32_t> rounded(Vector<float> first, Vector<float> second) {
  Vector<uint32_t> result;
  __asm__("vcvtne2ps2bf16 %1, %2, %0" : "=v"(result) : "v"(first), "v"(second));
  return result;
}

/// Each BFloat16 of the first half of a vector next to that of the second half, as a pair.
inline Vector<uint32_t> paired(Vector<uint32_t> halves) {
  alignas(kVectorBytes) static constexpr uint16_t kOrder[] = {
      0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
      8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  return Vector<uint32_t>(_mm512_permutexvar_epi16(_mm512_load_si512(kOrder), __m512i(halves)));
}

}  // namespace
#endif

}  // namespace CPU_CAPABILITY
}  // namespace at::blas::tile
