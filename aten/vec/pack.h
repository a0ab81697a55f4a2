// The floats of one vector register, and what vector instructions do with them.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>

#include "c10/util/BFloat16.h"
#include "c10/util/Export.h"
#include "c10/util/Half.h"

// Note [Packs of floats]
// The compiler vectorises loops around functions of one number, but it does not find the
// instructions that convert float16, scale by powers of two or look up tables, and every element
// takes the long way that a few need. Functions of a Pack say both themselves. There are packs
// where the instruction set has fused multiply-add and conversions of float16; elsewhere loops are
// left to the compiler. Each lane is computed as if it were alone: its result does not depend on
// the others, and so not on its position in a tensor.
#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__) && !defined(__CUDACC__)
#define AT_VEC_HAS_PACKS
// GCC 12 warns of the undefined registers that its own header passes where a mask covers all lanes.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::vec {
inline namespace CPU_CAPABILITY {

/// A number that a pack can hold after conversion to float, without loss.
template <class T>
concept PackElement =
    std::same_as<T, float> || std::same_as<T, c10::Half> || std::same_as<T, c10::BFloat16>;

#ifndef AT_VEC_HAS_PACKS

inline constexpr bool kHasPacks = false;
inline constexpr int64_t kPack = 1;
struct Pack {};

#else

inline constexpr bool kHasPacks = true;

#ifdef __AVX512F__
inline constexpr int64_t kPack = 16;
using PackRegister = __m512;
using PackHalfRegister = __m256i;
#else
inline constexpr int64_t kPack = 8;
using PackRegister = __m256;
using PackHalfRegister = __m128i;
#endif

typedef float Pack __attribute__((vector_size(kPack * 4)));
typedef uint32_t PackBits __attribute__((vector_size(kPack * 4)));

C10_ALWAYS_INLINE PackBits bits_of(Pack x) { return reinterpret_cast<PackBits>(x); }
C10_ALWAYS_INLINE Pack from_bits(PackBits bits) { return reinterpret_cast<Pack>(bits); }

#ifdef __AVX512F__

C10_ALWAYS_INLINE Pack broadcast(float x) { return _mm512_set1_ps(x); }
C10_ALWAYS_INLINE Pack multiply_add(Pack a, Pack b, Pack c) { return _mm512_fmadd_ps(a, b, c); }
C10_ALWAYS_INLINE Pack sqrt(Pack x) { return _mm512_sqrt_ps(x); }
C10_ALWAYS_INLINE Pack abs(Pack x) { return _mm512_abs_ps(x); }

template <int kMode>
C10_ALWAYS_INLINE Pack rounded(Pack x) {
  return _mm512_roundscale_ps(x, kMode | _MM_FROUND_NO_EXC);
}

/// The smaller and the larger number; NaN in x passes.
C10_ALWAYS_INLINE Pack at_most(Pack x, float limit) { return _mm512_min_ps(broadcast(limit), x); }
C10_ALWAYS_INLINE Pack at_least(Pack x, float limit) { return _mm512_max_ps(broadcast(limit), x); }

/// False if a lane is NaN.
C10_ALWAYS_INLINE bool all_at_most(Pack x, float limit) {
  return _mm512_cmp_ps_mask(x, broadcast(limit), _CMP_NLE_UQ) == 0;
}

/// table[index % 8] in each lane.
C10_ALWAYS_INLINE Pack look_up(const float (&table)[8], PackBits index) {
  const __m512 twice = _mm512_broadcast_f32x8(_mm256_loadu_ps(table));
  return _mm512_permutexvar_ps(reinterpret_cast<__m512i>(index), twice);
}

C10_ALWAYS_INLINE PackHalfRegister upper_halves(PackBits bits) {
  return _mm512_cvtepi32_epi16(reinterpret_cast<__m512i>(bits >> 16));
}
C10_ALWAYS_INLINE PackBits as_upper_halves(PackHalfRegister halves) {
  return reinterpret_cast<PackBits>(_mm512_cvtepu16_epi32(halves)) << 16;
}
C10_ALWAYS_INLINE Pack from_halves(PackHalfRegister halves) { return _mm512_cvtph_ps(halves); }
C10_ALWAYS_INLINE PackHalfRegister to_halves(Pack x) {
  return _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

#else

C10_ALWAYS_INLINE Pack broadcast(float x) { return _mm256_set1_ps(x); }
C10_ALWAYS_INLINE Pack multiply_add(Pack a, Pack b, Pack c) { return _mm256_fmadd_ps(a, b, c); }
C10_ALWAYS_INLINE Pack sqrt(Pack x) { return _mm256_sqrt_ps(x); }
C10_ALWAYS_INLINE Pack abs(Pack x) { return _mm256_andnot_ps(broadcast(-0.0f), x); }

template <int kMode>
C10_ALWAYS_INLINE Pack rounded(Pack x) {
  return _mm256_round_ps(x, kMode | _MM_FROUND_NO_EXC);
}

C10_ALWAYS_INLINE Pack at_most(Pack x, float limit) { return _mm256_min_ps(broadcast(limit), x); }
C10_ALWAYS_INLINE Pack at_least(Pack x, float limit) { return _mm256_max_ps(broadcast(limit), x); }

C10_ALWAYS_INLINE bool all_at_most(Pack x, float limit) {
  return _mm256_movemask_ps(_mm256_cmp_ps(x, broadcast(limit), _CMP_NLE_UQ)) == 0;
}

C10_ALWAYS_INLINE Pack look_up(const float (&table)[8], PackBits index) {
  return _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), reinterpret_cast<__m256i>(index));
}

C10_ALWAYS_INLINE PackHalfRegister upper_halves(PackBits bits) {
  const __m256i shifted = reinterpret_cast<__m256i>(bits >> 16);
  const __m256i halves = _mm256_packus_epi32(shifted, shifted);  // twice, in each 16 bytes
  return _mm256_castsi256_si128(_mm256_permute4x64_epi64(halves, 0b1000));
}
C10_ALWAYS_INLINE PackBits as_upper_halves(PackHalfRegister halves) {
  return reinterpret_cast<PackBits>(_mm256_cvtepu16_epi32(halves)) << 16;
}
C10_ALWAYS_INLINE Pack from_halves(PackHalfRegister halves) { return _mm256_cvtph_ps(halves); }
C10_ALWAYS_INLINE PackHalfRegister to_halves(Pack x) {
  return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

#endif  // __AVX512F__

C10_ALWAYS_INLINE Pack copysign(Pack magnitude, Pack sign) {
  constexpr uint32_t kSign = 0x80000000u;
  return from_bits((bits_of(magnitude) & ~kSign) | (bits_of(sign) & kSign));
}

/// c0 + c1 x + c2 x^2 + ...
C10_ALWAYS_INLINE Pack polynomial(Pack, float c0) { return broadcast(c0); }
template <class... Rest>
C10_ALWAYS_INLINE Pack polynomial(Pack x, float c0, Rest... rest) {
  return multiply_add(polynomial(x, rest...), x, broadcast(c0));
}

// Elements of memory as packs, and back. The conversions round as those of c10::Half and
// c10::BFloat16 do, and treat NaN alike.

template <class T>
C10_ALWAYS_INLINE T load_bytes(const void* source) {
  T value;
  std::memcpy(&value, source, sizeof(T));
  return value;
}

C10_ALWAYS_INLINE Pack load_pack(const float* source) { return load_bytes<Pack>(source); }
C10_ALWAYS_INLINE Pack load_pack(const c10::Half* source) {
  return from_halves(load_bytes<PackHalfRegister>(source));
}
C10_ALWAYS_INLINE Pack load_pack(const c10::BFloat16* source) {
  return from_bits(as_upper_halves(load_bytes<PackHalfRegister>(source)));
}

C10_ALWAYS_INLINE void store_pack(float* target, Pack x) {
  // Hides constants: of one whose last lanes are 0, GCC 12 reads the first lanes again from memory.
  asm("" : "+x"(x));
  std::memcpy(target, &x, sizeof(Pack));
}
C10_ALWAYS_INLINE void store_pack(c10::Half* target, Pack x) {
  const PackHalfRegister halves = to_halves(x);
  std::memcpy(target, &halves, sizeof(halves));
}
C10_ALWAYS_INLINE void store_pack(c10::BFloat16* target, Pack x) {
  const PackBits bits = bits_of(x);
  const PackBits rounded = bits + (0x7fffu + ((bits >> 16) & 1u));
  const PackBits nan = bits | 0x00400000u;
  const PackHalfRegister halves = upper_halves(x == x ? rounded : nan);
  std::memcpy(target, &halves, sizeof(halves));
}

/// Copies `count` elements, fewer than a pack, to the memory of a pack. The others become 0.
template <PackElement T>
C10_ALWAYS_INLINE void copy_part_in(T* target, const T* source, int64_t count) {
#ifdef __AVX512F__
  const auto mask = static_cast<__mmask16>((1u << count) - 1);
  if constexpr (sizeof(T) == 4) {
    _mm512_storeu_ps(target, _mm512_maskz_loadu_ps(mask, source));
  } else {
    _mm256_storeu_epi16(target, _mm256_maskz_loadu_epi16(mask, source));
  }
#else
  std::memset(target, 0, kPack * sizeof(T));
  for (int64_t i = 0; i < count; ++i) target[i] = source[i];
#endif
}

/// Copies the first `count` elements of a pack in memory.
template <PackElement T>
C10_ALWAYS_INLINE void copy_part_out(T* target, const T* source, int64_t count) {
#ifdef __AVX512F__
  const auto mask = static_cast<__mmask16>((1u << count) - 1);
  if constexpr (sizeof(T) == 4) {
    _mm512_mask_storeu_ps(target, mask, _mm512_loadu_ps(source));
  } else {
    _mm256_mask_storeu_epi16(target, mask, _mm256_loadu_epi16(source));
  }
#else
  for (int64_t i = 0; i < count; ++i) target[i] = source[i];
#endif
}

#endif  // AT_VEC_HAS_PACKS

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
