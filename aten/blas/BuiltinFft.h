// Our own fast Fourier transform.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "c10/util/complex.h"

namespace at::blas::builtin {

/// Forward transforms of one length. A length with small prime factors is split by them (Cooley and
/// Tukey 1965); a length with a large one becomes a convolution of a power of two (Bluestein 1970).
template <class T>
class FftPlan {
 public:
  explicit FftPlan(int64_t n);

  /// Transforms n elements in place.
  void run(c10::complex<T>* data);

 private:
  using Complex = c10::complex<T>;

  void split(Complex* out, const Complex* in, int64_t stride, size_t level, int64_t length);
  void convolve(Complex* data);

  int64_t n_;
  std::vector<int64_t> factors_;  // empty if a convolution is needed
  std::vector<Complex> roots_;    // exp(-2 pi i k / n)
  std::vector<Complex> copy_;     // the input of split()
  std::vector<Complex> terms_;    // the terms of one sum

  // For the convolution.
  std::vector<Complex> chirp_;   // exp(-pi i j^2 / n)
  std::vector<Complex> kernel_;  // transform of the conjugate chirp
  std::vector<Complex> padded_;
  std::vector<FftPlan> inner_;  // one plan, for the padded length
};

extern template class FftPlan<float>;
extern template class FftPlan<double>;

}  // namespace at::blas::builtin
