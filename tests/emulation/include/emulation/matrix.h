// Matrix instructions as the emulation executes them: see c10/cuda/Matrix.h.
#pragma once

#include <cmath>
#include <type_traits>

#include "c10/util/BFloat16.h"
#include "c10/util/Half.h"
#include "emulation/meeting.h"

namespace emulation {

/// What a lane holds of the operands, and afterwards of the result.
struct MatrixProduct {
  uint32_t a[4];
  uint32_t b[2];
  float c[4];
  float (*value_of)(uint16_t bits);
};
void multiply_matrices(MatrixProduct& product, const Where& where);

/// A row that a lane loads, and afterwards the lane's part of all matrices.
struct MatrixRows {
  int count;
  bool transposed;
  uint16_t row[8];
  uint32_t out[4];
};
void load_matrices(MatrixRows& rows, const void* row, const Where& where);

}  // namespace emulation

namespace simt {

template <class T>
void multiply_matrices(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                       emulation::Where where = emulation::Where::current()) {
  static_assert(std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>);
  emulation::MatrixProduct product;
  for (int i = 0; i < 4; ++i) product.a[i] = a[i];
  for (int i = 0; i < 2; ++i) product.b[i] = b[i];
  for (int i = 0; i < 4; ++i) product.c[i] = c[i];
  product.value_of = [](uint16_t bits) { return static_cast<float>(T::from_bits(bits)); };

  emulation::multiply_matrices(product, where);
  for (int i = 0; i < 4; ++i) c[i] = product.c[i];
}

template <int count, bool transposed = false>
void load_matrices(uint32_t (&to)[count], const void* row,
                   emulation::Where where = emulation::Where::current()) {
  static_assert(count == 1 || count == 2 || count == 4);
  emulation::MatrixRows rows{count, transposed, {}, {}};
  emulation::load_matrices(rows, row, where);
  for (int i = 0; i < count; ++i) to[i] = rows.out[i];
}

template <class T>
uint32_t pack_pair(float low, float high) {
  static_assert(std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>);
  return T(low).x | static_cast<uint32_t>(T(high).x) << 16;
}

inline float exp2_approx(float x) {
  const float result = std::exp2(x);
  return result < 0x1p-126f ? 0.0f : result;
}

}  // namespace simt
