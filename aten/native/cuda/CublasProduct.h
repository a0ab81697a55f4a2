// One product of matrices, or of batches of matrices, in the terms of cuBLASLt.
#pragma once
#include <cstdint>

#include "c10/core/Scalar.h"
#include "c10/core/ScalarType.h"
#include "c10/cuda/libraries/CublasLt.h"

namespace at::native::cuda {

/// A matrix in column-major order.
struct ProductOperand {
  const void* data = nullptr;
  int64_t leading = 1;
  int64_t batch_stride = 0;
  bool transposed = false;  // for the product; rows and leading dimension are those in memory
};

/// result = alpha * left * right + beta * result, and then the epilogue: matrices of m x k, k x n
/// and m x n elements, all column-major. The result has no gaps. No size is 0.
struct Product {
  ScalarType dtype = kFloat;         // of the factors: floating or complex
  ScalarType result_dtype = kFloat;  // the same, or float for reduced floats
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  int64_t batch = 1;
  ProductOperand left;
  ProductOperand right;
  void* result = nullptr;
  bool tf32 = false;  // whether float32 operands may be rounded
  Scalar alpha = 1;
  Scalar beta = 0;
  c10::cuda::cublaslt::Epilogue epilogue = c10::cuda::cublaslt::Epilogue::None;
  const void* bias = nullptr;  // of m elements, for epilogues with one
};

/// Whether epilogues exist for results of a dtype.
bool has_epilogues(ScalarType dtype);

/// Puts the product into the current stream for operator `name`.
void multiply(const char* name, const Product& product);

}  // namespace at::native::cuda
