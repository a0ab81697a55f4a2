// How each element type is packed and multiplied by tiles.
#pragma once

#include <array>

#include "aten/blas/tile/Pack.h"

namespace at::blas::tile {
namespace CPU_CAPABILITY {

namespace {

// Each class below has
//   Stored, Packed, Sum   the types in memory, in panels, and of sums
//   kInPlace              whether tiles may read the lanes themselves
//   rows_in_place()       and the rows
//   kGroup                the elements of the depth that one step multiplies
//   kDepth                the most steps in one chunk: a panel of lanes and one of rows are in
//                         the first-level cache
//   kVectors, kRows       the size of a tile
//   kLaneElements         the packed elements per lane and step
// and functions to pack and multiply.

template <class T, class Sum>
using TileFunction = void (*)(int64_t, const Lanes<T>&, const T*, int64_t, const Target<Sum>&);

template <class T, class Sum, int V, RowOrder kOrder, int... R>
constexpr std::array<TileFunction<T, Sum>, sizeof...(R)> tiles(std::integer_sequence<int, R...>) {
  return {&multiply_tile<T, Sum, V, R + 1, kOrder>...};
}

/// The tile of V vectors and R rows, for 1 <= R <= kRows.
template <class T, class Sum, int V, int kRows, RowOrder kOrder>
TileFunction<T, Sum> tile_for(int64_t rows) {
  static constexpr auto functions =
      tiles<T, Sum, V, kOrder>(std::make_integer_sequence<int, kRows>{});
  return functions[static_cast<size_t>(rows - 1)];
}

/// Lanes of one or two vectors times rows.
template <class T, class Sum, int kRows, RowOrder kOrder = RowOrder::Packed>
void multiply_narrow(int64_t depth, const Lanes<T>& lanes, int64_t height, const T* rows,
                     int64_t step, const Target<Sum>& to) {
  const auto tile = lanes.count <= kWidth<T>
                        ? tile_for<T, Sum, 1, kRows, kOrder>(height)
                        : tile_for<T, Sum, kTileVectors, kRows, kOrder>(height);
  tile(depth, lanes, rows, step, to);
}

/// float and double.
template <class T>
struct Floats {
  using Stored = T;
  using Packed = T;
  using Sum = T;
  static constexpr bool kInPlace = true;
  static constexpr int64_t kGroup = 1;
  static constexpr int64_t kDepth = 256;
  static constexpr int kVectors = kTileVectors;
  static constexpr int kRows = kTileRows;
  static constexpr int kLaneElements = 1;

  static bool rows_in_place(const Product<T>&) { return true; }
  static void pack_lanes(const Operand<T>& lanes, int64_t count, int64_t depth, T* out,
                         int64_t panel) {
    CPU_CAPABILITY::pack_lanes(lanes, count, depth, out, panel);
  }
  static void pack_rows(const Operand<T>& rows, int64_t count, int64_t depth, T* out) {
    CPU_CAPABILITY::pack_rows(rows, count, depth, out);
  }

  static void multiply(int64_t depth, const Lanes<T>& lanes, int64_t height, const T* rows,
                       int64_t step, RowOrder order, const Target<T>& to) {
    if (order == RowOrder::Packed)
      multiply_as<RowOrder::Packed>(depth, lanes, height, rows, step, to);
    else multiply_as<RowOrder::Lines>(depth, lanes, height, rows, step, to);
  }

 private:
  template <RowOrder kOrder>
  static void multiply_as(int64_t depth, Lanes<T> lanes, int64_t height, const T* rows,
                          int64_t step, Target<T> to) {
    constexpr int W = kWidth<T>;
    if (lanes.count > 3 * W)
      return tile_for<T, T, kWideVectors, kWideRows, kOrder>(height)(depth, lanes, rows, step, to);

    if (lanes.count > W) {
      const int64_t rest = lanes.count - 2 * W;
      lanes.count = std::min<int64_t>(lanes.count, 2 * W);
      tile_for<T, T, 2, kTileRows, kOrder>(height)(depth, lanes, rows, step, to);
      if (rest <= 0) return;

      // The third vector of a wide tile.
      lanes.data += 2 * W;
      lanes.count = rest;
      to.c += 2 * W;
    }
    tile_for<T, T, 1, kTileRows, kOrder>(height)(depth, lanes, rows, step, to);
  }
};

/// Reduced floats, which are multiplied as float.
template <class In>
struct Widened {
  using Stored = In;
  using Packed = float;
  using Sum = float;
  static constexpr bool kInPlace = false;
  static constexpr int64_t kGroup = 1;
  static constexpr int64_t kDepth = 256;
  static constexpr int kVectors = kTileVectors;
  static constexpr int kRows = kTileRows;
  static constexpr int kLaneElements = 1;

  static bool rows_in_place(const Product<In>&) { return false; }
  static void pack_lanes(const Operand<In>& lanes, int64_t count, int64_t depth, float* out,
                         int64_t panel) {
    CPU_CAPABILITY::pack_lanes(lanes, count, depth, out, panel);
  }
  static void pack_rows(const Operand<In>& rows, int64_t count, int64_t depth, float* out) {
    CPU_CAPABILITY::pack_rows(rows, count, depth, out);
  }
  static void multiply(int64_t depth, const Lanes<float>& lanes, int64_t height, const float* rows,
                       int64_t step, RowOrder, const Target<float>& to) {
    multiply_narrow<float, float, kRows>(depth, lanes, height, rows, step, to);
  }
};

#ifdef AT_TILE_HAS_PAIRS
/// BFloat16 in pairs along the depth.
struct Pairs {
  using Stored = c10::BFloat16;
  using Packed = uint32_t;
  using Sum = float;
  static constexpr bool kInPlace = false;
  static constexpr int64_t kGroup = 2;
  static constexpr int64_t kDepth = 512;
  static constexpr int kVectors = kTileVectors;
  static constexpr int kRows = kTileRows;
  static constexpr int kLaneElements = 1;

  /// Where the elements of a pair are next to each other, and every element has a partner.
  static bool rows_in_place(const Product<Stored>& x) {
    return x.row.step != 1 && x.row.depth_step == 1 && x.depth % 2 == 0;
  }
  static void pack_lanes(const Operand<Stored>& lanes, int64_t count, int64_t depth, uint32_t* out,
                         int64_t panel) {
    pack_lane_pairs(lanes, count, depth, out, panel);
  }
  static void pack_rows(const Operand<Stored>& rows, int64_t count, int64_t depth, uint32_t* out) {
    pack_row_pairs(rows, count, depth, out);
  }
  static void multiply(int64_t depth, const Lanes<uint32_t>& lanes, int64_t height,
                       const uint32_t* rows, int64_t step, RowOrder order,
                       const Target<float>& to) {
    const auto multiply_rows = order == RowOrder::Packed
                                   ? &multiply_narrow<uint32_t, float, kRows, RowOrder::Packed>
                                   : &multiply_narrow<uint32_t, float, kRows, RowOrder::Lines>;
    multiply_rows(depth, lanes, height, rows, step, to);
  }
};
#endif

/// Integers, which wrap around.
template <class T>
struct Integers {
  using Stored = T;
  using Packed = T;
  using Sum = T;
  static constexpr bool kInPlace = false;
  static constexpr int64_t kGroup = 1;
  static constexpr int64_t kDepth = 256;
  static constexpr int kVectors = kTileVectors;
  static constexpr int kRows = kWideRows;  // their products need registers, too
  static constexpr int kLaneElements = 1;

  static bool rows_in_place(const Product<T>&) { return false; }
  static void pack_lanes(const Operand<T>& lanes, int64_t count, int64_t depth, T* out,
                         int64_t panel) {
    CPU_CAPABILITY::pack_lanes(lanes, count, depth, out, panel);
  }
  static void pack_rows(const Operand<T>& rows, int64_t count, int64_t depth, T* out) {
    CPU_CAPABILITY::pack_rows(rows, count, depth, out);
  }
  static void multiply(int64_t depth, const Lanes<T>& lanes, int64_t height, const T* rows,
                       int64_t step, RowOrder, const Target<T>& to) {
    multiply_narrow<T, T, kRows>(depth, lanes, height, rows, step, to);
  }
};

/// Complex numbers as four real products.
template <class T>
struct Complex {
  using Stored = c10::complex<T>;
  using Packed = T;
  using Sum = c10::complex<T>;
  static constexpr bool kInPlace = false;
  static constexpr int64_t kGroup = 1;
  static constexpr int64_t kDepth = 256;
  static constexpr int kVectors = 1;
  static constexpr int kRows = kTileRows;
  static constexpr int kLaneElements = 2;

  static bool rows_in_place(const Product<Stored>&) { return false; }
  static void pack_lanes(const Operand<Stored>& lanes, int64_t count, int64_t depth, T* out,
                         int64_t panel) {
    pack_complex_lanes(lanes, count, depth, out, panel);
  }
  static void pack_rows(const Operand<Stored>& rows, int64_t count, int64_t depth, T* out) {
    pack_complex_rows(rows, count, depth, out);
  }
  static void multiply(int64_t depth, const Lanes<T>& lanes, int64_t height, const T* rows, int64_t,
                       RowOrder, const Target<Sum>& to) {
    static constexpr auto functions = all(std::make_integer_sequence<int, kRows>{});
    functions[static_cast<size_t>(height - 1)](depth, lanes.data, rows, lanes.count, to);
  }

 private:
  using Function = void (*)(int64_t, const T*, const T*, int64_t, const Target<Sum>&);
  template <int... R>
  static constexpr std::array<Function, sizeof...(R)> all(std::integer_sequence<int, R...>) {
    return {&multiply_complex_tile<T, R + 1>...};
  }
};

}  // namespace
}  // namespace CPU_CAPABILITY
}  // namespace at::blas::tile
