// The table of our own products for one core, one per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aten/blas/Blas.h"

namespace at::blas::tile {

// Note [Lanes and rows]
// A tile keeps a block of C in registers: vectors along the dimension in which C is contiguous, its
// *lanes*, times a few *rows*. For each step of the depth it loads vectors of one operand (whose
// elements differ by lane) and multiplies them by single elements of the other (which differ by
// row). Column-major C has its m as lanes and its n as rows; op(A) belongs to the lanes, op(B) to
// the rows.
//
// Every element of C is one chain of multiply-adds over the depth, in pieces that depend on the
// depth only. So its bits do not depend on the tile, the block or the thread that computes it.

/// Element (i, p) is at data[i * step + p * depth_step]; one of the two steps is 1.
template <class T>
struct Operand {
  const T* data;
  int64_t step;
  int64_t depth_step;
  bool conjugate = false;

  const T* at(int64_t i, int64_t p) const { return data + i * step + p * depth_step; }
};

/// C = alpha * rows x lanes + beta * C, and then the epilogue. Element (r, l) of C is at
/// c[r * ldc + l]. The matrices of a batch lie the given steps apart.
template <class Lane, class Row = Lane, class Result = Lane>
struct Product {
  int64_t rows;
  int64_t lanes;
  int64_t depth;
  Operand<Row> row;
  Operand<Lane> lane;
  Scale<Result> alpha;
  Scale<Result> beta;
  Result* c;
  int64_t ldc;
  const Epilogue<Result>* epilogue = nullptr;

  int64_t batch = 1;
  int64_t row_batch_step = 0;
  int64_t lane_batch_step = 0;
  int64_t c_batch_step = 0;
};

template <class... T>
using GemmKernel = void (*)(const Product<T...>&);

/// y += alpha op(A) x with contiguous x and y.
template <class T>
using GemvKernel = void (*)(bool transpose, int64_t m, int64_t n, T alpha, const T* a, int64_t lda,
                            const T* x, T* y);

/// The products of each of a few vectors with each of many: c = alpha * dot + beta * c.
template <class T>
struct Dots {
  int64_t depth;
  int64_t few, many;
  const T* few_data;
  int64_t few_step;
  const T* many_data;
  int64_t many_step;
  T alpha, beta;
  T* c;
  int64_t c_few_step, c_many_step;
};
template <class T>
using DotsKernel = void (*)(const Dots<T>&);

template <class In, class T>
using DotKernel = T (*)(int64_t n, const In* x, int64_t incx, const In* y, int64_t incy);

/// The products of Gemm.isa.cpp. Signed integers use the functions of unsigned ones, whose overflow
/// is defined.
struct GemmTable {
  GemmKernel<float> f32;
  GemmKernel<double> f64;
  GemmKernel<c10::complex<float>> c64;
  GemmKernel<c10::complex<double>> c128;
  GemmKernel<c10::BFloat16> bf16;
  GemmKernel<c10::Half> f16;
  GemmKernel<uint8_t> u8;
  GemmKernel<uint16_t> u16;
  GemmKernel<uint32_t> u32;
  GemmKernel<uint64_t> u64;

  // Bytes summed in 32 bits, and bytes by which floats are multiplied: the lanes, then the rows.
  GemmKernel<int8_t, uint8_t, uint32_t> i8_u8;
  GemmKernel<int8_t, int8_t, uint32_t> i8_i8;
  GemmKernel<int8_t, float, float> i8_f32;
  GemmKernel<int8_t, c10::BFloat16, c10::BFloat16> i8_bf16;
  GemmKernel<int8_t, c10::Half, c10::Half> i8_f16;

  // With AVX512_BF16 and AVX512_VNNI; null in other tables.
  GemmKernel<c10::BFloat16> bf16_pairs = nullptr;
  GemmKernel<uint8_t> u8_quads = nullptr;
  GemmKernel<int8_t, uint8_t, uint32_t> i8_u8_quads = nullptr;
  GemmKernel<int8_t, int8_t, uint32_t> i8_i8_quads = nullptr;
};

/// The functions of Gemv.isa.cpp.
struct VectorTable {
  // The most vectors that are few: with more, tiles of lanes and rows are faster.
  int64_t few_f32;
  int64_t few_f64;

  GemvKernel<float> gemv_f32;
  GemvKernel<double> gemv_f64;
  DotsKernel<float> dots_f32;
  DotsKernel<double> dots_f64;
  DotKernel<float, float> dot_f32;
  DotKernel<double, double> dot_f64;
  DotKernel<c10::BFloat16, float> dot_bf16;
  DotKernel<c10::Half, float> dot_f16;
  DotKernel<uint8_t, uint8_t> dot_u8;
  DotKernel<uint16_t, uint16_t> dot_u16;
  DotKernel<uint32_t, uint32_t> dot_u32;
  DotKernel<uint64_t, uint64_t> dot_u64;
};

/// The tables for the instruction set of this processor.
const GemmTable& gemm_table();
const VectorTable& vector_table();

/// Memory of this thread for panels, kept for the next call.
void* scratch(size_t bytes);

}  // namespace at::blas::tile
