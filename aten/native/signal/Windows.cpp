// Window functions for spectral analysis: Hann, Hamming, Blackman, Bartlett and Kaiser.
#include <cmath>

#include "aten/native/declarations/signal/Windows.h"
#include "aten/ops/abs.h"
#include "aten/ops/add.h"
#include "aten/ops/arange.h"
#include "aten/ops/clamp_min.h"
#include "aten/ops/cos.h"
#include "aten/ops/div.h"
#include "aten/ops/empty.h"
#include "aten/ops/i0.h"
#include "aten/ops/mul.h"
#include "aten/ops/ones.h"
#include "aten/ops/rsub.h"
#include "aten/ops/scalar_tensor.h"
#include "aten/ops/sqrt.h"

namespace at::native {

namespace {

constexpr double kPi = 3.14159265358979323846;

/// The factory arguments of a window.
struct Options {
  ScalarType dtype;
  std::optional<Layout> layout;
  std::optional<Device> device;
  std::optional<bool> pin_memory;
};

Options checked(const char* name, int64_t window_length, std::optional<ScalarType> dtype,
                std::optional<Layout> layout, std::optional<Device> device,
                std::optional<bool> pin_memory) {
  const ScalarType type = dtype.value_or(default_dtype());

  TORCH_CHECK(is_floating(type), name, " expects floating point dtypes, got: ", dtype_name(type));
  TORCH_CHECK(window_length >= 0, name,
              " requires non-negative window_length, got window_length=", window_length);

  return {type, layout, device, pin_memory};
}

/// Evaluates weights(x, last) at x = 0, 1, ..., length - 1, where `last` is the x of the window's
/// right end: length - 1, or length for a periodic window.
template <class Weights>
Tensor window(int64_t length, bool periodic, const Options& options, const Weights& weights) {
  const auto& [dtype, layout, device, pin_memory] = options;
  if (length == 0) return at::empty({0}, dtype, layout, device, pin_memory, std::nullopt);
  if (length == 1) return at::ones({1}, dtype, layout, device, pin_memory);

  const ScalarType wide = is_reduced_floating(dtype) ? kFloat : dtype;

  const Tensor x =
      at::arange(Scalar(0), Scalar(length), Scalar(1), wide, layout, device, pin_memory);

  return weights(x, static_cast<double>(periodic ? length : length - 1)).to(dtype);
}

/// A generalized cosine window: a - b cos(2 pi x / last) + c cos(4 pi x / last)
Tensor cosines(int64_t length, bool periodic, const Options& options, double a, double b,
               double c) {
  return window(length, periodic, options, [&](const Tensor& x, double last) {
    const Tensor sum = at::cos(x * Scalar(2 * kPi / last)) * Scalar(-b) + Scalar(a);
    return c == 0 ? sum : sum + at::cos(x * Scalar(4 * kPi / last)) * Scalar(c);
  });
}

}  // namespace

#define WINDOW_OPTIONS                                                                         \
  std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device, \
      std::optional<bool> pin_memory

Tensor hann_window_periodic(int64_t window_length, bool periodic, WINDOW_OPTIONS) {
  return cosines(window_length, periodic,
                 checked("hann_window", window_length, dtype, layout, device, pin_memory), 0.5, 0.5,
                 0);
}

Tensor hann_window(int64_t window_length, WINDOW_OPTIONS) {
  return hann_window_periodic(window_length, true, dtype, layout, device, pin_memory);
}

Tensor hamming_window_beta(int64_t window_length, bool periodic, double alpha, double beta,
                           WINDOW_OPTIONS) {
  return cosines(window_length, periodic,
                 checked("hamming_window", window_length, dtype, layout, device, pin_memory), alpha,
                 beta, 0);
}

Tensor hamming_window_alpha(int64_t window_length, bool periodic, double alpha, WINDOW_OPTIONS) {
  return hamming_window_beta(window_length, periodic, alpha, 0.46, dtype, layout, device,
                             pin_memory);
}

Tensor hamming_window_periodic(int64_t window_length, bool periodic, WINDOW_OPTIONS) {
  return hamming_window_beta(window_length, periodic, 0.54, 0.46, dtype, layout, device,
                             pin_memory);
}

Tensor hamming_window(int64_t window_length, WINDOW_OPTIONS) {
  return hamming_window_beta(window_length, true, 0.54, 0.46, dtype, layout, device, pin_memory);
}

Tensor blackman_window_periodic(int64_t window_length, bool periodic, WINDOW_OPTIONS) {
  return cosines(window_length, periodic,
                 checked("blackman_window", window_length, dtype, layout, device, pin_memory), 0.42,
                 0.5, 0.08);
}

Tensor blackman_window(int64_t window_length, WINDOW_OPTIONS) {
  return blackman_window_periodic(window_length, true, dtype, layout, device, pin_memory);
}

/// 1 - |2 x / last - 1|
Tensor bartlett_window_periodic(int64_t window_length, bool periodic, WINDOW_OPTIONS) {
  const Options options =
      checked("bartlett_window", window_length, dtype, layout, device, pin_memory);

  return window(window_length, periodic, options, [](const Tensor& x, double last) {
    return Scalar(1) - at::abs(x * Scalar(2 / last) - Scalar(1));
  });
}

Tensor bartlett_window(int64_t window_length, WINDOW_OPTIONS) {
  return bartlett_window_periodic(window_length, true, dtype, layout, device, pin_memory);
}

Tensor kaiser_window_beta(int64_t window_length, bool periodic, double beta, WINDOW_OPTIONS) {
  const Options options =
      checked("kaiser_window", window_length, dtype, layout, device, pin_memory);

  return window(window_length, periodic, options, [beta](const Tensor& x, double last) {
    // The weight is I0(beta sqrt(1 - (2 x / last - 1) ** 2)) / I0(beta); rounding can make the
    // radicand slightly negative.
    const Tensor place = x * Scalar(2 / last) - Scalar(1);
    const Tensor height = at::sqrt(at::clamp_min(Scalar(1) - place * place, Scalar(0)));

    return at::i0(height * Scalar(beta)) /
           at::i0(at::scalar_tensor(Scalar(beta), x.scalar_type(), std::nullopt, x.device()));
  });
}

Tensor kaiser_window_periodic(int64_t window_length, bool periodic, WINDOW_OPTIONS) {
  return kaiser_window_beta(window_length, periodic, 12.0, dtype, layout, device, pin_memory);
}

Tensor kaiser_window(int64_t window_length, WINDOW_OPTIONS) {
  return kaiser_window_beta(window_length, true, 12.0, dtype, layout, device, pin_memory);
}

#undef WINDOW_OPTIONS

}  // namespace at::native
