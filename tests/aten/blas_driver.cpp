// Checks of aten/blas against loops that follow the definition, run by tests/aten/test_blas.py:
// "check" or "speed".
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "aten/blas/Blas.h"
#include "aten/parallel/Parallel.h"
#include "c10/util/complex_math.h"

namespace blas = at::blas;
using blas::Transpose;

static int failures = 0;
static std::mt19937 engine(7);

template <class T>
static T random_value() {
  if constexpr (c10::is_complex_v<T>) {
    return T(random_value<typename T::value_type>(), random_value<typename T::value_type>());
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(engine() % 100);
  } else {
    return static_cast<T>(static_cast<float>(static_cast<int>(engine() % 2000) - 1000) / 1000.0f);
  }
}

template <class T>
static std::vector<T> random_values(int64_t count) {
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) value = random_value<T>();
  return values;
}

/// Sums in double (complex<double>), or modulo 2^64 for integers.
template <class T>
using Exact = std::conditional_t<c10::is_complex_v<T>, c10::complex<double>,
                                 std::conditional_t<std::is_integral_v<T>, uint64_t, double>>;

template <class T>
static Exact<T> exact(T value) {
  if constexpr (c10::is_reduced_floating_point_v<T>) return static_cast<float>(value);
  else return static_cast<Exact<T>>(value);
}

template <class T>
static Exact<T> element(Transpose transpose, const T* a, int64_t lda, int64_t i, int64_t j) {
  Exact<T> value = exact(transpose == Transpose::None ? a[i + j * lda] : a[j + i * lda]);
  if constexpr (c10::is_complex_v<T>) {
    if (transpose == Transpose::Conjugate) value = conj(value);
  }
  return value;
}

template <class T>
static bool close(T result, Exact<T> expected, int64_t k) {
  if constexpr (std::is_integral_v<T>) return result == static_cast<T>(expected);
  else if constexpr (c10::is_complex_v<T>) {
    return c10::abs(exact(result) - expected) <=
           (sizeof(T) == 8 ? 2e-6 : 1e-13) * (1.0 + double(k));
  } else {
    // Sums of k terms, each off by a unit, and for reduced floats the final rounding.
    const double unit = std::is_same_v<T, double> ? 1e-14 : std::is_same_v<T, float> ? 1e-6 : 0.0;
    const double rounding = c10::is_reduced_floating_point_v<T>
                                ? (std::is_same_v<T, c10::Half> ? 1e-3 : 8e-3) * std::fabs(expected)
                                : 0;
    return std::fabs(double(exact(result)) - expected) <=
           (unit + (unit == 0 ? 1e-6 : 0)) * (1.0 + double(k)) + rounding;
  }
}

template <class T>
static void check_gemm(const char* name, Transpose ta, Transpose tb, int64_t m, int64_t n,
                       int64_t k, bool keep_c) {
  using S = blas::Scale<T>;
  const int64_t rows_a = ta == Transpose::None ? m : k;
  const int64_t rows_b = tb == Transpose::None ? k : n;
  const int64_t lda = rows_a + 3;
  const int64_t ldb = rows_b + 1;
  const int64_t ldc = m + 2;
  const auto a = random_values<T>(lda * (m + k - rows_a) + 1);
  const auto b = random_values<T>(ldb * (k + n - rows_b) + 1);
  auto c = random_values<T>(ldc * n + 1);
  const S alpha = static_cast<S>(2);
  const S beta = static_cast<S>(keep_c ? 3 : 0);
  if constexpr (!std::is_integral_v<T> && !c10::is_complex_v<T>) {
    if (!keep_c) c[0] = std::numeric_limits<T>::quiet_NaN();  // must not be read
  }

  const auto before = c;
  blas::gemm<T>(ta, tb, m, n, k, alpha, a.data(), lda, b.data(), ldb, beta, c.data(), ldc);

  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < ldc; ++i) {
      const size_t at = static_cast<size_t>(i + j * ldc);

      // The rows between the columns of C must not change.
      if (i >= m) {
        failures += std::memcmp(&c[at], &before[at], sizeof(T)) != 0;
        continue;
      }

      // The element by definition.
      Exact<T> expected{};
      for (int64_t p = 0; p < k; ++p)
        expected = expected + element(ta, a.data(), lda, i, p) * element(tb, b.data(), ldb, p, j);
      expected = expected * Exact<T>(2);
      if (keep_c) expected = expected + Exact<T>(3) * exact(before[at]);

      if (!close<T>(c[at], expected, k)) {
        if (++failures < 10) {
          std::printf("gemm<%s> %c%c %ld %ld %ld: wrong at %ld, %ld\n", name, char(ta), char(tb),
                      long(m), long(n), long(k), long(i), long(j));
        }
        return;
      }
    }
  }
}

template <class T>
static void check_gemv_and_dot(const char* name) {
  for (int64_t m : {1, 5, 70}) {
    for (int64_t n : {1, 4, 33}) {
      for (Transpose transpose : {Transpose::None, Transpose::Transpose, Transpose::Conjugate}) {
        const bool none = transpose == Transpose::None;
        const int64_t in = none ? n : m;
        const int64_t out = none ? m : n;
        const int64_t incx = 2;
        const int64_t incy = 3;
        const auto a = random_values<T>((m + 1) * n);
        const auto x = random_values<T>(in * incx);
        auto y = random_values<T>(out * incy);

        const auto before = y;
        blas::gemv<T>(transpose, m, n, static_cast<blas::Scale<T>>(2), a.data(), m + 1, x.data(),
                      incx, static_cast<blas::Scale<T>>(1), y.data(), incy);

        for (int64_t i = 0; i < out; ++i) {
          Exact<T> sum{};
          for (int64_t p = 0; p < in; ++p)
            sum = sum + element(transpose, a.data(), m + 1, i, p) * exact(x[size_t(p * incx)]);
          if (!close<T>(y[size_t(i * incy)], sum * Exact<T>(2) + exact(before[size_t(i * incy)]),
                        in)) {
            if (++failures < 10)
              std::printf("gemv<%s> %c %ld %ld: wrong at %ld\n", name, char(transpose), long(m),
                          long(n), long(i));
          }
        }
      }
    }
  }

  for (int64_t length : {0, 1, 31, 1000}) {
    for (int64_t incx : {1, 2}) {
      const auto x = random_values<T>(length * incx + 1);
      const auto y = random_values<T>(length + 1);
      Exact<T> sum{};
      for (int64_t i = 0; i < length; ++i)
        sum = sum + element(Transpose::Conjugate, x.data(), 1, 0, i * incx) * exact(y[size_t(i)]);
      if (!close<T>(blas::dot_conjugated<T>(length, x.data(), incx, y.data(), 1), sum, length)) {
        if (++failures < 10) std::printf("dot<%s> %ld %ld\n", name, long(length), long(incx));
      }
    }
  }
}

/// Sizes around the heights and widths of tiles, with every pair of transposes in turn.
template <class T>
static void check_shapes(const char* name) {
  constexpr int64_t sizes[] = {0,  1,  2,  3,  5,  7,  8,  13,  14, 15,
                               16, 17, 31, 32, 33, 64, 65, 100, 257};
  constexpr Transpose all[] = {Transpose::None, Transpose::Transpose, Transpose::Conjugate};
  // The most important types have every shape, the others some.
  const size_t stride = std::is_same_v<T, float> || std::is_same_v<T, c10::BFloat16> ? 1 : 7;

  size_t count = 0;
  for (int64_t m : sizes) {
    for (int64_t n : sizes) {
      for (int64_t k : sizes) {
        if (++count % stride != 0) continue;
        check_gemm<T>(name, all[count % 3], all[count / 3 % 3], m, n, k, count % 2 == 1);
      }
    }
  }

  // Several blocks of each dimension, and pieces of the depth.
  check_gemm<T>(name, Transpose::None, Transpose::None, 130, 400, 700, true);
  check_gemm<T>(name, Transpose::Transpose, Transpose::Transpose, 2100, 30, 270, false);
  check_gemm<T>(name, Transpose::None, Transpose::Transpose, 2100, 345, 9, true);
  check_gemm<T>(name, Transpose::Transpose, Transpose::None, 70, 60, 1100, true);
}

/// The bits must not depend on the number of threads.
template <class T>
static void check_threads(const char* name) {
  constexpr int64_t shapes[][3] = {{300, 200, 150}, {2100, 17, 60}, {33, 700, 300},
                                   {64, 64, 900},   {900, 6, 500},  {3, 800, 600}};
  for (const auto& [m, n, k] : shapes) {
    const auto a = random_values<T>(m * k);
    const auto b = random_values<T>(k * n);
    std::vector<T> results[3];

    for (int threads = 1; threads <= 3; ++threads) {
      std::vector<T>& c = results[threads - 1];
      c.resize(static_cast<size_t>(m * n));
      at::set_num_threads(threads);

      blas::gemm<T>(Transpose::Transpose, Transpose::None, m, n, k, blas::Scale<T>(1), a.data(), k,
                    b.data(), k, blas::Scale<T>(0), c.data(), m);

      if (std::memcmp(c.data(), results[0].data(), c.size() * sizeof(T)) != 0) {
        ++failures;
        std::printf("gemm<%s> %ld %ld %ld: %d threads give other bits\n", name, long(m), long(n),
                    long(k), threads);
      }
    }
  }
  at::set_num_threads(3);
}

/// Negative elements become 0.
template <class T>
static void relu(T* elements, int64_t count) {
  for (int64_t i = 0; i < count; ++i) elements[i] = std::max(elements[i], T(0));
}

/// Scale, something added that broadcasts in every way, and relu: with one and with several pieces
/// of the depth, for one column, and in a batch.
template <class T>
static void check_epilogue(const char* name) {
  if constexpr (!std::is_integral_v<T> && !c10::is_complex_v<T>) {
    using S = blas::Scale<T>;
    constexpr int64_t batch = 3;
    constexpr int64_t shapes[][3] = {{40, 33, 20}, {67, 5, 1100}, {9, 1, 30},
                                     {1, 50, 30},  {40, 33, 1},   {7, 3, 0}};
    for (const auto& [m, n, k] : shapes) {
      const auto a = random_values<T>(batch * m * k + 1);
      const auto b = random_values<T>(batch * k * n + 1);
      const auto scale = random_values<T>(m);
      const auto added = random_values<T>(batch * (m + 4) * (n + 4));
      std::vector<T> c(static_cast<size_t>(batch * m * n));

      const int64_t steps[][3] = {
          {1, 0, 0}, {0, 1, n}, {0, 0, 0}, {1, m + 4, m * n}, {n + 4, 1, 1}};
      for (const auto& [row, column, matrix] : steps) {
        const blas::Epilogue<T> epilogue{scale.data(), added.data(), row,    column,
                                         matrix,       S(2),         relu<S>};
        blas::gemm_batched_strided<T>(Transpose::None, Transpose::None, m, n, k, S(1), a.data(), m,
                                      m * k, b.data(), k, k * n, S(0), c.data(), m, m * n, batch,
                                      &epilogue);

        for (int64_t i = 0; i < batch * m * n; ++i) {
          const int64_t z = i / (m * n), x = i % m, y = i / m % n;
          double expected = 0;
          for (int64_t p = 0; p < k; ++p) {
            expected += double(exact(a[size_t(z * m * k + x + p * m)])) *
                        double(exact(b[size_t(z * k * n + p + y * k)]));
          }
          expected = expected * double(exact(scale[size_t(x)])) +
                     2 * double(exact(added[size_t(x * row + y * column + z * matrix)]));
          if (close<T>(c[size_t(i)], std::max(expected, 0.0), k + 4)) continue;
          if (++failures < 10)
            std::printf("epilogue<%s> %ld %ld %ld: wrong\n", name, long(m), long(n), long(k));
        }
      }
    }
  }
}

/// Bytes of all values, with every pair of transposes in turn: sums are exact.
template <class B>
static void check_bytes(const char* name) {
  constexpr int64_t sizes[][3] = {{1, 1, 1},    {33, 15, 4},  {16, 14, 7},    {65, 29, 130},
                                  {3, 40, 257}, {70, 1, 300}, {100, 31, 0},   {32, 14, 2048},
                                  {5, 3, 4100}, {1, 17, 64},  {2100, 30, 90}, {64, 64, 64}};
  for (const auto& [m, n, k] : sizes) {
    for (int flags = 0; flags < 4; ++flags) {
      const Transpose ta = flags % 2 ? Transpose::Transpose : Transpose::None;
      const Transpose tb = flags / 2 ? Transpose::Transpose : Transpose::None;
      std::vector<int8_t> a(size_t(m * k + 1));
      std::vector<B> b(size_t(k * n + 1));
      for (int8_t& value : a) value = static_cast<int8_t>(engine() % 4 ? engine() : 128);
      for (B& value : b) value = static_cast<B>(engine() % 4 ? engine() : 128);
      std::vector<int32_t> c(size_t(m * n), 7);

      const int64_t lda = std::max<int64_t>(1, flags % 2 ? k : m);
      const int64_t ldb = std::max<int64_t>(1, flags / 2 ? n : k);
      blas::gemm_int8<B>(ta, tb, m, n, k, a.data(), lda, b.data(), ldb, c.data(), m);

      for (int64_t i = 0; i < m * n; ++i) {
        int64_t sum = 0;
        for (int64_t p = 0; p < k; ++p) {
          sum += int64_t{flags % 2 ? a[size_t(p + i % m * lda)] : a[size_t(i % m + p * lda)]} *
                 int64_t{flags / 2 ? b[size_t(i / m + p * ldb)] : b[size_t(p + i / m * ldb)]};
        }
        if (c[size_t(i)] == static_cast<int32_t>(sum)) continue;
        if (++failures < 10)
          std::printf("bytes<%s> %d %ld %ld %ld: wrong\n", name, flags, long(m), long(n), long(k));
        break;
      }
    }
  }
}

/// Floats times bytes, with a scale for each row of C.
template <class T>
static void check_weights(const char* name) {
  constexpr int64_t sizes[][3] = {{33, 15, 40}, {16, 1, 64}, {130, 20, 300}, {7, 3, 0}};
  for (const auto& [m, n, k] : sizes) {
    std::vector<int8_t> a(size_t(m * k + 1));
    for (int8_t& value : a) value = static_cast<int8_t>(engine());
    const auto b = random_values<T>(k * n + 1);
    const auto scale = random_values<T>(m);
    std::vector<T> c(size_t(m * n));
    blas::gemm_int8_weight<T>(Transpose::Transpose, Transpose::None, m, n, k, a.data(),
                              std::max<int64_t>(1, k), b.data(), std::max<int64_t>(1, k), c.data(),
                              m, scale.data());

    for (int64_t i = 0; i < m * n; ++i) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum += double(a[size_t(p + i % m * k)]) * double(exact(b[size_t(p + i / m * k)]));
      // Weights are up to 128.
      if (close<T>(c[size_t(i)], sum * double(exact(scale[size_t(i % m)])), 128 * k)) continue;
      if (++failures < 10)
        std::printf("weights<%s> %ld %ld %ld: wrong\n", name, long(m), long(n), long(k));
    }
  }
}

/// NaN in A reaches its row of C only; alpha = 0 does not read A. Leading dimensions are huge.
template <class T>
static void check_special_values(const char* name) {
  if constexpr (!std::is_integral_v<T> && !c10::is_complex_v<T>) {
    using S = blas::Scale<T>;
    constexpr int64_t m = 21, n = 18, k = 20, ld = 5000;
    auto a = random_values<T>(ld * k);
    const auto b = random_values<T>(ld * n);
    auto c = random_values<T>(ld * n);

    a[4 + 3 * ld] = T(std::numeric_limits<float>::quiet_NaN());
    blas::gemm<T>(Transpose::None, Transpose::None, m, n, k, S(1), a.data(), ld, b.data(), ld, S(0),
                  c.data(), ld);
    bool right = true;
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < m; ++i)
        right &= std::isnan(static_cast<float>(c[size_t(i + j * ld)])) == (i == 4);
    }

    const auto before = c;
    blas::gemm<T>(Transpose::None, Transpose::None, m, n, k, S(0), a.data(), ld, b.data(), ld, S(1),
                  c.data(), ld);
    right &= std::memcmp(before.data(), c.data(), c.size() * sizeof(T)) == 0;
    if (!right) {
      ++failures;
      std::printf("gemm<%s>: special values\n", name);
    }
  }
}

template <class T>
static void check_type(const char* name) {
  constexpr Transpose all[] = {Transpose::None, Transpose::Transpose, Transpose::Conjugate};
  for (Transpose ta : all) {
    for (Transpose tb : all) {
      check_gemm<T>(name, ta, tb, 37, 29, 41, true);
      check_gemm<T>(name, ta, tb, 1, 19, 7, true);
      check_gemm<T>(name, ta, tb, 19, 1, 7, false);
    }
  }

  for (int64_t m : {1, 2, 33, 260}) {
    for (int64_t n : {1, 3, 50}) {
      for (int64_t k : {0, 1, 5, 300})
        check_gemm<T>(name, Transpose::None, Transpose::Transpose, m, n, k, k % 2 == 1);
    }
  }

  check_gemv_and_dot<T>(name);
  check_shapes<T>(name);
  check_threads<T>(name);
  check_special_values<T>(name);
  check_epilogue<T>(name);

  // A batch whose products share A.
  const auto a = random_values<T>(6);
  const auto b = random_values<T>(40 * 6);
  std::vector<T> c(40 * 4);
  std::vector<T> expected(40 * 4);
  const auto one = static_cast<blas::Scale<T>>(1);
  const auto zero = static_cast<blas::Scale<T>>(0);
  blas::gemm_batched_strided<T>(Transpose::None, Transpose::None, 2, 2, 3, one, a.data(), 2, 0,
                                b.data(), 3, 6, zero, c.data(), 2, 4, 40);
  for (int64_t i = 0; i < 40; ++i) {
    blas::gemm<T>(Transpose::None, Transpose::None, 2, 2, 3, one, a.data(), 2, b.data() + 6 * i, 3,
                  zero, expected.data() + 4 * i, 2);
  }
  for (size_t i = 0; i < c.size(); ++i) failures += !close<T>(c[i], exact(expected[i]), 3);
}

template <class T>
static void measure(const char* name, int64_t m, int64_t n, int64_t k) {
  const auto a = random_values<T>(m * k);
  const auto b = random_values<T>(k * n);
  std::vector<T> c(static_cast<size_t>(m * n));
  const auto call = [&] {
    blas::gemm<T>(Transpose::None, Transpose::None, m, n, k, blas::Scale<T>(1), a.data(), m,
                  b.data(), k, blas::Scale<T>(0), c.data(), m);
  };

  call();  // not measured: threads start, memory is touched
  double best = 1e300;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    best = std::min(best, elapsed.count());
  }

  std::printf("%s %ldx%ldx%ld: %.1f Gop/s\n", name, long(m), long(n), long(k),
              2e-9 * double(m * n * k) / best);
}

int main(int, char** argv) {
  if (std::strcmp(argv[1], "speed") == 0) {
    std::printf("%s, %d threads\n", blas::backend_name(), at::get_num_threads());
    measure<float>("float", 1024, 1024, 1024);
    measure<float>("float", 64, 64, 64);
    measure<float>("float", 1, 4096, 4096);
    measure<float>("float", 4096, 1, 4096);
    measure<double>("double", 512, 512, 512);
    measure<c10::BFloat16>("bfloat16", 512, 512, 512);
    measure<c10::Half>("half", 512, 512, 512);
    measure<int8_t>("int8", 256, 256, 256);
    measure<int64_t>("int64", 256, 256, 256);
    return 0;
  }

  at::set_num_threads(3);
  check_type<float>("float");
  check_type<double>("double");
  check_type<c10::complex<float>>("complex<float>");
  check_type<c10::complex<double>>("complex<double>");
  check_type<c10::BFloat16>("BFloat16");
  check_type<c10::Half>("Half");
  check_type<uint8_t>("uint8");
  check_type<int8_t>("int8");
  check_type<int16_t>("int16");
  check_type<int32_t>("int32");
  check_type<int64_t>("int64");

  check_bytes<uint8_t>("uint8");
  check_bytes<int8_t>("int8");
  check_weights<float>("float");
  check_weights<c10::BFloat16>("BFloat16");
  check_weights<c10::Half>("Half");

  std::puts(failures == 0 ? blas::backend_name() : "failed");
  return failures != 0;
}
