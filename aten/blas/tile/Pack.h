// Copies parts of operands into the panels that tiles read: transposed, converted, paired or split.
#pragma once

#include <algorithm>

#include "aten/blas/tile/Kernels.h"
#include "aten/blas/tile/Tile.h"

namespace at::blas::tile {
namespace CPU_CAPABILITY {

namespace {

// A panel of lanes has, for each step of the depth, `panel` elements of which missing ones are 0; a
// panel of rows has its rows only. Functions write whole vectors, so up to a vector beyond the last
// panel; panels are therefore packed in ascending order.

/// out[p * step + i] = element p of line i, for at most one vector of lines and zeros for those
/// that are missing. read(i, p, length) is a vector of `length` elements of line i from p on.
template <class T, class Read>
void pack_transposed(const Read& read, int64_t count, int64_t depth, T* out, int64_t step) {
  constexpr int W = kWidth<T>;
  for (int64_t p = 0; p < depth; p += W) {
    const int64_t length = std::min<int64_t>(W, depth - p);
    Vector<T> square[W];
    if (count == W && length == W) {
#pragma GCC unroll 16
      for (int i = 0; i < W; ++i) square[i] = read(i, p, W);
    } else {
      for (int i = 0; i < W; ++i) square[i] = i < count ? read(i, p, length) : Vector<T>{};
    }

    transpose_square<T>(square);

    if (length == W) {
#pragma GCC unroll 16
      for (int i = 0; i < W; ++i) store(out + (p + i) * step, square[i]);
    } else {
      for (int64_t i = 0; i < length; ++i) store(out + (p + i) * step, square[i]);
    }
  }
}

/// The same for lines of numbers, `line_step` apart.
template <class T, class In>
void pack_lines(const In* lines, int64_t line_step, int64_t count, int64_t depth, T* out,
                int64_t step) {
  if constexpr (sizeof(T) < 4) {  // no instruction interleaves vectors of so small elements
    for (int64_t p = 0; p < depth; ++p) {
      for (int64_t i = 0; i < kWidth<T>; ++i)
        out[p * step + i] = i < count ? static_cast<T>(lines[i * line_step + p]) : T();
    }
  } else {
    const auto read = [&](int64_t i, int64_t p, int64_t length) {
      return load_converted<T>(lines + i * line_step + p, length);
    };
    pack_transposed<T>(read, count, depth, out, step);
  }
}

/// Packs `count` lanes of numbers into a panel of `panel` lanes, whole vectors.
template <class T, class In>
void pack_lanes(const Operand<In>& lanes, int64_t count, int64_t depth, T* out, int64_t panel) {
  constexpr int W = kWidth<T>;
  for (int64_t first = 0; first < count; first += W) {
    const int64_t length = std::min<int64_t>(W, count - first);
    const In* from = lanes.at(first, 0);

    if (lanes.step != 1) {
      pack_lines(from, lanes.step, length, depth, out + first, panel);
    } else if (length == W) {
      for (int64_t p = 0; p < depth; ++p)
        store(out + p * panel + first, load_converted<T>(from + p * lanes.depth_step, W));
    } else {
      for (int64_t p = 0; p < depth; ++p)
        store(out + p * panel + first, load_converted<T>(from + p * lanes.depth_step, length));
    }
  }
}

/// Packs `count` rows of numbers, of which a step of the depth has `count` after one another.
template <class T, class In>
void pack_rows(const Operand<In>& rows, int64_t count, int64_t depth, T* out) {
  constexpr int W = kWidth<T>;

  // A vector of rows runs over into the next step, which is written after it.
  if (count <= W && rows.step != 1)
    return pack_lines(rows.data, rows.step, count, depth, out, count);
  if (count <= W) {
    for (int64_t p = 0; p < depth; ++p)
      store(out + p * count, load_converted<T>(rows.at(0, p), count));
    return;
  }

  for (int64_t p = 0; p < depth; ++p) {
    for (int64_t i = 0; i < count; ++i) out[p * count + i] = static_cast<T>(*rows.at(i, p));
  }
}

#ifdef AT_TILE_HAS_PAIRS
// Pairs of BFloat16 along the depth; a last one without partner has 0

/// Pairs of a line that lies along the depth.
inline Vector<uint32_t> load_pairs(const c10::BFloat16* from, int64_t elements) {
  const Prefix<uint16_t> part(elements);
  return Vector<uint32_t>(part.load(reinterpret_cast<const uint16_t*>(from)));
}

/// Pairs of elements that lie across the depth, `count` of them, from p on.
inline void load_pairs_across(const Operand<c10::BFloat16>& operand, int64_t p, int64_t depth,
                              const Prefix<uint16_t>& part, Vector<uint32_t> (&pairs)[2]) {
  const auto line = [&](int64_t at) {
    return part.load(reinterpret_cast<const uint16_t*>(operand.at(0, at)));
  };
  Vector<uint16_t> low, high;
  interleave<uint16_t>(line(p), p + 1 < depth ? line(p + 1) : Vector<uint16_t>{}, low, high);
  pairs[0] = Vector<uint32_t>(low);
  pairs[1] = Vector<uint32_t>(high);
}

/// Transposes `count` lines along the depth.
inline void pack_pair_lines(const Operand<c10::BFloat16>& lines, int64_t first, int64_t count,
                            int64_t depth, uint32_t* out, int64_t step) {
  const auto read = [&](int64_t i, int64_t p, int64_t length) {
    const int64_t elements = std::min(2 * length, depth - 2 * p);
    return load_pairs(lines.at(first + i, 2 * p), elements);
  };
  pack_transposed<uint32_t>(read, count, (depth + 1) / 2, out, step);
}

inline void pack_lane_pairs(const Operand<c10::BFloat16>& lanes, int64_t count, int64_t depth,
                            uint32_t* out, int64_t panel) {
  constexpr int W = kWidth<uint32_t>;
  if (lanes.step != 1) {
    for (int64_t first = 0; first < count; first += W)
      pack_pair_lines(lanes, first, std::min<int64_t>(W, count - first), depth, out + first, panel);
    return;
  }

  const Prefix<uint16_t> part(count);
  for (int64_t p = 0; p < depth; p += 2, out += panel) {
    Vector<uint32_t> pairs[2];
    load_pairs_across(lanes, p, depth, part, pairs);
    store(out, pairs[0]);
    store(out + W, pairs[1]);
  }
}

inline void pack_row_pairs(const Operand<c10::BFloat16>& rows, int64_t count, int64_t depth,
                           uint32_t* out) {
  static_assert(kTileRows <= kWidth<uint32_t>);
  if (rows.step != 1) return pack_pair_lines(rows, 0, count, depth, out, count);

  const Prefix<uint16_t> part(count);
  for (int64_t p = 0; p < depth; p += 2, out += count) {
    Vector<uint32_t> pairs[2];
    load_pairs_across(rows, p, depth, part, pairs);
    store(out, pairs[0]);
  }
}
#endif

// Complex numbers: `panel` real parts, then as many imaginary ones; rows in pairs

template <class T>
c10::complex<T> conjugated(c10::complex<T> value, bool conjugate) {
  return conjugate ? c10::complex<T>(value.real(), -value.imag()) : value;
}

template <class T>
void pack_complex_lanes(const Operand<c10::complex<T>>& lanes, int64_t count, int64_t depth, T* out,
                        int64_t panel) {
  for (int64_t p = 0; p < depth; ++p, out += 2 * panel) {
    for (int64_t l = 0; l < panel; ++l) {
      const auto value =
          l < count ? conjugated(*lanes.at(l, p), lanes.conjugate) : c10::complex<T>(0);
      out[l] = value.real();
      out[panel + l] = value.imag();
    }
  }
}

template <class T>
void pack_complex_rows(const Operand<c10::complex<T>>& rows, int64_t count, int64_t depth, T* out) {
  for (int64_t p = 0; p < depth; ++p) {
    for (int64_t i = 0; i < count; ++i, out += 2) {
      const auto value = conjugated(*rows.at(i, p), rows.conjugate);
      out[0] = value.real();
      out[1] = value.imag();
    }
  }
}

}  // namespace
}  // namespace CPU_CAPABILITY
}  // namespace at::blas::tile
