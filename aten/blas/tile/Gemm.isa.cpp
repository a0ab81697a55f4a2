// Our own matrix products for one core: the loops around the register tile. Compiled with -O3.
#include <algorithm>
#include <array>

#include "aten/blas/tile/Elements.h"
#include "aten/blas/tile/Epilogue.h"

// The loops follow Goto and van de Geijn (2008): pieces of the operands are copied into panels in
// the order in which tiles read them, of a size that stays in the caches. What is used only a few
// times, is read in place.

namespace at::blas::tile {
namespace CPU_CAPABILITY {

namespace {

constexpr int64_t kBlockTiles = 24;    // of rows, which stay in the second-level cache
constexpr int64_t kBlockBytes = 8192;  // of the lanes of a block, which stays in the third
constexpr int64_t kTilesInPlace = 3;   // of rows, for which lanes are not packed
constexpr int64_t kPanelsInPlace = 3;  // of lanes, for which rows are not packed
constexpr int64_t kShallow = 16;       // C is written more than anything is read
constexpr int kLinesTogether = 7;      // whose addresses differ by multiples of 2048

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// A range cut into parts that differ by at most 1.
struct Cut {
  /// Divisions take longer than a small product.
  Cut(int64_t total, int64_t count)
      : parts(std::max<int64_t>(1, count)),
        length(parts == 1 ? total : total / parts),
        longer(total - length * parts) {}

  int64_t begin(int64_t part) const { return part * length + std::min(part, longer); }
  int64_t most() const { return length + (longer > 0); }

  int64_t parts;
  int64_t length;
  int64_t longer;
};

/// One product, or a batch of them, for elements as E multiplies them.
template <class E>
class Multiplication {
 public:
  using Stored = typename E::Stored;
  using Row = typename E::Row;
  using Result = typename E::Result;
  using Packed = typename E::Packed;
  using Sum = typename E::Sum;
  using Multiplied = typename E::Multiplied;

  explicit Multiplication(const Multiplied& x)
      : x_(x),
        row_(x.row),
        lane_(x.lane),
        c_(x.c),
        vectors_(is_wide(x) ? kWideVectors : E::kVectors),
        panel_(vectors_ * kLanes),
        rows_in_place_(E::rows_in_place(x) && x.lanes <= kPanelsInPlace * panel_),
        tiles_(x.rows, is_wide(x) ? 1 : ceil_div(x.rows, tile_height())),
        chunks_(ceil_div(x.depth, E::kGroup), ceil_div(x.depth, E::kDepth * E::kGroup)),
        blocks_(tiles_.parts, ceil_div(tiles_.parts, kBlockTiles)),
        block_lanes_(std::min((x.lanes + panel_ - 1) & -panel_, kBlockLanes)),
        lanes_in_place_(E::kInPlace && x.lane.step == 1 && tiles_.parts <= kTilesInPlace),
        rows_outside_(tiles_.parts > 1 && x.depth <= kShallow),
        shares_lanes_(x.batch > 1 && x.lane_batch_step == 0 && chunks_.parts == 1 &&
                      x.lanes <= block_lanes_),
        one_panel_(blocks_.parts == 1 && !rows_outside_ && !shares_lanes_) {
    const int64_t steps = chunks_.most();
    const int64_t lanes = lanes_in_place_ ? 0 : one_panel_ ? panel_ : block_lanes_;
    const int64_t rows = rows_in_place_ ? 0 : blocks_.most() * tiles_.most();
    const int64_t lane_elements = E::kLaneElements * (steps + kHead) * lanes;
    const int64_t elements = lane_elements + E::kLaneElements * steps * rows + kWidth<Packed>;
    const int64_t sums = !kRounds             ? 0
                         : chunks_.parts == 1 ? panel_ * E::kRows
                                              : x.rows * block_lanes_;

    if (lanes + rows + sums == 0) return;
    lane_panels_ = static_cast<Packed*>(scratch(static_cast<size_t>(elements) * sizeof(Packed) +
                                                static_cast<size_t>(sums) * sizeof(Sum)));
    row_panels_ = lane_panels_ + lane_elements;
    sums_ = reinterpret_cast<Sum*>(lane_panels_ + elements);
  }

  void run() {
    for (matrix_ = 0; matrix_ < x_.batch; ++matrix_) {
      multiply_matrix();
      row_.data += x_.row_batch_step;
      lane_.data += x_.lane_batch_step;
      c_ += x_.c_batch_step;
    }
  }

 private:
  static constexpr int64_t kPackedBytes = sizeof(Packed);
  static constexpr int64_t kLanes = kWidth<Packed>;
  static constexpr int64_t kBlockLanes = kBlockBytes / int64_t{sizeof(Packed)} / E::kLaneElements;
  /// The lines at the head of a panel of lanes.
  static constexpr int64_t kHead = kHasStart<Packed> ? 1 : 0;
  /// Whether C has a smaller type than sums.
  static constexpr bool kRounds = !std::is_same_v<Result, Sum>;

  /// Few rows leave registers for more lanes.
  static bool is_wide(const Multiplied& x) {
    return E::kInPlace && x.rows <= kWideRows && x.lanes > kTileVectors * kLanes &&
           x.lane.step == 1;
  }

  /// Lines whose distance is a multiple of half the size of a way of the first-level cache share
  /// two of its sets, which hold eight lines each. Less than that are read or written together.
  int64_t tile_height() const {
    const auto shares_sets = [](int64_t bytes) { return bytes % 2048 == 0; };
    const bool rows =
        rows_in_place_ && x_.row.step != 1 && shares_sets(x_.row.step * int64_t{sizeof(Row)});
    const bool results = x_.depth <= kShallow && shares_sets(x_.ldc * int64_t{sizeof(Result)});
    return rows || results ? std::min(E::kRows, kLinesTogether) : E::kRows;
  }

  /// The number of elements in the depth of this chunk, which the last group may not fill.
  int64_t elements_deep() const {
    return std::min(depth_ * E::kGroup, x_.depth - start_ * E::kGroup);
  }

  /// `operand` from element i and the start of this chunk on.
  template <class T>
  Operand<T> from(const Operand<T>& operand, int64_t i) const {
    Operand<T> part = operand;
    part.data = operand.at(i, start_ * E::kGroup);
    return part;
  }

  void multiply_matrix() {
    for (int64_t lane = 0; lane < x_.lanes; lane += block_lanes_) {
      first_lane_ = lane;
      end_lane_ = std::min(x_.lanes, lane + block_lanes_);
      for (chunk_ = 0; chunk_ < chunks_.parts; ++chunk_) {
        start_ = chunks_.begin(chunk_);
        depth_ = chunks_.begin(chunk_ + 1) - start_;
        for (int64_t block = 0; block < blocks_.parts; ++block) multiply_block(block);
      }
    }
  }

  void multiply_block(int64_t block) {
    const int64_t first = blocks_.begin(block);
    const int64_t end = blocks_.begin(block + 1);
    if (!rows_in_place_) pack_rows_of(first, end);

    const bool packs = !lanes_in_place_ && block == 0 && (matrix_ == 0 || !shares_lanes_);
    if (rows_outside_) {
      for (int64_t lane = first_lane_; packs && lane < end_lane_; lane += panel_) pack_panel(lane);
      for (int64_t tile = first; tile < end; ++tile) {
        for (int64_t lane = first_lane_; lane < end_lane_; lane += panel_)
          multiply_panel(lane, first, tile, tile + 1);
      }
      return;
    }

    for (int64_t lane = first_lane_; lane < end_lane_; lane += panel_) {
      if (packs) pack_panel(lane);
      multiply_panel(lane, first, first, end);
    }
  }

  void pack_rows_of(int64_t first_tile, int64_t end_tile) {
    const int64_t first_row = tiles_.begin(first_tile);
    for (int64_t tile = first_tile; tile < end_tile; ++tile) {
      const int64_t row = tiles_.begin(tile);
      E::pack_rows(from(row_, row), tiles_.begin(tile + 1) - row, elements_deep(),
                   row_panels_ + (row - first_row) * depth_ * E::kLaneElements);
    }
  }

  /// Where the panel that starts at `lane` is packed: with one block of rows, always at the same
  /// place, which stays in the first-level cache.
  Packed* panel_at(int64_t lane) const {
    if (one_panel_) return lane_panels_;
    return lane_panels_ + (lane - first_lane_) * (depth_ + kHead) * E::kLaneElements;
  }

  void pack_panel(int64_t lane) {
    E::pack_lanes(from(lane_, lane), std::min(panel_, end_lane_ - lane), elements_deep(),
                  panel_at(lane), panel_);
  }

  /// The lanes of one panel times some tiles of rows.
  void multiply_panel(int64_t lane, int64_t first_tile, int64_t tile, int64_t end_tile) {
    const int64_t count = std::min(panel_, end_lane_ - lane);
    Lanes<Packed> lanes{panel_at(lane), panel_ * E::kLaneElements, count, true};
    if constexpr (E::kInPlace) {
      if (lanes_in_place_) lanes = {from(lane_, lane).data, x_.lane.depth_step, count, false};
    }

    const int64_t first_row = tiles_.begin(first_tile);
    for (; tile < end_tile; ++tile) {
      const int64_t row = tiles_.begin(tile);
      const int64_t height = tiles_.begin(tile + 1) - row;

      const Packed* rows = row_panels_ + (row - first_row) * depth_ * E::kLaneElements;
      int64_t step = height * kPackedBytes;
      RowOrder order = RowOrder::Packed;

      if (rows_in_place_) {
        rows = reinterpret_cast<const Packed*>(from(row_, row).data);
        order = x_.row.step == 1 ? RowOrder::Packed : RowOrder::Lines;
        step = std::max(x_.row.step, x_.row.depth_step) * int64_t{sizeof(Row)};
      }

      multiply_rows(lanes, {row, height, lane, count}, rows, step, order);
    }
  }

  void multiply_rows(const Lanes<Packed>& lanes, const Part& part, const Packed* rows, int64_t step,
                     RowOrder order) {
    const bool first = chunk_ == 0;
    if constexpr (kRounds) {
      Target<Sum> to{sums_, panel_, Sum(x_.alpha), first ? Sum(0) : Sum(1)};
      if (chunks_.parts > 1) {
        to.c += part.row * block_lanes_ + part.lane - first_lane_;
        to.ldc = block_lanes_;
      }

      E::multiply(depth_, lanes, part.height, rows, step, order, to);
      if (chunk_ == chunks_.parts - 1) round_tile(to, part);
    } else {
      const Target<Sum> to{c_ + part.row * x_.ldc + part.lane, x_.ldc, x_.alpha,
                           first ? x_.beta : Sum(1)};

      E::multiply(depth_, lanes, part.height, rows, step, order, to);
      if (x_.epilogue && chunk_ == chunks_.parts - 1)
        apply_epilogue(*x_.epilogue, matrix_, part, to.c, to.ldc);
    }
  }

  /// C = sums + beta C and the epilogue, rounded once.
  void round_tile(const Target<Sum>& sums, const Part& part) {
    if constexpr (kRounds) {
      for (int64_t r = 0; r < part.height; ++r) {
        Sum* const line = sums.c + r * sums.ldc;
        Result* const c = c_ + (part.row + r) * x_.ldc + part.lane;
        if (x_.beta != 0) {
          for (int64_t l = 0; l < part.count; ++l) line[l] += Sum(x_.beta) * static_cast<Sum>(c[l]);
        }
        if (x_.epilogue) {
          apply_epilogue(*x_.epilogue, matrix_, {part.row + r, 1, part.lane, part.count}, line, 0);
        }
        store_line(line, part.count, c);
      }
    }
  }

  const Multiplied& x_;

  // The matrices that are multiplied now.
  int64_t matrix_ = 0;
  Operand<Row> row_;
  Operand<Stored> lane_;
  Result* c_;

  int vectors_;
  int64_t panel_;  // lanes
  bool rows_in_place_;
  Cut tiles_;   // the rows
  Cut chunks_;  // the depth
  Cut blocks_;  // the tiles
  int64_t block_lanes_;
  bool lanes_in_place_;
  bool rows_outside_;  // whether the loop over tiles is around that over panels
  bool shares_lanes_;  // whether the lanes that are packed for one matrix serve all
  bool one_panel_;     // whether only one panel of lanes is kept
  Packed* lane_panels_ = nullptr;
  Packed* row_panels_ = nullptr;
  Sum* sums_ = nullptr;  // if C has a smaller type

  // The lanes and the part of the depth that are multiplied now.
  int64_t first_lane_ = 0;
  int64_t end_lane_ = 0;
  int64_t chunk_ = 0;
  int64_t start_ = 0;
  int64_t depth_ = 0;
};

/// A product of depth 1 only writes C: nothing is packed, and nothing stays in registers.
template <class T>
void outer_product(const Product<T>& x) {
  const T alpha = x.alpha;
  const T* const lanes = x.lane.data;

  for (int64_t r = 0; r < x.rows; ++r) {
    const T factor = x.row.data[r * x.row.step];
    T* const c = x.c + r * x.ldc;
#pragma GCC ivdep
    for (int64_t l = 0; l < x.lanes; ++l) c[l] = factor * lanes[l] * alpha;
    if (x.epilogue) apply_epilogue(*x.epilogue, 0, {r, 1, 0, x.lanes}, c, 0);
  }
}

template <class E>
void gemm(const typename E::Multiplied& x) {
  if constexpr (std::is_same_v<E, Floats<typename E::Stored>>) {
    if (x.depth == 1 && x.lane.step == 1 && x.beta == 0 && x.batch == 1) return outer_product(x);
  }
  Multiplication<E>(x).run();
}

}  // namespace

using c10::BFloat16;
using c10::Half;

extern const GemmTable kGemmTable;
const GemmTable kGemmTable = {
    .f32 = &gemm<Floats<float>>,
    .f64 = &gemm<Floats<double>>,
    .c64 = &gemm<Complex<float>>,
    .c128 = &gemm<Complex<double>>,
    .bf16 = &gemm<Widened<BFloat16>>,
    .f16 = &gemm<Widened<Half>>,
    .u8 = &gemm<Bytes<uint8_t>>,
    .u16 = &gemm<Integers<uint16_t>>,
    .u32 = &gemm<Integers<uint32_t>>,
    .u64 = &gemm<Integers<uint64_t>>,
    .i8_u8 = &gemm<Bytes<int8_t, uint8_t, uint32_t>>,
    .i8_i8 = &gemm<Bytes<int8_t, int8_t, uint32_t>>,
    .i8_f32 = &gemm<ByteWeights<float>>,
    .i8_bf16 = &gemm<ByteWeights<BFloat16>>,
    .i8_f16 = &gemm<ByteWeights<Half>>,
#ifdef AT_TILE_HAS_PAIRS
    .bf16_pairs = &gemm<Pairs>,
#endif
#ifdef AT_TILE_HAS_QUADS
    .u8_quads = &gemm<Quads<uint8_t>>,
    .i8_u8_quads = &gemm<Quads<int8_t, uint8_t, uint32_t>>,
    .i8_i8_quads = &gemm<Quads<int8_t, int8_t, uint32_t>>,
#endif
};

}  // namespace CPU_CAPABILITY
}  // namespace at::blas::tile
