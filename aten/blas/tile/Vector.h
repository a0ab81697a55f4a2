// Vectors of the instruction set that a file is compiled for.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "c10/util/BFloat16.h"
#include "c10/util/Half.h"

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::blas::tile {
namespace CPU_CAPABILITY {

namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

/// Numbers along the depth that are multiplied in one lane and added: types of their own, so that
/// multiply_add() knows what they are.
struct ShortPair {
  uint32_t bits;
};
struct ByteQuad {
  uint32_t bits;
};

template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
};
template <>
struct VectorOf<ShortPair> : VectorOf<uint32_t> {};
template <>
struct VectorOf<ByteQuad> : VectorOf<uint32_t> {};
template <class T>
using Vector = typename VectorOf<T>::type;
template <class T>
constexpr int kWidth = kVectorBytes / static_cast<int>(sizeof(T));

template <class T>
inline Vector<T> load(const T* from) {
  Vector<T> value;
  std::memcpy(&value, from, kVectorBytes);
  return value;
}

template <class T>
inline void store(T* to, Vector<T> value) {
  std::memcpy(to, &value, kVectorBytes);
}

template <class T>
inline Vector<T> broadcast(T value) {
  if constexpr (std::is_class_v<T>) return broadcast(value.bits);
  else return value - Vector<T>{};
}

/// Keeps the compiler from loading a vector anew at each use, which costs more than a register.
template <class V>
inline void keep_in_register([[maybe_unused]] V& value) {
#if defined(__AVX2__)
  __asm__("" : "+v"(value));
#elif defined(__aarch64__)
  __asm__("" : "+w"(value));
#endif
}

/// Keeps the compiler from replacing a pointer by others at fixed distances.
inline void keep_pointer(const char*& pointer) { __asm__("" : "+r"(pointer)); }

#if defined(__AVX512F__) && !defined(__clang__)
#define AT_TILE_HAS_PAIRS
#define AT_TILE_HAS_QUADS
// These are assembler because the instruction sets are chosen at run time, and a function compiled
// for them could not be part of a tile.

/// sum += the products of pairs of BFloat16.
inline void multiply_add_pairs(Vector<float>& sum, Vector<uint32_t> a, Vector<uint32_t> b) {
  __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}

/// sum += the products of four signed bytes and as many unsigned ones.
inline void multiply_add_bytes(Vector<uint32_t>& sum, Vector<uint32_t> signed_bytes,
                               Vector<uint32_t> unsigned_bytes) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(unsigned_bytes), "v"(signed_bytes));
}
#endif

/// sum += the products of pairs of signed numbers of 16 bits.
inline void multiply_add_shorts(Vector<uint32_t>& sum, Vector<uint32_t> a, Vector<uint32_t> b) {
#if defined(__AVX512F__)
  sum += Vector<uint32_t>(_mm512_madd_epi16(__m512i(a), __m512i(b)));
#elif defined(__AVX2__)
  sum += Vector<uint32_t>(_mm256_madd_epi16(__m256i(a), __m256i(b)));
#elif defined(__SSE2__)
  sum += Vector<uint32_t>(_mm_madd_epi16(__m128i(a), __m128i(b)));
#else
  using Signed = Vector<int32_t>;
  const auto low = [](Vector<uint32_t> x) { return Signed(x << 16) >> 16; };
  const auto high = [](Vector<uint32_t> x) { return Signed(x) >> 16; };
  sum += Vector<uint32_t>(low(a)) * Vector<uint32_t>(low(b));
  sum += Vector<uint32_t>(high(a)) * Vector<uint32_t>(high(b));
#endif
}

/// The first `count` lanes of a vector: loads leave the others 0 and touch no memory of theirs.
template <class T>
class Prefix {
 public:
  explicit Prefix(int64_t count) : count_(static_cast<int>(count)) {
#if defined(__AVX512F__)
    mask_ = count_ == 64 ? ~uint64_t{0} : (uint64_t{1} << count_) - 1;
#elif defined(__AVX2__)
    mask_ = first_lanes(std::make_integer_sequence<int, kWidth<Lane>>{}) < Lane(count);
#endif
  }

  Vector<T> load(const T* from) const {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 1)
      return Vector<T>(_mm512_maskz_loadu_epi8(static_cast<__mmask64>(mask_), from));
    else if constexpr (sizeof(T) == 2)
      return Vector<T>(_mm512_maskz_loadu_epi16(static_cast<__mmask32>(mask_), from));
    else if constexpr (sizeof(T) == 4)
      return Vector<T>(_mm512_maskz_loadu_epi32(static_cast<__mmask16>(mask_), from));
    else return Vector<T>(_mm512_maskz_loadu_epi64(static_cast<__mmask8>(mask_), from));

#elif defined(__AVX2__)
    if constexpr (sizeof(T) == 4)
      return Vector<T>(_mm256_maskload_epi32(reinterpret_cast<const int*>(from), __m256i(mask_)));
    else if constexpr (sizeof(T) == 8)
      return Vector<T>(
          _mm256_maskload_epi64(reinterpret_cast<const long long*>(from), __m256i(mask_)));
    else return load_bytes(from);

#else
    return load_bytes(from);
#endif
  }

  void store(T* to, Vector<T> value) const {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 1)
      _mm512_mask_storeu_epi8(to, static_cast<__mmask64>(mask_), __m512i(value));
    else if constexpr (sizeof(T) == 2)
      _mm512_mask_storeu_epi16(to, static_cast<__mmask32>(mask_), __m512i(value));
    else if constexpr (sizeof(T) == 4)
      _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(mask_), __m512i(value));
    else _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(mask_), __m512i(value));
#else
    std::memcpy(to, &value, static_cast<size_t>(count_) * sizeof(T));
#endif
  }

 private:
  Vector<T> load_bytes(const T* from) const {
    Vector<T> value = {};
    std::memcpy(&value, from, static_cast<size_t>(count_) * sizeof(T));
    return value;
  }

  int count_;
#if defined(__AVX512F__)
  uint64_t mask_;
#elif defined(__AVX2__)
  using Lane = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

  template <int... I>
  static Vector<Lane> first_lanes(std::integer_sequence<int, I...>) {
    return Vector<Lane>{I...};
  }

  Vector<Lane> mask_;
#endif
};

// Interleaving and transposing

template <class T>
using ShuffleIndex = std::conditional_t<sizeof(T) == 2, int16_t,
                                        std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>;

/// low = a0 b0 a1 b1 ... from the lower halves, high = the same from the upper halves.
template <class T, int... I>
inline void interleave_lanes(Vector<T> a, Vector<T> b, Vector<T>& low, Vector<T>& high,
                             std::integer_sequence<int, I...>) {
  constexpr int W = kWidth<T>;
#if defined(__clang__)
  low = __builtin_shufflevector(a, b, (I / 2 + I % 2 * W)...);
  high = __builtin_shufflevector(a, b, (W / 2 + I / 2 + I % 2 * W)...);
#else
  low = __builtin_shuffle(a, b, Vector<ShuffleIndex<T>>{(I / 2 + I % 2 * W)...});
  high = __builtin_shuffle(a, b, Vector<ShuffleIndex<T>>{(W / 2 + I / 2 + I % 2 * W)...});
#endif
}

template <class T>
inline void interleave(Vector<T> a, Vector<T> b, Vector<T>& low, Vector<T>& high) {
  interleave_lanes<T>(a, b, low, high, std::make_integer_sequence<int, kWidth<T>>{});
}

/// Transposes a square of vectors: log2(width) rounds, each of which interleaves vector i with
/// vector i + width / 2.
template <class T>
inline void transpose_square(Vector<T> (&square)[kWidth<T>]) {
  constexpr int W = kWidth<T>;
#pragma GCC unroll 4
  for (int round = 1; round < W; round *= 2) {
    Vector<T> out[W];
#pragma GCC unroll 8
    for (int i = 0; i < W / 2; ++i)
      interleave<T>(square[i], square[i + W / 2], out[2 * i], out[2 * i + 1]);
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i) square[i] = out[i];
  }
}

// Conversions

/// A vector of floats from as many reduced ones or bytes.
template <class In>
inline Vector<float> widened(const In* from) {
#if defined(__AVX512F__)
  // With masks, because GCC 12 warns of the forms without.
  if constexpr (std::is_same_v<In, int8_t>) {
    const __m128i packed = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return Vector<float>(
        _mm512_maskz_cvtepi32_ps(0xffff, _mm512_maskz_cvtepi8_epi32(0xffff, packed)));
  }

  const __m256i packed = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  if constexpr (std::is_same_v<In, c10::Half>)
    return Vector<float>(_mm512_maskz_cvtph_ps(0xffff, packed));
  else return Vector<float>(Vector<uint32_t>(_mm512_maskz_cvtepu16_epi32(0xffff, packed)) << 16);
#elif defined(__AVX2__)
  if constexpr (std::is_same_v<In, int8_t>) {
    const __m128i packed = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return Vector<float>(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(packed)));
  }

  const __m128i packed = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  if constexpr (std::is_same_v<In, c10::Half>) return Vector<float>(_mm256_cvtph_ps(packed));
  else return Vector<float>(_mm256_slli_epi32(_mm256_cvtepu16_epi32(packed), 16));
#else
  Vector<float> value = {};
  for (int i = 0; i < kWidth<float>; ++i) value[i] = static_cast<float>(from[i]);
  return value;
#endif
}

/// A vector of numbers of 16 bits from as many bytes, or from its bits.
template <class In>
inline Vector<uint16_t> halves(const In* from) {
  if constexpr (sizeof(In) == 2) return load(reinterpret_cast<const uint16_t*>(from));

#if defined(__AVX512F__)
  const __m256i packed = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  if constexpr (std::is_signed_v<In>)
    return Vector<uint16_t>(_mm512_maskz_cvtepi8_epi16(~__mmask32{0}, packed));
  else return Vector<uint16_t>(_mm512_maskz_cvtepu8_epi16(~__mmask32{0}, packed));

#elif defined(__AVX2__)
  const __m128i packed = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  if constexpr (std::is_signed_v<In>) return Vector<uint16_t>(_mm256_cvtepi8_epi16(packed));
  else return Vector<uint16_t>(_mm256_cvtepu8_epi16(packed));

#else
  Vector<uint16_t> value = {};
  for (int i = 0; i < kWidth<uint16_t>; ++i) value[i] = static_cast<uint16_t>(from[i]);
  return value;
#endif
}

/// Applies `convert` to the first `count` of W elements and zeros.
template <int W, class In, class Convert>
inline auto converted_part(const In* from, int64_t count, const Convert& convert) {
  alignas(In) char part[W * sizeof(In)] = {};
  std::memcpy(part, from, static_cast<size_t>(count) * sizeof(In));
  return convert(reinterpret_cast<const In*>(part));
}

/// The first `count` of a vector of numbers, in the type T in which they are multiplied.
template <class T, class In>
inline Vector<T> load_converted(const In* from, int64_t count) {
  if constexpr (std::is_same_v<T, In>) {
    return count == kWidth<T> ? load(from) : Prefix<T>(count).load(from);
  } else {
    static_assert(sizeof(In) <= 2 && std::is_same_v<T, float>);
    if (count == kWidth<float>) return widened(from);
    return converted_part<kWidth<float>>(from, count, widened<In>);
  }
}

typedef uint16_t NarrowVector __attribute__((vector_size(kVectorBytes / 2)));

/// The bits of a vector of floats, rounded to the nearest of a reduced type.
template <class Out>
inline NarrowVector narrowed(Vector<float> value) {
  if constexpr (std::is_same_v<Out, c10::BFloat16>) {
    // Ties go to even, and nan stays nan.
    const auto wide = Vector<uint32_t>(value);
    const auto rounded = (wide + 0x7fffu + (wide >> 16 & 1u)) >> 16;
    const auto quiet = wide >> 16 | 0x40u;
    return __builtin_convertvector(value == value ? rounded : quiet, NarrowVector);
  } else {
#if defined(__AVX512F__)
    return NarrowVector(_mm512_maskz_cvtps_ph(0xffff, __m512(value), _MM_FROUND_TO_NEAREST_INT));
#elif defined(__AVX2__)
    return NarrowVector(_mm256_cvtps_ph(__m256(value), _MM_FROUND_TO_NEAREST_INT));
#else
    NarrowVector bits;
    for (int i = 0; i < kWidth<float>; ++i) bits[i] = static_cast<Out>(value[i]).x;
    return bits;
#endif
  }
}

/// Stores sums in a smaller type.
template <class Out, class Sum>
inline void store_line(const Sum* from, int64_t count, Out* to) {
  if constexpr (std::is_same_v<Sum, float>) {
    constexpr int64_t W = kWidth<float>;
    int64_t i = 0;
    for (; i + W <= count; i += W) {
      const NarrowVector bits = narrowed<Out>(load(from + i));
      std::memcpy(to + i, &bits, sizeof(bits));
    }
    for (; i < count; ++i) to[i] = static_cast<Out>(from[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<Out>(from[i]);
  }
}

}  // namespace
}  // namespace CPU_CAPABILITY
}  // namespace at::blas::tile
