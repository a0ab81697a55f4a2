// The register tile: a block of C that stays in registers while products are added to it.
#pragma once

#include "aten/blas/tile/Vector.h"
#include "c10/util/complex.h"

namespace at::blas::tile {
namespace CPU_CAPABILITY {

namespace {

// The sums, one vector of lanes and a broadcast element fill the registers: 32 with AVX-512 and
// NEON, otherwise 16. A wide tile has more lanes for fewer rows.
#if defined(__AVX512F__)
constexpr int kTileRows = 14;
constexpr int kWideRows = 6;
#elif defined(__aarch64__)
constexpr int kTileRows = 12;
constexpr int kWideRows = 6;
#elif defined(__AVX2__)
constexpr int kTileRows = 6;
constexpr int kWideRows = 2;
#else
constexpr int kTileRows = 4;
constexpr int kWideRows = 2;
#endif
constexpr int kTileVectors = 2;
constexpr int kWideVectors = 4;

/// How the elements of the rows lie in memory.
enum class RowOrder {
  Packed,  // (r, p) at rows[r + p * row_step]
  Lines,   // (r, p) at rows[r * row_step + p]
};

/// sum += lane * row, lane by lane.
template <class T, class Sum>
inline void multiply_add(Vector<Sum>& sum, Vector<T> lane, Vector<T> row) {
  if constexpr (std::is_same_v<T, Sum>) {
    sum += lane * row;
  } else if constexpr (std::is_same_v<T, ShortPair>) {
    multiply_add_shorts(sum, lane, row);
  } else if constexpr (std::is_same_v<T, ByteQuad>) {
#ifdef AT_TILE_HAS_QUADS
    multiply_add_bytes(sum, lane, row);
#endif
  } else {
#ifdef AT_TILE_HAS_PAIRS
    multiply_add_pairs(sum, lane, row);
#endif
  }
}

/// Where a tile goes.
template <class T>
struct Target {
  T* c;
  int64_t ldc;
  T alpha;
  T beta;
};

/// The lanes that a tile reads: (p, l) at data[p * step + l].
template <class T>
struct Lanes {
  const T* data;
  int64_t step;
  int64_t count;
  bool padded;  // whole vectors may be read
};

template <class T>
struct Whole {
  static Vector<T> load(const T* from) { return tile::CPU_CAPABILITY::load(from); }
  static void store(T* to, Vector<T> value) { tile::CPU_CAPABILITY::store(to, value); }
};

/// Addresses the rows of a tile in the order of `kOrder`. Lines share a pointer by three, at 0, 1
/// and 2 steps, which addressing modes offer; the assembler statement keeps the compiler from
/// making them one pointer each, for which there are not enough registers.
template <class T, int R, RowOrder kOrder>
class Rows {
 public:
  Rows(const T* rows, int64_t step_bytes) : step_(step_bytes) {
    const char* const first = reinterpret_cast<const char*>(rows);
#pragma GCC unroll 8
    for (int g = 0; g < kGroups; ++g) groups_[g] = first + 3 * g * step_;
  }

  T operator[](int r) const {
    const char* const from = kOrder == RowOrder::Packed
                                 ? groups_[0] + static_cast<size_t>(r) * sizeof(T)
                                 : groups_[r / 3] + (r % 3) * step_;
    T value;
    std::memcpy(&value, from, sizeof(T));  // pairs of BFloat16 may lie anywhere
    return value;
  }

  void advance() {
    if constexpr (kOrder == RowOrder::Packed) {
      groups_[0] += step_;
    } else {
#pragma GCC unroll 8
      for (int g = 0; g < kGroups; ++g) {
        groups_[g] += sizeof(T);
        keep_pointer(groups_[g]);
      }
    }
  }

 private:
  static constexpr int kGroups = kOrder == RowOrder::Packed ? 1 : (R + 2) / 3;
  const char* groups_[kGroups];
  int64_t step_;
};

/// c = alpha * sum + beta * c. The last vector of each row may be partial.
template <bool kAdds, class T, int V, int R, class Last, bool kScales = true>
inline void finish(Vector<T> (&sum)[R][V], const Target<T>& to, const Last& last) {
  const auto put = [&](Vector<T> value, T* c, const auto& part) {
    if constexpr (kScales) {
      value = value * to.alpha;
      keep_in_register(
          value);  // so that every tile fuses the same multiplication with the addition
    }
    if constexpr (kAdds) value += part.load(c) * to.beta;
    part.store(c, value);
  };

  T* c = to.c;
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < V - 1; ++v) put(sum[r][v], c + v * kWidth<T>, Whole<T>{});
    put(sum[r][V - 1], c + (V - 1) * kWidth<T>, last);
    c += to.ldc;
  }
}

/// The same with or without the addition. Integers are multiplied by 1 only where they have to be:
/// it takes as long as several of their steps.
template <class T, int V, int R, class Last>
inline void finish_any(Vector<T> (&sum)[R][V], const Target<T>& to, const Last& last) {
  if (to.beta != T(0)) return finish<true, T, V, R>(sum, to, last);
  if constexpr (std::is_integral_v<T>) {
    if (to.alpha == T(1)) return finish<false, T, V, R, Last, false>(sum, to, last);
  }
  finish<false, T, V, R>(sum, to, last);
}

/// sum += lanes times rows, over the depth.
template <class T, class Sum, int V, int R, RowOrder kOrder, class Last>
[[gnu::always_inline]] inline void accumulate(Vector<Sum> (&sum)[R][V], int64_t depth,
                                              const Lanes<T>& lanes, Rows<T, R, kOrder> row,
                                              const Last& last) {
  constexpr int W = kWidth<T>;
  const T* from = lanes.data;

  for (int64_t p = 0; p < depth; ++p) {
    Vector<T> lane[V];
#pragma GCC unroll 4
    for (int v = 0; v < V - 1; ++v) lane[v] = load(from + v * W);
    lane[V - 1] = last.load(from + (V - 1) * W);
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) keep_in_register(lane[v]);

#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const Vector<T> factor = broadcast(row[r]);
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) multiply_add<T, Sum>(sum[r][v], lane[v], factor);
    }

    from += lanes.step;
    row.advance();
  }
}

/// Whether a panel of lanes begins with the sums that tiles start from.
template <class T>
constexpr bool kHasStart = std::is_same_v<T, ByteQuad>;

/// Lanes in V vectors, of which the last may be partial, times R rows. T is the type of the
/// elements that are multiplied, Sum that of C.
template <class T, class Sum, int V, int R, RowOrder kOrder>
void multiply_tile(int64_t depth, const Lanes<T>& all, const T* rows, int64_t row_step_bytes,
                   const Target<Sum>& to) {
  static_assert(sizeof(T) == sizeof(Sum));
  Lanes<T> lanes = all;
  const int64_t rest = lanes.count - (V - 1) * kWidth<T>;
  const Rows<T, R, kOrder> row(rows, row_step_bytes);
  Vector<Sum> sum[R][V] = {};

  if constexpr (kHasStart<T>) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      const Vector<Sum> start = load(lanes.data + v * kWidth<T>);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) sum[r][v] = start;
    }
    lanes.data += lanes.step;
  }

  // Only AVX-512 loads a part of a vector at no cost.
#if defined(__AVX512F__)
  accumulate<T, Sum, V, R, kOrder>(sum, depth, lanes, row, Prefix<T>(rest));
#else
  if (lanes.padded || rest == kWidth<T>)
    accumulate<T, Sum, V, R, kOrder>(sum, depth, lanes, row, Whole<T>{});
  else accumulate<T, Sum, V, R, kOrder>(sum, depth, lanes, row, Prefix<T>(rest));
#endif

  // Without masks, storing a part is a call.
#if !defined(__AVX512F__)
  if (rest == kWidth<T>) return finish_any<Sum, V, R>(sum, to, Whole<Sum>{});
#endif
  finish_any<Sum, V, R>(sum, to, Prefix<Sum>(rest));
}

// Complex numbers

/// A vector of lanes times R rows. A step of the lanes is a vector of real parts, then one of
/// imaginary parts; of the rows, R pairs.
template <class T, int R>
void multiply_complex_tile(int64_t depth, const T* lanes, const T* rows, int64_t count,
                           const Target<c10::complex<T>>& to) {
  constexpr int W = kWidth<T>;
  Vector<T> real[R] = {};
  Vector<T> imag[R] = {};

  for (int64_t p = 0; p < depth; ++p, lanes += 2 * W, rows += 2 * R) {
    Vector<T> lane_real = load(lanes);
    Vector<T> lane_imag = load(lanes + W);
    keep_in_register(lane_real);
    keep_in_register(lane_imag);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const Vector<T> row_real = broadcast(rows[2 * r]);
      real[r] += lane_real * row_real;
      imag[r] += lane_imag * row_real;
      const Vector<T> row_imag = broadcast(rows[2 * r + 1]);
      real[r] -= lane_imag * row_imag;
      imag[r] += lane_real * row_imag;
    }
  }

  // C has the parts of each number next to each other.
  alignas(kVectorBytes) c10::complex<T> line[W];
  for (int r = 0; r < R; ++r) {
    Vector<T> low, high;
    interleave<T>(real[r], imag[r], low, high);
    store(reinterpret_cast<T*>(line), low);
    store(reinterpret_cast<T*>(line) + W, high);

    c10::complex<T>* const c = to.c + r * to.ldc;
    const bool adds = to.beta != c10::complex<T>(0);
    for (int64_t l = 0; l < count; ++l) {
      const c10::complex<T> value = to.alpha * line[l];
      c[l] = adds ? value + to.beta * c[l] : value;
    }
  }
}

}  // namespace
}  // namespace CPU_CAPABILITY
}  // namespace at::blas::tile
