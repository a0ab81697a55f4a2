// Our own fast Fourier transform: Cooley-Tukey, and Bluestein for large prime factors.
#include "aten/blas/BuiltinFft.h"

#include <cmath>

namespace at::blas::builtin {

namespace {

// Beyond this, a convolution is cheaper than a sum over all pairs.
constexpr int64_t kLargestFactor = 61;
constexpr double kTwoPi = 6.283185307179586476925286766559;

/// exp(-2 pi i k / n), with k reduced so that the angle is exact for large k.
template <class T>
c10::complex<T> root(int64_t k, int64_t n) {
  const double angle = -kTwoPi * (static_cast<double>(k % n) / static_cast<double>(n));
  return {static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle))};
}

/// Prime factors in the order in which split() uses them; pairs of 2 as 4.
std::vector<int64_t> factors_of(int64_t n) {
  std::vector<int64_t> factors;
  for (const int64_t p : {4, 2, 3, 5}) {
    for (; n % p == 0; n /= p) factors.push_back(p);
  }

  for (int64_t p = 7; p * p <= n; p += 2) {
    for (; n % p == 0; n /= p) factors.push_back(p);
  }

  if (n > 1) factors.push_back(n);
  return factors;
}

}  // namespace

template <class T>
FftPlan<T>::FftPlan(int64_t n) : n_(n), factors_(factors_of(n)) {
  // A factor that is too large: no splitting.
  for (const int64_t factor : factors_) {
    if (factor <= kLargestFactor) continue;
    factors_.clear();
    break;
  }

  if (!factors_.empty() || n == 1) {
    roots_.resize(n);
    for (int64_t k = 0; k < n; ++k) roots_[k] = root<T>(k, n);
    copy_.resize(n);
    terms_.resize(kLargestFactor);
    return;
  }

  // j k = (j^2 + k^2 - (k - j)^2) / 2: a product with a chirp, a convolution with its conjugate,
  // and the product again.
  int64_t length = 1;
  while (length < 2 * n - 1) length *= 2;
  inner_.emplace_back(length);
  chirp_.resize(n);
  kernel_.assign(length, Complex(0, 0));
  padded_.resize(length);

  for (int64_t j = 0; j < n; ++j) {
    const auto square = static_cast<int64_t>(static_cast<unsigned __int128>(j) *
                                             static_cast<unsigned __int128>(j) % (2 * n));
    chirp_[j] = root<T>(square, 2 * n);
    kernel_[j] = kernel_[(length - j) % length] = c10::conj(chirp_[j]);
  }
  inner_.front().run(kernel_.data());
}

template <class T>
void FftPlan<T>::run(Complex* data) {
  if (n_ == 1) return;
  if (factors_.empty()) return convolve(data);
  copy_.assign(data, data + n_);
  split(data, copy_.data(), 1, 0, n_);
}

/// Transforms `length` elements of `in`, `stride` apart, into `out`.
template <class T>
void FftPlan<T>::split(Complex* out, const Complex* in, int64_t stride, size_t level,
                       int64_t length) {
  if (length == 1) {
    out[0] = in[0];
    return;
  }
  const int64_t radix = factors_[level];
  const int64_t part = length / radix;
  const int64_t step = n_ / length;

  // The transforms of every radix-th element.
  for (int64_t q = 0; q < radix; ++q)
    split(out + q * part, in + q * stride, stride * radix, level + 1, part);

  // Their combination, one output of each part at a time.
  for (int64_t k = 0; k < part; ++k) {
    for (int64_t q = 0; q < radix; ++q) terms_[q] = out[q * part + k] * roots_[q * k * step];
    if (radix == 2) {
      out[k] = terms_[0] + terms_[1];
      out[part + k] = terms_[0] - terms_[1];
      continue;
    }
    const int64_t turn = n_ / radix;
    for (int64_t r = 0; r < radix; ++r) {
      Complex sum = terms_[0];
      for (int64_t q = 1; q < radix; ++q) sum += terms_[q] * roots_[q * r % radix * turn];
      out[r * part + k] = sum;
    }
  }
}

/// Transforms by a convolution: see the constructor.
template <class T>
void FftPlan<T>::convolve(Complex* data) {
  const int64_t length = static_cast<int64_t>(padded_.size());
  for (int64_t j = 0; j < n_; ++j) padded_[j] = data[j] * chirp_[j];
  for (int64_t j = n_; j < length; ++j) padded_[j] = Complex(0, 0);

  inner_.front().run(padded_.data());
  // The backward transform is the forward one of the conjugates, conjugated.
  for (int64_t j = 0; j < length; ++j) padded_[j] = c10::conj(padded_[j] * kernel_[j]);
  inner_.front().run(padded_.data());

  const T scale = T(1) / static_cast<T>(length);
  for (int64_t j = 0; j < n_; ++j) data[j] = c10::conj(padded_[j]) * scale * chirp_[j];
}

template class FftPlan<float>;
template class FftPlan<double>;

}  // namespace at::blas::builtin
