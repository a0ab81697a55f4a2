// How each element type is packed and multiplied by tiles.
#pragma once

#include <array>

#include "aten/blas/tile/PackGroups.h"

namespace at::blas::tile {
namespace CPU_CAPABILITY {

namespace {

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

/// What the types below have in common: elements are packed one by one, and tiles read panels only.
/// What a type does in another way, it declares again.
template <class LaneType, class PackedType, class SumType, int kTileHeight = kTileRows,
          class RowType = LaneType, class ResultType = LaneType>
struct Elements {
  // In memory: of lanes, rows and C. In panels. Of sums.
  using Stored = LaneType;
  using Row = RowType;
  using Result = ResultType;
  using Packed = PackedType;
  using Sum = SumType;
  using Multiplied = Product<Stored, Row, Result>;

  // The elements of the depth that one step multiplies, and the most steps in one chunk: long
  // chunks read and write C less often, and panels of them still stream from the second-level
  // cache.
  static constexpr int64_t kGroup = 1;
  static constexpr int64_t kDepth = 512;

  static constexpr int kVectors = kTileVectors;
  static constexpr int kRows = kTileHeight;
  static constexpr int kLaneElements = 1;  // packed elements per lane and step

  // Whether tiles may read lanes and rows where they are.
  static constexpr bool kInPlace = false;
  static bool rows_in_place(const Multiplied&) { return false; }

  static void pack_lanes(const Operand<Stored>& lanes, int64_t count, int64_t depth, Packed* out,
                         int64_t panel) {
    CPU_CAPABILITY::pack_lanes(lanes, count, depth, out, panel);
  }
  static void pack_rows(const Operand<Row>& rows, int64_t count, int64_t depth, Packed* out) {
    CPU_CAPABILITY::pack_rows(rows, count, depth, out);
  }
  static void multiply(int64_t depth, const Lanes<Packed>& lanes, int64_t height,
                       const Packed* rows, int64_t step, RowOrder, const Target<Sum>& to) {
    multiply_narrow<Packed, Sum, kRows>(depth, lanes, height, rows, step, to);
  }
};

/// float and double.
template <class T>
struct Floats : Elements<T, T, T> {
  static constexpr bool kInPlace = true;
  static bool rows_in_place(const Product<T>&) { return true; }

  static void multiply(int64_t depth, const Lanes<T>& lanes, int64_t height, const T* rows,
                       int64_t step, RowOrder order, const Target<T>& to) {
    if (depth >= kPrefetched) prefetch(lanes.count, height, to);
    if (order == RowOrder::Packed)
      multiply_as<RowOrder::Packed>(depth, lanes, height, rows, step, to);
    else multiply_as<RowOrder::Lines>(depth, lanes, height, rows, step, to);
  }

 private:
  // Products of at least this many steps take longer than the lines of C need to arrive.
  static constexpr int64_t kPrefetched = 64;
  static constexpr int64_t kLine = 64 / int64_t{sizeof(T)};  // elements of a cache line

  /// Asks for the lines of C, which the tile reaches after its last step.
  static void prefetch(int64_t lanes, int64_t height, const Target<T>& to) {
    for (int64_t r = 0; r < height; ++r)
      for (int64_t l = 0; l < lanes; l += kLine) __builtin_prefetch(to.c + r * to.ldc + l, 1);
  }

  // Nothing is copied on the way to the tile: a copy would wait for the stores of the last one.
  template <RowOrder kOrder>
  static void multiply_as(int64_t depth, const Lanes<T>& lanes, int64_t height, const T* rows,
                          int64_t step, const Target<T>& to) {
    constexpr int W = kWidth<T>;
    if (lanes.count <= W)
      return tile_for<T, T, 1, kTileRows, kOrder>(height)(depth, lanes, rows, step, to);
    if (lanes.count <= 2 * W)
      return tile_for<T, T, 2, kTileRows, kOrder>(height)(depth, lanes, rows, step, to);
    if (lanes.count > 3 * W)
      return tile_for<T, T, kWideVectors, kWideRows, kOrder>(height)(depth, lanes, rows, step, to);

    // The third vector of a wide tile.
    const Lanes<T> pair{lanes.data, lanes.step, 2 * W, lanes.padded};
    const Lanes<T> rest{lanes.data + 2 * W, lanes.step, lanes.count - 2 * W, lanes.padded};
    const Target<T> to_rest{to.c + 2 * W, to.ldc, to.alpha, to.beta};
    tile_for<T, T, 2, kTileRows, kOrder>(height)(depth, pair, rows, step, to);
    tile_for<T, T, 1, kTileRows, kOrder>(height)(depth, rest, rows, step, to_rest);
  }
};

/// Reduced floats, which are multiplied as float.
template <class In>
struct Widened : Elements<In, float, float> {};

/// Weights of 8 bits, by which floats are multiplied.
template <class In>
struct ByteWeights : Elements<int8_t, float, float, kTileRows, In, In> {};

/// Integers, which wrap around. Their products need registers, too.
template <class T>
struct Integers : Elements<T, T, T, kWideRows> {};

/// Bytes in pairs along the depth, as 16 bits each. Sums wrap around.
template <class Lane, class Row = Lane, class Result = Lane>
struct Bytes : Elements<Lane, ShortPair, uint32_t, kTileRows, Row, Result> {
  static constexpr int64_t kGroup = 2;

  static void pack_lanes(const Operand<Lane>& lanes, int64_t count, int64_t depth, ShortPair* out,
                         int64_t panel) {
    pack_lane_pairs(lanes, count, depth, out, panel);
  }
  static void pack_rows(const Operand<Row>& rows, int64_t count, int64_t depth, ShortPair* out) {
    pack_row_pairs(rows, count, depth, out);
  }
};

/// Tiles of groups that may lie in memory as they do in panels.
template <class T, class Sum>
void multiply_grouped(int64_t depth, const Lanes<T>& lanes, int64_t height, const T* rows,
                      int64_t step, RowOrder order, const Target<Sum>& to) {
  const auto multiply = order == RowOrder::Packed
                            ? &multiply_narrow<T, Sum, kTileRows, RowOrder::Packed>
                            : &multiply_narrow<T, Sum, kTileRows, RowOrder::Lines>;
  multiply(depth, lanes, height, rows, step, to);
}

#ifdef AT_TILE_HAS_PAIRS
/// BFloat16 in pairs along the depth.
struct Pairs : Elements<c10::BFloat16, uint32_t, float> {
  static constexpr int64_t kGroup = 2;

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
    multiply_grouped(depth, lanes, height, rows, step, order, to);
  }
};
#endif

#ifdef AT_TILE_HAS_QUADS
/// Bytes in fours along the depth. Sums wrap around.
template <class Lane, class RowType = Lane, class Result = Lane>
struct Quads : Elements<Lane, ByteQuad, uint32_t, kTileRows, RowType, Result> {
  static constexpr int64_t kGroup = 4;
  static constexpr bool kSignedRows = std::is_signed_v<RowType>;

  /// Where the four are next to each other, and all complete. See also Note [Signs of bytes].
  static bool rows_in_place(const Product<Lane, RowType, Result>& x) {
    return !kSignedRows && x.row.step != 1 && x.row.depth_step == 1 && x.depth % 4 == 0;
  }
  static void pack_lanes(const Operand<Lane>& lanes, int64_t count, int64_t depth, ByteQuad* out,
                         int64_t panel) {
    pack_lane_quads(lanes, count, depth, kSignedRows, out, panel);
  }
  static void pack_rows(const Operand<RowType>& rows, int64_t count, int64_t depth, ByteQuad* out) {
    pack_row_quads(rows, count, depth, kSignedRows, out);
  }
  static void multiply(int64_t depth, const Lanes<ByteQuad>& lanes, int64_t height,
                       const ByteQuad* rows, int64_t step, RowOrder order,
                       const Target<uint32_t>& to) {
    multiply_grouped(depth, lanes, height, rows, step, order, to);
  }
};
#endif

/// Complex numbers as four real products.
template <class T>
struct Complex : Elements<c10::complex<T>, T, c10::complex<T>> {
  using Stored = c10::complex<T>;
  static constexpr int kVectors = 1;
  static constexpr int kLaneElements = 2;

  static void pack_lanes(const Operand<Stored>& lanes, int64_t count, int64_t depth, T* out,
                         int64_t panel) {
    pack_complex_lanes(lanes, count, depth, out, panel);
  }
  static void pack_rows(const Operand<Stored>& rows, int64_t count, int64_t depth, T* out) {
    pack_complex_rows(rows, count, depth, out);
  }
  static void multiply(int64_t depth, const Lanes<T>& lanes, int64_t height, const T* rows, int64_t,
                       RowOrder, const Target<Stored>& to) {
    static constexpr auto functions = all(std::make_integer_sequence<int, kTileRows>{});
    functions[static_cast<size_t>(height - 1)](depth, lanes.data, rows, lanes.count, to);
  }

 private:
  using Function = void (*)(int64_t, const T*, const T*, int64_t, const Target<Stored>&);
  template <int... R>
  static constexpr std::array<Function, sizeof...(R)> all(std::integer_sequence<int, R...>) {
    return {&multiply_complex_tile<T, R + 1>...};
  }
};

}  // namespace
}  // namespace CPU_CAPABILITY
}  // namespace at::blas::tile
