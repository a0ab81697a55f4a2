// Chooses between MKL and our own Fourier transforms, and keeps their plans.
#include "aten/blas/Fft.h"

#include <cstring>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "aten/blas/Blas.h"
#include "aten/blas/fft/Plan.h"

#if defined(TORCH_PY_BLAS_MKL)
#include <mkl_dfti.h>
#endif

namespace at::blas {

namespace {

// Plans that each thread keeps; if there are more, all are dropped.
constexpr size_t kPlans = 64;

template <class Key, class Plan, class Make>
Plan& cached(std::map<Key, Plan>& plans, const Key& key, const Make& make) {
  const auto found = plans.find(key);
  if (found != plans.end()) return found->second;
  if (plans.size() >= kPlans) plans.clear();
  return plans.emplace(key, make()).first->second;
}

/// The calling thread's plan of our own for a length.
template <class Plan>
Plan& own_plan(int64_t n) {
  thread_local std::map<int64_t, Plan> plans;
  return cached(plans, n, [n] { return Plan(n); });
}

#if defined(TORCH_PY_BLAS_MKL)

struct Release {
  void operator()(DFTI_DESCRIPTOR* descriptor) const { DftiFreeDescriptor(&descriptor); }
};
using Descriptor = std::unique_ptr<DFTI_DESCRIPTOR, Release>;

/// A plan for transforms of one row; null if MKL refuses it.
Descriptor make_descriptor(int64_t n, bool is_double, bool is_real, double scale) {
  DFTI_DESCRIPTOR_HANDLE handle = nullptr;
  const auto precision = is_double ? DFTI_DOUBLE : DFTI_SINGLE;
  const auto domain = is_real ? DFTI_REAL : DFTI_COMPLEX;
  if (DftiCreateDescriptor(&handle, precision, domain, 1, static_cast<MKL_LONG>(n)) !=
      DFTI_NO_ERROR)
    return nullptr;

  Descriptor descriptor(handle);
  bool done = DftiSetValue(handle, DFTI_PLACEMENT, is_real ? DFTI_NOT_INPLACE : DFTI_INPLACE) ==
              DFTI_NO_ERROR;
  if (is_real)
    done = done &&
           DftiSetValue(handle, DFTI_CONJUGATE_EVEN_STORAGE, DFTI_COMPLEX_COMPLEX) == DFTI_NO_ERROR;
  done = done && DftiSetValue(handle, DFTI_THREAD_LIMIT, 1) == DFTI_NO_ERROR;
  done = done && DftiSetValue(handle, DFTI_FORWARD_SCALE, scale) == DFTI_NO_ERROR;
  done = done && DftiSetValue(handle, DFTI_BACKWARD_SCALE, scale) == DFTI_NO_ERROR;

  return done && DftiCommitDescriptor(handle) == DFTI_NO_ERROR ? std::move(descriptor) : nullptr;
}

/// Calls run(descriptor) with a plan of the calling thread; false without a plan or if it fails.
template <class T, class Run>
bool with_library(int64_t n, bool is_real, T scale, const Run& run) {
  if (std::strcmp(backend_name(), "mkl") != 0) return false;

  thread_local std::map<std::tuple<int64_t, bool, double>, Descriptor> plans;
  auto& plan = cached(plans, {n, is_real, static_cast<double>(scale)}, [&] {
    return make_descriptor(n, std::is_same_v<T, double>, is_real, scale);
  });

  return plan != nullptr && run(plan.get());
}

#else

template <class T, class Run>
bool with_library(int64_t, bool, T, const Run&) {
  return false;
}
#define DftiComputeForward(...) 0
#define DftiComputeBackward(...) 0
#define DFTI_NO_ERROR 1

#endif

}  // namespace

template <class T>
void fft_c2c(int64_t n, int64_t rows, c10::complex<T>* data, bool forward, T scale) {
  const bool done = with_library(n, false, scale, [&]([[maybe_unused]] auto* plan) {
    for (int64_t row = 0; row < rows; ++row) {
      const auto status = forward ? DftiComputeForward(plan, data + row * n)
                                  : DftiComputeBackward(plan, data + row * n);
      if (status != DFTI_NO_ERROR) return false;
    }
    return true;
  });
  if (!done) own_plan<fft::Plan<T>>(n).run(rows, data, n, data, n, forward, scale);
}

template <class T>
void fft_r2c(int64_t n, int64_t rows, const T* in, c10::complex<T>* out, T scale) {
  const bool done = with_library(n, true, scale, [&]([[maybe_unused]] auto* plan) {
    for (int64_t row = 0; row < rows; ++row) {
      if (DftiComputeForward(plan, const_cast<T*>(in + row * n), out + row * (n / 2 + 1)) !=
          DFTI_NO_ERROR)
        return false;
    }
    return true;
  });
  if (!done) own_plan<fft::RealPlan<T>>(n).forward(rows, in, out, scale);
}

template <class T>
void fft_c2r(int64_t n, int64_t rows, c10::complex<T>* in, T* out, T scale) {
  [[maybe_unused]] const int64_t half = n / 2 + 1;
  const bool done = with_library(n, true, scale, [&]([[maybe_unused]] auto* plan) {
    for (int64_t row = 0; row < rows; ++row) {
      if (DftiComputeBackward(plan, in + row * half, out + row * n) != DFTI_NO_ERROR) return false;
    }
    return true;
  });
  if (!done) own_plan<fft::RealPlan<T>>(n).backward(rows, in, out, scale);
}

#define AT_FFT_INSTANTIATE(T)                                                \
  template void fft_c2c<T>(int64_t, int64_t, c10::complex<T>*, bool, T);     \
  template void fft_r2c<T>(int64_t, int64_t, const T*, c10::complex<T>*, T); \
  template void fft_c2r<T>(int64_t, int64_t, c10::complex<T>*, T*, T);
AT_FFT_INSTANTIATE(float)
AT_FFT_INSTANTIATE(double)
#undef AT_FFT_INSTANTIATE

}  // namespace at::blas
