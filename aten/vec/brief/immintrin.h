// In place of GCC's header of the same name, while compiled programs are built: the instructions
// that aten/vec/pack.h and aten/vec/pack_functions.h use. To parse the whole header takes GCC
// longer than to compile the kernels of most programs.
#pragma once

#if defined(__clang__) || !defined(__GNUC__) || !defined(__has_builtin) || !defined(__AVX2__) || \
    !defined(__FMA__) || !defined(__F16C__)
#define AT_VEC_WHOLE_HEADER
// Other versions of GCC may have other names for what its header calls.
#elif !__has_builtin(__builtin_ia32_vfmaddps256) || !__has_builtin(__builtin_ia32_sqrtps256) ||   \
    !__has_builtin(__builtin_ia32_andnps256) || !__has_builtin(__builtin_ia32_roundps256) ||      \
    !__has_builtin(__builtin_ia32_minps256) || !__has_builtin(__builtin_ia32_maxps256) ||         \
    !__has_builtin(__builtin_ia32_cmpps256) || !__has_builtin(__builtin_ia32_movmskps256) ||      \
    !__has_builtin(__builtin_ia32_permvarsf256) || !__has_builtin(__builtin_ia32_packusdw256) ||  \
    !__has_builtin(__builtin_ia32_permdi256) || !__has_builtin(__builtin_ia32_pmovzxwd256) ||     \
    !__has_builtin(__builtin_ia32_vcvtph2ps256) || !__has_builtin(__builtin_ia32_vcvtps2ph256) || \
    !__has_builtin(__builtin_shufflevector)
#define AT_VEC_WHOLE_HEADER
#elif defined(__AVX512F__)
#if !__has_builtin(__builtin_ia32_vfmaddps512_mask) ||  \
    !__has_builtin(__builtin_ia32_sqrtps512_mask) ||    \
    !__has_builtin(__builtin_ia32_rndscaleps_mask) ||   \
    !__has_builtin(__builtin_ia32_scalefps512_mask) ||  \
    !__has_builtin(__builtin_ia32_minps512_mask) ||     \
    !__has_builtin(__builtin_ia32_maxps512_mask) ||     \
    !__has_builtin(__builtin_ia32_cmpps512_mask) ||     \
    !__has_builtin(__builtin_ia32_vcvtph2ps512_mask) || \
    !__has_builtin(__builtin_ia32_vcvtps2ph512_mask) || \
    !__has_builtin(__builtin_ia32_pmovdw512_mask) ||    \
    !__has_builtin(__builtin_ia32_pmovzxwd512_mask) ||  \
    !__has_builtin(__builtin_ia32_loadups512_mask) ||   \
    !__has_builtin(__builtin_ia32_storeups512_mask) ||  \
    !__has_builtin(__builtin_ia32_loaddquhi256_mask) || \
    !__has_builtin(__builtin_ia32_storedquhi256_mask)
#define AT_VEC_WHOLE_HEADER
#endif
#endif

#ifdef AT_VEC_WHOLE_HEADER
#include_next <immintrin.h>
#else

#define _MM_FROUND_TO_NEAREST_INT 0
#define _MM_FROUND_TO_NEG_INF 1
#define _MM_FROUND_TO_POS_INF 2
#define _MM_FROUND_TO_ZERO 3
#define _MM_FROUND_CUR_DIRECTION 4
#define _MM_FROUND_NO_EXC 8
#define _CMP_NLE_UQ 6

typedef long long __m128i __attribute__((vector_size(16), may_alias));
typedef float __m256 __attribute__((vector_size(32), may_alias));
typedef long long __m256i __attribute__((vector_size(32), may_alias));

#define AT_VEC_INSTRUCTION extern inline __attribute__((always_inline, gnu_inline, artificial))

namespace at_vec_brief {

typedef float Floats8 __attribute__((vector_size(32)));
typedef float UnalignedFloats8 __attribute__((vector_size(32), may_alias, aligned(1)));
typedef int Ints8 __attribute__((vector_size(32)));
typedef short Shorts8 __attribute__((vector_size(16)));

}  // namespace at_vec_brief

AT_VEC_INSTRUCTION __m256 _mm256_loadu_ps(const float* source) {
  return *reinterpret_cast<const at_vec_brief::UnalignedFloats8*>(source);
}

#ifndef __AVX512F__

AT_VEC_INSTRUCTION __m256 _mm256_set1_ps(float x) { return __m256{x, x, x, x, x, x, x, x}; }
AT_VEC_INSTRUCTION __m256 _mm256_fmadd_ps(__m256 a, __m256 b, __m256 c) {
  using namespace at_vec_brief;
  return __builtin_ia32_vfmaddps256(Floats8(a), Floats8(b), Floats8(c));
}
AT_VEC_INSTRUCTION __m256 _mm256_sqrt_ps(__m256 x) {
  return __builtin_ia32_sqrtps256(at_vec_brief::Floats8(x));
}
AT_VEC_INSTRUCTION __m256 _mm256_andnot_ps(__m256 a, __m256 b) {
  using namespace at_vec_brief;
  return __builtin_ia32_andnps256(Floats8(a), Floats8(b));
}
AT_VEC_INSTRUCTION __m256 _mm256_min_ps(__m256 a, __m256 b) {
  using namespace at_vec_brief;
  return __builtin_ia32_minps256(Floats8(a), Floats8(b));
}
AT_VEC_INSTRUCTION __m256 _mm256_max_ps(__m256 a, __m256 b) {
  using namespace at_vec_brief;
  return __builtin_ia32_maxps256(Floats8(a), Floats8(b));
}
AT_VEC_INSTRUCTION int _mm256_movemask_ps(__m256 x) {
  return __builtin_ia32_movmskps256(at_vec_brief::Floats8(x));
}
AT_VEC_INSTRUCTION __m256 _mm256_permutevar8x32_ps(__m256 table, __m256i index) {
  using namespace at_vec_brief;
  return __builtin_ia32_permvarsf256(Floats8(table), Ints8(index));
}

AT_VEC_INSTRUCTION __m256i _mm256_packus_epi32(__m256i a, __m256i b) {
  using namespace at_vec_brief;
  return __m256i(__builtin_ia32_packusdw256(Ints8(a), Ints8(b)));
}
AT_VEC_INSTRUCTION __m128i _mm256_castsi256_si128(__m256i x) {
  return __builtin_shufflevector(x, x, 0, 1);
}
AT_VEC_INSTRUCTION __m256i _mm256_cvtepu16_epi32(__m128i x) {
  return __m256i(__builtin_ia32_pmovzxwd256(at_vec_brief::Shorts8(x)));
}
AT_VEC_INSTRUCTION __m256 _mm256_cvtph_ps(__m128i halves) {
  return __builtin_ia32_vcvtph2ps256(at_vec_brief::Shorts8(halves));
}

// Arguments that are part of the instruction have to be literals: these are macros.
#define _mm256_round_ps(x, mode) __m256(__builtin_ia32_roundps256(at_vec_brief::Floats8(x), mode))
#define _mm256_cmp_ps(a, b, comparison) \
  __m256(__builtin_ia32_cmpps256(at_vec_brief::Floats8(a), at_vec_brief::Floats8(b), comparison))
#define _mm256_permute4x64_epi64(x, order) __m256i(__builtin_ia32_permdi256(x, order))
#define _mm256_cvtps_ph(x, mode) \
  __m128i(__builtin_ia32_vcvtps2ph256(at_vec_brief::Floats8(x), mode))

#else

typedef float __m512 __attribute__((vector_size(64), may_alias));
typedef long long __m512i __attribute__((vector_size(64), may_alias));
typedef unsigned short __mmask16;

namespace at_vec_brief {

typedef float Floats __attribute__((vector_size(64)));
typedef float UnalignedFloats __attribute__((vector_size(64), may_alias, aligned(1)));
typedef int Ints __attribute__((vector_size(64)));
typedef unsigned UnsignedInts __attribute__((vector_size(64)));
typedef short Shorts __attribute__((vector_size(32)));
typedef long long UnalignedHalf __attribute__((vector_size(32), may_alias, aligned(1)));

constexpr __mmask16 kAll = 0xffff;
constexpr int kRounding = _MM_FROUND_CUR_DIRECTION;

}  // namespace at_vec_brief

AT_VEC_INSTRUCTION __m512 _mm512_set1_ps(float x) {
  return __m512{x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
}
AT_VEC_INSTRUCTION __m512 _mm512_fmadd_ps(__m512 a, __m512 b, __m512 c) {
  using namespace at_vec_brief;
  return __builtin_ia32_vfmaddps512_mask(Floats(a), Floats(b), Floats(c), kAll, kRounding);
}
AT_VEC_INSTRUCTION __m512 _mm512_sqrt_ps(__m512 x) {
  using namespace at_vec_brief;
  return __builtin_ia32_sqrtps512_mask(Floats(x), Floats(x), kAll, kRounding);
}
AT_VEC_INSTRUCTION __m512 _mm512_abs_ps(__m512 x) {
  using namespace at_vec_brief;
  return __m512(UnsignedInts(x) & 0x7fffffffu);
}
AT_VEC_INSTRUCTION __m512 _mm512_min_ps(__m512 a, __m512 b) {
  using namespace at_vec_brief;
  return __builtin_ia32_minps512_mask(Floats(a), Floats(b), Floats(a), kAll, kRounding);
}
AT_VEC_INSTRUCTION __m512 _mm512_max_ps(__m512 a, __m512 b) {
  using namespace at_vec_brief;
  return __builtin_ia32_maxps512_mask(Floats(a), Floats(b), Floats(a), kAll, kRounding);
}
AT_VEC_INSTRUCTION __m512 _mm512_scalef_ps(__m512 x, __m512 exponent) {
  using namespace at_vec_brief;
  return __builtin_ia32_scalefps512_mask(Floats(x), Floats(exponent), Floats(x), kAll, kRounding);
}

// Macros, as with vectors of 256 bits.
#define _mm512_roundscale_ps(x, mode)                                                           \
  __m512(__builtin_ia32_rndscaleps_mask(at_vec_brief::Floats(x), mode, at_vec_brief::Floats(x), \
                                        at_vec_brief::kAll, _MM_FROUND_CUR_DIRECTION))
#define _mm512_cmp_ps_mask(a, b, comparison)                                               \
  __mmask16(__builtin_ia32_cmpps512_mask(at_vec_brief::Floats(a), at_vec_brief::Floats(b), \
                                         comparison, at_vec_brief::kAll,                   \
                                         _MM_FROUND_CUR_DIRECTION))
#define _mm512_cvtps_ph(x, mode)                                                                  \
  __m256i(__builtin_ia32_vcvtps2ph512_mask(at_vec_brief::Floats(x), mode, at_vec_brief::Shorts{}, \
                                           at_vec_brief::kAll))

AT_VEC_INSTRUCTION __m512 _mm512_broadcast_f32x8(__m256 x) {
  return __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
}
AT_VEC_INSTRUCTION __m512 _mm512_permutexvar_ps(__m512i index, __m512 table) {
  using namespace at_vec_brief;
  return __m512(__builtin_shuffle(Floats(table), Ints(index)));
}

AT_VEC_INSTRUCTION __m256i _mm512_cvtepi32_epi16(__m512i x) {
  using namespace at_vec_brief;
  return __m256i(__builtin_ia32_pmovdw512_mask(Ints(x), Shorts{}, kAll));
}
AT_VEC_INSTRUCTION __m512i _mm512_cvtepu16_epi32(__m256i x) {
  using namespace at_vec_brief;
  return __m512i(__builtin_ia32_pmovzxwd512_mask(Shorts(x), Ints{}, kAll));
}
AT_VEC_INSTRUCTION __m512 _mm512_cvtph_ps(__m256i halves) {
  using namespace at_vec_brief;
  return __builtin_ia32_vcvtph2ps512_mask(Shorts(halves), Floats{}, kAll, kRounding);
}

AT_VEC_INSTRUCTION __m512 _mm512_loadu_ps(const void* source) {
  return *static_cast<const at_vec_brief::UnalignedFloats*>(source);
}
AT_VEC_INSTRUCTION void _mm512_storeu_ps(void* target, __m512 x) {
  *static_cast<at_vec_brief::UnalignedFloats*>(target) = x;
}
AT_VEC_INSTRUCTION __m512 _mm512_maskz_loadu_ps(__mmask16 mask, const void* source) {
  using namespace at_vec_brief;
  return __builtin_ia32_loadups512_mask(static_cast<const float*>(source), Floats{}, mask);
}
AT_VEC_INSTRUCTION void _mm512_mask_storeu_ps(void* target, __mmask16 mask, __m512 x) {
  using namespace at_vec_brief;
  __builtin_ia32_storeups512_mask(static_cast<float*>(target), Floats(x), mask);
}
AT_VEC_INSTRUCTION __m256i _mm256_loadu_epi16(const void* source) {
  return *static_cast<const at_vec_brief::UnalignedHalf*>(source);
}
AT_VEC_INSTRUCTION void _mm256_storeu_epi16(void* target, __m256i x) {
  *static_cast<at_vec_brief::UnalignedHalf*>(target) = x;
}
AT_VEC_INSTRUCTION __m256i _mm256_maskz_loadu_epi16(__mmask16 mask, const void* source) {
  using namespace at_vec_brief;
  return __m256i(
      __builtin_ia32_loaddquhi256_mask(static_cast<const short*>(source), Shorts{}, mask));
}
AT_VEC_INSTRUCTION void _mm256_mask_storeu_epi16(void* target, __mmask16 mask, __m256i x) {
  using namespace at_vec_brief;
  __builtin_ia32_storedquhi256_mask(static_cast<short*>(target), Shorts(x), mask);
}

#endif  // __AVX512F__
#endif  // AT_VEC_WHOLE_HEADER
