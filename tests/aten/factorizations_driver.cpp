// Checks our own factorizations against their definitions. Products are plain sums here.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "aten/blas/Runtime.h"
#include "aten/blas/lapack/Factorizations.h"

namespace at::blas {

Runtime current;
const Runtime& runtime() { return current; }

template <class T>
T element(Transpose transpose, const T* a, int64_t ld, int64_t i, int64_t j) {
  if (transpose == Transpose::None) return a[i + j * ld];
  const T value = a[j + i * ld];
  if constexpr (c10::is_complex_v<T>)
    return transpose == Transpose::Conjugate ? c10::conj(value) : value;
  else return value;
}

template <class T>
void gemm(Transpose ta, Transpose tb, int64_t m, int64_t n, int64_t k, Scale<T> alpha, const T* a,
          int64_t lda, const T* b, int64_t ldb, Scale<T> beta, T* c, int64_t ldc,
          const Epilogue<T>*) {
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < m; ++i) {
      T sum(0);
      for (int64_t p = 0; p < k; ++p)
        sum = sum + element(ta, a, lda, i, p) * element(tb, b, ldb, p, j);
      T& out = c[i + j * ldc];
      out = beta == T(0) ? alpha * sum : alpha * sum + beta * out;
    }
  }
}

#define INSTANTIATE(T)                                                                         \
  template void gemm<T>(Transpose, Transpose, int64_t, int64_t, int64_t, T, const T*, int64_t, \
                        const T*, int64_t, T, T*, int64_t, const Epilogue<T>*);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(c10::complex<float>)
INSTANTIATE(c10::complex<double>)
#undef INSTANTIATE

}  // namespace at::blas

namespace {

using at::blas::Transpose;
namespace own = at::lapack::own;

std::mt19937 generator(1);

template <class T>
T random_number() {
  std::uniform_real_distribution<double> number(-1, 1);
  if constexpr (c10::is_complex_v<T>) return T(number(generator), number(generator));
  else return static_cast<T>(number(generator));
}

template <class T>
double size_of(T value) {
  if constexpr (c10::is_complex_v<T>) return std::hypot(value.real(), value.imag());
  else return std::abs(value);
}

/// A column-major matrix.
template <class T>
struct Matrix {
  Matrix(int64_t rows, int64_t columns) : m(rows), n(columns), data(rows * columns) {}

  static Matrix random(int64_t rows, int64_t columns, double diagonal = 0) {
    Matrix result(rows, columns);
    for (T& value : result.data) value = random_number<T>();
    for (int64_t i = 0; i < std::min(rows, columns); ++i) result(i, i) = result(i, i) + T(diagonal);
    return result;
  }

  T& operator()(int64_t i, int64_t j) { return data[i + j * m]; }

  int64_t m, n;
  std::vector<T> data;
};

template <class T>
Matrix<T> product(Transpose ta, Matrix<T>& a, Transpose tb, Matrix<T>& b) {
  const int64_t k = ta == Transpose::None ? a.n : a.m;
  Matrix<T> c(ta == Transpose::None ? a.m : a.n, tb == Transpose::None ? b.n : b.m);
  at::blas::gemm<T>(ta, tb, c.m, c.n, k, T(1), a.data.data(), a.m, b.data.data(), b.m, T(0),
                    c.data.data(), c.m, nullptr);
  return c;
}

template <class T>
void expect_close(Matrix<T>& found, Matrix<T>& expected, const char* what) {
  const double tolerance =
      (sizeof(at::blas::Scale<T>) / (c10::is_complex_v<T> ? 2 : 1) == 4) ? 2e-4 : 4e-13;
  double largest = 1;
  for (const T value : expected.data) largest = std::max(largest, size_of(value));
  for (size_t i = 0; i < found.data.size(); ++i) {
    if (size_of(found.data[i] - expected.data[i]) <= tolerance * largest) continue;
    std::printf("%s of %d x %d: element %d is wrong\n", what, int(expected.m), int(expected.n),
                int(i));
    std::exit(1);
  }
}

/// One triangle, with ones on the diagonal if `unit`; zero elsewhere.
template <class T>
Matrix<T> triangle(Matrix<T>& a, bool upper, bool unit) {
  Matrix<T> result(a.m, a.n);
  for (int64_t j = 0; j < a.n; ++j) {
    for (int64_t i = 0; i < a.m; ++i) {
      if (i == j) result(i, j) = unit ? T(1) : a(i, j);
      else if ((i < j) == upper) result(i, j) = a(i, j);
    }
  }
  return result;
}

template <class T>
void check_trsm(int64_t n, int64_t k, bool left, bool upper, bool unit, Transpose flag) {
  auto a = Matrix<T>::random(n, n, 2.0 * n);
  if (unit) {
    for (T& value : a.data) value = value * T(1.0 / n);
  }

  auto x = left ? Matrix<T>::random(n, k) : Matrix<T>::random(k, n);
  auto whole = triangle(a, upper, unit);
  auto b =
      left ? product(flag, whole, Transpose::None, x) : product(Transpose::None, x, flag, whole);

  own::trsm<T>(left, upper, flag, unit, b.m, b.n, a.data.data(), n, b.data.data(), b.m);
  expect_close(b, x, "trsm");
}

template <class T>
void check_all_trsm(int64_t n, int64_t k) {
  for (const bool left : {false, true}) {
    for (const bool upper : {false, true}) {
      for (const bool unit : {false, true}) {
        for (const auto flag : {Transpose::None, Transpose::Transpose, Transpose::Conjugate})
          check_trsm<T>(n, k, left, upper, unit, flag);
      }
    }
  }
}

template <class T>
void check_lu(int64_t m, int64_t n) {
  auto a = Matrix<T>::random(m, n);
  auto factors = a;
  std::vector<int32_t> pivots(std::min(m, n));
  const int info = own::getrf<T>(m, n, factors.data.data(), m, pivots.data());

  const int64_t k = std::min(m, n);
  Matrix<T> lower(m, k), upper(k, n);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < m; ++i) {
      if (i > j && j < k) lower(i, j) = factors(i, j);
      if (i == j && j < k) lower(i, j) = T(1);
      if (i <= j && i < k) upper(i, j) = factors(i, j);
    }
  }
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t j = 0; j < n; ++j) std::swap(a(i, j), a(pivots[i] - 1, j));
  }
  auto again = product(Transpose::None, lower, Transpose::None, upper);
  expect_close(again, a, info == 0 ? "getrf" : "getrf with info");
}

template <class T>
void check_lu_solve(int64_t n) {
  auto a = Matrix<T>::random(n, n, 2.0 * n);
  auto factors = a;
  std::vector<int32_t> pivots(n);
  own::getrf<T>(n, n, factors.data.data(), n, pivots.data());
  for (const auto flag : {Transpose::None, Transpose::Transpose, Transpose::Conjugate}) {
    auto x = Matrix<T>::random(n, 3);
    auto b = product(flag, a, Transpose::None, x);
    own::getrs<T>(flag, n, 3, factors.data.data(), n, pivots.data(), b.data.data(), n);
    expect_close(b, x, "getrs");
  }
}

template <class T>
void check_cholesky(int64_t n, bool upper) {
  auto root = Matrix<T>::random(n, n);
  auto a = product(Transpose::None, root, Transpose::Conjugate, root);
  for (int64_t i = 0; i < n; ++i) a(i, i) = a(i, i) + T(1.0 * n);
  auto factors = a;
  if (own::potrf<T>(upper, n, factors.data.data(), n) != 0) std::exit(2);

  auto other = triangle(factors, !upper, false);
  auto before = triangle(a, !upper, false);
  for (int64_t i = 0; i < n; ++i) other(i, i) = before(i, i);
  expect_close(other, before, "the other triangle after potrf");

  auto factor = triangle(factors, upper, false);
  const auto conjugated = Transpose::Conjugate;
  auto again = upper ? product(conjugated, factor, Transpose::None, factor)
                     : product(Transpose::None, factor, conjugated, factor);
  expect_close(again, a, "potrf");

  auto x = Matrix<T>::random(n, 3);
  auto b = product(Transpose::None, a, Transpose::None, x);
  own::potrs<T>(upper, n, 3, factors.data.data(), n, b.data.data(), n);
  expect_close(b, x, "potrs");

  own::potri<T>(upper, n, factors.data.data(), n);
  auto inverse = triangle(factors, upper, false);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < n; ++i) {
      const bool stored = i == j || (i < j) == upper;
      if (!stored) inverse(i, j) = at::blas::element(conjugated, &factors(0, 0), n, i, j);
    }
  }
  auto identity = product(Transpose::None, a, Transpose::None, inverse);
  Matrix<T> ones(n, n);
  for (int64_t i = 0; i < n; ++i) ones(i, i) = T(1);
  expect_close(identity, ones, "potri");
}

/// What LAPACK's info says of matrices that have no factors.
template <class T>
void check_info() {
  Matrix<T> a(40, 40);
  for (int64_t i = 0; i < 40; ++i) a(i, i) = T(i == 25 ? 0 : 1);
  auto b = a;
  std::vector<int32_t> pivots(40);
  const int lu = own::getrf<T>(40, 40, a.data.data(), 40, pivots.data());
  const int cholesky = own::potrf<T>(false, 40, b.data.data(), 40);
  if (lu == 26 && cholesky == 26) return;
  std::printf("info is %d and %d\n", lu, cholesky);
  std::exit(3);
}

template <class T>
void check() {
  for (const int64_t n : {1, 2, 16, 17, 33, 70, 100}) {
    for (const int64_t k : {1, 5, 20}) check_all_trsm<T>(n, k);
    for (const int64_t m : {1, 16, 40, 100}) check_lu<T>(m, n);
    check_lu_solve<T>(n);
    for (const bool upper : {false, true}) check_cholesky<T>(n, upper);
  }
  check_info<T>();
}

}  // namespace

int main(int, char** arguments) {
  at::blas::current.capability = std::atoi(arguments[1]);
  check<float>();
  check<double>();
  check<c10::complex<float>>();
  check<c10::complex<double>>();
  std::printf("ok\n");
}
