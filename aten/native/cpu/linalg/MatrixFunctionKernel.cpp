// The matrix exponential by scaling and squaring: exp(A) = exp(A / 2^s)^(2^s), where s makes the
// norm small enough for the Padé approximant (Higham, The Scaling and Squaring Method for the
// Matrix Exponential Revisited, 2005; 13/13 for float64, 7/7 for float32).
#include <algorithm>
#include <cmath>
#include <vector>

#include "aten/native/declarations/cpu/linalg/MatrixFunctionKernel.h"
#include "aten/native/shared/MatrixAlgebra.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/ops/abs.h"
#include "aten/ops/amax.h"
#include "aten/ops/copy.h"
#include "aten/ops/linalg_solve_ex.h"
#include "aten/ops/reshape.h"
#include "aten/ops/sum.h"
#include "aten/ops/where.h"

namespace at::native {

namespace {

// The numerators of the approximants, b_0 to b_13 and b_0 to b_7 in Higham's equations.
constexpr double kCoefficients13[] = {64764752532480000.0,
                                      32382376266240000.0,
                                      7771770303897600.0,
                                      1187353796428800.0,
                                      129060195264000.0,
                                      10559470521600.0,
                                      670442572800.0,
                                      33522128640.0,
                                      1323241920.0,
                                      40840800.0,
                                      960960.0,
                                      16380.0,
                                      182.0,
                                      1.0};
constexpr double kCoefficients7[] = {17297280.0, 8648640.0, 1995840.0, 277200.0,
                                     25200.0,    1512.0,    56.0,      1.0};

/// The largest 1-norm for which the approximant is exact up to rounding.
double largest_norm(ScalarType dtype) {
  return to_real(dtype) == kDouble ? 5.371920351148152 : 3.925724783138660;
}

/// The approximant (V - U)^-1 (V + U), where U is the sum of the odd powers and V of the even ones.
Tensor approximant(const Tensor& U, const Tensor& V) {
  return std::get<0>(at::linalg_solve_ex(V - U, V + U, true, false));
}

Tensor pade_7(const Tensor& A) {
  const auto& b = kCoefficients7;
  const Tensor identity = identity_like(A, A.size(-1), A.size(-1));
  const Tensor A2 = product(A, A);
  const Tensor A4 = product(A2, A2);
  const Tensor A6 = product(A4, A2);

  const Tensor odd =
      A6 * Scalar(b[7]) + A4 * Scalar(b[5]) + A2 * Scalar(b[3]) + identity * Scalar(b[1]);
  const Tensor even =
      A6 * Scalar(b[6]) + A4 * Scalar(b[4]) + A2 * Scalar(b[2]) + identity * Scalar(b[0]);
  return approximant(product(A, odd), even);
}

Tensor pade_13(const Tensor& A) {
  const auto& b = kCoefficients13;
  const Tensor identity = identity_like(A, A.size(-1), A.size(-1));
  const Tensor A2 = product(A, A);
  const Tensor A4 = product(A2, A2);
  const Tensor A6 = product(A4, A2);

  const auto low = [&](int first) {
    return A6 * Scalar(b[first + 6]) + A4 * Scalar(b[first + 4]) + A2 * Scalar(b[first + 2]) +
           identity * Scalar(b[first]);
  };
  const auto high = [&](int first) {
    return product(A6,
                   A6 * Scalar(b[first + 4]) + A4 * Scalar(b[first + 2]) + A2 * Scalar(b[first]));
  };

  return approximant(product(A, high(9) + low(1)), high(8) + low(0));
}

/// How often each matrix of a batch is halved: 0 for a norm of nan or infinity.
std::vector<int> halvings(const Tensor& A) {
  const Tensor norms =
      at::amax(at::sum(at::abs(A), IntArrayRef(int64_t{-2})), IntArrayRef(int64_t{-1}))
          .to(kDouble)
          .contiguous();

  std::vector<int> counts(norms.numel());
  for (int64_t i = 0; i < norms.numel(); ++i) {
    const double ratio = norms.const_data_ptr<double>()[i] / largest_norm(A.scalar_type());
    counts[i] =
        std::isfinite(ratio) && ratio > 1 ? static_cast<int>(std::ceil(std::log2(ratio))) : 0;
  }

  return counts;
}

/// One value for each matrix of a batch, as a tensor that broadcasts against it.
template <class Function>
Tensor for_matrices(const std::vector<int>& counts, ScalarType dtype, const Function& value) {
  const Tensor values = empty_tensor({static_cast<int64_t>(counts.size()), 1, 1}, kDouble, kCPU);
  for (size_t i = 0; i < counts.size(); ++i) values.data_ptr<double>()[i] = value(counts[i]);
  return values.to(dtype);
}

/// The exponential of a batch of matrices, given in three dimensions.
Tensor exponential(const Tensor& A) {
  const std::vector<int> counts = halvings(A);
  const Tensor scaled = A * for_matrices(counts, to_real(A.scalar_type()),
                                         [](int count) { return std::ldexp(1.0, -count); });

  Tensor result = to_real(A.scalar_type()) == kDouble ? pade_13(scaled) : pade_7(scaled);

  // Squares each matrix as often as it was halved.
  const int most = *std::max_element(counts.begin(), counts.end());
  for (int done = 0; done < most; ++done) {
    const bool all =
        std::all_of(counts.begin(), counts.end(), [done](int count) { return count > done; });
    const Tensor squared = product(result, result);
    result =
        all ? squared
            : at::where(for_matrices(counts, kBool, [done](int count) { return count > done; }),
                        squared, result);
  }

  return result;
}

}  // namespace

void matrix_exp_kernel(const Tensor& self, const Tensor& out0) {
  if (self.numel() == 0) return;
  const int64_t n = self.size(-1);
  const Tensor matrices = at::reshape(self, {-1, n, n}).to(to_accumulate(self.scalar_type()));
  at::copy_(out0, at::reshape(exponential(matrices), self.sizes()));
}

}  // namespace at::native
