// Transforms of real rows: of half as many complex elements, where the length is even.
#include "aten/blas/fft/Plan.h"

namespace at::blas::fft {

template <class T>
RealPlan<T>::RealPlan(int64_t n) : n_(n), plan_(n % 2 == 0 ? n / 2 : n) {
  if (n % 2 != 0) row_.resize(n);
  for (int64_t k = 0; n % 2 == 0 && k <= n / 4; ++k) roots_.push_back(root_of_unity<T>(k, n));
}

template <class T>
void RealPlan<T>::forward(int64_t rows, const T* in, Complex* out, T scale) {
  const int64_t half = n_ / 2;
  if (n_ % 2 == 0) {
    plan_.run(rows, reinterpret_cast<const Complex*>(in), half, out, half + 1, true, scale);
    for (int64_t row = 0; row < rows; ++row)
      kernels<T>().separate(half, roots_.data(), out + row * (half + 1));
    return;
  }

  for (int64_t row = 0; row < rows; ++row, in += n_, out += half + 1) {
    for (int64_t i = 0; i < n_; ++i) row_[i] = {in[i], T(0)};
    plan_.run(1, row_.data(), n_, row_.data(), n_, true, scale);
    for (int64_t i = 0; i <= half; ++i) out[i] = row_[i];
  }
}

template <class T>
void RealPlan<T>::backward(int64_t rows, Complex* in, T* out, T scale) {
  const int64_t half = n_ / 2;
  if (n_ % 2 == 0) {
    for (int64_t row = 0; row < rows; ++row)
      kernels<T>().join(half, roots_.data(), in + row * (half + 1));
    plan_.run(rows, in, half + 1, reinterpret_cast<Complex*>(out), half, false, scale);
    return;
  }

  for (int64_t row = 0; row < rows; ++row, in += half + 1, out += n_) {
    row_[0] = {in[0].real(), T(0)};
    for (int64_t i = 1; i <= half; ++i) {
      row_[i] = in[i];
      row_[n_ - i] = c10::conj(in[i]);
    }
    plan_.run(1, row_.data(), n_, row_.data(), n_, false, scale);
    for (int64_t i = 0; i < n_; ++i) out[i] = row_[i].real();
  }
}

template class RealPlan<float>;
template class RealPlan<double>;

}  // namespace at::blas::fft
