// Chooses how a length is transformed, and computes the roots of unity.
#include "aten/blas/fft/Plan.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "aten/blas/Runtime.h"
#include "aten/blas/tile/Kernels.h"

namespace at::blas::fft {

// The tables of Passes.isa.cpp; null where the build does not have the instruction set.
namespace DEFAULT {
extern const Table kTable;
}  // namespace DEFAULT
namespace AVX2 {
[[gnu::weak]] extern const Table kTable;
}  // namespace AVX2
namespace AVX512 {
[[gnu::weak]] extern const Table kTable;
}  // namespace AVX512

namespace {

// Beyond this, a convolution is cheaper than a sum over all pairs.
constexpr int64_t kLargestFactor = 61;
// What the cache of one core holds.
constexpr double kCacheBytes = 512 << 10;
// How much longer passes take that work outside it.
constexpr double kOutsideCache = 3;
// What it costs to bring an element of a matrix into its place, in units of one pass.
constexpr double kTransposition = 1.5;

const Table& table() {
  const int capability = runtime().capability;
  if (capability >= 2 && &AVX512::kTable != nullptr) return AVX512::kTable;
  if (capability >= 1 && &AVX2::kTable != nullptr) return AVX2::kTable;
  return DEFAULT::kTable;
}

/// The radices of the passes for a length. Powers of two are made of 8 and 4 as far as possible.
std::vector<int64_t> radices_of(int64_t n) {
  int64_t twos = 0;
  for (; n % 2 == 0; n /= 2) ++twos;

  std::vector<int64_t> radices;
  if (twos == 1) radices.push_back(2);
  const int64_t fours = twos == 1 ? 0 : (3 - twos % 3) % 3;
  radices.insert(radices.end(), fours, 4);
  radices.insert(radices.end(), twos == 1 ? 0 : (twos - 2 * fours) / 3, 8);

  for (int64_t p = 3; p * p <= n; p += 2) {
    for (; n % p == 0; n /= p) radices.push_back(p);
  }
  if (n > 1) radices.push_back(n);
  return radices;
}

bool is_smooth(int64_t n) {
  const std::vector<int64_t> radices = radices_of(n);
  return std::all_of(radices.begin(), radices.end(), [](int64_t p) { return p <= kLargestFactor; });
}

/// The number of passes of radix 4 that take as long.
double passes_of(int64_t n) { return std::max(0.5, std::log2(static_cast<double>(n)) / 2); }

/// The shortest length of at least `least` elements that transforms well.
int64_t good_length(int64_t least) {
  int64_t best = 1;
  while (best < least) best *= 2;
  for (const int64_t odd : {3, 5, 9}) {
    int64_t length = 8 * odd;
    while (length < least) length *= 2;
    best = std::min(best, length);
  }
  return best;
}

int64_t blocks_of(int64_t count, int64_t lanes) { return (count + lanes - 1) / lanes; }

/// The cost of a row as a matrix with columns of `a` elements and rows of `b`, in passes of radix 4
/// over n vectors.
double cost_of_matrix(int64_t a, int64_t b, int64_t lanes) {
  const auto columns = static_cast<double>(a * blocks_of(b, lanes));
  const auto rows = static_cast<double>(b * blocks_of(a, lanes));
  return columns * (passes_of(a) + kTransposition) + rows * (passes_of(b) + kTransposition);
}

}  // namespace

template <class T>
const Kernels<T>& kernels() {
  if constexpr (std::is_same_v<T, float>) return table().f32;
  else return table().f64;
}

template <class T>
c10::complex<T> root_of_unity(int64_t k, int64_t n) {
  // The angle is reduced to an eighth of the circle, exactly.
  k %= n;
  const int64_t eighth = 8 * k / n;
  const int64_t rest = eighth % 2 == 0 ? 8 * k - eighth * n : (eighth + 1) * n - 8 * k;
  const double angle = 0.78539816339744830962 * static_cast<double>(rest) / static_cast<double>(n);
  const double cosine = std::cos(angle);
  const double sine = std::sin(angle);

  const bool is_steep = eighth % 4 == 1 || eighth % 4 == 2;
  const double x = is_steep ? sine : cosine;
  const double y = is_steep ? cosine : sine;
  return {static_cast<T>(eighth >= 2 && eighth < 6 ? -x : x), static_cast<T>(eighth < 4 ? -y : y)};
}

template <class T>
Passes<T>::Passes(int64_t n) : n_(n) {
  const std::vector<int64_t> radices = radices_of(n);
  std::vector<size_t> starts;
  std::vector<size_t> turns;

  int64_t length = n;
  for (const int64_t radix : radices) {
    starts.push_back(roots_.size());
    for (int64_t q = 0; q < length / radix; ++q) {
      for (int64_t j = 1; j < radix; ++j) roots_.push_back(root_of_unity<T>(q * j, length));
    }
    turns.push_back(roots_.size());
    for (int64_t j = 0; j < radix; ++j) roots_.push_back(root_of_unity<T>(j, radix));
    length /= radix;
  }

  // Now that the roots stay where they are.
  int64_t stride = 1;
  for (size_t i = 0; i < radices.size(); ++i) {
    const auto* roots = reinterpret_cast<const T*>(roots_.data());
    passes_.push_back({radices[i], n / (stride * radices[i]), stride, roots + 2 * starts[i],
                       roots + 2 * turns[i]});
    stride *= radices[i];
  }
}

template <class T>
Plan<T>::Matrix::Matrix(int64_t a, int64_t b, int64_t width) : columns(a), rows(b) {
  const int64_t n = a * b;
  for (int64_t block = 0; block < blocks_of(b, width); ++block) {
    for (int64_t k = 0; k < a; ++k) blocks.push_back(root_of_unity<T>(block * width * k, n));
  }

  lanes.resize(2 * a * width);
  for (int64_t k = 0; k < a; ++k) {
    for (int64_t lane = 0; lane < width; ++lane) {
      const Complex root = root_of_unity<T>(k * lane, n);
      lanes[2 * k * width + lane] = root.real();
      lanes[(2 * k + 1) * width + lane] = root.imag();
    }
  }
}

template <class T>
Plan<T>::Plan(int64_t n) : n_(n), kernels_(&kernels<T>()) {
  if (is_smooth(n)) choose_matrix();
  else prepare_convolution();
}

template <class T>
void Plan<T>::choose_matrix() {
  double best = cost_of_matrix(1, n_, kernels_->lanes);
  for (int64_t a = 2; a <= n_ / a; ++a) {
    if (n_ % a != 0) continue;
    const double cost = cost_of_matrix(a, n_ / a, kernels_->lanes);
    if (cost > best) continue;
    best = cost;
    columns_length_ = a;
  }
  cost_of_row_ = best;
}

/// The cost of rows in lanes, as that of a matrix.
template <class T>
double Plan<T>::cost_of_lanes(int64_t rows) const {
  const double bytes = static_cast<double>(4 * n_ * kernels_->lanes) * sizeof(T);
  const auto vectors = static_cast<double>(n_ * blocks_of(rows, kernels_->lanes));
  return vectors * (passes_of(n_) * (bytes > kCacheBytes ? kOutsideCache : 1) + kTransposition);
}

template <class T>
void Plan<T>::run(int64_t rows, const Complex* in, int64_t in_step, Complex* out, int64_t out_step,
                  bool forward, T scale) {
  const Ends<T> ends = {!forward, !forward, scale};

  // A single row on vectors of one lane costs about as much as all lanes.
  const double one_by_one = static_cast<double>(rows) * cost_of_row_;
  if (!inner_ && (columns_length_ == 1 || cost_of_lanes(rows) <= one_by_one))
    return run_lanes(rows, in, in_step, out, out_step, ends);

  for (int64_t row = 0; row < rows; ++row) {
    if (inner_) convolve(in + row * in_step, out + row * out_step, forward, scale);
    else run_matrix(in + row * in_step, out + row * out_step, ends);
  }
}

template <class T>
void Plan<T>::run_lanes(int64_t rows, const Complex* in, int64_t in_step, Complex* out,
                        int64_t out_step, const Ends<T>& ends) {
  if (!passes_) passes_.emplace(n_);
  const Sequence<T> sequence = passes_->sequence();
  const int64_t lanes = kernels_->lanes;
  auto* work = static_cast<T*>(tile::scratch(4 * n_ * lanes * sizeof(T)));

  if (rows == 1) return kernels_->row(sequence, in, out, ends, work);
  for (int64_t row = 0; row < rows; row += lanes) {
    kernels_->rows(sequence, in + row * in_step, in_step, out + row * out_step, out_step,
                   std::min(lanes, rows - row), ends, work);
  }
}

template <class T>
void Plan<T>::run_matrix(const Complex* in, Complex* out, const Ends<T>& ends) {
  const int64_t a = columns_length_;
  const int64_t b = n_ / a;
  if (!matrix_) matrix_.emplace(a, b, kernels_->lanes);

  // The transposed matrix, and work space for the passes.
  const int64_t longest = std::max(a, b);
  auto* memory =
      static_cast<T*>(tile::scratch((2 * n_ + 4 * longest * kernels_->lanes) * sizeof(T)));
  T* const work = memory;
  auto* transposed = reinterpret_cast<Complex*>(memory + 4 * longest * kernels_->lanes);

  const Twiddles<T> twiddles = {reinterpret_cast<const T*>(matrix_->blocks.data()),
                                matrix_->lanes.data()};
  kernels_->columns(matrix_->columns.sequence(), in, transposed, b, &twiddles,
                    {ends.exchange_first, false, T(1)}, work);
  kernels_->columns(matrix_->rows.sequence(), transposed, out, a, nullptr,
                    {false, ends.exchange_last, ends.scale}, work);
}

/// j k = (j^2 + k^2 - (k - j)^2) / 2: a product with a chirp, a convolution with its conjugate, and
/// the product again.
template <class T>
void Plan<T>::prepare_convolution() {
  const int64_t length = good_length(2 * n_ - 1);
  inner_ = std::make_unique<Plan<double>>(length);
  chirp_.resize(n_);
  conjugated_.resize(n_);
  kernel_.assign(length, Wide(0, 0));
  padded_.resize(length);

  for (int64_t j = 0; j < n_; ++j) {
    const auto square = static_cast<int64_t>(static_cast<unsigned __int128>(j) *
                                             static_cast<unsigned __int128>(j) % (2 * n_));
    chirp_[j] = root_of_unity<double>(square, 2 * n_);
    conjugated_[j] = c10::conj(chirp_[j]);
    kernel_[j] = kernel_[(length - j) % length] = conjugated_[j];
  }
  inner_->run(1, kernel_.data(), length, kernel_.data(), length, true, 1);
}

/// A backward transform is a forward one of the conjugates, conjugated.
template <class T>
void Plan<T>::convolve(const Complex* in, Complex* out, bool forward, T scale) {
  const int64_t length = static_cast<int64_t>(padded_.size());
  const Kernels<double>& wide = kernels<double>();
  Wide* const data = padded_.data();
  for (int64_t i = 0; i < n_; ++i) data[i] = {in[i].real(), in[i].imag()};
  std::fill(data + n_, data + length, Wide(0, 0));
  wide.multiply(n_, data, (forward ? chirp_ : conjugated_).data(), data, !forward);

  inner_->run(1, data, length, data, length, true, 1);
  wide.multiply(length, data, kernel_.data(), data, false);
  inner_->run(1, data, length, data, length, false,
              static_cast<double>(scale) / static_cast<double>(length));

  wide.multiply(n_, data, chirp_.data(), data, !forward);
  for (int64_t i = 0; i < n_; ++i)
    out[i] = {static_cast<T>(data[i].real()), static_cast<T>(data[i].imag())};
}

template const Kernels<float>& kernels<float>();
template const Kernels<double>& kernels<double>();
template class Passes<float>;
template class Passes<double>;
template class Plan<float>;
template class Plan<double>;
template c10::complex<float> root_of_unity<float>(int64_t, int64_t);
template c10::complex<double> root_of_unity<double>(int64_t, int64_t);

}  // namespace at::blas::fft
