// Measures the library against our own products, and keeps what was chosen.
#include "aten/blas/Choice.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include "aten/blas/Builtin.h"
#include "aten/blas/Runtime.h"

namespace at::blas {

namespace {

/// What TORCH_PY_BLAS_BACKEND asks for.
enum class Wish : char { Measured, Own, Library, Builtin };

Wish wish_from_environment() {
  const char* const text = std::getenv("TORCH_PY_BLAS_BACKEND");
  if (!text || !*text) return Wish::Measured;

  const std::string_view name = text;
  if (name == "builtin") return Wish::Builtin;
  if (name == "own") return Wish::Own;
  if (name == library::kName) return Wish::Library;
  std::fprintf(stderr, "torch_py: TORCH_PY_BLAS_BACKEND=%s is ignored: this build has %s%s\n", text,
               kHasLibrary ? library::kName : "", kHasLibrary ? ", own and builtin" : "own");
  return Wish::Measured;
}

std::atomic<Wish>& wish() {
  static std::atomic<Wish> value{wish_from_environment()};
  return value;
}

std::atomic<bool> deterministic{false};

constexpr double kMeasuredWork = 96.0 * 96.0 * 96.0;
constexpr int64_t kMeasuredSize = 256;
constexpr int kMeasurements = 3;
constexpr double kClearlyBetter = 1.15;

/// The shortest time of a few calls, in seconds.
template <class Call>
double shortest(const Call& call) {
  double best = 1e300;
  for (int i = 0; i < kMeasurements; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    best = std::min(best, elapsed.count());
  }
  return best;
}

/// The billions of operations per second of both, for one type.
struct Figures {
  double own = 0;
  double library = 0;
};

template <class T>
Figures measure() {
  constexpr int64_t n = kMeasuredSize;
  Buffer<T> a(n * n);
  Buffer<T> b(n * n);
  Buffer<T> c(n * n);
  for (int64_t i = 0; i < n * n; ++i) {
    a[i] = T(static_cast<float>(i % 7) * 0.25f);
    b[i] = T(static_cast<float>(i % 5) * 0.5f);
  }

  const double work = (c10::is_complex_v<T> ? 8e-9 : 2e-9) * static_cast<double>(n * n * n);
  Figures figures;
  figures.own = work / shortest([&] {
                  builtin::gemm_on_one_thread<T>(Transpose::None, Transpose::None, n, n, n, T(1),
                                                 a.data(), n, b.data(), n, T(0), c.data(), n);
                });
  if constexpr (library::serves<T>) {
    library::set_threads(1);
    figures.library = work / shortest([&] {
                        constexpr int size = static_cast<int>(n);
                        library::gemm(Transpose::None, Transpose::None, size, size, size, T(1),
                                      a.data(), size, b.data(), size, T(0), c.data(), size);
                      });
  }
  return figures;
}

/// Measured by the first call, outside parallel regions.
template <class T>
const Figures& figures() {
  static const Figures value = measure<T>();
  return value;
}

bool library_is_better(const Figures& figures) {
  return figures.library >= kClearlyBetter * figures.own;
}

template <class T>
Choice choice_for(const char* type) {
  if (!kHasLibrary) return {type, "own", "this build has no library", 0, 0};

  const Figures& measured = figures<T>();
  const bool better = library_is_better(measured);
  switch (wish().load()) {
    case Wish::Own:
    case Wish::Builtin:
      return {type, "own", "TORCH_PY_BLAS_BACKEND", measured.own, measured.library};
    case Wish::Library:
      return {type, library::kName, "TORCH_PY_BLAS_BACKEND", measured.own, measured.library};
    case Wish::Measured: break;
  }
  if (deterministic.load())
    return {type, "own", "deterministic algorithms", measured.own, measured.library};
  return {type, better ? library::kName : "own", "measured", measured.own, measured.library};
}

}  // namespace

bool builtin_wanted() {
  return !kHasLibrary || wish().load(std::memory_order_relaxed) == Wish::Builtin;
}

template <class T>
bool library_wanted(double work) {
  switch (wish().load(std::memory_order_relaxed)) {
    case Wish::Own:
    case Wish::Builtin: return false;
    case Wish::Library: return true;
    case Wish::Measured: break;
  }
  if (work < kMeasuredWork || deterministic.load(std::memory_order_relaxed)) return false;
  return !runtime().in_parallel_region() && library_is_better(figures<T>());
}

bool library_wanted_for_vectors() {
  return wish().load(std::memory_order_relaxed) == Wish::Library;
}

const char* backend_name() { return builtin_wanted() ? "builtin" : library::kName; }
void use_builtin(bool builtin) { wish().store(builtin ? Wish::Builtin : Wish::Measured); }
void set_deterministic(bool value) { deterministic.store(value); }

std::array<Choice, 4> choices() {
  return {choice_for<float>("float32"), choice_for<double>("float64"),
          choice_for<c10::complex<float>>("complex64"),
          choice_for<c10::complex<double>>("complex128")};
}

template bool library_wanted<float>(double);
template bool library_wanted<double>(double);
template bool library_wanted<c10::complex<float>>(double);
template bool library_wanted<c10::complex<double>>(double);

}  // namespace at::blas
