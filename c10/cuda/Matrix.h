// Matrix.h: matrix instructions of a warp, the same under nvcc and in the emulation.
#pragma once

#include "c10/cuda/Simt.h"

// Note [Fragments]
// The 32 lanes of a warp hold a matrix of 16-bit elements together, two to a register. With
// g = lane / 4 and t = 2 * (lane % 4), a lane holds
//   of A, 16 x 16:  {A[g][t, t+1], A[g+8][t, t+1], A[g][t+8, t+9], A[g+8][t+8, t+9]}
//   of B, 16 x 8:   {B[t, t+1][g], B[t+8, t+9][g]}
//   of C, 16 x 8:   {C[g][t], C[g][t+1], C[g+8][t], C[g+8][t+1]}, as floats.
// The element of the lower index is in the lower half of its register. All lanes of the warp call
// these functions together.
//
//   simt::multiply_matrices<T>(c, a, b)       C += A * B; T is c10::Half or c10::BFloat16
//   simt::load_matrices<n, transposed>(registers, row)
//       Loads n (1, 2 or 4) matrices of 8 x 8 from shared memory: lane i gives the address of the
//       16 bytes of row i % 8 of matrix i / 8, aligned to them; register m gets M[g][t, t+1] of
//       matrix m, or M[t, t+1][g] if transposed. Lanes from 8 * n on give any address.
//   simt::pack_pair<T>(low, high)             two floats, rounded to T, as a register of a fragment
//   simt::exp2_approx(x)                      2^x to 2 ulp, in one instruction; 0 below 2^-126

#if defined(TORCH_PY_CUDA_EMULATION)
#include "emulation/matrix.h"
#elif defined(__CUDACC__)
#include "c10/cuda/NativeMatrix.h"
#endif
