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

/// out[p * step + i] = element i of line p, for lines of at most one vector, `line_step` apart.
template <class T, class In>
void pack_across(const In* lines, int64_t line_step, int64_t count, int64_t depth, T* out,
                 int64_t step) {
  constexpr int W = kWidth<T>;
  if (count == W) {
    for (int64_t p = 0; p < depth; ++p)
      store(out + p * step, load_converted<T>(lines + p * line_step, W));
  } else if constexpr (std::is_same_v<T, In>) {
    const Prefix<T> part(count);
    for (int64_t p = 0; p < depth; ++p) store(out + p * step, part.load(lines + p * line_step));
  } else {
    for (int64_t p = 0; p < depth; ++p)
      store(out + p * step, load_converted<T>(lines + p * line_step, count));
  }
}

/// Packs `count` lanes of numbers into a panel of `panel` lanes, whole vectors.
template <class T, class In>
void pack_lanes(const Operand<In>& lanes, int64_t count, int64_t depth, T* out, int64_t panel) {
  constexpr int W = kWidth<T>;
  for (int64_t first = 0; first < count; first += W) {
    const int64_t length = std::min<int64_t>(W, count - first);
    const In* const from = lanes.at(first, 0);
    if (lanes.step != 1) pack_lines(from, lanes.step, length, depth, out + first, panel);
    else pack_across(from, lanes.depth_step, length, depth, out + first, panel);
  }
}

/// Calls pack(first, length) for vectors of `count` rows. The last one runs over into the next step
/// of the depth, whose first rows are therefore packed after it.
template <int W, class Pack>
void for_row_vectors(int64_t count, const Pack& pack) {
  for (int64_t first = (count - 1) / W * W; first >= 0; first -= W)
    pack(first, std::min<int64_t>(W, count - first));
}

/// Packs `count` rows of numbers, of which a step of the depth has `count` after one another.
template <class T, class In>
void pack_rows(const Operand<In>& rows, int64_t count, int64_t depth, T* out) {
  for_row_vectors<kWidth<T>>(count, [&](int64_t first, int64_t length) {
    const In* const from = rows.at(first, 0);
    if (rows.step != 1) pack_lines(from, rows.step, length, depth, out + first, count);
    else pack_across(from, rows.depth_step, length, depth, out + first, count);
  });
}

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
