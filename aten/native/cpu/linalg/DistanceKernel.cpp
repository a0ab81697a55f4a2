// Distances between all pairs of rows of two matrices.
#include <cmath>

#include "aten/native/declarations/cpu/linalg/DistanceKernel.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/native/shared/MatrixProduct.h"
#include "aten/native/shared/RowPairs.h"
#include "aten/ops/add.h"
#include "aten/ops/clamp_min.h"
#include "aten/ops/sqrt.h"
#include "aten/ops/sum.h"

namespace at::native {

namespace {

// Independent sums, as many as fit into vector registers.
constexpr int64_t kLanes = 8;

/// The sum of term(|a[i] - b[i]|).
template <class T, class Term>
T sum_terms(const T* a, const T* b, int64_t n, const Term& term) {
  T lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) lanes[l] += term(std::abs(a[i + l] - b[i + l]));
  }
  for (; i < n; ++i) lanes[i % kLanes] += term(std::abs(a[i] - b[i]));

  T sum = 0;
  for (const T lane : lanes) sum += lane;
  return sum;
}

/// The largest |a[i] - b[i]|, or nan where one of them is.
template <class T>
T largest_term(const T* a, const T* b, int64_t n) {
  T largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    const T size = std::abs(a[i] - b[i]);
    if (!(size <= largest)) largest = size;  // nan stays
    if (largest != largest) return largest;
  }
  return largest;
}

/// The p-norm of a - b; p = 0 counts the elements that differ, and is nan where one of them is.
template <class T>
T distance(const T* a, const T* b, int64_t n, double p) {
  if (p == 2) return std::sqrt(sum_terms(a, b, n, [](T x) { return x * x; }));
  if (p == 1) return sum_terms(a, b, n, [](T x) { return x; });
  if (p == 0) return sum_terms(a, b, n, [](T x) { return x != x ? x : static_cast<T>(x != 0); });
  if (std::isinf(p)) return largest_term(a, b, n);
  const T power = static_cast<T>(p);
  return std::pow(sum_terms(a, b, n, [power](T x) { return std::pow(x, power); }), 1 / power);
}

/// |a - b|^2 as |a|^2 + |b|^2 - 2 a b, by a matrix product. It is much faster for many rows, and
/// less exact for rows that are close to each other.
void euclidean_by_product(const Tensor& x1, const Tensor& x2, const Tensor& out) {
  const int64_t rows = x1.size(-2);
  const int64_t columns = x2.size(-2);
  const int64_t width = x1.size(-1);
  const int64_t count = matrix_count(out);
  const Tensor first = x1.view({count, rows, width});
  const Tensor second = x2.view({count, columns, width});
  const Tensor result = out.view({count, rows, columns});

  // First |a|^2 + |b|^2, to which the product adds.
  const auto squares = [](const Tensor& x) {
    return at::sum(x * x, IntArrayRef(int64_t{-1}), true);
  };
  at::add_out(result, squares(first), squares(second).transpose(-2, -1));
  matrix_product(first, second.transpose(-2, -1), 1, -2, result);
  at::sqrt_(at::clamp_min_(result, Scalar(0)));  // nan stays
}

}  // namespace

void cdist_kernel(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode,
                  const Tensor& out0) {
  if (out0.numel() == 0) return;

  const RowPairs pairs = row_pairs(x1, x2, p, compute_mode, out0);
  const int64_t rows = x1.size(-2);
  const int64_t columns = x2.size(-2);
  const int64_t width = x1.size(-1);

  const auto run = [&]<class T>() {
    if (pairs.by_product) return euclidean_by_product(pairs.first, pairs.second, out0);

    const auto first = matrices_of<T>(pairs.first);
    const auto second = matrices_of<T>(pairs.second);
    const auto result = matrices_of<T>(out0);
    const int64_t grain =
        std::max<int64_t>(1, kDefaultGrainSize / std::max<int64_t>(1, columns * width));
    parallel_for(0, matrix_count(out0) * rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t matrix = row / rows;
        const int64_t i = row % rows;
        for (int64_t j = 0; j < columns; ++j) {
          result[matrix][i * columns + j] =
              width == 0
                  ? T(0)
                  : distance(first[matrix] + i * width, second[matrix] + j * width, width, p);
        }
      }
    });
  };

  if (out0.scalar_type() == kDouble) return run.template operator()<double>();
  TORCH_CHECK_NOT_IMPLEMENTED(out0.scalar_type() == kFloat, "\"cdist\" not implemented for '",
                              scalar_type_name(out0.scalar_type()), "'");
  run.template operator()<float>();
}

}  // namespace at::native
