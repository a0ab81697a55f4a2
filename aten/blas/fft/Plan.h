// Our own fast Fourier transforms: complex ones of any length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "aten/blas/fft/Kernels.h"

namespace at::blas::fft {

/// The functions for the instruction set of this processor.
template <class T>
const Kernels<T>& kernels();

/// exp(-2 pi i k / n), rounded once.
template <class T>
c10::complex<T> root_of_unity(int64_t k, int64_t n);

/// The passes of one length, with their roots.
template <class T>
class Passes {
 public:
  explicit Passes(int64_t n);

  Sequence<T> sequence() const {
    return {n_, passes_.data(), static_cast<int64_t>(passes_.size())};
  }

 private:
  int64_t n_;
  std::vector<Pass<T>> passes_;
  std::vector<c10::complex<T>> roots_;
};

/// Transforms of one length, for one thread at a time. A length with small prime factors is split
/// by them (Cooley and Tukey 1965); a length with a large one becomes a convolution (Bluestein
/// 1970).
template <class T>
class Plan {
 public:
  using Complex = c10::complex<T>;

  explicit Plan(int64_t n);

  /// Transforms `rows` rows of n elements, whose starts are `in_step` and `out_step` elements
  /// apart, and multiplies the results by `scale`. `out` may be `in`.
  void run(int64_t rows, const Complex* in, int64_t in_step, Complex* out, int64_t out_step,
           bool forward, T scale);

 private:
  /// A row as a matrix: see Note [Transforms in lanes].
  struct Matrix {
    Matrix(int64_t a, int64_t b, int64_t lanes);

    Passes<T> columns;  // of a elements
    Passes<T> rows;     // of b elements
    std::vector<Complex> blocks;
    std::vector<T> lanes;
  };

  void choose_matrix();
  double cost_of_lanes(int64_t rows) const;
  void run_lanes(int64_t rows, const Complex* in, int64_t in_step, Complex* out, int64_t out_step,
                 const Ends<T>& ends);
  void run_matrix(const Complex* in, Complex* out, const Ends<T>& ends);

  void prepare_convolution();
  void convolve(const Complex* in, Complex* out, bool forward, T scale);

  int64_t n_;
  const Kernels<T>* kernels_;
  int64_t columns_length_ = 1;  // of the best matrix; 1: a row is better left as it is
  double cost_of_row_ = 0;
  std::optional<Passes<T>> passes_;
  std::optional<Matrix> matrix_;

  // For the convolution, which needs more digits than its result has.
  using Wide = c10::complex<double>;
  std::unique_ptr<Plan<double>> inner_;
  std::vector<Wide> chirp_;       // exp(-pi i j^2 / n)
  std::vector<Wide> conjugated_;  // its conjugate
  std::vector<Wide> kernel_;      // the transform of the conjugate
  std::vector<Wide> padded_;
};

/// Transforms of real rows of one length.
template <class T>
class RealPlan {
 public:
  using Complex = c10::complex<T>;

  explicit RealPlan(int64_t n);

  /// The first n / 2 + 1 elements of each row's transform.
  void forward(int64_t rows, const T* in, Complex* out, T scale);

  /// Real rows from those elements, which are overwritten.
  void backward(int64_t rows, Complex* in, T* out, T scale);

 private:
  int64_t n_;
  Plan<T> plan_;                // of n / 2 complex elements if n is even
  std::vector<Complex> roots_;  // exp(-2 pi i k / n) for k <= n / 4
  std::vector<Complex> row_;    // for odd n
};

extern template class Plan<float>;
extern template class Plan<double>;
extern template class RealPlan<float>;
extern template class RealPlan<double>;

}  // namespace at::blas::fft
