// CublasLt.h: what is called of cuBLASLt, NVIDIA's products of matrices.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

// Note [Declared libraries]
// Headers of NVIDIA's libraries are not needed to build: the functions, and the numbers that their
// binary interface gives to types and attributes, are declared here. tests/cuda/test_products.py
// compares the enumerators with the headers where these are installed.

namespace c10::cuda::cublaslt {

using Handle = struct HandleObject*;
using Description = struct DescriptionObject*;
using Layout = struct LayoutObject*;
using Preference = struct PreferenceObject*;
using Status = int;

inline constexpr Status kSuccess = 0;
inline constexpr Status kNotSupported = 15;

/// The type of an element; cudaDataType.
enum class Type : int {
  Float = 0,
  Double = 1,
  Half = 2,
  ComplexFloat = 4,
  ComplexDouble = 5,
  BFloat16 = 14,
};

/// What products are summed in; cublasComputeType_t.
enum class Compute : int { Float = 68, Double = 70, FloatFromTf32 = 77 };

enum class Transposition : int { None = 0, Transpose = 1 };

/// What happens to results before they are written; cublasLtEpilogue_t.
enum class Epilogue : uint32_t { None = 1, Bias = 4 };

/// cublasLtMatmulDescAttributes_t
enum class DescriptionAttribute : int {
  TransposeA = 3,
  TransposeB = 4,
  Epilogue = 7,
  BiasPointer = 8
};
/// cublasLtMatrixLayoutAttribute_t
enum class LayoutAttribute : int { BatchCount = 5, BatchStride = 6 };
/// cublasLtMatmulPreferenceAttributes_t
enum class PreferenceAttribute : int {
  MostWorkspace = 1,
  Reductions = 3,
  AlignmentA = 5,
  AlignmentB = 6,
  AlignmentC = 7,
  AlignmentD = 8,
};

/// Parts of sums are added up in the type that products are summed in, not in that of the results;
/// of cublasLtReductionScheme_t.
inline constexpr uint32_t kExactReductions = 2;

/// A way to compute a product, which stays valid while the process runs.
struct Algorithm {
  uint64_t data[8];
};

struct Heuristic {
  Algorithm algorithm;
  size_t workspace;
  Status state;
  float waves;
  int reserved[4];
};

/// The functions, with the names of the library without `cublasLt`.
struct Functions {
  Status (*create)(Handle*);
  Status (*description_create)(Description*, Compute, Type scale);
  Status (*description_destroy)(Description);
  Status (*description_set)(Description, DescriptionAttribute, const void*, size_t);
  Status (*layout_create)(Layout*, Type, uint64_t rows, uint64_t columns, int64_t leading);
  Status (*layout_destroy)(Layout);
  Status (*layout_set)(Layout, LayoutAttribute, const void*, size_t);
  Status (*preference_create)(Preference*);
  Status (*preference_destroy)(Preference);
  Status (*preference_set)(Preference, PreferenceAttribute, const void*, size_t);
  Status (*heuristic)(Handle, Description, Layout a, Layout b, Layout c, Layout d, Preference,
                      int wanted, Heuristic*, int* found);
  Status (*multiply)(Handle, Description, const void* alpha, const void* a, Layout, const void* b,
                     Layout, const void* beta, const void* c, Layout, void* d, Layout,
                     const Algorithm*, void* workspace, size_t workspace_bytes, cudaStream_t);
  const char* (*name_of)(Status);
};

/// Opens the library when it is called first; throws c10::Error if it is not there.
const Functions& functions();

/// The handle of the current device.
Handle handle();

/// Throws c10::Error with the library's name for the status, unless it is success.
void check(Status status, const char* call);

}  // namespace c10::cuda::cublaslt
