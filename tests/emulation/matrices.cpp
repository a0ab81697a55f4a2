// Matrix instructions: the lanes of a warp meet, and the last one computes for all.
#include "emulation/matrix.h"

#include <cstring>

#include "tests/emulation/block_run.h"

namespace emulation {

namespace {

uint16_t half_of(uint32_t pair, unsigned index) {
  return static_cast<uint16_t>(index == 0 ? pair : pair >> 16);
}

uint32_t pair_of(uint16_t low, uint16_t high) { return low | uint32_t{high} << 16; }

/// C += A * B, with the operands gathered from the lanes: see Note [Fragments].
void multiply(void* const (&lanes)[32]) {
  float a[16][16];
  float b[16][8];
  for (unsigned lane = 0; lane < 32; ++lane) {
    const MatrixProduct& part = *static_cast<const MatrixProduct*>(lanes[lane]);
    const unsigned group = lane / 4;
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned row = group + (i / 2 % 2) * 8;
      const unsigned column = lane % 4 * 2 + i % 2 + (i / 4) * 8;
      a[row][column] = part.value_of(half_of(part.a[i / 2], i % 2));
    }
    for (unsigned i = 0; i < 4; ++i)
      b[lane % 4 * 2 + i % 2 + (i / 2) * 8][group] = part.value_of(half_of(part.b[i / 2], i % 2));
  }

  for (unsigned lane = 0; lane < 32; ++lane) {
    MatrixProduct& part = *static_cast<MatrixProduct*>(lanes[lane]);
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = lane / 4 + (i / 2) * 8;
      const unsigned column = lane % 4 * 2 + i % 2;
      for (unsigned k = 0; k < 16; ++k) part.c[i] += a[row][k] * b[k][column];
    }
  }
}

/// Gives every lane its two elements of each matrix, whose rows the lanes have read.
void distribute(void* const (&lanes)[32]) {
  const auto element = [&](unsigned matrix, unsigned row, unsigned column) {
    return static_cast<const MatrixRows*>(lanes[matrix * 8 + row])->row[column];
  };

  for (unsigned lane = 0; lane < 32; ++lane) {
    MatrixRows& part = *static_cast<MatrixRows*>(lanes[lane]);
    const unsigned group = lane / 4;
    const unsigned first = lane % 4 * 2;
    for (unsigned m = 0; m < static_cast<unsigned>(part.count); ++m)
      part.out[m] = part.transposed
                        ? pair_of(element(m, first, group), element(m, first + 1, group))
                        : pair_of(element(m, group, first), element(m, group, first + 1));
  }
}

}  // namespace

void multiply_matrices(MatrixProduct& product, const Where& where) {
  LaneRequest request{"multiply_matrices", where, ~0u};
  request.payload = &product;
  request.exchange = &multiply;
  meet_lanes(request);
}

void load_matrices(MatrixRows& rows, const void* row, const Where& where) {
  BlockRun& run = running_block();
  const bool reads = run.current().linear % 32 < static_cast<unsigned>(rows.count) * 8;
  if (reads) {
    if (reinterpret_cast<uintptr_t>(row) % 16 != 0)
      run.fail(run.name(run.current()) + " loads a matrix row at " + where.file_name() + ":" +
               std::to_string(where.line()) + " from an address that is not aligned to 16 bytes");
    std::memcpy(rows.row, row, sizeof(rows.row));
  }

  LaneRequest request{"load_matrices", where, ~0u};
  request.payload = &rows;
  request.exchange = &distribute;
  meet_lanes(request);
}

}  // namespace emulation
