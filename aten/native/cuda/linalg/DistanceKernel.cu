// The kernel of cdist: distances between all pairs of rows of two matrices, one warp for each pair.
#include <cmath>

#include "aten/core/Tensor.h"
#include "aten/native/cuda/WideDivisor.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/native/shared/RowPairs.h"
#include "aten/ops/add.h"
#include "aten/ops/clamp_min.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/copy.h"
#include "aten/ops/expand.h"
#include "aten/ops/matmul.h"
#include "aten/ops/mul.h"
#include "aten/ops/sqrt.h"
#include "aten/ops/sub.h"
#include "aten/ops/sum.h"
#include "aten/ops/unsqueeze.h"
#include "c10/cuda/Launch.h"
#include "c10/cuda/Runtime.h"
#include "c10/cuda/Simt.h"

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kWarp = 32;

/// The p-norm; p = 0 counts the elements that differ, and is nan where one of them is.
enum class DistanceNorm : uint8_t { Zero, One, Two, Largest, Power };

template <class T>
struct Distance {
  DistanceNorm norm;
  T p;
  int64_t width, pairs;
  WideDivisor rows, columns;
  const T* a;
  const T* b;
  T* out;

  SIMT_DEVICE T term(T size) const {
    if (norm == DistanceNorm::Two) return size * size;
    if (norm == DistanceNorm::Zero) return size != size ? size : static_cast<T>(size != 0);
    return norm == DistanceNorm::Power ? std::pow(size, p) : size;
  }

  /// The largest of two, or nan where one of them is.
  SIMT_DEVICE T joined(T sum, T value) const {
    if (norm != DistanceNorm::Largest) return sum + value;
    return sum != sum || sum >= value ? sum : value;
  }

  SIMT_DEVICE T result(T sum) const {
    if (norm == DistanceNorm::Two) return std::sqrt(sum);
    return norm == DistanceNorm::Power ? std::pow(sum, 1 / p) : sum;
  }
};

template <class T>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kThreads) distance_kernel(Distance<T> distance) {
  const int64_t warps = static_cast<int64_t>(simt::grid_dim_x()) * (kThreads / kWarp);
  int64_t pair = static_cast<int64_t>(simt::block_x()) * (kThreads / kWarp) +
                 static_cast<int64_t>(simt::thread_x() / kWarp);

  for (; pair < distance.pairs; pair += warps) {
    const int64_t row = distance.columns.quotient(pair);
    const int64_t matrix = distance.rows.quotient(row);
    const int64_t column = matrix * distance.columns.value() + distance.columns.remainder(pair);
    const T* a = distance.a + row * distance.width;
    const T* b = distance.b + column * distance.width;

    T sum = 0;
    for (int64_t i = simt::lane(); i < distance.width; i += kWarp)
      sum = distance.joined(sum, distance.term(std::abs(a[i] - b[i])));
    for (int step = kWarp / 2; step > 0; step /= 2)
      sum = distance.joined(sum, simt::shuffle_down(simt::kFullMask, sum, step));

    if (simt::lane() == 0) distance.out[pair] = distance.width == 0 ? T(0) : distance.result(sum);
  }
}

template <class T>
void distances(const Tensor& a, const Tensor& b, double p, const Tensor& out) {
  const DistanceNorm norm = p == 2          ? DistanceNorm::Two
                            : p == 1        ? DistanceNorm::One
                            : p == 0        ? DistanceNorm::Zero
                            : std::isinf(p) ? DistanceNorm::Largest
                                            : DistanceNorm::Power;
  const Distance<T> distance{norm,
                             static_cast<T>(p),
                             a.size(-1),
                             out.numel(),
                             WideDivisor(a.size(-2)),
                             WideDivisor(b.size(-2)),
                             a.const_data_ptr<T>(),
                             b.const_data_ptr<T>(),
                             out.data_ptr<T>()};

  constexpr int64_t kPairs = kThreads / kWarp;
  constexpr int64_t kMostBlocks = int64_t{1} << 22;
  const int64_t blocks = std::min((distance.pairs - 1) / kPairs + 1, kMostBlocks);
  c10::cuda::launch("cdist", &distance_kernel<T>, dim3(static_cast<unsigned>(blocks)),
                    dim3(kThreads), 0, c10::cuda::current_stream(), distance);
}

/// |a - b|^2 as |a|^2 + |b|^2 - 2 a b, by a matrix product. It is much faster for many rows, and
/// less exact for rows that are close to each other.
void euclidean_by_product(const Tensor& a, const Tensor& b, const Tensor& out) {
  const auto squares = [](const Tensor& x) { return at::sum(x * x, IntArrayRef(int64_t{-1})); };
  const Tensor sums = at::add(at::unsqueeze(squares(a), -1), at::unsqueeze(squares(b), -2));
  const Tensor product = at::matmul(a, b.transpose(-2, -1));
  const Tensor squared = at::sub(sums, product, Scalar(2.0));
  at::copy_(out, at::sqrt(at::clamp_min(squared, Scalar(0.0))));
}

}  // namespace

void cdist_kernel(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode,
                  const Tensor& out0) {
  if (out0.numel() == 0) return;

  const auto [a, b, by_product] = row_pairs(x1, x2, p, compute_mode, out0);

  TORCH_CHECK_NOT_IMPLEMENTED(out0.scalar_type() == kFloat || out0.scalar_type() == kDouble,
                              "\"cdist\" not implemented for '",
                              scalar_type_name(out0.scalar_type()), "'");
  if (by_product) return euclidean_by_product(a, b, out0);
  if (out0.scalar_type() == kDouble) return distances<double>(a, b, p, out0);
  distances<float>(a, b, p, out0);
}

}  // namespace at::native::cuda
